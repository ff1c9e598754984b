//! Binance: <https://developers.binance.com/docs/binance-spot-api-docs/rest-api>

mod rows;
mod sim;
mod trades;

use crate::{
    model::{Fault, Pair, Reason, Retry, UnixMs},
    venue::{ANY, Basis, Budget, Endpoint, Fee, Kind, Profile, Reach, SymbolList, TimeOf, Venue, Word, reason_of_code, split_by_quote},
};
use serde::Deserialize;
use std::time::Duration;

/// Binance, the international exchange.
#[derive(Debug)]
pub struct Binance;

const ONE: Endpoint = Endpoint {
    kind: Kind::Ticker,
    reach: Reach::One,
    path: "/api/v3/ticker/24hr?symbol={symbol}",
    weight: &[(ANY, 2)],
    row_bytes: 560,
    rows: 1,
    decode: rows::one,
    encode: Some(sim::one),
};
const LISTED: Endpoint = Endpoint {
    kind: Kind::Tickers,
    reach: Reach::Listed(SymbolList { most: 100, form: ["%5B%22", "%22%2C%22", "%22%5D"] }),
    path: "/api/v3/ticker/24hr?symbols={symbols}",
    weight: &[(20, 2), (100, 40), (ANY, 80)],
    rows: 100,
    decode: rows::many,
    encode: Some(sim::all),
    ..ONE
};
const ALL: Endpoint = Endpoint { reach: Reach::All, path: "/api/v3/ticker/24hr", weight: &[(ANY, 80)], rows: 3400, ..LISTED };
const BOOK_ONE: Endpoint =
    Endpoint { kind: Kind::BookTicker, path: "/api/v3/ticker/bookTicker?symbol={symbol}", row_bytes: 130, encode: None, ..ONE };
const BOOK_ALL: Endpoint =
    Endpoint { kind: Kind::BookTicker, path: "/api/v3/ticker/bookTicker", weight: &[(ANY, 4)], row_bytes: 130, encode: None, ..ALL };
const OLD_ONE: Endpoint = Endpoint { decode: trades::one, encode: None, ..ONE };
const OLD_ALL: Endpoint = Endpoint { decode: trades::many, encode: None, ..ALL };

static PROFILE: Profile = Profile {
    id: "binance",
    name: "Binance",
    operator: "binance",
    region: None,
    origin: "https://api.binance.com",
    mirrors: &["https://api-gcp.binance.com", "https://api1.binance.com", "https://data-api.binance.vision"],
    taker: Fee { rate: "0.001", read: "2026-11-30" },
    budget: Budget { weight: 6000, per: Duration::from_secs(60) },
    body_max: 4 << 20,
    // closeTime is the end of the statistics' window: it moves with the clock, not with the book.
    time_of: TimeOf::Answer,
    basis: Basis::Mid,
    warm_up: "/api/v3/ping",
    docs: "https://developers.binance.com/docs/binance-spot-api-docs/rest-api",
    endpoints: &[
        ONE,
        LISTED,
        ALL,
        BOOK_ONE,
        BOOK_ALL,
        Endpoint { reach: LISTED.reach, path: "/api/v3/ticker/bookTicker?symbols={symbols}", ..BOOK_ALL },
        // Statistics without bid and ask, over windows of the caller's choice, and the last price alone.
        Endpoint { path: "/api/v3/ticker/tradingDay?symbol={symbol}", ..OLD_ONE },
        Endpoint { path: "/api/v3/ticker/price?symbol={symbol}", ..OLD_ONE },
        Endpoint { path: "/api/v3/ticker/price", ..OLD_ALL },
        Endpoint { path: "/api/v3/ticker?symbol={symbol}", ..OLD_ONE },
        Endpoint { path: "/api/v1/ticker/24hr?symbol={symbol}", decode: rows::one, ..OLD_ONE },
        Endpoint { path: "/api/v1/ticker/24hr", decode: rows::many, ..OLD_ALL },
        Endpoint { path: "/api/v1/ticker/allBookTickers", ..BOOK_ALL },
    ],
};

impl Venue for Binance {
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
        Some(serde_json::from_slice::<Refusal<'_>>(body).ok()?.fault(status))
    }

    fn refuse(&self, reason: Reason, _symbol: &str) -> Option<(u16, String)> {
        sim::refused(reason)
    }
}

#[derive(Deserialize)]
struct Refusal<'a> {
    code: i64,
    #[serde(borrow, default)]
    msg: Option<Word<'a>>,
}

impl Refusal<'_> {
    fn fault(&self, status: u16) -> Fault {
        let (code, msg) = (self.code, self.msg.as_ref().map_or("", |m| &*m.0));
        // The end of a ban stands only in the text: "... IP banned until 1660090423228. ..."
        let until = msg
            .split_once("banned until ")
            .and_then(|(_, rest)| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok())
            .map(|ms| Retry::At(UnixMs(ms)));
        let known = match code {
            _ if until.is_some() => Some(Reason::Banned),
            -1121 => Some(Reason::Unlisted),
            -1003 | -1015 | -1034 if status != 418 => Some(Reason::RateLimited),
            0 if msg.contains("restricted location") => Some(Reason::GeoBlocked),
            -1000 | -1001 | -1006 | -1007 | -1008 | -1016 | 1 => Some(Reason::Http5xx),
            -1002 => Some(Reason::Forbidden),
            -1013 | -1122 => Some(Reason::Halted).filter(|_| msg.contains("closed") || msg.contains("trading status")),
            _ => None,
        };
        Fault::said(reason_of_code(known, status), &format!("{code}: {msg}")).retry(until)
    }
}
