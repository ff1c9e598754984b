//! The cells that are written on the way of a message: one for the actor, one for each type of message.

use super::{
    Limits, add,
    histogram::{Counts, Histogram, bucket_of},
};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};
use tokio::time::Instant;

/// One message queued, as a part of a level.
const QUEUED: u64 = 1;
/// One message in flight, as a part of a level.
const IN_FLIGHT: u64 = 1 << 32;

/// How many messages are queued (the lower half of one word) and in flight (the upper half), so that both change together.
#[derive(Debug, Default)]
pub(super) struct Load {
    level: AtomicU64,
    queued_high: AtomicU64,
    in_flight_high: AtomicU64,
}

/// Why a message was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Capacity,
    InFlight,
}

fn queued_of(level: u64) -> u64 {
    level & (IN_FLIGHT - QUEUED)
}

fn in_flight_of(level: u64) -> u64 {
    level >> 32
}

fn raise(high: &AtomicU64, level: u64) {
    if level > high.load(Relaxed) {
        high.fetch_max(level, Relaxed);
    }
}

impl Load {
    /// Gives how many are queued and in flight.
    pub(super) fn now(&self) -> (u64, u64) {
        let level = self.level.load(Relaxed);
        (queued_of(level), in_flight_of(level))
    }

    /// Gives the most that have been queued, and in flight.
    pub(super) fn high(&self) -> (u64, u64) {
        (self.queued_high.load(Relaxed), self.in_flight_high.load(Relaxed))
    }

    /// Queues one message more, unless a limit is reached.
    pub(super) fn admit(&self, limits: Limits) -> Result<(), Bound> {
        let mut level = self.level.load(Relaxed);
        loop {
            let queued = queued_of(level);
            if queued.wrapping_add(in_flight_of(level)) >= u64::from(limits.in_flight_max) {
                return Err(Bound::InFlight);
            }
            if queued >= u64::from(limits.capacity) {
                return Err(Bound::Capacity);
            }
            match self.level.compare_exchange_weak(level, level.wrapping_add(QUEUED), Relaxed, Relaxed) {
                Ok(_) => {
                    raise(&self.queued_high, queued.wrapping_add(1));
                    return Ok(());
                }
                Err(now) => level = now,
            }
        }
    }

    /// Queues one message more, which another load has admitted.
    fn queue(&self) {
        raise(&self.queued_high, queued_of(self.level.fetch_add(QUEUED, Relaxed)).wrapping_add(1));
    }

    fn begin(&self) {
        raise(&self.in_flight_high, in_flight_of(self.level.fetch_add(IN_FLIGHT - QUEUED, Relaxed)).wrapping_add(1));
    }

    fn end(&self) {
        self.level.fetch_sub(IN_FLIGHT, Relaxed);
    }

    fn unqueue(&self) {
        self.level.fetch_sub(QUEUED, Relaxed);
    }

    pub(super) fn reset_high(&self) {
        let (queued, in_flight) = self.now();
        self.queued_high.store(queued, Relaxed);
        self.in_flight_high.store(in_flight, Relaxed);
    }
}

/// What the whole actor has at hand and what its task does. Instants are in nanoseconds since the epoch, from 1; 0 stands for none.
#[derive(Debug)]
pub(super) struct ActorCell {
    epoch: Instant,
    pub(super) load: Load,
    pub(super) incarnation: AtomicU64,
    pub(super) started: AtomicU64,
    pub(super) polls: AtomicU64,
    pub(super) busy_ns: AtomicU64,
    pub(super) busy_since: AtomicU64,
    pub(super) stuck: AtomicU64,
    /// Slot of the message whose handler runs now, plus one.
    pub(super) running: AtomicU64,
    /// When the present handler began; between handlers, the last instant that was read in this poll, if nothing ran since.
    pub(super) mark: AtomicU64,
}

impl ActorCell {
    pub(super) fn new() -> Self {
        Self {
            epoch: Instant::now(),
            load: Load::default(),
            incarnation: AtomicU64::default(),
            started: AtomicU64::default(),
            polls: AtomicU64::default(),
            busy_ns: AtomicU64::default(),
            busy_since: AtomicU64::default(),
            stuck: AtomicU64::default(),
            running: AtomicU64::default(),
            mark: AtomicU64::default(),
        }
    }

    /// Reads the clock.
    pub(super) fn now_ns(&self) -> u64 {
        self.ns_of(Instant::now())
    }

    /// Wraps after 584 years.
    pub(super) fn ns_of(&self, instant: Instant) -> u64 {
        let time = instant.saturating_duration_since(self.epoch);
        time.as_secs().wrapping_mul(1_000_000_000).wrapping_add(u64::from(time.subsec_nanos())).wrapping_add(1)
    }
}

/// Counts of refusals, one for each reason.
#[derive(Debug, Default)]
pub(super) struct Refused {
    pub(super) full: AtomicU64,
    pub(super) overloaded: AtomicU64,
    pub(super) dead: AtomicU64,
}

/// What became of the messages of one type.
#[derive(Debug)]
pub(super) struct MessageCell {
    pub(super) name: &'static str,
    /// The slot, plus one.
    pub(super) number: u64,
    pub(super) actor: Arc<ActorCell>,
    pub(super) load: Load,
    pub(super) sent: AtomicU64,
    pub(super) handled: AtomicU64,
    pub(super) replied: AtomicU64,
    pub(super) lost: AtomicU64,
    pub(super) refused: Refused,
    pub(super) wait: Histogram,
    pub(super) handler: Histogram,
    pub(super) response: Histogram,
}

/// The bucket counts of wait, handler and response.
#[derive(Clone, Debug, Default)]
pub(super) struct CellCounts {
    pub(super) wait: Counts,
    pub(super) handler: Counts,
    pub(super) response: Counts,
}

impl MessageCell {
    pub(super) fn new(name: &'static str, number: u64, actor: Arc<ActorCell>) -> Self {
        Self {
            name,
            number,
            actor,
            load: Load::default(),
            sent: AtomicU64::default(),
            handled: AtomicU64::default(),
            replied: AtomicU64::default(),
            lost: AtomicU64::default(),
            refused: Refused::default(),
            wait: Histogram::default(),
            handler: Histogram::default(),
            response: Histogram::default(),
        }
    }

    /// Counts a message that the actor's load has admitted.
    pub(super) fn sent(&self) {
        add(&self.sent, 1);
        self.load.queue();
    }

    pub(super) fn begun(&self, wait_ns: u64) {
        self.wait.record(wait_ns);
        self.load.begin();
        self.actor.load.begin();
    }

    pub(super) fn replied(&self, handler_ns: u64, response_ns: u64) {
        let bucket = bucket_of(handler_ns);
        self.handler.record_in(bucket, handler_ns);
        // An immediate reply takes as long as its handler.
        self.response.record_in(if response_ns == handler_ns { bucket } else { bucket_of(response_ns) }, response_ns);
        add(&self.replied, 1);
        self.load.end();
        self.actor.load.end();
    }

    pub(super) fn lost_in_queue(&self) {
        self.load.unqueue();
        self.actor.load.unqueue();
        add(&self.lost, 1);
    }

    pub(super) fn lost_in_flight(&self) {
        self.load.end();
        self.actor.load.end();
        add(&self.lost, 1);
    }

    pub(super) fn counts(&self) -> CellCounts {
        CellCounts { wait: self.wait.counts(), handler: self.handler.counts(), response: self.response.counts() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_keeps_its_limits_and_its_high_water() {
        let load = Load::default();
        let limits = Limits { capacity: 3, in_flight_max: 4 };
        for queued in 1..=3 {
            assert_eq!((load.admit(limits), load.now()), (Ok(()), (queued, 0)));
        }
        assert_eq!((load.admit(limits), load.now()), (Err(Bound::Capacity), (3, 0)));
        load.begin();
        load.begin();
        assert_eq!((load.admit(limits), load.now()), (Ok(()), (2, 2)));
        assert_eq!(load.admit(limits), Err(Bound::InFlight));
        load.end();
        load.unqueue();
        assert_eq!((load.now(), load.high()), ((1, 1), (3, 2)));
        load.reset_high();
        load.queue();
        assert_eq!((load.now(), load.high()), ((2, 1), (2, 1)));
    }

    #[test]
    fn limits_hold_against_many_senders() {
        let load = Load::default();
        let limits = Limits { capacity: 1_000, in_flight_max: 1_000 };
        let admitted = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..400).filter(|_| load.admit(limits).is_ok()).for_each(|_| add(&admitted, 1)));
            }
        });
        assert_eq!((admitted.into_inner(), load.now(), load.high()), (1_000, (1_000, 0), (1_000, 0)));
    }
}
