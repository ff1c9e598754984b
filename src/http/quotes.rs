//! `GET /v1/quotes/{pair}`: every venue's quote, or why there is none.

use super::{
    Call, State,
    caching::{self, Freshness, Version},
    pairs,
    terms::{self, Takes},
};
use crate::{
    error::{ApiError, Code},
    wire,
};
use actix_web::{
    HttpResponse,
    dev::RequestHead,
    http::{Method, header::HeaderMap},
};
use bytes::Bytes;
use quorate_actors::{
    AskError, Published,
    model::{Pair, Reason},
    terms::Terms,
    view::View,
};
use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
    time::Duration,
};
use tokio::time::Instant;

const PATH: &str = "/v1/quotes/";

/// Answers at once where memory satisfies the default terms: the way of nearly every request, kept short.
pub(super) fn from_memory(state: &State, head: &RequestHead, path: &str, now: Instant) -> Option<HttpResponse> {
    if !matches!(head.method, Method::GET | Method::HEAD) || head.uri.query().is_some() {
        return None;
    }
    let pair: Pair = path.strip_prefix(PATH)?.parse().ok()?;
    let published = state.engine.remembered_at(&pair, &state.basis.terms, now).filter(|p| !p.view.rows.is_empty())?;
    Some(answer(state, &head.headers, &published, &state.basis.terms, now))
}

/// Answers a request for one pair.
pub(super) async fn one(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    let Call { state, request, captured, .. } = call;
    let terms = terms::from_query(call.query(), &state.basis, Takes::default())?.terms;
    let pair = pairs::parse(captured, || known_pairs(state))?;
    let published = ask(state, pair, &terms).await?;
    Ok(answer(state, request.headers(), &published, &terms, Instant::now()))
}

/// Asks the engine, and says so where there is no quote at all.
pub(super) async fn ask(state: &State, pair: Pair, terms: &Terms) -> Result<Arc<Published>, ApiError> {
    let published = ask_for_any(state, pair, terms).await?;
    if published.view.rows.is_empty() { Err(no_quote(state, &published.view, terms)) } else { Ok(published) }
}

/// Asks the engine, whatever the venues say.
pub(crate) async fn ask_for_any(state: &State, pair: Pair, terms: &Terms) -> Result<Arc<Published>, ApiError> {
    state.engine.ask(pair, terms.clone()).await.map_err(|error| refused(state, pair, error))
}

pub(crate) fn body(state: &State, published: &Published) -> Bytes {
    let bytes = published.bytes();
    // An embedding app may have given its engine no renderer.
    if bytes.is_empty() { wire::quotes_body(&published.view, state.engine.boot(), state.simulated) } else { bytes }
}

pub(super) fn known_pairs(state: &State) -> Vec<Pair> {
    state.engine.pairs().into_iter().map(|p| p.pair).collect()
}

fn answer(state: &State, headers: &HeaderMap, published: &Published, terms: &Terms, now: Instant) -> HttpResponse {
    let freshness = freshness(&published.view, terms, now);
    let version = Version { boot: state.engine.boot(), sequence: published.view.sequence, variant: variant(&published.view) };
    caching::tagged(headers, || body(state, published), freshness, version)
}

/// Tells apart the answers that can be made of one sequence: who is missing from one, and whose quote no longer counts, may be in the next, without
/// anything new having been learnt. Nothing where every quote is there and counts.
pub(super) fn variant(view: &View) -> Option<u64> {
    let missed = view.misses.iter().map(|miss| (miss.venue.as_str(), miss.fault.reason));
    let refused = view.rows.iter().filter_map(|row| Some((row.quote.venue.as_str(), row.refused?)));
    let mut words = missed.chain(refused).peekable();
    words.peek()?;
    let mut hasher = DefaultHasher::new();
    words.for_each(|word| word.hash(&mut hasher));
    Some(hasher.finish() % 1_000_000_000)
}

pub(super) fn freshness(view: &View, terms: &Terms, now: Instant) -> Freshness {
    let since_oldest = now.saturating_duration_since(view.oldest);
    // This runs for every answer from memory, and nearly always the oldest of all is among those that decided: the look has an early end then.
    let decided = || view.rows.iter().filter(|r| r.refused.is_none()).map(|r| r.quote.received);
    let age = match decided().any(|received| received == view.oldest) {
        true => since_oldest,
        false => decided().min().map_or(since_oldest, |oldest| now.saturating_duration_since(oldest)),
    };
    let left = (!terms.fresh).then(|| terms.max_age.saturating_sub(since_oldest));
    Freshness { age, left }
}

/// Says that no venue gave a quote, and why each did not.
pub(crate) fn no_quote(state: &State, view: &View, terms: &Terms) -> ApiError {
    if view.asked() == 0 {
        return unknown(state, view.pair, "is listed by none of the venues that the terms allow");
    }
    let late = !view.misses.is_empty() && view.misses.iter().all(|m| m.fault.reason == Reason::Timeout);
    let error = if late {
        let detail = format!("none of {} venues answered for {} within {} ms", view.misses.len(), view.pair, terms.deadline.as_millis());
        ApiError::new(Code::Deadline, detail)
    } else {
        ApiError::new(Code::NoQuotes, format!("none of {} venues gave a quote for {}", view.misses.len(), view.pair))
    };
    error.retry_after(Duration::from_secs(1)).with("misses", wire::misses_json(&view.misses))
}

pub(super) fn refused(state: &State, pair: Pair, error: AskError) -> ApiError {
    match error {
        AskError::TooManyRounds { retry_after } => {
            let detail = format!("{} rounds began in this second, expected no more", state.rounds_per_s);
            ApiError::new(Code::TooManyRounds, detail).retry_after(retry_after).rate_limit(u64::from(state.rounds_per_s))
        }
        AskError::Overloaded => ApiError::new(Code::Overloaded, "too many requests under way, expected fewer").retry_after(SECOND),
        AskError::Restarting => ApiError::new(Code::Restarting, "the engine is being rebuilt").retry_after(SECOND),
        AskError::UnknownPair => unknown(state, pair, "is listed by no venue"),
        AskError::NotConfigured => unknown(state, pair, "is not configured, and pairs are not served on demand"),
        AskError::NoSuchVenue(id) => {
            let detail = format!("venues is {}, expected the ids of /v1/venues", crate::error::shown(&id));
            ApiError::new(Code::InvalidParameter, detail)
        }
    }
}

/// After so long a refusal may be over.
pub(super) const SECOND: Duration = Duration::from_secs(1);

fn unknown(state: &State, pair: Pair, why: &str) -> ApiError {
    let name = pair.to_string();
    let suggestions = pairs::closest(&name, &known_pairs(state)).into_iter().filter(|s| *s != name);
    ApiError::new(Code::UnknownPair, format!("pair {name} {why}")).suggest(suggestions)
}
