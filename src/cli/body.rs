//! The body of a pair's quotes, read back as far as tables show it: what a person sees is what the JSON says.

use serde::Deserialize;

/// Holds what is shown of a pair's quotes.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Body {
    pub(super) pair: String,
    pub(super) status: String,
    pub(super) as_of: String,
    pub(super) bid: Option<String>,
    pub(super) bid_size: Option<String>,
    pub(super) bid_venue: Option<String>,
    pub(super) ask: Option<String>,
    pub(super) ask_size: Option<String>,
    pub(super) ask_venue: Option<String>,
    pub(super) mid: Option<String>,
    pub(super) spread: Option<String>,
    pub(super) spread_bps: Option<String>,
    pub(super) crossed: bool,
    pub(super) venues: Counts,
    pub(super) quotes: Vec<Row>,
    pub(super) misses: Vec<MissRow>,
}

/// Counts the venues of a round.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Counts {
    pub(super) asked: usize,
    pub(super) answered: usize,
}

/// Holds what one venue said.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Row {
    pub(super) venue: String,
    pub(super) bid: Option<String>,
    pub(super) bid_size: Option<String>,
    pub(super) ask: Option<String>,
    pub(super) ask_size: Option<String>,
    pub(super) last: Option<String>,
    pub(super) age_ms: u64,
    pub(super) latency_ms: u64,
    pub(super) decision: String,
}

/// Holds why one venue said nothing.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct MissRow {
    pub(super) venue: String,
    pub(super) reason: String,
    pub(super) detail: String,
}

/// The decision of a quote that counts.
pub(super) const IN: &str = "in";
