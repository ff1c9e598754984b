//! The background work of an exchange: warm-up, and the plan carried out again and again.

use super::{Exchange, KEEP_ALIVE, PlanFacts};
use crate::{
    budget::{LEFT_PERCENT, Purpose},
    model::{Fault, Pair, Reason, Retry},
    plan::{Planned, Wanted, plan},
};
use actix::prelude::*;
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

/// Polls some pairs ahead of their turn, as far as the budget has it to spare; what comes of it is told as of any poll.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Hurry(pub(crate) Vec<Pair>);

/// How long what the budget has to spare is to last.
const HURRY_FOR: Duration = Duration::from_secs(10);

/// How many polls are in the air at once, where one after the other would not keep their pace: a venue that hangs is asked no more.
const POLLS_MAX: usize = 8;
/// Polls come no faster than this, whatever the budget lets through.
const SPACING_MIN: Duration = Duration::from_millis(5);

/// Holds whose turn it is.
#[derive(Default)]
pub(super) struct Turns {
    /// Whether a poll is due that waits for the one before it.
    is_due: bool,
    /// Whether the time of the next is set. In the first cycle, that of the one after a poll that waits is set when it goes: that cycle takes what time it needs.
    is_timed: bool,
    /// What is to be polled before its turn, and whether the last poll was such a one.
    ahead: Vec<Planned>,
    was_ahead: bool,
}

impl Turns {
    /// Gives what to poll instead of what comes next in the plan: every other time, so that this comes round, too.
    fn ahead(&mut self) -> Option<Planned> {
        let ahead = if self.was_ahead { None } else { self.ahead.pop() };
        self.was_ahead = ahead.is_some();
        ahead
    }
}

impl Handler<Hurry> for Exchange {
    type Result = ();

    fn handle(&mut self, Hurry(pairs): Hurry, ctx: &mut Self::Context) {
        if !self.cell.background {
            return;
        }
        let (now, pace) = (Instant::now(), self.budget.pace(HURRY_FOR));
        let is_due = |pair: &Pair| self.cell.last().get(pair).is_none_or(|quote| now.saturating_duration_since(quote.received) >= pace);
        let numbers = pairs.iter().filter(|pair| is_due(pair)).filter_map(|pair| self.listing.number_of_pair(pair));
        let due: Vec<Wanted> = numbers
            .filter(|at| !self.listing.get(*at).is_some_and(|e| e.is_unlisted(now)))
            .filter_map(|at| self.listing.wanted(at))
            .collect();
        // What is in the air holds the connection: the next call comes soon.
        let is_free = self.flights.is_empty() && self.pending.is_empty();
        for request in plan(self.cell.venue.profile().endpoints, &due).requests {
            if is_free && self.budget.share_left() > LEFT_PERCENT {
                self.launch(ctx, request, Vec::new(), Purpose::Poll);
            } else if self.plan.requests.len() > 1 && !self.turns.ahead.contains(&request) {
                self.turns.ahead.push(request);
            }
        }
    }
}

impl Exchange {
    /// Opens a connection ahead by one cheap request, then polls. What goes wrong on the way is what went wrong with every pair.
    pub(super) fn warm_up(&mut self, ctx: &mut Context<Self>) {
        match self.knock(ctx, true) {
            Ok(()) => {}
            Err(fault) => {
                self.fail_all(&Arc::new(fault));
                self.come_round(ctx, self.interval);
            }
        }
    }

    /// Opens a connection ahead, beside the polling, as far as breaker and budget let it.
    pub(super) fn open_ahead(&mut self, ctx: &mut Context<Self>) {
        if self.cell.background {
            // What is not permitted now is opened with the next request.
            self.knock(ctx, false).ok();
        }
    }

    /// Sends one cheap request whose answer is thrown away, and polls after it or not.
    fn knock(&mut self, ctx: &mut Context<Self>, then_poll: bool) -> Result<(), Fault> {
        self.permit(Purpose::Poll, 1)?;
        let origin = self.mirrors.walk(Instant::now()).at();
        let leg = self.leg(self.url(origin, self.cell.venue.profile().warm_up), 1);
        ctx.spawn(leg.fly().into_actor(self).map(move |flown, act, ctx| {
            // Any answer will do: the connection stands.
            act.note(&flown, flown.result.as_ref().map(|_| ()).map_err(Clone::clone));
            if !then_poll {
                return;
            }
            if let Err(fault) = &flown.result {
                act.fail_all(&Arc::new(fault.clone()));
            }
            act.poll(ctx);
        }));
        Ok(())
    }

    /// Comes round at the pace of the plan: sends its next request, or has it wait for what is in the air to land, so that they share a connection. Where one
    /// still waits from the time before, one connection is too slow for that pace: the next goes on another.
    pub(super) fn poll(&mut self, ctx: &mut Context<Self>) {
        let idle = self.last_sent.map_or(Duration::MAX, |at| at.elapsed());
        self.turns.is_timed = false;
        if idle > KEEP_ALIVE {
            self.warm_up(ctx);
            return;
        }
        if self.flights.is_empty() || self.is_behind() {
            self.poll_next(ctx);
            return;
        }
        self.turns.is_due = true;
        if self.cycles > 1 {
            self.come_round(ctx, self.spacing());
        }
    }

    /// Sends a poll that waited for a flight which has landed; that others are in the air by now does not hold it up, but one poll follows the other.
    pub(super) fn poll_after_landing(&mut self, ctx: &mut Context<Self>) {
        if self.turns.is_due && self.polls_in_the_air() == 0 {
            self.turns.is_due = false;
            self.poll_next(ctx);
        }
    }

    /// Sends the next request of the plan, and sets the time of the one after it unless that is set. Where callers have used up the budget, it does not lose its
    /// turn, but waits for it.
    fn poll_next(&mut self, ctx: &mut Context<Self>) {
        let wait = self.send_next(ctx).unwrap_or_else(|| self.spacing());
        self.come_round(ctx, wait);
    }

    fn come_round(&mut self, ctx: &mut Context<Self>, wait: Duration) {
        if !self.turns.is_timed {
            self.turns.is_timed = true;
            ctx.run_later(wait, Self::poll);
        }
    }

    /// Sends the next request of the plan, or gives how long until the budget allows it.
    fn send_next(&mut self, ctx: &mut Context<Self>) -> Option<Duration> {
        if self.next >= self.plan.requests.len() {
            self.replan(Instant::now());
        }
        let ahead = self.turns.ahead();
        let in_turn = ahead.is_none();
        let request = ahead.or_else(|| self.plan.requests.get(self.next).cloned())?;
        let flying = request.pairs.iter().all(|pair| self.flight_of(*pair).is_some());
        let held = if flying { None } else { self.launch(ctx, request, Vec::new(), Purpose::Poll) };
        if let Some(Retry::After(wait)) = held.filter(|fault| fault.reason == Reason::OverBudget).and_then(|fault| fault.retry) {
            return Some(wait);
        }
        if in_turn {
            self.next = self.next.saturating_add(1);
        }
        None
    }

    /// Tells whether a poll is overdue, and may go beside those in the air. In the first cycle there is no hurry: one connection will do.
    fn is_behind(&self) -> bool {
        self.turns.is_due && self.cycles > 1 && self.polls_in_the_air() < POLLS_MAX
    }

    fn polls_in_the_air(&self) -> usize {
        self.flights.values().filter(|flight| flight.purpose == Purpose::Poll).count()
    }

    /// Gives how long after a request of the plan the next is due. The first cycle goes as fast as half of the budget lets it, the others at their pace.
    fn spacing(&self) -> Duration {
        let count = u32::try_from(self.plan.requests.len()).unwrap_or(u32::MAX).max(1);
        let first = self.cycles <= 1 && self.next < self.plan.requests.len();
        let cycle = if first { self.plan.shortest(&self.cell.budget) } else { self.interval };
        cycle.checked_div(count).unwrap_or(cycle).max(SPACING_MIN)
    }

    fn replan(&mut self, now: Instant) {
        let profile = self.cell.venue.profile();
        self.plan = plan(profile.endpoints, &self.listing.to_poll(now));
        self.interval = self.plan.interval(&self.cell.budget, self.cell.poll);
        self.next = 0;
        self.cycles = self.cycles.saturating_add(1);
        let requests = self.plan.requests.iter().take(3).filter_map(|r| self.path(r)).collect();
        self.cell.facts().plan = PlanFacts {
            requests,
            request_count: self.plan.requests.len(),
            weight: self.plan.weight,
            interval_ms: u64::try_from(self.interval.as_millis()).unwrap_or(u64::MAX),
            budget_share_permille: self.plan.share_permille(&self.cell.budget, self.interval),
        };
    }

    fn fail_all(&mut self, fault: &Arc<Fault>) {
        let now = Instant::now();
        let polled: Vec<usize> = self.listing.to_poll(now).iter().map(|w| w.pair).collect();
        self.hand_out(polled.into_iter().map(|at| (at, Err(Arc::clone(fault)))).collect(), Vec::new());
    }
}
