//! An engine on the simulated market, on one thread, with time paused.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

use actix::prelude::*;
use quorate_actors::{
    Builder, Engine, PublishedRate, RateUpdate, VenueConfig,
    clock::Clock,
    model::{Pair, UnixMs},
    sim::{FaultFile, MemoryConnect, Options, World},
    venue::Budget,
    venues::VENUES,
};
use std::{
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

/// Runs a test in an actix system whose time is paused: it passes when nothing else is to do.
pub fn paused<T>(test: impl Future<Output = T>) -> T {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    actix::System::with_tokio_rt(runtime).block_on(test)
}

/// Holds a world and the clock that its engine goes by.
pub struct Sim {
    pub world: Arc<World>,
    pub clock: Clock,
}

impl Sim {
    /// Makes a world whose venues answer within `latency_ms`, a fixed one where both are the same.
    pub fn new(latency_ms: (u64, u64)) -> Self {
        // Paused time runs ahead of the system's.
        let clock = Clock::detached(UnixMs(1_796_036_400_000));
        let latency = (Duration::from_millis(latency_ms.0), Duration::from_millis(latency_ms.1));
        let world = World::new(Options { latency, ..Options::default() }, clock.now()).unwrap();
        Self { world, clock }
    }

    /// Configures an engine on this world, on the test's own thread.
    pub fn builder(&self) -> Builder {
        let connect = Arc::new(MemoryConnect::new(Arc::clone(&self.world), self.clock.clone()));
        Engine::builder().clock(self.clock.clone()).connect(connect).here()
    }

    /// The same, of venues that let themselves be asked as often as anybody likes.
    pub fn unlimited(&self) -> Builder {
        let budget = Budget { weight: 10_000, per: ms(1000) };
        let config = VenueConfig { budget: Some(budget), ..VenueConfig::default() };
        VENUES.iter().fold(self.builder(), |builder, venue| builder.venue_config(venue.profile().id, config.clone()))
    }

    /// Sets faults, written as JSON.
    pub fn faults(&self, json: &str) {
        let file: FaultFile = serde_json::from_str(json).unwrap();
        self.world.add_faults(file.faults, self.clock.now()).unwrap();
    }

    /// Gives how many requests a venue had.
    pub fn requests(&self, venue: &str) -> u64 {
        self.world.stats(self.clock.now()).get(venue).unwrap().requests
    }

    /// Gives how many venues list a pair.
    pub fn listing(&self, pair: &Pair) -> usize {
        VENUES.iter().filter(|v| self.world.listed(v.profile().id).any(|(p, _)| p == *pair)).count()
    }
}

/// Keeps every rate that it is told.
pub struct Listener(pub Arc<Mutex<Vec<Arc<PublishedRate>>>>);

impl Actor for Listener {
    type Context = Context<Self>;
}

impl Handler<RateUpdate> for Listener {
    type Result = ();

    fn handle(&mut self, update: RateUpdate, _: &mut Context<Self>) {
        self.0.lock().unwrap().push(update.0);
    }
}

/// Waits until something is so, ten minutes of the test's time at most.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..60_000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never happened: {what}");
}

pub fn pair(text: &str) -> Pair {
    text.parse().unwrap()
}

pub const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}
