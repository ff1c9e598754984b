//! One connection: requests read within bounds and in time, and answers in whatever manner they are due.

use super::{
    control,
    head::{BadRequest, Dates, HEAD_MAX, Head, Request},
    reply,
    server::Shared,
    tls::Stream,
};
use quorate_actors::{
    model::VenueId,
    sim::{Connection as Counted, Manner, Reply},
};
use std::{io, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::watch,
    time::{sleep, timeout},
};

/// How long a connection may wait for its next request.
const IDLE: Duration = Duration::from_secs(120);
/// How long a request may take to arrive once it has begun.
const ARRIVAL: Duration = Duration::from_secs(10);
/// How long a caller may take to read an answer, and how long one is left without.
pub(super) const PATIENCE: Duration = Duration::from_secs(600);
/// From this latency on it is watched whether the caller is still there.
const LONG: Duration = Duration::from_secs(1);
/// Buffers that grew beyond this are given back between requests.
const BUFFER_KEPT: usize = 64 << 10;

/// Tells at which port a connection came in.
#[derive(Clone, Debug)]
pub(super) enum Door {
    /// At that of all venues.
    All,
    /// At one venue's own.
    Own(VenueId),
}

/// A connection with its buffers, which are reused from request to request.
pub(super) struct Line {
    pub(super) stream: Stream,
    input: Vec<u8>,
    pub(super) output: Vec<u8>,
    pub(super) dates: Dates,
    /// The venues that count this connection: one for an own port, those that were asked for the shared one.
    counted: Vec<Counted>,
}

/// Serves a connection until one side closes it, or the port is closed.
pub(super) async fn serve(stream: Stream, shared: &Shared, door: Door, mut down: watch::Receiver<bool>) {
    let mut line =
        Line { stream, input: Vec::with_capacity(1024), output: Vec::with_capacity(1024), dates: Dates::default(), counted: Vec::new() };
    if let Door::Own(venue) = &door {
        line.counted.extend(shared.world.connect(venue.as_str()));
    }
    loop {
        let request = tokio::select! {
            biased;
            request = line.request() => request,
            Ok(_) = down.wait_for(|down| *down) => return,
        };
        let next = match request {
            Ok(Some(request)) => line.answer(&request, shared, &door).await,
            Ok(None) => return,
            Err(bad) => line.refuse(bad, shared).await.and(Ok(false)),
        };
        if !next.unwrap_or(false) {
            return;
        }
    }
}

impl Line {
    /// Reads the next request, its body included; `None` when there will be none.
    async fn request(&mut self) -> Result<Option<Request>, BadRequest> {
        if self.input.is_empty() && !timeout(IDLE, self.read()).await.is_ok_and(|read| read.is_ok()) {
            return Ok(None);
        }
        match timeout(ARRIVAL, self.whole_request()).await {
            Ok(request) => request,
            Err(_) => Err(BadRequest(408, "the request did not arrive within 10 s")),
        }
    }

    async fn whole_request(&mut self) -> Result<Option<Request>, BadRequest> {
        loop {
            if let Some(request) = Request::parse(&self.input)? {
                let length = request.head_length.saturating_add(request.body_length);
                if request.expects_continue && self.input.len() < length && self.write(b"HTTP/1.1 100 Continue\r\n\r\n").await.is_err() {
                    return Ok(None);
                }
                while self.input.len() < length {
                    if self.read().await.is_err() {
                        return Ok(None);
                    }
                }
                return Ok(Some(request));
            }
            if self.read().await.is_err() {
                return Ok(None);
            }
        }
    }

    /// Reads what is there, at least a byte.
    async fn read(&mut self) -> io::Result<()> {
        self.input.reserve(HEAD_MAX.min(1024));
        match self.stream.read_buf(&mut self.input).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    pub(super) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        timeout(PATIENCE, sent(&mut self.stream, bytes)).await.map_err(|_| io::ErrorKind::TimedOut)?
    }

    /// Writes what stands in the output buffer.
    pub(super) async fn flush(&mut self) -> io::Result<()> {
        timeout(PATIENCE, sent(&mut self.stream, &self.output)).await.map_err(|_| io::ErrorKind::TimedOut)?
    }

    /// Answers a request; tells whether another one may follow.
    async fn answer(&mut self, request: &Request, shared: &Shared, door: &Door) -> io::Result<bool> {
        let length = request.head_length.saturating_add(request.body_length);
        let path = request.target.split('?').next().unwrap_or_default();
        let venue = match door {
            Door::Own(venue) => Some((venue.as_str(), request.target.as_str())),
            Door::All if path == "/_sim" || path.starts_with("/_sim/") => None,
            Door::All => Some(split(&request.target)),
        };
        let reply = match venue {
            Some((venue, target)) if matches!(request.method.as_str(), "GET" | "HEAD") => self.ask(shared, door, venue, target),
            Some(_) => control::Said::problem(405, "method_not_allowed", "expected GET").allow("GET, HEAD").into_reply(shared.clock.now()),
            None => {
                let body = self.input.get(request.head_length..length).unwrap_or_default();
                control::answer(shared, &request.method, path, body).into_reply(shared.clock.now())
            }
        };
        self.input.drain(..length.min(self.input.len()));
        self.input.shrink_to(BUFFER_KEPT);
        if !self.still_there(reply.delay).await {
            return Ok(false);
        }
        let kept = reply::send(self, &reply, request, shared).await?;
        self.output.shrink_to(BUFFER_KEPT);
        Ok(kept)
    }

    fn ask(&mut self, shared: &Shared, door: &Door, venue: &str, target: &str) -> Reply {
        let now = shared.clock.now();
        if matches!(door, Door::All) {
            if !self.counted.iter().any(|counted| counted.venue() == venue) {
                self.counted.extend(shared.world.connect(venue));
            }
            if shared.world.refused(venue, now).0 {
                let detail = "a shared port cannot refuse for one venue: ask the venue's own port, own_origin in /_sim/venues";
                return control::Said::problem(400, "needs_own_port", detail).into_reply(now);
            }
        }
        let reply = shared.world.respond(venue, target, now);
        // The port was closed while the connection was open.
        if reply.manner == Manner::Refused { Reply { manner: Manner::Reset, ..reply } } else { reply }
    }

    /// Waits; where that is long, only as long as the caller does.
    async fn still_there(&mut self, delay: Duration) -> bool {
        if delay.is_zero() {
            return true;
        }
        if delay < LONG {
            sleep(delay).await;
            return true;
        }
        tokio::select! {
            () = sleep(delay) => true,
            () = self.gone() => false,
        }
    }

    /// Returns when the caller has closed the connection.
    pub(super) async fn gone(&mut self) {
        // What it sends meanwhile stays for later, within bounds.
        while self.input.len() < HEAD_MAX {
            if self.read().await.is_err() {
                return;
            }
        }
        std::future::pending().await
    }

    async fn refuse(&mut self, BadRequest(status, detail): BadRequest, shared: &Shared) -> io::Result<()> {
        let said = control::Said::problem(status, "bad_request", detail);
        let head = Head {
            status,
            content_type: said.content_type,
            length: u64::try_from(said.body.len()).unwrap_or(0),
            close: true,
            ..Head::default()
        };
        self.output.clear();
        head.write(&mut self.output, self.dates.text(shared.clock.now()));
        self.output.extend_from_slice(&said.body);
        self.flush().await
    }
}

/// Writes bytes through whatever keeps some back.
async fn sent(stream: &mut Stream, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await
}

/// Splits `/<venue><path>`; a venue without a path is asked for `/`.
fn split(target: &str) -> (&str, &str) {
    let rest = target.strip_prefix('/').unwrap_or(target);
    match rest.find(['/', '?']).and_then(|at| rest.split_at_checked(at)) {
        Some((venue, path)) => (venue, path),
        None => (rest, "/"),
    }
}
