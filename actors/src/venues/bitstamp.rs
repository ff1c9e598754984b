//! Bitstamp: <https://www.bitstamp.net/api/#tag/Tickers>

use crate::{
    model::{Fault, Pair, Reason, Ticker, UnixMs},
    venue::{
        ANY, Body, Budget, Endpoint, Fee, Kind, Num, Profile, Raw, Reach, Row, Sink, Text, TimeOf, Venue, Word, json_list, split_by_quote,
        text,
    },
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::time::Duration;

/// Bitstamp.
#[derive(Debug)]
pub struct Bitstamp;

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
    warm_up: "/api/v2/ticker/btcusd/",
    docs: "https://www.bitstamp.net/api/#tag/Tickers",
    endpoints: &[
        Endpoint {
            kind: Kind::Ticker,
            reach: Reach::One,
            path: "/api/v2/ticker/{symbol}/",
            weight: &[(ANY, 1)],
            row_bytes: 260,
            rows: 1,
            decode: one,
            encode: Some(|rows| rows.first().map(|row| format!("{{{}}}", fields(row))).unwrap_or_default()),
        },
        Endpoint {
            kind: Kind::Tickers,
            reach: Reach::All,
            path: "/api/v2/ticker/",
            weight: &[(ANY, 1)],
            row_bytes: 280,
            rows: 260,
            decode: many,
            encode: Some(|rows| json_list(rows, |row| format!(r#"{{{},"pair":"{:#}"}}"#, fields(row), row.pair))),
        },
    ],
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
        let (status, code, text) = match reason {
            Reason::Unlisted => (404, "404.002", "Currency pair not found."),
            Reason::RateLimited => (400, "400.002", "Request rate limit exceeded."),
            Reason::Forbidden => (403, "API0017", "IP address not allowed"),
            _ => return None,
        };
        Some((status, format!(r#"{{"status":"error","reason":"{text}","code":"{code}"}}"#)))
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

/// A market's day: `open` is the UTC day's first trade, the rest is of the last 24 hours.
#[derive(Deserialize)]
struct Stats<'a, N> {
    #[serde(borrow)]
    pair: Option<Word<'a>>,
    bid: N,
    ask: N,
    last: N,
    #[serde(default)]
    high: N,
    #[serde(default)]
    low: N,
    #[serde(default)]
    open: N,
    #[serde(default)]
    volume: N,
    #[serde(default)]
    timestamp: N,
}

impl<'a, N: Num<'a>> Stats<'_, N> {
    fn symbol(&self) -> Option<&str> {
        self.pair.as_ref().map(|word| &*word.0)
    }

    fn ticker(&self) -> Result<Ticker, Fault> {
        Ok(Ticker {
            bid: self.bid.price("bid")?,
            ask: self.ask.price("ask")?,
            last: self.last.price("last")?,
            high: self.high.price("high")?,
            low: self.low.price("low")?,
            open: self.open.price("open")?,
            base_volume: self.volume.amount("volume")?,
            venue_time: self.timestamp.int().and_then(|seconds| seconds.checked_mul(1000)).map(UnixMs),
            ..Ticker::default()
        })
    }
}

/// Reads an answer; an error may come with HTTP 200 too.
fn small<'a, T: Deserialize<'a>>(body: &Body<'a>) -> Result<T, Fault> {
    body.small().map_err(|fault| body.small::<Refusal<'_>>().ok().and_then(|said| said.fault(200)).unwrap_or(fault))
}

fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let row: Stats<'_, Raw<'_>> = small(body)?;
    sink(row.symbol(), &|| row.ticker());
    Ok(())
}

fn many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    if let Ok(rows) = body.bulk::<Vec<Stats<'_, Text<'_>>>>() {
        rows.iter().for_each(|row| sink(row.symbol(), &|| row.ticker()));
        return Ok(());
    }
    let rows: Vec<Stats<'_, Raw<'_>>> = small(body)?;
    rows.iter().for_each(|row| sink(row.symbol(), &|| row.ticker()));
    Ok(())
}

fn fields(row: &Row<'_>) -> String {
    let t = row.ticker;
    format!(
        concat!(
            r#""timestamp":"{}","high":"{}","last":"{}","bid":"{}","vwap":"{}","volume":"{}","low":"{}","ask":"{}","open":"{}","open_24":"{}","#,
            r#""percent_change_24":"0.00","side":"0""#
        ),
        t.venue_time.unwrap_or(UnixMs(0)).0.div_euclid(1000),
        text(t.high),
        text(t.last),
        text(t.bid),
        text(t.last),
        text(t.base_volume),
        text(t.low),
        text(t.ask),
        text(t.open),
        text(t.open)
    )
}
