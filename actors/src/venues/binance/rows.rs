//! Reads the rows of Binance's answers.

use super::Refusal;
use crate::{
    model::{Fault, Reason, Ticker, UnixMs},
    venue::{Bare, Body, Int, Num, Raw, Sink, Text},
};
use serde::Deserialize;
use std::borrow::Cow;

/// A row of `ticker/24hr`, and of `bookTicker`, which has the first five alone.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stats<'a, N> {
    #[serde(borrow)]
    symbol: Cow<'a, str>,
    bid_price: N,
    bid_qty: N,
    ask_price: N,
    ask_qty: N,
    #[serde(default)]
    last_price: N,
    #[serde(default)]
    high_price: N,
    #[serde(default)]
    low_price: N,
    #[serde(default)]
    open_price: N,
    #[serde(default)]
    volume: N,
    #[serde(default)]
    quote_volume: N,
    #[serde(default)]
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

/// Reads an answer; one that does not fit may still be a refusal.
pub(super) fn read<'a, T: Deserialize<'a>>(body: &Body<'a>) -> Result<T, Fault> {
    body.small().map_err(|fault| body.small::<Refusal<'_>>().map_or(fault, |r| r.fault(200)))
}

pub(super) fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let row: Stats<'_, Raw<'_>> = read(body)?;
    sink(Some(&row.symbol), &|| row.ticker());
    Ok(())
}

pub(super) fn many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    if let Ok(rows) = body.bulk::<Vec<Stats<'_, Text<'_>>>>() {
        return all(&rows, sink);
    }
    all(&read::<Vec<Stats<'_, Bare<'_>>>>(body)?, sink)
}

fn all<'a, N: Num<'a>>(rows: &[Stats<'_, N>], sink: Sink<'_>) -> Result<(), Fault> {
    rows.iter().for_each(|row| sink(Some(&row.symbol), &|| row.ticker()));
    if rows.is_empty() { Err(Fault::new(Reason::Empty, "a list without rows")) } else { Ok(()) }
}
