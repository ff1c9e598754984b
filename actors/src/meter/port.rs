//! The sending side: an address that meters, and the ticket that travels with each message.

use super::{Meter, add, cell::MessageCell, reply::Reply};
use actix::{
    Actor, Addr, Context, Handler, Message,
    dev::{OneshotSender, Request, SendError},
};
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

/// Names the messages that an actor is metered for; made by [`metered!`](crate::metered).
pub trait Metered: Actor<Context = Context<Self>> {
    /// The types of messages, in the order of their slots.
    const MESSAGES: &'static [&'static str];
}

/// Says that an actor takes the message `M` with a ticket; made by [`metered!`](crate::metered).
pub trait Accepts<M: Message>: Metered + Handler<M> + Handler<Posted<M>> {
    /// The position of `M` in [`Metered::MESSAGES`].
    const SLOT: usize;
}

/// Meters an actor: makes it take [`Posted<M>`](crate::meter::Posted) for each of its messages by way of its own `Handler<M>`.
///
/// ```
/// use actix::prelude::*;
/// use quorate_actors::meter::{self, Limits, Registry};
///
/// #[derive(Message)]
/// #[rtype(u64)]
/// struct Add(u64);
///
/// struct Sum(u64);
/// impl Actor for Sum {
///     type Context = Context<Self>;
/// }
/// impl Handler<Add> for Sum {
///     type Result = u64;
///     fn handle(&mut self, Add(n): Add, _: &mut Self::Context) -> u64 {
///         self.0 += n;
///         self.0
///     }
/// }
/// quorate_actors::metered!(Sum: Add);
///
/// # #[actix::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::default();
/// let port = meter::start(Sum(0), registry.meter::<Sum>("sum", Limits::default()));
/// assert_eq!(port.send(Add(7))?.await?, 7);
/// let sum = &registry.snapshot(tokio::time::Instant::now()).actors[0];
/// assert_eq!((sum.messages[0].message, sum.messages[0].replied, sum.queued), ("Add", 1, 0));
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! metered {
    ($actor:ty: $($message:ty),+ $(,)?) => {
        impl $crate::meter::Metered for $actor {
            const MESSAGES: &'static [&'static str] = &[$(stringify!($message)),+];
        }
        $crate::metered!(@slot $actor, 0; $($message),+);
    };
    (@slot $actor:ty, $slot:expr; $message:ty $(, $rest:ty)*) => {
        impl $crate::meter::Accepts<$message> for $actor {
            const SLOT: usize = $slot;
        }
        impl $crate::meter::__actix::Handler<$crate::meter::Posted<$message>> for $actor {
            type Result = $crate::meter::Reply<<Self as $crate::meter::__actix::Handler<$message>>::Result>;
            fn handle(&mut self, posted: $crate::meter::Posted<$message>, ctx: &mut Self::Context) -> Self::Result {
                posted.serve(self, ctx)
            }
        }
        $crate::metered!(@slot $actor, 1 + $slot; $($rest),*);
    };
    (@slot $actor:ty, $slot:expr;) => {};
}

/// Carries a message with its ticket.
#[derive(Debug)]
pub struct Posted<M> {
    message: M,
    ticket: Ticket,
}

impl<M: Message> Message for Posted<M> {
    type Result = M::Result;
}

impl<M: Message> Posted<M> {
    /// Hands the message to the actor's own handler, timed; called by [`metered!`](crate::metered).
    pub fn serve<A: Handler<M>>(self, actor: &mut A, ctx: &mut A::Context) -> Reply<A::Result> {
        let Self { message, mut ticket } = self;
        let began = ticket.begin();
        let inner = ticket.timed_from(began, || actor.handle(message, ctx));
        add(&ticket.cell().handled, 1);
        Reply::new(inner, ticket)
    }
}

/// Stands for one message from its sending until its reply is sent; dropped before that, the message counts as lost.
#[derive(Debug)]
pub struct Ticket {
    meter: Arc<Meter>,
    slot: usize,
    stage: Stage,
    handler_ns: u64,
    /// When the last timed stretch ended, which is also when an immediate reply is ready.
    last: u64,
}

/// Instants are in nanoseconds since the meter's epoch.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Queued { sent: u64 },
    InFlight { began: u64 },
    Replied,
}

impl Ticket {
    fn cell(&self) -> &MessageCell {
        self.meter.cell(self.slot)
    }

    /// Moves the message from queued to in flight; gives the instant.
    fn begin(&mut self) -> u64 {
        let now = self.meter.now_ns();
        if let Stage::Queued { sent } = self.stage {
            self.cell().begun(now.saturating_sub(sent));
            self.meter.queued.fall();
            self.stage = Stage::InFlight { began: now };
        }
        now
    }

    /// Runs a stretch of the handler and adds its time.
    pub(super) fn timed<T>(&mut self, stretch: impl FnOnce() -> T) -> T {
        self.timed_from(self.meter.now_ns(), stretch)
    }

    fn timed_from<T>(&mut self, began: u64, stretch: impl FnOnce() -> T) -> T {
        let task = &self.meter.task;
        task.running_since.store(began, Relaxed);
        task.running.store(u64::try_from(self.slot).unwrap_or(u64::MAX).saturating_add(1), Relaxed);
        let running = Running(&task.running);
        let result = stretch();
        drop(running);
        self.last = self.meter.now_ns();
        self.handler_ns = self.handler_ns.saturating_add(self.last.saturating_sub(began));
        result
    }

    /// Replies at another moment than when the handler returned.
    pub(super) fn reply_now<T>(mut self, to: Option<OneshotSender<T>>, result: T) -> bool {
        self.last = self.meter.now_ns();
        self.reply(to, result)
    }

    /// Counts the reply, then sends it: who has the reply also sees it counted. Tells whether the caller was still there.
    pub fn reply<T>(mut self, to: Option<OneshotSender<T>>, result: T) -> bool {
        if let Stage::InFlight { began } = self.stage {
            self.stage = Stage::Replied;
            self.cell().replied(self.handler_ns, self.last.saturating_sub(began));
            self.meter.held.fall();
        }
        // The caller may have gone; the work was done all the same.
        to.is_some_and(|to| to.send(result).is_ok())
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let cell = self.cell();
        match self.stage {
            Stage::Queued { .. } => {
                cell.queued.fall();
                self.meter.queued.fall();
            }
            Stage::InFlight { .. } => cell.in_flight.fall(),
            Stage::Replied => return,
        }
        self.meter.held.fall();
        add(&cell.lost, 1);
    }
}

/// Marks a handler as running, until it returns or panics.
struct Running<'a>(&'a AtomicU64);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.store(0, Relaxed);
    }
}

/// Gives a message back that an actor did not take.
pub enum Refusal<M> {
    /// The mailbox holds as many messages as it may.
    Full {
        /// What was not sent.
        message: M,
        /// The mailbox's bound.
        capacity: u64,
    },
    /// The actor has as many messages queued and in flight as it may.
    Overloaded {
        /// What was not sent.
        message: M,
        /// The actor's bound.
        in_flight_max: u64,
    },
    /// The actor has ended, or its arbiter has.
    Dead {
        /// What was not sent.
        message: M,
    },
}

impl<M> Refusal<M> {
    /// Names the reason: `full`, `overloaded` or `dead`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Full { .. } => "full",
            Self::Overloaded { .. } => "overloaded",
            Self::Dead { .. } => "dead",
        }
    }

    /// Says whether the actor may take the same message a little later.
    pub fn is_retryable(&self) -> bool {
        !matches!(self, Self::Dead { .. })
    }

    /// Gives the message back.
    pub fn into_message(self) -> M {
        match self {
            Self::Full { message, .. } | Self::Overloaded { message, .. } | Self::Dead { message } => message,
        }
    }
}

impl<M> fmt::Display for Refusal<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { capacity, .. } => write!(f, "mailbox is full: it takes at most {capacity} messages"),
            Self::Overloaded { in_flight_max, .. } => {
                write!(f, "actor is overloaded: it takes on at most {in_flight_max} messages at once")
            }
            Self::Dead { .. } => f.write_str("actor is dead: a message needs one that runs"),
        }
    }
}

impl<M> fmt::Debug for Refusal<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Refusal({self})")
    }
}

impl<M> std::error::Error for Refusal<M> {}

/// Sends to an actor, metered: its address and its meter.
pub struct Port<A: Actor> {
    addr: Addr<A>,
    meter: Arc<Meter>,
}

impl<A: Actor> Clone for Port<A> {
    fn clone(&self) -> Self {
        Self { addr: self.addr.clone(), meter: Arc::clone(&self.meter) }
    }
}

impl<A: Actor> fmt::Debug for Port<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Port").field("actor", &self.meter.name()).field("connected", &self.connected()).finish()
    }
}

impl<A: Metered> Port<A> {
    /// Sends a message; the request resolves to the reply, or to [`actix::MailboxError::Closed`] when the message was lost.
    ///
    /// # Errors
    /// Refuses at once, without waiting for a place, when the mailbox is full, the actor overloaded, or dead.
    pub fn send<M>(&self, message: M) -> Result<Request<A, Posted<M>>, Refusal<M>>
    where
        A: Accepts<M>,
        M: Message + Send + 'static,
        M::Result: Send,
    {
        Ok(self.addr.send(self.post(message)?))
    }

    /// Sends a message whose reply nobody waits for.
    ///
    /// # Errors
    /// Refuses when the mailbox is full, the actor overloaded, or dead.
    pub fn try_send<M>(&self, message: M) -> Result<(), Refusal<M>>
    where
        A: Accepts<M>,
        M: Message + Send + 'static,
        M::Result: Send,
    {
        self.addr.try_send(self.post(message)?).map_err(|error| match error {
            // The actor ended between the check and the send: the ticket was issued, so the message counts as lost.
            SendError::Closed(posted) | SendError::Full(posted) => Refusal::Dead { message: posted.message },
        })
    }

    /// Issues a ticket, if the actor may take one more.
    fn post<M: Message>(&self, message: M) -> Result<Posted<M>, Refusal<M>>
    where
        A: Accepts<M>,
    {
        let (meter, slot) = (&self.meter, <A as Accepts<M>>::SLOT);
        let (cell, limits) = (meter.cell(slot), meter.limits);
        if !self.addr.connected() {
            add(&cell.refused.dead, 1);
            return Err(Refusal::Dead { message });
        }
        let Some(held) = meter.held.rise_below(limits.in_flight_max) else {
            add(&cell.refused.overloaded, 1);
            return Err(Refusal::Overloaded { message, in_flight_max: limits.in_flight_max });
        };
        let Some(queued) = meter.queued.rise_below(limits.capacity) else {
            meter.held.fall();
            add(&cell.refused.full, 1);
            return Err(Refusal::Full { message, capacity: limits.capacity });
        };
        meter.held.note(held);
        meter.queued.note(queued);
        cell.sent();
        let sent = meter.now_ns();
        let ticket = Ticket { meter: Arc::clone(meter), slot, stage: Stage::Queued { sent }, handler_ns: 0, last: sent };
        Ok(Posted { message, ticket })
    }
}

impl<A: Actor> Port<A> {
    pub(super) fn new(addr: Addr<A>, meter: Arc<Meter>) -> Self {
        Self { addr, meter }
    }

    /// Says whether the actor lives and its mailbox is open.
    pub fn connected(&self) -> bool {
        self.addr.connected()
    }

    /// Gives the actor's meter.
    pub fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }
}
