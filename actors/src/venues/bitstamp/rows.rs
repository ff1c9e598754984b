//! Reads the rows of Bitstamp's answers.

use super::Refusal;
use crate::{
    model::{Fault, Reason, Ticker, UnixMs},
    venue::{Bare, Body, Num, Raw, Sink, Text, Word},
};
use serde::Deserialize;

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

pub(super) fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let row: Stats<'_, Raw<'_>> = small(body)?;
    sink(row.symbol(), &|| row.ticker());
    Ok(())
}

pub(super) fn many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    if let Ok(rows) = body.bulk::<Vec<Stats<'_, Text<'_>>>>() {
        return all(&rows, sink);
    }
    all(&small::<Vec<Stats<'_, Bare<'_>>>>(body)?, sink)
}

fn all<'a, N: Num<'a>>(rows: &[Stats<'_, N>], sink: Sink<'_>) -> Result<(), Fault> {
    rows.iter().for_each(|row| sink(row.symbol(), &|| row.ticker()));
    if rows.is_empty() { Err(Fault::new(Reason::Empty, "a list without rows")) } else { Ok(()) }
}
