//! All the meters of one engine, as a value: two engines in one process share nothing.

use super::{ActorSnapshot, Limits, Meter, Metered, lock};
use serde::Serialize;
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering::Relaxed},
};
use tokio::time::Instant;

/// Keeps the meters by name, in the order in which they were made.
#[derive(Debug, Default)]
pub struct Registry {
    meters: Mutex<Vec<Arc<Meter>>>,
    snapshots: AtomicU64,
}

/// All actors at one moment.
#[derive(Clone, Debug, Serialize)]
pub struct Snapshot {
    /// Counts the snapshots of this registry, from 1.
    pub number: u64,
    /// One row for each actor.
    pub actors: Vec<ActorSnapshot>,
}

impl Registry {
    /// Gives the meter of that name, made at the first call: an actor that is rebuilt goes on with its figures.
    pub fn meter<A: Metered>(&self, name: &str, limits: Limits) -> Arc<Meter> {
        let mut meters = lock(&self.meters);
        if let Some(meter) = meters.iter().find(|meter| meter.name() == name) {
            return Arc::clone(meter);
        }
        let meter = Arc::new(Meter::new::<A>(name, limits));
        meters.push(Arc::clone(&meter));
        meter
    }

    /// Forgets the meter of that name; who holds it may go on counting.
    pub fn remove(&self, name: &str) {
        lock(&self.meters).retain(|meter| meter.name() != name);
    }

    /// Gives all meters.
    pub fn meters(&self) -> Vec<Arc<Meter>> {
        lock(&self.meters).clone()
    }

    /// Takes the copies that the sliding windows are due for. To be called every 20 s or oftener, by the one who watches over the actors; later calls
    /// make the windows longer, as their `over_s` then says.
    pub fn tick(&self, now: Instant) {
        for meter in self.meters() {
            meter.tick(now);
        }
    }

    /// Gives the figures of all actors at the moment `now`, which is that of the call.
    pub fn snapshot(&self, now: Instant) -> Snapshot {
        let number = self.snapshots.fetch_add(1, Relaxed).saturating_add(1);
        Snapshot { number, actors: self.meters().iter().map(|meter| meter.snapshot(now)).collect() }
    }
}
