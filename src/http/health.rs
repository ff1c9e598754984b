//! `GET /healthz`: the process is alive. `GET /readyz`: every required pair has its quorum.

use super::Call;
use crate::{
    error::{ApiError, Code},
    wire::{ReadyJson, json},
};
use actix_web::HttpResponse;
use serde::Serialize;

/// How far our clock may be from the venues' before it is said.
const SKEW_MAX_MS: u64 = 2000;

#[derive(Serialize)]
struct Alive {
    status: &'static str,
    simulated: bool,
}

#[derive(Serialize)]
struct Ready {
    status: &'static str,
    simulated: bool,
    pairs: Vec<ReadyJson>,
    warnings: Vec<String>,
}

/// Answers as long as there is a process.
pub(super) fn alive(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    call.no_query()?;
    Ok(call.json(json(&Alive { status: "ok", simulated: call.state.simulated })))
}

/// Lists what each required pair has and needs; refuses while one lacks quotes.
pub(super) fn ready(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    call.no_query()?;
    let required: Vec<_> = call.state.engine.pairs().into_iter().filter(|p| p.required).collect();
    let pairs: Vec<_> = required.iter().map(ReadyJson::of).collect();
    let warnings: Vec<_> = skew(call.state.engine.skew_ms()).into_iter().collect();
    let lacking = required.iter().filter(|p| !p.is_ready()).count();
    if lacking > 0 {
        let detail = format!("{lacking} of {} required pairs lack quotes, expected none", required.len());
        return Err(ApiError::new(Code::NotReady, detail)
            .retry_after(std::time::Duration::from_secs(1))
            .with("pairs", json(&pairs))
            .with("warnings", json(&warnings)));
    }
    Ok(call.json(json(&Ready { status: "ready", simulated: call.state.simulated, pairs, warnings })))
}

fn skew(ahead_ms: Option<i64>) -> Option<String> {
    let ms = ahead_ms.filter(|ms| ms.unsigned_abs() > SKEW_MAX_MS)?;
    Some(format!("our clock is {} ms {} the venues'", ms.unsigned_abs(), if ms > 0 { "behind" } else { "ahead of" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_off_is_a_warning() {
        assert_eq!(skew(Some(2500)).unwrap(), "our clock is 2500 ms behind the venues'");
        assert_eq!(skew(Some(-2500)).unwrap(), "our clock is 2500 ms ahead of the venues'");
        assert_eq!((skew(Some(2000)), skew(None)), (None, None));
    }
}
