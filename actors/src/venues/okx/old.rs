//! Reads the answers of OKX's first API, where it was OKCoin.

use super::rows::read;
use crate::{
    model::{Fault, Ticker, UnixMs},
    venue::{Body, Num, Raw, Sink},
};
use serde::Deserialize;

/// The first API: the time is in seconds, and stands outside.
#[derive(Deserialize)]
struct Dated<'a> {
    #[serde(borrow)]
    date: Raw<'a>,
    #[serde(borrow)]
    ticker: First<'a>,
}

#[derive(Deserialize)]
struct First<'a> {
    #[serde(borrow)]
    buy: Raw<'a>,
    #[serde(borrow)]
    sell: Raw<'a>,
    #[serde(borrow)]
    last: Raw<'a>,
    #[serde(borrow)]
    high: Raw<'a>,
    #[serde(borrow)]
    low: Raw<'a>,
    #[serde(borrow)]
    vol: Raw<'a>,
}

pub(super) fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let Dated { date, ticker: t } = read(body)?;
    sink(None, &|| {
        Ok(Ticker {
            bid: t.buy.price("buy")?,
            ask: t.sell.price("sell")?,
            last: t.last.price("last")?,
            high: t.high.price("high")?,
            low: t.low.price("low")?,
            base_volume: t.vol.amount("vol")?,
            venue_time: date.int().map(|seconds| UnixMs(seconds.saturating_mul(1000))),
            ..Ticker::default()
        })
    });
    Ok(())
}
