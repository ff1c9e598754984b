//! Binance: <https://developers.binance.com/docs/binance-spot-api-docs/rest-api>

use crate::{
    model::{Fault, Pair, Reason, Retry, Ticker, UnixMs},
    venue::{
        ANY, Body, Budget, Endpoint, Fee, Kind, Num, Profile, Raw, Reach, Row, Sink, SymbolList, Text, TimeOf, Venue, json_list,
        split_by_quote, text,
    },
};
use serde::Deserialize;
use std::{borrow::Cow, time::Duration};

/// Binance, the international exchange.
#[derive(Debug)]
pub struct Binance;

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
    warm_up: "/api/v3/ping",
    docs: "https://developers.binance.com/docs/binance-spot-api-docs/rest-api",
    endpoints: &[
        Endpoint {
            kind: Kind::Ticker,
            reach: Reach::One,
            path: "/api/v3/ticker/24hr?symbol={symbol}",
            weight: &[(ANY, 2)],
            row_bytes: 560,
            rows: 1,
            decode: one,
            encode: Some(|rows| rows.first().map(written).unwrap_or_default()),
        },
        Endpoint {
            kind: Kind::Tickers,
            reach: Reach::Listed(SymbolList { most: 100, form: ["%5B%22", "%22%2C%22", "%22%5D"] }),
            path: "/api/v3/ticker/24hr?symbols={symbols}",
            weight: &[(20, 2), (100, 40), (ANY, 80)],
            row_bytes: 560,
            rows: 100,
            decode: many,
            encode: Some(all_written),
        },
        Endpoint {
            kind: Kind::Tickers,
            reach: Reach::All,
            path: "/api/v3/ticker/24hr",
            weight: &[(ANY, 80)],
            row_bytes: 560,
            rows: 3400,
            decode: many,
            encode: Some(all_written),
        },
        Endpoint {
            kind: Kind::BookTicker,
            reach: Reach::One,
            path: "/api/v3/ticker/bookTicker?symbol={symbol}",
            weight: &[(ANY, 2)],
            row_bytes: 130,
            rows: 1,
            decode: one,
            encode: None,
        },
        Endpoint {
            kind: Kind::BookTicker,
            reach: Reach::All,
            path: "/api/v3/ticker/bookTicker",
            weight: &[(ANY, 4)],
            row_bytes: 130,
            rows: 3400,
            decode: many,
            encode: None,
        },
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
        let Refusal { code, msg } = serde_json::from_slice(body).ok()?;
        let reason = match (code, status) {
            (-1121, _) => Reason::Unlisted,
            (-1003 | -1015, 418) => Reason::Banned,
            (-1003 | -1015, _) => Reason::RateLimited,
            (0, 451) => Reason::GeoBlocked,
            (1, _) => Reason::Http5xx,
            (-1001 | -1007 | -1016, _) => Reason::Http5xx,
            (-1199..=-1100, _) => Reason::Rejected,
            _ => return None,
        };
        // The end of a ban stands only in the text: "... IP banned until 1660090423228. ..."
        let until = msg
            .split_once("banned until ")
            .map(|(_, rest)| rest)
            .and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
        let reason = if until.is_some() { Reason::Banned } else { reason };
        Some(Fault::said(reason, &format!("{code}: {msg}")).retry(until.map(|ms| Retry::At(UnixMs(ms)))))
    }

    fn refuse(&self, reason: Reason, _symbol: &str) -> Option<(u16, String)> {
        match reason {
            Reason::Unlisted => Some((400, r#"{"code":-1121,"msg":"Invalid symbol."}"#.to_owned())),
            Reason::RateLimited => Some((429, r#"{"code":-1003,"msg":"Too much request weight used; current limit is 6000 request weight per 1 MINUTE. Please use WebSocket Streams for live updates to avoid polling the API."}"#.to_owned())),
            Reason::Banned => Some((418, r#"{"code":-1003,"msg":"Way too much request weight used; IP banned. Please use WebSocket Streams for live updates to avoid bans."}"#.to_owned())),
            Reason::GeoBlocked => Some((451, r#"{"code":0,"msg":"Service unavailable from a restricted location according to 'b. Eligibility' in https://www.binance.com/en/terms."}"#.to_owned())),
            _ => None,
        }
    }
}

#[derive(Deserialize)]
struct Refusal<'a> {
    code: i64,
    #[serde(borrow, default)]
    msg: Cow<'a, str>,
}

/// A row of `ticker/24hr`, and of `bookTicker`, which has the first five alone.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stats<'a, N> {
    #[serde(borrow)]
    symbol: Cow<'a, str>,
    bid_price: N,
    bid_qty: N,
    ask_price: N,
    ask_qty: N,
    #[serde(default)]
    last_price: N,
    #[serde(default)]
    high_price: N,
    #[serde(default)]
    low_price: N,
    #[serde(default)]
    open_price: N,
    #[serde(default)]
    volume: N,
    #[serde(default)]
    quote_volume: N,
    #[serde(default)]
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

fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let row: Stats<'_, Raw<'_>> = body.small()?;
    sink(Some(&row.symbol), &|| row.ticker());
    Ok(())
}

fn many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    if let Ok(rows) = body.bulk::<Vec<Stats<'_, Text<'_>>>>() {
        rows.iter().for_each(|row| sink(Some(&row.symbol), &|| row.ticker()));
        return Ok(());
    }
    let rows: Vec<Stats<'_, Raw<'_>>> = body.small()?;
    rows.iter().for_each(|row| sink(Some(&row.symbol), &|| row.ticker()));
    Ok(())
}

fn written(row: &Row<'_>) -> String {
    let t = row.ticker;
    let time = t.venue_time.unwrap_or(UnixMs(0)).0;
    format!(
        concat!(
            r#"{{"symbol":"{}","priceChange":"0.00","priceChangePercent":"0.000","weightedAvgPrice":"{}","prevClosePrice":"{}","lastPrice":"{}","lastQty":"0.01","#,
            r#""bidPrice":"{}","bidQty":"{}","askPrice":"{}","askQty":"{}","openPrice":"{}","highPrice":"{}","lowPrice":"{}","volume":"{}","quoteVolume":"{}","#,
            r#""openTime":{},"closeTime":{},"firstId":1,"lastId":100,"count":100}}"#
        ),
        row.symbol,
        text(t.last),
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

fn all_written(rows: &[Row<'_>]) -> String {
    json_list(rows, written)
}
