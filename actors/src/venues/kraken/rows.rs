//! Reads the rows of Kraken's answers.

use super::Errors;
use crate::{
    model::{Fault, Reason, Ticker},
    venue::{Bare, Body, Cells, Entries, FirstEntry, Num, Raw, Sink, Text},
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Reply<'a, R> {
    #[serde(borrow, default)]
    error: Errors<'a>,
    #[serde(default)]
    result: R,
}

/// One market. Of `v l h` the second is of the last 24 hours; `o` is today's; `a b` are price, whole lots, size (absent in older answers).
#[derive(Deserialize)]
struct Info<N> {
    a: Cells<N, 3>,
    b: Cells<N, 3>,
    c: Cells<N, 2>,
    v: Cells<N, 2>,
    l: Cells<N, 2>,
    h: Cells<N, 2>,
    o: N,
}

fn cell<'a, N: Num<'a> + Default, const K: usize>(cells: &Cells<N, K>, at: usize) -> N {
    cells.get(at).copied().unwrap_or_default()
}

impl<'a, N: Num<'a> + Default> Info<N> {
    fn ticker(&self) -> Result<Ticker, Fault> {
        Ok(Ticker {
            bid: cell(&self.b, 0).price("b[0]")?,
            ask: cell(&self.a, 0).price("a[0]")?,
            bid_size: cell(&self.b, 2).amount("b[2]")?,
            ask_size: cell(&self.a, 2).amount("a[2]")?,
            last: cell(&self.c, 0).price("c[0]")?,
            high: cell(&self.h, 1).price("h[1]")?,
            low: cell(&self.l, 1).price("l[1]")?,
            open: self.o.price("o")?,
            base_volume: cell(&self.v, 1).amount("v[1]")?,
            ..Ticker::default()
        })
    }
}

pub(super) fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let reply: Reply<'_, FirstEntry<'_, Info<Raw<'_>>>> = body.small()?;
    if let Some(fault) = reply.error.fault(200) {
        return Err(fault);
    }
    // The key is of Kraken's own choosing: the only one is the one that was asked for.
    let (_, info) = reply.result.0.ok_or(Fault::new(Reason::Unlisted, "an answer without rows"))?;
    sink(None, &|| info.ticker());
    Ok(())
}

pub(super) fn many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    if let Ok(reply) = body.bulk::<Reply<'_, Entries<'_, Info<Text<'_>>>>>() {
        return all(&reply, sink);
    }
    all(&body.small::<Reply<'_, Entries<'_, Info<Bare<'_>>>>>()?, sink)
}

fn all<'a, N: Num<'a> + Default>(reply: &Reply<'_, Entries<'_, Info<N>>>, sink: Sink<'_>) -> Result<(), Fault> {
    if let Some(fault) = reply.error.fault(200) {
        return Err(fault);
    }
    let Entries(rows) = &reply.result;
    rows.iter().for_each(|(symbol, info)| sink(Some(symbol), &|| info.ticker()));
    if rows.is_empty() { Err(Fault::new(Reason::Empty, "a list without rows")) } else { Ok(()) }
}
