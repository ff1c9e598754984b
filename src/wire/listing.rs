//! The JSON of what is there: venues and pairs. Read by people and seldom, so serde writes it.

use quorate_actors::{
    PairStatus, PlanFacts, VenueState, VenueStatus,
    model::{Fault, Retry, UnixMs},
    rate::Taker,
    venue::{Endpoint, Kind, Reach, Region},
};
use serde::Serialize;
use std::collections::BTreeMap;

/// One venue, as `/v1/venues` and the admin page show it.
#[derive(Debug, Serialize)]
pub struct VenueJson<'a> {
    id: &'a str,
    name: &'static str,
    operator: &'static str,
    region: Option<&'static str>,
    origin: &'a str,
    mirrors: &'a [String],
    simulated: bool,
    state: VenueState,
    since: String,
    restarts: u64,
    requests: u64,
    answers: u64,
    faults: BTreeMap<&'static str, u64>,
    last_answer: Option<String>,
    last_fault: Option<FaultJson<'a>>,
    pairs_quoted: usize,
    powers: Vec<&'static str>,
    time_of: &'static str,
    taker: Option<String>,
    taker_source: Option<&'static str>,
    taker_read: Option<&'static str>,
    budget: BudgetJson,
    plan: &'a PlanFacts,
    docs: &'static str,
}

#[derive(Debug, Serialize)]
struct BudgetJson {
    weight: u32,
    per_ms: u64,
}

#[derive(Debug, Serialize)]
struct FaultJson<'a> {
    time: String,
    reason: &'static str,
    phase: Option<&'static str>,
    detail: &'a str,
    retry_time: Option<String>,
    retryable: bool,
}

impl<'a> FaultJson<'a> {
    fn of((time, fault): &'a (UnixMs, std::sync::Arc<Fault>)) -> Self {
        let retry_time = fault.retry.map(|retry| match retry {
            Retry::After(wait) => time.saturating_add(wait).to_string(),
            Retry::At(time) => time.to_string(),
        });
        Self {
            time: time.to_string(),
            reason: fault.reason.slug(),
            phase: fault.phase.map(|p| p.slug()),
            detail: &fault.detail,
            retry_time,
            retryable: fault.reason.is_retryable(),
        }
    }
}

impl<'a> VenueJson<'a> {
    /// Makes the row of a venue; `taker` is the fee that counts for it.
    pub fn of(status: &'a VenueStatus, taker: Option<Taker>) -> Self {
        let profile = status.profile();
        let (origin, mirrors) = status.origins.split_first().map_or(("", [].as_slice()), |(first, rest)| (first.as_str(), rest));
        Self {
            id: status.id.as_str(),
            name: profile.name,
            operator: profile.operator,
            region: profile.region.map(Region::code),
            origin,
            mirrors,
            simulated: crate::config::is_loopback(origin),
            state: status.state,
            since: status.since.to_string(),
            restarts: status.restarts,
            requests: status.requests,
            answers: status.answers,
            faults: status.faults.iter().map(|(reason, count)| (reason.slug(), *count)).collect(),
            last_answer: status.last_answer.map(|t| t.to_string()),
            last_fault: status.last_fault.as_ref().map(FaultJson::of),
            pairs_quoted: status.quoted,
            powers: powers(profile.endpoints),
            time_of: profile.time_of.slug(),
            taker: taker.map(|taker| taker.rate.to_string()),
            taker_source: taker.map(|taker| taker.source.slug()),
            taker_read: taker.and_then(|taker| taker.source.read()),
            budget: BudgetJson { weight: status.budget.weight, per_ms: u64::try_from(status.budget.per.as_millis()).unwrap_or(u64::MAX) },
            plan: &status.plan,
            docs: profile.docs,
        }
    }
}

/// Names what a venue can be asked for.
pub(crate) fn powers(endpoints: &[Endpoint]) -> Vec<&'static str> {
    let has = |kinds: &[Kind], bulk: bool| endpoints.iter().any(|e| kinds.contains(&e.kind) && (e.reach != Reach::One) == bulk);
    let all = [
        ("ticker", has(&[Kind::Ticker, Kind::Tickers], false)),
        ("tickers", has(&[Kind::Ticker, Kind::Tickers], true)),
        ("book_ticker", has(&[Kind::BookTicker], false)),
        ("book_tickers", has(&[Kind::BookTicker], true)),
    ];
    all.into_iter().filter_map(|(name, has)| has.then_some(name)).collect()
}

/// One pair, as `/v1/pairs` shows it.
#[derive(Debug, Serialize)]
pub struct PairJson<'a> {
    pair: String,
    base: &'a str,
    quote: &'a str,
    configured: bool,
    required: bool,
    quorum: usize,
    venues_asked: usize,
    quotes_admitted: usize,
    ready: bool,
}

impl<'a> PairJson<'a> {
    /// Makes the row of a pair.
    pub fn of(status: &'a PairStatus) -> Self {
        Self {
            pair: status.pair.to_string(),
            base: status.pair.base.as_str(),
            quote: status.pair.quote.as_str(),
            configured: status.configured,
            required: status.required,
            quorum: status.quorum,
            venues_asked: status.asked,
            quotes_admitted: status.admitted,
            ready: status.is_ready(),
        }
    }
}

/// One required pair, as `/readyz` shows it: the quotes that it has and needs.
#[derive(Debug, Serialize)]
pub struct ReadyJson {
    pair: String,
    have: usize,
    need: usize,
    ready: bool,
}

impl ReadyJson {
    /// Makes the row of a pair.
    pub fn of(status: &PairStatus) -> Self {
        let need = if status.asked == 0 { status.quorum } else { status.quorum.min(status.asked) };
        Self { pair: status.pair.to_string(), have: status.admitted, need, ready: status.is_ready() }
    }
}

/// Writes a value as JSON.
pub fn json(value: &impl Serialize) -> Vec<u8> {
    // Values of ours have text keys and no map that fails to be written.
    serde_json::to_vec(value).unwrap_or_else(|_| b"null".to_vec())
}
