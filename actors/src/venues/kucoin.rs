//! KuCoin: <https://www.kucoin.com/docs-new/rest/spot-trading/market-data/get-ticker>

mod rows;
mod sim;

use crate::{
    model::{Fault, Pair, Reason},
    venue::{ANY, Basis, Budget, Endpoint, Fee, Kind, Num, Profile, Raw, Reach, TimeOf, Venue, Word},
};
use serde::Deserialize;
use std::time::Duration;

/// KuCoin.
#[derive(Debug)]
pub struct Kucoin;

/// The unified account's ticker alone has sizes, last and volumes in one answer.
const ONE: Endpoint = Endpoint {
    kind: Kind::Ticker,
    reach: Reach::One,
    path: "/api/ua/v1/market/ticker?tradeType=SPOT&symbol={symbol}",
    weight: &[(ANY, 15)],
    row_bytes: 420,
    rows: 1,
    decode: rows::unified,
    encode: Some(sim::unified),
};
const ALL: Endpoint = Endpoint {
    kind: Kind::Tickers,
    reach: Reach::All,
    path: "/api/v1/market/allTickers",
    rows: 1100,
    decode: rows::many,
    encode: Some(sim::all),
    ..ONE
};
const OLD_ONE: Endpoint = Endpoint { decode: rows::one, encode: None, ..ONE };

static PROFILE: Profile = Profile {
    id: "kucoin",
    name: "KuCoin",
    operator: "kucoin",
    region: None,
    origin: "https://api.kucoin.com",
    mirrors: &[],
    taker: Fee { rate: "0.001", read: "2026-11-30" },
    budget: Budget { weight: 2000, per: Duration::from_secs(30) },
    body_max: 4 << 20,
    time_of: TimeOf::Answer,
    basis: Basis::Mid,
    warm_up: "/api/v1/timestamp",
    docs: "https://www.kucoin.com/docs-new/rest/spot-trading/market-data/get-ticker",
    endpoints: &[
        ONE,
        ALL,
        Endpoint { path: "/api/v1/market/stats?symbol={symbol}", encode: Some(sim::stats), ..OLD_ONE },
        Endpoint { path: "/api/ua/v1/market/ticker?tradeType=SPOT", encode: None, ..ALL },
        // The first API, retired in 2019.
        Endpoint { path: "/v1/open/tick?symbol={symbol}", ..OLD_ONE },
        Endpoint { path: "/v1/market/open/symbols", decode: rows::old_many, encode: None, ..ALL },
        Endpoint { kind: Kind::BookTicker, path: "/api/v1/market/orderbook/level1?symbol={symbol}", row_bytes: 230, ..OLD_ONE },
    ],
};

/// Coins that were renamed: the symbol keeps the old code, and only `symbolName` has the new one.
const OWN_CODES: &[(&str, &str)] = &[("BSV", "BCHSV"), ("WAXP", "WAX")];

fn own(code: &str) -> &str {
    OWN_CODES.iter().find(|(plain, _)| *plain == code).map_or(code, |(_, own)| own)
}

fn plain(code: &str) -> &str {
    OWN_CODES.iter().find(|(_, own)| *own == code).map_or(code, |(plain, _)| plain)
}

impl Venue for Kucoin {
    fn profile(&self) -> &Profile {
        &PROFILE
    }

    fn spell(&self, pair: &Pair) -> String {
        format!("{}-{}", own(pair.base.as_str()), own(pair.quote.as_str()))
    }

    fn read_symbol(&self, symbol: &str) -> Option<Pair> {
        let (base, quote) = symbol.split_once('-')?;
        Pair::new(plain(base), plain(quote)).ok()
    }

    fn said(&self, _status: u16, body: &[u8]) -> Option<Fault> {
        serde_json::from_slice::<Refusal<'_>>(body).ok()?.fault()
    }

    fn refuse(&self, reason: Reason, _symbol: &str) -> Option<(u16, String)> {
        sim::refused(reason)
    }
}

const SUCCESS: &str = "200000";
const OLD_SUCCESS: &str = "OK";

fn refusal(code: &str, msg: &str) -> Fault {
    let has = |words: &[&str]| words.iter().any(|word| msg.to_ascii_lowercase().contains(word));
    let reason = match code {
        "900001" | "400600" => Reason::Unlisted,
        // One code for every wrong parameter: the text tells whether it is the symbol.
        "400100" | "400000" if has(&["trading pair", "not exist", "symbol"]) => Reason::Unlisted,
        "429000" | "429" | "1015" => Reason::RateLimited,
        "400302" | "400500" => Reason::GeoBlocked,
        _ if has(&["unavailable in the u.s", "restricted country", "restricted region"]) => Reason::GeoBlocked,
        "400001" | "400002" | "400003" | "400004" | "400005" | "400006" | "400007" | "400303" | "403" | "411100" => Reason::Forbidden,
        "200001" | "400200" => Reason::Halted,
        "500" | "502" | "503" | "504" | "500000" => Reason::Http5xx,
        _ if has(&["maintenance", "upgrad", "system is busy", "system busy"]) => Reason::Http5xx,
        _ => Reason::Rejected,
    };
    Fault::said(reason, &format!("{code}: {msg}"))
}

#[derive(Deserialize)]
struct Refusal<'a> {
    #[serde(borrow)]
    code: Raw<'a>,
    #[serde(borrow)]
    msg: Option<Word<'a>>,
}

impl Refusal<'_> {
    fn fault(self) -> Option<Fault> {
        let code = self.code.text().filter(|code| ![SUCCESS, OLD_SUCCESS].contains(code))?;
        Some(refusal(code, &self.msg.unwrap_or_default().0))
    }
}

/// The envelope of an answer.
#[derive(Deserialize)]
struct Reply<'a, N, D> {
    code: N,
    #[serde(borrow)]
    msg: Option<Word<'a>>,
    data: Option<D>,
}

impl<'a, N: Num<'a>, D> Reply<'_, N, D> {
    fn success(self) -> Result<D, Fault> {
        match self.code.text() {
            // What KuCoin says of a symbol that it does not have: success, and nothing.
            Some(SUCCESS | OLD_SUCCESS) => self.data.ok_or(Fault::new(Reason::Unlisted, "data: null")),
            code => Err(refusal(code.unwrap_or_default(), &self.msg.unwrap_or_default().0)),
        }
    }
}
