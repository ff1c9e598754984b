//! A snapshot as the page pulls it. The types of messages and the events are of one actor alone: that which is open.

use super::{
    kept::Audited,
    process::Process,
    snapshot::{self, Snapshot, millis},
};
use crate::{
    http::connections::Figures,
    wire::{
        VenueJson,
        object::{Json, Members, Seldom, objects, push_object},
    },
};
use quorate_actors::{
    breaker::BreakerState,
    meter::{ActorSnapshot, BucketCounts, Event, MessageSnapshot, RunningNow, Times as Measured},
};
use std::collections::BTreeMap;

/// About how long the text is, for the first guess.
const SIZE: usize = 32 << 10;

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
    audit: Seldom<&'a [Audited]>,
}

struct Verdict<'a> {
    word: &'static str,
    sentence: &'a str,
}

struct Rounds {
    quotes: u64,
    rates: u64,
    refused: u64,
    answered_memory: u64,
    answered_all: u64,
    answered_enough: u64,
    answered_deadline: u64,
}

struct Receipts {
    made: BTreeMap<&'static str, u64>,
    kept: usize,
    kept_bytes: usize,
    limit_bytes: usize,
}

struct Route {
    route: &'static str,
    status: &'static str,
    time: Times,
}

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

struct Venue<'a> {
    id: &'a str,
    state: &'static str,
    state_for_ms: u64,
    restarts: u64,
    reconnects: u64,
    requests: u64,
    answers: u64,
    faults: BTreeMap<&'static str, u64>,
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

struct Detail<'a> {
    profile: Seldom<VenueJson<'a>>,
    response: Times,
}

struct Actor<'a> {
    figures: &'a ActorSnapshot,
    own: Own<'a>,
}

/// Holds what of an actor is written in another way than it is kept.
struct Own<'a> {
    last_error: Option<Happened<'a>>,
    messages: Option<&'a [MessageSnapshot]>,
    events: Option<Vec<Happened<'a>>>,
}

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
        let own = Own {
            last_error: actor.last_error.as_ref().map(happened),
            messages: is_open.then_some(&*actor.messages),
            events: is_open.then(|| actor.events.iter().rev().map(happened).collect()),
        };
        Self { figures: actor, own }
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
        receipts: Receipts {
            made: t.receipts.iter().map(|(status, count)| (status.slug(), *count)).collect(),
            kept: s.receipts.kept,
            kept_bytes: s.receipts.kept_bytes,
            limit_bytes: s.receipts.limit_bytes,
        },
        routes: s.routes.iter().map(|row| Route { route: row.route, status: row.status, time: Times::of(&row.time) }).collect(),
        pairs: s.pairs.iter().map(Pair::of).collect(),
        venues: s.venues.iter().map(|venue| Venue::of(venue, open)).collect(),
        actors: s.actors.iter().map(|actor| Actor::of(actor, open)).collect(),
        audit: Seldom(audit),
    };
    let mut out = Vec::with_capacity(SIZE);
    all.push(&mut out);
    out
}

objects! {
    All<'a> {
        number, time, boot, simulated, verdict, process, clock_skew_ms, updates_missed, connections, refused_heads, rounds, receipts, routes, pairs, venues,
        actors, audit
    }
    Verdict<'a> { word, sentence }
    Process { version, commit, uptime_ms, memory_bytes, threads }
    Figures { limit, open, waiting, waited }
    Rounds { quotes, rates, refused, answered_memory, answered_all, answered_enough, answered_deadline }
    Receipts { made, kept, kept_bytes, limit_bytes }
    Route { route, status, time }
    Times { count, sum_us, p50_us, p99_us, bounds_us, counts }
    Pair<'a> { pair, required, ready, quorum, venues_asked, quotes_admitted, rate_status, rate_age_ms }
    Venue<'a> {
        id, state, state_for_ms, restarts, reconnects, requests, answers, faults, pairs_quoted, last_quote_age_ms, breaker, budget_left_permille,
        budget_share_permille, poll_interval_ms, response_p50_us, response_p99_us, detail
    }
    Detail<'a> { profile, response }
    BreakerState { state, left_ms; until }
    Own<'a> { last_error, messages, events }
    Happened<'a> { kind, detail, count, age_ms }
    ActorSnapshot {
        name, state, state_for_ms, incarnation, up_ms, metered_ns, restarts, restarts_by, queued, queued_high, capacity, in_flight, in_flight_high,
        in_flight_max, sent, handled, replied, refused, lost, polls, busy_ns, busy_for_ms, stuck, stuck_for_ms, running_now, last_1_min, last_15_min;
        events, last_error, messages
    }
    RunningNow { message, for_ms }
    MessageSnapshot {
        message, sent, queued, queued_high, in_flight, in_flight_high, handled, replied, lost, refused, refused_full, refused_overloaded, refused_dead,
        wait_sum_ns, handler_sum_ns, response_sum_ns, last_1_min, last_15_min;
        total
    }
    Measured {
        over_s, begun, replied, wait_p50_us, wait_p99_us, wait_max_us, handler_p50_us, handler_p99_us, handler_max_us, response_p50_us, response_p99_us,
        response_max_us
    }
}

impl Json for Actor<'_> {
    fn push(&self, out: &mut Vec<u8>) {
        push_object(out, self);
    }
}

impl Members for Actor<'_> {
    fn push_members(&self, out: &mut Vec<u8>) {
        self.figures.push_members(out);
        self.own.push_members(out);
    }
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
            state: status.state.slug(),
            state_for_ms: millis(status.state_for),
            restarts: status.restarts,
            reconnects: status.reconnects,
            requests: status.requests,
            answers: status.answers,
            faults: status.faults.iter().map(|(reason, count)| (reason.slug(), *count)).collect(),
            pairs_quoted: status.quoted,
            last_quote_age_ms: status.last_quote_age.map(millis),
            breaker: status.breaker,
            budget_left_permille: status.budget_left_permille,
            budget_share_permille: status.plan.budget_share_permille,
            poll_interval_ms: status.plan.interval_ms,
            response_p50_us: status.latency.quantile_us(50),
            response_p99_us: status.latency.quantile_us(99),
            detail: is_open.then(|| Detail { profile: Seldom(venue.json()), response: Times::of(&status.latency) }),
        }
    }
}
