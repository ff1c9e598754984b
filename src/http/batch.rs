//! Many pairs in one request, an error per item instead of one for all.

use super::{
    Call, State, body,
    caching::{self, Freshness},
    pairs, quotes, rates,
    terms::{self, Asked, Takes},
};
use crate::{
    error::{ApiError, Code, Context, shown},
    wire::{push_str, push_u64},
};
use actix_web::HttpResponse;
use bytes::Bytes;
use futures_util::future::join_all;
use quorate_actors::model::Pair;
use std::borrow::Cow;
use tokio::time::Instant;

/// What became of one pair: the object that its own answer would be, and how fresh that is.
pub(super) type Item = Result<(Bytes, Freshness), ApiError>;

/// What the routes of many pairs take.
pub(super) const QUOTES_TAKE: Takes = Takes { pairs: true, own: &[] };
pub(super) const RATES_TAKE: Takes = Takes { pairs: true, ..rates::TAKES };

/// Answers `GET /v1/quotes?pairs=A,B`.
pub(super) async fn get_quotes(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    let asked = terms::from_query(call.query(), &call.state.basis, QUOTES_TAKE)?;
    quotes_of(call.state, call.id, asked).await
}

/// Answers `POST /v1/quotes`.
pub(super) async fn post_quotes(mut call: Call<'_>) -> Result<HttpResponse, ApiError> {
    call.no_query()?;
    let body = body::json(&mut call).await?;
    let asked = terms::from_json(&body, &call.state.basis)?;
    let mut response = quotes_of(call.state, call.id, asked).await?;
    // The answer to a POST is kept by nobody.
    response.headers_mut().insert(actix_web::http::header::CACHE_CONTROL, actix_web::http::header::HeaderValue::from_static("no-store"));
    Ok(response)
}

async fn quotes_of(state: &State, request_id: &str, Asked { terms, pairs, .. }: Asked<'_>) -> Result<HttpResponse, ApiError> {
    let terms = &terms;
    answer(state, request_id, pairs, async |pair| {
        let published = quotes::ask(state, pair, terms).await?;
        Ok((quotes::body(state, &published), quotes::freshness(&published.view, terms, Instant::now())))
    })
    .await
}

/// Answers `GET /v1/rates?pairs=A,B`.
pub(super) async fn get_rates(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    let mut asked = terms::from_query(call.query(), &call.state.basis, RATES_TAKE)?;
    let (state, pairs) = (call.state, asked.pairs.take());
    let wanted = &rates::Wanted::of(asked)?;
    answer(state, call.id, pairs, async |pair| {
        let published = rates::ask(state, pair, wanted).await?;
        rates::keep(state, &published);
        Ok((rates::body(&published, wanted), rates::freshness(&published, &wanted.terms, Instant::now())))
    })
    .await
}

async fn answer(
    state: &State,
    request_id: &str,
    pairs: Option<Vec<Cow<'_, str>>>,
    ask: impl AsyncFn(Pair) -> Item,
) -> Result<HttpResponse, ApiError> {
    let texts = pairs.unwrap_or_default();
    let most = state.pairs_per_request;
    if texts.iter().all(|text| text.is_empty()) {
        return Err(ApiError::new(Code::MissingParameter, format!("pairs is missing, expected 1 to {most} pairs such as BTC-USD,ETH-USD")));
    }
    if texts.len() > most {
        return Err(ApiError::new(Code::TooManyPairs, format!("{} pairs, expected at most {most}", texts.len())));
    }
    let known = quotes::known_pairs(state);
    let items = join_all(texts.iter().map(|text| async {
        match pairs::parse(text, || known.clone()) {
            Ok(pair) => ask(pair).await,
            Err(error) => Err(error),
        }
    }))
    .await;
    let ages: Vec<Freshness> = items.iter().filter_map(|item| Some(item.as_ref().ok()?.1)).collect();
    let body = written(Context { request_id, simulated: state.simulated }, &texts, &items);
    // What is missing may be there in a moment: only whole answers are kept.
    let whole = ages.len() == items.len();
    let left = if whole { ages.iter().filter_map(|f| f.left).min() } else { None };
    Ok(caching::aged(body.into(), Freshness { age: ages.iter().map(|f| f.age).max().unwrap_or_default(), left }))
}

fn written(context: Context<'_>, texts: &[Cow<'_, str>], items: &[Item]) -> Vec<u8> {
    let mut out = Vec::with_capacity(items.len().saturating_mul(2048).saturating_add(64));
    out.extend_from_slice(b"{\"simulated\":");
    out.extend_from_slice(if context.simulated { b"true" } else { b"false" });
    out.extend_from_slice(b",\"items\":[");
    for (at, (text, item)) in texts.iter().zip(items).enumerate() {
        if at > 0 {
            out.push(b',');
        }
        push_item(&mut out, context, text, item);
    }
    out.extend_from_slice(b"]}");
    out
}

fn push_item(out: &mut Vec<u8>, context: Context<'_>, text: &str, item: &Item) {
    out.extend_from_slice(b"{\"http_status\":");
    match item {
        Ok((body, _)) => {
            // The members of the pair's own answer follow, as it would be given alone.
            out.extend_from_slice(b"200,");
            out.extend_from_slice(body.get(1..).unwrap_or(b"}"));
        }
        Err(error) => {
            push_u64(out, u64::from(error.status()));
            out.extend_from_slice(b",\"pair\":");
            match text.parse::<Pair>() {
                Ok(pair) => push_str(out, &pair.to_string()),
                // Not repeated where it may not be: the detail says how long it is.
                Err(_) if shown(text).starts_with('"') => push_str(out, text),
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
