//! Reads the rows of KuCoin's answers.

use super::{SUCCESS, refusal};
use crate::{
    model::{Fault, Reason, Ticker, UnixMs},
    venue::{Bare, Body, Cells, Int, Num, Raw, Sink, Text, Word},
};
use serde::Deserialize;

#[derive(Deserialize)]
struct Reply<'a, N, D> {
    code: N,
    #[serde(borrow)]
    msg: Option<Word<'a>>,
    data: Option<D>,
}

impl<'a, N: Num<'a>, D> Reply<'_, N, D> {
    fn success(self) -> Result<D, Fault> {
        match self.code.text() {
            // What KuCoin says of a symbol that it does not have: success, and nothing.
            Some(SUCCESS) => self.data.ok_or(Fault::new(Reason::Unlisted, "data: null")),
            code => Err(refusal(code.unwrap_or_default(), &self.msg.unwrap_or_default().0)),
        }
    }
}

/// The list of `allTickers`, and of the unified account's ticker.
#[derive(Deserialize)]
struct Listing<R> {
    #[serde(alias = "ts", default)]
    time: Int,
    #[serde(rename = "ticker", alias = "list")]
    rows: R,
}

/// A row in three dialects: `stats` and `allTickers`, `level1` (whose `size` is the last trade's), and the unified account's.
#[derive(Deserialize)]
struct Stats<'a, N> {
    #[serde(borrow)]
    symbol: Option<Word<'a>>,
    #[serde(default)]
    time: Int,
    #[serde(rename = "buy", alias = "bestBid", alias = "bestBidPrice")]
    bid: N,
    #[serde(rename = "sell", alias = "bestAsk", alias = "bestAskPrice")]
    ask: N,
    #[serde(rename = "bestBidSize", default)]
    bid_size: N,
    #[serde(rename = "bestAskSize", default)]
    ask_size: N,
    #[serde(alias = "price", alias = "lastPrice")]
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

pub(super) fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let row = body.small::<Reply<'_, Raw<'_>, Stats<'_, Raw<'_>>>>()?.success()?;
    sink(row.symbol(), &|| row.ticker(Int::default()));
    Ok(())
}

pub(super) fn unified(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let listing = body.small::<Reply<'_, Raw<'_>, Listing<Cells<Stats<'_, Raw<'_>>, 1>>>>()?.success()?;
    let row = listing.rows.get(0).ok_or(Fault::new(Reason::Unlisted, "list: empty"))?;
    sink(row.symbol(), &|| row.ticker(listing.time));
    Ok(())
}

pub(super) fn many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    if let Ok(reply) = body.bulk::<Reply<'_, Text<'_>, Listing<Vec<Stats<'_, Text<'_>>>>>>() {
        return all(&reply.success()?, sink);
    }
    all(&body.small::<Reply<'_, Raw<'_>, Listing<Vec<Stats<'_, Bare<'_>>>>>>()?.success()?, sink)
}

fn all<'a, N: Num<'a>>(listing: &Listing<Vec<Stats<'_, N>>>, sink: Sink<'_>) -> Result<(), Fault> {
    listing.rows.iter().for_each(|row| sink(row.symbol(), &|| row.ticker(listing.time)));
    Ok(())
}
