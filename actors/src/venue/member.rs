//! What a vote needs to know of the venue behind a quote.

use super::{Basis, Profile, Region, TimeOf};
use crate::model::VenueId;
use std::sync::Arc;

/// Holds what of a venue's profile decides how its quotes count, as the configuration has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The venue.
    pub venue: VenueId,
    /// Who runs it: all venues of one operator have one vote.
    pub operator: Arc<str>,
    /// The region whose capital controls wall it off.
    pub region: Option<Region>,
    /// What its prices are made of.
    pub basis: Basis,
    /// What its time is the time of.
    pub time_of: TimeOf,
}

impl Member {
    /// Takes from a profile what counts.
    pub fn of(venue: VenueId, profile: &Profile) -> Self {
        Self { venue, operator: profile.operator.into(), region: profile.region, basis: profile.basis, time_of: profile.time_of }
    }

    /// Tells whether the venue's time says how old its price is: the time of a last trade does so only where that trade is the price.
    pub fn time_counts(&self) -> bool {
        match self.time_of {
            TimeOf::Book | TimeOf::Answer => true,
            TimeOf::Trade => self.basis == Basis::Last,
            TimeOf::None => false,
        }
    }
}
