//! `GET /v1/quotes?pairs=A,B` and `POST /v1/quotes`: many pairs, an error per item instead of one for all.

use super::{
    Call, State, body,
    caching::{self, Freshness},
    pairs, quotes,
    terms::{self, Asked},
};
use crate::{
    error::{ApiError, Code, Context, shown},
    wire::{push_str, push_u64},
};
use actix_web::HttpResponse;
use futures_util::future::join_all;
use quorate_actors::{Published, model::Pair, terms::Terms};
use std::sync::Arc;
use tokio::time::Instant;

/// Holds what became of one pair: how the caller wrote it, and the answer.
struct Item {
    text: String,
    answer: Result<Arc<Published>, ApiError>,
}

/// Answers a GET.
pub(super) async fn get(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    let asked = terms::from_query(call.query(), &call.state.basis, true)?;
    answer(call.state, call.id, asked).await
}

/// Answers a POST.
pub(super) async fn post(mut call: Call<'_>) -> Result<HttpResponse, ApiError> {
    call.no_query()?;
    let body = body::json(&mut call).await?;
    let asked = terms::from_json(&body, &call.state.basis)?;
    let mut response = answer(call.state, call.id, asked).await?;
    // The answer to a POST is kept by nobody.
    response.headers_mut().insert(actix_web::http::header::CACHE_CONTROL, actix_web::http::header::HeaderValue::from_static("no-store"));
    Ok(response)
}

async fn answer(state: &State, request_id: &str, Asked { terms, pairs }: Asked) -> Result<HttpResponse, ApiError> {
    let texts = pairs.unwrap_or_default();
    let most = state.pairs_per_request;
    if texts.iter().all(String::is_empty) {
        return Err(ApiError::new(Code::MissingParameter, format!("pairs is missing, expected 1 to {most} pairs such as BTC-USD,ETH-USD")));
    }
    if texts.len() > most {
        return Err(ApiError::new(Code::TooManyPairs, format!("{} pairs, expected at most {most}", texts.len())));
    }
    let known = quotes::known_pairs(state);
    let items = join_all(texts.into_iter().map(|text| item(state, text, &known, &terms))).await;
    let now = Instant::now();
    let views = items.iter().filter_map(|i| Some(&i.answer.as_ref().ok()?.view));
    let ages: Vec<_> = views.map(|view| quotes::freshness(view, &terms, now)).collect();
    let body = written(Context { request_id, simulated: state.simulated }, state, &items);
    // What is missing may be there in a moment: only whole answers are kept.
    let whole = ages.len() == items.len();
    let left = if whole { ages.iter().filter_map(|f| f.left).min() } else { None };
    Ok(caching::aged(body.into(), Freshness { age: ages.iter().map(|f| f.age).max().unwrap_or_default(), left }))
}

async fn item(state: &State, text: String, known: &[Pair], terms: &Terms) -> Item {
    let answer = match pairs::parse(&text, || known.to_vec()) {
        Ok(pair) => quotes::ask(state, pair, terms).await,
        Err(error) => Err(error),
    };
    Item { text, answer }
}

fn written(context: Context<'_>, state: &State, items: &[Item]) -> Vec<u8> {
    let mut out = Vec::with_capacity(items.len().saturating_mul(2048).saturating_add(64));
    out.extend_from_slice(b"{\"simulated\":");
    out.extend_from_slice(if state.simulated { b"true" } else { b"false" });
    out.extend_from_slice(b",\"items\":[");
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        push_item(&mut out, context, state, item);
    }
    out.extend_from_slice(b"]}");
    out
}

fn push_item(out: &mut Vec<u8>, context: Context<'_>, state: &State, item: &Item) {
    out.extend_from_slice(b"{\"http_status\":");
    match &item.answer {
        Ok(published) => {
            // The members of the pair's own answer follow, as it would be given alone.
            out.extend_from_slice(b"200,");
            out.extend_from_slice(quotes::body(state, published).get(1..).unwrap_or(b"}"));
        }
        Err(error) => {
            push_u64(out, u64::from(error.status()));
            out.extend_from_slice(b",\"pair\":");
            match item.text.parse::<Pair>() {
                Ok(pair) => push_str(out, &pair.to_string()),
                // Not repeated where it may not be: the detail says how long it is.
                Err(_) if shown(&item.text).starts_with('"') => push_str(out, &item.text),
                Err(_) => out.extend_from_slice(b"null"),
            }
            out.extend_from_slice(b",\"status\":");
            push_str(out, error.code().slug());
            out.extend_from_slice(b",\"error\":");
            out.extend_from_slice(&error.body(context));
            out.push(b'}');
        }
    }
}
