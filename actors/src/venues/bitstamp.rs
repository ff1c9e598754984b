//! Bitstamp: <https://www.bitstamp.net/api/#tag/Tickers>

mod rows;
mod sim;

use crate::{
    model::{Fault, Pair, Reason},
    venue::{ANY, Basis, Budget, Endpoint, Fee, Kind, Num, Profile, Raw, Reach, TimeOf, Venue, split_by_quote},
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::time::Duration;

/// Bitstamp.
#[derive(Debug)]
pub struct Bitstamp;

const ONE: Endpoint = Endpoint {
    kind: Kind::Ticker,
    reach: Reach::One,
    path: "/api/v2/ticker/{symbol}/",
    weight: &[(ANY, 1)],
    row_bytes: 260,
    rows: 1,
    decode: rows::one,
    encode: Some(sim::one),
};
const ALL: Endpoint = Endpoint {
    kind: Kind::Tickers,
    reach: Reach::All,
    path: "/api/v2/ticker/",
    row_bytes: 280,
    rows: 260,
    decode: rows::many,
    encode: Some(sim::all),
    ..ONE
};

static PROFILE: Profile = Profile {
    id: "bitstamp",
    name: "Bitstamp",
    operator: "bitstamp",
    region: None,
    origin: "https://www.bitstamp.net",
    mirrors: &[],
    taker: Fee { rate: "0.004", read: "2026-11-30" },
    // 400 in a second and 10,000 in ten minutes: this keeps both.
    budget: Budget { weight: 160, per: Duration::from_secs(10) },
    body_max: 4 << 20,
    // Whole seconds.
    time_of: TimeOf::Answer,
    basis: Basis::Mid,
    warm_up: "/api/v2/ticker/btcusd/",
    docs: "https://www.bitstamp.net/api/#tag/Tickers",
    endpoints: &[ONE, ALL],
};

impl Venue for Bitstamp {
    fn profile(&self) -> &Profile {
        &PROFILE
    }

    fn spell(&self, pair: &Pair) -> String {
        format!("{}{}", pair.base, pair.quote).to_ascii_lowercase()
    }

    /// The list of all markets writes `BTC/USD`.
    fn aliases(&self, pair: &Pair) -> Vec<String> {
        vec![format!("{pair:#}")]
    }

    /// Perpetuals (`BTC/USD-PERP`) stand in the same list, and are no pairs.
    fn read_symbol(&self, symbol: &str) -> Option<Pair> {
        match symbol.split_once('/') {
            Some((base, quote)) => Pair::new(base, quote).ok(),
            None => split_by_quote(symbol),
        }
    }

    fn said(&self, status: u16, body: &[u8]) -> Option<Fault> {
        serde_json::from_slice::<Refusal<'_>>(body).ok()?.fault(status)
    }

    fn refuse(&self, reason: Reason, _symbol: &str) -> Option<(u16, String)> {
        sim::refused(reason)
    }
}

/// An error in its three forms: `error`, or `status`, `reason` (a text, or lists of texts by field) and `code`, or `response_code` and `response_explanation`.
#[derive(Deserialize)]
struct Refusal<'a> {
    #[serde(borrow, alias = "reason", alias = "response_explanation")]
    error: &'a RawValue,
    #[serde(borrow, default, alias = "response_code")]
    code: Raw<'a>,
}

impl Refusal<'_> {
    fn fault(&self, status: u16) -> Option<Fault> {
        let text = self.error.get().trim_matches('"');
        let code = self.code.text().unwrap_or_default();
        let lower = text.to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let reason = match (code, status) {
            ("400.002", _) | (_, 429) => Reason::RateLimited,
            ("404.002", _) => Reason::Unlisted,
            _ if has(&["rate limit", "too many requests"]) => Reason::RateLimited,
            _ if has(&["maintenance", "could not be placed", "temporarily unavailable"]) => Reason::Http5xx,
            _ if has(&["restricted country", "restricted jurisdiction", "your country"]) => Reason::GeoBlocked,
            _ if has(&["permission", "not allowed", "api key", "authentication"]) => Reason::Forbidden,
            _ if has(&["trading is disabled", "market is disabled", "trading halted"]) => Reason::Halted,
            // Of what else is wrong in a server, and of 401, 403 and 451, the status says more.
            (_, 401..=403 | 405..) => return None,
            _ if has(&["pair", "market", "symbol"]) || status == 404 => Reason::Unlisted,
            _ => Reason::Rejected,
        };
        Some(Fault::said(reason, format!("{code} {text}").trim()))
    }
}
