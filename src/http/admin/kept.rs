//! What the admin listener keeps between requests: the last snapshot for a moment, and who did what.

use super::snapshot::Snapshot;
use crate::http::State;
use serde::Serialize;
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

/// For how long a snapshot serves whoever else looks: it bounds what many lookers cost.
const HELD_FOR: Duration = Duration::from_millis(200);
/// How many entries of the audit are kept.
const AUDIT_MAX: usize = 64;

/// Keeps them.
#[derive(Debug)]
pub(crate) struct Kept {
    started: Instant,
    held: Mutex<Option<(Instant, Arc<Snapshot>)>>,
    audit: Mutex<VecDeque<Audited>>,
    /// Is held while a profile is taken.
    profiling: Arc<Semaphore>,
}

/// One thing that an operator did, or was refused.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Audited {
    pub(super) time: String,
    pub(super) peer: String,
    pub(super) action: &'static str,
    /// What it was done to; a name that nothing has is told by its length.
    pub(super) target: String,
    /// `done`, or the code of the refusal.
    pub(super) outcome: &'static str,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    /// Begins now.
    pub(crate) fn new() -> Self {
        Self { started: Instant::now(), held: Mutex::default(), audit: Mutex::default(), profiling: Arc::new(Semaphore::new(1)) }
    }

    /// Gives when it began.
    pub(super) fn started(&self) -> Instant {
        self.started
    }

    /// Gives a snapshot of now, or of a moment ago.
    pub(super) fn snapshot(&self, state: &State) -> Arc<Snapshot> {
        let (mut held, now) = (lock(&self.held), Instant::now());
        if let Some((at, snapshot)) = &*held
            && now.saturating_duration_since(*at) < HELD_FOR
        {
            return Arc::clone(snapshot);
        }
        let snapshot = Arc::new(Snapshot::take(state));
        *held = Some((now, Arc::clone(&snapshot)));
        snapshot
    }

    /// Gives the right to take a profile, which one has at a time.
    pub(super) fn profiling(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.profiling).try_acquire_owned().ok()
    }

    /// Writes down what was done; what was seen before it is no longer so.
    pub(super) fn audit(&self, entry: Audited) {
        log::warn!("admin: {} {} by {}: {}", entry.action, entry.target, entry.peer, entry.outcome);
        *lock(&self.held) = None;
        let mut audit = lock(&self.audit);
        if audit.len() >= AUDIT_MAX {
            audit.pop_front();
        }
        audit.push_back(entry);
    }

    /// Gives what was done, the latest first.
    pub(super) fn audited(&self) -> Vec<Audited> {
        lock(&self.audit).iter().rev().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_audit_is_a_ring() {
        let kept = Kept::new();
        for n in 0..AUDIT_MAX + 3 {
            let (time, peer, target) = (String::new(), String::new(), n.to_string());
            kept.audit(Audited { time, peer, action: "pause", target, outcome: "done" });
        }
        let all = kept.audited();
        assert_eq!((all.len(), &*all[0].target, &*all[AUDIT_MAX - 1].target), (AUDIT_MAX, "66", "3"));
    }
}
