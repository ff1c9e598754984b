//! Reads the rows of HTX's answers.

use super::Refusal;
use crate::{
    model::{Fault, Reason, Ticker, UnixMs},
    venue::{Bare, Body, Cells, Int, Num, Raw, Sink, Word},
};
use serde::{Deserialize, de::IgnoredAny};

#[derive(Deserialize)]
struct Reply<'a, T> {
    #[serde(borrow)]
    status: Word<'a>,
    #[serde(borrow)]
    ch: Option<Word<'a>>,
    #[serde(default)]
    ts: Int,
    #[serde(rename = "tick", alias = "data")]
    content: Option<T>,
}

/// Reads the envelope. A refusal has other fields, and data of any shape.
fn read<'a, T: Deserialize<'a>>(body: &Body<'a>) -> Result<Reply<'a, T>, Fault> {
    let said = || body.small::<Refusal<'_>>().ok().and_then(Refusal::fault);
    match body.small::<Reply<'_, T>>() {
        Ok(reply) if reply.status.0 == "ok" => Ok(reply),
        Ok(_) => Err(said().unwrap_or(Fault::new(Reason::Decode, "status: neither ok nor an error"))),
        Err(fault) => Err(said().unwrap_or(fault)),
    }
}

impl<T> Reply<'_, T> {
    fn content(&self) -> Result<&T, Fault> {
        self.content.as_ref().ok_or(Fault::new(Reason::Empty, "tick: null"))
    }

    /// The single ticker names its pair nowhere but in `ch`: `market.btcusdt.detail.merged`.
    fn symbol(&self) -> Option<&str> {
        self.ch.as_ref()?.0.strip_prefix("market.")?.split_once(".detail").map(|(symbol, _)| symbol)
    }
}

/// A market's day; `amount` is in the base asset, `vol` in the quote asset. The single ticker has price and size of bid and ask as a list, the list of all
/// markets has them as fields, exponents (`5.313E-5`) in both.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Day<'a, N, P> {
    #[serde(borrow)]
    symbol: Option<Word<'a>>,
    bid: P,
    ask: P,
    #[serde(default)]
    bid_size: N,
    #[serde(default)]
    ask_size: N,
    close: N,
    #[serde(default)]
    high: N,
    #[serde(default)]
    low: N,
    #[serde(default)]
    open: N,
    #[serde(default)]
    amount: N,
    #[serde(default)]
    vol: N,
}

impl<'a, N: Num<'a>, P> Day<'_, N, P> {
    fn ticker(&self, [bid, bid_size]: [N; 2], [ask, ask_size]: [N; 2], time: Int) -> Result<Ticker, Fault> {
        Ok(Ticker {
            bid: bid.price("bid")?,
            ask: ask.price("ask")?,
            bid_size: bid_size.amount("bid size")?,
            ask_size: ask_size.amount("ask size")?,
            last: self.close.price("close")?,
            high: self.high.price("high")?,
            low: self.low.price("low")?,
            open: self.open.price("open")?,
            base_volume: self.amount.amount("amount")?,
            quote_volume: self.vol.amount("vol")?,
            venue_time: time.0.map(UnixMs),
            halted: false,
        })
    }
}

pub(super) fn one(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let reply: Reply<'_, Day<'_, Raw<'_>, Cells<Raw<'_>, 2>>> = read(body)?;
    let day = reply.content()?;
    sink(reply.symbol(), &|| day.ticker(day.bid.0.map(Option::unwrap_or_default), day.ask.0.map(Option::unwrap_or_default), reply.ts));
    Ok(())
}

/// Reads a day without bid and ask.
pub(super) fn day(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let reply: Reply<'_, Day<'_, Raw<'_>, Option<IgnoredAny>>> = read(body)?;
    let day = reply.content()?;
    sink(reply.symbol(), &|| day.ticker([Raw::default(); 2], [Raw::default(); 2], reply.ts));
    Ok(())
}

pub(super) fn many(body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
    let reply: Reply<'_, Vec<Day<'_, Bare<'_>, Bare<'_>>>> = read(body)?;
    let days = reply.content()?;
    for day in days {
        let symbol = day.symbol.as_ref().map(|word| &*word.0);
        sink(symbol, &|| day.ticker([day.bid, day.bid_size], [day.ask, day.ask_size], reply.ts));
    }
    if days.is_empty() { Err(Fault::new(Reason::Empty, "a list without rows")) } else { Ok(()) }
}
