//! A snapshot in which every figure is another number, so that none can be taken for another.

use crate::http::{
    admin::{
        process::Process,
        snapshot::{Pair, Snapshot, Venue, Verdict},
    },
    connections, receipts,
    served::RouteFigures,
};
use quorate_actors::{
    PairStatus, PlanFacts, Tallied, VenueState, VenueStatus,
    breaker::BreakerState,
    meter::{ActorSnapshot, BucketCounts, Event, MessageSnapshot, RunningNow, Times},
    model::{Fault, Reason, UnixMs, VenueId},
    rate::Status,
    venue::Budget,
    venues,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicU64, atomic::Ordering::Relaxed},
    time::Duration,
};

/// Gives the next number.
struct Numbers(AtomicU64);

impl Numbers {
    fn next(&self) -> u64 {
        self.0.fetch_add(1, Relaxed)
    }

    fn small(&self) -> usize {
        usize::try_from(self.next()).unwrap()
    }

    fn ms(&self) -> Duration {
        Duration::from_millis(self.next())
    }
}

fn times(n: &Numbers) -> Times {
    Times {
        over_s: n.next(),
        begun: n.next(),
        replied: n.next(),
        wait_p50_us: n.next(),
        wait_p99_us: n.next(),
        wait_max_us: n.next(),
        handler_p50_us: n.next(),
        handler_p99_us: n.next(),
        handler_max_us: n.next(),
        response_p50_us: n.next(),
        response_p99_us: n.next(),
        response_max_us: n.next(),
    }
}

fn message(n: &Numbers, message: &'static str) -> MessageSnapshot {
    let [refused_full, refused_overloaded, refused_dead] = [n.next(), n.next(), n.next()];
    MessageSnapshot {
        message,
        sent: n.next(),
        queued: n.next(),
        queued_high: n.next(),
        in_flight: n.next(),
        in_flight_high: n.next(),
        handled: n.next(),
        replied: n.next(),
        lost: n.next(),
        refused: refused_full + refused_overloaded + refused_dead,
        refused_full,
        refused_overloaded,
        refused_dead,
        wait_sum_ns: n.next(),
        handler_sum_ns: n.next(),
        response_sum_ns: n.next(),
        total: times(n),
        last_1_min: times(n),
        last_15_min: times(n),
    }
}

fn actor(n: &Numbers, name: &str) -> ActorSnapshot {
    let event = |kind, at_ns| Arc::new(Event { kind, detail: "</script><b>\u{fffd}".to_owned(), count: n.next(), at_ns });
    let [by_panic, by_operator] = [n.next(), n.next()];
    ActorSnapshot {
        name: name.to_owned(),
        state: "paused",
        state_for_ms: n.next(),
        incarnation: n.next(),
        up_ms: n.next(),
        metered_ns: 5_000_000_000 + n.next(),
        restarts: by_panic + by_operator,
        restarts_by: BTreeMap::from([("panic", by_panic), ("operator", by_operator)]),
        queued: n.next(),
        queued_high: n.next(),
        capacity: u32::try_from(n.next()).unwrap(),
        in_flight: n.next(),
        in_flight_high: n.next(),
        in_flight_max: u32::try_from(n.next()).unwrap(),
        sent: n.next(),
        handled: n.next(),
        replied: n.next(),
        refused: n.next(),
        lost: n.next(),
        polls: n.next(),
        busy_ns: n.next(),
        busy_for_ms: Some(n.next()),
        stuck: n.next(),
        stuck_for_ms: Some(n.next()),
        running_now: Some(RunningNow { message: "Fetch", for_ms: n.next() }),
        last_1_min: Some(times(n)),
        last_15_min: Some(times(n)),
        events: vec![event("state", 1), event("error", 2)],
        last_error: Some(event("error", 1_000_000_000)),
        messages: vec![message(n, "Fetch"), message(n, "Control")],
    }
}

fn buckets(n: &Numbers) -> BucketCounts {
    BucketCounts { bounds_us: &[2_500, 1_000_000, 5_000_000], counts: (0..4).map(|_| n.next()).collect(), sum_us: n.next() }
}

fn venue(n: &Numbers, id: &str, state: VenueState) -> Venue {
    let fault = Fault::new(Reason::Timeout, "late");
    Venue {
        taker: None,
        status: VenueStatus {
            id: VenueId::new(id),
            venue: Arc::new(venues::Kraken),
            origins: vec!["https://a.example".to_owned()],
            state,
            since: UnixMs(0),
            state_for: n.ms(),
            restarts: n.next(),
            requests: n.next(),
            answers: n.next(),
            faults: BTreeMap::from([(Reason::Timeout, n.next()), (Reason::Dns, n.next())]),
            last_answer: None,
            last_fault: Some((UnixMs(0), Arc::new(fault))),
            last_quote_age: Some(n.ms()),
            breaker: BreakerState { state: "open", left_ms: Some(n.next()), until: None },
            budget: Budget { weight: 1, per: Duration::from_secs(1) },
            budget_left_permille: n.next(),
            reconnects: n.next(),
            latency: buckets(n),
            plan: PlanFacts {
                requests: Vec::new(),
                request_count: n.small(),
                weight: 1,
                interval_ms: n.next(),
                budget_share_permille: n.next(),
            },
            quoted: n.small(),
        },
    }
}

fn pair(n: &Numbers, name: &str, rate: Option<Status>) -> Pair {
    let status = PairStatus {
        pair: name.parse().unwrap(),
        configured: true,
        required: true,
        quorum: n.small(),
        asked: n.small(),
        admitted: n.small(),
    };
    Pair { name: name.to_owned(), status, rate, rate_age_ms: rate.map(|_| n.next()) }
}

/// Makes it.
pub(super) fn snapshot() -> Snapshot {
    let n = &Numbers(AtomicU64::new(1_001));
    Snapshot {
        number: n.next(),
        time: "2026-11-30T11:00:00.123Z".to_owned(),
        boot: "7f3a".to_owned(),
        simulated: true,
        verdict: Verdict { word: "degraded", sentence: "so so".to_owned() },
        process: Process { version: "1", commit: "abc", uptime_ms: n.next(), memory_bytes: Some(n.next()), threads: Some(n.next()) },
        clock_skew_ms: Some(-2_345),
        updates_missed: n.next(),
        connections: Some(connections::Figures { limit: n.small(), open: n.small(), waiting: n.next(), waited: n.next() }),
        tallied: Tallied {
            quote_rounds: n.next(),
            rate_rounds: n.next(),
            rounds_refused: n.next(),
            answered_memory: n.next(),
            answered_all: n.next(),
            answered_enough: n.next(),
            answered_deadline: n.next(),
            receipts: Status::ALL.map(|status| (status, n.next())),
        },
        receipts: receipts::Figures { kept: n.small(), kept_bytes: n.small(), limit_bytes: n.small() },
        bare: n.next(),
        routes: ["2xx", "5xx"].map(|status| RouteFigures { route: "/v1/quotes/{pair}", status, time: buckets(n) }).to_vec(),
        pairs: vec![pair(n, "BTC-USD", Some(Status::Held)), pair(n, "ETH-USD", None)],
        venues: vec![venue(n, "kraken", VenueState::Up), venue(n, "okx", VenueState::BreakerOpen)],
        actors: vec![
            actor(n, "exchange/kraken"),
            actor(n, "exchange/okx"),
            actor(n, "own \"actor\\\n"),
            // In whose windows nothing came.
            ActorSnapshot { last_1_min: None, last_15_min: None, ..actor(n, "idle") },
        ],
    }
}
