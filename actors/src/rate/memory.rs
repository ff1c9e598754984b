//! What a rule remembers from pass to pass, as one value.

use super::{Num, vote::Operator};
use crate::model::{Pair, Ticker, UnixMs, VenueId};
use rust_decimal::Decimal;
use std::collections::BTreeMap;

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
}

/// Holds since when a market's numbers have been what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Still {
    pub(super) print: Print,
    pub(super) since: UnixMs,
    /// The last good rate that stood after the pass in which they were first seen.
    pub(super) good_then: Option<Num>,
}

/// Holds the numbers of a quote that change while a market lives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Print([Option<Decimal>; 6]);

impl Print {
    pub(super) fn of(ticker: &Ticker) -> Self {
        let Ticker { bid, ask, last, bid_size, ask_size, base_volume, .. } = ticker;
        let ([bid, ask, last], sizes) = ([bid, ask, last].map(|n| n.map(|n| n.get())), [bid_size, ask_size, base_volume]);
        let [bid_size, ask_size, base_volume] = sizes.map(|n| n.map(|n| n.get()));
        Self([bid, ask, last, bid_size, ask_size, base_volume])
    }
}

impl PartialEq for Print {
    fn eq(&self, other: &Self) -> bool {
        // Prices and amounts have no zeros at their ends: equal numbers are written alike.
        let written = |number: &Option<Decimal>| number.map(|number| (number.mantissa(), number.scale()));
        self.0.iter().zip(&other.0).all(|(a, b)| written(a) == written(b))
    }
}

impl Eq for Print {}

impl Memory {
    /// Finds a market, or the place where it belongs, at `from` or behind it.
    pub(super) fn find(&self, from: usize, venue: &VenueId, pair: Pair) -> Result<usize, usize> {
        let behind = self.markets.get(from..).unwrap_or_default();
        for (step, seen) in behind.iter().enumerate() {
            let at = from.saturating_add(step);
            if seen.pair == pair && seen.venue == *venue {
                return Ok(at);
            }
            if (&seen.venue, seen.pair) > (venue, pair) {
                return Err(at);
            }
        }
        Err(self.markets.len())
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
