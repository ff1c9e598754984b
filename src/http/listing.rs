//! `GET /v1/venues`, `/v1/venues/{id}` and `/v1/pairs`: what is there, and in which state.

use super::{Call, State, pairs::closest_word};
use crate::{
    error::{ApiError, Code, shown},
    wire::{PairJson, VenueJson, json},
};
use actix_web::HttpResponse;
use quorate_actors::{PairStatus, VenueStatus};
use serde::Serialize;

#[derive(Serialize)]
struct Venues<'a> {
    simulated: bool,
    venues: Vec<VenueJson<'a>>,
}

#[derive(Serialize)]
struct Pairs<'a> {
    simulated: bool,
    on_demand: bool,
    pairs: Vec<PairJson<'a>>,
}

/// Lists the venues, sorted by id.
pub(super) fn venues(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    call.no_query()?;
    let all = call.state.engine.venues();
    let venues = all.iter().map(|status| row(call.state, status)).collect();
    Ok(call.json(json(&Venues { simulated: call.state.simulated, venues })))
}

/// Shows one venue.
pub(super) fn venue(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    call.no_query()?;
    let all = call.state.engine.venues();
    let found = all.iter().find(|status| status.id.as_str().eq_ignore_ascii_case(call.captured));
    let status = found.ok_or_else(|| unknown(call.captured, &all))?;
    Ok(call.json(json(&row(call.state, status))))
}

/// Lists the pairs: those that are configured, and those kept on demand.
pub(super) fn pairs(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    call.no_query()?;
    let all: Vec<PairStatus> = call.state.engine.pairs();
    let pairs = all.iter().map(PairJson::of).collect();
    Ok(call.json(json(&Pairs { simulated: call.state.simulated, on_demand: call.state.on_demand, pairs })))
}

/// Refuses an id that no venue has.
pub(super) fn unknown(id: &str, all: &[VenueStatus]) -> ApiError {
    let known = all.iter().map(|status| status.id.as_str());
    ApiError::new(Code::UnknownVenue, format!("venue {}, expected one of /v1/venues", shown(id))).suggest(closest_word(id, known))
}

/// Makes the row of a venue.
pub(super) fn row<'a>(state: &State, status: &'a VenueStatus) -> VenueJson<'a> {
    VenueJson::of(status, state.takers.get(&status.id).copied())
}
