//! Reads MEXC's answers that have the last price alone.

use super::rows::small;
use crate::{
    model::{Fault, Reason, Ticker},
    venue::{Bare, Body, Num, Raw, Sink, Word},
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Last<'a, N> {
    #[serde(borrow)]
    symbol: Word<'a>,
    price: N,
}

impl<'a, N: Num<'a>> Last<'_, N> {
    fn ticker(&self) -> Result<Ticker, Fault> {
        Ok(Ticker { last: self.price.price("price")?, ..Ticker::default() })
    }
}

pub(super) fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let row: Last<'_, Raw<'_>> = small(body)?;
    sink(Some(&row.symbol.0), &|| row.ticker());
    Ok(())
}

pub(super) fn many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let rows: Vec<Last<'_, Bare<'_>>> = small(body)?;
    rows.iter().for_each(|row| sink(Some(&row.symbol.0), &|| row.ticker()));
    if rows.is_empty() { Err(Fault::new(Reason::Empty, "a list without rows")) } else { Ok(()) }
}
