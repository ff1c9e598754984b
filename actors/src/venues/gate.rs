//! Gate: <https://www.gate.com/docs/developers/apiv4/en/#market-information-spot>

mod rows;
mod sim;

use crate::{
    model::{Fault, Pair, Reason},
    venue::{ANY, Basis, Budget, Endpoint, Fee, Kind, Profile, Reach, TimeOf, Venue, Word, reason_of_code},
};
use serde::Deserialize;
use std::time::Duration;

/// Gate.
#[derive(Debug)]
pub struct Gate;

const ONE: Endpoint = Endpoint {
    kind: Kind::Ticker,
    reach: Reach::One,
    path: "/api/v4/spot/tickers?currency_pair={symbol}",
    weight: &[(ANY, 1)],
    row_bytes: 280,
    rows: 1,
    decode: rows::one,
    encode: Some(sim::one),
};
const ALL: Endpoint = Endpoint {
    kind: Kind::Tickers,
    reach: Reach::All,
    path: "/api/v4/spot/tickers",
    rows: 2800,
    decode: rows::many,
    encode: Some(sim::all),
    ..ONE
};

static PROFILE: Profile = Profile {
    id: "gate",
    name: "Gate",
    operator: "gate",
    region: None,
    origin: "https://api.gateio.ws",
    mirrors: &[],
    taker: Fee { rate: "0.001", read: "2026-11-30" },
    budget: Budget { weight: 200, per: Duration::from_secs(10) },
    body_max: 4 << 20,
    time_of: TimeOf::None,
    basis: Basis::Mid,
    warm_up: "/api/v4/spot/time",
    docs: "https://www.gate.com/docs/developers/apiv4/en/#market-information-spot",
    endpoints: &[
        ONE,
        ALL,
        Endpoint { path: "/api2/1/ticker/{symbol}", decode: rows::second_one, encode: None, ..ONE },
        Endpoint { path: "/api2/1/tickers", decode: rows::second_many, encode: None, ..ALL },
    ],
};

impl Venue for Gate {
    fn profile(&self) -> &Profile {
        &PROFILE
    }

    fn spell(&self, pair: &Pair) -> String {
        format!("{}_{}", pair.base, pair.quote)
    }

    /// Version 2 of the API wrote in lower case.
    fn aliases(&self, pair: &Pair) -> Vec<String> {
        vec![self.spell(pair).to_ascii_lowercase()]
    }

    fn read_symbol(&self, symbol: &str) -> Option<Pair> {
        symbol.split_once('_').and_then(|(base, quote)| Pair::new(base, quote).ok())
    }

    fn said(&self, status: u16, body: &[u8]) -> Option<Fault> {
        serde_json::from_slice::<Refusal<'_>>(body).ok()?.fault(status)
    }

    fn refuse(&self, reason: Reason, symbol: &str) -> Option<(u16, String)> {
        sim::refused(reason, symbol)
    }
}

/// A refusal; version 2 had no label, and said `"result":"false"`.
#[derive(Deserialize)]
struct Refusal<'a> {
    #[serde(borrow, default)]
    label: Option<Word<'a>>,
    #[serde(borrow, default)]
    message: Option<Word<'a>>,
}

impl Refusal<'_> {
    fn fault(&self, status: u16) -> Option<Fault> {
        let words = |word: &Option<Word<'_>>| word.as_ref().map(|w| w.0.to_string());
        let (label, message) = (words(&self.label), words(&self.message).unwrap_or_default());
        if label.is_none() && message.is_empty() {
            return None;
        }
        let label = label.unwrap_or_default();
        let known = match label.as_str() {
            "INVALID_CURRENCY" | "INVALID_CURRENCY_PAIR" | "CURRENCY_PAIR_NOT_FOUND" => Some(Reason::Unlisted),
            "TOO_MANY_REQUESTS" | "TOO_FAST" | "TOO_FREQUENT" => Some(Reason::RateLimited),
            "TRADE_RESTRICTED" => Some(Reason::Halted),
            "INVALID_CREDENTIALS" | "INVALID_KEY" | "IP_FORBIDDEN" | "READ_ONLY" | "ACCOUNT_LOCKED" | "FORBIDDEN" => {
                Some(Reason::Forbidden)
            }
            "INTERNAL" | "SERVER_ERROR" | "TOO_BUSY" => Some(Reason::Http5xx),
            "" | "INVALID_PARAM_VALUE" if message.to_ascii_lowercase().contains("pair") => Some(Reason::Unlisted),
            _ => None,
        };
        Some(Fault::said(reason_of_code(known, status), &format!("{label}: {message}")))
    }
}
