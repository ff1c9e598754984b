//! The actor's own task, timed: busy ratio, stuck since.

use super::{Meter, Metered, Port, STUCK_NS, add};
use actix::{
    Actor, Addr, ArbiterHandle, Context,
    dev::{
        ContextFut,
        channel::{AddressReceiver, channel},
    },
};
use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, atomic::Ordering::Relaxed},
    task::{self, Poll},
    thread,
};

/// Starts an actor in the current arbiter.
///
/// # Panics
/// Panics outside of an actix system, as `Actor::start` does.
pub fn start<A: Metered>(actor: A, meter: Arc<Meter>) -> Port<A> {
    let (port, mailbox, life) = open(meter);
    life.run(mailbox, || actor);
    port
}

/// Starts an actor in another arbiter, built there by `make`; the port takes messages at once.
///
/// # Errors
/// Gives [`ArbiterDead`] when the arbiter has ended. Should it end before it has called `make`, the port is not connected.
pub fn start_in<A: Metered>(
    arbiter: &ArbiterHandle,
    meter: Arc<Meter>,
    make: impl FnOnce() -> A + Send + 'static,
) -> Result<Port<A>, ArbiterDead> {
    let (port, mailbox, life) = open(meter);
    if arbiter.spawn_fn(move || life.run(mailbox, make)) { Ok(port) } else { Err(ArbiterDead) }
}

/// Says that an arbiter has ended, so that nothing can be started in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("arbiter is dead: an actor needs one that runs")]
pub struct ArbiterDead;

fn open<A: Metered>(meter: Arc<Meter>) -> (Port<A>, AddressReceiver<A>, Life) {
    // Unbounded: the meter's bound is exact, and a full actix mailbox never wakes the sender that waits for it.
    let (address, mailbox) = channel(0);
    (Port::new(Addr::new(address), Arc::clone(&meter)), mailbox, Life::begin(meter))
}

/// Times each poll of an actor's task.
#[derive(Debug)]
struct Timed<A: Actor<Context = Context<A>>> {
    // Dropped first: what the actor loses is counted before its end is noted.
    inner: ContextFut<A, Context<A>>,
    life: Life,
}

impl<A: Actor<Context = Context<A>>> Future for Timed<A> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        let Self { inner, life } = &mut *self;
        let _busy = life.enter();
        Pin::new(inner).poll(cx)
    }
}

/// One life of an actor, from its start to its end, whichever way it ends.
#[derive(Debug)]
struct Life {
    meter: Arc<Meter>,
    number: u64,
}

impl Life {
    fn begin(meter: Arc<Meter>) -> Self {
        let cell = &meter.actor;
        let number = cell.incarnation.fetch_add(1, Relaxed).saturating_add(1);
        cell.started.store(cell.now_ns(), Relaxed);
        cell.busy_since.store(0, Relaxed);
        cell.running.store(0, Relaxed);
        meter.set_state("starting");
        Self { meter, number }
    }

    fn run<A: Metered>(self, mailbox: AddressReceiver<A>, make: impl FnOnce() -> A) {
        self.meter.set_state("running");
        let inner = Context::with_receiver(mailbox).into_future(make());
        actix::spawn(Timed { inner, life: self });
    }

    /// Says whether no later incarnation has taken over; one that is stuck may end long after its successor began.
    fn is_present(&self) -> bool {
        self.meter.actor.incarnation.load(Relaxed) == self.number
    }

    fn enter(&self) -> Busy<'_> {
        let cell = &self.meter.actor;
        let since = cell.now_ns();
        if self.is_present() {
            cell.busy_since.store(since, Relaxed);
            cell.mark.store(since, Relaxed);
        }
        Busy { life: self, since }
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        if self.is_present() {
            let panicked = thread::panicking();
            self.meter.set_state(if panicked { "panicked" } else { "stopped" });
            if panicked {
                self.meter.note_error("a handler panicked");
            }
        }
    }
}

/// One poll of the actor's task; counts itself when it ends, by a panic too.
struct Busy<'a> {
    life: &'a Life,
    since: u64,
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let cell = &self.life.meter.actor;
        let busy_ns = cell.now_ns().saturating_sub(self.since);
        add(&cell.busy_ns, busy_ns);
        add(&cell.polls, 1);
        if busy_ns > STUCK_NS {
            add(&cell.stuck, 1);
        }
        if self.life.is_present() {
            cell.busy_since.store(0, Relaxed);
            cell.mark.store(0, Relaxed);
        }
    }
}
