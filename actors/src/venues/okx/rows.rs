//! Reads the rows of OKX's answers.

use super::{Refusal, fault};
use crate::{
    model::{Fault, Reason, Ticker, UnixMs},
    venue::{Bare, Body, Cells, Num, Raw, Sink, Text, Word},
};
use serde::Deserialize;
use std::borrow::Cow;

#[derive(Deserialize)]
struct Reply<'a, N, R> {
    code: N,
    #[serde(borrow, default)]
    msg: Option<Word<'a>>,
    data: R,
}

/// A row; the other names are those of version 3. For spot `vol24h` is in the base asset and `volCcy24h` in the quote asset.
#[derive(Deserialize)]
struct Stats<'a, N> {
    #[serde(borrow, rename = "instId", alias = "instrument_id")]
    symbol: Cow<'a, str>,
    #[serde(rename = "bidPx", alias = "best_bid")]
    bid: N,
    #[serde(rename = "askPx", alias = "best_ask")]
    ask: N,
    #[serde(default, rename = "bidSz", alias = "best_bid_size")]
    bid_size: N,
    #[serde(default, rename = "askSz", alias = "best_ask_size")]
    ask_size: N,
    last: N,
    #[serde(default, rename = "high24h", alias = "high_24h")]
    high: N,
    #[serde(default, rename = "low24h", alias = "low_24h")]
    low: N,
    #[serde(default, rename = "open24h", alias = "open_24h")]
    open: N,
    #[serde(default, rename = "vol24h", alias = "base_volume_24h")]
    volume: N,
    #[serde(default, rename = "volCcy24h", alias = "quote_volume_24h")]
    turnover: N,
    #[serde(default, alias = "timestamp")]
    ts: N,
}

impl<'a, N: Num<'a>> Stats<'_, N> {
    fn ticker(&self) -> Result<Ticker, Fault> {
        Ok(Ticker {
            bid: self.bid.price("bidPx")?,
            ask: self.ask.price("askPx")?,
            bid_size: self.bid_size.amount("bidSz")?,
            ask_size: self.ask_size.amount("askSz")?,
            last: self.last.price("last")?,
            high: self.high.price("high24h")?,
            low: self.low.price("low24h")?,
            open: self.open.price("open24h")?,
            base_volume: self.volume.amount("vol24h")?,
            quote_volume: self.turnover.amount("volCcy24h")?,
            venue_time: self.ts.int().map(UnixMs).or_else(|| UnixMs::from_rfc3339(self.ts.text()?)),
            halted: false,
        })
    }
}

/// Reads an answer that has no other shape than a refusal's and `T`'s.
pub(super) fn read<'a, T: Deserialize<'a>>(body: &Body<'a>) -> Result<T, Fault> {
    body.small().map_err(|fault| body.small::<Refusal<'_>>().ok().and_then(|r| r.fault(200)).unwrap_or(fault))
}

/// Reads the envelope of version 5.
fn data<'a, R: Deserialize<'a>>(body: &Body<'a>) -> Result<R, Fault> {
    let Reply { code, msg, data }: Reply<'_, Raw<'_>, R> = read(body)?;
    match code.int() {
        Some(0) => Ok(data),
        Some(code) => Err(fault(code, msg.as_ref().map_or("", |m| &m.0), 200)),
        None => Err(Fault::new(Reason::Decode, "code: not a number")),
    }
}

pub(super) fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let rows: Cells<Stats<'_, Raw<'_>>, 1> = data(body)?;
    let row = rows.get(0).ok_or(Fault::new(Reason::Unlisted, "no such row"))?;
    sink(Some(&row.symbol), &|| row.ticker());
    Ok(())
}

pub(super) fn bare_one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let row: Stats<'_, Raw<'_>> = read(body)?;
    sink(Some(&row.symbol), &|| row.ticker());
    Ok(())
}

pub(super) fn many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    if let Ok(reply) = body.bulk::<Reply<'_, Text<'_>, Vec<Stats<'_, Text<'_>>>>>()
        && reply.code.int() == Some(0)
    {
        return all(&reply.data, sink);
    }
    all(&data::<Vec<Stats<'_, Bare<'_>>>>(body)?, sink)
}

pub(super) fn bare_many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    all(&read::<Vec<Stats<'_, Bare<'_>>>>(body)?, sink)
}

fn all<'a, N: Num<'a>>(rows: &[Stats<'_, N>], sink: Sink<'_>) -> Result<(), Fault> {
    rows.iter().for_each(|row| sink(Some(&row.symbol), &|| row.ticker()));
    if rows.is_empty() { Err(Fault::new(Reason::Empty, "a list without rows")) } else { Ok(()) }
}
