//! A snapshot as the page pulls it. The types of messages and the events are of one actor alone: that which is open.

use super::{
    kept::Audited,
    process::Process,
    snapshot::{self, Snapshot, millis},
};
use crate::{
    http::{connections::Figures, receipts},
    wire::VenueJson,
};
use quorate_actors::{
    VenueState,
    breaker::BreakerState,
    meter::{ActorSnapshot, BucketCounts, Event, MessageSnapshot},
    model::Reason,
};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// About how long the text is, for the first guess.
const SIZE: usize = 32 << 10;

#[derive(Serialize)]
struct All<'a> {
    number: u64,
    time: &'a str,
    boot: &'a str,
    simulated: bool,
    verdict: Verdict<'a>,
    process: &'a Process,
    clock_skew_ms: Option<i64>,
    updates_missed: u64,
    connections: Option<Figures>,
    refused_heads: u64,
    rounds: Rounds,
    receipts: Receipts,
    routes: Vec<Route>,
    pairs: Vec<Pair<'a>>,
    venues: Vec<Venue<'a>>,
    actors: Vec<Actor<'a>>,
    audit: &'a [Audited],
}

#[derive(Serialize)]
struct Verdict<'a> {
    word: &'static str,
    sentence: &'a str,
}

#[derive(Serialize)]
struct Rounds {
    quotes: u64,
    rates: u64,
    refused: u64,
    answered_memory: u64,
    answered_all: u64,
    answered_enough: u64,
    answered_deadline: u64,
}

#[derive(Serialize)]
struct Receipts {
    made: BTreeMap<&'static str, u64>,
    #[serde(flatten)]
    kept: receipts::Figures,
}

#[derive(Serialize)]
struct Route {
    route: &'static str,
    status: &'static str,
    time: Times,
}

#[derive(Serialize)]
struct Times {
    count: u64,
    sum_us: u64,
    p50_us: Option<u64>,
    p99_us: Option<u64>,
    bounds_us: &'static [u64],
    counts: Vec<u64>,
}

impl Times {
    fn of(times: &BucketCounts) -> Self {
        Self {
            count: times.total(),
            sum_us: times.sum_us,
            p50_us: times.quantile_us(50),
            p99_us: times.quantile_us(99),
            bounds_us: times.bounds_us,
            counts: times.counts.clone(),
        }
    }
}

#[derive(Serialize)]
struct Pair<'a> {
    pair: &'a str,
    required: bool,
    ready: bool,
    quorum: usize,
    venues_asked: usize,
    quotes_admitted: usize,
    rate_status: Option<&'static str>,
    rate_age_ms: Option<u64>,
}

#[derive(Serialize)]
struct Venue<'a> {
    id: &'a str,
    state: VenueState,
    state_for_ms: u64,
    restarts: u64,
    reconnects: u64,
    requests: u64,
    answers: u64,
    faults: Faults<'a>,
    pairs_quoted: usize,
    last_quote_age_ms: Option<u64>,
    breaker: BreakerState,
    budget_left_permille: u64,
    budget_share_permille: u64,
    poll_interval_ms: u64,
    response_p50_us: Option<u64>,
    response_p99_us: Option<u64>,
    detail: Option<Detail<'a>>,
}

#[derive(Serialize)]
struct Detail<'a> {
    profile: VenueJson<'a>,
    response: Times,
}

/// Writes counts by the words of their reasons.
struct Faults<'a>(&'a BTreeMap<Reason, u64>);

impl Serialize for Faults<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(reason, count)| (reason.slug(), count)))
    }
}

#[derive(Serialize)]
struct Actor<'a> {
    #[serde(flatten)]
    figures: &'a ActorSnapshot,
    last_error: Option<Happened<'a>>,
    messages: Option<&'a [MessageSnapshot]>,
    events: Option<Vec<Happened<'a>>>,
}

#[derive(Serialize)]
struct Happened<'a> {
    kind: &'static str,
    detail: &'a str,
    count: u64,
    age_ms: u64,
}

impl<'a> Actor<'a> {
    fn of(actor: &'a ActorSnapshot, open: Option<&str>) -> Self {
        let happened = |event: &'a std::sync::Arc<Event>| {
            let Event { kind, detail, count, .. } = &**event;
            Happened { kind, detail, count: *count, age_ms: event.age_ms(actor.metered_ns) }
        };
        let is_open = open == Some(&*actor.name);
        Self {
            figures: actor,
            last_error: actor.last_error.as_ref().map(happened),
            messages: is_open.then_some(&*actor.messages),
            events: is_open.then(|| actor.events.iter().rev().map(happened).collect()),
        }
    }
}

/// Writes a snapshot; of the actor that is `open` the types of message and the events, the latest first, as well,
/// and of its venue what seldom changes.
pub(super) fn render(s: &Snapshot, audit: &[Audited], open: Option<&str>) -> Vec<u8> {
    let t = &s.tallied;
    let all = All {
        number: s.number,
        time: &s.time,
        boot: &s.boot,
        simulated: s.simulated,
        verdict: Verdict { word: s.verdict.word, sentence: &s.verdict.sentence },
        process: &s.process,
        clock_skew_ms: s.clock_skew_ms,
        updates_missed: s.updates_missed,
        connections: s.connections,
        refused_heads: s.bare,
        rounds: Rounds {
            quotes: t.quote_rounds,
            rates: t.rate_rounds,
            refused: t.rounds_refused,
            answered_memory: t.answered_memory,
            answered_all: t.answered_all,
            answered_enough: t.answered_enough,
            answered_deadline: t.answered_deadline,
        },
        receipts: Receipts { made: t.receipts.iter().map(|(status, count)| (status.slug(), *count)).collect(), kept: s.receipts },
        routes: s.routes.iter().map(|row| Route { route: row.route, status: row.status, time: Times::of(&row.time) }).collect(),
        pairs: s.pairs.iter().map(Pair::of).collect(),
        venues: s.venues.iter().map(|venue| Venue::of(venue, open)).collect(),
        actors: s.actors.iter().map(|actor| Actor::of(actor, open)).collect(),
        audit,
    };
    let mut out = Vec::with_capacity(SIZE);
    // Values of ours have text keys and no map that fails to be written.
    let _ = serde_json::to_writer(&mut out, &all);
    out
}

impl<'a> Pair<'a> {
    fn of(pair: &'a snapshot::Pair) -> Self {
        Self {
            pair: &pair.name,
            required: pair.status.required,
            ready: pair.status.is_ready(),
            quorum: pair.status.quorum,
            venues_asked: pair.status.asked,
            quotes_admitted: pair.status.admitted,
            rate_status: pair.rate.map(|status| status.slug()),
            rate_age_ms: pair.rate_age_ms,
        }
    }
}

impl<'a> Venue<'a> {
    fn of(venue: &'a snapshot::Venue, open: Option<&str>) -> Self {
        let status = &venue.status;
        let is_open = open.and_then(|name| name.strip_prefix("exchange/")) == Some(venue.id());
        Self {
            id: venue.id(),
            state: status.state,
            state_for_ms: millis(status.state_for),
            restarts: status.restarts,
            reconnects: status.reconnects,
            requests: status.requests,
            answers: status.answers,
            faults: Faults(&status.faults),
            pairs_quoted: status.quoted,
            last_quote_age_ms: status.last_quote_age.map(millis),
            breaker: status.breaker,
            budget_left_permille: status.budget_left_permille,
            budget_share_permille: status.plan.budget_share_permille,
            poll_interval_ms: status.plan.interval_ms,
            response_p50_us: status.latency.quantile_us(50),
            response_p99_us: status.latency.quantile_us(99),
            detail: is_open.then(|| Detail { profile: venue.json(), response: Times::of(&status.latency) }),
        }
    }
}
