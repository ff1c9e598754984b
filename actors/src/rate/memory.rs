//! What a rule remembers from pass to pass, as one value.

use super::{Before, Num, Offer, Prior, receipt::Quoted, vote::Operator};
use crate::model::{Pair, Ticker, UnixMs, VenueId};
use rust_decimal::Decimal;
use std::{collections::BTreeMap, sync::Arc};

/// Holds what the passes of one pair leave to those after them. It grows with the venues and operators ever heard of, never with the passes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// The latest rate that was published as one of its own pass.
    pub last_good: Option<Good>,
    /// A rate that was held back, waiting to be confirmed.
    pub hold: Option<Hold>,
    /// What is held against operators, or was of late.
    pub marks: Marks,
    /// What is remembered of markets, sorted by venue and pair as the rows of a pass are: both are walked side by side.
    pub(super) markets: Vec<Seen>,
}

/// Holds a rate and the time of the pass that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Good {
    /// The rate.
    pub rate: Num,
    /// The time of its pass.
    pub at: UnixMs,
}

/// Holds a jump that waits to be confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// When the first value was held back.
    pub since: UnixMs,
    /// The value that another must confirm.
    pub value: Num,
    /// When that one was first held back.
    pub value_since: UnixMs,
}

/// Holds what is remembered of operators; most have nothing.
pub type Marks = BTreeMap<Operator, Mark>;

/// Holds what is remembered of one operator's votes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// While it is out or cooling: the price with which it was put out from among those that counted.
    pub put_out: Option<Num>,
    /// Since when it has been inside half of the limit without a break.
    pub inside_since: Option<UnixMs>,
    /// When it was last out, not merely cooling.
    pub last_out: Option<UnixMs>,
    /// Since when it has been over three times the median, or under a third, without a break.
    pub far_since: Option<UnixMs>,
}

/// Holds what is remembered of one market.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) venue: VenueId,
    pub(super) pair: Pair,
    /// The newest venue time that came as far as to be compared.
    pub(super) newest: Option<UnixMs>,
    /// The numbers last seen; kept of quotes of the base only.
    pub(super) still: Option<Still>,
    /// The quote last offered, and what receipts say of it.
    pub(super) quoted: Arc<Quoted>,
}

/// Holds since when a market's numbers have been what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Still {
    pub(super) print: Print,
    pub(super) since: UnixMs,
    /// The last good rate that stood after the pass in which they were first seen.
    pub(super) good_then: Option<Num>,
}

/// Holds the numbers of a quote that change while a market lives, each as the bits of its decimal: prices and amounts have no zeros at their ends, so that
/// equal numbers are written alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Print([[u8; 16]; 6]);

impl Print {
    pub(super) fn of(ticker: &Ticker) -> Self {
        // No decimal has all bits set.
        let bits = |number: Option<Decimal>| number.map_or([u8::MAX; 16], |number| number.serialize());
        let Ticker { bid, ask, last, bid_size, ask_size, base_volume, .. } = ticker;
        let [bid, ask, last] = [bid, ask, last].map(|price| bits(price.map(|price| price.get())));
        let [bid_size, ask_size, volume] = [bid_size, ask_size, base_volume].map(|amount| bits(amount.map(|amount| amount.get())));
        Self([bid, ask, last, bid_size, ask_size, volume])
    }
}

impl Memory {
    /// Makes a memory that a pass reads as it read the one before it, of what it noted: of each market what it read. Numbers that were unchanged are those
    /// of the offer.
    pub(super) fn of_before<'a>(before: Before, markets: impl Iterator<Item = (&'a Offer, Prior)>) -> Self {
        let seen = |(offer, Prior { newest, unchanged }): (&Offer, Prior)| {
            let print = Print::of(&offer.ticker);
            let still = unchanged.map(|(since, good_then)| Still { print, since, good_then });
            Seen { venue: offer.member.venue.clone(), pair: offer.pair, newest, still, quoted: Arc::new(Quoted::of(offer, print)) }
        };
        let mut markets: Vec<Seen> = markets.map(seen).collect();
        markets.sort_by(|a, b| (&a.venue, a.pair).cmp(&(&b.venue, b.pair)));
        Self { last_good: before.last_good, hold: before.hold, marks: before.marks, markets }
    }

    /// Finds the market of an offer at `from` or behind it, or makes room for it there, and notes what is offered: its place.
    pub(super) fn heard(&mut self, from: usize, offer: &Offer) -> (usize, Arc<Quoted>) {
        let print = Print::of(&offer.ticker);
        let at = match self.find(from, &offer.member.venue, offer.pair) {
            Ok(at) => at,
            Err(at) => {
                let quoted = Arc::new(Quoted::of(offer, print));
                let (venue, pair) = (offer.member.venue.clone(), offer.pair);
                self.markets.insert(at, Seen { venue, pair, newest: None, still: None, quoted: Arc::clone(&quoted) });
                return (at, quoted);
            }
        };
        match self.markets.get_mut(at) {
            Some(seen) if seen.quoted.is(offer, &print) => (at, Arc::clone(&seen.quoted)),
            seen => {
                let quoted = Arc::new(Quoted::of(offer, print));
                seen.into_iter().for_each(|seen| seen.quoted = Arc::clone(&quoted));
                (at, quoted)
            }
        }
    }

    /// Finds a market at `from` or behind it, or the place where it belongs.
    pub(super) fn find(&self, from: usize, venue: &VenueId, pair: Pair) -> Result<usize, usize> {
        let mut at = from;
        while let Some(seen) = self.markets.get(at) {
            if seen.pair == pair && seen.venue == *venue {
                return Ok(at);
            }
            if (&seen.venue, seen.pair) > (venue, pair) {
                break;
            }
            at = at.saturating_add(1);
        }
        Err(at)
    }

    /// Moves every time in it: our own clock was set right by so many milliseconds, and what was a minute ago still is.
    pub fn shift(&mut self, by_ms: i64) {
        let moved = |time: &mut UnixMs| time.0 = time.0.saturating_add(by_ms);
        if let Some(good) = &mut self.last_good {
            moved(&mut good.at);
        }
        if let Some(hold) = &mut self.hold {
            moved(&mut hold.since);
            moved(&mut hold.value_since);
        }
        for mark in self.marks.values_mut() {
            [&mut mark.inside_since, &mut mark.last_out, &mut mark.far_since].into_iter().flatten().for_each(moved);
        }
        // A venue's newest time is its own, and stays.
        self.markets.iter_mut().filter_map(|seen| seen.still.as_mut()).for_each(|still| moved(&mut still.since));
    }
}
