//! HTTP, one resource a file: parse, ask, render.
//!
//! Requests are routed by a table of our own, under the app's (or a scope's) default service: every answer, the framework's refusals
//! included, is then made in one place, and an answer from memory passes nothing that it does not need.

pub mod admin;
mod batch;
mod best;
mod body;
mod caching;
pub mod connections;
mod convert;
mod derived;
mod docs;
mod health;
mod listing;
mod openapi;
mod page;
pub mod pairs;
pub(crate) mod quotes;
pub(crate) mod rates;
mod receipts;
mod request_id;
mod router;
mod served;
mod spreads;
pub mod terms;
mod value;

use crate::error::{ApiError, Code, Context};
use actix_web::{
    HttpRequest, HttpResponse,
    dev::{Payload, RequestHead, ServiceRequest, ServiceResponse, fn_service},
    http::header::{HeaderMap, HeaderName, HeaderValue},
    web::ServiceConfig,
};
use connections::Connections;
use futures_util::{
    FutureExt,
    future::{Either, LocalBoxFuture, ready},
};
use quorate_actors::{
    Engine, VenueStatus,
    model::Pair,
    rate::{self, Num, Takers},
};
use request_id::RequestIds;
use router::{Route, get, get_or_post};
use served::Served;
use std::{
    collections::{HashMap, HashSet},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};
use terms::Basis;
use tokio::time::Instant;

pub use router::Handler;

/// How long the body of a request may take.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(5);

static SIMULATED: HeaderName = HeaderName::from_static("quorate-simulated");

/// Every public route.
const ROUTES: &[Route] = &[
    get("/v1/quotes/{pair}", |call| quotes::one(call).boxed_local()),
    get_or_post("/v1/quotes", |call| batch::get_quotes(call).boxed_local(), |call| batch::post_quotes(call).boxed_local()),
    get("/v1/rates/{pair}", |call| rates::one(call).boxed_local()),
    get("/v1/rates", |call| batch::get_rates(call).boxed_local()),
    get("/v1/best/{pair}", |call| best::one(call).boxed_local()),
    get("/v1/spreads/{pair}", |call| spreads::one(call).boxed_local()),
    get("/v1/convert", |call| convert::one(call).boxed_local()),
    get("/v1/receipts/{id}", |call| ready(receipts::one(call)).boxed_local()),
    get("/v1/venues", |call| ready(listing::venues(call)).boxed_local()),
    get("/v1/venues/{id}", |call| ready(listing::venue(call)).boxed_local()),
    get("/v1/pairs", |call| ready(listing::pairs(call)).boxed_local()),
    get("/", |call| page::page(call).boxed_local()),
    get("/assets/{name}", |call| ready(page::asset(call)).boxed_local()),
    get("/healthz", |call| ready(health::alive(call)).boxed_local()),
    get("/readyz", |call| ready(health::ready(call)).boxed_local()),
    get("/openapi.json", |call| ready(openapi::json(call)).boxed_local()),
    get("/docs", |call| ready(docs::page(call)).boxed_local()),
    get("/docs/style.css", |call| ready(docs::style(call)).boxed_local()),
];

/// Where the routes that memory answers stand in the table.
const QUOTES: usize = 0;
const RATES: usize = 2;

/// Holds what the routes serve from, shared by all workers.
#[derive(Debug)]
pub struct State {
    pub(crate) engine: Engine,
    pub(crate) basis: Basis,
    pub(crate) simulated: bool,
    pub(crate) body_bytes: usize,
    pub(crate) pairs_per_request: usize,
    pub(crate) rounds_per_s: u32,
    pub(crate) on_demand: bool,
    pub(crate) takers: Takers,
    /// The pairs that are configured, whatever else is asked for.
    pub(crate) configured: HashSet<Pair>,
    pub(crate) receipts: receipts::Receipts,
    /// Where what is served is counted; nothing where that is not wanted.
    pub(crate) served: Option<Served>,
    /// What the admin listener keeps between requests.
    pub(crate) admin: admin::Kept,
    /// Where the connections are counted; nothing where the host has a server of its own.
    pub(crate) connections: Option<Arc<Connections>>,
    ids: RequestIds,
}

/// Holds how the routes differ from the defaults.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether quotes come from a simulation.
    pub simulated: bool,
    /// Bytes in a request's body.
    pub body_bytes: usize,
    /// Pairs in one request.
    pub pairs_per_request: usize,
    /// Rounds that the engine starts in a second, to be told to who is refused one.
    pub rounds_per_s: u32,
    /// Whether the engine serves pairs that are not configured.
    pub on_demand: bool,
    /// Whether what is served is counted and timed.
    pub metrics: bool,
    /// Taker fees, by the venue's id, that are others than the venue's own.
    pub takers: HashMap<String, Num>,
    /// How many MiB the receipts may take that somebody was given.
    pub receipts_mib: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            simulated: false,
            body_bytes: 65_536,
            pairs_per_request: 100,
            rounds_per_s: 50,
            on_demand: true,
            metrics: false,
            takers: HashMap::new(),
            receipts_mib: 16,
        }
    }
}

impl State {
    /// Makes the state of an engine's routes.
    pub fn new(engine: Engine, options: Options) -> Self {
        let Options { simulated, body_bytes, pairs_per_request, rounds_per_s, on_demand, metrics, takers, receipts_mib } = options;
        let venues = engine.venues();
        let taker = |venue: &VenueStatus| rate::taker(venue.profile(), takers.get(venue.id.as_str()).copied());
        let takers = venues.iter().filter_map(|venue| Some((venue.id.clone(), taker(venue)?))).collect();
        let configured = engine.pairs().into_iter().filter(|status| status.configured).map(|status| status.pair).collect();
        let basis = Basis { terms: engine.terms().clone(), venues: venues.into_iter().map(|v| v.id).collect() };
        Self {
            engine,
            basis,
            simulated,
            body_bytes,
            pairs_per_request,
            rounds_per_s,
            on_demand,
            takers,
            configured,
            receipts: receipts::Receipts::new(receipts_mib),
            served: metrics.then(|| Served::new(ROUTES)),
            admin: admin::Kept::new(),
            connections: None,
            ids: RequestIds::new(),
        }
    }
}

impl State {
    /// Has the connections to the public listener counted, and limited.
    #[must_use]
    pub(crate) fn counting(self, limit: usize) -> Self {
        Self { connections: Some(Arc::new(Connections::new(limit))), ..self }
    }

    /// Gives an id for a request whose own is not known.
    pub(crate) fn fresh_id(&self) -> HeaderValue {
        self.ids.fresh()
    }
}

/// Serves the public routes of an engine in an app or a scope, under the default options.
///
/// They take the default service of what they are configured into, and read the path that is left there.
///
/// ```no_run
/// use actix_web::{App, HttpServer, web};
/// use quorate_actors::Engine;
///
/// # #[actix_web::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let engine = Engine::builder().pairs(["BTC-USDT"]).start()?;
/// HttpServer::new(move || App::new().service(web::scope("/rates").configure(quorate::routes(engine.clone()))))
///     .bind("127.0.0.1:8080")?
///     .run()
///     .await?;
/// # Ok(())
/// # }
/// ```
pub fn routes(engine: Engine) -> impl FnOnce(&mut ServiceConfig) {
    let (rounds_per_s, on_demand) = (engine.rounds_per_s(), engine.serves_on_demand());
    routes_of(Arc::new(State::new(engine, Options { rounds_per_s, on_demand, ..Options::default() })))
}

/// Serves the public routes as [`routes`] does, under options of the host's choice.
pub fn routes_of(state: Arc<State>) -> impl FnOnce(&mut ServiceConfig) {
    move |config| {
        config.default_service(fn_service(move |request: ServiceRequest| serve(&state, ROUTES, request)));
    }
}

/// Holds a request under way.
pub struct Call<'a> {
    pub(crate) state: &'a State,
    pub(crate) request: &'a HttpRequest,
    /// The request's id, as it is told the caller.
    pub(crate) id: &'a str,
    pub(crate) payload: Payload,
    /// What the path has in place of `{…}`, not decoded.
    pub(crate) captured: &'a str,
}

impl Call<'_> {
    pub(crate) fn query(&self) -> &str {
        self.request.query_string()
    }

    /// Refuses any query, on a route that takes none.
    pub(crate) fn no_query(&self) -> Result<(), ApiError> {
        self.given([]).map(|[]| ())
    }

    /// Gives the texts of the parameters that a route knows, where they are given; refuses any other.
    pub(crate) fn given<const N: usize>(&self, known: [&str; N]) -> Result<[Option<String>; N], ApiError> {
        let mut given = [const { None }; N];
        for part in self.query().split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let detail = |what: &str| format!("parameter {} {what}", crate::error::shown(name));
            let Some((_, place)) = known.iter().zip(&mut given).find(|(known, _)| **known == name) else {
                let expected = if N == 0 { "none".to_owned() } else { known.map(|known| format!("{known:?}")).join(" or ") };
                return Err(ApiError::new(Code::UnknownParameter, detail(&format!("is not known, expected {expected}"))));
            };
            if place.replace(terms::decoded(value)?).is_some() {
                return Err(ApiError::new(Code::DuplicateParameter, detail("is given more than once")));
            }
        }
        Ok(given)
    }

    pub(crate) fn json(&self, body: impl Into<bytes::Bytes>) -> HttpResponse {
        caching::json(body.into())
    }
}

/// What one request comes to, from memory at once or after a while.
pub(crate) type Answer = Either<
    std::future::Ready<Result<ServiceResponse, actix_web::Error>>,
    LocalBoxFuture<'static, Result<ServiceResponse, actix_web::Error>>,
>;

fn serve(state: &Arc<State>, routes: &'static [Route], request: ServiceRequest) -> Answer {
    let inner = request.request();
    match answer_at_once(state, inner.head(), inner.match_info().unprocessed()) {
        Some(response) => Either::Left(std::future::ready(Ok(request.into_response(response)))),
        None => Either::Right(count(Arc::clone(state), routes, request).boxed_local()),
    }
}

/// Answers a request that memory satisfies: the way of nearly all, which passes nothing that it does not need.
pub(crate) fn answer_at_once(state: &State, head: &RequestHead, path: &str) -> Option<HttpResponse> {
    let began = Instant::now();
    // What a panic leaves behind is dropped with the request.
    let answered = catch_unwind(AssertUnwindSafe(|| {
        let quotes = quotes::from_memory(state, head, path, began).map(|response| (QUOTES, response));
        quotes.or_else(|| rates::from_memory(state, head, path, began).map(|response| (RATES, response)))
    }));
    let Ok(answered) = answered else { return Some(refuse(state, &head.headers, &panicked())) };
    let (route, mut response) = answered?;
    mark(state, state.ids.of(&head.headers), &mut response);
    if let Some(served) = &state.served {
        served.count(route, response.status(), began.elapsed());
    }
    Some(response)
}

/// Answers a public request in its own time, and counts it.
async fn count(state: Arc<State>, routes: &'static [Route], request: ServiceRequest) -> Result<ServiceResponse, actix_web::Error> {
    let began = Instant::now();
    let found = router::find(routes, request.request().match_info().unprocessed()).map(|found| found.number);
    let answered = route(Arc::clone(&state), routes, request).await;
    if let (Some(served), Ok(response)) = (&state.served, &answered) {
        served.count(found.unwrap_or(routes.len()), response.status(), began.elapsed());
    }
    answered
}

async fn route(state: Arc<State>, routes: &'static [Route], request: ServiceRequest) -> Result<ServiceResponse, actix_web::Error> {
    let (request, payload) = request.into_parts();
    let id = state.ids.of(request.headers());
    let call = Call { state: &state, request: &request, id: id.to_str().unwrap_or_default(), payload, captured: "" };
    let handled = AssertUnwindSafe(router::dispatch(routes, call)).catch_unwind().await;
    let answered = handled.unwrap_or_else(|_| Err(panicked()));
    let mut response = answered.unwrap_or_else(|error| error.response(context(&state, &id)));
    mark(&state, id, &mut response);
    Ok(ServiceResponse::new(request, response))
}

fn panicked() -> ApiError {
    log::error!("a handler panicked: the caller was told internal");
    ApiError::new(Code::Internal, "the request could not be handled, and that was logged")
}

/// Makes the response of a request that is refused ahead of its route.
fn refuse(state: &State, headers: &HeaderMap, error: &ApiError) -> HttpResponse {
    let id = state.ids.of(headers);
    let mut response = error.response(context(state, &id));
    mark(state, id, &mut response);
    response
}

fn context<'a>(state: &State, id: &'a HeaderValue) -> Context<'a> {
    Context { request_id: id.to_str().unwrap_or_default(), simulated: state.simulated }
}

/// Adds what every answer bears.
fn mark(state: &State, id: HeaderValue, response: &mut HttpResponse) {
    let headers = response.headers_mut();
    // No handler sets these: as in `caching`, to append is the cheaper way.
    headers.append(request_id::NAME.clone(), id);
    if state.simulated {
        headers.append(SIMULATED.clone(), HeaderValue::from_static("1"));
    }
}

#[cfg(test)]
mod tests;
