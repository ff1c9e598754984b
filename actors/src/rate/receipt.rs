//! The receipt: a rate with everything that led to it.

use super::{Outcome, Rules};
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
