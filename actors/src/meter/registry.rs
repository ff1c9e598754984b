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

    /// Gives the meter of that name, if there is one.
    pub fn find(&self, name: &str) -> Option<Arc<Meter>> {
        lock(&self.meters).iter().find(|meter| meter.name() == name).map(Arc::clone)
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

#[cfg(test)]
mod tests {
    use super::*;
    use actix::{Actor, Context, Handler, Message};

    struct Idle;
    impl Actor for Idle {
        type Context = Context<Self>;
    }
    struct Ask;
    struct Tell;
    impl Message for Ask {
        type Result = Option<u8>;
    }
    impl Message for Tell {
        type Result = ();
    }
    impl Handler<Ask> for Idle {
        type Result = Option<u8>;
        fn handle(&mut self, _: Ask, _: &mut Self::Context) -> Option<u8> {
            Some(1)
        }
    }
    impl Handler<Tell> for Idle {
        type Result = ();
        fn handle(&mut self, _: Tell, _: &mut Self::Context) {}
    }
    crate::metered!(Idle: Ask, Tell);

    #[test]
    fn a_meter_is_kept_by_its_name() {
        let registry = Registry::default();
        let first = registry.meter::<Idle>("a", Limits::default());
        assert!(Arc::ptr_eq(&first, &registry.meter::<Idle>("a", Limits::default())));
        assert!(!Arc::ptr_eq(&first, &registry.meter::<Idle>("b", Limits::default())));
        registry.remove("a");
        let names: Vec<_> = registry.meters().iter().map(|meter| meter.name().to_owned()).collect();
        assert_eq!(names, ["b"]);
    }

    #[test]
    fn snapshots_are_numbered_and_have_a_row_for_each_actor_and_message() {
        let registry = Registry::default();
        let first = registry.meter::<Idle>("a", Limits::default());
        let _second = registry.meter::<Idle>("b", Limits { capacity: 1, in_flight_max: 2 });
        first.set_state("paused");
        first.restarted("arbiter");
        let now = Instant::now();
        assert_eq!((registry.snapshot(now).number, registry.snapshot(now).number), (1, 2));
        let json = serde_json::to_value(registry.snapshot(now)).unwrap();
        assert_eq!(json["number"], 3);
        let [a, b] = json["actors"].as_array().unwrap().as_slice() else { panic!("{json}") };
        assert_eq!((&a["name"], &a["state"], &a["restarts"]), (&"a".into(), &"paused".into(), &1.into()));
        assert_eq!((&a["restarts_by"]["arbiter"], &a["running_now"]), (&1.into(), &serde_json::Value::Null));
        assert_eq!((&b["capacity"], &b["in_flight_max"], &b["up_ms"]), (&1.into(), &2.into(), &0.into()));
        let rows: Vec<_> = registry.snapshot(now).actors[0].messages.iter().map(|row| row.message).collect();
        assert_eq!(rows, ["Ask", "Tell"]);
    }
}
