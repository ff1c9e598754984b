//! Reads the rows of Bitfinex's answers.

use super::{OldRefusal, refusal, refused};
use crate::{
    model::{Fault, Reason, Ticker, UnixMs},
    venue::{Bare, Body, Cells, Num, Raw, Sink, Word},
};
use serde::Deserialize;

/// Reads a row of version 2 behind its symbol. Rows grow (since 2026 by a time that stands still), so their length says nothing, and the sizes are sums over 25 levels.
fn ticker(cells: &[Option<Raw<'_>>]) -> Result<Ticker, Fault> {
    let at = |at: usize| cells.get(at).copied().flatten();
    // Ten cells are documented: a row with fewer is none.
    let (Some(bid), Some(ask), Some(last), Some(volume), Some(high), Some(low)) = (at(0), at(2), at(6), at(7), at(8), at(9)) else {
        return Err(Fault::new(Reason::Decode, "a row of fewer than 10 cells"));
    };
    Ok(Ticker {
        bid: bid.price("BID")?,
        ask: ask.price("ASK")?,
        last: last.price("LAST_PRICE")?,
        high: high.price("HIGH")?,
        low: low.price("LOW")?,
        base_volume: volume.amount("VOLUME")?,
        ..Ticker::default()
    })
}

pub(super) fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let row: Cells<Raw<'_>, 10> = body.small()?;
    if let Some(fault) = refused(&row) {
        return Err(fault);
    }
    // A list of rows is no row, however long.
    if row.get(0).and_then(|cell| cell.text()).is_some_and(|text| text.starts_with(['[', '{'])) || row.get(9).is_none() {
        return Err(Fault::new(Reason::Decode, "not a row of 10 cells or more"));
    }
    sink(None, &|| ticker(&row.0));
    Ok(())
}

pub(super) fn many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let rows: Vec<Cells<Raw<'_>, 11>> =
        body.small().map_err(|fault| body.small::<Cells<Raw<'_>, 3>>().ok().and_then(|cells| refused(&cells)).unwrap_or(fault))?;
    for row in &rows {
        if let [Some(symbol), cells @ ..] = &row.0 {
            sink(symbol.text(), &|| ticker(cells));
        }
    }
    // Symbols that are asked for and unknown are left out, so a list without any row says that all are.
    if rows.is_empty() { Err(Fault::new(Reason::Unlisted, "a list without rows")) } else { Ok(()) }
}

/// A row of version 1.
#[derive(Deserialize)]
struct Old<'a, N> {
    #[serde(borrow)]
    pair: Option<Word<'a>>,
    bid: N,
    ask: N,
    last_price: N,
    #[serde(default)]
    high: N,
    #[serde(default)]
    low: N,
    #[serde(default)]
    volume: N,
    #[serde(default)]
    timestamp: N,
}

impl<'a, N: Num<'a>> Old<'_, N> {
    fn ticker(&self) -> Result<Ticker, Fault> {
        Ok(Ticker {
            bid: self.bid.price("bid")?,
            ask: self.ask.price("ask")?,
            last: self.last_price.price("last_price")?,
            high: self.high.price("high")?,
            low: self.low.price("low")?,
            base_volume: self.volume.amount("volume")?,
            venue_time: self.timestamp.text().and_then(seconds),
            ..Ticker::default()
        })
    }
}

/// Reads seconds with decimals, cut to milliseconds.
fn seconds(text: &str) -> Option<UnixMs> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let mut digits = decimals.chars().chain("000".chars()).take(3);
    let ms = digits.try_fold(0i64, |ms, digit| ms.checked_mul(10)?.checked_add(digit.to_digit(10)?.into()))?;
    whole.parse::<i64>().ok()?.checked_mul(1000)?.checked_add(ms).map(UnixMs)
}

pub(super) fn old_one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let row: Old<'_, Raw<'_>> = old(body)?;
    sink(row.pair.as_ref().map(|word| &*word.0), &|| row.ticker());
    Ok(())
}

pub(super) fn old_many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let rows: Vec<Old<'_, Bare<'_>>> = old(body)?;
    rows.iter().for_each(|row| sink(row.pair.as_ref().map(|word| &*word.0), &|| row.ticker()));
    if rows.is_empty() { Err(Fault::new(Reason::Empty, "a list without rows")) } else { Ok(()) }
}

fn old<'a, T: Deserialize<'a>>(body: &Body<'a>) -> Result<T, Fault> {
    body.small().map_err(|fault| body.small::<OldRefusal<'_>>().map_or(fault, |said| refusal("", &said.message.0)))
}
