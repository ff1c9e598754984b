//! The simulation's own routes under `/_sim`: venues, faults, market, truth, counts.

use super::server::Shared;
use bytes::Bytes;
use quorate_actors::{
    model::UnixMs,
    sim::{Control, FaultFile, Manner, Reply},
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::time::Duration;

const PROBLEM: &str = "application/problem+json";

/// An answer of a route.
#[derive(Debug)]
pub(super) struct Said {
    status: u16,
    pub(super) content_type: &'static str,
    pub(super) body: Bytes,
    allow: Option<&'static str>,
}

impl Said {
    fn json(value: &Value) -> Self {
        Self { status: 200, content_type: "application/json", body: value.to_string().into(), allow: None }
    }

    /// Says what is wrong, as RFC 9457 has it.
    pub(super) fn problem(status: u16, code: &str, detail: &str) -> Self {
        let title = actix_web::http::StatusCode::from_u16(status).ok().and_then(|s| s.canonical_reason()).unwrap_or("");
        let body = json!({"type": "about:blank", "title": title, "status": status, "code": code, "detail": detail});
        Self { status, content_type: PROBLEM, body: body.to_string().into(), allow: None }
    }

    pub(super) fn allow(self, methods: &'static str) -> Self {
        Self { allow: Some(methods), ..self }
    }

    pub(super) fn into_reply(self, now: UnixMs) -> Reply {
        Reply {
            delay: Duration::ZERO,
            status: self.status,
            content_type: self.content_type,
            retry_after_s: None,
            location: None,
            allow: self.allow,
            clock: now,
            body: self.body,
            pad: 0,
            packed: false,
            manner: Manner::Whole,
        }
    }
}

/// Answers a request to `/_sim`.
pub(super) fn answer(shared: &Shared, method: &str, path: &str, body: &[u8]) -> Said {
    let now = shared.clock.now();
    let mut parts = path.trim_end_matches('/').split('/').skip(2);
    let (route, id, rest) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    let method = if method == "HEAD" { "GET" } else { method };
    match (route, id, rest) {
        ("venues", None, _) => only(method, &[("GET", &|| Said::json(&venues(shared)))], "GET, HEAD"),
        ("faults", None, _) => only(
            method,
            &[
                ("GET", &|| Said::json(&json!({ "faults": shared.world.faults(now) }))),
                ("POST", &|| set_faults(shared, body, now)),
                ("DELETE", &|| Said::json(&json!({ "removed": shared.world.remove_faults(None) }))),
            ],
            "GET, HEAD, POST, DELETE",
        ),
        ("faults", Some(id), None) => only(method, &[("DELETE", &|| remove_fault(shared, id))], "DELETE"),
        ("market", None, _) => {
            only(method, &[("GET", &|| Said::json(&truth(shared, now))), ("POST", &|| set_market(shared, body, now))], "GET, HEAD, POST")
        }
        ("truth", None, _) => only(method, &[("GET", &|| Said::json(&truth(shared, now)))], "GET, HEAD"),
        ("stats", None, _) => only(
            method,
            &[("GET", &|| Said::json(&json!(shared.world.stats(now)))), ("DELETE", &|| reset_stats(shared))],
            "GET, HEAD, DELETE",
        ),
        _ => Said::problem(404, "not_found", "expected /_sim/venues, faults, market, truth or stats"),
    }
}

type Method<'a> = (&'a str, &'a dyn Fn() -> Said);

fn only(method: &str, methods: &[Method<'_>], allow: &'static str) -> Said {
    match methods.iter().find(|(name, _)| *name == method) {
        Some((_, answer)) => answer(),
        None => Said::problem(405, "method_not_allowed", &format!("expected {allow}")).allow(allow),
    }
}

fn venues(shared: &Shared) -> Value {
    let row = |(id, own_origin): &(quorate_actors::model::VenueId, String)| {
        let pairs: Vec<_> =
            shared.world.listed(id.as_str()).map(|(pair, symbol)| json!({"pair": pair.to_string(), "symbol": symbol})).collect();
        let row = json!({"id": id.as_str(), "origin": format!("{}/{id}", shared.origin), "own_origin": own_origin, "pairs": pairs});
        (id.as_str().to_owned(), row)
    };
    Value::Object(shared.own.iter().map(row).collect())
}

fn truth(shared: &Shared, now: UnixMs) -> Value {
    let truth = shared.world.truth(now);
    let prices: Map<_, _> = truth.prices.iter().map(|(pair, mid)| (pair.to_string(), mid.to_string().into())).collect();
    json!({"simulated": true, "as_of": truth.as_of.to_string(), "frozen": truth.frozen, "prices": prices})
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, Said> {
    serde_json::from_slice(body).map_err(|error| Said::problem(400, "bad_request", &error.to_string()))
}

fn set_faults(shared: &Shared, body: &[u8], now: UnixMs) -> Said {
    let file: FaultFile = match parsed(body) {
        Ok(file) => file,
        Err(said) => return said,
    };
    match shared.world.add_faults(file.faults, now) {
        Ok(ids) => Said::json(&json!({ "ids": ids })),
        Err(error) => Said::problem(400, "bad_request", &error.to_string()),
    }
}

fn remove_fault(shared: &Shared, id: &str) -> Said {
    match id.parse().map(|id| shared.world.remove_faults(Some(id))) {
        Ok(0) => Said::problem(404, "not_found", &format!("no fault has the number {id}")),
        Ok(removed) => Said::json(&json!({ "removed": removed })),
        Err(_) => Said::problem(400, "bad_request", "expected the number of a fault"),
    }
}

fn set_market(shared: &Shared, body: &[u8], now: UnixMs) -> Said {
    let control: Control = match parsed(body) {
        Ok(control) => control,
        Err(said) => return said,
    };
    match shared.world.control(&control, now) {
        Ok(()) => Said::json(&truth(shared, now)),
        Err(error) => Said::problem(400, "bad_request", &error.to_string()),
    }
}

fn reset_stats(shared: &Shared) -> Said {
    shared.world.reset_stats();
    Said::json(&json!(shared.world.stats(shared.clock.now())))
}
