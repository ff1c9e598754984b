//! Reads the rows of Gate's answers.

use super::Refusal;
use crate::{
    model::{Fault, Reason, Ticker},
    venue::{Bare, Body, Cells, Entries, Num, Raw, Sink, Text},
};
use serde::Deserialize;
use std::borrow::Cow;

/// A row; the other names are those of version 2, which called the base volume the quote's and the other way round. Sizes come with a single pair only.
#[derive(Deserialize)]
struct Stats<'a, N> {
    #[serde(borrow, default)]
    currency_pair: Cow<'a, str>,
    #[serde(alias = "highestBid")]
    highest_bid: N,
    #[serde(alias = "lowestAsk")]
    lowest_ask: N,
    #[serde(default)]
    highest_size: N,
    #[serde(default)]
    lowest_size: N,
    last: N,
    #[serde(default, alias = "high24hr")]
    high_24h: N,
    #[serde(default, alias = "low24hr")]
    low_24h: N,
    #[serde(default, alias = "quoteVolume")]
    base_volume: N,
    #[serde(default, alias = "baseVolume")]
    quote_volume: N,
}

impl<'a, N: Num<'a>> Stats<'_, N> {
    fn ticker(&self) -> Result<Ticker, Fault> {
        Ok(Ticker {
            bid: self.highest_bid.price("highest_bid")?,
            ask: self.lowest_ask.price("lowest_ask")?,
            bid_size: self.highest_size.amount("highest_size")?,
            ask_size: self.lowest_size.amount("lowest_size")?,
            last: self.last.price("last")?,
            high: self.high_24h.price("high_24h")?,
            low: self.low_24h.price("low_24h")?,
            base_volume: self.base_volume.amount("base_volume")?,
            quote_volume: self.quote_volume.amount("quote_volume")?,
            ..Ticker::default()
        })
    }
}

/// Reads an answer; one that does not fit may still be a refusal.
fn read<'a, T: Deserialize<'a>>(body: &Body<'a>) -> Result<T, Fault> {
    body.small().map_err(|fault| body.small::<Refusal<'_>>().ok().and_then(|r| r.fault(200)).unwrap_or(fault))
}

pub(super) fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let rows: Cells<Stats<'_, Raw<'_>>, 1> = read(body)?;
    let row = rows.get(0).ok_or(Fault::new(Reason::Unlisted, "no such row"))?;
    sink(Some(&row.currency_pair), &|| row.ticker());
    Ok(())
}

pub(super) fn many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    if let Ok(rows) = body.bulk::<Vec<Stats<'_, Text<'_>>>>() {
        return all(&rows, sink);
    }
    all(&read::<Vec<Stats<'_, Bare<'_>>>>(body)?, sink)
}

fn all<'a, N: Num<'a>>(rows: &[Stats<'_, N>], sink: Sink<'_>) -> Result<(), Fault> {
    rows.iter().for_each(|row| sink(Some(&row.currency_pair), &|| row.ticker()));
    if rows.is_empty() { Err(Fault::new(Reason::Empty, "a list without rows")) } else { Ok(()) }
}

pub(super) fn second_one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let row: Stats<'_, Raw<'_>> = read(body)?;
    sink(None, &|| row.ticker());
    Ok(())
}

pub(super) fn second_many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let Entries(rows): Entries<'_, Stats<'_, Bare<'_>>> = read(body)?;
    rows.iter().for_each(|(symbol, row)| sink(Some(symbol), &|| row.ticker()));
    Ok(())
}
