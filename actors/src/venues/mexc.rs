//! MEXC: <https://www.mexc.com/api-docs/spot-v3/introduction>

use crate::{
    model::{Fault, Pair, Reason, Ticker, UnixMs},
    venue::{
        ANY, Body, Budget, Cells, Endpoint, Fee, Kind, Num, Profile, Raw, Reach, Row, Sink, Text, TimeOf, Venue, Word, json_list,
        split_by_quote, text,
    },
};
use serde::Deserialize;
use std::{borrow::Cow, time::Duration};

/// MEXC.
#[derive(Debug)]
pub struct Mexc;

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
    warm_up: "/api/v3/ping",
    docs: "https://www.mexc.com/api-docs/spot-v3/introduction",
    endpoints: &[
        Endpoint {
            kind: Kind::Ticker,
            reach: Reach::One,
            path: "/api/v3/ticker/24hr?symbol={symbol}",
            weight: &[(ANY, 1)],
            row_bytes: 420,
            rows: 1,
            decode: one,
            encode: Some(|rows| rows.first().map(written).unwrap_or_default()),
        },
        Endpoint {
            kind: Kind::Ticker,
            reach: Reach::One,
            path: "/open/api/v2/market/ticker?symbol={symbol}",
            weight: &[(ANY, 1)],
            row_bytes: 230,
            rows: 1,
            decode: old_one,
            encode: None,
        },
        Endpoint {
            kind: Kind::Tickers,
            reach: Reach::All,
            path: "/api/v3/ticker/24hr",
            weight: &[(ANY, 40)],
            row_bytes: 420,
            rows: 2800,
            decode: many,
            encode: Some(|rows| json_list(rows, written)),
        },
        Endpoint {
            kind: Kind::Tickers,
            reach: Reach::All,
            path: "/open/api/v2/market/ticker",
            weight: &[(ANY, 1)],
            row_bytes: 230,
            rows: 2800,
            decode: old_many,
            encode: None,
        },
        Endpoint {
            kind: Kind::BookTicker,
            reach: Reach::One,
            path: "/api/v3/ticker/bookTicker?symbol={symbol}",
            weight: &[(ANY, 1)],
            row_bytes: 120,
            rows: 1,
            decode: one,
            encode: None,
        },
        Endpoint {
            kind: Kind::BookTicker,
            reach: Reach::All,
            path: "/api/v3/ticker/bookTicker",
            weight: &[(ANY, 1)],
            row_bytes: 120,
            rows: 2800,
            decode: many,
            encode: None,
        },
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
        let Refusal { code, msg } = serde_json::from_slice(body).ok()?;
        refusal(code.int()?, &msg)
    }

    fn refuse(&self, reason: Reason, _symbol: &str) -> Option<(u16, String)> {
        let (status, code, msg) = match reason {
            Reason::Unlisted => (400, -1121, "Invalid symbol."),
            Reason::RateLimited => (429, 429, "Too many requests"),
            Reason::Forbidden => (403, 403, "Access Denied"),
            Reason::Halted => (400, 30000, "Suspended transaction for the symbol"),
            _ => return None,
        };
        Some((status, format!(r#"{{"code":{code},"msg":"{msg}"}}"#)))
    }
}

/// Reads a code as its reason; `None` for the codes of success.
fn refusal(code: i64, msg: &str) -> Option<Fault> {
    let reason = match code {
        0 | 200 => return None,
        -1121 | 10007 | 10232 | 30014 => Reason::Unlisted,
        429 | 510 | -1003 => Reason::RateLimited,
        401 | 403 | 406 | 10072 | 10073 | 700_006 => Reason::Forbidden,
        30000 | 30016 => Reason::Halted,
        500..=504 | -1001 | -1007 => Reason::Http5xx,
        _ => Reason::Rejected,
    };
    Some(Fault::said(reason, &format!("{code}: {msg}")))
}

#[derive(Deserialize)]
struct Refusal<'a> {
    #[serde(borrow)]
    code: Raw<'a>,
    #[serde(borrow, default)]
    msg: Cow<'a, str>,
}

/// A row of `ticker/24hr`, where sizes may be empty and the quote volume null; of `bookTicker`, which has the first five alone; of version 2, without sizes.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stats<'a, N> {
    #[serde(borrow)]
    symbol: Word<'a>,
    #[serde(alias = "bid")]
    bid_price: N,
    #[serde(default)]
    bid_qty: N,
    #[serde(alias = "ask")]
    ask_price: N,
    #[serde(default)]
    ask_qty: N,
    #[serde(alias = "last", default)]
    last_price: N,
    #[serde(alias = "high", default)]
    high_price: N,
    #[serde(alias = "low", default)]
    low_price: N,
    #[serde(alias = "open", default)]
    open_price: N,
    #[serde(default)]
    volume: N,
    #[serde(default)]
    quote_volume: N,
    #[serde(alias = "time")]
    close_time: Option<i64>,
}

impl<'a, N: Num<'a>> Stats<'_, N> {
    fn ticker(&self) -> Result<Ticker, Fault> {
        Ok(Ticker {
            bid: self.bid_price.price("bidPrice")?,
            ask: self.ask_price.price("askPrice")?,
            bid_size: self.bid_qty.amount("bidQty")?,
            ask_size: self.ask_qty.amount("askQty")?,
            last: self.last_price.price("lastPrice")?,
            high: self.high_price.price("highPrice")?,
            low: self.low_price.price("lowPrice")?,
            open: self.open_price.price("openPrice")?,
            base_volume: self.volume.amount("volume")?,
            quote_volume: self.quote_volume.amount("quoteVolume")?,
            venue_time: self.close_time.map(UnixMs),
            halted: false,
        })
    }
}

/// Reads an answer of version 3; an error may come with HTTP 200 too.
fn small<'a, T: Deserialize<'a>>(body: &Body<'a>) -> Result<T, Fault> {
    body.small().map_err(|fault| {
        let said = body.small::<Refusal<'_>>().ok();
        said.and_then(|said| refusal(said.code.int()?, &said.msg)).unwrap_or(fault)
    })
}

fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let row: Stats<'_, Raw<'_>> = small(body)?;
    sink(Some(&row.symbol.0), &|| row.ticker());
    Ok(())
}

fn many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    if let Ok(rows) = body.bulk::<Vec<Stats<'_, Text<'_>>>>() {
        rows.iter().for_each(|row| sink(Some(&row.symbol.0), &|| row.ticker()));
        return Ok(());
    }
    let rows: Vec<Stats<'_, Raw<'_>>> = small(body)?;
    rows.iter().for_each(|row| sink(Some(&row.symbol.0), &|| row.ticker()));
    Ok(())
}

/// The envelope of version 2.
#[derive(Deserialize)]
struct Old<D> {
    data: D,
}

fn old_one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let reply: Old<Cells<Stats<'_, Raw<'_>>, 1>> = small(body)?;
    let row = reply.data.get(0).ok_or(Fault::new(Reason::Unlisted, "data: empty"))?;
    sink(Some(&row.symbol.0), &|| row.ticker());
    Ok(())
}

fn old_many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let reply: Old<Vec<Stats<'_, Raw<'_>>>> = small(body)?;
    reply.data.iter().for_each(|row| sink(Some(&row.symbol.0), &|| row.ticker()));
    Ok(())
}

fn written(row: &Row<'_>) -> String {
    let t = row.ticker;
    let time = t.venue_time.unwrap_or(UnixMs(0)).0;
    format!(
        concat!(
            r#"{{"symbol":"{}","priceChange":"0","priceChangePercent":"0","prevClosePrice":"{}","lastPrice":"{}","bidPrice":"{}","bidQty":"{}","#,
            r#""askPrice":"{}","askQty":"{}","openPrice":"{}","highPrice":"{}","lowPrice":"{}","volume":"{}","quoteVolume":"{}","#,
            r#""openTime":{},"closeTime":{},"count":null}}"#
        ),
        row.symbol,
        text(t.open),
        text(t.last),
        text(t.bid),
        text(t.bid_size),
        text(t.ask),
        text(t.ask_size),
        text(t.open),
        text(t.high),
        text(t.low),
        text(t.base_volume),
        text(t.quote_volume),
        time.saturating_sub(86_400_000),
        time
    )
}
