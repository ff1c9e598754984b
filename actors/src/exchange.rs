//! The actor of one venue: its reused client, its last quotes, one flight for whoever asks, its budget and its breaker.

mod cell;
mod ending;
mod flight;
mod landing;
mod listing;
mod polling;

pub(crate) use cell::Cell;
pub use cell::{PlanFacts, VenueConfig, VenueState};
pub(crate) use polling::Hurry;

use crate::{
    budget::{Allowance, Purpose},
    coordinator::CoordinatorPort,
    hash::SmallMap,
    meter::{Promise, Promised, promise},
    mirrors::Mirrors,
    model::{Fault, Outcome, Pair, Reason},
    plan::{Plan, Planned, Wanted, plan},
    transport::{Connect, Limits, Transport},
    venue::{Reach, Scratch},
};
use actix::prelude::*;
use flight::{Flight, Leg};
use listing::Listing;
use polling::Turns;
use std::{
    rc::Rc,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::Instant;

/// Idle connections are kept so long at least; after more, a warm-up goes ahead of the next request.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(90);

/// A request waits no longer than this for a connection that is about to be free.
const PATIENCE_MAX: Duration = Duration::from_millis(500);

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
    /// Drops the venue's connections once what is in the air has landed, and opens new ones.
    Reconnect,
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
    connect: Arc<dyn Connect>,
    transport: Rc<dyn Transport>,
    scratch: Arc<Mutex<Scratch>>,
    mirrors: Mirrors,
    budget: Rc<Allowance>,
    listing: Listing,
    plan: Plan,
    /// The endpoint that asks for one pair alone, unproven and proven.
    for_one: [Option<usize>; 2],
    interval: Duration,
    next: usize,
    cycles: u64,
    flights: SmallMap<u64, Flight>,
    flights_begun: u64,
    pending: Vec<(usize, Promise<Outcome>)>,
    /// Whether what is pending waits for a connection that is about to be free.
    deferred: bool,
    turns: Turns,
    /// How long answers take at most, of late.
    latency: Duration,
    last_sent: Option<Instant>,
    unsent: Vec<(Pair, Outcome)>,
    urls: SmallMap<(usize, usize, usize), Rc<str>>,
}

impl Exchange {
    /// Builds the actor on the thread that it will run on.
    pub(crate) fn new(
        cell: Arc<Cell>,
        number: usize,
        coordinator: CoordinatorPort,
        connect: Arc<dyn Connect>,
        scratch: Arc<Mutex<Scratch>>,
    ) -> Self {
        let profile = cell.venue.profile();
        let heaviest = profile.endpoints.iter().flat_map(|e| e.weight).map(|(_, weight)| *weight).max().unwrap_or(1);
        let budget = Allowance::new(&cell.budget, heaviest);
        if let Some(full_at) = cell.facts().budget_full_at {
            budget.resume(full_at);
        }
        cell.facts().budget_full_for = budget.full_for();
        let mut listing = Listing::with_room(cell.pairs.len());
        for pair in cell.pairs.iter() {
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
            transport: transport(&cell, connect.as_ref()),
            connect,
            scratch,
            mirrors: Mirrors::new(cell.origins.len().saturating_sub(1)),
            budget: Rc::new(budget),
            listing,
            plan: Plan::default(),
            for_one: [false, true]
                .map(|proven| plan(profile.endpoints, &[Wanted { pair: 0, proven }]).requests.first().map(|r| r.endpoint)),
            interval: cell.poll,
            next: 0,
            cycles: 0,
            flights: SmallMap::default(),
            flights_begun: 0,
            pending: Vec::new(),
            deferred: false,
            turns: Turns::default(),
            latency: Duration::ZERO,
            last_sent: None,
            unsent: Vec::new(),
            urls: SmallMap::default(),
            cell,
        }
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
        let _permit = self.cell.breaker().permit(now)?;
        let taken = self.budget.try_take(weight, purpose);
        match &taken {
            Ok(()) => self.cell.facts().budget_full_at = Some(self.budget.full_at()),
            Err(fault) => self.cell.breaker().record(now, self.cell.clock.now(), Err(fault)),
        }
        taken
    }

    /// Starts a flight, or fails its pairs with why it may not start, and gives that.
    fn launch(
        &mut self,
        ctx: &mut Context<Self>,
        request: Planned,
        waiters: Vec<(usize, Promise<Outcome>)>,
        purpose: Purpose,
    ) -> Option<Arc<Fault>> {
        let endpoint = self.cell.venue.profile().endpoints.get(request.endpoint)?;
        let weight = endpoint.weight_of(request.pairs.len());
        if let Err(fault) = self.permit(purpose, weight) {
            let fault = Arc::new(fault);
            self.cell.facts().count_fault(self.cell.clock.now(), &fault);
            self.refresh_state();
            let outcomes = request.pairs.iter().map(|pair| (*pair, Err(Arc::clone(&fault)))).collect();
            self.hand_out(outcomes, waiters);
            return Some(fault);
        }
        let url = self.url_of(&request);
        let leg = self.leg(url, weight);
        let started = leg.started;
        let id = self.flights_begun;
        self.flights_begun = id.wrapping_add(1);
        self.flights.insert(id, Flight { request, everything: endpoint.reach == Reach::All, purpose, started, waiters });
        ctx.spawn(leg.fly().into_actor(self).map(move |flown, act, ctx| act.land(ctx, id, flown)));
        None
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

    /// Plans as [`plan`] does, for one pair alone: which endpoint is the best then was found at the start.
    fn plan_one(&self, wanted: Wanted) -> Option<Planned> {
        let [unproven, proven] = self.for_one;
        let endpoint = if wanted.proven { proven } else { unproven };
        endpoint.map(|endpoint| Planned { endpoint, pairs: vec![wanted.pair] })
    }

    /// Tells how much longer the poll in the air may take, if it takes no longer than others of late: its connection is then free, and a new one
    /// would take as long to open.
    fn connection_due(&self, now: Instant) -> Option<Duration> {
        let polls = self.flights.values().filter(|f| f.purpose == Purpose::Poll);
        let patience = self.latency.min(PATIENCE_MAX);
        polls.filter_map(|f| patience.checked_sub(now.saturating_duration_since(f.started))).min()
    }

    /// Sends what was asked for since the mailbox was last empty, as one plan.
    fn launch_pending(&mut self, ctx: &mut Context<Self>) {
        if self.deferred || self.pending.is_empty() {
            return;
        }
        if let Some(wait) = self.connection_due(Instant::now()).filter(|_| self.pending.len() == 1) {
            self.deferred = true;
            ctx.run_later(wait, Self::launch_deferred);
            return;
        }
        let mut waiters = std::mem::take(&mut self.pending);
        if let [(pair, _)] = waiters.as_slice() {
            if let Some(request) = self.listing.wanted(*pair).and_then(|wanted| self.plan_one(wanted)) {
                self.launch(ctx, request, waiters, Purpose::Demand);
            }
            return;
        }
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

impl Exchange {
    /// Leaves the present connections to what is in the air, which is the last to hold them.
    fn reconnect(&mut self, ctx: &mut Context<Self>) {
        self.transport = transport(&self.cell, self.connect.as_ref());
        let mut facts = self.cell.facts();
        facts.reconnects = facts.reconnects.saturating_add(1);
        drop(facts);
        self.cell.meter.note("reconnect", "an operator had the connections dropped");
        self.open_ahead(ctx);
    }

    /// Sends what waited for a connection, whether that is free now or not.
    fn launch_deferred(&mut self, ctx: &mut Context<Self>) {
        self.deferred = false;
        self.launch_pending(ctx);
    }
}

fn transport(cell: &Cell, connect: &dyn Connect) -> Rc<dyn Transport> {
    connect.transport(&Limits { venue: cell.id.clone(), body_max: cell.venue.profile().body_max })
}

/// Says that a value is of no interest here.
fn drop_value<T>(_: T) {}

impl Actor for Exchange {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.refresh_state();
        if !self.cell.background {
            // Rounds alone ask.
            return;
        }
        if self.cell.last().is_empty() {
            self.warm_up(ctx);
        } else {
            // A rebuilt one has no time to lose: its quotes are growing old.
            self.last_sent = Some(Instant::now());
            self.poll(ctx);
        }
    }
}

impl Handler<Fetch> for Exchange {
    type Result = Promised<Outcome>;

    fn handle(&mut self, Fetch { pair, deadline }: Fetch, ctx: &mut Self::Context) -> Self::Result {
        let now = Instant::now();
        let at = self.listing.add(self.cell.venue.as_ref(), pair, false);
        let refusal = if deadline <= now {
            Some(Fault::new(Reason::NotAwaited, "the caller's deadline had passed"))
        } else if self.listing.get(at).is_some_and(|e| e.is_unlisted(now)) {
            Some(Fault::new(Reason::Unlisted, "the venue said so within the last ten minutes"))
        } else {
            None
        };
        let (tell, told) = promise();
        if let Some(fault) = refusal {
            tell.keep(Err(Arc::new(fault)));
            return told;
        }
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
        told
    }
}

impl Handler<Drop> for Exchange {
    type Result = ();

    fn handle(&mut self, Drop(pair): Drop, ctx: &mut Self::Context) {
        let Some(at) = self.listing.number_of_pair(&pair) else { return };
        if self.flight_of(at).is_some() || self.pending.iter().any(|(pending, _)| *pending == at) {
            // Its number must not go to another pair while an answer about it is due: what is in the air does not always name its pair.
            ctx.notify_later(Drop(pair), self.cell.fetch_timeout);
            return;
        }
        if self.listing.remove(&pair) {
            self.cell.last().remove(&pair);
            self.urls.clear();
        }
    }
}

impl Handler<Control> for Exchange {
    type Result = ();

    fn handle(&mut self, control: Control, ctx: &mut Self::Context) {
        match control {
            Control::Pause => self.cell.facts().paused = true,
            Control::Resume => self.cell.facts().paused = false,
            Control::Restart => {
                self.cell.facts().ended = true;
                ctx.terminate();
            }
            Control::Reconnect => self.reconnect(ctx),
            Control::RehearsePanic => std::panic::resume_unwind(Box::new("rehearsed")),
            Control::RehearseArbiterLoss => drop_value(Arbiter::current().stop()),
        }
        self.refresh_state();
    }
}

crate::metered!(Exchange: Fetch, Drop, Hurry, Control);
