//! The sending side: an address that meters, and the ticket that travels with each message.

use super::{
    Meter, add,
    cell::{Bound, MessageCell},
    reply::Reply,
};
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

/// Carries a message to an actor's mailbox, counted as queued until it is begun or dropped.
#[derive(Debug)]
pub struct Posted<M> {
    message: M,
    place: Place,
}

impl<M: Message> Message for Posted<M> {
    type Result = M::Result;
}

impl<M: Message> Posted<M> {
    /// Hands the message to the actor's own handler, timed; called by [`metered!`](crate::metered).
    pub fn serve<A: Handler<M>>(self, actor: &mut A, ctx: &mut A::Context) -> Reply<A::Result> {
        let Self { message, place } = self;
        let mut ticket = place.begin();
        let inner = ticket.handle(|| actor.handle(message, ctx));
        Reply::new(inner, ticket)
    }
}

/// Stands for a message in the mailbox; dropped, the message counts as lost.
#[derive(Debug)]
struct Place {
    cell: Arc<MessageCell>,
    /// When the message was sent, in nanoseconds since the epoch; 0 once it is begun.
    sent: u64,
}

impl Place {
    fn take(cell: &Arc<MessageCell>) -> Self {
        cell.sent();
        Self { cell: Arc::clone(cell), sent: cell.actor.now_ns() }
    }

    /// Moves the message from queued to in flight.
    ///
    /// A mailbox is emptied first in a poll and without a pause. So a message sent before the last mark was waiting for just that (the poll's start, or the
    /// end of the handler before), and began with it: no need to read the clock. Only `ctx.wait` and unmetered messages can come in between, and then count
    /// as the message's own time.
    fn begin(mut self) -> Ticket {
        let sent = std::mem::take(&mut self.sent);
        let cell = Arc::clone(&self.cell);
        let mark = cell.actor.mark.load(Relaxed);
        let began = if sent <= mark { mark } else { cell.actor.now_ns() };
        cell.begun(began.saturating_sub(sent));
        Ticket { cell, replied: false, began, ended: began, handler_ns: 0 }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.sent != 0 {
            self.cell.lost_in_queue();
        }
    }
}

/// Stands for a message from its begin until its reply is sent; dropped before that, the message counts as lost.
///
/// Instants are in nanoseconds since the meter's epoch.
#[derive(Debug)]
pub struct Ticket {
    cell: Arc<MessageCell>,
    replied: bool,
    began: u64,
    /// When the last timed stretch ended, which is also when the reply was ready.
    ended: u64,
    handler_ns: u64,
}

impl Ticket {
    /// Runs the handler's call.
    fn handle<T>(&mut self, call: impl FnOnce() -> T) -> T {
        let result = self.timed(self.began, call);
        self.cell.actor.mark.store(self.ended, Relaxed);
        add(&self.cell.handled, 1);
        result
    }

    /// Runs one more stretch of the handler, a poll of its reply future, and adds its time.
    pub(super) fn resumed<T>(&mut self, stretch: impl FnOnce() -> T) -> T {
        let result = self.timed(self.cell.actor.now_ns(), stretch);
        // Other futures may run next.
        self.cell.actor.mark.store(0, Relaxed);
        result
    }

    fn timed<T>(&mut self, began: u64, stretch: impl FnOnce() -> T) -> T {
        let actor = &self.cell.actor;
        actor.mark.store(began, Relaxed);
        actor.running.store(self.cell.number, Relaxed);
        let running = Running(&actor.running);
        let result = stretch();
        drop(running);
        self.ended = actor.now_ns();
        self.handler_ns = self.handler_ns.wrapping_add(self.ended.saturating_sub(began));
        result
    }

    /// Replies at another moment than when the handler returned; tells whether the caller was still there.
    pub(super) fn reply_now<T>(mut self, to: Option<OneshotSender<T>>, result: T) -> bool {
        self.ended = self.cell.actor.now_ns();
        self.reply(to, result)
    }

    /// Counts the reply, then sends it: who has the reply also sees it counted. Tells whether the caller was still there.
    pub fn reply<T>(mut self, to: Option<OneshotSender<T>>, result: T) -> bool {
        self.replied = true;
        self.cell.replied(self.handler_ns, self.ended.saturating_sub(self.began));
        // The caller may have gone; the work was done all the same.
        to.is_some_and(|to| to.send(result).is_ok())
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.replied {
            self.cell.lost_in_flight();
        }
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
        capacity: u32,
    },
    /// The actor has as many messages queued and in flight as it may.
    Overloaded {
        /// What was not sent.
        message: M,
        /// The actor's bound.
        in_flight_max: u32,
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
        let cell = self.meter.cell(<A as Accepts<M>>::SLOT);
        if !self.addr.connected() {
            add(&cell.refused.dead, 1);
            return Err(Refusal::Dead { message });
        }
        let limits = self.meter.limits;
        match self.meter.actor.load.admit(limits) {
            Ok(()) => Ok(Posted { message, place: Place::take(cell) }),
            Err(Bound::Capacity) => {
                add(&cell.refused.full, 1);
                Err(Refusal::Full { message, capacity: limits.capacity })
            }
            Err(Bound::InFlight) => {
                add(&cell.refused.overloaded, 1);
                Err(Refusal::Overloaded { message, in_flight_max: limits.in_flight_max })
            }
        }
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
