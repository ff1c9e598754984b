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

    /// Finds what a path with its query asks for. Endpoints that are only read have no answer here. Where a path fits two endpoints, as Kraken's for one pair
    /// and for a list do, the first whose symbols are all listed is meant.
    pub(super) fn asked(&self, target: &str) -> Asked<'_> {
        let profile = self.venue.profile();
        let mut unlisted = None;
        for (encode, symbols) in fitting(profile.endpoints, target) {
            match symbols.map_or_else(|| Ok(self.listings.iter().collect()), |symbols| self.rows(symbols)) {
                Ok(rows) => return Asked::Rows(rows, encode),
                Err(symbol) => unlisted = Some(symbol),
            }
        }
        match unlisted {
            Some(symbol) => Asked::Unlisted(symbol),
            None if path_of(target) == path_of(profile.warm_up) => Asked::WarmUp,
            None => Asked::Nothing,
        }
    }

    /// Finds the listings of all symbols, or the first symbol that is not listed.
    fn rows(&self, symbols: Vec<String>) -> Result<Vec<&Listing>, String> {
        let listing = |symbol: String| self.by_symbol.get(&symbol).and_then(|at| self.listings.get(*at)).ok_or(symbol);
        symbols.into_iter().map(listing).collect()
    }
}

/// Gives the endpoints that can be written and that a target fits, with its symbols, `None` where all are asked for. A path that is an endpoint's own, letter
/// by letter, comes first, as in `route`; a parameter that names a symbol is not passed over in favour of the whole list.
fn fitting(endpoints: &'static [Endpoint], target: &str) -> impl Iterator<Item = (Encode, Option<Vec<String>>)> {
    let writable = || endpoints.iter().filter_map(|e| Some((e, e.encode?)));
    let whole = || writable().filter(|(e, _)| e.reach == Reach::All);
    let exact = whole().filter(move |(e, _)| e.path == target).map(|(_, encode)| (encode, None));
    let named = writable().filter(|(e, _)| e.reach != Reach::All);
    let mut named = exact.chain(named.filter_map(move |(e, encode)| Some((encode, Some(symbols_of(e, target)?))))).peekable();
    let rest = if named.peek().is_none() { whole().find(|(e, _)| symbols_of(e, target).is_some()) } else { None };
    named.chain(rest.map(|(_, encode)| (encode, None)))
}

fn symbols_of(endpoint: &'static Endpoint, target: &str) -> Option<Vec<String>> {
    route(slice::from_ref(endpoint), target).map(|(_, symbols)| symbols)
}

fn path_of(target: &str) -> &str {
    target.split('?').next().unwrap_or_default().trim_end_matches('/')
}
