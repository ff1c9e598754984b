//! Reads the rows of Bybit's answers.

use super::Reply;
use crate::{
    model::{Fault, Reason, Ticker, UnixMs},
    venue::{Bare, Body, Cells, Int, Num, Raw, Sink, Text},
};
use serde::{Deserialize, de::IgnoredAny};
use std::borrow::Cow;

#[derive(Deserialize)]
struct Listed<R> {
    list: R,
}

/// A row; the other names are those of versions 3 and 1, of which the book's rows have bid and ask alone.
#[derive(Deserialize)]
struct Stats<'a, N> {
    #[serde(borrow, alias = "s")]
    symbol: Cow<'a, str>,
    #[serde(rename = "bid1Price", alias = "bp", alias = "bestBidPrice", alias = "bidPrice")]
    bid: N,
    #[serde(rename = "ask1Price", alias = "ap", alias = "bestAskPrice", alias = "askPrice")]
    ask: N,
    #[serde(default, rename = "bid1Size", alias = "bidQty")]
    bid_size: N,
    #[serde(default, rename = "ask1Size", alias = "askQty")]
    ask_size: N,
    #[serde(default, rename = "lastPrice", alias = "lp")]
    last: N,
    #[serde(default, rename = "highPrice24h", alias = "h", alias = "highPrice")]
    high: N,
    #[serde(default, rename = "lowPrice24h", alias = "l", alias = "lowPrice")]
    low: N,
    #[serde(default, rename = "prevPrice24h", alias = "o", alias = "openPrice")]
    open: N,
    #[serde(default, rename = "volume24h", alias = "v", alias = "volume")]
    volume: N,
    #[serde(default, rename = "turnover24h", alias = "qv", alias = "quoteVolume")]
    turnover: N,
    #[serde(default, alias = "t")]
    time: Int,
}

impl<'a, N: Num<'a>> Stats<'_, N> {
    fn ticker(&self, answered: Int) -> Result<Ticker, Fault> {
        Ok(Ticker {
            bid: self.bid.price("bid1Price")?,
            ask: self.ask.price("ask1Price")?,
            bid_size: self.bid_size.amount("bid1Size")?,
            ask_size: self.ask_size.amount("ask1Size")?,
            last: self.last.price("lastPrice")?,
            high: self.high.price("highPrice24h")?,
            low: self.low.price("lowPrice24h")?,
            open: self.open.price("prevPrice24h")?,
            base_volume: self.volume.amount("volume24h")?,
            quote_volume: self.turnover.amount("turnover24h")?,
            venue_time: self.time.0.or(answered.0).map(UnixMs),
            halted: false,
        })
    }
}

/// Reads the envelope. The result of a refusal has any shape, so a reply that does not fit may still say why.
fn read<'a, R: Deserialize<'a>>(body: &Body<'a>) -> Result<(R, Int), Fault> {
    let reply: Reply<'_, R> = match body.small() {
        Ok(reply) => reply,
        Err(fault) => return Err(body.small::<Reply<'_, IgnoredAny>>().ok().and_then(|r| r.fault(200)).unwrap_or(fault)),
    };
    match reply.fault(200) {
        Some(fault) => Err(fault),
        None => Ok((reply.result.ok_or(Fault::new(Reason::Decode, "result: missing"))?, reply.time)),
    }
}

pub(super) fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let (Listed { list }, time) = read::<Listed<Cells<Stats<'_, Raw<'_>>, 1>>>(body)?;
    let row = list.get(0).ok_or(Fault::new(Reason::Unlisted, "no such row"))?;
    sink(Some(&row.symbol), &|| row.ticker(time));
    Ok(())
}

pub(super) fn bare_one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let (row, time) = read::<Stats<'_, Raw<'_>>>(body)?;
    sink(Some(&row.symbol), &|| row.ticker(time));
    Ok(())
}

pub(super) fn many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    if let Ok(Reply { code: Int(Some(0)), result: Some(Listed { list }), time, .. }) =
        body.bulk::<Reply<'_, Listed<Vec<Stats<'_, Text<'_>>>>>>()
    {
        return all(&list, time, sink);
    }
    let (Listed { list }, time) = read::<Listed<Vec<Stats<'_, Bare<'_>>>>>(body)?;
    all(&list, time, sink)
}

pub(super) fn bare_many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let (rows, time) = read::<Vec<Stats<'_, Bare<'_>>>>(body)?;
    all(&rows, time, sink)
}

fn all<'a, N: Num<'a>>(rows: &[Stats<'_, N>], time: Int, sink: Sink<'_>) -> Result<(), Fault> {
    rows.iter().for_each(|row| sink(Some(&row.symbol), &|| row.ticker(time)));
    if rows.is_empty() { Err(Fault::new(Reason::Empty, "a list without rows")) } else { Ok(()) }
}
