//! `GET /openapi.json`: OpenAPI 3.1, written from the tables by which requests are read and answers are named.

mod derived;
mod operations;
mod problem;
mod quotes;
mod rates;
mod shape;

pub(crate) use operations::{Answer, Group, OPERATIONS, Operation};
pub(crate) use shape::Shape;

use super::{
    Call, caching,
    terms::{self, Kind, Own, Parameter},
};
use crate::error::{ApiError, Code};
use actix_web::HttpResponse;
use operations::COMMON;
use problem::PROBLEM;
use serde_json::{Map, Value, json};
use shape::Object;
use std::{collections::BTreeMap, sync::OnceLock};

/// Answers with the document.
pub(super) fn json(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    static BODY: OnceLock<bytes::Bytes> = OnceLock::new();
    call.no_query()?;
    let body = BODY.get_or_init(|| document().to_string().into()).clone();
    Ok(caching::json(body))
}

/// Writes the whole document.
pub(crate) fn document() -> Value {
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for operation in OPERATIONS {
        paths.entry(operation.path).or_default().insert(operation.method.to_owned(), described(operation));
    }
    let schemas: Map<String, Value> = objects().into_iter().map(|object| (object.name.to_owned(), object.schema())).collect();
    let groups: Vec<Value> = Group::ALL.iter().map(|(_, name, about)| json!({"name": name, "description": about})).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Quorate",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "What every exchange says, where it is best, and the rate that can be trusted.",
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "./"}],
        "tags": groups,
        "paths": paths,
        "components": {"schemas": schemas},
    })
}

/// Gives every object that an answer is made of.
pub(super) fn objects() -> Vec<&'static Object> {
    let mut objects = Vec::new();
    for operation in OPERATIONS {
        if let Answer::Json(shape) = &operation.answer {
            shape.objects(&mut objects);
        }
    }
    Shape::Object(&PROBLEM).objects(&mut objects);
    objects
}

fn described(operation: &Operation) -> Value {
    let captured = operation.captured.map(|(about, example)| {
        let name = captured_name(operation.path);
        json!({"name": name, "in": "path", "required": true, "description": about, "schema": {"type": "string", "minLength": 1}, "example": example})
    });
    let query = if operation.body { Vec::new() } else { parameters(operation) };
    let mut described = json!({
        "operationId": operation.id,
        "tags": [group_name(operation.group)],
        "summary": operation.about,
        "parameters": captured.into_iter().chain(query).collect::<Vec<_>>(),
        "responses": responses(operation),
    });
    if operation.body
        && let Value::Object(described) = &mut described
    {
        let body = json!({"required": true, "content": {"application/json": {"schema": body(operation)}}});
        described.insert("requestBody".to_owned(), body);
    }
    described
}

/// Gives the name of what stands in a path between braces.
pub(super) fn captured_name(path: &str) -> &str {
    path.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map_or("", |(name, _)| name)
}

pub(super) fn group_name(group: Group) -> &'static str {
    Group::ALL.iter().find(|(known, ..)| *known == group).map_or("", |(_, name, _)| name)
}

/// Gives the shape of one of the terms in a query.
pub(super) fn shape_of(parameter: &Parameter) -> Shape {
    match parameter.kind {
        Kind::Integer(range, _) => Shape::Within(*range.start(), *range.end()),
        Kind::Boolean(_) => Shape::Boolean,
        Kind::List(_) => Shape::Text,
    }
}

/// Tells whether a route has no answer without one of the terms.
pub(super) fn is_needed(parameter: &Parameter) -> bool {
    parameter.name == "pairs"
}

fn parameters(operation: &Operation) -> Vec<Value> {
    let described = |name: &str, needed: bool, shape: &Shape, about: &str| {
        let example = operation.example.split('&').filter_map(|part| part.split_once('=')).find(|(known, _)| *known == name);
        let mut described = json!({"name": name, "in": "query", "required": needed, "description": about, "schema": shape.schema()});
        if let (Some((_, example)), Value::Object(described)) = (example, &mut described) {
            described.insert("example".to_owned(), example.into());
        }
        described
    };
    let of_terms = terms_of(operation).map(|term| described(term.name, is_needed(term), &shape_of(term), term.about));
    of_terms.chain(own_of(operation).map(|own| described(own.name, own.needed, &own.shape, own.about))).collect()
}

/// Gives the terms that an operation takes.
pub(super) fn terms_of(operation: &Operation) -> impl Iterator<Item = &'static Parameter> {
    operation.takes.into_iter().flat_map(terms::parameters)
}

/// Gives what an operation takes besides.
pub(super) fn own_of(operation: &Operation) -> impl Iterator<Item = &'static Own> {
    operation.takes.map_or(&[][..], |takes| takes.own).iter().chain(operation.own)
}

/// Writes what a body takes: the terms, closed, since what is not known is refused.
fn body(operation: &Operation) -> Value {
    let schema = |term: &Parameter| {
        let mut schema = match term.kind {
            Kind::List(_) => json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
            _ => shape_of(term).schema(),
        };
        if let Value::Object(schema) = &mut schema {
            schema.insert("description".to_owned(), term.about.into());
        }
        (term.name.to_owned(), schema)
    };
    let properties: Map<String, Value> = terms_of(operation).map(schema).collect();
    let required: Vec<&str> = terms_of(operation).filter(|term| is_needed(term)).map(|term| term.name).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false,
        "example": {"pairs": ["BTC-USDT", "ETH-USD"], "max_age_ms": 2000}})
}

/// Gives the problems of an operation by status.
pub(super) fn problems(operation: &Operation) -> BTreeMap<u16, Vec<Code>> {
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in COMMON.iter().chain(operation.problems) {
        by_status.entry(ApiError::new(*code, "").status()).or_default().push(*code);
    }
    by_status
}

fn responses(operation: &Operation) -> Value {
    let mut responses = Map::new();
    let schema = match &operation.answer {
        Answer::Json(shape) => json!({"application/json": {"schema": shape.schema()}}),
        Answer::Other(media) => json!({*media: {}}),
    };
    responses.insert("200".to_owned(), json!({"description": "The answer.", "content": schema}));
    if operation.tagged {
        responses.insert("304".to_owned(), json!({"description": "What If-None-Match names is the answer still."}));
    }
    let problem = Shape::Object(&PROBLEM).schema();
    for (status, codes) in problems(operation) {
        let said: Vec<String> = codes.iter().map(|code| format!("`{}`: {}.", code.slug(), code.title())).collect();
        let mut content = json!({"application/problem+json": {"schema": problem}});
        // A page says in its own form what it refuses.
        if let (Answer::Other("text/html"), Value::Object(content)) = (&operation.answer, &mut content)
            && codes.iter().any(|code| operation.problems.contains(code))
        {
            content.insert("text/html".to_owned(), json!({}));
        }
        let described = json!({"description": said.join(" "), "content": content});
        responses.insert(status.to_string(), described);
    }
    Value::Object(responses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{ROUTES, router};
    use actix_web::http::Method;

    #[test]
    fn every_route_is_described_and_nothing_else() {
        for route in ROUTES {
            for method in [Method::GET, Method::POST] {
                let is_described = OPERATIONS.iter().any(|operation| {
                    operation.path == route.path
                        && operation.method == method.as_str().to_lowercase()
                        && operation.captured.is_some() == route.path.contains('{')
                });
                assert_eq!(is_described, route.answers(&method), "{method} {}", route.path);
            }
        }
        assert!(OPERATIONS.iter().all(|operation| router::find(ROUTES, operation.path).is_some()));
        let mut ids: Vec<&str> = OPERATIONS.iter().map(|operation| operation.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), OPERATIONS.len(), "each has its own id");
    }

    #[test]
    fn one_name_is_one_object() {
        let objects = objects();
        for object in &objects {
            let members: std::collections::BTreeSet<&str> = object.all().iter().map(|member| member.name).collect();
            assert_eq!(members.len(), object.all().len(), "{}: no member twice", object.name);
        }
        assert!(objects.len() > 30);
    }
}
