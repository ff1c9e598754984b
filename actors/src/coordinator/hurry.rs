//! A market that moves fast: the markets that convert its price are asked for ahead of their turn.
//!
//! Exchanges are polled as their budgets let them, some every few seconds. While a stablecoin slides, what those say of it is seconds old, and so is the middle of
//! all: every price converted by it is off by as much. What the budgets have to spare is spent then.

use super::Coordinator;
use crate::{
    board::Slot,
    exchange::Hurry,
    hash::SmallMap,
    model::{Outcome, Pair, Price},
    rate::Num,
};
use actix::prelude::*;
use std::{cmp::Ordering, time::Duration};
use tokio::time::Instant;

/// How far a venue's price is from its price before when the market moves fast, as a fraction of that.
const FAST: Num = Num::new(2, -3);
/// How long after a fast move conversions are asked for ahead of their turn.
const WATCHED_FOR: Duration = Duration::from_secs(2);
/// How often.
const EVERY: Duration = Duration::from_millis(200);

/// Holds until when each market of conversions is asked for ahead of its turn.
pub(super) type Hurried = SmallMap<Pair, Instant>;

impl Coordinator {
    /// Sees whether a venue's price has moved fast since its word before, and begins to ask for the conversions beside it.
    pub(super) fn watch(&mut self, ctx: &mut Context<Self>, venue: usize, market: Pair, outcome: &Outcome, now: Instant) {
        let Some(fed) = self.feeds.get(&market) else { return };
        let before = self.pairs.get(&market).and_then(|state| state.slots.get(venue)?.quote.as_ref()?.ticker.bid);
        let after = outcome.as_ref().ok().and_then(|quote| quote.ticker.bid);
        if !before.zip(after).is_some_and(|(before, after)| is_fast(before, after)) {
            return;
        }
        let until = now.checked_add(WATCHED_FOR).unwrap_or(now);
        let was_idle = self.hurried.is_empty();
        for rate in fed.iter().filter_map(|pair| self.rates.get(pair)) {
            self.hurried.extend(rate.markets.conversion.iter().map(|market| (*market, until)));
        }
        if was_idle {
            self.hurry(ctx);
        }
    }

    /// Asks every venue that quotes them for the markets that are being watched, again and again until none is.
    fn hurry(&mut self, ctx: &mut Context<Self>) {
        let now = Instant::now();
        self.hurried.retain(|_, until| *until > now);
        if self.hurried.is_empty() {
            return;
        }
        for (number, cell) in self.venues.iter().enumerate() {
            // One whose last word was a fault waits for its turn: asked more often it would only fail more often.
            let is_well = |slot: &Slot| slot.quote.is_some() && slot.fault.is_none();
            let quoted = |market: &Pair| self.pairs.get(market).and_then(|state| state.slots.get(number)).is_some_and(is_well);
            let wanted: Vec<Pair> = self.hurried.keys().copied().filter(quoted).collect();
            if let Some(port) = cell.port.load_full().filter(|_| !wanted.is_empty()) {
                // A full mailbox only means that they wait for their turn.
                port.try_send(Hurry(wanted)).ok();
            }
        }
        ctx.run_later(EVERY, Self::hurry);
    }
}

fn is_fast(before: Price, after: Price) -> bool {
    let (before, after) = (Num::from(before.get()), Num::from(after.get()));
    Num::cmp_products(after.distance(before), Num::ONE, FAST, before) == Ordering::Greater
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_of_a_per_cent_either_way_is_not_yet_fast() {
        let price = |text: &str| Price::new(text.parse().unwrap()).unwrap();
        let fast = |after: &str| is_fast(price("1"), price(after));
        assert!(!fast("1") && !fast("1.002") && !fast("0.998"));
        assert!(fast("1.002001") && fast("0.997999"));
    }
}
