//! The latest of every pair, readable without a lock: slots as the coordinator keeps them, and views as it publishes them.

use crate::{
    clock::Clock,
    hash::SmallMap,
    model::{Fault, Outcome, Pair, Quote, Reason, UnixMs},
    rate::{AdmissionRules, Memory, Receipt, admit, best_ask, best_bid},
    terms::{Terms, VenueFilter},
    venue::Member,
    view::{Miss, View, ViewRow},
};
use arc_swap::{ArcSwap, ArcSwapOption};
use bytes::Bytes;
use std::{
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::time::Instant;

/// How long a venue's word that it does not list a pair is believed.
pub const UNLISTED_FOR: Duration = Duration::from_secs(600);

/// Holds what is known of one venue for one pair: the last quote, and what became of the last asking.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) member: Arc<Member>,
    pub(crate) quote: Option<Arc<Quote>>,
    /// Why the last asking gave no quote; `None` after one that did.
    pub(crate) fault: Option<Arc<Fault>>,
    /// When the last asking came to its end.
    pub(crate) learnt: Option<Instant>,
    /// Whether the configuration leaves the venue out of this pair.
    pub(crate) left_out: bool,
}

/// Tells what a slot has to say under a caller's terms.
#[derive(Clone, Debug)]
pub(crate) enum Standing {
    Row(Arc<Quote>),
    Miss(Arc<Fault>, Instant),
    /// The venue lacks the pair, or the pair leaves it out: it is not asked.
    Unlisted,
    /// Nothing that is recent enough.
    Unknown,
}

impl Slot {
    pub(crate) fn new(member: Arc<Member>, left_out: bool) -> Self {
        Self { member, quote: None, fault: None, learnt: None, left_out }
    }

    /// Takes in what became of an asking.
    pub(crate) fn learn(&mut self, outcome: &Outcome, now: Instant) {
        match outcome {
            // An answer that comes by a longer way than the one after it changes nothing.
            Ok(quote) if self.quote.as_ref().is_some_and(|kept| kept.received > quote.received) => {}
            Ok(quote) => {
                self.fault = None;
                self.learnt = Some(quote.received);
                self.quote = Some(Arc::clone(quote));
            }
            Err(fault) => {
                self.fault = Some(Arc::clone(fault));
                self.learnt = Some(now);
            }
        }
    }

    /// Tells whether the venue is known to lack the pair, or is left out of it.
    pub(crate) fn is_unlisted(&self, now: Instant) -> bool {
        if self.left_out {
            return true;
        }
        let said = self.fault.as_ref().is_some_and(|f| f.reason == Reason::Unlisted);
        said && self.learnt.is_some_and(|at| now.saturating_duration_since(at) < UNLISTED_FOR)
    }

    /// Tells what it has to say when nothing may be older than `max_age`, but for what was learnt `since` the caller came; to one who wants it `fresh` nothing else will do.
    pub(crate) fn standing(&self, now: Instant, max_age: Duration, since: Option<Instant>, fresh: bool) -> Standing {
        if self.is_unlisted(now) {
            return Standing::Unlisted;
        }
        let recent = |at: Instant| !fresh && now.saturating_duration_since(at) <= max_age || since.is_some_and(|start| at >= start);
        let Some(learnt) = self.learnt.filter(|at| recent(*at)) else { return Standing::Unknown };
        // A venue that may not be asked just now keeps its word while that is young enough, even for one who wants it fresh.
        let excused = self.fault.as_ref().is_some_and(|f| f.reason == Reason::OverBudget);
        let fits = |q: &Quote| recent(q.received) || excused && now.saturating_duration_since(q.received) <= max_age;
        match (self.quote.as_ref().filter(|q| fits(q)), &self.fault) {
            (Some(quote), _) => Standing::Row(Arc::clone(quote)),
            (None, Some(fault)) => Standing::Miss(Arc::clone(fault), learnt),
            (None, None) => Standing::Unknown,
        }
    }
}

/// Puts the standings of the asked venues together. Venues that lack the pair are not among the asked.
pub(crate) fn assemble<'a>(
    pair: Pair,
    standings: impl Iterator<Item = (&'a Arc<Member>, Standing)>,
    now: Instant,
    as_of: UnixMs,
    rules: &AdmissionRules,
) -> View {
    let mut view = View {
        pair,
        at: now,
        as_of,
        sequence: 0,
        rows: Vec::with_capacity(standings.size_hint().1.unwrap_or(0)),
        misses: Vec::new(),
        best_bid: None,
        best_ask: None,
        oldest: now,
        unknown: 0,
    };
    for (member, standing) in standings {
        match standing {
            Standing::Row(quote) => {
                view.oldest = view.oldest.min(quote.received);
                let refused = admit(&quote, member, now, as_of, rules).err();
                view.rows.push(ViewRow { quote, member: Arc::clone(member), refused });
            }
            Standing::Miss(fault, at) => {
                view.oldest = view.oldest.min(at);
                view.misses.push(Miss { venue: member.venue.clone(), fault, at });
            }
            Standing::Unknown => view.unknown = view.unknown.saturating_add(1),
            Standing::Unlisted => {}
        }
    }
    view.best_bid = best_bid(&view.rows);
    view.best_ask = best_ask(&view.rows);
    view
}

/// Makes the bytes of an answer from a view.
pub type Render = Arc<dyn Fn(&View) -> Bytes + Send + Sync>;

/// Holds a view as it is published, and its bytes, made once, by whoever first asks for them.
pub struct Published {
    /// The view.
    pub view: View,
    /// Whether nobody was asked for it.
    pub from_memory: bool,
    bytes: OnceLock<Bytes>,
    render: Option<Render>,
}

impl Published {
    pub(crate) fn new(view: View, from_memory: bool, render: Option<Render>) -> Self {
        Self { view, from_memory, bytes: OnceLock::new(), render }
    }

    /// Gives the bytes of the answer, ready to send; empty where the engine was given no [`Render`].
    pub fn bytes(&self) -> Bytes {
        self.bytes.get_or_init(|| self.render.as_ref().map(|render| render(&self.view)).unwrap_or_default()).clone()
    }
}

impl std::fmt::Debug for Published {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Published").field("view", &self.view).field("from_memory", &self.from_memory).finish_non_exhaustive()
    }
}

/// Holds a receipt as it is published.
#[derive(Debug)]
pub struct PublishedRate {
    /// The receipt.
    pub receipt: Receipt,
    /// The instant of the pass.
    pub at: Instant,
    /// When the oldest quote was received that had a part in the rate; `None` where none had.
    pub oldest: Option<Instant>,
    /// Counts the receipts of the pair since the engine started.
    pub sequence: u64,
    /// Whether it is the pair's own, made of every venue that the configuration allows; else it is one caller's.
    pub shared: bool,
    given: AtomicBool,
}

impl PublishedRate {
    pub(crate) fn new(receipt: Receipt, at: Instant, oldest: Option<Instant>, sequence: u64, shared: bool) -> Self {
        Self { receipt, at, oldest, sequence, shared, given: AtomicBool::new(false) }
    }

    /// Tells once, to who asks first, that nobody has asked before: for who keeps the receipts whose ids were given away.
    pub fn is_first_given(&self) -> bool {
        !self.given.swap(true, Relaxed)
    }

    /// Tells whether it satisfies a caller: it is made of every venue, nothing that has a part in it is older than he takes, or than what came `since` he
    /// asked where he wants it fresh, and it has as many sources as he wants.
    pub fn satisfies(&self, terms: &Terms, since: Option<Instant>, now: Instant) -> bool {
        let Some(oldest) = self.oldest else { return false };
        let recent = match since {
            Some(since) if terms.fresh => oldest >= since,
            _ => !terms.fresh && now.saturating_duration_since(oldest) <= terms.max_age,
        };
        let sources = || self.receipt.outcome.tally.survivors().len();
        // A pass that nobody has made anew lets quotes count that no longer do.
        let counts = || now.saturating_duration_since(oldest) <= self.receipt.rules.admission.max_age;
        self.shared && terms.venues == VenueFilter::All && recent && counts() && terms.min_sources.is_none_or(|wanted| sources() >= wanted)
    }
}

/// Holds the latest view and the latest rate of every pair behind atomic pointers: one for each map, one for each pair.
#[derive(Debug)]
pub(crate) struct Board {
    pub(crate) views: Places<ArcSwapOption<Published>>,
    pub(crate) rates: Places<RatePlace>,
    pub(crate) clock: Clock,
}

/// Holds the place of a pair's rate, and what its rule remembers: kept here, it outlives the actor that runs the rule.
#[derive(Debug, Default)]
pub(crate) struct RatePlace {
    pub(crate) latest: ArcSwapOption<PublishedRate>,
    pub(crate) memory: Mutex<Memory>,
}

/// Holds a place for each pair.
#[derive(Debug)]
pub(crate) struct Places<T>(ArcSwap<SmallMap<Pair, Arc<T>>>);

impl Board {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { views: Places::new(), rates: Places::new(), clock }
    }

    /// Gives the latest view of a pair.
    pub(crate) fn latest(&self, pair: &Pair) -> Option<Arc<Published>> {
        self.views.0.load().get(pair)?.load_full()
    }

    /// Gives the latest rate of a pair.
    pub(crate) fn latest_rate(&self, pair: &Pair) -> Option<Arc<PublishedRate>> {
        self.rates.0.load().get(pair)?.latest.load_full()
    }
}

impl<T: Default> Places<T> {
    fn new() -> Self {
        Self(ArcSwap::default())
    }

    /// Gives the place of a pair, made where there is none. Only the coordinator writes.
    pub(crate) fn place(&self, pair: Pair) -> Arc<T> {
        if let Some(place) = self.0.load().get(&pair) {
            return Arc::clone(place);
        }
        let place = Arc::<T>::default();
        self.0.rcu(|places| {
            let mut places = SmallMap::clone(places);
            places.entry(pair).or_insert_with(|| Arc::clone(&place));
            places
        });
        self.0.load().get(&pair).map_or(place, Arc::clone)
    }

    /// Makes places for many pairs at once: one at a time the map would be copied for each.
    pub(crate) fn reserve(&self, pairs: &[Pair]) {
        self.0.rcu(|places| {
            let mut places = SmallMap::clone(places);
            for pair in pairs {
                places.entry(*pair).or_default();
            }
            places
        });
    }

    /// Gives every pair that has a place.
    pub(crate) fn pairs(&self) -> Vec<Pair> {
        self.0.load().keys().copied().collect()
    }

    /// Gives every place.
    pub(crate) fn all(&self) -> Vec<Arc<T>> {
        self.0.load().values().cloned().collect()
    }

    /// Forgets a pair.
    pub(crate) fn remove(&self, pair: &Pair) {
        self.0.rcu(|places| {
            let mut places = SmallMap::clone(places);
            places.remove(pair);
            places
        });
    }
}
