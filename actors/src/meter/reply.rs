//! The way of a handler's result to the caller, with the ticket alongside until it has left.

use super::port::{Posted, Ticket};
use actix::{
    Actor, ActorFuture, AsyncContext, Message, MessageResult, ResponseActFuture, ResponseFuture,
    dev::{MessageResponse, OneshotSender},
};
use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

/// Holds a handler's result and the ticket of the message it answers.
#[derive(Debug)]
pub struct Reply<R> {
    inner: R,
    ticket: Ticket,
}

impl<R> Reply<R> {
    pub(super) fn new(inner: R, ticket: Ticket) -> Self {
        Self { inner, ticket }
    }
}

impl<A: Actor, M: Message, R: Deliver<A, M>> MessageResponse<A, Posted<M>> for Reply<R> {
    fn handle(self, ctx: &mut A::Context, to: Option<OneshotSender<M::Result>>) {
        self.inner.deliver(ctx, to, self.ticket);
    }
}

/// Delivers a handler's result and keeps the ticket until then.
///
/// Implemented for [`ResponseActFuture`], [`ResponseFuture`], [`MessageResult`] and the plain values that actix takes. A response type of your own
/// implements it with [`Ticket::reply`]. actix's `AtomicResponse`, `Response` and `ActorResponse` hide their futures and cannot be metered.
pub trait Deliver<A: Actor, M: Message> {
    /// Sends the result, now or when its future is ready.
    fn deliver(self, ctx: &mut A::Context, to: Option<OneshotSender<M::Result>>, ticket: Ticket);
}

impl<A: Actor, M: Message> Deliver<A, M> for ResponseActFuture<A, M::Result>
where
    A::Context: AsyncContext<A>,
{
    fn deliver(self, ctx: &mut A::Context, to: Option<OneshotSender<M::Result>>, ticket: Ticket) {
        ctx.spawn(InFlight { ticket: Some(ticket), to, future: self });
    }
}

impl<A: Actor, M: Message> Deliver<A, M> for ResponseFuture<M::Result> {
    fn deliver(self, _: &mut A::Context, to: Option<OneshotSender<M::Result>>, ticket: Ticket) {
        actix::spawn(InFlight { ticket: Some(ticket), to, future: self });
    }
}

impl<A: Actor, M: Message> Deliver<A, M> for MessageResult<M> {
    fn deliver(self, _: &mut A::Context, to: Option<OneshotSender<M::Result>>, ticket: Ticket) {
        ticket.reply(to, self.0);
    }
}

/// A result that is there when the handler returns, of a type that is also the message's.
macro_rules! immediate {
    ($($type:ty $(, $generic:ident)*);+ $(;)?) => { $(
        impl<A: Actor, M: Message<Result = Self>, $($generic: 'static),*> Deliver<A, M> for $type {
            fn deliver(self, _: &mut A::Context, to: Option<OneshotSender<Self>>, ticket: Ticket) {
                ticket.reply(to, self);
            }
        }
    )+ };
}
immediate! {
    (); bool; String; u8; u16; u32; u64; usize; i8; i16; i32; i64; isize; f32; f64;
    Result<I, E>, I, E; Option<I>, I; Vec<I>, I; Arc<I>, I;
}

/// A reply that is not ready yet. Dropped, it drops its ticket before it tells the caller.
struct InFlight<F, T> {
    ticket: Option<Ticket>,
    to: Option<OneshotSender<T>>,
    future: F,
}

impl<F: Unpin, T> InFlight<F, T> {
    fn poll_with(&mut self, poll: impl FnOnce(Pin<&mut F>) -> Poll<T>) -> Poll<()> {
        let Some(ticket) = &mut self.ticket else { return Poll::Ready(()) };
        let Poll::Ready(result) = ticket.resumed(|| poll(Pin::new(&mut self.future))) else { return Poll::Pending };
        if let Some(ticket) = self.ticket.take() {
            ticket.reply(self.to.take(), result);
        }
        Poll::Ready(())
    }
}

impl<A: Actor, T> ActorFuture<A> for InFlight<ResponseActFuture<A, T>, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, actor: &mut A, ctx: &mut A::Context, task: &mut Context<'_>) -> Poll<()> {
        self.poll_with(|future| future.poll(actor, ctx, task))
    }
}

impl<T> Future for InFlight<ResponseFuture<T>, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        self.poll_with(|future| future.poll(task))
    }
}
