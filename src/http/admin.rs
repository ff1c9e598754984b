//! The admin listener: every figure as a page and as metrics, and orders to the actors.

mod assets;
mod control;
mod families;
mod guard;
mod json;
mod kept;
mod metrics;
mod pieces;
mod process;
mod profile;
mod samples;
mod snapshot;

pub use guard::{Guard, TOKEN_MIN};
pub(crate) use kept::Kept;

use super::{
    Answer, Call, State, mark, refuse, route,
    router::{Route, get, post},
};
use crate::error::ApiError;
use actix_web::{
    HttpResponse,
    body::BoxBody,
    dev::{ServiceRequest, fn_service},
    http::{
        Method, StatusCode,
        header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderValue},
    },
    web::ServiceConfig,
};
use bytes::Bytes;
use control::{control, reset};
use futures_util::{FutureExt, future::Either};
use metrics::Format;
use pieces::Pieces;
use profile::Form;
use quorate_actors::Control;
use std::{future::ready, sync::Arc};

/// Every admin route.
const ROUTES: &[Route] = &[
    get("/admin/api/actors.json", |call| ready(actors(call)).boxed_local()),
    post("/admin/api/actors/reset", |call| ready(reset(call)).boxed_local()),
    post("/admin/api/venues/{id}/pause", |call| control(call, Control::Pause, "pause").boxed_local()),
    post("/admin/api/venues/{id}/resume", |call| control(call, Control::Resume, "resume").boxed_local()),
    post("/admin/api/venues/{id}/restart", |call| control(call, Control::Restart, "restart").boxed_local()),
    post("/admin/api/venues/{id}/reconnect", |call| control(call, Control::Reconnect, "reconnect").boxed_local()),
    get("/metrics", |call| ready(metrics(call)).boxed_local()),
    get("/debug/pprof/profile", |call| profile::cpu(call, Form::Protobuf).boxed_local()),
    get("/debug/pprof/flamegraph", |call| profile::cpu(call, Form::Flamegraph).boxed_local()),
    get("/debug/pprof/heap", |call| ready(profile::heap(call)).boxed_local()),
    get("/debug/pprof/cmdline", |call| ready(profile::cmdline(call)).boxed_local()),
];

/// Serves the admin routes behind their guard.
pub fn routes(state: Arc<State>, guard: Arc<Guard>) -> impl FnOnce(&mut ServiceConfig) {
    move |config| {
        config.default_service(fn_service(move |request: ServiceRequest| serve(&state, &guard, request)));
    }
}

fn serve(state: &Arc<State>, guard: &Guard, request: ServiceRequest) -> Answer {
    let inner = request.request();
    let asset = assets::find(inner.path()).filter(|_| matches!(*inner.method(), Method::GET | Method::HEAD));
    let checked = if asset.is_some() { guard.check_host(inner) } else { guard.check(inner) };
    let response = match (checked, asset) {
        (Ok(()), None) => return Either::Right(route(Arc::clone(state), ROUTES, request).boxed_local()),
        (Ok(()), Some(asset)) => {
            let mut response = asset.response();
            mark(state, state.ids.of(request.headers()), &mut response);
            response
        }
        (Err(error), _) => refuse(state, request.headers(), &error),
    };
    Either::Left(ready(Ok(request.into_response(response))))
}

/// Shows every figure at one moment; with `open=` the types of message and the events of one actor as well.
fn actors(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    let [open] = call.given(["open"])?;
    let snapshot = call.state.admin.snapshot(call.state);
    let body = json::render(&snapshot, &call.state.admin.audited(), open.as_deref());
    Ok(whole(body, HeaderValue::from_static("application/json")))
}

/// Gives every figure to a scraper.
fn metrics(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    call.no_query()?;
    let accept = call.request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let format = Format::accepted(accept);
    let snapshot = call.state.admin.snapshot(call.state);
    Ok(whole(metrics::render(&snapshot, format), HeaderValue::from_static(format.content_type())))
}

/// Makes an answer that nobody keeps.
fn whole(body: impl Into<Bytes>, media: HeaderValue) -> HttpResponse {
    let mut response = HttpResponse::with_body(StatusCode::OK, BoxBody::new(Pieces::new(body)));
    response.headers_mut().insert(CONTENT_TYPE, media);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests;
