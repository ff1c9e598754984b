//! One GET by a deadline: bytes, or a typed fault with how far the request came.
//!
//! An exchange actor owns one transport, built on its own thread, and reuses it for all requests; the simulation offers the same without sockets.

mod body;
mod fault;
mod headers;
mod http;
mod tls;

pub use headers::{http_date, retry_after};
pub use http::{AwcConnect, AwcTransport};

use crate::model::{Fault, Retry, UnixMs, VenueId};
use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use std::rc::Rc;
use tokio::time::Instant;

/// Sends requests to one venue. Not `Send`: it lives and dies with its actor.
pub trait Transport {
    /// Asks for `url` (origin, path and query) and gives the whole answer, whatever its status, by `deadline`.
    ///
    /// # Errors
    /// A [`Fault`] of the transport group with its phase; `timeout` once the deadline has passed.
    fn get(&self, url: &Rc<str>, deadline: Instant) -> LocalBoxFuture<'static, Result<Answer, Fault>>;

    /// Does the same, but gives up with `timeout` when there is no connection by `connect_by`, so that time is left for a mirror. A transport that opens no
    /// connections has nothing to give up.
    ///
    /// # Errors
    /// As [`Transport::get`].
    fn get_within(&self, url: &Rc<str>, deadline: Instant, connect_by: Instant) -> LocalBoxFuture<'static, Result<Answer, Fault>> {
        let _ = connect_by;
        self.get(url, deadline)
    }
}

/// Makes transports, one for each exchange actor, on the actor's own thread.
pub trait Connect: Send + Sync + 'static {
    /// Makes the transport of one venue.
    fn transport(&self, limits: &Limits) -> Rc<dyn Transport>;
}

/// Bounds what a transport accepts.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The venue it serves.
    pub venue: VenueId,
    /// The largest body in bytes, unpacked.
    pub body_max: usize,
}

/// Holds a whole answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body, unpacked.
    pub body: Bytes,
    /// The `Retry-After` header, in the form in which it came.
    pub retry: Option<Retry>,
    /// The `Date` header.
    pub date: Option<UnixMs>,
}
