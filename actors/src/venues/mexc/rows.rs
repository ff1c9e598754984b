//! Reads the rows of MEXC's answers.

use super::Refusal;
use crate::{
    model::{Fault, Reason, Ticker, UnixMs},
    venue::{Bare, Body, Cells, Int, Num, Raw, Sink, Text, Word},
};
use serde::Deserialize;

/// A row of `ticker/24hr`, where sizes may be empty and the quote volume null; of `bookTicker`, which has the first five alone; of version 2, without sizes.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stats<'a, N> {
    #[serde(borrow)]
    symbol: Word<'a>,
    #[serde(alias = "bid")]
    bid_price: N,
    #[serde(default)]
    bid_qty: N,
    #[serde(alias = "ask")]
    ask_price: N,
    #[serde(default)]
    ask_qty: N,
    #[serde(alias = "last", default)]
    last_price: N,
    #[serde(alias = "high", default)]
    high_price: N,
    #[serde(alias = "low", default)]
    low_price: N,
    #[serde(alias = "open", default)]
    open_price: N,
    #[serde(default)]
    volume: N,
    #[serde(default)]
    quote_volume: N,
    #[serde(alias = "time", default)]
    close_time: Int,
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
            venue_time: self.close_time.0.map(UnixMs),
            halted: false,
        })
    }
}

/// Reads an answer of version 3; an error may come with HTTP 200 too.
pub(super) fn small<'a, T: Deserialize<'a>>(body: &Body<'a>) -> Result<T, Fault> {
    body.small().map_err(|fault| {
        let said = body.small::<Refusal<'_>>().ok();
        said.and_then(Refusal::fault).unwrap_or(fault)
    })
}

pub(super) fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let row: Stats<'_, Raw<'_>> = small(body)?;
    sink(Some(&row.symbol.0), &|| row.ticker());
    Ok(())
}

pub(super) fn many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    if let Ok(rows) = body.bulk::<Vec<Stats<'_, Text<'_>>>>() {
        return all(&rows, sink);
    }
    all(&small::<Vec<Stats<'_, Bare<'_>>>>(body)?, sink)
}

fn all<'a, N: Num<'a>>(rows: &[Stats<'_, N>], sink: Sink<'_>) -> Result<(), Fault> {
    rows.iter().for_each(|row| sink(Some(&row.symbol.0), &|| row.ticker()));
    if rows.is_empty() { Err(Fault::new(Reason::Empty, "a list without rows")) } else { Ok(()) }
}

/// The envelope of version 2.
#[derive(Deserialize)]
struct Old<D> {
    data: D,
}

pub(super) fn old_one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let reply: Old<Cells<Stats<'_, Raw<'_>>, 1>> = small(body)?;
    let row = reply.data.get(0).ok_or(Fault::new(Reason::Unlisted, "data: empty"))?;
    sink(Some(&row.symbol.0), &|| row.ticker());
    Ok(())
}

pub(super) fn old_many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let reply: Old<Vec<Stats<'_, Bare<'_>>>> = small(body)?;
    all(&reply.data, sink)
}
