//! Mailbox metering for actix actors: how deep, how long, how busy, and what was lost.
//!
//! actix shows no mailbox length. A [`Port`] (address + meter) therefore sends a ticket with each message, which lives until the reply is sent or dropped,
//! and the actor's own task is timed. What the figures mean:
//!
//! - `sent = queued + in_flight + replied + lost` holds for each type of message at every quiet moment; `refused` were never sent.
//! - `wait` is send → begin, `response` begin → reply, `handler` the time in the handler's call and in the polls of its reply future.
//! - Counters only go up and survive restarts of the actor; rates are the reader's arithmetic between two snapshots.
//!
//! The mailbox bound is the meter's own and exact. actix's is switched off: it grants one more place to each clone of an address, and a `send` that finds
//! it full is never woken again. An actor must not call `set_mailbox_capacity` itself.
//!
//! The cost, in instructions by callgrind with link-time optimisation (which leaves out the kernel's part of a clock read): about 310 a message with an
//! immediate reply while the mailbox is busy, when a message takes two clock reads of 80 each; 500 when each message is a poll of its own, which takes two
//! more. `benches/instructions.rs` counts both.
//!
//! This module knows actix and nothing of this project.

mod buckets;
mod cell;
mod events;
mod histogram;
mod port;
mod registry;
mod reply;
mod snapshot;
mod task;
mod window;

pub use buckets::{BucketCounts, Buckets};
pub use events::Event;
pub use port::{Accepts, Metered, Port, Posted, Refusal, Ticket};
pub use registry::{Registry, Snapshot};
pub use reply::{Deliver, Promise, Promised, Reply, promise};
pub use snapshot::{ActorSnapshot, MessageSnapshot, RunningNow, Times};
pub use task::{ArbiterDead, start, start_in};

#[doc(hidden)]
pub use actix as __actix;

use cell::{ActorCell, MessageCell};
use events::Events;
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};
use window::Windows;

/// The time beyond which one poll of an actor's task counts as stuck, in nanoseconds.
const STUCK_NS: u64 = 100_000_000;

/// Bounds what an actor takes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Messages that may wait in the mailbox.
    pub capacity: u32,
    /// Messages that may be queued or begun and not yet replied: a mailbox bound does not bound reply futures.
    pub in_flight_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { capacity: 256, in_flight_max: 1024 }
    }
}

/// Counts what one actor is sent and what becomes of it, over all restarts of the actor.
#[derive(Debug)]
pub struct Meter {
    name: String,
    limits: Limits,
    actor: Arc<ActorCell>,
    messages: Box<[Arc<MessageCell>]>,
    /// Takes the messages of an actor that this meter was not made for, so that nothing goes uncounted.
    other: Arc<MessageCell>,
    state: Mutex<State>,
    restarts: Mutex<BTreeMap<&'static str, u64>>,
    windows: Mutex<Windows>,
    events: Mutex<Events>,
}

#[derive(Debug)]
struct State {
    word: &'static str,
    since: u64,
}

impl Meter {
    /// Makes a meter for the actor `A`; it outlives the actor and is handed to each incarnation.
    pub fn new<A: Metered>(name: impl Into<String>, limits: Limits) -> Self {
        let actor = Arc::new(ActorCell::new());
        let cell = |(number, name): (u64, &'static str)| Arc::new(MessageCell::new(name, number, Arc::clone(&actor)));
        let messages: Box<[_]> = (1..).zip(A::MESSAGES.iter().copied()).map(cell).collect();
        let other = cell((u64::MAX, "other"));
        let state = Mutex::new(State { word: "new", since: actor.now_ns() });
        let (restarts, windows, events) = (Mutex::default(), Mutex::new(Windows::new()), Mutex::default());
        Self { name: name.into(), limits, actor, messages, other, state, restarts, windows, events }
    }

    /// Gives the actor's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives the actor's bounds.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Notes the actor's state in a word of its own; the time of the change is kept when the word is a new one.
    pub fn set_state(&self, word: &'static str) {
        let mut state = lock(&self.state);
        if state.word != word {
            *state = State { word, since: self.actor.now_ns() };
            drop(state);
            self.note("state", word);
        }
    }

    /// Gives the state's word and how long it has been so.
    pub fn state(&self) -> (&'static str, Duration) {
        let state = lock(&self.state);
        (state.word, Duration::from_nanos(self.actor.now_ns().saturating_sub(state.since)))
    }

    /// Counts a restart by its cause, which must come from a closed list.
    pub fn restarted(&self, cause: &'static str) {
        let mut restarts = lock(&self.restarts);
        let count = restarts.entry(cause).or_default();
        *count = count.saturating_add(1);
        drop(restarts);
        self.note("restart", cause);
    }

    /// Sets the high-water marks back to the present depths; counters stay.
    pub fn reset_high(&self) {
        self.actor.load.reset_high();
        for cell in self.cells() {
            cell.load.reset_high();
        }
    }

    /// Counts messages that wait in the mailbox now.
    pub fn queued(&self) -> u64 {
        self.actor.load.now().0
    }

    /// Counts messages begun and not yet replied now.
    pub fn in_flight(&self) -> u64 {
        self.actor.load.now().1
    }

    fn cells(&self) -> impl Iterator<Item = &Arc<MessageCell>> {
        self.messages.iter().chain(std::iter::once(&self.other))
    }

    fn cell(&self, slot: usize) -> &Arc<MessageCell> {
        self.messages.get(slot).unwrap_or(&self.other)
    }
}

/// Locks; what a panicking thread left behind is still a whole value here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn add(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Relaxed);
}
