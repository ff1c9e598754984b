//! `GET /v1/rates/{pair}`: the rate that can be trusted, with its receipt, or a plain refusal.

use super::{
    Call, State,
    caching::{self, Freshness},
    openapi::Shape,
    pairs,
    quotes::{self, SECOND},
    terms::{self, Asked, Own, Takes, invalid},
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
    PublishedRate,
    model::{Pair, UnixMs},
    rate::{Good, Status},
    terms::Terms,
};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

const PATH: &str = "/v1/rates/";

/// What the routes of rates take besides the terms.
pub(super) const TAKES: Takes = Takes {
    pairs: false,
    own: &[
        Own::new("allow", Shape::Text, "held, stale or both (held,stale): takes the last good rate where there is no other"),
        Own::new("receipt", Shape::Word(|| vec!["short", "full"]), "short leaves the evidence away"),
    ],
};

/// Holds what a caller wants of a rate.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) terms: Terms,
    /// The statuses with which he takes a rate besides `ok` and `degraded`.
    allow: Vec<Status>,
    /// Whether rate, status, age and counts are enough.
    short: bool,
}

impl Wanted {
    /// Reads what is the route's own of a request.
    pub(super) fn of(asked: Asked<'_>) -> Result<Self, ApiError> {
        let may_be_allowed = [Status::Held, Status::Stale];
        let allowed = |word: &str| {
            let known = may_be_allowed.into_iter().find(|status| status.slug() == word);
            known.ok_or_else(|| invalid("allow", word, "held, stale or both"))
        };
        let allow = asked.own("allow").map(|text| text.split(',').map(allowed).collect::<Result<Vec<_>, _>>()).transpose()?;
        let short = match asked.own("receipt") {
            None | Some("full") => false,
            Some("short") => true,
            Some(other) => return Err(invalid("receipt", other, "short or full")),
        };
        Ok(Self { allow: allow.unwrap_or_default(), short, terms: asked.terms })
    }

    /// Wants the whole rate under some terms, and none that is refused unless he says otherwise.
    pub(crate) fn default_of(terms: &Terms) -> Self {
        Self { terms: terms.clone(), allow: Vec::new(), short: false }
    }
}

/// Answers at once where memory satisfies the default terms with a rate.
pub(super) fn from_memory(state: &State, head: &RequestHead, path: &str, now: Instant) -> Option<HttpResponse> {
    if !matches!(head.method, Method::GET | Method::HEAD) || head.uri.query().is_some() {
        return None;
    }
    let pair: Pair = path.strip_prefix(PATH)?.parse().ok()?;
    let published = state.engine.remembered_rate_at(&pair, &state.basis.terms, now)?;
    let wanted = Wanted::default_of(&state.basis.terms);
    refusal(&published, &wanted).is_none().then(|| answer(state, &head.headers, &published, &wanted, now))
}

/// Answers a request for one pair's rate.
pub(super) async fn one(call: Call<'_>) -> Result<HttpResponse, ApiError> {
    let Call { state, request, captured, .. } = call;
    let wanted = Wanted::of(terms::from_query(call.query(), &state.basis, TAKES)?)?;
    let pair = pairs::parse(captured, || quotes::known_pairs(state))?;
    let published = ask(state, pair, &wanted).await?;
    Ok(answer(state, request.headers(), &published, &wanted, Instant::now()))
}

/// Asks the engine, and refuses what the caller does not take.
pub(super) async fn ask(state: &State, pair: Pair, wanted: &Wanted) -> Result<Arc<PublishedRate>, ApiError> {
    let published = ask_for_any(state, pair, &wanted.terms).await?;
    match refusal(&published, wanted) {
        None => Ok(published),
        Some(code) => Err(refused(state, &published, &wanted.terms, code)),
    }
}

/// Asks the engine, whatever the rate is worth.
pub(crate) async fn ask_for_any(state: &State, pair: Pair, terms: &Terms) -> Result<Arc<PublishedRate>, ApiError> {
    state.engine.ask_rate(pair, terms.clone()).await.map_err(|error| quotes::refused(state, pair, error))
}

fn answer(state: &State, headers: &HeaderMap, published: &PublishedRate, wanted: &Wanted, now: Instant) -> HttpResponse {
    let freshness = freshness(published, &wanted.terms, now);
    let tag = caching::tag_of(&[published.receipt.id(), if wanted.short { "-short" } else { "" }]);
    // An id that is confirmed is given, too.
    keep(state, published);
    caching::named(headers, || body(published, wanted), freshness, tag)
}

/// Gives the bytes of an answer.
pub(super) fn body(published: &PublishedRate, wanted: &Wanted) -> Bytes {
    if wanted.short { wire::short_rate(&published.receipt) } else { published.receipt.bytes() }
}

/// Keeps a receipt whose id a caller is given.
pub(super) fn keep(state: &State, published: &PublishedRate) {
    if published.is_first_given() {
        state.receipts.keep(published.receipt.id(), published.receipt.bytes(), Instant::now());
    }
}

/// Tells how old a rate is at sending: as its oldest quote that decided, or where it is the last good one, as the pass that made that.
pub(super) fn freshness(published: &PublishedRate, terms: &Terms, now: Instant) -> Freshness {
    let since_pass = now.saturating_duration_since(published.at);
    let age = match published.oldest {
        Some(oldest) => now.saturating_duration_since(oldest),
        None => last_good_age(published).map_or(since_pass, |age| age.saturating_add(since_pass)),
    };
    let left = (!terms.fresh && published.shared && published.oldest.is_some()).then(|| terms.max_age.saturating_sub(age));
    Freshness { age, left }
}

/// Tells why a caller does not get the rate; `None` where he does.
pub(crate) fn refusal(published: &PublishedRate, wanted: &Wanted) -> Option<Code> {
    let outcome = &published.receipt.outcome;
    let sources = outcome.tally.survivors().len();
    if wanted.terms.min_sources.is_some_and(|min| sources < min) {
        return Some(Code::InsufficientSources);
    }
    let code = match outcome.status {
        Status::Ok | Status::Degraded => return None,
        // Two are wanted by whom does not say otherwise.
        Status::SingleSource if wanted.terms.min_sources.is_some() => return None,
        Status::SingleSource => Code::InsufficientSources,
        Status::Held => Code::Held,
        Status::Stale => Code::Stale,
        Status::Inconsistent => Code::Inconsistent,
        Status::Unavailable => Code::Unavailable,
    };
    (!wanted.allow.contains(&outcome.status)).then_some(code)
}

/// Says why there is no rate, with the whole receipt.
pub(crate) fn refused(state: &State, published: &PublishedRate, terms: &Terms, code: Code) -> ApiError {
    keep(state, published);
    let outcome = &published.receipt.outcome;
    let (pair, tally) = (outcome.pair, &outcome.tally);
    let (votes, sources) = (tally.votes.len(), tally.survivors().len());
    let detail = match code {
        Code::InsufficientSources => format!("sources that agree on {pair}: {sources}, expected {}", terms.min_sources.unwrap_or(2)),
        Code::Held => format!("{pair} jumped by more than {votes} votes are believed at once, and is not confirmed yet"),
        Code::Stale => format!(
            "no quote for {pair} counts any more, the last good rate is no older than {} ms",
            published.receipt.rules.stale.as_millis()
        ),
        Code::Inconsistent => format!("{votes} votes on {pair} contradict each other"),
        _ => format!("no quote for {pair} counts"),
    };
    let last_good = outcome.last_good.map_or_else(|| b"null".to_vec(), |good| format!("\"{}\"", good.rate).into_bytes());
    let age = last_good_age(published).map_or_else(|| b"null".to_vec(), |age| age.as_millis().to_string().into_bytes());
    ApiError::new(code, detail)
        .retry_after(SECOND)
        .with("receipt", published.receipt.bytes().to_vec())
        .with("last_good", last_good)
        .with("last_good_age_ms", age)
}

/// Gives how old the last good rate was at the pass.
fn last_good_age(published: &PublishedRate) -> Option<Duration> {
    let outcome = &published.receipt.outcome;
    let since = |Good { at, .. }: Good| -> Duration { UnixMs::since(outcome.as_of, at) };
    outcome.last_good.map(since)
}
