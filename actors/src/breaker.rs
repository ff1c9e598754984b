//! When a venue is left alone: a circuit breaker as a pure state machine, and the waits that the venue itself asks for.
//!
//! Two things hold a request back, and neither knows of the other. The *circuit* opens on faults, and lets one request through to see whether it may close. A
//! *hold* is the venue's own word (`rate_limited`, `banned`, `geo_blocked`): it lasts as long as the venue says and counts no fault.

use crate::model::{Fault, Group, Reason, Retry, UnixMs};
use serde::Serialize;
use std::time::Duration;
use tokio::time::Instant;

/// Opens after so many faults in a row.
const IN_A_ROW: u32 = 5;
/// Opens when half of so many last results were faults.
const LAST: u32 = 20;
/// The first time that it stays open; each next one is twice that.
const OPEN_FIRST: Duration = Duration::from_secs(1);
/// The longest time that it stays open.
const OPEN_MOST: Duration = Duration::from_secs(60);
/// How long a hold lasts where the venue names no time.
const HOLD_UNSAID: Duration = Duration::from_secs(10);
/// How long a country stays blocked where the venue names no time.
const HOLD_GEO: Duration = Duration::from_secs(3600);
/// The longest hold that is believed.
const HOLD_MOST: Duration = Duration::from_secs(86_400);

/// Guards one venue. Time is an argument, the jitter comes from a seed.
#[derive(Debug)]
pub struct Breaker {
    circuit: Circuit,
    hold: Option<Hold>,
    /// The last results, the newest lowest; a set bit is a fault.
    results: u32,
    in_a_row: u32,
    opened: u32,
    probe_for: Duration,
    rng: fastrand::Rng,
}

#[derive(Clone, Copy, Debug)]
enum Circuit {
    Closed,
    Open { until: Instant },
    HalfOpen { probe_until: Option<Instant> },
}

#[derive(Clone, Copy, Debug)]
struct Hold {
    reason: Reason,
    until: Instant,
}

/// Allows one request, whose outcome is to be recorded.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub struct Permit {
    /// Tells that it is the one request that a half-open breaker lets through.
    pub probe: bool,
}

/// Tells what a breaker does at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BreakerState {
    /// `closed`, `open`, `half_open`, or the reason of a hold.
    pub state: &'static str,
    /// The milliseconds until it changes by itself.
    pub left_ms: Option<u64>,
    /// The instant at which it changes by itself.
    #[serde(skip)]
    pub until: Option<Instant>,
}

impl Breaker {
    /// Makes a closed one. A probe that was never recorded counts as lost after `fetch_timeout`, beyond which no flight lives.
    pub fn new(seed: u64, fetch_timeout: Duration) -> Self {
        let rng = fastrand::Rng::with_seed(seed);
        Self { circuit: Circuit::Closed, hold: None, results: 0, in_a_row: 0, opened: 0, probe_for: fetch_timeout, rng }
    }

    /// Asks for one request.
    ///
    /// # Errors
    /// `breaker_open`, or the venue's own reason while its hold lasts; each says when to try again.
    pub fn permit(&mut self, now: Instant) -> Result<Permit, Fault> {
        self.pass_time(now);
        if let Some(hold) = self.hold {
            return Err(wait(hold.reason, "the venue asked to be left alone", now, hold.until));
        }
        match self.circuit {
            Circuit::Closed => Ok(Permit { probe: false }),
            Circuit::HalfOpen { probe_until: None } => {
                self.circuit = Circuit::HalfOpen { probe_until: Some(later(now, self.probe_for)) };
                Ok(Permit { probe: true })
            }
            Circuit::HalfOpen { probe_until: Some(until) } => {
                Err(wait(Reason::BreakerOpen, "one request is out to try the venue", now, until))
            }
            Circuit::Open { until } => Err(wait(Reason::BreakerOpen, "it failed too often just now", now, until)),
        }
    }

    /// Takes the outcome of a permitted request; `wall` is the wall time of `now`, for a venue that names a date.
    pub fn record(&mut self, now: Instant, wall: UnixMs, outcome: Result<(), &Fault>) {
        self.pass_time(now);
        match outcome {
            Err(fault) if matches!(fault.reason, Reason::RateLimited | Reason::Banned | Reason::GeoBlocked) => {
                self.hold_for(fault, now, wall);
                self.release_probe();
            }
            Err(fault) if fault.reason.is_fault() => self.count_fault(now),
            // Our own refusals say nothing of the venue.
            Err(fault) if fault.reason.group() == Group::Ours => self.release_probe(),
            Ok(()) | Err(_) => self.count_answer(),
        }
    }

    /// Tells what it does at `now`.
    pub fn state(&self, now: Instant) -> BreakerState {
        let (state, until) = match (self.hold, self.circuit) {
            (Some(hold), _) if now < hold.until => (hold.reason.slug(), Some(hold.until)),
            (_, Circuit::Open { until }) if now < until => ("open", Some(until)),
            (_, Circuit::Open { .. }) => ("half_open", None),
            (_, Circuit::HalfOpen { probe_until }) => ("half_open", probe_until.filter(|until| now < *until)),
            (_, Circuit::Closed) => ("closed", None),
        };
        let left_ms = until.map(|until| u64::try_from(until.saturating_duration_since(now).as_millis()).unwrap_or(u64::MAX));
        BreakerState { state, left_ms, until }
    }

    fn pass_time(&mut self, now: Instant) {
        self.hold = self.hold.filter(|hold| now < hold.until);
        self.circuit = match self.circuit {
            Circuit::Open { until } if until <= now => Circuit::HalfOpen { probe_until: None },
            Circuit::HalfOpen { probe_until: Some(until) } if until <= now => Circuit::HalfOpen { probe_until: None },
            same => same,
        };
    }

    fn release_probe(&mut self) {
        if matches!(self.circuit, Circuit::HalfOpen { .. }) {
            self.circuit = Circuit::HalfOpen { probe_until: None };
        }
    }

    fn count_answer(&mut self) {
        match self.circuit {
            Circuit::Closed => {
                self.results <<= 1;
                self.in_a_row = 0;
            }
            Circuit::HalfOpen { .. } => {
                (self.circuit, self.opened, self.results, self.in_a_row) = (Circuit::Closed, 0, 0, 0);
            }
            // A late answer to a request from before: the circuit waits for one of its own.
            Circuit::Open { .. } => {}
        }
    }

    fn count_fault(&mut self, now: Instant) {
        match self.circuit {
            Circuit::Closed => {
                self.results = (self.results << 1) | 1;
                self.in_a_row = self.in_a_row.saturating_add(1);
                let last = self.results & (1_u32 << LAST).saturating_sub(1);
                if self.in_a_row >= IN_A_ROW || last.count_ones() >= LAST / 2 {
                    self.open(now);
                }
            }
            Circuit::HalfOpen { .. } => self.open(now),
            Circuit::Open { .. } => {}
        }
    }

    fn open(&mut self, now: Instant) {
        let whole = OPEN_FIRST.saturating_mul(1_u32.checked_shl(self.opened).unwrap_or(u32::MAX)).min(OPEN_MOST);
        // All venues failed at once when our own line did: the upper half of the wait is random, so that they do not come back at once.
        let half = u64::try_from(whole.as_millis()).unwrap_or(u64::MAX) / 2;
        let open_for = Duration::from_millis(half.saturating_add(self.rng.u64(0..=half)));
        self.circuit = Circuit::Open { until: later(now, open_for) };
        self.opened = self.opened.saturating_add(1).min(16);
        (self.results, self.in_a_row) = (0, 0);
    }

    fn hold_for(&mut self, fault: &Fault, now: Instant, wall: UnixMs) {
        let said = match fault.retry {
            Some(Retry::After(wait)) => wait,
            Some(Retry::At(time)) => time.since(wall),
            None => Duration::ZERO,
        };
        // "Now" is no wait, and a date that has passed is one of our clocks' errors.
        let unsaid = if fault.reason == Reason::GeoBlocked { HOLD_GEO } else { HOLD_UNSAID };
        let until = later(now, if said.is_zero() { unsaid } else { said.min(HOLD_MOST) });
        if self.hold.is_none_or(|hold| hold.until < until) {
            self.hold = Some(Hold { reason: fault.reason, until });
        }
    }
}

fn wait(reason: Reason, detail: &'static str, now: Instant, until: Instant) -> Fault {
    Fault::new(reason, detail).retry(Some(Retry::After(until.saturating_duration_since(now))))
}

fn later(now: Instant, by: Duration) -> Instant {
    now.checked_add(by).unwrap_or(now)
}

#[cfg(test)]
#[path = "breaker/tests.rs"]
mod tests;
