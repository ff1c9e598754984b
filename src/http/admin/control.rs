//! Orders of an operator: each is audited, whether it was carried out or not.

use super::kept::Audited;
use crate::{
    error::{ApiError, Code, shown},
    http::{Call, listing},
    wire::{VenueJson, json},
};
use actix_web::HttpResponse;
use quorate_actors::{Control, ControlError};
use serde::Serialize;
use std::time::Duration;

/// After so long an actor that could not be told may be there again.
const SECOND: Duration = Duration::from_secs(1);

#[derive(Serialize)]
struct Done<'a> {
    simulated: bool,
    action: &'static str,
    venue: VenueJson<'a>,
}

#[derive(Serialize)]
struct Reset<'a> {
    simulated: bool,
    action: &'static str,
    actor: Option<&'a str>,
    actors: usize,
}

/// Tells a venue's actor what to do, and shows how the venue stands then.
pub(super) async fn control(call: Call<'_>, control: Control, action: &'static str) -> Result<HttpResponse, ApiError> {
    call.no_query()?;
    let told = call.state.engine.control(call.captured, control).await;
    let venues = call.state.engine.venues();
    let known = venues.iter().find(|status| status.id.as_str() == call.captured);
    let answer = match (told, known) {
        (Ok(()), Some(status)) => Ok(json(&Done { simulated: call.state.simulated, action, venue: listing::row(call.state, status) })),
        (Err(ControlError::Restarting), _) => {
            Err(ApiError::new(Code::Restarting, "the venue's actor is being rebuilt").retry_after(SECOND))
        }
        (Err(ControlError::Overloaded), _) => {
            Err(ApiError::new(Code::Overloaded, "the venue's actor has too much under way").retry_after(SECOND))
        }
        _ => Err(listing::unknown(call.captured, &venues)),
    };
    let target = known.map_or_else(|| shown(call.captured), |status| status.id.to_string());
    audited(&call, action, target, answer)
}

/// Sets the high-water marks of one actor (`actor=`), or of all, back to the present depths.
pub(super) fn reset(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    const ACTION: &str = "reset";
    let [actor] = call.given(["actor"])?;
    let simulated = call.state.simulated;
    let answer = match call.state.engine.reset_high(actor.as_deref()) {
        0 => Err(ApiError::new(
            Code::NotFound,
            format!("actor {}, expected one of actors.json", shown(actor.as_deref().unwrap_or_default())),
        )),
        actors => Ok(json(&Reset { simulated, action: ACTION, actor: actor.as_deref(), actors })),
    };
    let target = match (&answer, &actor) {
        (_, None) => "every actor".to_owned(),
        (Ok(_), Some(name)) => name.clone(),
        (Err(_), Some(name)) => shown(name),
    };
    audited(&call, ACTION, target, answer)
}

/// Writes down who asked for what and what became of it, and answers.
fn audited(call: &Call<'_>, action: &'static str, target: String, answer: Result<Vec<u8>, ApiError>) -> Result<HttpResponse, ApiError> {
    let peer = call.request.peer_addr().map_or_else(|| "unknown".to_owned(), |address| address.to_string());
    let outcome = answer.as_ref().map_or_else(|error| error.code().slug(), |_| "done");
    call.state.admin.audit(Audited { time: call.state.engine.clock().now().to_string(), peer, action, target, outcome });
    answer.map(|body| call.json(body))
}
