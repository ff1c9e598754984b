//! The service as a whole: an engine, a public listener and an admin listener, from start to drained stop.

mod polite;
mod server;

use crate::{
    config::Config,
    http::{self, State, admin, admin::Guard},
    wire,
};
use actix_web::{dev::ServerHandle, rt::time::timeout};
use futures_util::future::{Either, join, select};
use quorate_actors::{Builder, Engine, PairConfig, StartError, VenueConfig, model::VenueId, terms::VenueFilter, venues};
use server::Bounds;
use std::{
    collections::HashMap,
    future::Future,
    io,
    net::{SocketAddr, TcpListener},
    pin::pin,
    sync::{Arc, OnceLock},
    thread::available_parallelism,
    time::Duration,
};

/// Connections to the admin listener.
const ADMIN_CONNECTIONS: usize = 64;
/// How long requests under way may take once the service is to stop, in seconds.
const DRAIN_S: u64 = 5;
/// Threads of the engine: coordinator and exchanges together, past about one core of work more would pay.
const ARBITERS: usize = 1;
/// The most threads that answer: what they send is ready in memory.
const WORKERS_MAX: usize = 4;

/// Says why the service does not start or does not go on.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Another program has the port.
    #[error("{key} is {address}: the port is in use by another program, expected a free one")]
    PortInUse {
        /// The key in the configuration.
        key: &'static str,
        /// The address.
        address: SocketAddr,
    },
    /// The address cannot be listened at.
    #[error("{key} is {address}: {source}")]
    Listen {
        /// The key in the configuration.
        key: &'static str,
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// The admin listener would be open to everybody.
    #[error("the admin listener at {0} is off loopback, expected admin_token_file set")]
    OpenAdmin(SocketAddr),
    /// The token cannot be had.
    #[error("admin_token_file {0}: {1}")]
    TokenFile(String, io::Error),
    /// The token is too short to be one.
    #[error("admin_token_file {0} holds {1} characters, expected {min} at least", min = admin::TOKEN_MIN)]
    TokenShort(String, usize),
    /// The engine does not start.
    #[error("engine: {0}")]
    Engine(#[from] StartError),
    /// A server failed.
    #[error("server: {0}")]
    Server(#[from] io::Error),
}

/// Holds the two sockets, bound and not yet served.
#[derive(Debug)]
pub struct Listeners {
    /// Of the public routes.
    pub public: TcpListener,
    /// Of the admin routes.
    pub admin: TcpListener,
}

impl Listeners {
    /// Binds both addresses of a configuration.
    ///
    /// # Errors
    /// [`ServeError`] naming key and address.
    pub fn bind(config: &Config) -> Result<Self, ServeError> {
        Ok(Self { public: bind("listen", config.listen)?, admin: bind("admin_listen", config.admin_listen)? })
    }
}

fn bind(key: &'static str, address: SocketAddr) -> Result<TcpListener, ServeError> {
    TcpListener::bind(address).map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => ServeError::PortInUse { key, address },
        _ => ServeError::Listen { key, address, source },
    })
}

/// Runs the service until `shutdown` is done, then lets requests under way come to their end, for five seconds at most.
///
/// # Errors
/// [`ServeError`] where it does not start, or a server fails.
pub async fn run(config: Config, listeners: Listeners, shutdown: impl Future<Output = ()>) -> Result<(), ServeError> {
    run_with(config, listeners, shutdown, |_| {}).await
}

/// Runs the service as [`run`] does, and gives its engine to whoever wants to look on, or to have actors of his own shown among the engine's.
///
/// # Errors
/// As [`run`].
pub async fn run_with(
    config: Config,
    listeners: Listeners,
    shutdown: impl Future<Output = ()>,
    started: impl FnOnce(&Engine),
) -> Result<(), ServeError> {
    let (builder, boot) = builder(&config);
    let engine = builder.start()?;
    let _ = boot.set(engine.boot().to_owned());
    started(&engine);
    let served = serve(engine.clone(), &config, listeners, shutdown).await;
    engine.shutdown().await;
    served
}

/// Prepares an engine from a configuration. The cell takes the engine's boot, once that is known, for the bodies that it renders.
pub fn builder(config: &Config) -> (Builder, Arc<OnceLock<String>>) {
    let (boot, simulated) = (Arc::new(OnceLock::<String>::new()), config.simulated());
    let known = Arc::clone(&boot);
    let mut builder = Engine::builder()
        .deadline(config.deadline)
        .max_age(config.max_age)
        .poll(config.poll)
        .fetch_timeout(config.fetch_timeout)
        .rules(config.rates.admission)
        .rate_settings(config.rates.clone())
        .simulated(simulated)
        .on_demand(if config.on_demand { config.limits.on_demand_pairs } else { 0 })
        .rounds_per_s(config.limits.rounds_per_s)
        .arbiters(ARBITERS)
        .render(Arc::new(move |view| wire::quotes_body(view, known.get().map_or("", String::as_str), simulated)));
    for pair in &config.pairs {
        let venues = match pair.venues.as_slice() {
            [] => VenueFilter::All,
            named => VenueFilter::Only(named.iter().map(|id| VenueId::new(id)).collect()),
        };
        builder = builder.pair(PairConfig {
            pair: pair.pair,
            required: pair.required,
            quorum: pair.quorum,
            venues,
            rate: Some(pair.own.clone()),
        });
    }
    for (id, venue) in config.venues.iter().filter(|(_, v)| v.enabled) {
        let Some(built_in) = venues::by_id(id) else { continue };
        let set = VenueConfig {
            origin: Some(venue.origin.clone()),
            mirrors: Some(venue.mirrors.clone()),
            poll: venue.poll,
            budget: venue.budget,
            fetch_timeout: venue.fetch_timeout,
            operator: venue.operator.clone(),
            region: venue.region,
        };
        builder = builder.venue(built_in).venue_config(id, set);
    }
    (builder, boot)
}

/// Gives what the routes need of a configuration beside the engine.
pub fn options(config: &Config) -> http::Options {
    http::Options {
        simulated: config.simulated(),
        body_bytes: config.limits.body_bytes,
        pairs_per_request: config.limits.pairs_per_request,
        rounds_per_s: config.limits.rounds_per_s,
        on_demand: config.on_demand,
        metrics: config.metrics,
        takers: config.venues.iter().filter_map(|(id, venue)| Some((id.clone(), venue.taker?))).collect::<HashMap<_, _>>(),
        receipts_mib: config.receipts_mib,
    }
}

/// Serves an engine that runs already; it is left running.
///
/// # Errors
/// [`ServeError`] where a server does not start or fails.
pub async fn serve(engine: Engine, config: &Config, listeners: Listeners, shutdown: impl Future<Output = ()>) -> Result<(), ServeError> {
    let guard = Arc::new(guard(config, listeners.admin.local_addr()?)?);
    let state = Arc::new(State::new(engine, options(config)).counting(config.limits.connections));
    let workers = available_parallelism().map_or(1, usize::from).saturating_sub(ARBITERS).clamp(1, WORKERS_MAX);
    let bounds = Bounds { workers, connections: config.limits.connections, drain_s: DRAIN_S, public: true };
    let (public_state, admin_state) = (Arc::clone(&state), Arc::clone(&state));
    let public = server::start("public", listeners.public, Arc::clone(&state), bounds, move || http::routes_of(Arc::clone(&public_state)))?;
    let bounds = Bounds { workers: 1, connections: ADMIN_CONNECTIONS, public: false, ..bounds };
    let routes = move || admin::routes(Arc::clone(&admin_state), Arc::clone(&guard));
    let admin = server::start("admin", listeners.admin, state, bounds, routes)?;
    let handles = [public.handle(), admin.handle()];
    let servers = pin!(join(public, admin));
    let servers = match select(servers, pin!(shutdown)).await {
        // Nobody asked them to end.
        Either::Left(((public, admin), _)) => return Ok(public.and(admin)?),
        Either::Right(((), servers)) => servers,
    };
    log::info!("stopping: requests under way have {DRAIN_S} s");
    let (_, ended) = join(stop(&handles), timeout(Duration::from_secs(DRAIN_S.saturating_add(1)), servers)).await;
    match ended {
        Ok((public, admin)) => Ok(public.and(admin)?),
        Err(_) => {
            log::warn!("requests under way were cut");
            Ok(())
        }
    }
}

async fn stop(handles: &[ServerHandle; 2]) {
    let [public, admin] = handles;
    join(public.stop(true), admin.stop(true)).await;
}

/// Reads the token, and refuses to be open to everybody.
pub(crate) fn guard(config: &Config, address: SocketAddr) -> Result<Guard, ServeError> {
    let Some(path) = &config.admin_token_file else {
        return if address.ip().is_loopback() {
            Ok(Guard::new(config.admin_hosts.clone(), None))
        } else {
            Err(ServeError::OpenAdmin(address))
        };
    };
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|e| ServeError::TokenFile(shown.clone(), e))?;
    let token = text.trim();
    if token.len() < admin::TOKEN_MIN {
        return Err(ServeError::TokenShort(shown, token.chars().count()));
    }
    Ok(Guard::new(config.admin_hosts.clone(), Some(token.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_in_use_is_named() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        let config = Config { listen: address, ..Config::defaults().unwrap() };
        let error = Listeners::bind(&config).unwrap_err().to_string();
        assert_eq!(error, format!("listen is {address}: the port is in use by another program, expected a free one"));
    }

    #[test]
    fn the_admin_listener_is_never_open_off_loopback() {
        let config = Config::defaults().unwrap();
        let of = |config: &Config, address: &str| guard(config, address.parse().unwrap()).map(|_| ()).map_err(|e| e.to_string());
        assert_eq!(of(&config, "127.0.0.1:8081"), Ok(()));
        assert_eq!(
            of(&config, "0.0.0.0:8081").unwrap_err(),
            "the admin listener at 0.0.0.0:8081 is off loopback, expected admin_token_file set"
        );
        let path = std::env::temp_dir().join(format!("quorate-token-{}", std::process::id()));
        let config = Config { admin_token_file: Some(path.clone()), ..config };
        assert!(of(&config, "0.0.0.0:8081").unwrap_err().starts_with("admin_token_file "));
        std::fs::write(&path, "short\n").unwrap();
        assert!(of(&config, "0.0.0.0:8081").unwrap_err().ends_with("holds 5 characters, expected 16 at least"));
        std::fs::write(&path, "0123456789abcdef\n").unwrap();
        assert_eq!(of(&config, "0.0.0.0:8081"), Ok(()));
        std::fs::remove_file(path).unwrap();
    }
}
