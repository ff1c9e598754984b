//! The admin listener: the figures of every actor, and pause, resume, restart of a venue.

mod guard;

pub use guard::{Guard, TOKEN_MIN};

use super::{
    Call, Served, State,
    connections::Figures,
    listing, refuse, route,
    router::{Route, get, post},
};
use crate::{
    error::{ApiError, Code},
    wire::{VenueJson, json},
};
use actix_web::{
    HttpResponse,
    dev::{ServiceRequest, fn_service},
    web::ServiceConfig,
};
use futures_util::{
    FutureExt,
    future::{Either, ready},
};
use quorate_actors::{Control, ControlError, meter};
use serde::Serialize;
use std::{sync::Arc, time::Duration};

/// Every admin route.
const ROUTES: &[Route] = &[
    get("/admin/api/actors.json", |call| ready(actors(call)).boxed_local()),
    post("/admin/api/venues/{id}/pause", |call| control(call, Control::Pause, "pause").boxed_local()),
    post("/admin/api/venues/{id}/resume", |call| control(call, Control::Resume, "resume").boxed_local()),
    post("/admin/api/venues/{id}/restart", |call| control(call, Control::Restart, "restart").boxed_local()),
];

/// Serves the admin routes behind their guard.
pub fn routes(state: Arc<State>, guard: Arc<Guard>) -> impl FnOnce(&mut ServiceConfig) {
    move |config| {
        config.default_service(fn_service(move |request: ServiceRequest| serve(&state, &guard, request)));
    }
}

fn serve(state: &Arc<State>, guard: &Guard, request: ServiceRequest) -> Served {
    match guard.check(request.request()) {
        Ok(()) => Either::Right(route(Arc::clone(state), ROUTES, request).boxed_local()),
        Err(error) => {
            let response = refuse(state, request.headers(), &error);
            Either::Left(std::future::ready(Ok(request.into_response(response))))
        }
    }
}

#[derive(Serialize)]
struct Actors<'a> {
    simulated: bool,
    boot: &'a str,
    time: String,
    #[serde(flatten)]
    snapshot: meter::Snapshot,
    connections: Option<Figures>,
    updates_missed: u64,
    venues: Vec<VenueJson<'a>>,
}

/// Shows every actor and every venue at one moment.
fn actors(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    call.no_query()?;
    let engine = &call.state.engine;
    let venues = engine.venues();
    let shown = Actors {
        simulated: call.state.simulated,
        boot: engine.boot(),
        time: engine.clock().now().to_string(),
        snapshot: engine.actors(),
        connections: call.state.connections.as_ref().map(|connections| connections.figures()),
        updates_missed: engine.updates_missed(),
        venues: venues.iter().map(|status| listing::row(call.state, status)).collect(),
    };
    Ok(call.json(json(&shown)))
}

#[derive(Serialize)]
struct Done<'a> {
    simulated: bool,
    action: &'static str,
    venue: VenueJson<'a>,
}

/// Tells a venue's actor what to do, and shows how the venue stands then.
async fn control(call: Call<'_>, control: Control, action: &'static str) -> Result<HttpResponse, ApiError> {
    call.no_query()?;
    let (engine, peer) = (&call.state.engine, call.request.peer_addr());
    let told = engine.control(call.captured, control).await;
    // An audit names who asked for what; the id is one of ours by now, or no venue's.
    let peer = peer.map_or_else(|| "unknown".to_owned(), |address| address.to_string());
    let venues = engine.venues();
    let known = venues.iter().find(|status| status.id.as_str() == call.captured);
    match (told, known) {
        (Ok(()), Some(status)) => {
            log::warn!("admin: {action} {} by {peer}", status.id);
            Ok(call.json(json(&Done { simulated: call.state.simulated, action, venue: listing::row(call.state, status) })))
        }
        (Err(ControlError::Restarting), _) => {
            Err(ApiError::new(Code::Restarting, "the venue's actor is being rebuilt").retry_after(Duration::from_secs(1)))
        }
        (Err(ControlError::Overloaded), _) => {
            Err(ApiError::new(Code::Overloaded, "the venue's actor has too much under way").retry_after(Duration::from_secs(1)))
        }
        _ => Err(listing::unknown(call.captured, &venues)),
    }
}
