//! The connections to the public listener: so many are served at once, the next wait for a place, and both are counted.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Counts connections, over all workers.
#[derive(Debug)]
pub struct Connections {
    limit: usize,
    places: Arc<Semaphore>,
    waiting: AtomicU64,
    waited: AtomicU64,
}

/// Holds a connection's place until it is dropped.
#[derive(Debug)]
pub struct Place {
    _permit: OwnedSemaphorePermit,
}

/// Holds the figures of one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// How many are served at once.
    pub limit: usize,
    /// How many are being served.
    pub open: usize,
    /// How many wait for a place.
    pub waiting: u64,
    /// How many had to wait since the start.
    pub waited: u64,
}

impl Connections {
    /// Makes room for `limit` connections.
    pub fn new(limit: usize) -> Self {
        let limit = limit.min(Semaphore::MAX_PERMITS);
        Self { limit, places: Arc::new(Semaphore::new(limit)), waiting: AtomicU64::new(0), waited: AtomicU64::new(0) }
    }

    /// Gives a place, as soon as there is one; first come, first served. `None`: there will be none.
    pub async fn enter(&self) -> Option<Place> {
        if let Ok(permit) = Arc::clone(&self.places).try_acquire_owned() {
            return Some(Place { _permit: permit });
        }
        let _waiting = Waiting::begin(self);
        Some(Place { _permit: Arc::clone(&self.places).acquire_owned().await.ok()? })
    }

    /// Gives the figures of this moment.
    pub fn figures(&self) -> Figures {
        Figures {
            limit: self.limit,
            open: self.limit.saturating_sub(self.places.available_permits()),
            waiting: self.waiting.load(Relaxed),
            waited: self.waited.load(Relaxed),
        }
    }
}

/// Counts one that waits, until it has its place or is gone.
struct Waiting<'a>(&'a Connections);

impl<'a> Waiting<'a> {
    fn begin(connections: &'a Connections) -> Self {
        connections.waiting.fetch_add(1, Relaxed);
        connections.waited.fetch_add(1, Relaxed);
        Self(connections)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Relaxed);
    }
}
