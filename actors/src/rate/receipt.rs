//! The receipt: a rate with everything that led to it, as one JSON object whose id is the hash of what it says.

mod at;
mod body;
mod quoted;
mod read;
mod rows;
mod section;
mod tree;
mod verify;
mod write;

pub(super) use quoted::Quoted;
pub use read::{ReadError, Reading};
pub use verify::{Difference, Verified, verify};

use super::{Outcome, Row, Rules};
use crate::model::{Fault, Pair, VenueId};
use bytes::Bytes;
use std::sync::{Arc, OnceLock};

/// Holds a pass with all that it was asked for and went by. Its bytes and its id are made when somebody first asks for them, and kept.
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

/// Holds a finished body with its id.
#[derive(Clone, Debug)]
struct Sealed {
    id: String,
    bytes: Bytes,
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

impl Receipt {
    /// Makes the receipt of a pass; the misses are sorted here where they are not.
    pub fn new(outcome: Outcome, rules: Arc<Rules>, mut misses: Vec<MarketMiss>, made: Made, simulated: bool) -> Self {
        let in_order = |a: &MarketMiss, b: &MarketMiss| (&a.venue, a.pair) <= (&b.venue, b.pair);
        if !misses.is_sorted_by(in_order) {
            misses.sort_by(|a, b| (&a.venue, a.pair).cmp(&(&b.venue, b.pair)));
        }
        Self { outcome, rules, misses, made, simulated, sealed: OnceLock::new() }
    }

    /// Gives the id: `r1_` and 26 characters, the hash of everything in the body but the id itself, latencies and ages.
    pub fn id(&self) -> &str {
        &self.sealed().id
    }

    /// Gives the id if the receipt has been written already.
    pub fn known_id(&self) -> Option<&str> {
        self.sealed.get().map(|sealed| sealed.id.as_str())
    }

    /// Gives the body: one JSON object, its keys sorted, without white space.
    pub fn bytes(&self) -> Bytes {
        self.sealed().bytes.clone()
    }

    fn sealed(&self) -> &Sealed {
        self.sealed.get_or_init(|| {
            let (id, bytes) = body::written(self).sealed();
            Sealed { id, bytes: bytes.into() }
        })
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

    /// Reads what went into a receipt from its body, or from an answer that has it under `receipt`.
    ///
    /// # Errors
    /// [`ReadError`] naming what is not as a receipt has it.
    pub fn read(body: &[u8]) -> Result<Reading, ReadError> {
        read::reading(&read::tree(body)?)
    }
}
