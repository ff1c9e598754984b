//! Wall time as wall₀ + tokio's elapsed time: the one file that reads the system clock.
//!
//! Everything else takes time as an argument or asks tokio, so that a test can pause it. Ages never jump: they are differences of tokio's `Instant`.

use crate::model::UnixMs;
use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, SystemTime},
};
use tokio::time::Instant;

/// The drift beyond which the clock is anchored anew.
const DRIFT_MAX: Duration = Duration::from_millis(500);

/// Tells wall time by the monotonic clock.
#[derive(Clone, Debug)]
pub struct Clock(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    start: Instant,
    wall_at_start: AtomicI64,
    anchored: AtomicU64,
    /// Whether the system clock is looked at again after the start.
    follows: bool,
}

impl Clock {
    /// Reads the system clock once and starts from there.
    #[must_use]
    pub fn start() -> Self {
        Self::at_start(system_ms(), true)
    }

    /// Starts at a given wall time and never looks at the system clock: for tests and replays, whose time is not the system's.
    #[must_use]
    pub fn detached(wall: UnixMs) -> Self {
        Self::at_start(wall.0, false)
    }

    fn at_start(wall_ms: i64, follows: bool) -> Self {
        Self(Arc::new(Inner { start: Instant::now(), wall_at_start: AtomicI64::new(wall_ms), anchored: AtomicU64::new(0), follows }))
    }

    /// Gives the wall time now.
    pub fn now(&self) -> UnixMs {
        self.at(Instant::now())
    }

    /// Gives the wall time of a monotonic instant.
    pub fn at(&self, instant: Instant) -> UnixMs {
        let start = UnixMs(self.0.wall_at_start.load(Relaxed));
        match instant.checked_duration_since(self.0.start) {
            Some(later) => start.saturating_add(later),
            None => {
                let earlier = self.0.start.saturating_duration_since(instant).as_millis();
                UnixMs(start.0.saturating_sub(i64::try_from(earlier).unwrap_or(i64::MAX)))
            }
        }
    }

    /// Gives the monotonic instant of a wall time, as near as that can be told; `None` beyond what an `Instant` holds.
    pub fn instant_of(&self, time: UnixMs) -> Option<Instant> {
        let start = UnixMs(self.0.wall_at_start.load(Relaxed));
        if time >= start { self.0.start.checked_add(time.since(start)) } else { self.0.start.checked_sub(start.since(time)) }
    }

    /// Compares with the system clock and anchors anew when they are more than 500 ms apart; called once a second. Gives the step taken, in milliseconds.
    pub fn check(&self) -> Option<i64> {
        if !self.0.follows {
            return None;
        }
        let step = system_ms().saturating_sub(self.now().0);
        if step.unsigned_abs() <= u64::try_from(DRIFT_MAX.as_millis()).unwrap_or(u64::MAX) {
            return None;
        }
        self.0.wall_at_start.fetch_add(step, Relaxed);
        self.0.anchored.fetch_add(1, Relaxed);
        log::warn!("the system clock was set: wall time moved by {step} ms");
        Some(step)
    }

    /// Counts how often the clock was anchored anew.
    pub fn anchored(&self) -> u64 {
        self.0.anchored.load(Relaxed)
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place")]
fn system_ms() -> i64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn wall_time_follows_the_monotonic_clock_both_ways() {
        let clock = Clock::start();
        let (before, at) = (clock.now(), Instant::now());
        tokio::time::advance(Duration::from_millis(1500)).await;
        assert_eq!(clock.now().since(before), Duration::from_millis(1500));
        assert_eq!(clock.at(at), before);
        assert_eq!(clock.instant_of(before), Some(at));
        assert_eq!(clock.at(at.checked_sub(Duration::from_millis(7)).unwrap()).0, before.0 - 7);
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_ran_away_is_anchored_anew() {
        let clock = Clock::start();
        assert_eq!(clock.check(), None);
        tokio::time::advance(Duration::from_secs(60)).await;
        let step = clock.check().unwrap();
        assert!((-61_000..=-59_000).contains(&step), "{step}");
        assert_eq!((clock.check(), clock.anchored()), (None, 1));
    }
}
