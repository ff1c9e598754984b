//! Bitfinex: <https://docs.bitfinex.com/reference/rest-public-ticker>

mod codes;
mod rows;
mod sim;

use crate::{
    model::{Fault, Pair, Reason, Retry},
    venue::{ANY, Basis, Budget, Cells, Endpoint, Fee, Kind, Num, Profile, Raw, Reach, SymbolList, TimeOf, Venue, Word},
};
use codes::{own, plain};
use serde::Deserialize;
use std::time::Duration;

/// Bitfinex.
#[derive(Debug)]
pub struct Bitfinex;

const ONE: Endpoint = Endpoint {
    kind: Kind::Ticker,
    reach: Reach::One,
    path: "/v2/ticker/{symbol}",
    weight: &[(ANY, 1)],
    row_bytes: 110,
    rows: 1,
    decode: rows::one,
    encode: Some(sim::one),
};
const LISTED: Endpoint = Endpoint {
    kind: Kind::Tickers,
    reach: Reach::Listed(SymbolList { most: 100, form: ["", ",", ""] }),
    path: "/v2/tickers?symbols={symbols}",
    row_bytes: 120,
    rows: 100,
    decode: rows::many,
    encode: Some(sim::all),
    ..ONE
};
const ALL: Endpoint = Endpoint { reach: Reach::All, path: "/v2/tickers?symbols=ALL", rows: 430, ..LISTED };
const OLD_ONE: Endpoint = Endpoint { path: "/v1/pubticker/{symbol}", row_bytes: 180, decode: rows::old_one, encode: None, ..ONE };
const OLD_ALL: Endpoint =
    Endpoint { path: "/v1/tickers?symbols=ALL", row_bytes: 200, rows: 300, decode: rows::old_many, encode: None, ..ALL };

static PROFILE: Profile = Profile {
    id: "bitfinex",
    name: "Bitfinex",
    operator: "bitfinex",
    region: None,
    origin: "https://api-pub.bitfinex.com",
    mirrors: &[],
    // Trading is free for everybody since December 2025.
    taker: Fee { rate: "0", read: "2026-11-30" },
    budget: Budget { weight: 30, per: Duration::from_secs(60) },
    body_max: 4 << 20,
    time_of: TimeOf::None,
    basis: Basis::Mid,
    warm_up: "/v2/platform/status",
    docs: "https://docs.bitfinex.com/reference/rest-public-ticker",
    endpoints: &[ONE, LISTED, ALL, OLD_ONE, OLD_ALL],
};

impl Venue for Bitfinex {
    fn profile(&self) -> &Profile {
        &PROFILE
    }

    /// Codes of more than three letters are set apart by a colon: `tBTCUST`, `tAVAX:USD`.
    fn spell(&self, pair: &Pair) -> String {
        let (base, quote) = (own(pair.base.as_str()), own(pair.quote.as_str()));
        let colon = if base.len() > 3 || quote.len() > 3 { ":" } else { "" };
        format!("t{base}{colon}{quote}")
    }

    /// Version 1 has no `t`.
    fn aliases(&self, pair: &Pair) -> Vec<String> {
        self.spell(pair).strip_prefix('t').map(str::to_owned).into_iter().collect()
    }

    /// Funding (`fUSD`) and perpetuals (`tBTCF0:USTF0`) stand in the same list, and are no pairs; neither is what customers practise with (`tTESTBTC:TESTUSD`).
    fn read_symbol(&self, symbol: &str) -> Option<Pair> {
        let codes = symbol.strip_prefix('t').unwrap_or(symbol);
        if codes.starts_with('f') {
            return None;
        }
        let (base, quote) = match codes.split_once(':') {
            Some(parts) => parts,
            // A code that stands without a colon has at most three letters, and no quote has fewer.
            None => codes.split_at_checked(codes.len().checked_sub(3).filter(|base| *base <= 3)?)?,
        };
        let spot = |code: &str| !code.ends_with("F0") && !code.starts_with("TEST");
        if spot(base) && spot(quote) { Pair::new(plain(base), plain(quote)).ok() } else { None }
    }

    fn said(&self, _status: u16, body: &[u8]) -> Option<Fault> {
        let text = std::str::from_utf8(body).ok()?;
        if let Ok(cells) = serde_json::from_str::<Cells<Raw<'_>, 3>>(text) {
            return refused(&cells);
        }
        let old: OldRefusal<'_> = serde_json::from_str(text).ok()?;
        Some(refusal("", &old.message.0))
    }

    fn refuse(&self, reason: Reason, _symbol: &str) -> Option<(u16, String)> {
        sim::refused(reason)
    }
}

/// Who asks too often is blocked for a minute.
const BLOCKED: Duration = Duration::from_secs(60);

/// Reads `["error",10020,"symbol: invalid"]`; `None` for what is no error.
fn refused<const K: usize>(cells: &Cells<Raw<'_>, K>) -> Option<Fault> {
    let text = |at| cells.get(at).and_then(|cell: &Raw<'_>| cell.text());
    (text(0) == Some("error")).then(|| refusal(text(1).unwrap_or_default(), text(2).unwrap_or_default()))
}

fn refusal(code: &str, text: &str) -> Fault {
    let lower = text.to_ascii_lowercase();
    let limited = lower.contains("ratelimit") || lower.contains("rate_limit") || lower.contains("rate limit");
    let reason = match code {
        "11010" => Reason::RateLimited,
        "ERR_RATE_LIMIT" | "ratelimit" => Reason::RateLimited,
        _ if limited => Reason::RateLimited,
        _ if lower.contains("symbol") || lower.contains("unknown pair") => Reason::Unlisted,
        "20060" => Reason::Http5xx,
        _ if lower.contains("unavailable") || lower.contains("maintenance") => Reason::Http5xx,
        "10100" => Reason::Forbidden,
        _ => Reason::Rejected,
    };
    let retry = (reason == Reason::RateLimited).then_some(Retry::After(BLOCKED));
    Fault::said(reason, format!("{code} {text}").trim()).retry(retry)
}

/// An error of version 1: `{"message":"Unknown symbol"}`, `{"error":"ERR_RATE_LIMIT"}`.
#[derive(Deserialize)]
struct OldRefusal<'a> {
    #[serde(borrow, alias = "error")]
    message: Word<'a>,
}
