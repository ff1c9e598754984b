//! The HTTP server: connections, workers and limits around an app.
//!
//! Composed of the framework's parts by hand, for two things that its ready-made server has no place for: refusals below the app are problems too, and
//! an answer that memory has is given before the app is entered.

use super::polite::Polite;
use crate::http::{State, answer_at_once};
use actix_http::{HttpService, Protocol, Request, Response, error::DispatchError};
use actix_service::{IntoServiceFactory, Service, ServiceFactoryExt, apply_fn_factory, fn_service, map_config};
use actix_web::{
    App, Error,
    body::BoxBody,
    dev::{AppConfig, Server, ServiceResponse},
    rt::net::TcpStream,
    web::ServiceConfig,
};
use futures_util::future::{Either, FutureExt, ready, select};
use std::{io, net::TcpListener, pin::pin, sync::Arc, time::Duration};

/// How long the head of a request may take.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// How long an idle connection is kept.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// How long a client may take to close once all is said.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// How many public connections may wait for a place, taken from the system's queue so that they are counted.
const WAITING_MAX: usize = 1024;

/// Holds the bounds of a server.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// Threads that answer.
    pub(super) workers: usize,
    /// Connections open at once.
    pub(super) connections: usize,
    /// How long requests under way may take once the server is to stop, in seconds.
    pub(super) drain_s: u64,
    /// Whether these are the public routes: answers are given from memory ahead of the app, and connections are counted.
    pub(super) public: bool,
}

/// Starts a server of the routes that `configure` adds.
pub(super) fn start<C>(
    name: &str,
    listener: TcpListener,
    state: Arc<State>,
    bounds: Bounds,
    configure: impl Fn() -> C + Clone + Send + 'static,
) -> io::Result<Server>
where
    C: FnOnce(&mut ServiceConfig),
{
    let counted = bounds.public.then(|| state.connections.clone()).flatten();
    // Where they are counted it is there that they wait; the framework, which limits each worker by itself, takes in those who do.
    let taken_in = if counted.is_some() { bounds.connections.saturating_add(WAITING_MAX) } else { bounds.connections };
    let each = taken_in.div_ceil(bounds.workers.max(1)).max(1);
    let builder =
        Server::build().workers(bounds.workers).max_concurrent_connections(each).shutdown_timeout(bounds.drain_s).disable_signals();
    let stopping = builder.graceful_shutdown_signal();
    let builder = builder.listen(name, listener, move || {
        let (at_once, polite, stopping) = (bounds.public.then(|| Arc::clone(&state)), Arc::clone(&state), stopping.clone());
        let (counted, ending) = (counted.clone(), stopping.clone());
        let app = map_config(App::new().configure(configure()).into_factory(), |()| AppConfig::default());
        let app = apply_fn_factory(app, move |request: Request, app: &_| front(at_once.as_deref(), request, app));
        let http = HttpService::build()
            .graceful_shutdown_signal(move || {
                let stopping = stopping.clone();
                async move { stopping.notified().await }
            })
            .keep_alive(KEEP_ALIVE)
            .client_request_timeout(HEAD_TIMEOUT)
            .client_disconnect_timeout(CLOSE_TIMEOUT)
            .finish(app);
        fn_service(move |io: TcpStream| {
            // Without it, an answer may wait for the acknowledgement of the one before.
            let (peer, polite) = (io.peer_addr().ok(), Arc::clone(&polite));
            let (counted, ending) = (counted.clone(), ending.clone());
            let _ = io.set_nodelay(true);
            async move {
                let place = match counted {
                    None => None,
                    Some(counted) => match select(pin!(counted.enter()), pin!(ending.notified())).await {
                        Either::Left((Some(place), _)) => Some(place),
                        // Who still waits when the service stops has sent nothing that was read.
                        _ => return Err(DispatchError::Io(io::Error::other("stopping"))),
                    },
                };
                Ok::<_, DispatchError>((Polite::new(io, polite, place), Protocol::Http1, peer))
            }
        })
        .and_then(http)
    })?;
    Ok(builder.run())
}

/// Answers from memory, or hands on to the app.
fn front<S>(at_once: Option<&State>, request: Request, app: &S) -> impl Future<Output = Result<Response<BoxBody>, Error>> + use<S>
where
    S: Service<Request, Response = ServiceResponse<BoxBody>, Error = Error>,
{
    match at_once.and_then(|state| answer_at_once(state, request.head(), request.path())) {
        Some(response) => Either::Left(ready(Ok(response.into()))),
        None => Either::Right(app.call(request).map(|answered| answered.map(Into::into))),
    }
}
