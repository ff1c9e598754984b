//! Reads Binance's answers that tell of trades alone.

use super::rows::read;
use crate::{
    model::{Fault, Ticker, UnixMs},
    venue::{Bare, Body, Int, Num, Raw, Sink},
};
use serde::Deserialize;
use std::borrow::Cow;

/// A row of statistics without bid and ask, or the last price alone.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Trades<'a, N> {
    #[serde(borrow)]
    symbol: Cow<'a, str>,
    #[serde(alias = "price")]
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

impl<'a, N: Num<'a>> Trades<'_, N> {
    fn ticker(&self) -> Result<Ticker, Fault> {
        Ok(Ticker {
            last: self.last_price.price("lastPrice")?,
            high: self.high_price.price("highPrice")?,
            low: self.low_price.price("lowPrice")?,
            open: self.open_price.price("openPrice")?,
            base_volume: self.volume.amount("volume")?,
            quote_volume: self.quote_volume.amount("quoteVolume")?,
            venue_time: self.close_time.0.map(UnixMs),
            ..Ticker::default()
        })
    }
}

pub(super) fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let row: Trades<'_, Raw<'_>> = read(body)?;
    sink(Some(&row.symbol), &|| row.ticker());
    Ok(())
}

pub(super) fn many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let rows: Vec<Trades<'_, Bare<'_>>> = read(body)?;
    rows.iter().for_each(|row| sink(Some(&row.symbol), &|| row.ticker()));
    Ok(())
}
