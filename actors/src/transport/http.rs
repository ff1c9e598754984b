//! The transport over awc: one client for each venue, reused, under one total deadline.
//!
//! awc has no deadline on a body, follows redirects, and takes a body without a length for none (all measured on 3.11). Its own timer, redirects and
//! unpacking are off; what they do is done here.

use super::{
    Answer, Connect, Limits, Transport,
    body::Intake,
    fault,
    headers::{http_date, retry_after},
    tls,
};
use crate::{
    hash::SmallMap,
    model::{Fault, Phase, Reason},
};
use awc::{
    Client, ClientResponse, Connector, FrozenClientRequest, SendClientRequest,
    body::{BodySize, MessageBody},
    error::PayloadError,
    http::{StatusCode, Uri, Version, header},
};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, future::LocalBoxFuture};
use rustls::{ClientConfig, pki_types::CertificateDer};
use std::{
    cell::{Cell, RefCell},
    convert::Infallible,
    future::poll_fn,
    pin::{Pin, pin},
    rc::Rc,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    task::unconstrained,
    time::{Instant, Sleep, sleep_until},
};

/// What every request says of itself.
const USER_AGENT: &str = concat!("quorate/", env!("CARGO_PKG_VERSION"), " (+", env!("CARGO_PKG_REPOSITORY"), ")");

/// The number of requests that are kept ready. Beyond it all are dropped, and made again: awc takes sixteen kilobytes for each, and a venue that is asked for more
/// than so many pairs one by one is asked for each but seldom.
const FROZEN_MAX: usize = 64;

/// Makes an [`AwcTransport`] for each venue. All share one TLS configuration, and with it the sessions that they resume.
#[derive(Clone, Debug)]
pub struct AwcConnect {
    tls: Arc<ClientConfig>,
    idle: Duration,
    lifetime: Duration,
}

impl AwcConnect {
    /// Trusts the Mozilla roots, and `extra` ones (for tests and private mirrors).
    ///
    /// # Errors
    /// An extra root that is not a certificate.
    pub fn new(extra: impl IntoIterator<Item = CertificateDer<'static>>) -> Result<Self, rustls::Error> {
        Ok(Self { tls: tls::client_config(extra)?, idle: Duration::from_secs(300), lifetime: Duration::from_secs(86_400) })
    }

    /// Keeps a connection for as long as it rests at most `idle` (5 min by default; it should pass the longest polling gap) and is no older than `lifetime` (a
    /// day by default).
    #[must_use]
    pub fn keep(self, idle: Duration, lifetime: Duration) -> Self {
        Self { idle, lifetime, ..self }
    }

    fn client(&self) -> Client {
        // Our deadline is the only one: awc's own would not know how much of it is left.
        let never = Duration::from_secs(86_400);
        let connector = Connector::new()
            .rustls_0_23(Arc::clone(&self.tls))
            .timeout(never)
            .handshake_timeout(never)
            .conn_keep_alive(self.idle)
            .conn_lifetime(self.lifetime)
            .limit(0);
        Client::builder().connector(connector).disable_redirects().disable_timeout().no_default_headers().finish()
    }
}

impl Connect for AwcConnect {
    fn transport(&self, limits: &Limits) -> Rc<dyn Transport> {
        Rc::new(AwcTransport::new(self.clone(), limits))
    }
}

/// Sends requests to one venue over one awc client. Must live on a thread with an actix runtime.
#[derive(Clone)]
pub struct AwcTransport(Rc<Inner>);

struct Inner {
    connect: AwcConnect,
    body_max: usize,
    client: RefCell<Client>,
    /// Requests by their URL: a repeated one parses no URL and builds no head.
    frozen: RefCell<SmallMap<Rc<str>, FrozenClientRequest>>,
}

impl AwcTransport {
    /// Makes the transport of one venue.
    pub fn new(connect: AwcConnect, limits: &Limits) -> Self {
        let client = RefCell::new(connect.client());
        Self(Rc::new(Inner { connect, body_max: limits.body_max, client, frozen: RefCell::default() }))
    }
}

impl Transport for AwcTransport {
    fn get(&self, url: &Rc<str>, deadline: Instant) -> LocalBoxFuture<'static, Result<Answer, Fault>> {
        self.get_within(url, deadline, deadline)
    }

    fn get_within(&self, url: &Rc<str>, deadline: Instant, connect_by: Instant) -> LocalBoxFuture<'static, Result<Answer, Fault>> {
        let stage = Rc::new(Cell::new(Stage::Made));
        let sending =
            if deadline <= Instant::now() { Err(Fault::new(Reason::Timeout, "no time was left to ask")) } else { self.0.send(url, &stage) };
        match sending {
            Ok(sending) => {
                let secure = url.starts_with("https:");
                Box::pin(by_deadline(Rc::clone(&self.0).fetch(sending, Rc::clone(&stage), secure), stage, deadline, connect_by))
            }
            Err(fault) => Box::pin(std::future::ready(Err(fault))),
        }
    }
}

/// How far a request came, as far as awc lets see: what happens while it connects (resolve, connect, handshake) is one to us.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Made,
    Connecting,
    Sent,
    Body,
}

impl Stage {
    fn phase(self) -> Phase {
        match self {
            Self::Made | Self::Connecting => Phase::Connect,
            Self::Sent => Phase::Request,
            Self::Body => Phase::Body,
        }
    }
}

/// The empty body of a GET. awc asks for its size once more when it has a connection and is about to write, and that is how we learn that it has one.
struct Told(Rc<Cell<Stage>>);

impl MessageBody for Told {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        if self.0.get() == Stage::Made {
            // "None" would be simplified away before there is a connection.
            return BodySize::Stream;
        }
        self.0.set(Stage::Sent);
        BodySize::None
    }

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        Poll::Ready(None)
    }
}

impl Inner {
    /// Begins a request, from the cache where it was made before.
    fn send(&self, url: &Rc<str>, stage: &Rc<Cell<Stage>>) -> Result<SendClientRequest, Fault> {
        let body = Told(Rc::clone(stage));
        let known = self.frozen.borrow().get(url).map(|request| request.send_body(Told(Rc::clone(stage))));
        let sending = match known {
            Some(sending) => sending,
            None => {
                let request = self.freeze(url)?;
                let sending = request.send_body(body);
                let mut frozen = self.frozen.borrow_mut();
                if frozen.len() >= FROZEN_MAX {
                    frozen.clear();
                }
                frozen.insert(Rc::clone(url), request);
                sending
            }
        };
        stage.set(Stage::Connecting);
        Ok(sending)
    }

    fn freeze(&self, url: &str) -> Result<FrozenClientRequest, Fault> {
        let bad = |why: &dyn std::fmt::Display| Fault::said(Reason::Protocol, &format!("not a URL to ask: {why}"));
        let uri: Uri = url.parse().map_err(|why| bad(&why))?;
        let host = host_of(&uri);
        let request = self.client.borrow().get(uri).no_decompress();
        let request = request.insert_header((header::HOST, host)).insert_header((header::USER_AGENT, USER_AGENT));
        request.insert_header((header::ACCEPT_ENCODING, "gzip")).freeze().map_err(|why| bad(&why))
    }

    /// Drops all connections. The requests that are under way keep theirs.
    fn forget_connections(&self) {
        self.frozen.borrow_mut().clear();
        self.client.replace(self.connect.client());
    }

    async fn fetch(self: Rc<Self>, sending: SendClientRequest, stage: Rc<Cell<Stage>>, secure: bool) -> Result<Answer, Fault> {
        let response = sending.await.map_err(|error| fault::of_send(&error, stage.get().phase(), secure))?;
        stage.set(Stage::Body);
        self.read(response).await
    }

    async fn read<S>(&self, mut response: ClientResponse<S>) -> Result<Answer, Fault>
    where
        S: Stream<Item = Result<Bytes, PayloadError>> + Unpin,
    {
        let status = response.status();
        let headers = response.headers();
        let declared = if headers.contains_key(header::TRANSFER_ENCODING) {
            None
        } else {
            headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.trim().parse().ok())
        };
        self.refuse(&response, declared)?;
        let retry = headers.get(header::RETRY_AFTER).and_then(|v| retry_after(v.as_bytes()));
        let date = headers.get(header::DATE).and_then(|v| http_date(v.as_bytes()));
        let encoding = headers.get(header::CONTENT_ENCODING).map(|v| v.as_bytes());
        let mut intake = Intake::begin(self.body_max, declared, encoding)?;
        while let Some(piece) = response.next().await {
            intake.push(piece.map_err(|error| fault::of_body(&error))?)?;
        }
        Ok(Answer { status: status.as_u16(), body: intake.finish()?, retry, date })
    }

    /// Judges the head: what is no answer at all, and what awc misreads.
    fn refuse<S>(&self, response: &ClientResponse<S>, declared: Option<u64>) -> Result<(), Fault> {
        let (status, headers) = (response.status(), response.headers());
        if status.is_informational() {
            // awc takes an interim answer for the answer and keeps the connection, where the real one would be read as that of the next request.
            self.forget_connections();
            return Err(
                Fault::said(Reason::Protocol, &format!("HTTP {} where an answer was due", status.as_u16())).in_phase(Phase::Request)
            );
        }
        let chunked = headers.get(header::TRANSFER_ENCODING).is_some_and(|v| v.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked"));
        let bodiless = matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::NOT_MODIFIED);
        if declared.is_none() && !chunked && !bodiless && response.version() == Version::HTTP_11 {
            // The body lasts until the connection closes: awc takes it for none, and would keep the connection with the body still in it.
            self.forget_connections();
            if status.is_success() {
                return Err(Fault::new(Reason::Empty, "a body without a length, which awc does not read").in_phase(Phase::Body));
            }
        }
        if status.is_redirection() {
            let place =
                headers.get(header::LOCATION).map_or_else(String::new, |v| format!(" to {}", String::from_utf8_lossy(v.as_bytes())));
            return Err(Fault::said(Reason::Redirect, &format!("HTTP {}{place}", status.as_u16())).in_phase(Phase::Request));
        }
        Ok(())
    }
}

/// Writes the Host header once, which awc would do for each request.
fn host_of(uri: &Uri) -> String {
    let host = uri.host().unwrap_or_default();
    match (uri.scheme_str(), uri.port_u16()) {
        (_, None) | (Some("http"), Some(80)) | (Some("https"), Some(443)) => host.to_owned(),
        (_, Some(port)) => format!("{host}:{port}"),
    }
}

/// Ends `work` at `deadline`, or at `connect_by` when there is no connection by then. There is one timer, moved only when connecting took that long.
async fn by_deadline(
    work: impl Future<Output = Result<Answer, Fault>>,
    stage: Rc<Cell<Stage>>,
    deadline: Instant,
    connect_by: Instant,
) -> Result<Answer, Fault> {
    let mut work = pin!(work);
    let mut timer = pin!(sleep_until(connect_by.min(deadline)));
    poll_fn(|cx| match work.as_mut().poll(cx) {
        Poll::Ready(outcome) => Poll::Ready(outcome),
        Poll::Pending if is_over(timer.as_mut(), &stage, deadline, cx) => Poll::Ready(Err(fault::timeout(stage.get().phase()))),
        Poll::Pending => Poll::Pending,
    })
    .await
}

fn is_over(mut timer: Pin<&mut Sleep>, stage: &Cell<Stage>, deadline: Instant, cx: &mut Context<'_>) -> bool {
    // Unconstrained: a server that floods us uses up tokio's budget for this poll, and the timer must be heard all the same.
    while Pin::new(&mut unconstrained(timer.as_mut())).poll(cx).is_ready() {
        if timer.deadline() >= deadline || stage.get() == Stage::Connecting {
            return true;
        }
        timer.as_mut().reset(deadline);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_header_names_a_port_that_is_not_the_schemes_own() {
        for (url, host) in [
            ("https://api.kraken.com/0", "api.kraken.com"),
            ("https://api.kraken.com:443/0", "api.kraken.com"),
            ("http://api.kraken.com:443/0", "api.kraken.com:443"),
            ("http://127.0.0.1:8080/x?y", "127.0.0.1:8080"),
            ("http://[::1]:80/", "[::1]"),
        ] {
            assert_eq!(host_of(&url.parse().unwrap()), host);
        }
    }

    #[actix_rt::test]
    async fn requests_are_frozen_once_and_the_cache_is_bounded() {
        let limits = Limits { venue: crate::model::VenueId::new("kraken"), body_max: 9 };
        let transport = AwcTransport::new(AwcConnect::new([]).unwrap(), &limits);
        let stage = Rc::new(Cell::new(Stage::Made));
        for n in 0..FROZEN_MAX + 7 {
            for _ in 0..2 {
                stage.set(Stage::Made);
                drop(transport.0.send(&format!("http://127.0.0.1/{n}").into(), &stage).unwrap());
            }
        }
        assert_eq!(transport.0.frozen.borrow().len(), 7);
        for url in ["", "/path", "kraken.com/x", "ftp://kraken.com/", "http://", "http://a b/"] {
            stage.set(Stage::Made);
            assert_eq!(transport.0.send(&url.into(), &stage).err().unwrap().reason, Reason::Protocol, "{url:?}");
        }
    }

    #[actix_rt::test]
    async fn work_that_never_rests_ends_at_the_deadline_too() {
        let begun = Instant::now();
        let greedy = async {
            while begun.elapsed() < Duration::from_secs(2) {
                tokio::task::consume_budget().await;
            }
            Err(Fault::new(Reason::Decode, "it was never stopped"))
        };
        let stage = Rc::new(Cell::new(Stage::Body));
        let deadline = begun.checked_add(Duration::from_millis(50)).unwrap();
        let fault = by_deadline(greedy, stage, deadline, deadline).await.unwrap_err();
        assert_eq!((fault.reason, fault.phase), (Reason::Timeout, Some(Phase::Body)));
    }
}
