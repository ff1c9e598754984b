//! The faults that are set: numbered, waiting, acting, and expiring by themselves.

use super::{
    faults::{FAULTS_MAX, FaultError, FaultName, FaultSpec},
    market::Snapshot,
    noise::{hash, hash_text, unit},
};
use crate::model::UnixMs;
use serde::Serialize;
use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

/// A fault that is set.
#[derive(Debug)]
pub(super) struct Active {
    pub(super) id: u64,
    pub(super) spec: FaultSpec,
    begins: UnixMs,
    ends: Option<UnixMs>,
    /// What the market said when a `frozen` first acted.
    pub(super) first: OnceLock<Snapshot>,
}

impl Active {
    fn lasts(&self, now: UnixMs) -> bool {
        now >= self.begins && !self.is_over(now)
    }

    fn is_over(&self, now: UnixMs) -> bool {
        self.ends.is_some_and(|ends| now >= ends)
    }

    fn is_for(&self, venue: &str) -> bool {
        self.spec.venue == "*" || self.spec.venue == venue
    }

    fn meets(&self, seed: u64, venue: &str, number: u64) -> bool {
        self.spec.share >= 1.0 || unit(hash(&[seed, self.id, hash_text(venue), number])) < self.spec.share
    }
}

/// Describes a fault that is set, for a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedFault {
    /// Its number.
    pub id: u64,
    /// Whether it acts now; one that waits for its `after_ms` does not yet.
    pub active: bool,
    /// What was set.
    #[serde(flatten)]
    pub spec: FaultSpec,
}

/// Holds the faults that are set, in the order of their numbers.
#[derive(Debug, Default)]
pub(super) struct Faults {
    last_id: u64,
    set: Vec<Arc<Active>>,
}

impl Faults {
    /// Sets all of them, or none; they have been checked.
    pub(super) fn add(&mut self, specs: Vec<FaultSpec>, now: UnixMs) -> Result<Vec<u64>, FaultError> {
        self.set.retain(|fault| !fault.is_over(now));
        if self.set.len().saturating_add(specs.len()) > FAULTS_MAX {
            return Err(FaultError::TooMany);
        }
        let mut ids = Vec::with_capacity(specs.len());
        for spec in specs {
            self.last_id = self.last_id.saturating_add(1);
            let begins = now.saturating_add(Duration::from_millis(spec.after_ms));
            let ends = spec.for_ms.map(|ms| begins.saturating_add(Duration::from_millis(ms)));
            self.set.push(Arc::new(Active { id: self.last_id, spec, begins, ends, first: OnceLock::new() }));
            ids.push(self.last_id);
        }
        Ok(ids)
    }

    /// Removes one, or all; counts them.
    pub(super) fn remove(&mut self, id: Option<u64>) -> usize {
        let before = self.set.len();
        self.set.retain(|fault| id.is_some_and(|id| fault.id != id));
        before.saturating_sub(self.set.len())
    }

    pub(super) fn list(&self, now: UnixMs) -> Vec<ListedFault> {
        let there = self.set.iter().filter(|fault| !fault.is_over(now));
        there.map(|fault| ListedFault { id: fault.id, active: fault.lasts(now), spec: fault.spec.clone() }).collect()
    }

    /// Gives the faults that the `number`th request to a venue meets.
    pub(super) fn met(&self, seed: u64, venue: &str, number: u64, now: UnixMs) -> Vec<Arc<Active>> {
        let met = self.set.iter().filter(|fault| fault.lasts(now) && fault.is_for(venue) && fault.meets(seed, venue, number));
        met.cloned().collect()
    }

    /// Tells whether the venue's port is closed, and when that may change by itself.
    pub(super) fn refused(&self, venue: &str, now: UnixMs) -> (bool, Option<UnixMs>) {
        let mut closing = self.set.iter().filter(|f| f.spec.fault == FaultName::Refused && f.is_for(venue) && !f.is_over(now)).peekable();
        if closing.peek().is_none() {
            return (false, None);
        }
        let (mut closed, mut change) = (false, None::<UnixMs>);
        for fault in closing {
            let lasts = fault.lasts(now);
            closed |= lasts;
            let next = if lasts { fault.ends } else { Some(fault.begins) };
            change = change.into_iter().chain(next).min();
        }
        (closed, change)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(json: &str) -> FaultSpec {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn faults_begin_end_and_are_removed_by_number() {
        let mut faults = Faults::default();
        let waits = spec(r#"{"venue":"kraken","fault":"slow","after_ms":100,"for_ms":50}"#);
        let stays = spec(r#"{"venue":"*","fault":"silent"}"#);
        assert_eq!(faults.add(vec![waits, stays], UnixMs(1000)).unwrap(), [1, 2]);
        let met = |faults: &Faults, venue: &str, now: i64| faults.met(1, venue, 0, UnixMs(now)).iter().map(|f| f.id).collect::<Vec<_>>();
        assert_eq!(met(&faults, "kraken", 1099), [2]);
        assert_eq!(met(&faults, "kraken", 1100), [1, 2]);
        assert_eq!(met(&faults, "okx", 1100), [2]);
        assert_eq!(met(&faults, "kraken", 1150), [2]);
        assert_eq!(faults.list(UnixMs(1050)).iter().map(|f| (f.id, f.active)).collect::<Vec<_>>(), [(1, false), (2, true)]);
        assert_eq!(faults.list(UnixMs(1150)).len(), 1);
        assert_eq!((faults.remove(Some(7)), faults.remove(Some(2)), met(&faults, "okx", 1100).len()), (0, 1, 0));
        let many = vec![spec(r#"{"venue":"*","fault":"slow"}"#); FAULTS_MAX];
        assert_eq!(faults.add(many.clone(), UnixMs(1100)), Err(FaultError::TooMany));
        assert_eq!(faults.add(many, UnixMs(9000)).unwrap().len(), FAULTS_MAX);
        assert_eq!(faults.remove(None), FAULTS_MAX);
    }

    #[test]
    fn a_share_meets_that_share() {
        let mut faults = Faults::default();
        faults.add(vec![spec(r#"{"venue":"*","fault":"slow","share":0.3}"#)], UnixMs(0)).unwrap();
        let met = (0..1000).filter(|n| !faults.met(1, "okx", *n, UnixMs(0)).is_empty()).count();
        assert!((250..350).contains(&met), "{met}");
    }

    #[test]
    fn a_closed_port_says_when_it_may_open() {
        let mut faults = Faults::default();
        assert_eq!(faults.refused("okx", UnixMs(0)), (false, None));
        faults.add(vec![spec(r#"{"venue":"okx","fault":"refused","after_ms":10,"for_ms":20}"#)], UnixMs(0)).unwrap();
        assert_eq!(faults.refused("okx", UnixMs(0)), (false, Some(UnixMs(10))));
        assert_eq!(faults.refused("okx", UnixMs(10)), (true, Some(UnixMs(30))));
        assert_eq!(faults.refused("okx", UnixMs(30)), (false, None));
        assert_eq!(faults.refused("kraken", UnixMs(10)), (false, None));
    }
}
