//! Kraken: <https://docs.kraken.com/api/docs/rest-api/get-ticker-information>

mod rows;
mod sim;

use crate::{
    model::{Fault, Pair, Reason},
    venue::{ANY, Basis, Budget, Cells, Endpoint, Fee, Kind, Profile, Reach, SymbolList, TimeOf, Venue, Word, reason_of_code},
};
use serde::Deserialize;
use std::time::Duration;

/// Kraken.
#[derive(Debug)]
pub struct Kraken;

const ONE: Endpoint = Endpoint {
    kind: Kind::Ticker,
    reach: Reach::One,
    path: "/0/public/Ticker?pair={symbol}",
    weight: &[(ANY, 1)],
    row_bytes: 330,
    rows: 1,
    decode: rows::one,
    encode: Some(sim::written),
};
const LISTED: Endpoint = Endpoint {
    kind: Kind::Tickers,
    reach: Reach::Listed(SymbolList { most: 60, form: ["", ",", ""] }),
    path: "/0/public/Ticker?pair={symbols}",
    rows: 60,
    decode: rows::many,
    ..ONE
};
const ALL: Endpoint = Endpoint { reach: Reach::All, path: "/0/public/Ticker", rows: 1100, ..LISTED };

static PROFILE: Profile = Profile {
    id: "kraken",
    name: "Kraken",
    operator: "kraken",
    region: None,
    origin: "https://api.kraken.com",
    mirrors: &[],
    taker: Fee { rate: "0.004", read: "2026-11-30" },
    budget: Budget { weight: 15, per: Duration::from_secs(15) },
    body_max: 4 << 20,
    time_of: TimeOf::None,
    basis: Basis::Mid,
    warm_up: "/0/public/Time",
    docs: "https://docs.kraken.com/api/docs/rest-api/get-ticker-information",
    endpoints: &[ONE, LISTED, ALL],
};

/// Kraken's own codes, where they differ from everybody's: asked for as `XBTUSD`, answered under `XXBTZUSD`.
const OWN_CODES: &[(&str, &str)] = &[("BTC", "XBT"), ("DOGE", "XDG")];
/// Assets of the first years carry a class letter in the answer's keys: X for coins, Z for money.
const CLASSED: &[(&str, &str)] = &[
    ("BTC", "XXBT"),
    ("DOGE", "XXDG"),
    ("ETH", "XETH"),
    ("ETC", "XETC"),
    ("LTC", "XLTC"),
    ("MLN", "XMLN"),
    ("REP", "XREP"),
    ("XLM", "XXLM"),
    ("XMR", "XXMR"),
    ("XRP", "XXRP"),
    ("ZEC", "XZEC"),
    ("USD", "ZUSD"),
    ("EUR", "ZEUR"),
    ("GBP", "ZGBP"),
    ("CAD", "ZCAD"),
    ("JPY", "ZJPY"),
    ("AUD", "ZAUD"),
];

fn coded<'a>(table: &[(&str, &'a str)], code: &'a str) -> &'a str {
    table.iter().find(|(plain, _)| *plain == code).map_or(code, |(_, own)| own)
}

/// Gives the key under which an answer names the pair: classed where both assets are. Later markets of theirs (`XDGUSD`) have the plain spelling instead.
fn key(pair: &Pair) -> String {
    let (base, quote) = (pair.base.as_str(), pair.quote.as_str());
    let table = match (coded(CLASSED, base) != base, coded(CLASSED, quote) != quote) {
        (true, true) => CLASSED,
        (false, true) if base == "USDT" && quote == "USD" => CLASSED,
        _ => OWN_CODES,
    };
    format!("{}{}", coded(table, base), coded(table, quote))
}

fn plain(code: &str) -> &str {
    OWN_CODES.iter().chain(CLASSED).find(|(_, own)| *own == code).map_or(code, |(plain, _)| plain)
}

impl Venue for Kraken {
    fn profile(&self) -> &Profile {
        &PROFILE
    }

    fn spell(&self, pair: &Pair) -> String {
        format!("{}{}", coded(OWN_CODES, pair.base.as_str()), coded(OWN_CODES, pair.quote.as_str()))
    }

    fn aliases(&self, pair: &Pair) -> Vec<String> {
        // With assetVersion=1 the keys are plain.
        vec![key(pair), format!("{pair:#}")]
    }

    fn read_symbol(&self, symbol: &str) -> Option<Pair> {
        if let Some((base, quote)) = symbol.split_once('/') {
            return Pair::new(plain(base), plain(quote)).ok();
        }
        let symbol = if symbol == "USDTZUSD" { "USDTUSD" } else { symbol };
        let classed = CLASSED
            .iter()
            .filter_map(|(quote, own)| Some((symbol.strip_suffix(own)?, *quote)))
            .find(|(base, _)| CLASSED.iter().any(|(_, own)| own == base));
        if let Some((base, quote)) = classed {
            return Pair::new(plain(base), quote).ok();
        }
        let pair = crate::venue::split_by_quote(&symbol.replace("XBT", "BTC").replace("XDG", "DOGE"))?;
        Pair::new(plain(pair.base.as_str()), plain(pair.quote.as_str())).ok()
    }

    /// Errors come with HTTP 200 as well: `{"error":["EGeneral:Too many requests"]}`.
    fn said(&self, status: u16, body: &[u8]) -> Option<Fault> {
        serde_json::from_slice::<Refusal<'_>>(body).ok()?.error.fault(status)
    }

    fn refuse(&self, reason: Reason, _symbol: &str) -> Option<(u16, String)> {
        sim::refused(reason)
    }
}

#[derive(Deserialize)]
struct Refusal<'a> {
    #[serde(borrow)]
    error: Errors<'a>,
}

/// What an answer complains of: `E` begins an error, `W` a mere warning.
#[derive(Default, Deserialize)]
struct Errors<'a>(#[serde(borrow)] Cells<Word<'a>, 4>);

impl Errors<'_> {
    fn fault(&self, status: u16) -> Option<Fault> {
        let text = &self.0.0.iter().flatten().find(|text| !text.0.starts_with('W'))?.0;
        let known = match text.split_once(':').unwrap_or((text, "")) {
            ("EQuery", _) if text.contains("asset pair") => Some(Reason::Unlisted),
            ("EGeneral", "Too many requests" | "Temporary lockout") | ("EAPI", "Rate limit exceeded") => Some(Reason::RateLimited),
            ("EGeneral", "Permission denied") | ("EAPI", "Invalid key" | "Invalid signature") => Some(Reason::Forbidden),
            ("EGeneral", said) if said.starts_with("Internal error") => Some(Reason::Http5xx),
            ("EService", said) if said.starts_with("Market in ") => Some(Reason::Halted),
            ("EService", _) => Some(Reason::Http5xx),
            _ => None,
        };
        Some(Fault::said(reason_of_code(known, status), text))
    }
}
