//! What outlives an exchange actor: its settings, last quotes and history, readable without asking the actor.

use super::Exchange;
use crate::{
    breaker::Breaker,
    clock::Clock,
    hash::SmallMap,
    meter::{Buckets, Meter, Port},
    model::{Fault, Pair, Quote, Reason, UnixMs, VenueId},
    rate::AdmissionRules,
    venue::{Budget, Member, Region, Venue},
};
use arc_swap::ArcSwapOption;
use serde::Serialize;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// The bounds under which the time that answers take is counted, in microseconds: from a venue next door to the end of our patience.
const LATENCY_US: &[u64] =
    &[5_000, 10_000, 25_000, 50_000, 75_000, 100_000, 150_000, 200_000, 300_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000];
/// The same kind of fault of a venue is logged once in so long.
const LOG_EVERY: Duration = Duration::from_secs(10);

/// Holds what a user sets about a venue, beside the venue itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VenueConfig {
    /// Another address than the venue's own: scheme, host, and possibly a path.
    pub origin: Option<String>,
    /// Other mirrors than the venue's own.
    pub mirrors: Option<Vec<String>>,
    /// How often to poll.
    pub poll: Option<Duration>,
    /// How much may be asked, where that differs from what the venue publishes: one agreed with it, or of a simulation that has none.
    pub budget: Option<Budget>,
    /// How long a fetch may take in all.
    pub fetch_timeout: Option<Duration>,
    /// Who runs it, where that differs from the venue's own word: all venues of one operator have one vote.
    pub operator: Option<String>,
    /// The region whose capital controls wall it off, where that differs.
    pub region: Option<Region>,
}

/// Holds what every incarnation of an exchange actor shares.
pub(crate) struct Cell {
    pub(crate) id: VenueId,
    pub(crate) venue: Arc<dyn Venue>,
    /// What of it decides how its quotes count.
    pub(crate) member: Arc<Member>,
    /// The addresses, first choice first.
    pub(crate) origins: Vec<String>,
    pub(crate) poll: Duration,
    pub(crate) budget: Budget,
    pub(crate) fetch_timeout: Duration,
    pub(crate) pairs: Arc<[Pair]>,
    /// Whether requests are sent that nobody asked for: a connection opened ahead, and polling.
    pub(crate) background: bool,
    /// What a quote must pass for its time to count against older ones.
    pub(crate) rules: AdmissionRules,
    pub(crate) meter: Arc<Meter>,
    pub(crate) clock: Clock,
    pub(crate) port: ArcSwapOption<Port<Exchange>>,
    last: Mutex<SmallMap<Pair, Arc<Quote>>>,
    /// Kept beside the actor: a venue that said wait means it whoever asks next.
    breaker: Mutex<Breaker>,
    facts: Mutex<Facts>,
    logged: Mutex<HashMap<Reason, (Instant, u64)>>,
    /// How long answers took.
    pub(crate) latency: Buckets,
}

/// Tells in one word how a venue is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VenueState {
    /// Nothing is known yet.
    Starting,
    /// The last request was answered.
    Up,
    /// The last request failed.
    Failing,
    /// It failed too often and is left alone for a while.
    BreakerOpen,
    /// It said that it will not answer for a while.
    RateLimited,
    /// An operator paused it.
    Paused,
    /// Its actor died and is being rebuilt.
    Restarting,
    /// Its actor died too often and rests.
    Parked,
}

impl VenueState {
    /// Every state.
    pub const ALL: [Self; 8] =
        [Self::Starting, Self::Up, Self::Failing, Self::BreakerOpen, Self::RateLimited, Self::Paused, Self::Restarting, Self::Parked];

    /// Gives the word for it.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Up => "up",
            Self::Failing => "failing",
            Self::BreakerOpen => "breaker_open",
            Self::RateLimited => "rate_limited",
            Self::Paused => "paused",
            Self::Restarting => "restarting",
            Self::Parked => "parked",
        }
    }
}

/// Holds what happened so far.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) state: VenueState,
    pub(crate) since: UnixMs,
    pub(crate) since_instant: Instant,
    pub(crate) restarts: u64,
    pub(crate) paused: bool,
    /// Whether an operator has ended the actor, who is then the cause of its restart.
    pub(crate) ended: bool,
    /// How often its connections were dropped for new ones.
    pub(crate) reconnects: u64,
    pub(crate) requests: u64,
    pub(crate) answers: u64,
    pub(crate) faults: HashMap<Reason, u64>,
    pub(crate) last_answer: Option<UnixMs>,
    pub(crate) last_fault: Option<(UnixMs, Arc<Fault>)>,
    /// How far the venue's `Date` header was ahead of our clock.
    pub(crate) ahead_ms: Option<i64>,
    /// When the venue's budget is whole again, as of the last request.
    pub(crate) budget_full_at: Option<Instant>,
    /// How long the whole budget takes to come back.
    pub(crate) budget_full_for: Duration,
    /// When the last quote came in.
    pub(crate) last_quote: Option<Instant>,
    pub(crate) plan: PlanFacts,
}

/// Holds how a venue is polled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PlanFacts {
    /// The paths of one cycle: the first few.
    pub requests: Vec<String>,
    /// How many requests a cycle has.
    pub request_count: usize,
    /// What a cycle weighs in the venue's budget.
    pub weight: u32,
    /// How long a cycle takes.
    pub interval_ms: u64,
    /// The share of the budget that this takes, in thousandths.
    pub budget_share_permille: u64,
}

impl Cell {
    #[expect(clippy::too_many_arguments, reason = "each is a field")]
    pub(crate) fn new(
        id: VenueId,
        venue: Arc<dyn Venue>,
        config: &VenueConfig,
        poll: Duration,
        fetch_timeout: Duration,
        pairs: Arc<[Pair]>,
        meter: Arc<Meter>,
        clock: Clock,
    ) -> Self {
        let origin = config.origin.clone().unwrap_or_else(|| venue.origin().to_owned());
        // Mirrors of the venue's own are no mirrors of another address.
        let own_mirrors = if config.origin.is_some() { &[] } else { venue.profile().mirrors };
        let mirrors = config.mirrors.clone().unwrap_or_else(|| own_mirrors.iter().map(|m| (*m).to_owned()).collect());
        let facts = Facts {
            state: VenueState::Starting,
            since: clock.now(),
            since_instant: Instant::now(),
            restarts: 0,
            paused: false,
            ended: false,
            reconnects: 0,
            requests: 0,
            answers: 0,
            faults: HashMap::new(),
            last_answer: None,
            last_fault: None,
            ahead_ms: None,
            budget_full_at: None,
            budget_full_for: Duration::ZERO,
            last_quote: None,
            plan: PlanFacts::default(),
        };
        let fetch_timeout = config.fetch_timeout.unwrap_or(fetch_timeout);
        let own = Member::of(id.clone(), venue.profile());
        let operator = config.operator.as_deref().map_or(Arc::clone(&own.operator), Arc::from);
        let member = Arc::new(Member { operator, region: config.region.or(own.region), ..own });
        Self {
            id,
            member,
            origins: std::iter::once(origin).chain(mirrors).collect(),
            poll: config.poll.unwrap_or(poll),
            budget: config.budget.unwrap_or(venue.profile().budget),
            fetch_timeout,
            venue,
            pairs,
            background: true,
            rules: AdmissionRules::default(),
            meter,
            clock,
            port: ArcSwapOption::empty(),
            last: Mutex::default(),
            breaker: Mutex::new(Breaker::new(fastrand::u64(..), fetch_timeout)),
            facts: Mutex::new(facts),
            logged: Mutex::default(),
            latency: Buckets::new(LATENCY_US),
        }
    }

    /// Gives an address by its number; the first is the origin.
    pub(crate) fn origin(&self, number: usize) -> &str {
        self.origins.get(number).map_or("", String::as_str)
    }

    /// Gives the last quotes. A panic elsewhere cannot leave them half written: they are replaced whole.
    pub(crate) fn last(&self) -> MutexGuard<'_, SmallMap<Pair, Arc<Quote>>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the breaker.
    pub(crate) fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells why there is no actor to ask.
    pub(crate) fn why_gone(&self) -> Reason {
        if self.facts().state == VenueState::Parked { Reason::Parked } else { Reason::Restarting }
    }

    /// Notes a change of state; the time of the last real change stays.
    pub(crate) fn set_state(&self, state: VenueState) {
        let mut facts = self.facts();
        if facts.state != state {
            facts.state = state;
            (facts.since, facts.since_instant) = (self.clock.now(), Instant::now());
        }
        drop(facts);
        self.meter.set_state(state.slug());
    }
}

impl Cell {
    /// Logs a fault, at most once for each kind in ten seconds, with how many went unsaid meanwhile.
    pub(crate) fn log_fault(&self, now: Instant, fault: &Fault) {
        self.meter.note_error(&fault.to_string());
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        match logged.get_mut(&fault.reason) {
            Some((at, unsaid)) if now.saturating_duration_since(*at) < LOG_EVERY => *unsaid = unsaid.saturating_add(1),
            known => {
                let unsaid = known.map_or(0, |(_, unsaid)| *unsaid);
                // That a venue lacks a pair is no fault of anybody's.
                let level = if fault.reason == Reason::Unlisted { log::Level::Debug } else { log::Level::Warn };
                log::log!(level, "{}: {fault}{}", self.id, if unsaid > 0 { format!(" ({unsaid} more like it)") } else { String::new() });
                logged.insert(fault.reason, (now, 0));
            }
        }
    }
}

impl Facts {
    pub(crate) fn count_fault(&mut self, now: UnixMs, fault: &Arc<Fault>) {
        let count = self.faults.entry(fault.reason).or_default();
        *count = count.saturating_add(1);
        self.last_fault = Some((now, Arc::clone(fault)));
    }
}
