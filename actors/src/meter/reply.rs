//! The way of a handler's result to the caller, with the ticket alongside until it has left.

use super::port::{Posted, Ticket};
use actix::{
    Actor, ActorFuture, AsyncContext, Message, MessageResult, ResponseActFuture, ResponseFuture,
    dev::{MessageResponse, OneshotSender},
};
use std::{
    cell::RefCell,
    fmt,
    future::Future,
    pin::Pin,
    rc::Rc,
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

/// Makes a reply that is given later: the handler returns the [`Promised`] and the actor keeps the [`Promise`] until it knows the answer. This spares a
/// future that would only wait to be told.
///
/// A promise that is dropped unkept counts its message as lost, and the caller learns at once that there will be no reply.
pub fn promise<T>() -> (Promise<T>, Promised<T>) {
    let stage = Rc::new(RefCell::new(Stage::Made));
    (Promise(Rc::clone(&stage)), Promised(stage))
}

/// Gives one reply, when its holder knows it.
pub struct Promise<T>(Rc<RefCell<Stage<T>>>);

/// Stands for a reply that a [`Promise`] gives; a handler returns it.
pub struct Promised<T>(Rc<RefCell<Stage<T>>>);

enum Stage<T> {
    Made,
    /// The handler has not returned yet.
    Kept(T),
    /// Whoever asked waits.
    Awaited(Option<Ticket>, Option<OneshotSender<T>>),
}

impl<T> Promise<T> {
    /// Replies; tells whether the caller was still there.
    pub fn keep(self, result: T) -> bool {
        let mut stage = self.0.borrow_mut();
        match std::mem::replace(&mut *stage, Stage::Made) {
            Stage::Awaited(Some(ticket), to) => ticket.reply_now(to, result),
            Stage::Awaited(None, to) => to.is_some_and(|to| to.send(result).is_ok()),
            Stage::Made | Stage::Kept(_) => {
                *stage = Stage::Kept(result);
                true
            }
        }
    }
}

impl<T> Promised<T> {
    fn wait(self, to: Option<OneshotSender<T>>, ticket: Option<Ticket>) {
        let mut stage = self.0.borrow_mut();
        match std::mem::replace(&mut *stage, Stage::Made) {
            Stage::Kept(result) => match ticket {
                Some(ticket) => drop(ticket.reply(to, result)),
                None => drop(to.map(|to| to.send(result))),
            },
            Stage::Made | Stage::Awaited(..) => *stage = Stage::Awaited(ticket, to),
        }
    }
}

impl<T> fmt::Debug for Promise<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Promise")
    }
}

impl<T> fmt::Debug for Promised<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Promised")
    }
}

impl<A: Actor, M: Message> Deliver<A, M> for Promised<M::Result> {
    fn deliver(self, _: &mut A::Context, to: Option<OneshotSender<M::Result>>, ticket: Ticket) {
        self.wait(to, Some(ticket));
    }
}

impl<A: Actor, M: Message> MessageResponse<A, M> for Promised<M::Result> {
    fn handle(self, _: &mut A::Context, to: Option<OneshotSender<M::Result>>) {
        self.wait(to, None);
    }
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

#[cfg(test)]
mod tests {
    use super::{super::*, *};
    use actix::{Context as Ctx, Handler};

    /// Keeps what it promises until it is told what to do with it.
    #[derive(Default)]
    struct Keeper(Option<Promise<u32>>);

    struct Later;
    impl Message for Later {
        type Result = u32;
    }

    /// Tells to keep the promise with a value, or to break it.
    struct Tell(Option<u32>);
    impl Message for Tell {
        type Result = bool;
    }

    impl Actor for Keeper {
        type Context = Ctx<Self>;
    }
    impl Handler<Later> for Keeper {
        type Result = Promised<u32>;
        fn handle(&mut self, _: Later, _: &mut Self::Context) -> Promised<u32> {
            let (promise, promised) = promise();
            self.0 = Some(promise);
            promised
        }
    }
    impl Handler<Tell> for Keeper {
        type Result = bool;
        fn handle(&mut self, Tell(value): Tell, _: &mut Self::Context) -> bool {
            let kept = self.0.take();
            value.is_some_and(|value| kept.unwrap().keep(value))
        }
    }
    crate::metered!(Keeper: Later, Tell);

    #[actix::test]
    async fn a_promise_is_one_reply_and_a_broken_one_is_lost() {
        let port = start(Keeper::default(), Arc::new(Meter::new::<Keeper>("keeper", Limits::default())));
        let request = port.send(Later).unwrap();
        assert!(port.send(Tell(Some(7))).unwrap().await.unwrap(), "the caller is there");
        assert_eq!(request.await.unwrap(), 7);

        let broken = port.send(Later).unwrap();
        port.send(Tell(None)).unwrap().await.unwrap();
        assert!(broken.await.is_err(), "the caller learns it");

        let given_up = port.send(Later).unwrap();
        while port.meter().in_flight() == 0 {
            tokio::task::yield_now().await;
        }
        drop(given_up);
        assert!(!port.send(Tell(Some(7))).unwrap().await.unwrap(), "nobody waits");
        let later = &port.meter().snapshot(tokio::time::Instant::now()).messages[0];
        assert_eq!((later.sent, later.replied, later.lost, later.in_flight), (3, 2, 1, 0));
    }
}
