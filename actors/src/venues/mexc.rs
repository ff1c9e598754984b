//! MEXC: <https://www.mexc.com/api-docs/spot-v3/introduction>

mod prices;
mod rows;
mod sim;

use crate::{
    model::{Fault, Pair, Reason},
    venue::{ANY, Basis, Budget, Endpoint, Fee, Int, Kind, Profile, Reach, TimeOf, Venue, Word, split_by_quote},
};
use serde::Deserialize;
use std::time::Duration;

/// MEXC.
#[derive(Debug)]
pub struct Mexc;

const ONE: Endpoint = Endpoint {
    kind: Kind::Ticker,
    reach: Reach::One,
    path: "/api/v3/ticker/24hr?symbol={symbol}",
    weight: &[(ANY, 1)],
    row_bytes: 420,
    rows: 1,
    decode: rows::one,
    encode: Some(sim::one),
};
const ALL: Endpoint = Endpoint {
    kind: Kind::Tickers,
    reach: Reach::All,
    path: "/api/v3/ticker/24hr",
    weight: &[(ANY, 40)],
    rows: 2800,
    decode: rows::many,
    encode: Some(sim::all),
    ..ONE
};
const OLD_ONE: Endpoint =
    Endpoint { path: "/open/api/v2/market/ticker?symbol={symbol}", row_bytes: 230, decode: rows::old_one, encode: None, ..ONE };
const OLD_ALL: Endpoint = Endpoint { path: "/open/api/v2/market/ticker", row_bytes: 230, decode: rows::old_many, encode: None, ..ALL };
const BOOK_ONE: Endpoint =
    Endpoint { kind: Kind::BookTicker, path: "/api/v3/ticker/bookTicker?symbol={symbol}", row_bytes: 120, encode: None, ..ONE };
const BOOK_ALL: Endpoint =
    Endpoint { kind: Kind::BookTicker, path: "/api/v3/ticker/bookTicker", weight: &[(ANY, 1)], row_bytes: 120, encode: None, ..ALL };

static PROFILE: Profile = Profile {
    id: "mexc",
    name: "MEXC",
    operator: "mexc",
    region: None,
    origin: "https://api.mexc.com",
    mirrors: &[],
    taker: Fee { rate: "0.0005", read: "2026-11-30" },
    // Allowed for each endpoint; counted for all of them together.
    budget: Budget { weight: 500, per: Duration::from_secs(10) },
    body_max: 4 << 20,
    // closeTime is the end of the statistics' window: it moves with the clock, not with the book.
    time_of: TimeOf::Answer,
    basis: Basis::Mid,
    warm_up: "/api/v3/ping",
    docs: "https://www.mexc.com/api-docs/spot-v3/introduction",
    endpoints: &[
        ONE,
        ALL,
        OLD_ONE,
        OLD_ALL,
        BOOK_ONE,
        BOOK_ALL,
        Endpoint { kind: Kind::Ticker, path: "/api/v3/ticker/price?symbol={symbol}", weight: &[], decode: prices::one, ..BOOK_ONE },
        Endpoint { kind: Kind::Tickers, path: "/api/v3/ticker/price", weight: &[], decode: prices::many, ..BOOK_ALL },
    ],
};

impl Venue for Mexc {
    fn profile(&self) -> &Profile {
        &PROFILE
    }

    fn spell(&self, pair: &Pair) -> String {
        format!("{}{}", pair.base, pair.quote)
    }

    /// Version 2 writes `BTC_USDT`.
    fn aliases(&self, pair: &Pair) -> Vec<String> {
        vec![format!("{}_{}", pair.base, pair.quote)]
    }

    fn read_symbol(&self, symbol: &str) -> Option<Pair> {
        match symbol.split_once('_') {
            Some((base, quote)) => Pair::new(base, quote).ok(),
            None => split_by_quote(symbol),
        }
    }

    fn said(&self, _status: u16, body: &[u8]) -> Option<Fault> {
        serde_json::from_slice::<Refusal<'_>>(body).ok()?.fault()
    }

    fn refuse(&self, reason: Reason, _symbol: &str) -> Option<(u16, String)> {
        sim::refused(reason)
    }
}

#[derive(Deserialize)]
struct Refusal<'a> {
    #[serde(default)]
    code: Int,
    #[serde(borrow, default)]
    msg: Option<Word<'a>>,
}

impl Refusal<'_> {
    /// Gives what the code means; `None` for the codes of success.
    fn fault(self) -> Option<Fault> {
        let msg = self.msg.unwrap_or_default().0;
        let code = self.code.0?;
        let reason = match code {
            0 | 200 => return None,
            -1121 | 10007 | 10232 | 30014 => Reason::Unlisted,
            429 | 510 | -1003 => Reason::RateLimited,
            401 | 403 | 406 | 10072 | 10073 | 700_006 => Reason::Forbidden,
            30000 | 30016 => Reason::Halted,
            _ if msg.to_ascii_lowercase().contains("maintenance") => Reason::Http5xx,
            500..=504 | -1001 | -1007 => Reason::Http5xx,
            _ => Reason::Rejected,
        };
        Some(Fault::said(reason, &format!("{code}: {msg}")))
    }
}
