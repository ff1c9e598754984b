//! HTX, formerly Huobi: <https://www.htx.com/en-us/opend/newApiPages/>

use crate::{
    model::{Fault, Pair, Reason, Ticker, UnixMs},
    venue::{
        ANY, Body, Budget, Cells, Endpoint, Fee, Kind, Num, Profile, Raw, Reach, Row, Sink, TimeOf, Venue, Word, json_list, split_by_quote,
        text,
    },
};
use serde::Deserialize;
use std::time::Duration;

/// HTX.
#[derive(Debug)]
pub struct Htx;

static PROFILE: Profile = Profile {
    id: "htx",
    name: "HTX",
    operator: "htx",
    region: None,
    origin: "https://api.huobi.pro",
    mirrors: &["https://api-aws.huobi.pro"],
    taker: Fee { rate: "0.002", read: "2026-11-30" },
    budget: Budget { weight: 10, per: Duration::from_secs(1) },
    body_max: 4 << 20,
    // `ts` is when the answer was made.
    time_of: TimeOf::Answer,
    warm_up: "/v1/common/timestamp",
    docs: "https://www.htx.com/en-us/opend/newApiPages/",
    endpoints: &[
        Endpoint {
            kind: Kind::Ticker,
            reach: Reach::One,
            path: "/market/detail/merged?symbol={symbol}",
            weight: &[(ANY, 1)],
            row_bytes: 340,
            rows: 1,
            decode: one,
            encode: Some(|rows| rows.first().map(merged_written).unwrap_or_default()),
        },
        // The same without bid and ask.
        Endpoint {
            kind: Kind::Ticker,
            reach: Reach::One,
            path: "/market/detail?symbol={symbol}",
            weight: &[(ANY, 1)],
            row_bytes: 260,
            rows: 1,
            decode: one,
            encode: None,
        },
        Endpoint {
            kind: Kind::Tickers,
            reach: Reach::All,
            path: "/market/tickers",
            weight: &[(ANY, 1)],
            row_bytes: 220,
            rows: 750,
            decode: many,
            encode: Some(all_written),
        },
    ],
};

impl Venue for Htx {
    fn profile(&self) -> &Profile {
        &PROFILE
    }

    fn spell(&self, pair: &Pair) -> String {
        format!("{}{}", pair.base, pair.quote).to_ascii_lowercase()
    }

    fn read_symbol(&self, symbol: &str) -> Option<Pair> {
        split_by_quote(symbol)
    }

    fn said(&self, _status: u16, body: &[u8]) -> Option<Fault> {
        let Refusal { status, code, number, msg } = serde_json::from_slice(body).ok()?;
        if status.is_some_and(|word| word.0 == "ok") {
            return None;
        }
        let code = code.as_ref().map(|word| &*word.0).or(number.text())?;
        Some(refusal(code, &msg.unwrap_or_default().0))
    }

    fn refuse(&self, reason: Reason, _symbol: &str) -> Option<(u16, String)> {
        let (status, code, msg) = match reason {
            Reason::Unlisted => (200, "invalid-parameter", "invalid symbol"),
            Reason::RateLimited => (429, "rate-too-many-requests", "exceeded rate limit"),
            Reason::Halted => (200, "base-symbol-trade-disabled", "trading of the symbol is disabled"),
            _ => return None,
        };
        Some((status, format!(r#"{{"status":"error","err-code":"{code}","err-msg":"{msg}","data":null}}"#)))
    }
}

fn refusal(code: &str, msg: &str) -> Fault {
    let msg_lower = msg.to_ascii_lowercase();
    let reason = match code {
        "base-symbol-error" | "base-currency-error" | "invalid-symbol" => Reason::Unlisted,
        // One code for every wrong parameter: the text tells which one is wrong.
        "invalid-parameter" | "bad-request" | "2002" if msg_lower.contains("symbol") => Reason::Unlisted,
        "rate-too-many-requests" | "base-request-exceed-frequency-limit" | "too-many-requests" | "429" => Reason::RateLimited,
        "base-symbol-trade-disabled" => Reason::Halted,
        "timeout" | "gateway-internal-error" | "internal-error" | "system-maintenance" | "service-unavailable" | "500" | "503" => {
            Reason::Http5xx
        }
        "forbidden" | "login-required" | "403" | "1002" => Reason::Forbidden,
        _ if msg_lower.contains("maintenance") => Reason::Http5xx,
        _ if code.ends_with("exceed-frequency-limit") => Reason::RateLimited,
        _ => Reason::Rejected,
    };
    Fault::said(reason, &format!("{code}: {msg}"))
}

/// An error: with a dash, with an underscore, or (version 2) with a number and `message`.
#[derive(Deserialize)]
struct Refusal<'a> {
    #[serde(borrow)]
    status: Option<Word<'a>>,
    #[serde(borrow, rename = "err-code", alias = "err_code")]
    code: Option<Word<'a>>,
    #[serde(borrow, default, rename = "code")]
    number: Raw<'a>,
    #[serde(borrow, rename = "err-msg", alias = "err_msg", alias = "message")]
    msg: Option<Word<'a>>,
}

#[derive(Deserialize)]
struct Reply<'a, T> {
    #[serde(borrow)]
    status: Word<'a>,
    #[serde(borrow)]
    ch: Option<Word<'a>>,
    ts: Option<i64>,
    #[serde(rename = "tick", alias = "data")]
    content: Option<T>,
    #[serde(borrow, rename = "err-code", alias = "err_code")]
    code: Option<Word<'a>>,
    #[serde(borrow, rename = "err-msg", alias = "err_msg")]
    msg: Option<Word<'a>>,
}

impl<T> Reply<'_, T> {
    fn success(&self) -> Result<&T, Fault> {
        let said = |word: &Option<Word<'_>>| word.clone().unwrap_or_default().0.into_owned();
        match &self.content {
            Some(content) if self.status.0 == "ok" => Ok(content),
            None if self.status.0 == "ok" => Err(Fault::new(Reason::Decode, "tick: none")),
            _ => Err(refusal(&said(&self.code), &said(&self.msg))),
        }
    }

    /// The single ticker names its pair nowhere but in `ch`: `market.btcusdt.detail.merged`.
    fn symbol(&self) -> Option<&str> {
        self.ch.as_ref()?.0.strip_prefix("market.")?.split_once(".detail").map(|(symbol, _)| symbol)
    }
}

/// A market's day; `amount` is in the base asset, `vol` in the quote asset. The single ticker has price and size of bid and ask as a list, the list of all
/// markets has them as fields, exponents (`5.313E-5`) in both.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Day<'a, P> {
    #[serde(borrow)]
    symbol: Option<Word<'a>>,
    #[serde(default)]
    bid: P,
    #[serde(default)]
    ask: P,
    #[serde(borrow, default)]
    bid_size: Raw<'a>,
    #[serde(borrow, default)]
    ask_size: Raw<'a>,
    #[serde(borrow)]
    close: Raw<'a>,
    #[serde(borrow, default)]
    high: Raw<'a>,
    #[serde(borrow, default)]
    low: Raw<'a>,
    #[serde(borrow, default)]
    open: Raw<'a>,
    #[serde(borrow, default)]
    amount: Raw<'a>,
    #[serde(borrow, default)]
    vol: Raw<'a>,
}

impl<'a, P> Day<'a, P> {
    fn ticker(&self, [bid, bid_size]: [Raw<'a>; 2], [ask, ask_size]: [Raw<'a>; 2], time: Option<i64>) -> Result<Ticker, Fault> {
        Ok(Ticker {
            bid: bid.price("bid")?,
            ask: ask.price("ask")?,
            bid_size: bid_size.amount("bid size")?,
            ask_size: ask_size.amount("ask size")?,
            last: self.close.price("close")?,
            high: self.high.price("high")?,
            low: self.low.price("low")?,
            open: self.open.price("open")?,
            base_volume: self.amount.amount("amount")?,
            quote_volume: self.vol.amount("vol")?,
            venue_time: time.map(UnixMs),
            halted: false,
        })
    }
}

fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let reply: Reply<'_, Day<'_, Cells<Raw<'_>, 2>>> = body.small()?;
    let day = reply.success()?;
    sink(reply.symbol(), &|| day.ticker(day.bid.0.map(Option::unwrap_or_default), day.ask.0.map(Option::unwrap_or_default), reply.ts));
    Ok(())
}

fn many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let reply: Reply<'_, Vec<Day<'_, Raw<'_>>>> = body.small()?;
    for day in reply.success()? {
        let symbol = day.symbol.as_ref().map(|word| &*word.0);
        sink(symbol, &|| day.ticker([day.bid, day.bid_size], [day.ask, day.ask_size], reply.ts));
    }
    Ok(())
}

fn time_of(row: &Row<'_>) -> i64 {
    row.ticker.venue_time.unwrap_or(UnixMs(0)).0
}

fn merged_written(row: &Row<'_>) -> String {
    let t = row.ticker;
    format!(
        r#"{{"ch":"market.{}.detail.merged","status":"ok","ts":{},"tick":{{"id":1,"version":1,"count":100,{},"bid":[{},{}],"ask":[{},{}]}}}}"#,
        row.symbol,
        time_of(row),
        day_written(row),
        text(t.bid),
        text(t.bid_size),
        text(t.ask),
        text(t.ask_size)
    )
}

fn all_written(rows: &[Row<'_>]) -> String {
    let time = rows.first().map(time_of).unwrap_or_default();
    let row = |row: &Row<'_>| {
        let t = row.ticker;
        format!(
            r#"{{"symbol":"{}","count":100,{},"bid":{},"bidSize":{},"ask":{},"askSize":{}}}"#,
            row.symbol,
            day_written(row),
            text(t.bid),
            text(t.bid_size),
            text(t.ask),
            text(t.ask_size)
        )
    };
    format!(r#"{{"status":"ok","ts":{time},"data":{}}}"#, json_list(rows, row))
}

fn day_written(row: &Row<'_>) -> String {
    let t = row.ticker;
    format!(
        r#""open":{},"high":{},"low":{},"close":{},"amount":{},"vol":{}"#,
        text(t.open),
        text(t.high),
        text(t.low),
        text(t.last),
        text(t.base_volume),
        text(t.quote_volume)
    )
}
