//! The venues that are benched, under no budget, and what they answer.

use quorate_actors::{
    model::{Amount, Fault, Pair, Price, Ticker, UnixMs},
    venue::{Body, Budget, Endpoint, Profile, Reach, Row, Sink, Venue, route},
    venues::VENUES,
};
use std::{slice, time::Duration};

/// A built-in venue under an id of its own, which may be asked as often as a bench likes.
pub struct Copied {
    pub inner: &'static dyn Venue,
    profile: Profile,
}

impl Venue for Copied {
    fn profile(&self) -> &Profile {
        &self.profile
    }
    fn spell(&self, pair: &Pair) -> String {
        self.inner.spell(pair)
    }
    fn aliases(&self, pair: &Pair) -> Vec<String> {
        self.inner.aliases(pair)
    }
    fn read_symbol(&self, symbol: &str) -> Option<Pair> {
        self.inner.read_symbol(symbol)
    }
    fn decode(&self, endpoint: &Endpoint, body: &mut Body<'_>, sink: Sink<'_>) -> Result<(), Fault> {
        self.inner.decode(endpoint, body, sink)
    }
    fn said(&self, status: u16, body: &[u8]) -> Option<Fault> {
        self.inner.said(status, body)
    }
}

/// Gives `count` venues: the built-in ones, again and again, each time under other ids.
pub fn venues(count: usize) -> Vec<Copied> {
    let budget = Budget { weight: u32::MAX, per: Duration::from_secs(1) };
    let copied = |(at, inner): (usize, &&'static dyn Venue)| {
        let profile = inner.profile();
        let id = format!("{}{:02}", profile.id, at / VENUES.len()).leak();
        Copied { inner: *inner, profile: Profile { id, budget, ..*profile } }
    };
    VENUES.iter().cycle().enumerate().take(count).map(copied).collect()
}

pub fn pair() -> Pair {
    Pair::new("BTC", "USDT").unwrap()
}

/// A ticker with every field, of the usual lengths.
pub fn ticker(venue_time: UnixMs) -> Ticker {
    let price = |text| Price::parse(text).unwrap();
    let amount = |text| Amount::parse(text).unwrap();
    Ticker {
        bid: price("67234.12"),
        ask: price("67234.13"),
        bid_size: amount("3.14159"),
        ask_size: amount("0.27182"),
        last: price("67234.12"),
        high: price("68100.5"),
        low: price("66010.01"),
        open: price("66999.99"),
        base_volume: amount("12345.6789"),
        quote_volume: amount("830123456.78"),
        venue_time: Some(venue_time),
        halted: false,
    }
}

/// Finds what a path asks for, among the endpoints that can be written.
pub fn asked(endpoints: &'static [Endpoint], target: &str) -> Option<&'static Endpoint> {
    let named = endpoints.iter().filter(|e| e.reach != Reach::All);
    let all = endpoints.iter().filter(|e| e.reach == Reach::All);
    named.chain(all).find(|e| e.encode.is_some() && route(slice::from_ref(e), target).is_some())
}

/// Writes a venue's answer to a path: the pair's row where an endpoint is asked, else an empty object (to the warm-up).
pub fn body(venue: &dyn Venue, target: &str, now: UnixMs) -> String {
    let (pair, ticker) = (pair(), ticker(now));
    let symbol = venue.spell(&pair);
    let row = Row { symbol: &symbol, pair: &pair, ticker: &ticker };
    let encode = asked(venue.profile().endpoints, target).and_then(|e| e.encode);
    encode.map_or_else(|| "{}".to_owned(), |encode| encode(&[row]))
}
