//! The pairs that one venue is asked for: their spelling, and whether it is known to list them.

use crate::{board::UNLISTED_FOR, hash::SmallMap, model::Pair, plan::Wanted, venue::Venue};
use std::sync::Arc;
use tokio::time::Instant;

/// Holds the pairs of a venue by number, pair and spelling. Numbers stay valid until their pair is removed.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    entries: Vec<Option<Entry>>,
    by_pair: SmallMap<Pair, usize>,
    by_symbol: SmallMap<Arc<str>, usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) pair: Pair,
    pub(crate) symbol: Arc<str>,
    /// Whether it is polled, or only fetched when somebody asks.
    pub(crate) polled: bool,
    known: Known,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Unproven,
    Listed,
    Unlisted(Instant),
}

impl Listing {
    /// Makes room for so many pairs at once: what grows leaves memory behind that nobody uses.
    pub(crate) fn with_room(pairs: usize) -> Self {
        let (mut by_pair, mut by_symbol) = (SmallMap::default(), SmallMap::default());
        by_pair.reserve(pairs);
        by_symbol.reserve(pairs);
        Self { entries: Vec::with_capacity(pairs), by_pair, by_symbol }
    }

    /// Adds a pair, or gives the number that it has; a polled one stays polled.
    pub(crate) fn add(&mut self, venue: &dyn Venue, pair: Pair, polled: bool) -> usize {
        if let Some(at) = self.by_pair.get(&pair) {
            if let Some(Some(entry)) = self.entries.get_mut(*at) {
                entry.polled |= polled;
            }
            return *at;
        }
        let symbol: Arc<str> = venue.spell(&pair).into();
        let entry = Entry { pair, symbol: Arc::clone(&symbol), polled, known: Known::Unproven };
        let at = self.entries.iter().position(Option::is_none).unwrap_or(self.entries.len());
        match self.entries.get_mut(at) {
            Some(free) => *free = Some(entry),
            None => self.entries.push(Some(entry)),
        }
        self.by_pair.insert(pair, at);
        for spelling in venue.aliases(&pair).into_iter().map(Arc::from).chain([symbol]) {
            self.by_symbol.insert(spelling, at);
        }
        at
    }

    /// Removes a pair that is not polled; tells whether it did.
    pub(crate) fn remove(&mut self, pair: &Pair) -> bool {
        let Some(at) = self.number_of_pair(pair) else { return false };
        if self.get(at).is_some_and(|e| e.polled) {
            return false;
        }
        self.by_pair.remove(pair);
        self.by_symbol.retain(|_, number| *number != at);
        if let Some(entry) = self.entries.get_mut(at) {
            *entry = None;
        }
        true
    }

    pub(crate) fn number_of_pair(&self, pair: &Pair) -> Option<usize> {
        self.by_pair.get(pair).copied()
    }

    pub(crate) fn get(&self, at: usize) -> Option<&Entry> {
        self.entries.get(at)?.as_ref()
    }

    /// Gives how many numbers are in use or were.
    pub(crate) fn size(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn number_of(&self, symbol: &str) -> Option<usize> {
        self.by_symbol.get(symbol).copied()
    }

    /// Gives the pairs that are worth polling now: polled, and not known to be unlisted.
    pub(crate) fn to_poll(&self, now: Instant) -> Vec<Wanted> {
        self.numbered()
            .filter(|(_, e)| e.polled && !e.is_unlisted(now))
            .map(|(pair, e)| Wanted { pair, proven: e.known == Known::Listed })
            .collect()
    }

    /// Gives what a plan needs to know of one pair.
    pub(crate) fn wanted(&self, at: usize) -> Option<Wanted> {
        self.get(at).map(|e| Wanted { pair: at, proven: e.known == Known::Listed })
    }

    /// Gives every pair with its number.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (usize, &Entry)> {
        self.entries.iter().enumerate().filter_map(|(at, entry)| Some((at, entry.as_ref()?)))
    }

    /// Notes that the venue lists a pair; tells whether that is news.
    pub(crate) fn prove(&mut self, at: usize) -> bool {
        self.set(at, Known::Listed)
    }

    /// Notes that it is open whether the venue lists a pair; tells whether that is news.
    pub(crate) fn doubt(&mut self, at: usize) -> bool {
        self.set(at, Known::Unproven)
    }

    /// Notes that the venue lacks a pair; tells whether that is news.
    pub(crate) fn miss(&mut self, at: usize, now: Instant) -> bool {
        let until = now.checked_add(UNLISTED_FOR).unwrap_or(now);
        let was = self.get(at).is_some_and(|e| e.is_unlisted(now));
        self.set(at, Known::Unlisted(until)) && !was
    }

    fn set(&mut self, at: usize, known: Known) -> bool {
        match self.entries.get_mut(at) {
            Some(Some(entry)) => std::mem::replace(&mut entry.known, known) != known,
            _ => false,
        }
    }
}

impl Entry {
    /// Tells whether the venue is known to lack it.
    pub(crate) fn is_unlisted(&self, now: Instant) -> bool {
        matches!(self.known, Known::Unlisted(until) if now < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::venues::by_id;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn pairs_are_found_by_every_spelling_and_forgotten_whole() {
        let (kraken, mut listing, now) = (by_id("kraken").unwrap(), Listing::default(), Instant::now());
        let (btc, eth) = (Pair::new("BTC", "USD").unwrap(), Pair::new("ETH", "USD").unwrap());
        let at = listing.add(kraken, btc, false);
        assert_eq!(listing.add(kraken, btc, false), at);
        for spelling in ["XBTUSD", "XXBTZUSD", "BTC/USD"] {
            assert_eq!(listing.number_of(spelling), Some(at), "{spelling}");
        }
        let polled = listing.add(kraken, eth, true);
        listing.remove(&eth);
        assert!(listing.get(polled).is_some(), "a polled pair stays");
        listing.remove(&btc);
        assert_eq!((listing.number_of("XBTUSD"), listing.numbered().count()), (None, 1));
        assert_eq!(listing.add(kraken, btc, false), at, "its number is used again");

        assert!(listing.miss(polled, now) && listing.to_poll(now).is_empty());
        assert!(!listing.miss(polled, now), "no news");
        assert_eq!(listing.to_poll(now + UNLISTED_FOR + Duration::from_secs(1)).len(), 1, "asked again after ten minutes");
        assert!(listing.prove(polled) && !listing.prove(polled));
    }
}
