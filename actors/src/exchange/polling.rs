//! The background work of an exchange: warm-up, and the plan carried out again and again.

use super::{Exchange, KEEP_ALIVE, PlanFacts};
use crate::{
    budget::Purpose,
    model::{Fault, Reason, Retry},
    plan::plan,
};
use actix::prelude::*;
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

impl Exchange {
    /// Opens a connection ahead by one cheap request, then polls. What goes wrong on the way is what went wrong with every pair.
    pub(super) fn warm_up(&mut self, ctx: &mut Context<Self>) {
        match self.knock(ctx, true) {
            Ok(()) => {}
            Err(fault) => {
                self.fail_all(&Arc::new(fault));
                ctx.run_later(self.interval, Self::poll);
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

    /// Sends the next request of the plan now, or when what is in the air has landed: so that they share a connection.
    pub(super) fn poll(&mut self, ctx: &mut Context<Self>) {
        if self.flights.is_empty() {
            self.poll_now(ctx);
        } else {
            self.poll_due = true;
        }
    }

    /// Sends a poll that waited for a flight which has landed; that others are in the air by now does not hold it up, but one poll follows the other.
    pub(super) fn poll_after_landing(&mut self, ctx: &mut Context<Self>) {
        if self.poll_due && !self.flights.values().any(|f| f.purpose == Purpose::Poll) {
            self.poll_due = false;
            self.poll_now(ctx);
        }
    }

    /// Sends the next request of the plan, and sets the time of the one after it.
    fn poll_now(&mut self, ctx: &mut Context<Self>) {
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
            let flying = request.pairs.iter().all(|pair| self.flight_of(*pair).is_some());
            let held = if flying { None } else { self.launch(ctx, request, Vec::new(), Purpose::Poll) };
            if let Some(Retry::After(wait)) = held.filter(|fault| fault.reason == Reason::OverBudget).and_then(|fault| fault.retry) {
                // Callers have used up the budget: this one waits for its turn, it does not lose it.
                ctx.run_later(wait, Self::poll);
                return;
            }
            self.next = self.next.saturating_add(1);
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

    fn fail_all(&mut self, fault: &Arc<Fault>) {
        let now = Instant::now();
        let polled: Vec<usize> = self.listing.to_poll(now).iter().map(|w| w.pair).collect();
        self.hand_out(polled.into_iter().map(|at| (at, Err(Arc::clone(fault)))).collect(), Vec::new());
    }
}
