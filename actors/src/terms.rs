//! What a caller demands of an answer.

use crate::model::VenueId;
use std::time::Duration;

/// Holds the terms of a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How old a venue's word may be, at sending.
    pub max_age: Duration,
    /// With so many admitted quotes the round may end; `None`: wait for all.
    pub min_sources: Option<usize>,
    /// How long the caller waits; what is not there by then is a miss.
    pub deadline: Duration,
    /// Which venues.
    pub venues: VenueFilter,
    /// Whether memory will not do.
    pub fresh: bool,
}

/// Selects venues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum VenueFilter {
    /// All that are there.
    #[default]
    All,
    /// These alone.
    Only(Vec<VenueId>),
    /// All but these.
    Except(Vec<VenueId>),
}

impl VenueFilter {
    /// Tells whether it lets a venue through.
    pub fn allows(&self, venue: &VenueId) -> bool {
        match self {
            Self::All => true,
            Self::Only(these) => these.contains(venue),
            Self::Except(these) => !these.contains(venue),
        }
    }
}
