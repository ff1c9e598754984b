//! Every fault of the simulation, end to end: over real sockets, through the engine, to what a caller is told.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

mod support;

use quorate_actors::{sim::FaultName, venues::VENUES};
use serde_json::json;
use support::Service;

/// What a caller is told of a venue under a fault: one of these words.
fn told(fault: FaultName) -> &'static [&'static str] {
    use FaultName as F;
    match fault {
        F::Slow | F::Drip | F::Silent => &["timeout"],
        F::Refused => &["refused"],
        F::Reset => &["reset"],
        F::RateLimited => &["rate_limited"],
        F::Banned => &["banned"],
        F::GeoBlocked => &["geo_blocked"],
        F::Forbidden => &["forbidden"],
        F::Http500 | F::Html503 => &["http_5xx"],
        F::Html200 => &["html"],
        F::Empty => &["empty"],
        F::Truncated | F::WrongLength => &["truncated", "protocol", "reset"],
        F::Oversize | F::GzipBomb => &["oversize"],
        F::Redirect => &["redirect"],
        F::Zero => &["non_positive"],
        F::Crossed => &["crossed"],
        F::TimeAhead => &["future"],
        F::TimeBack => &["stale", "out_of_order"],
        // The venue goes on saying the same: only its time tells.
        F::Frozen => &["in", "stale"],
        // A hundredfold price is lawful to admission: the vote puts it out.
        F::WrongUnit => &["in"],
        F::RenamedField => &["decode", "non_positive"],
        F::UnknownSymbol => &["unlisted"],
    }
}

/// Venue times count only where they are the book's or the answer's, and some dialects have words of their own for a refusal.
const VENUES_TRIED: [&str; 3] = ["binance", "kraken", "okx"];

#[actix_web::test]
async fn every_fault_has_its_reason_and_the_others_stay_intact() {
    for fault in FaultName::ALL {
        // A service of its own for each: a breaker or a ban outlives the fault.
        let service = Service::start((1, 5), &[("poll_ms", "60000"), ("pairs", r#"[{name="BTC-USDT"}]"#)]).await;
        service.until("/v1/quotes/BTC-USDT", "all are there", |got| got.body["venues"]["answered"] == VENUES.len()).await;
        service.quiet().await;
        for venue in VENUES_TRIED {
            service.tell_sim("/_sim/faults", json!({"faults": [{"venue": venue, "fault": fault.slug()}]})).await;
        }
        let got = service.get("/v1/quotes/BTC-USDT?fresh=true&deadline_ms=1000").await;
        assert_eq!(got.status, 200, "{fault}: {}", got.body);
        assert!(got.is_whole(), "{fault}: {}", got.body);
        for venue in VENUES {
            let id = venue.profile().id;
            let word = got.word_of(id);
            if !VENUES_TRIED.contains(&id) {
                assert_eq!(word, Some("in"), "{fault} elsewhere: {id}");
                continue;
            }
            let no_time = venue.profile().time_of == quorate_actors::venue::TimeOf::None;
            let expected = match fault {
                FaultName::TimeAhead | FaultName::TimeBack if no_time => &["in"],
                // Whoever is known to lack the pair is not among the asked.
                FaultName::UnknownSymbol => {
                    assert_eq!(word, None, "{fault} at {id}");
                    continue;
                }
                _ => told(*fault),
            };
            assert!(
                word.is_some_and(|word| expected.contains(&word)),
                "{fault} at {id}: {word:?}, expected {expected:?}; {}",
                got.body["misses"]
            );
        }
        service.stop().await;
    }
}

#[actix_web::test]
async fn a_venue_that_says_wait_is_not_asked_before() {
    let service = Service::start((1, 5), &[("poll_ms", "500"), ("pairs", r#"[{name="BTC-USDT"}]"#)]).await;
    service.until("/v1/quotes/BTC-USDT", "all are there", |got| got.body["venues"]["answered"] == VENUES.len()).await;
    let fault = json!({"venue": "kraken", "fault": "rate_limited", "for_ms": 3000, "params": {"retry_after_s": 7}});
    service.tell_sim("/_sim/faults", json!({"faults": [fault]})).await;
    service
        .until("/v1/quotes/BTC-USDT?fresh=true&deadline_ms=500", "kraken says so", |got| got.word_of("kraken") == Some("rate_limited"))
        .await;
    let had = service.stats().await["kraken"]["requests"].clone();
    for _ in 0..10 {
        let got = service.get("/v1/quotes/BTC-USDT?fresh=true&deadline_ms=500").await;
        assert_eq!(got.word_of("kraken"), Some("rate_limited"));
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
    assert_eq!(service.stats().await["kraken"]["requests"], had, "no request left");
    service.until("/v1/quotes/BTC-USDT?fresh=true&deadline_ms=500", "kraken is back", |got| got.word_of("kraken") == Some("in")).await;
    service.stop().await;
}
