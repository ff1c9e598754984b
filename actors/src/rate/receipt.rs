//! The receipt: a rate with everything that led to it.

use super::{Outcome, Row, Rules};
use crate::model::{Fault, Pair, VenueId};
use std::sync::Arc;

/// Holds a pass with all that it was asked for and went by.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// What the pass came to.
    pub outcome: Outcome,
    /// The settings it went by.
    pub rules: Arc<Rules>,
    /// Every market that was asked and gave no quote, sorted by venue and pair: quotes + misses = asked.
    pub misses: Vec<MarketMiss>,
    /// What made the pass.
    pub made: Made,
    /// Whether the quotes come from a simulation.
    pub simulated: bool,
}

impl Receipt {
    /// Makes a receipt.
    pub fn new(outcome: Outcome, rules: Arc<Rules>, misses: Vec<MarketMiss>, made: Made, simulated: bool) -> Self {
        Self { outcome, rules, misses, made, simulated }
    }

    pub fn id(&self) -> &str {
        "r1_stub"
    }
    pub fn bytes(&self) -> bytes::Bytes {
        bytes::Bytes::from_static(b"{}")
    }
    pub fn known_id(&self) -> Option<&str> {
        None
    }

    /// Tells whether another says the same: rate and status, every decision, every quote and every miss. Then only time has passed.
    pub fn decides_as(&self, other: &Self) -> bool {
        let (a, b) = (&self.outcome, &other.outcome);
        let same_row = |(a, b): (&Row, &Row)| {
            a.offer.received == b.offer.received
                && (a.decision, a.votes) == (b.decision, b.votes)
                && (&a.offer.member.venue, a.offer.pair) == (&b.offer.member.venue, b.offer.pair)
        };
        let same_miss = |(a, b): (&MarketMiss, &MarketMiss)| (&a.venue, a.pair, a.fault.reason) == (&b.venue, b.pair, b.fault.reason);
        a.status == b.status
            && a.rate == b.rate
            && a.rows.len() == b.rows.len()
            && self.misses.len() == other.misses.len()
            && a.tally.labels == b.tally.labels
            && self.rules == other.rules
            && a.rows.iter().zip(&b.rows).all(same_row)
            && self.misses.iter().zip(&other.misses).all(same_miss)
    }
}

/// Holds why a market that was asked gave no quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarketMiss {
    /// The venue.
    pub venue: VenueId,
    /// The market.
    pub pair: Pair,
    /// Why.
    pub fault: Arc<Fault>,
}

/// Tells what made a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// What was at hand.
    Memory,
    /// A round, in which every venue answered or gave up.
    Fetch,
    /// A round that ended at the caller's deadline.
    Deadline,
    /// A round that ended when enough had answered.
    Enough,
}

impl Made {
    /// Every way.
    pub const ALL: [Self; 4] = [Self::Memory, Self::Fetch, Self::Deadline, Self::Enough];

    /// Gives the word for it.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Fetch => "fetch",
            Self::Deadline => "deadline",
            Self::Enough => "enough",
        }
    }
}
