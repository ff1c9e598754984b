//! What an engine is made of.

use super::{
    COORDINATOR_LIMITS, EXCHANGE_LIMITS, Engine,
    shared::{Home, Place, Shared},
};
use crate::{
    board::{Board, Render},
    clock::Clock,
    coordinator::{Coordinator, Settings},
    exchange::{Cell, Exchange, VenueConfig},
    meter::Registry,
    model::{Pair, PairError, VenueId},
    rate::{self, AdmissionRules, Own},
    terms::{Terms, VenueFilter},
    transport::{AwcConnect, Connect},
    venue::Venue,
    watchdog::Watchdog,
};
use actix::prelude::*;
use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::{Arc, Mutex, atomic::AtomicBool},
    time::Duration,
};

/// Configures an engine. Without venues it takes all that are built in.
pub struct Builder {
    pairs: Vec<Result<PairConfig, StartError>>,
    venues: BTreeMap<String, Arc<dyn Venue>>,
    configs: HashMap<String, VenueConfig>,
    deadline: Duration,
    max_age: Duration,
    poll: Duration,
    fetch_timeout: Duration,
    rules: AdmissionRules,
    rates: rate::Settings,
    simulated: bool,
    on_demand_max: usize,
    rounds_per_s: u32,
    render: Option<Render>,
    connect: Option<Arc<dyn Connect>>,
    clock: Option<Clock>,
    background: bool,
    /// How many arbiters; none: the current one.
    arbiters: Option<usize>,
}

/// Configures one pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairConfig {
    /// The pair.
    pub pair: Pair,
    /// Whether readiness depends on it.
    pub required: bool,
    /// How many admitted quotes it needs to be ready.
    pub quorum: usize,
    /// The venues that are asked for it, whatever a caller names; the others are neither polled for it nor waited for.
    pub venues: VenueFilter,
    /// What is its own of the rule by which its rate is made; `None`: it is quoted, and has a rate only where somebody asks for one.
    pub rate: Option<Own>,
}

/// Says why an engine does not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// There is no actix system on this thread.
    #[error("an engine starts inside an actix System, and this thread has none")]
    NoSystem,
    /// A pair cannot be read.
    #[error("pair {text:?}: {error}")]
    Pair {
        /// What was given.
        text: String,
        /// What is wrong with it.
        error: PairError,
    },
    /// A setting names a venue that is not there.
    #[error("no venue {0:?}: built in or added ones have other ids")]
    NoSuchVenue(String),
    /// TLS cannot be set up.
    #[error("tls: {0}")]
    Tls(String),
    /// No arbiter, or more than can be of use.
    #[error("{0} arbiters: 1 to 64 are possible")]
    Arbiters(usize),
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            pairs: Vec::new(),
            venues: BTreeMap::new(),
            configs: HashMap::new(),
            deadline: Duration::from_secs(1),
            max_age: Duration::from_secs(5),
            poll: Duration::from_secs(2),
            fetch_timeout: Duration::from_secs(5),
            rules: AdmissionRules::default(),
            rates: rate::Settings::default(),
            simulated: false,
            on_demand_max: 256,
            rounds_per_s: 50,
            render: None,
            connect: None,
            clock: None,
            background: true,
            arbiters: Some(1),
        }
    }
}

impl Builder {
    /// Adds pairs by name, such as `BTC-USDT`: they are polled. A name that cannot be read fails the start.
    #[must_use]
    pub fn pairs<T: AsRef<str>>(self, names: impl IntoIterator<Item = T>) -> Self {
        self.named(names, None)
    }

    /// Adds pairs by name of which a rate is kept, too: besides a pair itself everything is polled that its rate is made of, [`rate::Settings::markets`]
    /// says what. A name that cannot be read fails the start.
    #[must_use]
    pub fn rates<T: AsRef<str>>(self, names: impl IntoIterator<Item = T>) -> Self {
        self.named(names, Some(&Own::default()))
    }

    fn named<T: AsRef<str>>(mut self, names: impl IntoIterator<Item = T>, rate: Option<&Own>) -> Self {
        self.pairs.extend(names.into_iter().map(|name| {
            let text = name.as_ref();
            let pair = text.parse().map_err(|error| StartError::Pair { text: text.to_owned(), error })?;
            Ok(PairConfig { pair, required: true, quorum: 1, venues: VenueFilter::All, rate: rate.cloned() })
        }));
        self
    }

    /// Adds a pair.
    #[must_use]
    pub fn pair(mut self, config: PairConfig) -> Self {
        self.pairs.push(Ok(config));
        self
    }

    /// Adds a venue, built in or your own. One of the same id takes the place of an earlier.
    #[must_use]
    pub fn venue(mut self, venue: impl Venue) -> Self {
        self.venues.insert(venue.profile().id.to_owned(), Arc::new(venue));
        self
    }

    /// Sets what is particular to one venue.
    #[must_use]
    pub fn venue_config(mut self, id: &str, config: VenueConfig) -> Self {
        self.configs.insert(id.to_owned(), config);
        self
    }

    /// Sets how long a caller waits who says nothing: 1 s unless set.
    #[must_use]
    pub fn deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// Sets how old an answer from memory may be for a caller who says nothing: 5 s unless set.
    #[must_use]
    pub fn max_age(self, max_age: Duration) -> Self {
        Self { max_age, ..self }
    }

    /// Sets how often pairs are polled, where the venue's budget allows that: 2 s unless set.
    #[must_use]
    pub fn poll(self, poll: Duration) -> Self {
        Self { poll, ..self }
    }

    /// Sets how long one fetch may take, whoever waits for it: 5 s unless set.
    #[must_use]
    pub fn fetch_timeout(self, fetch_timeout: Duration) -> Self {
        Self { fetch_timeout, ..self }
    }

    /// Sets the rules of admission.
    #[must_use]
    pub fn rules(self, rules: AdmissionRules) -> Self {
        Self { rules, ..self }
    }

    /// Sets what every pair's rule follows from; its rules of admission are those of [`Builder::rules`].
    #[must_use]
    pub fn rate_settings(self, rates: rate::Settings) -> Self {
        Self { rates, ..self }
    }

    /// Sets whether receipts say that the quotes come from a simulation: no unless set.
    #[must_use]
    pub fn simulated(self, simulated: bool) -> Self {
        Self { simulated, ..self }
    }

    /// Sets how many pairs are kept that are asked for without being configured; 0: none is served.
    #[must_use]
    pub fn on_demand(self, pairs_max: usize) -> Self {
        Self { on_demand_max: pairs_max, ..self }
    }

    /// Sets how many rounds may begin within a second: 50 unless set.
    #[must_use]
    pub fn rounds_per_s(self, rounds_per_s: u32) -> Self {
        Self { rounds_per_s, ..self }
    }

    /// Sets how views become bytes.
    #[must_use]
    pub fn render(self, render: Render) -> Self {
        Self { render: Some(render), ..self }
    }

    /// Sets the way to the venues: sockets unless set.
    #[must_use]
    pub fn connect(self, connect: Arc<dyn Connect>) -> Self {
        Self { connect: Some(connect), ..self }
    }

    /// Sets the clock: a new one unless set.
    #[must_use]
    pub fn clock(self, clock: Clock) -> Self {
        Self { clock: Some(clock), ..self }
    }

    /// Sets whether venues are asked without anybody asking: a connection opened ahead, and polling. Without it, rounds alone ask: for who asks once and
    /// ends. True unless set.
    #[must_use]
    pub fn background(self, background: bool) -> Self {
        Self { background, ..self }
    }

    /// Runs the actors on so many threads of their own: 1 unless set. More pay only past one core of work.
    #[must_use]
    pub fn arbiters(self, count: usize) -> Self {
        Self { arbiters: Some(count), ..self }
    }

    /// Runs the actors on the thread that starts the engine.
    #[must_use]
    pub fn here(self) -> Self {
        Self { arbiters: None, ..self }
    }

    /// Starts the actors.
    ///
    /// # Errors
    /// [`StartError`] outside an actix `System`, and for a setting that cannot be.
    pub fn start(mut self) -> Result<Engine, StartError> {
        if System::try_current().is_none() {
            return Err(StartError::NoSystem);
        }
        if self.venues.is_empty() {
            self = crate::venues::VENUES.iter().fold(self, |builder, venue| builder.venue(*venue));
        }
        if let Some(unknown) = self.configs.keys().find(|id| !self.venues.contains_key(*id)) {
            return Err(StartError::NoSuchVenue(unknown.clone()));
        }
        let places = places(self.arbiters)?;
        let mut pairs = distinct(std::mem::take(&mut self.pairs))?;
        let rates = rate::Settings { admission: self.rules, ..std::mem::take(&mut self.rates) };
        follow(&mut pairs, &rates);
        let (registry, clock) = (Registry::default(), self.clock.take().unwrap_or_else(Clock::start));
        let coordinator_meter = registry.meter::<Coordinator>("coordinator", COORDINATOR_LIMITS);
        if let Some(unknown) = unknown_venue(&pairs, |id| self.venues.contains_key(id)) {
            return Err(StartError::NoSuchVenue(unknown));
        }
        let mut same: Arc<[Pair]> = Arc::default();
        let cells = self.venues.iter().map(|(id, venue)| {
            let meter = registry.meter::<Exchange>(&format!("exchange/{id}"), EXCHANGE_LIMITS);
            let config = self.configs.get(id).cloned().unwrap_or_default();
            let id = VenueId::new(id);
            let names: Vec<Pair> = pairs.iter().filter(|p| p.venues.allows(&id)).map(|p| p.pair).collect();
            // Most venues have the same pairs: they share one list.
            if *same != *names {
                same = names.into();
            }
            let names = Arc::clone(&same);
            let mut cell = Cell::new(id, Arc::clone(venue), &config, self.poll, self.fetch_timeout, names, meter, clock.clone());
            (cell.background, cell.rules) = (self.background, self.rules);
            Arc::new(cell)
        });
        let terms = Terms { max_age: self.max_age, min_sources: None, deadline: self.deadline, venues: VenueFilter::All, fresh: false };
        let connect: Arc<dyn Connect> = match self.connect.take() {
            Some(connect) => connect,
            None => Arc::new(AwcConnect::new([]).map_err(|error| StartError::Tls(error.to_string()))?),
        };
        let cells = cells.collect();
        let shared = Arc::new(Shared {
            venues: cells,
            subscribers: Arc::default(),
            rate_subscribers: Arc::default(),
            coordinator: Arc::default(),
            coordinator_meter,
            tallies: Arc::default(),
            board: Arc::new(Board::new(clock)),
            settings: Settings {
                terms,
                rules: self.rules,
                rates: Arc::new(rates),
                simulated: self.simulated,
                render: self.render,
                on_demand_max: self.on_demand_max,
                rounds_per_s: self.rounds_per_s,
            },
            pairs,
            connect,
            places,
            boot: format!("{:04x}", fastrand::u16(..)),
            stopping: AtomicBool::new(false),
            registry,
        });
        shared.start_coordinator(false);
        (0..shared.venues.len()).for_each(|number| shared.start_exchange(number, false));
        Watchdog::new(Arc::clone(&shared)).start();
        Ok(Engine { shared })
    }
}

/// Gives the pairs, each once; the first of the same counts.
fn distinct(configs: Vec<Result<PairConfig, StartError>>) -> Result<Vec<PairConfig>, StartError> {
    let mut pairs: Vec<PairConfig> = Vec::with_capacity(configs.len());
    let mut seen = HashSet::new();
    for config in configs {
        let config = config?;
        if seen.insert(config.pair) {
            pairs.push(config);
        }
    }
    Ok(pairs)
}

fn unknown_venue(pairs: &[PairConfig], is_known: impl Fn(&str) -> bool) -> Option<String> {
    let named = pairs.iter().flat_map(|config| match &config.venues {
        VenueFilter::All => [].as_slice(),
        VenueFilter::Only(ids) | VenueFilter::Except(ids) => ids.as_slice(),
    });
    named.map(VenueId::as_str).find(|id| !is_known(id)).map(ToOwned::to_owned)
}

/// Adds the markets that the rates of the pairs are made of, and that are not among them.
fn follow(pairs: &mut Vec<PairConfig>, rates: &rate::Settings) {
    let known: Vec<Pair> = pairs.iter().map(|config| config.pair).collect();
    let rated = pairs.iter().filter(|config| config.rate.is_some()).map(|config| config.pair);
    let follow = |pair| PairConfig { pair, required: false, quorum: 1, venues: VenueFilter::All, rate: None };
    let followed: Vec<PairConfig> = rates.followed(rated, &known).into_iter().map(follow).collect();
    pairs.extend(followed);
}

fn places(arbiters: Option<usize>) -> Result<Vec<Place>, StartError> {
    let place = |home| Place { arbiter: Mutex::new(home), scratch: Arc::default() };
    match arbiters {
        None => Ok(vec![place(Home::Here(Arbiter::current()))]),
        Some(count @ 1..=64) => Ok((0..count).map(|_| place(Home::Own(Arbiter::new()))).collect()),
        Some(count) => Err(StartError::Arbiters(count)),
    }
}
