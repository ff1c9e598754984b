//! A transport without a network: answers of a [`World`] with their latencies and faults, by tokio's time, which a test may pause.

use super::{
    reply::{Manner, Reply},
    stats::Connection,
    world::World,
};
use crate::{
    clock::Clock,
    model::{Fault, Phase, Reason, Retry, UnixMs, VenueId},
    transport::{Answer, Connect, Limits, Transport},
};
use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use std::{cell::RefCell, rc::Rc, sync::Arc, time::Duration};
use tokio::time::{Instant, sleep_until};

/// Connects to a world in memory. URLs are `http://127.0.0.1/<venue><path>`, or the venue's own: scheme and host are not looked at.
#[derive(Clone, Debug)]
pub struct MemoryConnect {
    world: Arc<World>,
    clock: Clock,
}

impl MemoryConnect {
    /// Makes transports that ask this world at the time of this clock.
    pub fn new(world: Arc<World>, clock: Clock) -> Self {
        Self { world, clock }
    }
}

impl Connect for MemoryConnect {
    fn transport(&self, limits: &Limits) -> Rc<dyn Transport> {
        let prefix = format!("/{}/", limits.venue);
        let (venue, body_max) = (limits.venue.clone(), limits.body_max);
        let inner = Inner { world: Arc::clone(&self.world), clock: self.clock.clone(), venue, prefix, body_max, idle: RefCell::default() };
        Rc::new(Memory(Rc::new(inner)))
    }
}

struct Memory(Rc<Inner>);

struct Inner {
    world: Arc<World>,
    clock: Clock,
    venue: VenueId,
    prefix: String,
    body_max: usize,
    /// Connections that wait for the next request. No more than were ever in use at once.
    idle: RefCell<Vec<Connection>>,
}

impl Transport for Memory {
    fn get(&self, url: &Rc<str>, deadline: Instant) -> LocalBoxFuture<'static, Result<Answer, Fault>> {
        let (inner, url) = (Rc::clone(&self.0), Rc::clone(url));
        Box::pin(async move { inner.get(&url, deadline).await })
    }
}

impl Inner {
    async fn get(&self, url: &str, deadline: Instant) -> Result<Answer, Fault> {
        let now = self.clock.now();
        if self.world.refused(self.venue.as_str(), now).0 {
            // The port is closed: what was connected is so no more.
            self.idle.borrow_mut().clear();
            return Err(Fault::new(Reason::Refused, "connection refused").in_phase(Phase::Connect));
        }
        let idle = self.idle.borrow_mut().pop();
        let connection = idle.or_else(|| self.world.connect(self.venue.as_str()));
        let reply = self.world.respond(self.venue.as_str(), self.target(url), now);
        // A connection on which something went wrong, or whose request is no longer awaited, is dropped here and not used again.
        let kept = reply.manner != Manner::WrongLength;
        let answer = self.receive(reply, deadline).await?;
        if kept {
            self.idle.borrow_mut().extend(connection);
        }
        Ok(answer)
    }

    /// Takes scheme, host and the venue's prefix away.
    fn target<'u>(&self, url: &'u str) -> &'u str {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let path = rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/");
        match path.strip_prefix(self.prefix.as_str()) {
            // The slash that ended the prefix begins the path.
            Some(_) => path.get(self.prefix.len().saturating_sub(1)..).unwrap_or("/"),
            None => path,
        }
    }

    async fn receive(&self, reply: Reply, deadline: Instant) -> Result<Answer, Fault> {
        wait(reply.delay, deadline, Phase::Request).await?;
        let body = match reply.manner {
            Manner::Whole => None,
            Manner::Silent => return Err(timeout(deadline, Phase::Request).await),
            Manner::Reset => return Err(Fault::new(Reason::Reset, "connection reset by peer").in_phase(Phase::Request)),
            Manner::Refused => return Err(Fault::new(Reason::Refused, "connection refused").in_phase(Phase::Connect)),
            Manner::Truncated => {
                return Err(Fault::new(Reason::Truncated, "the body is shorter than its declared length").in_phase(Phase::Body));
            }
            Manner::Drip { bytes_per_s } => {
                let seconds = reply.length().checked_div(u64::from(bytes_per_s)).unwrap_or(0);
                wait(Duration::from_secs(seconds), deadline, Phase::Body).await?;
                None
            }
            Manner::WrongLength => Some(reply.half()),
        };
        if (300..400).contains(&reply.status) {
            let to = reply.location.as_deref().unwrap_or_default();
            return Err(Fault::said(Reason::Redirect, &format!("HTTP {} to {to}", reply.status)).in_phase(Phase::Request));
        }
        if reply.length() > u64::try_from(self.body_max).unwrap_or(u64::MAX) {
            return Err(Fault::new(Reason::Oversize, format!("body of more than {} bytes", self.body_max)).in_phase(Phase::Body));
        }
        Ok(Answer {
            status: reply.status,
            retry: reply.retry_after_s.map(|s| Retry::After(Duration::from_secs(u64::from(s)))),
            // A Date header tells whole seconds.
            date: Some(UnixMs(reply.clock.0.div_euclid(1000).saturating_mul(1000))),
            body: body.unwrap_or_else(|| padded(&reply)),
        })
    }
}

fn padded(reply: &Reply) -> Bytes {
    match usize::try_from(reply.length()) {
        Ok(length) if reply.pad > 0 => {
            let mut bytes = reply.body.to_vec();
            bytes.resize(length, b' ');
            bytes.into()
        }
        _ => reply.body.clone(),
    }
}

async fn wait(time: Duration, deadline: Instant, phase: Phase) -> Result<(), Fault> {
    match Instant::now().checked_add(time).filter(|then| *then < deadline) {
        Some(then) => {
            sleep_until(then).await;
            Ok(())
        }
        None => Err(timeout(deadline, phase).await),
    }
}

async fn timeout(deadline: Instant, phase: Phase) -> Fault {
    sleep_until(deadline).await;
    Fault::new(Reason::Timeout, "no whole answer by the deadline").in_phase(phase)
}
