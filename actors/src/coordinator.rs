//! The actor that scatters and gathers: callers of one pair share a round, each is answered by his own terms, stragglers are kept, changes are published.

mod doubt;
mod ends;
mod hurry;
mod messages;
mod pairs;
mod rates;
mod rounds;
mod subscribers;
mod tallies;

pub(crate) use messages::{Ask, AskRate, CoordinatorPort, Landed, Stop, Subscribe, SubscribeRate};
pub use messages::{AskError, QuoteUpdate, RateUpdate};
pub(crate) use subscribers::Subscribers;
pub use tallies::Tallied;
pub(crate) use tallies::Tallies;

use crate::{
    board::{Board, Published, PublishedRate, Render, assemble},
    engine::PairConfig,
    exchange::{self, Cell},
    hash::{SmallMap, SmallSet},
    meter::{Promise, Promised, promise},
    model::{Outcome, Pair},
    rate::{self, AdmissionRules},
    terms::Terms,
};
use actix::prelude::*;
use hurry::Hurried;
use pairs::PairState;
use rates::{RateState, RateWait};
use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// Answers one caller who asks for quotes.
pub(crate) type QuoteReply = Promise<Result<Arc<Published>, AskError>>;
/// Answers one caller who asks for a rate.
pub(crate) type RateReply = Promise<Result<Arc<PublishedRate>, AskError>>;

/// Tells who waits for a round: a caller, or the rate that one waits for, by its key.
pub(crate) enum Reply {
    Quote(QuoteReply),
    Rate(u64),
}

/// Holds what the coordinator goes by.
#[derive(Clone)]
pub(crate) struct Settings {
    /// The terms under which views are published.
    pub(crate) terms: Terms,
    pub(crate) rules: AdmissionRules,
    /// From these every pair's rule follows.
    pub(crate) rates: Arc<rate::Settings>,
    /// Whether the quotes come from a simulation.
    pub(crate) simulated: bool,
    pub(crate) render: Option<Render>,
    /// Whether pairs are served that are not configured, and how many of them are kept.
    pub(crate) on_demand_max: usize,
    pub(crate) rounds_per_s: u32,
}

/// Scatters and gathers.
pub(crate) struct Coordinator {
    settings: Settings,
    venues: Arc<[Arc<Cell>]>,
    board: Arc<Board>,
    subscribers: Arc<Subscribers<QuoteUpdate>>,
    rate_subscribers: Arc<Subscribers<RateUpdate>>,
    tallies: Arc<Tallies>,
    pairs: SmallMap<Pair, PairState>,
    rates: SmallMap<Pair, RateState>,
    /// By market, the pairs whose rates it feeds.
    feeds: SmallMap<Pair, Vec<Pair>>,
    /// Who waits for a rate, by a key of ours.
    waits: SmallMap<u64, RateWait>,
    next_wait: u64,
    changed: SmallSet<Pair>,
    changed_rates: SmallSet<Pair>,
    flush_due: bool,
    /// Which conversions are asked for ahead of their turn.
    hurried: Hurried,
    /// How far the venues' clocks are ahead of ours, as of the last tick.
    skew_ms: Option<i64>,
    /// When the second began in which rounds are being counted, and how many began in it.
    second: (Instant, u32),
}

impl Coordinator {
    /// Builds the actor; what the exchanges still hold of an earlier life is taken up.
    pub(crate) fn new(
        settings: Settings,
        venues: Arc<[Arc<Cell>]>,
        board: Arc<Board>,
        (subscribers, rate_subscribers): (Arc<Subscribers<QuoteUpdate>>, Arc<Subscribers<RateUpdate>>),
        tallies: Arc<Tallies>,
        configured: &[PairConfig],
    ) -> Self {
        board.views.reserve(&configured.iter().map(|config| config.pair).collect::<Vec<_>>());
        let state = |config: &PairConfig| (config.pair, PairState::new(&venues, Some(&config.venues), &board, config.pair));
        let mut pairs: SmallMap<Pair, PairState> = configured.iter().map(state).collect();
        for (number, cell) in venues.iter().enumerate() {
            for (pair, quote) in cell.last().iter() {
                let state = pairs.entry(*pair).or_insert_with(|| PairState::new(&venues, None, &board, *pair));
                state.learn(number, &Ok(Arc::clone(quote)), quote.received);
            }
        }
        let mut coordinator = Self {
            settings,
            venues,
            board,
            subscribers,
            rate_subscribers,
            tallies,
            pairs,
            rates: SmallMap::default(),
            feeds: SmallMap::default(),
            waits: SmallMap::default(),
            next_wait: 0,
            changed: SmallSet::default(),
            changed_rates: SmallSet::default(),
            flush_due: false,
            hurried: Hurried::default(),
            skew_ms: None,
            second: (Instant::now(), 0),
        };
        for config in configured {
            if let Some(own) = &config.rate {
                coordinator.follow_rate(config.pair, config.venues.clone(), own, true);
            }
        }
        coordinator
    }

    /// Takes in what became of asking a venue for a pair.
    fn learn(&mut self, ctx: &mut Context<Self>, venue: usize, pair: Pair, outcome: &Outcome, now: Instant) {
        self.watch(ctx, venue, pair, outcome, now);
        let Some(state) = self.pairs.get_mut(&pair) else { return };
        state.learn(venue, outcome, now);
        self.changed.insert(pair);
        self.changed_rates.extend(self.feeds.get(&pair).into_iter().flatten());
        if !self.flush_due {
            self.flush_due = true;
            // Runs once the mailbox is empty: what came together is published together.
            ctx.spawn(actix::fut::ready(()).map(|(), act: &mut Self, ctx| act.flush(ctx)));
        }
    }

    fn flush(&mut self, ctx: &mut Context<Self>) {
        self.flush_due = false;
        let now = Instant::now();
        for pair in std::mem::take(&mut self.changed) {
            self.publish(pair, now);
        }
        self.flush_rates(ctx, now);
    }

    /// Puts the pair's present view on the board and tells its subscribers.
    fn publish(&mut self, pair: Pair, now: Instant) {
        let settings = &self.settings;
        let as_of = self.board.clock.at(now);
        let rules = self.rules();
        let Some(state) = self.pairs.get_mut(&pair) else { return };
        let mut view = assemble(pair, state.standings(now, settings.terms.max_age), now, as_of, &rules);
        view.sequence = state.next_sequence();
        let published = Arc::new(Published::new(view, true, settings.render.clone()));
        state.publish(Arc::clone(&published));
        self.subscribers.tell(&pair, &QuoteUpdate(published));
    }

    /// Leaves the venues' times out of account while most of them say that our own clock is off.
    fn rules(&self) -> AdmissionRules {
        crate::engine::rules_under(self.settings.rules, self.skew_ms)
    }

    /// Gives the state of a pair that may not have been asked for before; of those on demand the least recently asked goes.
    fn pair_state(&mut self, pair: Pair, now: Instant) -> Result<&mut PairState, AskError> {
        if !self.pairs.contains_key(&pair) {
            if self.settings.on_demand_max == 0 {
                return Err(AskError::NotConfigured);
            }
            let demanded = self.pairs.iter().filter(|(_, s)| !s.configured);
            if demanded.clone().count() >= self.settings.on_demand_max {
                let is_idle = |pair: &Pair, s: &PairState| s.round.is_none() && !self.subscribers.listen_to(pair);
                let idle = demanded.filter(|(pair, s)| is_idle(pair, s)).min_by_key(|(_, s)| s.last_asked).map(|(pair, _)| *pair);
                self.forget(idle.ok_or(AskError::Overloaded)?);
            }
        }
        let (venues, board) = (&self.venues, &self.board);
        let state = self.pairs.entry(pair).or_insert_with(|| PairState::new(venues, None, board, pair));
        state.last_asked = now;
        Ok(state)
    }

    fn forget(&mut self, pair: Pair) {
        self.pairs.remove(&pair);
        self.board.views.remove(&pair);
        for port in self.venues.iter().filter_map(|cell| cell.port.load_full()) {
            // A full mailbox only means that the pair's spelling is kept a while longer.
            port.try_send(exchange::Drop(pair)).ok();
        }
    }

    /// Publishes what time alone has changed, and looks at the clock.
    fn tick(&mut self, ctx: &mut Context<Self>) {
        if let Some(step) = self.board.clock.check() {
            // What was a minute ago still is.
            self.board.rates.all().iter().for_each(|place| place.memory.lock().unwrap_or_else(PoisonError::into_inner).shift(step));
        }
        self.skew_ms = crate::engine::skew_ms(&self.venues);
        let (now, max_age, rules) = (Instant::now(), self.settings.terms.max_age, self.rules());
        let as_of = self.board.clock.at(now);
        let aged = self.pairs.iter().filter(|(_, state)| state.has_aged(now, as_of, max_age, &rules));
        let due: Vec<Pair> = aged.map(|(pair, _)| *pair).collect();
        due.into_iter().for_each(|pair| self.publish(pair, now));
        self.tick_rates(ctx, now);
    }
}

impl Actor for Coordinator {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        let pairs: Vec<Pair> = self.pairs.keys().copied().collect();
        let now = Instant::now();
        pairs.into_iter().for_each(|pair| self.publish(pair, now));
        ctx.run_interval(Duration::from_secs(1), |act, ctx| act.tick(ctx));
    }
}

impl Handler<Ask> for Coordinator {
    type Result = Promised<Result<Arc<Published>, AskError>>;

    fn handle(&mut self, Ask { pair, terms }: Ask, ctx: &mut Self::Context) -> Self::Result {
        let (reply, answer) = promise();
        if let Err((error, reply)) = self.begin(ctx, pair, terms, reply) {
            self.tallies.refused(&error);
            reply.keep(Err(error));
        }
        answer
    }
}

impl Handler<AskRate> for Coordinator {
    type Result = Promised<Result<Arc<PublishedRate>, AskError>>;

    fn handle(&mut self, AskRate { pair, terms }: AskRate, ctx: &mut Self::Context) -> Self::Result {
        let (reply, answer) = promise();
        self.begin_rate(ctx, pair, terms, reply);
        answer
    }
}

impl Handler<Landed> for Coordinator {
    type Result = ();

    fn handle(&mut self, Landed { venue, outcomes }: Landed, ctx: &mut Self::Context) {
        let now = Instant::now();
        for (pair, outcome) in &outcomes {
            self.learn(ctx, venue, *pair, outcome, now);
        }
    }
}

impl Handler<Subscribe> for Coordinator {
    type Result = Result<(), AskError>;

    fn handle(&mut self, Subscribe { pair, to }: Subscribe, _: &mut Self::Context) -> Self::Result {
        self.pair_state(pair, Instant::now())?;
        if self.subscribers.add(pair, to) { Ok(()) } else { Err(AskError::Overloaded) }
    }
}

impl Handler<SubscribeRate> for Coordinator {
    type Result = Result<(), AskError>;

    fn handle(&mut self, SubscribeRate { pair, to }: SubscribeRate, _: &mut Self::Context) -> Self::Result {
        self.rate_state(pair, Instant::now())?;
        if self.rate_subscribers.add(pair, to) { Ok(()) } else { Err(AskError::Overloaded) }
    }
}

impl Handler<Stop> for Coordinator {
    type Result = ();

    fn handle(&mut self, _: Stop, ctx: &mut Self::Context) {
        ctx.terminate();
    }
}

crate::metered!(Coordinator: Ask, AskRate, Landed, Subscribe, SubscribeRate, Stop);
