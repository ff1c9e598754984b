//! Bybit: <https://bybit-exchange.github.io/docs/v5/market/tickers>

mod rows;
mod sim;

use crate::{
    model::{Fault, Pair, Reason},
    venue::{ANY, Basis, Budget, Endpoint, Fee, Int, Kind, Profile, Reach, TimeOf, Venue, Word, reason_of_code, split_by_quote},
};
use serde::{Deserialize, de::IgnoredAny};
use std::time::Duration;

/// Bybit, the global site.
#[derive(Debug)]
pub struct Bybit;

const ONE: Endpoint = Endpoint {
    kind: Kind::Ticker,
    reach: Reach::One,
    path: "/v5/market/tickers?category=spot&symbol={symbol}",
    weight: &[(ANY, 1)],
    row_bytes: 350,
    rows: 1,
    decode: rows::one,
    encode: Some(sim::written),
};
const ALL: Endpoint =
    Endpoint { kind: Kind::Tickers, reach: Reach::All, path: "/v5/market/tickers?category=spot", rows: 650, decode: rows::many, ..ONE };
const OLD_ONE: Endpoint =
    Endpoint { path: "/spot/v3/public/quote/ticker/24hr?symbol={symbol}", decode: rows::bare_one, encode: None, ..ONE };
const OLD_ALL: Endpoint = Endpoint { path: "/spot/v3/public/quote/ticker/24hr", encode: None, ..ALL };

static PROFILE: Profile = Profile {
    id: "bybit",
    name: "Bybit",
    operator: "bybit",
    region: None,
    origin: "https://api.bybit.com",
    mirrors: &["https://api.bytick.com"],
    taker: Fee { rate: "0.001", read: "2026-11-30" },
    budget: Budget { weight: 600, per: Duration::from_secs(5) },
    body_max: 2 << 20,
    // Rows have no time: only the answer has.
    time_of: TimeOf::Answer,
    basis: Basis::Mid,
    warm_up: "/v5/market/time",
    docs: "https://bybit-exchange.github.io/docs/v5/market/tickers",
    endpoints: &[
        ONE,
        ALL,
        OLD_ONE,
        OLD_ALL,
        Endpoint { kind: Kind::BookTicker, path: "/spot/v3/public/quote/ticker/bookTicker?symbol={symbol}", ..OLD_ONE },
        Endpoint { kind: Kind::BookTicker, path: "/spot/v3/public/quote/ticker/bookTicker", ..OLD_ALL },
        Endpoint { path: "/spot/quote/v1/ticker/24hr?symbol={symbol}", ..OLD_ONE },
        Endpoint { path: "/spot/quote/v1/ticker/24hr", decode: rows::bare_many, ..OLD_ALL },
        Endpoint { kind: Kind::BookTicker, path: "/spot/quote/v1/ticker/book_ticker?symbol={symbol}", ..OLD_ONE },
        Endpoint { kind: Kind::BookTicker, path: "/spot/quote/v1/ticker/book_ticker", decode: rows::bare_many, ..OLD_ALL },
    ],
};

impl Venue for Bybit {
    fn profile(&self) -> &Profile {
        &PROFILE
    }

    fn spell(&self, pair: &Pair) -> String {
        format!("{}{}", pair.base, pair.quote)
    }

    fn read_symbol(&self, symbol: &str) -> Option<Pair> {
        split_by_quote(symbol)
    }

    fn said(&self, status: u16, body: &[u8]) -> Option<Fault> {
        let text = std::str::from_utf8(body).ok()?;
        // The limit per IP is told in plain words, with HTTP 403.
        if status == 403 && text.to_ascii_lowercase().contains("access too frequent") {
            return Some(Fault::said(Reason::RateLimited, text));
        }
        serde_json::from_str::<Reply<'_, IgnoredAny>>(text).ok()?.fault(status)
    }

    fn refuse(&self, reason: Reason, _symbol: &str) -> Option<(u16, String)> {
        sim::refused(reason)
    }
}

/// The envelope; HTTP is 200 on most refusals. Version 1 of the API wrote with underscores.
#[derive(Deserialize)]
struct Reply<'a, R> {
    #[serde(rename = "retCode", alias = "ret_code")]
    code: Int,
    #[serde(borrow, default, rename = "retMsg", alias = "ret_msg")]
    msg: Option<Word<'a>>,
    result: Option<R>,
    #[serde(default)]
    time: Int,
}

impl<R> Reply<'_, R> {
    fn fault(&self, status: u16) -> Option<Fault> {
        let msg = self.msg.as_ref().map_or("", |m| &m.0);
        let code = self.code.0.unwrap_or(-1);
        let known = match code {
            0 => return None,
            10001 if msg.to_ascii_lowercase().contains("symbol") => Some(Reason::Unlisted),
            10029 | 170_121 | 170_221 => Some(Reason::Unlisted),
            10006 | 10018 | 10429 | 170_005 | 170_222 => Some(Reason::RateLimited),
            10009 => Some(Reason::Banned),
            10024 => Some(Reason::GeoBlocked),
            10003..=10005 | 10007 | 10008 | 10010 | 33004 => Some(Reason::Forbidden),
            10000 | 10016 | 10019 | 170_001 | 170_007 | 170_032 | 170_234 => Some(Reason::Http5xx),
            _ => None,
        };
        Some(Fault::said(reason_of_code(known, status), &format!("{code}: {msg}")))
    }
}
