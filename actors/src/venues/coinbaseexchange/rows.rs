//! Reads the rows of Coinbase Exchange's answers.

use super::Refusal;
use crate::{
    model::{Fault, Ticker, UnixMs},
    venue::{Bare, Body, Cells, Entries, Num, Raw, Sink},
};
use serde::Deserialize;

/// Reads an answer; one that does not fit may still be a refusal.
fn read<'a, T: Deserialize<'a>>(body: &Body<'a>) -> Result<T, Fault> {
    body.small().map_err(|fault| body.small::<Refusal<'_>>().map_or(fault, |r| r.fault(200)))
}

/// The last trade with bid and ask; `size` is the trade's.
#[derive(Deserialize)]
struct Trade<'a> {
    #[serde(borrow)]
    price: Raw<'a>,
    #[serde(borrow)]
    bid: Raw<'a>,
    #[serde(borrow)]
    ask: Raw<'a>,
    #[serde(borrow, default)]
    volume: Raw<'a>,
    #[serde(borrow, default)]
    time: Raw<'a>,
}

pub(super) fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let row: Trade<'_> = read(body)?;
    sink(None, &|| {
        Ok(Ticker {
            bid: row.bid.price("bid")?,
            ask: row.ask.price("ask")?,
            last: row.price.price("price")?,
            base_volume: row.volume.amount("volume")?,
            venue_time: row.time.text().and_then(UnixMs::from_rfc3339),
            ..Ticker::default()
        })
    });
    Ok(())
}

#[derive(Deserialize)]
struct Stats<N> {
    open: N,
    high: N,
    low: N,
    #[serde(default)]
    last: N,
    volume: N,
}

impl<'a, N: Num<'a>> Stats<N> {
    fn ticker(&self) -> Result<Ticker, Fault> {
        Ok(Ticker {
            last: self.last.price("last")?,
            high: self.high.price("high")?,
            low: self.low.price("low")?,
            open: self.open.price("open")?,
            base_volume: self.volume.amount("volume")?,
            ..Ticker::default()
        })
    }
}

pub(super) fn stats(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let row: Stats<Raw<'_>> = read(body)?;
    sink(None, &|| row.ticker());
    Ok(())
}

#[derive(Deserialize)]
struct Periods<'a> {
    #[serde(borrow)]
    stats_24hour: Stats<Bare<'a>>,
}

pub(super) fn all_stats(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let Entries(rows): Entries<'_, Periods<'_>> = read(body)?;
    rows.iter().for_each(|(symbol, row)| sink(Some(symbol), &|| row.stats_24hour.ticker()));
    Ok(())
}

/// Each product's line is a list of [time, low, high, open, close], once of [time, price], the newest first; the time is that of a slot, not of a trade.
pub(super) fn lines(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let Entries(lines): Entries<'_, Cells<Cells<Raw<'_>, 5>, 1>> = read(body)?;
    for (symbol, line) in &lines {
        let last = line.get(0).and_then(|point| point.get(4).or(point.get(1))).copied().unwrap_or_default();
        sink(Some(symbol), &|| Ok(Ticker { last: last.price("price")?, ..Ticker::default() }));
    }
    Ok(())
}
