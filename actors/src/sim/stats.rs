//! What a simulated venue counts.

use super::desk::Desk;
use crate::model::UnixMs;
use serde::Serialize;
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, AtomicU64, Ordering::Relaxed},
    },
};

/// How many paths are counted apart; what comes later counts as `other`.
const PATHS_MAX: usize = 64;
const PATH_LENGTH_MAX: usize = 200;
const OTHER: &str = "other";

#[derive(Debug)]
pub(super) struct Stats {
    /// Numbers all requests; unlike `requests` it is never reset, since what is drawn for a request depends on it.
    sequence: AtomicU64,
    requests: AtomicU64,
    opened: AtomicU64,
    open: AtomicU64,
    last: AtomicI64,
    by_path: Mutex<BTreeMap<String, u64>>,
}

const NEVER: i64 = i64::MIN;

/// Holds what a venue counted since the start, or since the last reset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VenueStats {
    /// Requests read.
    pub requests: u64,
    /// The same by path, without its query; further ones than 64 are together under `other`.
    pub by_path: BTreeMap<String, u64>,
    /// Connections opened.
    pub connections_opened: u64,
    /// Connections open now.
    pub connections_open: u64,
    /// The age of the last request; `None` when there was none.
    pub last_request_ms_ago: Option<u64>,
}

impl Default for Stats {
    fn default() -> Self {
        let zero = AtomicU64::default;
        let last = AtomicI64::new(NEVER);
        Self { sequence: zero(), requests: zero(), opened: zero(), open: zero(), last, by_path: Mutex::default() }
    }
}

impl Stats {
    /// Counts a request and gives its number.
    pub(super) fn request(&self, target: &str, now: UnixMs) -> u64 {
        self.requests.fetch_add(1, Relaxed);
        self.last.store(now.0, Relaxed);
        let path = target.split('?').next().unwrap_or_default();
        let mut by_path = self.by_path.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = by_path.get_mut(path) {
            *count = count.saturating_add(1);
        } else {
            let room = by_path.len() < PATHS_MAX && path.len() <= PATH_LENGTH_MAX;
            let count = by_path.entry(if room { path } else { OTHER }.to_owned()).or_default();
            *count = count.saturating_add(1);
        }
        self.sequence.fetch_add(1, Relaxed)
    }

    pub(super) fn read(&self, now: UnixMs) -> VenueStats {
        let last = self.last.load(Relaxed);
        VenueStats {
            requests: self.requests.load(Relaxed),
            by_path: self.by_path.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            connections_opened: self.opened.load(Relaxed),
            connections_open: self.open.load(Relaxed),
            last_request_ms_ago: (last != NEVER).then(|| u64::try_from(now.since(UnixMs(last)).as_millis()).unwrap_or(u64::MAX)),
        }
    }

    /// Starts counting anew; open connections stay open.
    pub(super) fn reset(&self) {
        self.requests.store(0, Relaxed);
        self.opened.store(0, Relaxed);
        self.last.store(NEVER, Relaxed);
        self.by_path.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Counts as an open connection of a venue until it is dropped.
#[derive(Debug)]
pub struct Connection(Arc<Desk>);

impl Connection {
    pub(super) fn open(desk: &Arc<Desk>) -> Self {
        desk.stats.opened.fetch_add(1, Relaxed);
        desk.stats.open.fetch_add(1, Relaxed);
        Self(Arc::clone(desk))
    }

    /// Gives the venue's id.
    pub fn venue(&self) -> &str {
        self.0.id()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.stats.open.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_bounded_and_numbers_go_on_after_a_reset() {
        let stats = Stats::default();
        for n in 0..100 {
            assert_eq!(stats.request(&format!("/p{n}?x=1"), UnixMs(5)), n);
        }
        stats.request("/p1?y=2", UnixMs(5));
        let read = stats.read(UnixMs(12));
        assert_eq!((read.requests, read.by_path.len(), read.last_request_ms_ago), (101, PATHS_MAX + 1, Some(7)));
        assert_eq!((read.by_path["/p1"], read.by_path[OTHER]), (2, 36));
        stats.reset();
        assert_eq!(stats.read(UnixMs(12)), VenueStats::default());
        assert_eq!(stats.request("/", UnixMs(13)), 101);
    }
}
