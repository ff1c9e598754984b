//! The actor of one venue: its reused client, its last quotes, one flight for whoever asks, its budget and its breaker.

mod cell;
mod flight;
mod landing;
mod listing;

pub(crate) use cell::Cell;
pub use cell::{PlanFacts, VenueConfig, VenueState};

use crate::{
    breaker::Breaker,
    budget::{Allowance, Purpose},
    coordinator::{CoordinatorPort, Landed},
    mirrors::Mirrors,
    model::{Fault, Outcome, Pair, Quote, Reason, Source},
    plan::{Plan, Planned, Wanted, plan},
    transport::{Connect, Limits, Transport},
    venue::{Reach, Scratch, TimeOf},
};
use actix::prelude::*;
use flight::{Flight, Flown, Leg};
use listing::Listing;
use std::{
    collections::HashMap,
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{sync::oneshot, time::Instant};

/// Idle connections are kept so long at least; after more, a warm-up goes ahead of the next request.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(90);

/// Asks an exchange for a pair: joins a flight under way or starts one.
pub(crate) struct Fetch {
    pub(crate) pair: Pair,
    /// The caller's deadline: what cannot be in by then is not started.
    pub(crate) deadline: Instant,
}

impl Message for Fetch {
    type Result = Outcome;
}

/// Drops a pair that was served on demand.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Drop(pub(crate) Pair);

/// Tells an exchange actor what to do, on behalf of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub enum Control {
    /// Sends no request until resumed; what is in the air may land.
    Pause,
    /// Ends a pause.
    Resume,
    /// Ends the actor; the watchdog builds a new one.
    Restart,
    /// Unwinds inside the handler as a bug would, to rehearse the recovery.
    RehearsePanic,
    /// Stops the actor's arbiter with all that run on it, to rehearse the recovery.
    RehearseArbiterLoss,
}

/// Runs one venue.
pub(crate) struct Exchange {
    cell: Arc<Cell>,
    number: usize,
    coordinator: CoordinatorPort,
    transport: Rc<dyn Transport>,
    scratch: Arc<Mutex<Scratch>>,
    mirrors: Mirrors,
    breaker: Breaker,
    budget: Rc<Allowance>,
    listing: Listing,
    plan: Plan,
    interval: Duration,
    next: usize,
    cycles: u64,
    flights: HashMap<u64, Flight>,
    flights_begun: u64,
    pending: Vec<(usize, oneshot::Sender<Outcome>)>,
    last_sent: Option<Instant>,
    unsent: Vec<(Pair, Outcome)>,
    urls: HashMap<(usize, usize, usize), Rc<str>>,
}

impl Exchange {
    /// Builds the actor on the thread that it will run on.
    pub(crate) fn new(
        cell: Arc<Cell>,
        number: usize,
        coordinator: CoordinatorPort,
        connect: &dyn Connect,
        scratch: Arc<Mutex<Scratch>>,
    ) -> Self {
        let profile = cell.venue.profile();
        let limits = Limits { venue: cell.id.clone(), body_max: profile.body_max };
        let heaviest = profile.endpoints.iter().flat_map(|e| e.weight).map(|(_, weight)| *weight).max().unwrap_or(1);
        let mut listing = Listing::default();
        for pair in &cell.pairs {
            listing.add(cell.venue.as_ref(), *pair, true);
        }
        // What was quoted before a restart is listed.
        for pair in cell.last().keys() {
            let at = listing.add(cell.venue.as_ref(), *pair, cell.pairs.contains(pair));
            listing.prove(at);
        }
        Self {
            number,
            coordinator,
            transport: connect.transport(&limits),
            scratch,
            mirrors: Mirrors::new(cell.origins.len().saturating_sub(1)),
            breaker: Breaker::new(fastrand::u64(..), cell.fetch_timeout),
            budget: Rc::new(Allowance::new(&profile.budget, heaviest)),
            listing,
            plan: Plan::default(),
            interval: cell.poll,
            next: 0,
            cycles: 0,
            flights: HashMap::new(),
            flights_begun: 0,
            pending: Vec::new(),
            last_sent: None,
            unsent: Vec::new(),
            urls: HashMap::new(),
            cell,
        }
    }

    /// Opens a connection ahead by one cheap request, then polls. What goes wrong on the way is what went wrong with every pair.
    fn warm_up(&mut self, ctx: &mut Context<Self>) {
        let path = self.cell.venue.profile().warm_up;
        let permitted = self.permit(Purpose::Poll, 1);
        if let Err(fault) = permitted {
            self.fail_all(&Arc::new(fault));
            ctx.run_later(self.interval, Self::poll);
            return;
        }
        let origin = self.mirrors.walk(Instant::now()).at();
        let leg = self.leg(self.url(origin, path), 1);
        ctx.spawn(leg.fly().into_actor(self).map(|flown, act, ctx| {
            // Any answer will do: the connection stands.
            act.note(&flown, flown.result.as_ref().map(|_| ()).map_err(Clone::clone));
            if let Err(fault) = &flown.result {
                act.fail_all(&Arc::new(fault.clone()));
            }
            act.poll(ctx);
        }));
    }

    fn url(&self, origin: usize, path: &str) -> Rc<str> {
        format!("{}{path}", self.cell.origin(origin)).into()
    }

    fn leg(&mut self, url: Rc<str>, weight: u32) -> Leg {
        let started = Instant::now();
        self.last_sent = Some(started);
        let (transport, cell, budget) = (Rc::clone(&self.transport), Arc::clone(&self.cell), Rc::clone(&self.budget));
        Leg { transport, cell, budget, url, walk: self.mirrors.walk(started), weight, started }
    }

    /// Sends the next request of the plan, and sets the time of the one after it.
    fn poll(&mut self, ctx: &mut Context<Self>) {
        let now = Instant::now();
        let idle = self.last_sent.map_or(Duration::MAX, |at| now.saturating_duration_since(at));
        if idle > KEEP_ALIVE {
            self.warm_up(ctx);
            return;
        }
        if self.next >= self.plan.requests.len() {
            self.replan(now);
        }
        let count = u32::try_from(self.plan.requests.len()).unwrap_or(u32::MAX).max(1);
        if let Some(request) = self.plan.requests.get(self.next).cloned() {
            self.next = self.next.saturating_add(1);
            if !request.pairs.iter().all(|pair| self.flight_of(*pair).is_some()) {
                self.launch(ctx, request, Vec::new(), Purpose::Poll);
            }
        }
        // The first cycle goes as fast as half of the budget lets it, the others at their pace.
        let first = self.cycles <= 1 && self.next < self.plan.requests.len();
        let cycle = if first { self.plan.shortest(&self.cell.venue.profile().budget) } else { self.interval };
        ctx.run_later(cycle.checked_div(count).unwrap_or(cycle), Self::poll);
    }

    fn replan(&mut self, now: Instant) {
        let profile = self.cell.venue.profile();
        self.plan = plan(profile.endpoints, &self.listing.to_poll(now));
        self.interval = self.plan.interval(&profile.budget, self.cell.poll);
        self.next = 0;
        self.cycles = self.cycles.saturating_add(1);
        let requests = self.plan.requests.iter().take(3).filter_map(|r| self.path(r)).collect();
        self.cell.facts().plan = PlanFacts {
            requests,
            request_count: self.plan.requests.len(),
            weight: self.plan.weight,
            interval_ms: u64::try_from(self.interval.as_millis()).unwrap_or(u64::MAX),
            budget_share_permille: self.plan.share_permille(&profile.budget, self.interval),
        };
    }

    fn path(&self, request: &Planned) -> Option<String> {
        let symbols: Vec<&str> = request.pairs.iter().filter_map(|at| Some(&*self.listing.get(*at)?.symbol)).collect();
        Some(self.cell.venue.profile().endpoints.get(request.endpoint)?.path_for(&symbols))
    }

    fn flight_of(&mut self, pair: usize) -> Option<&mut Flight> {
        self.flights.values_mut().find(|f| f.covers(pair))
    }

    /// Asks everybody whose leave is needed: the operator, the breaker, the budget.
    fn permit(&mut self, purpose: Purpose, weight: u32) -> Result<(), Fault> {
        if self.cell.facts().paused {
            return Err(Fault::new(Reason::Paused, "paused by an operator"));
        }
        let now = Instant::now();
        let _permit = self.breaker.permit(now)?;
        self.budget.try_take(weight, purpose).inspect_err(|fault| self.breaker.record(now, self.cell.clock.now(), Err(fault)))
    }

    /// Starts a flight, or fails its pairs with why it may not start.
    fn launch(&mut self, ctx: &mut Context<Self>, request: Planned, waiters: Vec<(usize, oneshot::Sender<Outcome>)>, purpose: Purpose) {
        let endpoints = self.cell.venue.profile().endpoints;
        let Some(endpoint) = endpoints.get(request.endpoint) else { return };
        let weight = endpoint.weight_of(request.pairs.len());
        if let Err(fault) = self.permit(purpose, weight) {
            let fault = Arc::new(fault);
            self.cell.facts().count_fault(self.cell.clock.now(), &fault);
            self.refresh_state();
            let outcomes = request.pairs.iter().map(|pair| (*pair, Err(Arc::clone(&fault)))).collect();
            self.hand_out(outcomes, waiters);
            return;
        }
        let url = self.url_of(&request);
        let leg = self.leg(url, weight);
        let id = self.flights_begun;
        self.flights_begun = id.wrapping_add(1);
        self.flights.insert(id, Flight { request, everything: endpoint.reach == Reach::All, waiters });
        ctx.spawn(leg.fly().into_actor(self).map(move |flown, act, _| act.land(id, flown)));
    }

    /// Gives the first address of a request. Those of one pair are kept: they are asked again and again.
    fn url_of(&mut self, request: &Planned) -> Rc<str> {
        const KEPT_MAX: usize = 4096;
        let origin = self.mirrors.walk(Instant::now()).at();
        let make = || self.url(origin, &self.path(request).unwrap_or_default());
        let [pair] = request.pairs.as_slice() else { return make() };
        let key = (origin, request.endpoint, *pair);
        if let Some(url) = self.urls.get(&key) {
            return Rc::clone(url);
        }
        let url = make();
        if self.urls.len() >= KEPT_MAX {
            self.urls.clear();
        }
        self.urls.insert(key, Rc::clone(&url));
        url
    }

    /// Takes in what a flight brought.
    fn land(&mut self, id: u64, flown: Flown) {
        let Some(Flight { request, waiters, .. }) = self.flights.remove(&id) else { return };
        let now = Instant::now();
        let mut asked = request.pairs;
        asked.extend(waiters.iter().map(|(pair, _)| *pair).filter(|pair| !asked.contains(pair)).collect::<Vec<_>>());
        let rows = flown.result.as_ref().map_err(Clone::clone).and_then(|answer| {
            let endpoint =
                self.cell.venue.profile().endpoints.get(request.endpoint).ok_or(Fault::new(Reason::Protocol, "no such endpoint"))?;
            let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
            landing::read(self.cell.venue.as_ref(), endpoint, answer, &mut scratch, &self.listing, &asked)
                .map_err(|fault| if fault.retry.is_none() { fault.retry(answer.retry) } else { fault })
        });
        self.note(&flown, rows.as_ref().map(|_| ()).map_err(Clone::clone));
        let outcomes = match rows {
            Ok(rows) => self.keep(rows, now, flown.latency),
            Err(fault) => self.blame(&asked, fault, now),
        };
        self.hand_out(outcomes, waiters);
    }

    /// Keeps the quotes of an answer; an older one than what is kept is passed over.
    fn keep(&mut self, rows: landing::Rows, now: Instant, latency: Duration) -> Vec<(usize, Outcome)> {
        let received_time = self.cell.clock.at(now);
        let by_time = matches!(self.cell.venue.profile().time_of, TimeOf::Book | TimeOf::Answer);
        let mut outcomes = Vec::with_capacity(rows.len());
        let cell = Arc::clone(&self.cell);
        let mut last = cell.last();
        for (at, row) in rows {
            let ticker = match row {
                Ok(ticker) => ticker,
                Err(fault) => {
                    if fault.reason == Reason::Unlisted {
                        self.listing.miss(at, now);
                    }
                    outcomes.push((at, Err(Arc::new(fault))));
                    continue;
                }
            };
            let Some(entry) = self.listing.get(at) else { continue };
            let older = |kept: &&Arc<Quote>| by_time && ticker.venue_time.is_some() && ticker.venue_time < kept.ticker.venue_time;
            let quote = last.get(&entry.pair).filter(older).cloned().unwrap_or_else(|| {
                let (venue, symbol) = (cell.id.clone(), Arc::clone(&entry.symbol));
                Arc::new(Quote { venue, pair: entry.pair, symbol, ticker, received: now, received_time, latency, source: Source::Rest })
            });
            last.insert(entry.pair, Arc::clone(&quote));
            outcomes.push((at, Ok(quote)));
            self.listing.prove(at);
        }
        outcomes
    }

    /// Gives every asked pair the fault of the whole answer. One unknown symbol may have spoilt a list: which one, single requests will tell.
    fn blame(&mut self, asked: &[usize], fault: Fault, now: Instant) -> Vec<(usize, Outcome)> {
        let spoilt = matches!(fault.reason, Reason::Unlisted | Reason::Rejected) && asked.len() > 1;
        let fault = Arc::new(if spoilt { Fault { reason: Reason::Rejected, ..fault } } else { fault });
        for at in asked {
            match fault.reason {
                Reason::Unlisted => drop_value(self.listing.miss(*at, now)),
                _ if spoilt => drop_value(self.listing.doubt(*at)),
                _ => {}
            }
        }
        asked.iter().map(|at| (*at, Err(Arc::clone(&fault)))).collect()
    }

    /// Writes down how a request ended: for the breaker, the mirrors and whoever looks.
    fn note(&mut self, flown: &Flown, ended: Result<(), Fault>) {
        let (now, time) = (Instant::now(), self.cell.clock.now());
        self.breaker.record(now, time, ended.as_ref().map(|()| ()));
        if flown.result.is_ok() {
            self.mirrors.worked(now, flown.origin);
        }
        {
            let mut facts = self.cell.facts();
            facts.requests = facts.requests.saturating_add(flown.tries);
            match &ended {
                Ok(()) => {
                    facts.answers = facts.answers.saturating_add(1);
                    facts.last_answer = Some(time);
                }
                Err(fault) => facts.count_fault(time, &Arc::new(fault.clone())),
            }
            if let Ok(answer) = &flown.result {
                facts.ahead_ms = answer.date.map(|date| date.0.saturating_sub(time.0)).or(facts.ahead_ms);
            }
        }
        if let Err(fault) = &ended {
            self.cell.log_fault(now, fault);
        }
        self.refresh_state();
    }

    fn refresh_state(&self) {
        let guard = self.breaker.state(Instant::now()).state;
        let facts = self.cell.facts();
        let failing = facts.last_fault.as_ref().is_some_and(|(at, f)| f.reason.is_fault() && facts.last_answer.is_none_or(|ok| ok < *at));
        let state = match guard {
            _ if facts.paused => VenueState::Paused,
            "open" | "half_open" => VenueState::BreakerOpen,
            "closed" if failing => VenueState::Failing,
            "closed" if facts.last_answer.is_none() => VenueState::Starting,
            "closed" => VenueState::Up,
            _ => VenueState::RateLimited,
        };
        drop(facts);
        self.cell.set_state(state);
    }

    /// Answers those who wait, and tells the coordinator the rest.
    fn hand_out(&mut self, outcomes: Vec<(usize, Outcome)>, waiters: Vec<(usize, oneshot::Sender<Outcome>)>) {
        let mut told = Vec::with_capacity(waiters.len());
        for (pair, waiter) in waiters {
            let Some((_, outcome)) = outcomes.iter().find(|(at, _)| *at == pair) else { continue };
            // The coordinator keeps waiting for its stragglers, so this fails only when it died.
            if waiter.send(outcome.clone()).is_ok() {
                told.push(pair);
            }
        }
        let rest = outcomes.into_iter().filter(|(at, _)| !told.contains(at));
        self.unsent.extend(rest.filter_map(|(at, outcome)| Some((self.listing.get(at)?.pair, outcome))));
        self.report();
    }

    /// Tells the coordinator what it has not heard; what it cannot take now is told with the next, the latest of each pair.
    fn report(&mut self) {
        if self.unsent.is_empty() {
            return;
        }
        let Some(port) = self.coordinator.load_full() else { return self.conflate() };
        let message = Landed { venue: self.number, outcomes: std::mem::take(&mut self.unsent) };
        if let Err(Landed { outcomes, .. }) = port.try_send(message).map_err(|refused| refused.into_message()) {
            self.unsent = outcomes;
            self.conflate();
        }
    }

    fn conflate(&mut self) {
        let latest: HashMap<Pair, Outcome> = self.unsent.drain(..).collect();
        self.unsent.extend(latest);
    }

    fn fail_all(&mut self, fault: &Arc<Fault>) {
        let now = Instant::now();
        let polled: Vec<usize> = self.listing.to_poll(now).iter().map(|w| w.pair).collect();
        self.hand_out(polled.into_iter().map(|at| (at, Err(Arc::clone(fault)))).collect(), Vec::new());
    }

    /// Sends what was asked for since the mailbox was last empty, as one plan.
    fn launch_pending(&mut self, ctx: &mut Context<Self>) {
        let mut waiters = std::mem::take(&mut self.pending);
        let mut wanted: Vec<Wanted> = Vec::new();
        for (pair, _) in &waiters {
            if !wanted.iter().any(|w| w.pair == *pair) {
                wanted.extend(self.listing.wanted(*pair));
            }
        }
        for request in plan(self.cell.venue.profile().endpoints, &wanted).requests {
            let (ours, others) = waiters.into_iter().partition(|(pair, _)| request.pairs.contains(pair));
            waiters = others;
            self.launch(ctx, request, ours, Purpose::Demand);
        }
    }
}

/// Says that a value is of no interest here.
fn drop_value<T>(_: T) {}

impl Actor for Exchange {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.refresh_state();
        self.warm_up(ctx);
    }
}

impl Handler<Fetch> for Exchange {
    type Result = ResponseActFuture<Self, Outcome>;

    fn handle(&mut self, Fetch { pair, deadline }: Fetch, ctx: &mut Self::Context) -> Self::Result {
        let now = Instant::now();
        let at = self.listing.add(self.cell.venue.as_ref(), pair, false);
        let refusal = if deadline <= now {
            Some(Fault::new(Reason::Timeout, "the caller's deadline had passed"))
        } else if self.listing.get(at).is_some_and(|e| e.is_unlisted(now)) {
            Some(Fault::new(Reason::Unlisted, "the venue said so within the last ten minutes"))
        } else {
            None
        };
        if let Some(fault) = refusal {
            return Box::pin(actix::fut::ready(Err(Arc::new(fault))));
        }
        let (tell, told) = oneshot::channel();
        match self.flight_of(at) {
            Some(flight) => flight.waiters.push((at, tell)),
            None => {
                self.pending.push((at, tell));
                if self.pending.len() == 1 {
                    // Runs once the mailbox is empty, so that what was asked for together is planned together.
                    ctx.spawn(actix::fut::ready(()).map(|(), act: &mut Self, ctx| act.launch_pending(ctx)));
                }
            }
        }
        Box::pin(
            async { told.await.unwrap_or_else(|_| Err(Arc::new(Fault::new(Reason::Restarting, "the exchange's actor ended")))) }
                .into_actor(self),
        )
    }
}

impl Handler<Drop> for Exchange {
    type Result = ();

    fn handle(&mut self, Drop(pair): Drop, _: &mut Self::Context) {
        self.listing.remove(&pair);
        self.urls.clear();
    }
}

impl Handler<Control> for Exchange {
    type Result = ();

    fn handle(&mut self, control: Control, ctx: &mut Self::Context) {
        match control {
            Control::Pause => self.cell.facts().paused = true,
            Control::Resume => self.cell.facts().paused = false,
            Control::Restart => ctx.terminate(),
            Control::RehearsePanic => std::panic::resume_unwind(Box::new("rehearsed")),
            Control::RehearseArbiterLoss => drop_value(Arbiter::current().stop()),
        }
        self.refresh_state();
    }
}

crate::metered!(Exchange: Fetch, Drop, Control);
