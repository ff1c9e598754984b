//! Metrics of the service as a whole: process, connections, rounds, receipts, pairs, what is served.

use super::{Family, counter, gauge, histogram, info};
use crate::http::admin::{samples::Labels, snapshot::Verdict};

/// The families, in the order of the text.
pub(super) const FAMILIES: &[Family] = &[
    info("quorate_build", "Version and commit that the program is built from.", |s, out| {
        out.count(Labels::of(&[("version", s.process.version), ("commit", s.process.commit)]), 1);
    }),
    gauge("quorate_uptime_seconds", "seconds", "Time since the service started.", |s, out| out.ms(Labels::NONE, s.process.uptime_ms)),
    gauge("process_resident_memory_bytes", "bytes", "Resident memory of the process.", |s, out| {
        if let Some(bytes) = s.process.memory_bytes {
            out.count(Labels::NONE, bytes);
        }
    }),
    gauge("process_threads", "", "Threads of the process.", |s, out| {
        if let Some(threads) = s.process.threads {
            out.count(Labels::NONE, threads);
        }
    }),
    counter("quorate_snapshots", "", "Snapshots taken of all figures; this text shows the last.", |s, out| {
        out.count(Labels::NONE, s.number)
    }),
    gauge("quorate_simulated", "", "Whether quotes come from a simulation.", |s, out| out.flag(Labels::NONE, s.simulated)),
    gauge("quorate_verdict", "", "How all of it stands: 1 for the word that holds.", |s, out| {
        Verdict::WORDS.iter().for_each(|word| out.flag(Labels::of(&[("verdict", word)]), *word == s.verdict.word));
    }),
    gauge("quorate_clock_skew_seconds", "seconds", "How far our clock is behind the venues'; absent while too few say.", |s, out| {
        if let Some(ms) = s.clock_skew_ms {
            out.signed_ms(Labels::NONE, ms);
        }
    }),
    counter("quorate_updates_missed", "", "Changes that subscribers missed because their mailboxes were full.", |s, out| {
        out.count(Labels::NONE, s.updates_missed);
    }),
    gauge("quorate_connections", "", "Connections to the public listener.", |s, out| {
        if let Some(connections) = &s.connections {
            out.count(Labels::of(&[("state", "open")]), connections.open as u64);
            out.count(Labels::of(&[("state", "waiting")]), connections.waiting);
        }
    }),
    gauge("quorate_connections_limit", "", "Connections that are served at once.", |s, out| {
        if let Some(connections) = &s.connections {
            out.count(Labels::NONE, connections.limit as u64);
        }
    }),
    counter("quorate_connections_waited", "", "Connections that had to wait for a place.", |s, out| {
        if let Some(connections) = &s.connections {
            out.count(Labels::NONE, connections.waited);
        }
    }),
    histogram(
        "quorate_http_request_duration_seconds",
        "Time from a request's head to its answer, by route and class of status.",
        |s, out| {
            s.routes.iter().for_each(|row| out.histogram(Labels::of(&[("route", row.route), ("status", row.status)]), &row.time));
        },
    ),
    counter(
        "quorate_http_refused_heads",
        "",
        "Requests that were no HTTP, too slow or too large, and refused below every route.",
        |s, out| {
            out.count(Labels::NONE, s.bare);
        },
    ),
    counter("quorate_rounds", "", "Rounds begun, by what they are for.", |s, out| {
        out.count(Labels::of(&[("for", "quotes")]), s.tallied.quote_rounds);
        out.count(Labels::of(&[("for", "rates")]), s.tallied.rate_rounds);
    }),
    counter("quorate_rounds_refused", "", "Callers refused because so many rounds had begun in that second.", |s, out| {
        out.count(Labels::NONE, s.tallied.rounds_refused);
    }),
    counter("quorate_round_answers", "", "Callers whom the coordinator answered, by how their wait ended.", |s, out| {
        out.count(Labels::of(&[("end", "memory")]), s.tallied.answered_memory);
        out.count(Labels::of(&[("end", "all")]), s.tallied.answered_all);
        out.count(Labels::of(&[("end", "enough")]), s.tallied.answered_enough);
        out.count(Labels::of(&[("end", "deadline")]), s.tallied.answered_deadline);
    }),
    counter("quorate_receipts", "", "Receipts made, by status.", |s, out| {
        s.tallied.receipts.iter().for_each(|(status, count)| out.count(Labels::of(&[("status", status.slug())]), *count));
    }),
    gauge("quorate_receipts_kept", "", "Receipts kept that somebody was given.", |s, out| out.count(Labels::NONE, s.receipts.kept as u64)),
    gauge("quorate_receipts_kept_bytes", "bytes", "Memory that they take.", |s, out| out.count(Labels::NONE, s.receipts.kept_bytes as u64)),
    gauge("quorate_receipts_limit_bytes", "bytes", "Memory that they may take.", |s, out| {
        out.count(Labels::NONE, s.receipts.limit_bytes as u64)
    }),
    gauge("quorate_pair_ready", "", "Whether a configured pair has the quotes that it needs.", |s, out| {
        out.pairs(s, |out, of, pair| out.flag(of, pair.status.is_ready()));
    }),
    gauge("quorate_pair_required", "", "Whether readiness waits for a configured pair.", |s, out| {
        out.pairs(s, |out, of, pair| out.flag(of, pair.status.required));
    }),
    gauge("quorate_pair_quorum", "", "Quotes that a configured pair needs.", |s, out| {
        out.pairs(s, |out, of, pair| out.count(of, pair.status.quorum as u64));
    }),
    gauge("quorate_pair_venues_asked", "", "Venues that are asked for a configured pair.", |s, out| {
        out.pairs(s, |out, of, pair| out.count(of, pair.status.asked as u64));
    }),
    gauge("quorate_pair_quotes_admitted", "", "Quotes of a configured pair that count now.", |s, out| {
        out.pairs(s, |out, of, pair| out.count(of, pair.status.admitted as u64));
    }),
    gauge("quorate_rate_status", "", "The status of a configured pair's rate: 1 for the word that holds.", |s, out| {
        out.pairs(s, |out, of, pair| {
            pair.rate.into_iter().for_each(|status| out.count(of.and(&[("status", status.slug())]), 1));
        });
    }),
    gauge("quorate_rate_age_seconds", "seconds", "Age of the oldest quote that has a part in a configured pair's rate.", |s, out| {
        out.pairs(s, |out, of, pair| pair.rate_age_ms.into_iter().for_each(|ms| out.ms(of, ms)));
    }),
];
