//! Sees a dead actor or arbiter and has it rebuilt: a panic ends an actor for good, and actix's own supervisor does not bring it back.

use crate::{engine::Shared, exchange::VenueState};
use actix::prelude::*;
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::time::Instant;

/// How often the watchdog looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// So many deaths within [`WITHIN`] park an actor.
const DEATHS_MAX: usize = 5;
const WITHIN: Duration = Duration::from_secs(60);
/// The first rest of a parked actor; each further one is twice as long, up to [`REST_MAX`].
const REST_FIRST: Duration = Duration::from_secs(60);
const REST_MAX: Duration = Duration::from_secs(3600);

/// Looks after the actors of one engine. It lives on the arbiter that started the engine, apart from those it looks after.
pub(crate) struct Watchdog {
    shared: Arc<Shared>,
    exchanges: Vec<Record>,
    coordinator: Record,
}

/// Remembers one actor's deaths and decides when it may live again. Pure.
#[derive(Debug, Default)]
struct Record {
    deaths: VecDeque<Instant>,
    rest: Duration,
    parked_until: Option<Instant>,
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Rebuild,
    Rest,
}

impl Record {
    /// Decides about an actor that is found dead.
    fn found_dead(&mut self, now: Instant) -> Verdict {
        if let Some(until) = self.parked_until {
            if now < until {
                return Verdict::Rest;
            }
            self.parked_until = None;
            self.deaths.clear();
            return Verdict::Rebuild;
        }
        self.deaths.retain(|at| now.saturating_duration_since(*at) < WITHIN);
        self.deaths.push_back(now);
        if self.deaths.len() < DEATHS_MAX {
            return Verdict::Rebuild;
        }
        self.rest = self.rest.saturating_mul(2).clamp(REST_FIRST, REST_MAX);
        self.parked_until = now.checked_add(self.rest);
        Verdict::Rest
    }
}

impl Watchdog {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let exchanges = shared.venues.iter().map(|_| Record::default()).collect();
        Self { shared, exchanges, coordinator: Record::default() }
    }

    fn look(&mut self) {
        let now = Instant::now();
        self.shared.registry.tick(now);
        if self.shared.coordinator.load().as_ref().is_none_or(|port| !port.connected()) {
            self.shared.coordinator.store(None);
            if self.coordinator.found_dead(now) == Verdict::Rebuild {
                log::warn!("the coordinator died: rebuilding it");
                self.shared.start_coordinator(true);
            }
        }
        let shared = Arc::clone(&self.shared);
        for ((number, cell), record) in shared.venues.iter().enumerate().zip(&mut self.exchanges) {
            if cell.port.load().as_ref().is_some_and(|port| port.connected()) {
                continue;
            }
            cell.port.store(None);
            match record.found_dead(now) {
                Verdict::Rest => cell.set_state(VenueState::Parked),
                Verdict::Rebuild => {
                    log::warn!("the exchange {} died: rebuilding it", cell.id);
                    shared.start_exchange(number, true);
                }
            }
        }
    }
}

impl Actor for Watchdog {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.run_interval(LOOK_EVERY, |act, ctx| {
            if act.shared.is_stopping() {
                ctx.terminate();
            } else {
                act.look();
            }
        });
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn five_deaths_in_a_minute_park_and_the_rest_doubles() {
        let (mut record, start) = (Record::default(), Instant::now());
        let at = |s: u64| start + Duration::from_secs(s);
        for s in 0..4 {
            assert_eq!(record.found_dead(at(s)), Verdict::Rebuild);
        }
        assert_eq!(record.found_dead(at(4)), Verdict::Rest);
        assert_eq!(record.found_dead(at(63)), Verdict::Rest);
        for s in [64, 65, 66, 67, 68] {
            assert_eq!(record.found_dead(at(s)), Verdict::Rebuild, "{s}");
        }
        assert_eq!(record.found_dead(at(69)), Verdict::Rest);
        assert_eq!(record.found_dead(at(69 + 119)), Verdict::Rest);
        assert_eq!(record.found_dead(at(69 + 120)), Verdict::Rebuild);
    }

    #[tokio::test(start_paused = true)]
    async fn deaths_far_apart_never_park() {
        let (mut record, start) = (Record::default(), Instant::now());
        for n in 0..100 {
            assert_eq!(record.found_dead(start + Duration::from_secs(16 * n)), Verdict::Rebuild);
        }
    }
}
