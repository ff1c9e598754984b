//! What the actors of one engine share, and how they are started on its threads.

use super::PairConfig;
use crate::{
    board::Board,
    coordinator::{Coordinator, CoordinatorPort, QuoteUpdate, RateUpdate, Settings, Subscribers, Tallies},
    exchange::{Cell, Exchange, VenueState},
    meter::{self, Meter, Registry},
    transport::Connect,
    venue::Scratch,
};
use actix::prelude::*;
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering::Relaxed},
};

/// Holds what the actors of one engine share and outlive them.
pub(crate) struct Shared {
    pub(crate) venues: Arc<[Arc<Cell>]>,
    pub(crate) coordinator: CoordinatorPort,
    pub(crate) registry: Registry,
    pub(super) coordinator_meter: Arc<Meter>,
    pub(super) tallies: Arc<Tallies>,
    pub(super) board: Arc<Board>,
    pub(super) subscribers: Arc<Subscribers<QuoteUpdate>>,
    pub(super) rate_subscribers: Arc<Subscribers<RateUpdate>>,
    pub(super) settings: Settings,
    pub(super) pairs: Vec<PairConfig>,
    pub(super) connect: Arc<dyn Connect>,
    pub(super) places: Vec<Place>,
    pub(super) boot: String,
    pub(super) stopping: AtomicBool,
}

/// Holds one thread that actors run on, and the scratch that they share there: decoding never waits, so one is enough.
pub(super) struct Place {
    pub(super) arbiter: Mutex<Home>,
    pub(super) scratch: Arc<Mutex<Scratch>>,
}

pub(super) enum Home {
    /// The arbiter that started the engine; it is the host's.
    Here(ArbiterHandle),
    Own(Arbiter),
}

impl Home {
    fn handle(&self) -> ArbiterHandle {
        match self {
            Self::Here(handle) => handle.clone(),
            Self::Own(arbiter) => arbiter.handle(),
        }
    }
}

impl Place {
    /// Starts an actor here. An arbiter of our own that has died is replaced; the host's is not ours to replace.
    fn start<A: meter::Metered>(
        &self,
        meter: &Arc<Meter>,
        make: impl Fn(Arc<Mutex<Scratch>>) -> A + Clone + Send + 'static,
    ) -> Option<meter::Port<A>> {
        let mut home = self.arbiter.lock().unwrap_or_else(PoisonError::into_inner);
        for fresh in [false, true] {
            if fresh {
                let Home::Own(_) = &*home else { return None };
                log::warn!("an arbiter of the engine died: starting another");
                *home = Home::Own(Arbiter::new());
            }
            let (make, scratch) = (make.clone(), Arc::clone(&self.scratch));
            if let Ok(port) = meter::start_in(&home.handle(), Arc::clone(meter), move || make(scratch)) {
                return Some(port);
            }
        }
        None
    }
}

impl Shared {
    fn place(&self, number: usize) -> Option<&Place> {
        self.places.get(number.checked_rem(self.places.len())?)
    }

    /// Starts the actor of a venue, for the first time or `again`.
    pub(crate) fn start_exchange(self: &Arc<Self>, number: usize, again: bool) {
        let (Some(cell), Some(place)) = (self.venues.get(number), self.place(number)) else { return };
        if again {
            let mut facts = cell.facts();
            facts.restarts = facts.restarts.saturating_add(1);
            let asked_for = std::mem::take(&mut facts.ended);
            drop(facts);
            cell.meter.restarted(if asked_for { "operator" } else { cause_of_death(&cell.meter) });
            cell.set_state(VenueState::Restarting);
        }
        let (shared, kept) = (Arc::clone(self), Arc::clone(cell));
        let port = place.start(&cell.meter, move |scratch| {
            Exchange::new(Arc::clone(&kept), number, Arc::clone(&shared.coordinator), Arc::clone(&shared.connect), scratch)
        });
        cell.port.store(port.map(Arc::new));
    }

    /// Starts the coordinator, for the first time or `again`.
    pub(crate) fn start_coordinator(self: &Arc<Self>, again: bool) {
        let Some(place) = self.place(0) else { return };
        if again {
            self.coordinator_meter.restarted(cause_of_death(&self.coordinator_meter));
        }
        let shared = Arc::clone(self);
        let port = place.start(&self.coordinator_meter, move |_| {
            let (venues, board) = (Arc::clone(&shared.venues), Arc::clone(&shared.board));
            let subscribers = (Arc::clone(&shared.subscribers), Arc::clone(&shared.rate_subscribers));
            Coordinator::new(shared.settings.clone(), venues, board, subscribers, Arc::clone(&shared.tallies), &shared.pairs)
        });
        self.coordinator.store(port.map(Arc::new));
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Relaxed)
    }
}

/// Tells why an actor is being rebuilt, by what its meter saw last: a panic, or its arbiter went with all that ran on it.
fn cause_of_death(meter: &Meter) -> &'static str {
    if meter.state().0 == "panicked" { "panic" } else { "lost" }
}
