//! The world: every venue's desk, the market behind them, and the faults that are set. Shared by whoever serves it.

use super::{
    active::{Active, Faults, ListedFault},
    answer::answer,
    desk::Desk,
    faults::{FaultError, FaultSpec},
    listing::{every_pair, listed_by},
    market::{Control, Market, MarketError, Snapshot},
    noise::{hash, hash_text, unit},
    reply::Reply,
    stats::{Connection, VenueStats},
};
use crate::{
    model::{Pair, Ticker, UnixMs, VenueId},
    venue::Venue,
    venues::VENUES,
};
use rust_decimal::Decimal;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::watch;

/// Holds what a world is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Two worlds of one seed say the same.
    pub seed: u64,
    /// How much faster than the wall clock the market moves, 0 to 1000.
    pub speed: f64,
    /// The shortest and the longest time that a venue takes to answer; between them it is log-uniform.
    pub latency: (Duration, Duration),
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 1, speed: 1.0, latency: (Duration::from_millis(50), Duration::from_millis(300)) }
    }
}

/// Says why options were refused.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum OptionsError {
    /// The speed is out of range.
    #[error("speed {0}: expected 0 to 1000")]
    Speed(f64),
    /// The latency is no range, or too long.
    #[error("latency {0:?} to {1:?}: expected a shortest and a longest, at most 60 s")]
    Latency(Duration, Duration),
}

impl Options {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`OptionsError`] naming what is out of range.
    pub fn check(&self) -> Result<(), OptionsError> {
        let (shortest, longest) = self.latency;
        if !(0.0..=1000.0).contains(&self.speed) {
            return Err(OptionsError::Speed(self.speed));
        }
        if shortest > longest || longest > Duration::from_secs(60) {
            return Err(OptionsError::Latency(shortest, longest));
        }
        Ok(())
    }
}

/// Holds the simulated world.
#[derive(Debug)]
pub struct World {
    options: Options,
    desks: Vec<Arc<Desk>>,
    state: Mutex<State>,
    changes: watch::Sender<u64>,
}

#[derive(Debug)]
struct State {
    market: Market,
    faults: Faults,
    /// What the market said last: under load many requests fall into one millisecond.
    last: Option<Snapshot>,
}

impl State {
    fn at(&mut self, now: UnixMs) -> Snapshot {
        match self.last {
            Some(at) if at.now == now => at,
            _ => *self.last.insert(self.market.at(now)),
        }
    }
}

/// Holds the true prices at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truth {
    /// The instant.
    pub as_of: UnixMs,
    /// Whether the market stands still.
    pub frozen: bool,
    /// The true mid of each pair.
    pub prices: BTreeMap<Pair, Decimal>,
}

impl World {
    /// Makes a world of all built-in venues that starts at a wall time.
    ///
    /// # Errors
    /// [`OptionsError`] where an option is out of range.
    pub fn new(options: Options, start: UnixMs) -> Result<Arc<Self>, OptionsError> {
        Self::of(VENUES, options, start)
    }

    /// Makes a world of these venues.
    ///
    /// # Errors
    /// [`OptionsError`] where an option is out of range.
    pub fn of(venues: &[&'static dyn Venue], options: Options, start: UnixMs) -> Result<Arc<Self>, OptionsError> {
        options.check()?;
        let desks = venues.iter().map(|venue| Arc::new(Desk::new(*venue, options.seed))).collect();
        let state = State { market: Market::new(options.seed, options.speed, start), faults: Faults::default(), last: None };
        Ok(Arc::new(Self { options, desks, state: Mutex::new(state), changes: watch::Sender::new(0) }))
    }

    /// Gives the ids of the venues.
    pub fn venues(&self) -> impl Iterator<Item = &VenueId> {
        self.desks.iter().map(|desk| &desk.name)
    }

    /// Gives the pairs that a venue lists, with its spelling of each; none for a venue that is not there.
    pub fn listed(&self, venue: &str) -> impl Iterator<Item = (Pair, &str)> {
        self.desk(venue).into_iter().flat_map(|desk| desk.listings.iter().map(|l| (l.pair, l.symbol.as_str())))
    }

    /// Answers a request of one venue: `target` is its own path with the query, without scheme and host.
    pub fn respond(&self, venue: &str, target: &str, now: UnixMs) -> Reply {
        let Some(desk) = self.desk(venue) else { return Reply::text(404, "no such venue") };
        let number = desk.stats.request(target, now);
        let (at, met) = self.seen(desk, number, now);
        let mut reply = answer(desk, &desk.asked(target), &at, &met);
        reply.delay = reply.delay.saturating_add(self.latency(desk, number));
        reply
    }

    /// Sets faults, all or none, and gives their numbers.
    ///
    /// # Errors
    /// [`FaultError`] of the first one that is refused.
    pub fn add_faults(&self, specs: Vec<FaultSpec>, now: UnixMs) -> Result<Vec<u64>, FaultError> {
        for spec in &specs {
            self.check(spec)?;
        }
        let ids = self.state().faults.add(specs, now);
        self.changed();
        ids
    }

    /// Removes one fault, or all, and counts what was removed.
    pub fn remove_faults(&self, id: Option<u64>) -> usize {
        let removed = self.state().faults.remove(id);
        self.changed();
        removed
    }

    /// Lists the faults that act or wait.
    pub fn faults(&self, now: UnixMs) -> Vec<ListedFault> {
        self.state().faults.list(now)
    }

    /// Tells whether a venue refuses connections, and when that may change if nobody sets or removes a fault.
    pub fn refused(&self, venue: &str, now: UnixMs) -> (bool, Option<UnixMs>) {
        self.state().faults.refused(venue, now)
    }

    /// Gives a receiver that is told whenever faults are set or removed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Freezes, thaws, and sets prices.
    ///
    /// # Errors
    /// [`MarketError`] naming the value that was refused.
    pub fn control(&self, control: &Control, now: UnixMs) -> Result<(), MarketError> {
        let mut state = self.state();
        state.last = None;
        state.market.control(control, now)
    }

    /// Gives the market at one instant.
    pub fn market(&self, now: UnixMs) -> Snapshot {
        self.state().at(now)
    }

    /// Gives what a venue says of a pair when the market is so and no fault acts; `None` where it does not list it.
    pub fn ticker(&self, venue: &str, pair: &Pair, at: &Snapshot) -> Option<Ticker> {
        self.desk(venue)?.listings.iter().find(|listing| listing.pair == *pair).map(|listing| listing.ticker(at))
    }

    /// Gives the true prices at one instant.
    pub fn truth(&self, now: UnixMs) -> Truth {
        let (at, frozen) = {
            let mut state = self.state();
            (state.at(now), state.market.is_frozen())
        };
        let prices = every_pair().into_iter().filter_map(|pair| Some((pair, at.prices.mid(&pair)?))).collect();
        Truth { as_of: now, frozen, prices }
    }

    /// Counts a connection of a venue as open for as long as the value lives; `None` for a venue that is not there.
    pub fn connect(&self, venue: &str) -> Option<Connection> {
        self.desk(venue).map(Connection::open)
    }

    /// Gives what each venue counted.
    pub fn stats(&self, now: UnixMs) -> BTreeMap<String, VenueStats> {
        self.desks.iter().map(|desk| (desk.id().to_owned(), desk.stats.read(now))).collect()
    }

    /// Starts counting anew.
    pub fn reset_stats(&self) {
        self.desks.iter().for_each(|desk| desk.stats.reset());
    }

    fn desk(&self, venue: &str) -> Option<&Arc<Desk>> {
        self.desks.iter().find(|desk| desk.id() == venue)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code that holds the lock panics; were it so, the state is still whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    fn seen(&self, desk: &Desk, number: u64, now: UnixMs) -> (Snapshot, Vec<Arc<Active>>) {
        let mut state = self.state();
        (state.at(now), state.faults.met(self.options.seed, desk.id(), number, now))
    }

    fn latency(&self, desk: &Desk, number: u64) -> Duration {
        let (shortest, longest) = self.options.latency;
        if shortest == longest {
            return shortest;
        }
        let draw = unit(hash(&[self.options.seed, hash_text(desk.id()), number, LATENCY]));
        // From zero no logarithm leads up: a tenth of a millisecond is the least.
        let low = shortest.as_secs_f64().max(1e-4);
        let high = longest.as_secs_f64().max(low);
        Duration::try_from_secs_f64(low * (high / low).powf(draw)).unwrap_or(longest)
    }

    fn check(&self, spec: &FaultSpec) -> Result<(), FaultError> {
        spec.check()?;
        if spec.venue != "*" && self.desk(&spec.venue).is_none() {
            return Err(FaultError::Venue(spec.venue.chars().take(40).collect()));
        }
        let listed = |pair: &Pair| if spec.venue == "*" { every_pair().contains(pair) } else { listed_by(&spec.venue).contains(pair) };
        match spec.pair.filter(|pair| !listed(pair)) {
            Some(pair) => Err(FaultError::Pair { pair, venue: spec.venue.clone() }),
            None => Ok(()),
        }
    }
}

/// Tells the draws of latencies apart from those of shares.
const LATENCY: u64 = 0x006C_6174_656E_6379;
