//! One snapshot, rendered as the page's JSON and as both texts of metrics: every figure of the one is in the others, and the other way round.

#![allow(clippy::arithmetic_side_effects)]

#[path = "tests/names.rs"]
mod names;
#[path = "tests/sample.rs"]
mod sample;

use super::{
    json,
    metrics::{Format, render},
};
use rust_decimal::Decimal;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(super) type Labels = BTreeMap<String, String>;
pub(super) type Key = (String, Labels);

/// What a number of the page is among the metrics: its place in the JSON, the metric, by how many powers of ten that is larger, further labels.
type Row = (&'static str, &'static str, u32, &'static [(&'static str, &'static str)]);

/// The same, found by a rule.
type Ruled = (String, u32, Vec<(&'static str, &'static str)>);

const FIGURES: &[Row] = &[
    ("number", "quorate_snapshots_total", 0, &[]),
    ("simulated", "quorate_simulated", 0, &[]),
    ("process.uptime_ms", "quorate_uptime_seconds", 3, &[]),
    ("process.memory_bytes", "process_resident_memory_bytes", 0, &[]),
    ("process.threads", "process_threads", 0, &[]),
    ("clock_skew_ms", "quorate_clock_skew_seconds", 3, &[]),
    ("updates_missed", "quorate_updates_missed_total", 0, &[]),
    ("connections.limit", "quorate_connections_limit", 0, &[]),
    ("connections.open", "quorate_connections", 0, &[("state", "open")]),
    ("connections.waiting", "quorate_connections", 0, &[("state", "waiting")]),
    ("connections.waited", "quorate_connections_waited_total", 0, &[]),
    ("refused_heads", "quorate_http_refused_heads_total", 0, &[]),
    ("rounds.quotes", "quorate_rounds_total", 0, &[("for", "quotes")]),
    ("rounds.rates", "quorate_rounds_total", 0, &[("for", "rates")]),
    ("rounds.refused", "quorate_rounds_refused_total", 0, &[]),
    ("rounds.answered_memory", "quorate_round_answers_total", 0, &[("end", "memory")]),
    ("rounds.answered_all", "quorate_round_answers_total", 0, &[("end", "all")]),
    ("rounds.answered_enough", "quorate_round_answers_total", 0, &[("end", "enough")]),
    ("rounds.answered_deadline", "quorate_round_answers_total", 0, &[("end", "deadline")]),
    ("receipts.made.*", "quorate_receipts_total", 0, &[("*", "status")]),
    ("receipts.kept", "quorate_receipts_kept", 0, &[]),
    ("receipts.kept_bytes", "quorate_receipts_kept_bytes", 0, &[]),
    ("receipts.limit_bytes", "quorate_receipts_limit_bytes", 0, &[]),
    ("routes.time.count", "quorate_http_request_duration_seconds_count", 0, &[]),
    ("routes.time.sum_us", "quorate_http_request_duration_seconds_sum", 6, &[]),
    ("pairs.required", "quorate_pair_required", 0, &[]),
    ("pairs.ready", "quorate_pair_ready", 0, &[]),
    ("pairs.quorum", "quorate_pair_quorum", 0, &[]),
    ("pairs.venues_asked", "quorate_pair_venues_asked", 0, &[]),
    ("pairs.quotes_admitted", "quorate_pair_quotes_admitted", 0, &[]),
    ("pairs.rate_age_ms", "quorate_rate_age_seconds", 3, &[]),
    ("venues.restarts", "quorate_venue_restarts_total", 0, &[]),
    ("venues.reconnects", "quorate_venue_reconnects_total", 0, &[]),
    ("venues.requests", "quorate_venue_requests_total", 0, &[]),
    ("venues.answers", "quorate_venue_answers_total", 0, &[]),
    ("venues.faults.*", "quorate_venue_faults_total", 0, &[("*", "reason")]),
    ("venues.pairs_quoted", "quorate_venue_pairs_quoted", 0, &[]),
    ("venues.state_for_ms", "quorate_venue_state_seconds", 3, &[]),
    ("venues.last_quote_age_ms", "quorate_venue_last_quote_age_seconds", 3, &[]),
    ("venues.breaker.left_ms", "quorate_venue_breaker_left_seconds", 3, &[]),
    ("venues.budget_left_permille", "quorate_venue_budget_left_ratio", 3, &[]),
    ("venues.budget_share_permille", "quorate_venue_budget_polled_ratio", 3, &[]),
    ("venues.poll_interval_ms", "quorate_venue_poll_interval_seconds", 3, &[]),
    ("venues.detail.response.count", "quorate_venue_response_seconds_count", 0, &[]),
    ("venues.detail.response.sum_us", "quorate_venue_response_seconds_sum", 6, &[]),
    ("actors.state_for_ms", "quorate_actor_state_seconds", 3, &[]),
    ("actors.incarnation", "quorate_actor_incarnations_total", 0, &[]),
    ("actors.up_ms", "quorate_actor_up_seconds", 3, &[]),
    ("actors.metered_ns", "quorate_actor_metered_seconds_total", 9, &[]),
    ("actors.restarts_by.*", "quorate_actor_restarts_total", 0, &[("*", "cause")]),
    ("actors.queued", "quorate_actor_queued", 0, &[]),
    ("actors.queued_high", "quorate_actor_queued_high", 0, &[]),
    ("actors.capacity", "quorate_actor_capacity", 0, &[]),
    ("actors.in_flight", "quorate_actor_in_flight", 0, &[]),
    ("actors.in_flight_high", "quorate_actor_in_flight_high", 0, &[]),
    ("actors.in_flight_max", "quorate_actor_in_flight_max", 0, &[]),
    ("actors.sent", "quorate_actor_sent_total", 0, &[]),
    ("actors.handled", "quorate_actor_handled_total", 0, &[]),
    ("actors.replied", "quorate_actor_replied_total", 0, &[]),
    ("actors.refused", "quorate_actor_refused_total", 0, &[]),
    ("actors.lost", "quorate_actor_lost_total", 0, &[]),
    ("actors.polls", "quorate_actor_polls_total", 0, &[]),
    ("actors.busy_ns", "quorate_actor_busy_seconds_total", 9, &[]),
    ("actors.busy_for_ms", "quorate_actor_busy_now_seconds", 3, &[]),
    ("actors.stuck", "quorate_actor_stuck_total", 0, &[]),
    ("actors.stuck_for_ms", "quorate_actor_stuck_now_seconds", 3, &[]),
    ("actors.running_now.for_ms", "quorate_actor_running_seconds", 3, &[("message", "Fetch")]),
    ("actors.last_error.count", "quorate_actor_last_error_times", 0, &[]),
    ("actors.last_error.age_ms", "quorate_actor_last_error_age_seconds", 3, &[]),
    ("actors.messages.sent", "quorate_message_sent_total", 0, &[]),
    ("actors.messages.handled", "quorate_message_handled_total", 0, &[]),
    ("actors.messages.replied", "quorate_message_replied_total", 0, &[]),
    ("actors.messages.lost", "quorate_message_lost_total", 0, &[]),
    ("actors.messages.refused_full", "quorate_message_refused_total", 0, &[("reason", "full")]),
    ("actors.messages.refused_overloaded", "quorate_message_refused_total", 0, &[("reason", "overloaded")]),
    ("actors.messages.refused_dead", "quorate_message_refused_total", 0, &[("reason", "dead")]),
    ("actors.messages.queued", "quorate_message_queued", 0, &[]),
    ("actors.messages.queued_high", "quorate_message_queued_high", 0, &[]),
    ("actors.messages.in_flight", "quorate_message_in_flight", 0, &[]),
    ("actors.messages.in_flight_high", "quorate_message_in_flight_high", 0, &[]),
    ("actors.messages.wait_sum_ns", "quorate_message_waited_seconds_total", 9, &[]),
    ("actors.messages.handler_sum_ns", "quorate_message_handling_seconds_total", 9, &[]),
    ("actors.messages.response_sum_ns", "quorate_message_responding_seconds_total", 9, &[]),
];

/// Numbers of the page that are sums of metrics.
const SUMS: &[(&str, &str)] =
    &[("actors.restarts", "quorate_actor_restarts_total"), ("actors.messages.refused", "quorate_message_refused_total")];

/// What the page shows of a histogram beside its buckets, from which it follows: [`histogram`] holds it to them.
const QUANTILES: &[&str] = &[
    "routes.time.p50_us",
    "routes.time.p99_us",
    "venues.detail.response.p50_us",
    "venues.detail.response.p99_us",
    "venues.response_p50_us",
    "venues.response_p99_us",
];

/// Numbers in the JSON that are no figures: lines of a log, and settings.
const OTHERS: &[&str] = &[
    "actors.events.age_ms",
    "actors.events.count",
    "venues.detail.profile.budget.per_ms",
    "venues.detail.profile.budget.weight",
    "venues.detail.profile.last_fault.retryable",
    "venues.detail.profile.plan.request_count",
    "venues.detail.profile.plan.weight",
    "venues.detail.profile.simulated",
];

/// Gives the place in a venue's row of what its profile, which is that of `/v1/venues`, says again.
fn said_first(place: &str) -> String {
    match place.strip_prefix("venues.detail.profile.") {
        Some("plan.interval_ms") => "venues.poll_interval_ms".to_owned(),
        Some("plan.budget_share_permille") => "venues.budget_share_permille".to_owned(),
        Some(again) => format!("venues.{again}"),
        None => place.to_owned(),
    }
}

/// Words of the page that are metrics of 1.
const WORDS: &[(&str, &str, &str)] = &[
    ("verdict.word", "quorate_verdict", "verdict"),
    ("pairs.rate_status", "quorate_rate_status", "status"),
    ("venues.state", "quorate_venue_state", "state"),
    ("venues.breaker.state", "quorate_venue_breaker_state", "state"),
    ("actors.state", "quorate_actor_state", "state"),
];

/// Metrics that say by other means what the page's words say.
const OF_WORDS: &[&str] = &["quorate_build_info", "quorate_verdict", "quorate_venue_up"];

/// Walks the JSON; each leaf comes with its place, and with the labels that its rows give it.
fn leaves(value: &Value, place: &str, labels: &Labels, found: &mut Vec<(String, Labels, Value)>) {
    let named = |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
    match value {
        Value::Object(members) => {
            let open = ["made", "faults", "restarts_by"].iter().any(|map| place.ends_with(map));
            for (name, member) in members {
                let mut labels = labels.clone();
                if open {
                    labels.insert("*".to_owned(), name.clone());
                }
                leaves(member, &named(if open { "*" } else { name }), &labels, found);
            }
        }
        Value::Array(rows) if rows.iter().all(Value::is_object) => {
            for row in rows {
                let mut labels = labels.clone();
                let keys: &[(&str, &str)] = match place {
                    "actors" => &[("actor", "name")],
                    "actors.messages" => &[("message", "message")],
                    "venues" => &[("venue", "id")],
                    "pairs" => &[("pair", "pair")],
                    "routes" => &[("route", "route"), ("status", "status")],
                    _ => &[],
                };
                labels.extend(keys.iter().map(|(label, key)| ((*label).to_owned(), row[key].as_str().unwrap().to_owned())));
                leaves(row, place, &labels, found);
            }
        }
        leaf => found.push((place.to_owned(), labels.clone(), leaf.clone())),
    }
}

/// Reads samples as a scraper does.
pub(super) fn samples(text: &str) -> BTreeMap<Key, Decimal> {
    let mut samples = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (head, value) = line.rsplit_once(' ').unwrap();
        let (name, labels) = head.split_once('{').unwrap_or((head, ""));
        let (mut found, mut rest) = (Labels::new(), labels.strip_suffix('}').unwrap_or(""));
        while let Some((label, after)) = rest.split_once("=\"") {
            let (mut value, mut chars, mut end) = (String::new(), after.char_indices(), 0);
            while let Some((at, c)) = chars.next() {
                end = at;
                match c {
                    '"' => break,
                    '\\' => value.push(match chars.next().unwrap().1 {
                        'n' => '\n',
                        other => other,
                    }),
                    other => value.push(other),
                }
            }
            found.insert(label.trim_start_matches(',').to_owned(), value);
            rest = &after[end + 1..];
        }
        let number = value.parse().unwrap_or_else(|_| panic!("no number in {line:?}"));
        assert!(samples.insert((name.to_owned(), found), number).is_none(), "twice: {line}");
    }
    samples
}

/// Gives the rows of the table for the times of messages: each in its window, with its own name.
fn times_of(place: &str) -> Option<Ruled> {
    let (kind, rest) = match place.strip_prefix("actors.messages.") {
        Some(rest) => ("message", rest),
        None => ("actor", place.strip_prefix("actors.")?),
    };
    let (window, figure) = rest.split_once('.')?;
    let window = [("last_1_min", "1m"), ("last_15_min", "15m")].into_iter().find(|(name, _)| *name == window)?.1;
    if let Some((name, stat)) = figure.strip_suffix("_us").and_then(|figure| figure.rsplit_once('_')) {
        let stat = ["p50", "p99", "max"].into_iter().find(|known| *known == stat)?;
        return Some((format!("quorate_{kind}_{name}_seconds"), 6, vec![("window", window), ("stat", stat)]));
    }
    let name = match figure {
        "over_s" => "seconds",
        "begun" | "replied" => figure,
        _ => return None,
    };
    Some((format!("quorate_{kind}_window_{name}"), 0, vec![("window", window)]))
}

fn decimal(value: &Value) -> Option<Decimal> {
    match value {
        Value::Bool(is_so) => Some(Decimal::from(u64::from(*is_so))),
        Value::Number(number) => number.to_string().parse().ok(),
        _ => None,
    }
}

/// Holds every leaf of the JSON against the samples; gives the keys of those that were met.
fn compared(leaves: &[(String, Labels, Value)], samples: &BTreeMap<Key, Decimal>) -> BTreeSet<Key> {
    let mut met = BTreeSet::new();
    for (place, labels, value) in leaves {
        if OTHERS.contains(&place.as_str()) || QUANTILES.contains(&place.as_str()) {
            continue;
        }
        let (place, mut labels) = (&said_first(place), labels.clone());
        let any = labels.remove("*");
        if let Some((_, metric, label)) = WORDS.iter().find(|(known, ..)| known == place) {
            let Some(word) = value.as_str() else { continue };
            labels.insert((*label).to_owned(), word.to_owned());
            let key = ((*metric).to_owned(), labels);
            assert_eq!(samples.get(&key), Some(&Decimal::ONE), "{place}: {key:?}");
            met.insert(key);
            continue;
        }
        let Some(number) = decimal(value) else { continue };
        if let Some((_, metric)) = SUMS.iter().find(|(known, _)| known == place) {
            let parts =
                samples.iter().filter(|(key, _)| key.0 == *metric && labels.iter().all(|label| key.1.get(label.0) == Some(label.1)));
            assert_eq!(parts.map(|(_, part)| *part).sum::<Decimal>(), number, "{place}: {labels:?}");
            continue;
        }
        let known = FIGURES.iter().find(|(known, ..)| known == place);
        let (metric, scale, further) = known
            .map(|(_, metric, scale, further)| ((*metric).to_owned(), *scale, further.to_vec()))
            .or_else(|| times_of(place))
            .unwrap_or_else(|| panic!("{place} is a figure of the page and no metric"));
        for (label, word) in further {
            let (label, word) = if label == "*" { (word, any.clone().unwrap()) } else { (label, word.to_owned()) };
            labels.insert(label.to_owned(), word);
        }
        let key = (metric, labels);
        let sample = samples.get(&key).unwrap_or_else(|| panic!("{place}: no sample {key:?}"));
        assert_eq!(*sample * Decimal::from(10_u64.pow(scale)), number, "{place}: {key:?}");
        met.insert(key);
    }
    met
}

/// Holds the buckets of a histogram against its counts in the JSON, and the quantiles there to the buckets.
fn histogram(row: &Value, times: &Value, metric: &str, labels: &[(&str, &str)], samples: &BTreeMap<Key, Decimal>) -> BTreeSet<Key> {
    let own: Labels = labels.iter().map(|(label, key)| ((*label).to_owned(), row[key].as_str().unwrap().to_owned())).collect();
    let bounds: Vec<Decimal> = times["bounds_us"].as_array().unwrap().iter().map(|us| decimal(us).unwrap()).collect();
    let (mut cumulative, mut met) = (Vec::new(), BTreeSet::new());
    for (at, count) in times["counts"].as_array().unwrap().iter().enumerate() {
        let below = cumulative.last().copied().unwrap_or_default() + decimal(count).unwrap();
        let of_bound = |key: &&Key| {
            let le = key.1.get("le").map(String::as_str);
            let is_it = match bounds.get(at) {
                Some(us) => le.and_then(|le| le.parse::<Decimal>().ok()) == Some(*us / Decimal::from(1_000_000)),
                None => le == Some("+Inf"),
            };
            key.0 == format!("{metric}_bucket") && is_it && own.iter().all(|label| key.1.get(label.0) == Some(label.1))
        };
        let key = samples.keys().find(of_bound).unwrap_or_else(|| panic!("{metric} {own:?}: no bucket {at}"));
        assert_eq!(samples[key], below, "{key:?}");
        cumulative.push(below);
        met.insert(key.clone());
    }
    for (percent, shown) in [(50, &times["p50_us"]), (99, &times["p99_us"])] {
        let rank = (cumulative.last().unwrap() * Decimal::from(percent) / Decimal::from(100)).ceil();
        let bound = cumulative.iter().position(|below| *below >= rank).and_then(|at| bounds.get(at));
        assert_eq!(decimal(shown), bound.copied(), "{metric} {own:?}: p{percent}");
        let again = &row[format!("response_p{percent}_us")];
        assert!(again.is_null() || again == shown, "{metric} {own:?}: p{percent} of the row");
    }
    met
}

#[test]
fn the_page_and_the_metrics_show_the_same_figures() {
    let snapshot = sample::snapshot();
    let texts = [Format::Prometheus, Format::OpenMetrics].map(|format| String::from_utf8(render(&snapshot, format)).unwrap());
    let of_texts = [0, 1].map(|at: usize| samples(&texts[at]));
    assert_eq!(of_texts[0], of_texts[1], "both texts have the same samples");
    let samples = &of_texts[0];
    let mut met = BTreeSet::new();
    for actor in &snapshot.actors {
        let page: Value = serde_json::from_slice(&json::render(&snapshot, &[], Some(&actor.name))).unwrap();
        let mut found = Vec::new();
        leaves(&page, "", &Labels::new(), &mut found);
        met.extend(compared(&found, samples));
        for row in page["venues"].as_array().unwrap().iter().filter(|row| row["detail"].is_object()) {
            met.extend(histogram(row, &row["detail"]["response"], "quorate_venue_response_seconds", &[("venue", "id")], samples));
        }
        for row in page["routes"].as_array().unwrap() {
            let labels = [("route", "route"), ("status", "status")];
            met.extend(histogram(row, &row["time"], "quorate_http_request_duration_seconds", &labels, samples));
        }
    }
    let unmet: Vec<_> = samples.keys().filter(|key| !met.contains(*key) && !OF_WORDS.contains(&key.0.as_str())).collect();
    assert!(unmet.is_empty(), "metrics that the page does not show: {unmet:#?}");
    assert!(met.len() > 200, "{} figures compared", met.len());
}
