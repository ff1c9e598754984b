//! Who hears of the changes of a pair. Kept beside the coordinator, so that its end is nobody's who listens.

use crate::{hash::SmallMap, model::Pair};
use actix::{Message, Recipient, prelude::SendError};
use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// The most subscribers of one pair.
const SUBSCRIBERS_MAX: usize = 1024;

/// Holds the subscribers of every pair to one kind of update.
pub(crate) struct Subscribers<M: Update> {
    by_pair: Mutex<SmallMap<Pair, Vec<Recipient<M>>>>,
    missed: AtomicU64,
}

/// What subscribers are told.
pub(crate) trait Update: Message<Result = ()> + Clone + Send + 'static {}
impl<M: Message<Result = ()> + Clone + Send + 'static> Update for M {}

impl<M: Update> Default for Subscribers<M> {
    fn default() -> Self {
        Self { by_pair: Mutex::default(), missed: AtomicU64::new(0) }
    }
}

impl<M: Update> Subscribers<M> {
    fn lock(&self) -> MutexGuard<'_, SmallMap<Pair, Vec<Recipient<M>>>> {
        self.by_pair.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds one; tells whether there was room.
    pub(super) fn add(&self, pair: Pair, to: Recipient<M>) -> bool {
        let mut by_pair = self.lock();
        let those = by_pair.entry(pair).or_default();
        those.retain(Recipient::connected);
        if those.len() >= SUBSCRIBERS_MAX {
            return false;
        }
        those.push(to);
        true
    }

    /// Tells whether anybody listens to a pair.
    pub(super) fn listen_to(&self, pair: &Pair) -> bool {
        self.lock().get(pair).is_some_and(|those| those.iter().any(Recipient::connected))
    }

    /// Tells everybody of a change; who has ended is forgotten.
    pub(super) fn tell(&self, pair: &Pair, update: &M) {
        let mut by_pair = self.lock();
        let Some(those) = by_pair.get_mut(pair) else { return };
        those.retain(|to| match to.try_send(update.clone()) {
            Ok(()) => true,
            Err(SendError::Full(_)) => {
                self.missed.fetch_add(1, Relaxed);
                true
            }
            Err(SendError::Closed(_)) => false,
        });
        if those.is_empty() {
            by_pair.remove(pair);
        }
    }

    /// Counts the changes that a full mailbox kept from its actor.
    pub(crate) fn missed(&self) -> u64 {
        self.missed.load(Relaxed)
    }
}
