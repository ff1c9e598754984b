//! What every asked venue says about a pair at one instant: the answer to a caller, as a value.

use crate::{
    model::{Fault, Pair, Quote, Reason, UnixMs, VenueId},
    venue::Member,
};
use rust_decimal::Decimal;
use std::sync::Arc;
use tokio::time::Instant;

/// Answers for every venue that was asked for a pair: each is a row or a miss, so that `rows + misses == asked`.
#[derive(Clone, Debug)]
pub struct View {
    /// The pair.
    pub pair: Pair,
    /// The instant of the view; ages in it are taken at this.
    pub at: Instant,
    /// The same by the wall clock.
    pub as_of: UnixMs,
    /// Counts the changes of this pair since the engine started.
    pub sequence: u64,
    /// The quotes, sorted by venue id.
    pub rows: Vec<ViewRow>,
    /// The venues without a quote, sorted by venue id.
    pub misses: Vec<Miss>,
    /// The row with the best bid among those admitted.
    pub best_bid: Option<usize>,
    /// The row with the best ask among those admitted.
    pub best_ask: Option<usize>,
    /// When the oldest of what is said here was learnt (a quote received, a miss found).
    pub oldest: Instant,
    /// Counts the venues of which nothing recent enough is known: such a view satisfies nobody's terms, and no answer has one.
    pub unknown: usize,
}

/// Holds one venue's quote with what admission decided.
#[derive(Clone, Debug)]
pub struct ViewRow {
    /// The quote.
    pub quote: Arc<Quote>,
    /// What of the venue decides how it counts.
    pub member: Arc<Member>,
    /// Why it does not count; `None` when it is in.
    pub refused: Option<Reason>,
}

/// Holds why a venue that was asked gave no quote.
#[derive(Clone, Debug)]
pub struct Miss {
    /// The venue.
    pub venue: VenueId,
    /// Why.
    pub fault: Arc<Fault>,
    /// When that was found.
    pub at: Instant,
}

impl View {
    /// Gives the row with the best bid.
    pub fn bid(&self) -> Option<&ViewRow> {
        self.rows.get(self.best_bid?)
    }

    /// Gives the row with the best ask.
    pub fn ask(&self) -> Option<&ViewRow> {
        self.rows.get(self.best_ask?)
    }

    /// Gives the middle of best bid and best ask, exact.
    pub fn mid(&self) -> Option<Decimal> {
        Some(self.bid()?.quote.ticker.bid?.mid(self.ask()?.quote.ticker.ask?))
    }

    /// Counts the venues asked.
    pub fn asked(&self) -> usize {
        self.rows.len().saturating_add(self.misses.len())
    }
}
