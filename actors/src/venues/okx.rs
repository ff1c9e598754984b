//! OKX: <https://www.okx.com/docs-v5/en/#order-book-trading-market-data>

mod old;
mod rows;
mod sim;

use crate::{
    model::{Fault, Pair, Reason},
    venue::{ANY, Basis, Budget, Endpoint, Fee, Kind, Num, Profile, Raw, Reach, TimeOf, Venue, Word, reason_of_code},
};
use serde::Deserialize;
use std::time::Duration;

/// OKX, the global site.
#[derive(Debug)]
pub struct Okx;

const ONE: Endpoint = Endpoint {
    kind: Kind::Ticker,
    reach: Reach::One,
    path: "/api/v5/market/ticker?instId={symbol}",
    weight: &[(ANY, 1)],
    row_bytes: 340,
    rows: 1,
    decode: rows::one,
    encode: Some(sim::written),
};
const ALL: Endpoint =
    Endpoint { kind: Kind::Tickers, reach: Reach::All, path: "/api/v5/market/tickers?instType=SPOT", rows: 800, decode: rows::many, ..ONE };

static PROFILE: Profile = Profile {
    id: "okx",
    name: "OKX",
    operator: "okx",
    region: None,
    origin: "https://www.okx.com",
    mirrors: &["https://aws.okx.com"],
    taker: Fee { rate: "0.001", read: "2026-11-30" },
    budget: Budget { weight: 20, per: Duration::from_secs(2) },
    body_max: 2 << 20,
    // `ts` is when the row was last made anew: by a trade, or by a change of bid or ask.
    time_of: TimeOf::Book,
    basis: Basis::Mid,
    warm_up: "/api/v5/public/time",
    docs: "https://www.okx.com/docs-v5/en/#order-book-trading-market-data",
    endpoints: &[
        ONE,
        ALL,
        Endpoint { path: "/api/spot/v3/instruments/{symbol}/ticker", decode: rows::bare_one, encode: None, ..ONE },
        Endpoint { path: "/api/spot/v3/instruments/ticker", decode: rows::bare_many, encode: None, ..ALL },
        Endpoint { path: "/api/v1/ticker.do?symbol={symbol}", decode: old::one, encode: None, ..ONE },
    ],
};

impl Venue for Okx {
    fn profile(&self) -> &Profile {
        &PROFILE
    }

    fn spell(&self, pair: &Pair) -> String {
        format!("{}-{}", pair.base, pair.quote)
    }

    fn read_symbol(&self, symbol: &str) -> Option<Pair> {
        // A third part makes it a derivative, which no asset code can hold.
        symbol.split_once('-').and_then(|(base, quote)| Pair::new(base, quote).ok())
    }

    fn said(&self, status: u16, body: &[u8]) -> Option<Fault> {
        serde_json::from_slice::<Refusal<'_>>(body).ok()?.fault(status)
    }

    fn refuse(&self, reason: Reason, _symbol: &str) -> Option<(u16, String)> {
        sim::refused(reason)
    }
}

/// A refusal; the code is text, a bare number on an unknown path, and had another name before version 5.
#[derive(Deserialize)]
struct Refusal<'a> {
    #[serde(borrow, default)]
    code: Raw<'a>,
    #[serde(borrow, default)]
    error_code: Raw<'a>,
    #[serde(borrow, default, alias = "message")]
    msg: Option<Word<'a>>,
}

impl Refusal<'_> {
    fn fault(&self, status: u16) -> Option<Fault> {
        let code = self.code.int().or(self.error_code.int()).filter(|code| *code != 0)?;
        Some(fault(code, self.msg.as_ref().map_or("", |m| &m.0), status))
    }
}

fn fault(code: i64, msg: &str, status: u16) -> Fault {
    let known = match code {
        51000 if msg.contains("instId") => Some(Reason::Unlisted),
        51001 | 51015 | 51021 | 51027 | 51087 | 30032 | 1007 => Some(Reason::Unlisted),
        50011 | 50061 | 30014 | 30026 | 429 => Some(Reason::RateLimited),
        51022 | 51028 | 51030 => Some(Reason::Halted),
        51155 => Some(Reason::GeoBlocked),
        50007 | 50009 | 50030 | 50100 | 50110 | 50120 | 403 => Some(Reason::Forbidden),
        50001 | 50004 | 50005 | 50013 | 50026 | 30030 | 30034 | 30037 | 30038 | 10002 | 500..=599 => Some(Reason::Http5xx),
        _ => None,
    };
    Fault::said(reason_of_code(known, status), &format!("{code}: {msg}"))
}
