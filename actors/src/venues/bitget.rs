//! Bitget: <https://www.bitget.com/api-doc/spot/market/Get-Tickers>

mod rows;
mod sim;

use crate::{
    model::{Fault, Pair, Reason},
    venue::{ANY, Basis, Budget, Endpoint, Fee, Kind, Num, Profile, Raw, Reach, TimeOf, Venue, Word, reason_of_code, split_by_quote},
};
use serde::{Deserialize, de::IgnoredAny};
use std::time::Duration;

/// Bitget.
#[derive(Debug)]
pub struct Bitget;

const ONE: Endpoint = Endpoint {
    kind: Kind::Ticker,
    reach: Reach::One,
    path: "/api/v2/spot/market/tickers?symbol={symbol}",
    weight: &[(ANY, 1)],
    row_bytes: 340,
    rows: 1,
    decode: rows::one,
    encode: Some(sim::written),
};
const ALL: Endpoint =
    Endpoint { kind: Kind::Tickers, reach: Reach::All, path: "/api/v2/spot/market/tickers", rows: 800, decode: rows::many, ..ONE };

static PROFILE: Profile = Profile {
    id: "bitget",
    name: "Bitget",
    operator: "bitget",
    region: None,
    origin: "https://api.bitget.com",
    mirrors: &[],
    taker: Fee { rate: "0.001", read: "2026-11-30" },
    budget: Budget { weight: 20, per: Duration::from_secs(1) },
    body_max: 2 << 20,
    // Rows without any order have fresh times too.
    time_of: TimeOf::Answer,
    basis: Basis::Mid,
    warm_up: "/api/v2/public/time",
    docs: "https://www.bitget.com/api-doc/spot/market/Get-Tickers",
    endpoints: &[
        ONE,
        ALL,
        Endpoint { path: "/api/v3/market/tickers?category=SPOT&symbol={symbol}", encode: None, ..ONE },
        Endpoint { path: "/api/v3/market/tickers?category=SPOT", encode: None, ..ALL },
        Endpoint { path: "/api/spot/v1/market/ticker?symbol={symbol}", decode: rows::bare_one, encode: None, ..ONE },
        Endpoint { path: "/api/spot/v1/market/tickers", encode: None, ..ALL },
    ],
};

impl Venue for Bitget {
    fn profile(&self) -> &Profile {
        &PROFILE
    }

    fn spell(&self, pair: &Pair) -> String {
        format!("{}{}", pair.base, pair.quote)
    }

    /// Requests of version 1 named the market's kind too.
    fn aliases(&self, pair: &Pair) -> Vec<String> {
        vec![format!("{}{}_SPBL", pair.base, pair.quote)]
    }

    fn read_symbol(&self, symbol: &str) -> Option<Pair> {
        split_by_quote(symbol.strip_suffix("_SPBL").unwrap_or(symbol))
    }

    fn said(&self, status: u16, body: &[u8]) -> Option<Fault> {
        serde_json::from_slice::<Reply<'_, Raw<'_>, IgnoredAny>>(body).ok()?.fault(status)
    }

    fn refuse(&self, reason: Reason, symbol: &str) -> Option<(u16, String)> {
        sim::refused(reason, symbol)
    }
}

/// The envelope; the code is text, `00000` where all is well.
#[derive(Deserialize)]
struct Reply<'a, N, R> {
    code: N,
    #[serde(borrow, default)]
    msg: Option<Word<'a>>,
    data: Option<R>,
}

impl<'n, N: Num<'n>, R> Reply<'_, N, R> {
    fn fault(&self, status: u16) -> Option<Fault> {
        let msg = self.msg.as_ref().map_or("", |m| &m.0);
        let Some(code) = self.code.int() else { return Some(Fault::new(Reason::Decode, "code: not a number")) };
        let known = match code {
            0 => return None,
            // "Parameter NOPEUSDT does not exist"; "... cannot be empty" is said of unknown symbols too.
            40034 | 40019 | 40102 | 40309 => Some(Reason::Unlisted),
            40017 | 400_172 if msg.to_ascii_lowercase().contains("symbol") => Some(Reason::Unlisted),
            429 | 40429 | 30007 | 30014 => Some(Reason::RateLimited),
            40308 | 41114 => Some(Reason::Halted),
            40001..=40003 | 40006 | 40009 | 40011..=40014 | 40018 | 40021..=40026 | 40037 | 40038 | 40301 => Some(Reason::Forbidden),
            40010 | 40015 | 40300 | 40725 | 45001 | 500..=599 => Some(Reason::Http5xx),
            _ => None,
        };
        Some(Fault::said(reason_of_code(known, status), &format!("{code}: {msg}")))
    }
}
