//! The actor that scatters and gathers: callers of one pair share a round, each is answered by his own terms, stragglers are kept, changes are published.

mod messages;
mod pairs;
mod subscribers;

pub(crate) use messages::{Ask, CoordinatorPort, Landed, Stop, Subscribe};
pub use messages::{AskError, QuoteUpdate};
pub(crate) use subscribers::Subscribers;

use crate::{
    board::{Board, Published, Render, Standing, assemble},
    engine::PairConfig,
    exchange::{self, Cell, Fetch},
    gather::{End, Round, Waiter},
    hash::{SmallMap, SmallSet},
    meter::{Promise, Promised, promise},
    model::{Fault, Outcome, Pair, Reason},
    rate::{AdmissionRules, admit},
    terms::{Terms, VenueFilter},
};
use actix::prelude::*;
use pairs::PairState;
use std::{cmp::Reverse, sync::Arc, time::Duration};
use tokio::time::Instant;

/// Answers one caller.
pub(crate) type Reply = Promise<Result<Arc<Published>, AskError>>;

/// Holds what the coordinator goes by.
#[derive(Clone)]
pub(crate) struct Settings {
    /// The terms under which views are published.
    pub(crate) terms: Terms,
    pub(crate) rules: AdmissionRules,
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
    subscribers: Arc<Subscribers>,
    pairs: SmallMap<Pair, PairState>,
    changed: SmallSet<Pair>,
    flush_due: bool,
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
        subscribers: Arc<Subscribers>,
        configured: &[PairConfig],
    ) -> Self {
        board.reserve(&configured.iter().map(|config| config.pair).collect::<Vec<_>>());
        let state = |config: &PairConfig| (config.pair, PairState::new(&venues, Some(&config.venues), &board, config.pair));
        let mut pairs: SmallMap<Pair, PairState> = configured.iter().map(state).collect();
        for (number, cell) in venues.iter().enumerate() {
            for (pair, quote) in cell.last().iter() {
                let state = pairs.entry(*pair).or_insert_with(|| PairState::new(&venues, None, &board, *pair));
                state.learn(number, &Ok(Arc::clone(quote)), quote.received);
            }
        }
        Self {
            settings,
            venues,
            board,
            subscribers,
            pairs,
            changed: SmallSet::default(),
            flush_due: false,
            skew_ms: None,
            second: (Instant::now(), 0),
        }
    }

    /// Takes in what became of asking a venue for a pair.
    fn learn(&mut self, ctx: &mut Context<Self>, venue: usize, pair: Pair, outcome: &Outcome, now: Instant) {
        let Some(state) = self.pairs.get_mut(&pair) else { return };
        state.learn(venue, outcome, now);
        self.changed.insert(pair);
        if !self.flush_due {
            self.flush_due = true;
            // Runs once the mailbox is empty: what came together is published together.
            ctx.spawn(actix::fut::ready(()).map(|(), act: &mut Self, _| act.flush()));
        }
    }

    fn flush(&mut self) {
        self.flush_due = false;
        let now = Instant::now();
        for pair in std::mem::take(&mut self.changed) {
            self.publish(pair, now);
        }
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
        self.subscribers.tell(&pair, &published);
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
        self.board.remove(&pair);
        for port in self.venues.iter().filter_map(|cell| cell.port.load_full()) {
            // A full mailbox only means that the pair's spelling is kept a while longer.
            port.try_send(exchange::Drop(pair)).ok();
        }
    }

    /// Joins or begins the pair's round; `None` where memory satisfies the caller.
    fn begin(&mut self, ctx: &mut Context<Self>, pair: Pair, terms: Terms, reply: Reply) -> Result<(), (AskError, Reply)> {
        let now = Instant::now();
        let ids: Vec<bool> = self.venues.iter().map(|cell| terms.venues.allows(&cell.id)).collect();
        let (venues, rounds_per_s) = (self.venues.len(), self.settings.rounds_per_s);
        let second = if now.saturating_duration_since(self.second.0) >= Duration::from_secs(1) { (now, 0) } else { self.second };
        let (rules, as_of) = (self.rules(), self.board.clock.at(now));
        let spent = second.1 >= rounds_per_s;
        let wait = Duration::from_secs(1).saturating_sub(now.saturating_duration_since(second.0));
        if spent && !self.pairs.contains_key(&pair) && self.settings.on_demand_max > 0 {
            // It needs a round for certain: no other pair is forgotten for one that is refused.
            return Err((AskError::TooManyRounds { retry_after: wait }, reply));
        }
        let state = match self.pair_state(pair, now) {
            Ok(state) => state,
            Err(error) => return Err((error, reply)),
        };
        let needs = state.needs(now, &terms, &ids, |slot, quote| admit(quote, &slot.member, now, as_of, &rules).is_ok());
        if needs.is_empty() {
            let answer = self.answer(pair, &terms, None, now);
            reply.keep(answer);
            return Ok(());
        }
        let begins = state.round.is_none();
        if begins && spent {
            return Err((AskError::TooManyRounds { retry_after: wait }, reply));
        }
        let round = state.round.get_or_insert_with(|| Round::begin(venues));
        // What is in the air is joined; the venues' budgets bound how often those are asked that have answered already.
        let mut to_ask: Vec<usize> = needs.iter().copied().filter(|venue| round.ask(*venue)).collect();
        // The round ends with the slowest, so that one is asked first.
        to_ask.sort_by_key(|venue| Reverse(state.slots.get(*venue).and_then(|slot| slot.quote.as_ref()).map(|quote| quote.latency)));
        self.second = (second.0, second.1.saturating_add(u32::from(begins)));
        let deadline = now.checked_add(terms.deadline).unwrap_or(now);
        if let Some(round) = self.pairs.get_mut(&pair).and_then(|s| s.round.as_mut()) {
            round.join(Waiter { reply, terms, joined: now, deadline, needs });
        }
        for venue in to_ask {
            self.scatter(ctx, pair, venue, deadline);
        }
        self.set_alarm(ctx, pair, now);
        Ok(())
    }

    fn scatter(&mut self, ctx: &mut Context<Self>, pair: Pair, venue: usize, deadline: Instant) {
        let Some(cell) = self.venues.get(venue) else { return };
        let sent = cell
            .port
            .load_full()
            .ok_or_else(|| cell.why_gone())
            .and_then(|port| port.send(Fetch { pair, deadline }).map_err(|_| Reason::Overloaded));
        match sent {
            Ok(request) => {
                let gathered = request.into_actor(self).map(move |outcome, act, ctx| {
                    act.gathered(
                        ctx,
                        pair,
                        venue,
                        outcome.unwrap_or_else(|_| Err(Arc::new(Fault::new(Reason::Restarting, "the exchange's actor ended")))),
                    );
                });
                ctx.spawn(gathered);
            }
            Err(reason) => {
                let fault = Arc::new(Fault::new(reason, "its actor cannot be asked now"));
                ctx.spawn(actix::fut::ready(()).map(move |(), act: &mut Self, ctx| act.gathered(ctx, pair, venue, Err(fault))));
            }
        }
    }

    fn gathered(&mut self, ctx: &mut Context<Self>, pair: Pair, venue: usize, outcome: Outcome) {
        let now = Instant::now();
        if outcome.as_ref().is_err_and(|fault| fault.reason == Reason::NotAwaited) {
            // The exchange found that caller's time over, which says nothing of the venue. Who has more time has it asked for himself.
            let round = self.pairs.get(&pair).and_then(|s| s.round.as_ref());
            if let Some(deadline) = round.and_then(|round| round.awaited_until(venue)).filter(|until| *until > now) {
                self.scatter(ctx, pair, venue, deadline);
                return;
            }
        } else {
            self.learn(ctx, venue, pair, &outcome, now);
        }
        if let Some(round) = self.pairs.get_mut(&pair).and_then(|s| s.round.as_mut()) {
            round.arrived(venue, now);
        }
        self.settle(ctx, pair, now);
    }

    /// Answers the callers whose wait is over.
    fn settle(&mut self, ctx: &mut Context<Self>, pair: Pair, now: Instant) {
        let rules = self.rules();
        let Some(state) = self.pairs.get_mut(&pair) else { return };
        let Some(mut round) = state.round.take() else { return };
        let (venues, clock) = (&self.venues, &self.board.clock);
        let done = round.finished(now, |waiter| {
            let standings =
                state.standings_for(now, &waiter.terms, Some(waiter.joined), venues).filter(|(.., s)| matches!(s, Standing::Row(_)));
            assemble(pair, standings, now, clock.at(now), &rules).rows.iter().filter(|r| r.refused.is_none()).count()
        });
        let over = round.is_over();
        state.round = Some(round);
        if !done.is_empty() && self.changed.remove(&pair) {
            self.publish(pair, now);
        }
        let mut made: Vec<(Terms, End, Result<Arc<Published>, AskError>)> = Vec::new();
        // Those who asked under the same terms and are answered at the same moment get the same answer, made once: for who came last, as to him the least is
        // fresh.
        for (Waiter { reply, terms, joined, .. }, end) in done.into_iter().rev() {
            let known = made.iter().find(|(t, e, _)| *t == terms && *e == end).map(|(.., answer)| answer.clone());
            let answer = known.unwrap_or_else(|| {
                let answer = self.answer(pair, &terms, Some((end, joined)), now);
                made.push((terms, end, answer.clone()));
                answer
            });
            reply.keep(answer);
        }
        if over {
            if let Some(state) = self.pairs.get_mut(&pair) {
                state.round = None;
            }
        } else {
            self.set_alarm(ctx, pair, now);
        }
    }

    /// Wakes when the next caller must be answered.
    fn set_alarm(&mut self, ctx: &mut Context<Self>, pair: Pair, now: Instant) {
        let Some(state) = self.pairs.get_mut(&pair) else { return };
        let Some(due) = state.round.as_ref().and_then(Round::next_deadline) else { return };
        if state.alarm.is_some_and(|at| at > now && at <= due) {
            return;
        }
        state.alarm = Some(due);
        ctx.run_later(due.saturating_duration_since(now), move |act, ctx| act.settle(ctx, pair, Instant::now()));
    }

    /// Makes a caller's answer of what is at hand. `end` is how his wait ended and when it began; `None` when he did not wait.
    fn answer(&self, pair: Pair, terms: &Terms, end: Option<(End, Instant)>, now: Instant) -> Result<Arc<Published>, AskError> {
        let state = self.pairs.get(&pair).ok_or(AskError::UnknownPair)?;
        if let (Some((_, joined)), VenueFilter::All) = (end, &terms.venues)
            && let Some(view) = state.seen_by(joined, now, self.settings.terms.max_age)
        {
            return Ok(Arc::new(Published::new(view, false, self.settings.render.clone())));
        }
        let missing = Arc::new(match end {
            Some((End::Enough, _)) | None => Fault::new(Reason::NotAwaited, "enough venues had answered"),
            _ => Fault::new(Reason::Timeout, format!("no answer within {} ms", terms.deadline.as_millis())),
        });
        let mut some_unlisted = false;
        let standings = state.standings_for(now, terms, end.map(|(_, joined)| joined), &self.venues).map(|(member, standing)| {
            some_unlisted |= matches!(standing, Standing::Unlisted);
            let standing = if matches!(standing, Standing::Unknown) { Standing::Miss(Arc::clone(&missing), now) } else { standing };
            (member, standing)
        });
        let mut view = assemble(pair, standings, now, self.board.clock.at(now), &self.rules());
        if view.asked() == 0 && some_unlisted && terms.venues == VenueFilter::All {
            return Err(AskError::UnknownPair);
        }
        view.sequence = state.sequence;
        Ok(Arc::new(Published::new(view, end.is_none(), self.settings.render.clone())))
    }

    /// Publishes what time alone has changed, and looks at the clock.
    fn tick(&mut self) {
        self.board.clock.check();
        self.skew_ms = crate::engine::skew_ms(&self.venues);
        let (now, max_age, rules) = (Instant::now(), self.settings.terms.max_age, self.rules());
        let as_of = self.board.clock.at(now);
        let aged = self.pairs.iter().filter(|(_, state)| state.has_aged(now, as_of, max_age, &rules));
        let due: Vec<Pair> = aged.map(|(pair, _)| *pair).collect();
        due.into_iter().for_each(|pair| self.publish(pair, now));
    }
}

impl Actor for Coordinator {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        let pairs: Vec<Pair> = self.pairs.keys().copied().collect();
        let now = Instant::now();
        pairs.into_iter().for_each(|pair| self.publish(pair, now));
        ctx.run_interval(Duration::from_secs(1), |act, _| act.tick());
    }
}

impl Handler<Ask> for Coordinator {
    type Result = Promised<Result<Arc<Published>, AskError>>;

    fn handle(&mut self, Ask { pair, terms }: Ask, ctx: &mut Self::Context) -> Self::Result {
        let (reply, answer) = promise();
        if let Err((error, reply)) = self.begin(ctx, pair, terms, reply) {
            reply.keep(Err(error));
        }
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

impl Handler<Stop> for Coordinator {
    type Result = ();

    fn handle(&mut self, _: Stop, ctx: &mut Self::Context) {
        ctx.terminate();
    }
}

crate::metered!(Coordinator: Ask, Landed, Subscribe, Stop);
