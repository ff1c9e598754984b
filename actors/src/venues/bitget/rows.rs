//! Reads the rows of Bitget's answers.

use super::Reply;
use crate::{
    model::{Fault, Reason, Ticker, UnixMs},
    venue::{Bare, Body, Cells, Num, Raw, Sink, Text},
};
use serde::{Deserialize, de::IgnoredAny};
use std::borrow::Cow;

/// A row; the other names are those of version 3 (unified account) and of version 1.
#[derive(Deserialize)]
struct Stats<'a, N> {
    #[serde(borrow)]
    symbol: Cow<'a, str>,
    #[serde(rename = "bidPr", alias = "bid1Price", alias = "buyOne")]
    bid: N,
    #[serde(rename = "askPr", alias = "ask1Price", alias = "sellOne")]
    ask: N,
    #[serde(default, rename = "bidSz", alias = "bid1Size")]
    bid_size: N,
    #[serde(default, rename = "askSz", alias = "ask1Size")]
    ask_size: N,
    #[serde(rename = "lastPr", alias = "lastPrice", alias = "close")]
    last: N,
    #[serde(default, rename = "high24h", alias = "highPrice24h")]
    high: N,
    #[serde(default, rename = "low24h", alias = "lowPrice24h")]
    low: N,
    #[serde(default, alias = "openPrice24h")]
    open: N,
    #[serde(default, rename = "baseVolume", alias = "volume24h", alias = "baseVol")]
    volume: N,
    #[serde(default, rename = "quoteVolume", alias = "turnover24h", alias = "quoteVol")]
    turnover: N,
    #[serde(default)]
    ts: N,
}

impl<'a, N: Num<'a>> Stats<'_, N> {
    fn ticker(&self) -> Result<Ticker, Fault> {
        Ok(Ticker {
            bid: self.bid.price("bidPr")?,
            ask: self.ask.price("askPr")?,
            bid_size: self.bid_size.amount("bidSz")?,
            ask_size: self.ask_size.amount("askSz")?,
            last: self.last.price("lastPr")?,
            high: self.high.price("high24h")?,
            low: self.low.price("low24h")?,
            open: self.open.price("open")?,
            base_volume: self.volume.amount("baseVolume")?,
            quote_volume: self.turnover.amount("quoteVolume")?,
            venue_time: self.ts.int().map(UnixMs),
            halted: false,
        })
    }
}

/// Reads the envelope. A refusal's data has any shape, so a reply that does not fit may still say why; without data the pair is not there.
fn data<'a, R: Deserialize<'a>>(body: &Body<'a>, absent: Reason) -> Result<R, Fault> {
    let reply: Reply<'_, Raw<'_>, R> = match body.small() {
        Ok(reply) => reply,
        Err(fault) => {
            return Err(body.small::<Reply<'_, Raw<'_>, IgnoredAny>>().ok().and_then(|r| r.fault(200)).unwrap_or(fault));
        }
    };
    match reply.fault(200) {
        Some(fault) => Err(fault),
        None => reply.data.ok_or(Fault::new(absent, "an answer without rows")),
    }
}

pub(super) fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let rows: Cells<Stats<'_, Raw<'_>>, 1> = data(body, Reason::Unlisted)?;
    let row = rows.get(0).ok_or(Fault::new(Reason::Unlisted, "an answer without rows"))?;
    sink(Some(&row.symbol), &|| row.ticker());
    Ok(())
}

pub(super) fn bare_one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let row: Stats<'_, Raw<'_>> = data(body, Reason::Unlisted)?;
    sink(Some(&row.symbol), &|| row.ticker());
    Ok(())
}

pub(super) fn many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    if let Ok(reply) = body.bulk::<Reply<'_, Text<'_>, Vec<Stats<'_, Text<'_>>>>>()
        && reply.code.int() == Some(0)
        && let Some(rows) = &reply.data
    {
        return all(rows, sink);
    }
    all(&data::<Vec<Stats<'_, Bare<'_>>>>(body, Reason::Empty)?, sink)
}

fn all<'a, N: Num<'a>>(rows: &[Stats<'_, N>], sink: Sink<'_>) -> Result<(), Fault> {
    rows.iter().for_each(|row| sink(Some(&row.symbol), &|| row.ticker()));
    if rows.is_empty() { Err(Fault::new(Reason::Empty, "a list without rows")) } else { Ok(()) }
}
