//! How a request ends: what it brought is kept, counted, and told to those who wait and to the coordinator.

use super::{
    Exchange, VenueState, drop_value,
    flight::{Flight, Flown},
    landing,
};
use crate::{
    coordinator::Landed,
    meter::Promise,
    model::{Fault, Outcome, Pair, Quote, Reason, Source},
    rate::admit,
};
use actix::Context;
use std::{
    collections::HashMap,
    sync::{Arc, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

impl Exchange {
    /// Takes in what a flight brought.
    pub(super) fn land(&mut self, ctx: &mut Context<Exchange>, id: u64, flown: Flown) {
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
        if flown.result.is_ok() {
            self.cell.latency.record(flown.latency);
        }
        let outcomes = match rows {
            Ok(rows) => self.keep(rows, now, flown.latency),
            Err(fault) => self.blame(&asked, fault, now),
        };
        self.hand_out(outcomes, waiters);
        if flown.result.is_ok() {
            self.latency = flown.latency.max(self.latency.mul_f32(0.98));
        }
        if self.deferred {
            self.launch_deferred(ctx);
        }
        self.poll_after_landing(ctx);
    }

    /// Keeps the quotes of an answer; an older one than what is kept is passed over.
    fn keep(&mut self, rows: landing::Rows, now: Instant, latency: Duration) -> Vec<(usize, Outcome)> {
        let received_time = self.cell.clock.at(now);
        let by_time = self.cell.member.time_counts();
        let mut outcomes = Vec::with_capacity(rows.len());
        let cell = Arc::clone(&self.cell);
        let mut last = cell.last();
        let mut kept = false;
        for (at, row) in rows {
            let ticker = match row {
                Ok(ticker) => ticker,
                Err(fault) => {
                    if fault.reason == Reason::Unlisted {
                        self.listing.miss(at, now);
                    }
                    outcomes.push((at, Err(fault)));
                    continue;
                }
            };
            self.listing.prove(at);
            let Some(entry) = self.listing.get(at) else { continue };
            // A quote that did not count when it came (one from the future, say) shuts no later one out.
            let counted = |kept: &Quote| admit(kept, &cell.member, kept.received, kept.received_time, &cell.rules).is_ok();
            let newer =
                |kept: &Arc<Quote>| by_time && ticker.venue_time.is_some() && ticker.venue_time < kept.ticker.venue_time && counted(kept);
            if last.get(&entry.pair).is_some_and(newer) {
                outcomes.push((at, Err(Arc::new(Fault::new(Reason::OutOfOrder, "the venue's time is before that of an earlier answer")))));
                continue;
            }
            let (venue, symbol) = (cell.id.clone(), Arc::clone(&entry.symbol));
            let quote =
                Arc::new(Quote { venue, pair: entry.pair, symbol, ticker, received: now, received_time, latency, source: Source::Rest });
            last.insert(entry.pair, Arc::clone(&quote));
            kept = true;
            outcomes.push((at, Ok(quote)));
        }
        if kept {
            cell.facts().last_quote = Some(now);
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
    pub(super) fn note(&mut self, flown: &Flown, ended: Result<(), Fault>) {
        let (now, time) = (Instant::now(), self.cell.clock.now());
        self.cell.breaker().record(now, time, ended.as_ref().copied());
        if flown.result.is_ok() {
            self.mirrors.worked(now, flown.origin);
        }
        {
            let mut facts = self.cell.facts();
            facts.requests = facts.requests.saturating_add(flown.tries);
            facts.budget_full_at = Some(self.budget.full_at());
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

    pub(super) fn refresh_state(&self) {
        let guard = self.cell.breaker().state(Instant::now()).state;
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
    pub(super) fn hand_out(&mut self, outcomes: Vec<(usize, Outcome)>, waiters: Vec<(usize, Promise<Outcome>)>) {
        let mut told = Vec::with_capacity(waiters.len());
        for (pair, waiter) in waiters {
            let Some((_, outcome)) = outcomes.iter().find(|(at, _)| *at == pair) else { continue };
            // The coordinator keeps waiting for its stragglers, so this fails only when it died.
            if waiter.keep(outcome.clone()) {
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
}
