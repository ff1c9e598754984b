//! The receipt: a rate with everything that led to it, as a value and as the JSON that proves it.

mod canon;
mod read;
mod verify;
mod write;

pub use read::ReadError;
pub use verify::{Difference, Verified, verify};

use super::{Outcome, Row, Rules};
use crate::model::{Fault, Pair, VenueId};
use bytes::Bytes;
use std::sync::{Arc, OnceLock};

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
    sealed: OnceLock<Sealed>,
}

/// Holds what is made of a receipt once, by whoever first asks.
#[derive(Clone, Debug)]
struct Sealed {
    id: String,
    bytes: Bytes,
}

impl Receipt {
    /// Makes a receipt; the misses may come in any order.
    pub fn new(outcome: Outcome, rules: Arc<Rules>, mut misses: Vec<MarketMiss>, made: Made, simulated: bool) -> Self {
        misses.sort_by(|a, b| (&a.venue, a.pair).cmp(&(&b.venue, b.pair)));
        Self { outcome, rules, misses, made, simulated, sealed: OnceLock::new() }
    }

    fn sealed(&self) -> &Sealed {
        self.sealed.get_or_init(|| {
            let (id, bytes) = write::sealed(self);
            Sealed { id, bytes: bytes.into() }
        })
    }

    /// Gives the id: `r1_` and 26 characters, which say by their hash that nothing of the receipt was changed.
    pub fn id(&self) -> &str {
        &self.sealed().id
    }

    /// Gives the id, where anybody has asked for that or for the bytes.
    pub fn known_id(&self) -> Option<&str> {
        self.sealed.get().map(|sealed| sealed.id.as_str())
    }

    /// Gives the receipt as JSON: keys sorted, no white space. Without `id`, every `age_ms` and every `latency_ms` it is the canonical content that the id
    /// is the hash of.
    pub fn bytes(&self) -> Bytes {
        self.sealed().bytes.clone()
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
