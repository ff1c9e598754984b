//! What one venue says about one pair.

use super::{Amount, Fault, Pair, Price, UnixMs};
use std::{fmt, sync::Arc, time::Duration};
use tokio::time::Instant;

/// Names a venue: its id, shared and cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VenueId(Arc<str>);

impl VenueId {
    /// Makes an id of its text.
    pub fn new(id: &str) -> Self {
        Self(id.into())
    }

    /// Gives the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for VenueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for VenueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Holds what a venue's answer says about one pair, decoded in one pass. A `None` is what the venue does not say.
///
/// Prices are in the quote asset, sizes and `base_volume` in the base asset, volumes of the venue's day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticker {
    /// The best bid.
    pub bid: Option<Price>,
    /// The best ask.
    pub ask: Option<Price>,
    /// What is bid for at the best bid, where the venue says that (not a sum over levels).
    pub bid_size: Option<Amount>,
    /// What is offered at the best ask.
    pub ask_size: Option<Amount>,
    /// The price of the last trade.
    pub last: Option<Price>,
    /// The day's highest price.
    pub high: Option<Price>,
    /// The day's lowest price.
    pub low: Option<Price>,
    /// The price at the start of the venue's day.
    pub open: Option<Price>,
    /// The day's volume in the base asset.
    pub base_volume: Option<Amount>,
    /// The day's volume in the quote asset.
    pub quote_volume: Option<Amount>,
    /// The venue's own time; what it is the time of stands in the venue's profile.
    pub venue_time: Option<UnixMs>,
    /// Whether the venue marks the market as not trading.
    pub halted: bool,
}

/// Tells which way a quote came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Asked for over HTTP.
    Rest,
}

impl Source {
    /// Every way.
    pub const ALL: [Self; 1] = [Self::Rest];

    /// Gives the word for it.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Rest => "rest",
        }
    }
}

/// Holds a ticker with where, when and how fast it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// The venue that said it.
    pub venue: VenueId,
    /// The pair in question.
    pub pair: Pair,
    /// The venue's own spelling of the pair.
    pub symbol: Arc<str>,
    /// What it said.
    pub ticker: Ticker,
    /// When it was received, monotonic: ages are taken from this.
    pub received: Instant,
    /// When it was received, by the wall clock.
    pub received_time: UnixMs,
    /// From the request's start to the whole answer.
    pub latency: Duration,
    /// Which way it came.
    pub source: Source,
}

/// What became of asking one venue for one pair.
pub type Outcome = Result<Arc<Quote>, Arc<Fault>>;
