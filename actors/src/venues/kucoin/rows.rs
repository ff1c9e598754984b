//! Reads the rows of KuCoin's answers.

use super::{Refusal, Reply};
use crate::{
    model::{Fault, Reason, Ticker, UnixMs},
    venue::{Bare, Body, Cells, Int, Num, Raw, Sink, Text, Word},
};
use serde::Deserialize;

/// The list of `allTickers`, and of the unified account's ticker.
#[derive(Deserialize)]
struct Listing<R> {
    #[serde(alias = "ts", default)]
    time: Int,
    #[serde(rename = "ticker", alias = "list")]
    rows: R,
}

/// A row in four dialects: `stats` and `allTickers`, `level1` (whose `size` is the last trade's), the unified account's, and that of the first API.
#[derive(Deserialize)]
struct Stats<'a, N> {
    #[serde(borrow)]
    symbol: Option<Word<'a>>,
    #[serde(default, alias = "datetime")]
    time: Int,
    #[serde(rename = "buy", alias = "bestBid", alias = "bestBidPrice")]
    bid: N,
    #[serde(rename = "sell", alias = "bestAsk", alias = "bestAskPrice")]
    ask: N,
    #[serde(rename = "bestBidSize", default)]
    bid_size: N,
    #[serde(rename = "bestAskSize", default)]
    ask_size: N,
    #[serde(alias = "price", alias = "lastPrice", alias = "lastDealPrice")]
    last: N,
    #[serde(default)]
    high: N,
    #[serde(default)]
    low: N,
    #[serde(default)]
    open: N,
    #[serde(rename = "vol", alias = "baseVolume", default)]
    base_volume: N,
    #[serde(rename = "volValue", alias = "quoteVolume", default)]
    quote_volume: N,
}

impl<'a, N: Num<'a>> Stats<'_, N> {
    fn symbol(&self) -> Option<&str> {
        self.symbol.as_ref().map(|word| &*word.0)
    }

    fn ticker(&self, time: Int) -> Result<Ticker, Fault> {
        Ok(Ticker {
            bid: self.bid.price("bid")?,
            ask: self.ask.price("ask")?,
            bid_size: self.bid_size.amount("bestBidSize")?,
            ask_size: self.ask_size.amount("bestAskSize")?,
            last: self.last.price("last")?,
            high: self.high.price("high")?,
            low: self.low.price("low")?,
            open: self.open.price("open")?,
            base_volume: self.base_volume.amount("base volume")?,
            quote_volume: self.quote_volume.amount("quote volume")?,
            venue_time: self.time.0.or(time.0).map(UnixMs),
            halted: false,
        })
    }
}

/// Reads the envelope. A refusal's data has any shape, so a reply that does not fit may still say why.
fn read<'a, D: Deserialize<'a>>(body: &Body<'a>) -> Result<D, Fault> {
    let reply = body.small::<Reply<'_, Raw<'_>, D>>();
    reply.map_err(|fault| body.small::<Refusal<'_>>().ok().and_then(Refusal::fault).unwrap_or(fault))?.success()
}

pub(super) fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let row: Stats<'_, Raw<'_>> = read(body)?;
    sink(row.symbol(), &|| row.ticker(Int::default()));
    Ok(())
}

pub(super) fn unified(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let listing: Listing<Cells<Stats<'_, Raw<'_>>, 1>> = read(body)?;
    let row = listing.rows.get(0).ok_or(Fault::new(Reason::Unlisted, "list: empty"))?;
    sink(row.symbol(), &|| row.ticker(listing.time));
    Ok(())
}

pub(super) fn many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    if let Ok(reply) = body.bulk::<Reply<'_, Text<'_>, Listing<Vec<Stats<'_, Text<'_>>>>>>() {
        let Listing { time, rows } = reply.success()?;
        return all(&rows, time, sink);
    }
    let Listing { time, rows } = read::<Listing<Vec<Stats<'_, Bare<'_>>>>>(body)?;
    all(&rows, time, sink)
}

pub(super) fn old_many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    all(&read::<Vec<Stats<'_, Bare<'_>>>>(body)?, Int::default(), sink)
}

fn all<'a, N: Num<'a>>(rows: &[Stats<'_, N>], time: Int, sink: Sink<'_>) -> Result<(), Fault> {
    rows.iter().for_each(|row| sink(row.symbol(), &|| row.ticker(time)));
    if rows.is_empty() { Err(Fault::new(Reason::Empty, "a list without rows")) } else { Ok(()) }
}
