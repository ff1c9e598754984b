//! The counters of one type of message.

use super::{
    add,
    histogram::{Counts, Histogram},
};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A level and the highest it has been.
#[derive(Debug, Default)]
pub(super) struct Gauge {
    now: AtomicU64,
    high: AtomicU64,
}

impl Gauge {
    pub(super) fn now(&self) -> u64 {
        self.now.load(Relaxed)
    }

    pub(super) fn high(&self) -> u64 {
        self.high.load(Relaxed)
    }

    pub(super) fn rise(&self) {
        self.note(self.now.fetch_add(1, Relaxed).saturating_add(1));
    }

    /// Rises unless the level has reached the limit; gives the new level, which the caller notes once he keeps it.
    pub(super) fn rise_below(&self, limit: u64) -> Option<u64> {
        let below = |level: u64| if level < limit { level.checked_add(1) } else { None };
        self.now.fetch_update(Relaxed, Relaxed, below).ok().map(|level| level.saturating_add(1))
    }

    pub(super) fn note(&self, level: u64) {
        if level > self.high.load(Relaxed) {
            self.high.fetch_max(level, Relaxed);
        }
    }

    pub(super) fn fall(&self) {
        self.now.fetch_sub(1, Relaxed);
    }

    pub(super) fn reset_high(&self) {
        self.high.store(self.now(), Relaxed);
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
    pub(super) sent: AtomicU64,
    pub(super) queued: Gauge,
    pub(super) in_flight: Gauge,
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
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            sent: AtomicU64::default(),
            queued: Gauge::default(),
            in_flight: Gauge::default(),
            handled: AtomicU64::default(),
            replied: AtomicU64::default(),
            lost: AtomicU64::default(),
            refused: Refused::default(),
            wait: Histogram::default(),
            handler: Histogram::default(),
            response: Histogram::default(),
        }
    }

    pub(super) fn sent(&self) {
        add(&self.sent, 1);
        self.queued.rise();
    }

    pub(super) fn begun(&self, wait_ns: u64) {
        self.wait.record(wait_ns);
        self.in_flight.rise();
        self.queued.fall();
    }

    pub(super) fn replied(&self, handler_ns: u64, response_ns: u64) {
        self.handler.record(handler_ns);
        self.response.record(response_ns);
        add(&self.replied, 1);
        self.in_flight.fall();
    }

    pub(super) fn counts(&self) -> CellCounts {
        CellCounts { wait: self.wait.counts(), handler: self.handler.counts(), response: self.response.counts() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gauge_keeps_its_high_water_and_its_limit() {
        let gauge = Gauge::default();
        for want in 1..=3 {
            let level = gauge.rise_below(3).unwrap();
            gauge.note(level);
            assert_eq!(level, want);
        }
        assert_eq!(gauge.rise_below(3), None);
        gauge.fall();
        assert_eq!((gauge.now(), gauge.high()), (2, 3));
        gauge.reset_high();
        assert_eq!(gauge.high(), 2);
        gauge.rise();
        gauge.rise();
        assert_eq!((gauge.now(), gauge.high()), (4, 4));
    }
}
