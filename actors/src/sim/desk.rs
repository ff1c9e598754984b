//! One simulated venue: what it lists, and which of its endpoints a request asks.

use super::{
    listing::{Listing, listed_by},
    stats::Stats,
};
use crate::{
    model::VenueId,
    venue::{Endpoint, Reach, Row, Venue, route},
};
use std::{collections::HashMap, fmt, slice};

/// Writes rows in a venue's dialect.
pub(super) type Encode = fn(&[Row<'_>]) -> String;

/// A venue with its place in the market.
pub(super) struct Desk {
    pub(super) venue: &'static dyn Venue,
    pub(super) name: VenueId,
    pub(super) listings: Vec<Listing>,
    pub(super) stats: Stats,
    by_symbol: HashMap<String, usize>,
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Tells what a request asks for.
pub(super) enum Asked<'d> {
    /// These listings, written so.
    Rows(Vec<&'d Listing>, Encode),
    /// A symbol that the venue does not list.
    Unlisted(String),
    /// The path that opens a connection ahead.
    WarmUp,
    /// Nothing that there is.
    Nothing,
}

impl Desk {
    pub(super) fn new(venue: &'static dyn Venue, seed: u64) -> Self {
        let id = venue.profile().id;
        let listings: Vec<_> = listed_by(id).into_iter().map(|pair| Listing::new(seed, id, pair, venue.spell(&pair))).collect();
        let mut by_symbol = HashMap::new();
        for (at, listing) in listings.iter().enumerate() {
            by_symbol.extend(venue.aliases(&listing.pair).into_iter().map(|alias| (alias, at)));
            by_symbol.insert(listing.symbol.clone(), at);
        }
        Self { venue, name: VenueId::new(id), listings, stats: Stats::default(), by_symbol }
    }

    pub(super) fn id(&self) -> &str {
        self.name.as_str()
    }

    /// Finds what a path with its query asks for. Endpoints that are only read have no answer here.
    pub(super) fn asked(&self, target: &str) -> Asked<'_> {
        let profile = self.venue.profile();
        match find(profile.endpoints, target) {
            Some((encode, Reach::All, _)) => Asked::Rows(self.listings.iter().collect(), encode),
            Some((encode, _, symbols)) => self.rows(encode, symbols),
            None if path_of(target) == path_of(profile.warm_up) => Asked::WarmUp,
            None => Asked::Nothing,
        }
    }

    fn rows(&self, encode: Encode, symbols: Vec<String>) -> Asked<'_> {
        let mut rows = Vec::with_capacity(symbols.len());
        for symbol in symbols {
            match self.by_symbol.get(&symbol).and_then(|at| self.listings.get(*at)) {
                Some(listing) => rows.push(listing),
                None => return Asked::Unlisted(symbol),
            }
        }
        Asked::Rows(rows, encode)
    }
}

/// Routes among the endpoints that can be written, those that name symbols first.
fn find(endpoints: &'static [Endpoint], target: &str) -> Option<(Encode, Reach, Vec<String>)> {
    let named = endpoints.iter().filter(|e| e.reach != Reach::All);
    let all = endpoints.iter().filter(|e| e.reach == Reach::All);
    named.chain(all).find_map(|endpoint| {
        let encode = endpoint.encode?;
        let (_, symbols) = route(slice::from_ref(endpoint), target)?;
        Some((encode, endpoint.reach, symbols))
    })
}

fn path_of(target: &str) -> &str {
    target.split('?').next().unwrap_or_default().trim_end_matches('/')
}
