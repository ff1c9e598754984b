//! Who hears of the changes of a pair. Kept beside the coordinator, so that its end is nobody's who listens.

use super::QuoteUpdate;
use crate::{board::Published, hash::SmallMap, model::Pair};
use actix::{Recipient, prelude::SendError};
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// The most subscribers of one pair.
const SUBSCRIBERS_MAX: usize = 1024;

/// Holds the subscribers of every pair.
#[derive(Default)]
pub(crate) struct Subscribers {
    by_pair: Mutex<SmallMap<Pair, Vec<Recipient<QuoteUpdate>>>>,
    missed: AtomicU64,
}

impl Subscribers {
    fn lock(&self) -> MutexGuard<'_, SmallMap<Pair, Vec<Recipient<QuoteUpdate>>>> {
        self.by_pair.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds one; tells whether there was room.
    pub(super) fn add(&self, pair: Pair, to: Recipient<QuoteUpdate>) -> bool {
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
    pub(super) fn tell(&self, pair: &Pair, published: &Arc<Published>) {
        let mut by_pair = self.lock();
        let Some(those) = by_pair.get_mut(pair) else { return };
        those.retain(|to| match to.try_send(QuoteUpdate(Arc::clone(published))) {
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
