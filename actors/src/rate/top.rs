//! The tops of the books that count for a rate, in its currency: what is ranked, crossed and converted by.

use super::{Decision, Num, Outcome, Path, Receipt, Row, Taker, Takers};
use crate::model::{Amount, Pair, Price, UnixMs, VenueId};
use std::time::Duration;

/// Tells which tops are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'w> {
    /// Whether markets in other currencies count, converted on the receipt's paths.
    pub convert: bool,
    /// What takers pay; `None`: no fee is in it.
    pub takers: Option<&'w Takers>,
    /// The time at which ages are taken, on the clock of the pass.
    pub now: UnixMs,
    /// How long ago a quote may have been received.
    pub max_age: Duration,
}

/// Holds the best bid and ask of one market, in the currency of the rate.
#[derive(Clone, Copy, Debug)]
pub struct Top<'r> {
    /// The quote.
    pub row: &'r Row,
    /// How its currency comes to that of the rate; `None` where there is nothing to convert.
    pub path: Option<&'r Path>,
    /// Whether the market is that of the rate upside down: its base is what the rate is counted in.
    pub inverse: bool,
    /// What is bid for one of the base.
    pub bid: Num,
    /// What one of the base is offered at.
    pub ask: Num,
    /// How much of the base is bid for, where the venue says that.
    pub bid_size: Option<Num>,
    /// How much of the base is offered.
    pub ask_size: Option<Num>,
    /// How old it is: as it was received, or as its venue's time says where that counts and is longer ago.
    pub age: Duration,
    /// What a taker pays; `None` where no fee is wanted.
    pub taker: Option<Taker>,
}

/// Says why a market that was asked has no top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut<'r> {
    /// The venue.
    pub venue: &'r VenueId,
    /// The market.
    pub pair: Pair,
    /// The word for it: what the receipt decided, why there is no quote, `no_book`, or `no_fee`.
    pub reason: &'static str,
}

/// Answers for every market that was asked: it has a top, or is left out.
#[derive(Clone, Debug, Default)]
pub struct Tops<'r> {
    /// The tops, sorted by venue and market.
    pub tops: Vec<Top<'r>>,
    /// What is left out, sorted by venue and market.
    pub left_out: Vec<LeftOut<'r>>,
}

/// Finds the tops of a receipt: of every market of its pair, and with conversion of every market of its base, whose quote counts.
pub fn tops<'r>(receipt: &'r Receipt, wanted: &Wanted<'_>) -> Tops<'r> {
    let outcome = &receipt.outcome;
    let is_wanted = |market: Pair| if wanted.convert { outcome.prices_base(market) } else { market == outcome.pair };
    let mut found = Tops::default();
    for row in outcome.rows.iter().filter(|row| is_wanted(row.offer.pair)) {
        match top(receipt, row, wanted) {
            Ok(top) => found.tops.push(top),
            Err(reason) => found.left_out.push(LeftOut { venue: &row.offer.member.venue, pair: row.offer.pair, reason }),
        }
    }
    let misses = receipt.misses.iter().filter(|miss| is_wanted(miss.pair));
    found.left_out.extend(misses.map(|miss| LeftOut { venue: &miss.venue, pair: miss.pair, reason: miss.fault.reason.slug() }));
    found.left_out.sort_by_key(|out| (out.venue, out.pair));
    found
}

impl Outcome {
    /// Tells whether a market prices the base of the rate, whatever in; the others serve for conversion alone.
    pub fn prices_base(&self, market: Pair) -> bool {
        market.base == self.pair.base || is_inverse(market, self.pair)
    }
}

fn is_inverse(market: Pair, pair: Pair) -> bool {
    (market.base, market.quote) == (pair.quote, pair.base)
}

fn top<'r>(receipt: &'r Receipt, row: &'r Row, wanted: &Wanted<'_>) -> Result<Top<'r>, &'static str> {
    let offer = &row.offer;
    if row.decision != Decision::In {
        return Err(row.decision.slug());
    }
    if wanted.now.since(offer.received) > wanted.max_age {
        return Err(crate::model::Reason::Stale.slug());
    }
    let ticker = &offer.ticker;
    let (Some(bid), Some(ask)) = (ticker.bid.map(of_price), ticker.ask.map(of_price)) else { return Err(NO_BOOK) };
    let (bid_size, ask_size) = (ticker.bid_size.map(of_amount), ticker.ask_size.map(of_amount));
    let taker = match wanted.takers {
        None => None,
        Some(takers) => Some(*takers.get(&offer.member.venue).ok_or(NO_FEE)?),
    };
    let age = offer.age(wanted.now, &receipt.rules.admission);
    let top = Top { row, path: None, inverse: is_inverse(offer.pair, receipt.outcome.pair), bid, ask, bid_size, ask_size, age, taker };
    if top.inverse {
        // Who sells the one buys the other: sides, prices and sizes change places.
        let (bid, ask) = (ask.inverse().ok_or(NO_BOOK)?, bid.inverse().ok_or(NO_BOOK)?);
        let (bid_size, ask_size) = (ask_size.map(|size| size.times(top.ask)), bid_size.map(|size| size.times(top.bid)));
        return Ok(Top { bid, ask, bid_size, ask_size, ..top });
    }
    let path = row.path.and_then(|at| receipt.outcome.paths.get(at));
    Ok(match path {
        Some(path) => Top { path: Some(path), bid: bid.times(path.rate), ask: ask.times(path.rate), ..top },
        None => top,
    })
}

/// The venue's answer has no book.
const NO_BOOK: &str = "no_book";
/// What the venue charges is not known.
const NO_FEE: &str = "no_fee";

fn of_price(price: Price) -> Num {
    Num::from(price.get())
}

fn of_amount(amount: Amount) -> Num {
    Num::from(amount.get())
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests;
