//! What the service promises a caller, over real sockets on the simulated exchanges.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

mod support;

use quorate_actors::venues::VENUES;
use serde_json::{Value, json};
use std::{collections::BTreeSet, time::Duration};
use support::Service;

const BTC: &str = "/v1/quotes/BTC-USDT";
/// One pair, polled so rarely that only callers ask.
const QUIET: [(&str, &str); 2] = [("poll_ms", "600000"), ("pairs", r#"[{name="BTC-USDT"}]"#)];

async fn settled(latency_ms: (u64, u64), keys: &[(&str, &str)]) -> Service {
    let service = Service::start(latency_ms, keys).await;
    service.until(BTC, "all venues have answered", |got| got.body["venues"]["answered"] == VENUES.len()).await;
    service.quiet().await;
    service
}

#[actix_web::test]
async fn best_bid_and_ask_are_the_best_of_all_twelve() {
    let service = settled((1, 20), &QUIET).await;
    let got = service.get(BTC).await;
    let decimal = |value: &Value| value.as_str().unwrap().parse::<rust_decimal::Decimal>().unwrap();
    let quotes = got.body["quotes"].as_array().unwrap();
    assert_eq!((quotes.len(), got.body["simulated"].as_bool()), (12, Some(true)));
    assert_eq!(decimal(&got.body["bid"]), quotes.iter().map(|q| decimal(&q["bid"])).max().unwrap());
    assert_eq!(decimal(&got.body["ask"]), quotes.iter().map(|q| decimal(&q["ask"])).min().unwrap());
    assert_eq!(got.quote(got.body["bid_venue"].as_str().unwrap()).unwrap()["bid"], got.body["bid"]);
    assert_eq!(got.quote(got.body["ask_venue"].as_str().unwrap()).unwrap()["ask"], got.body["ask"]);
    assert!(got.is_whole());
    service.stop().await;
}

#[actix_web::test]
async fn the_deadline_holds_whatever_the_venues_do_and_a_straggler_is_kept() {
    let service = settled((1, 20), &QUIET).await;
    let faults = json!({"faults": [
        {"venue": "binance", "fault": "silent"},
        {"venue": "kraken", "fault": "drip"},
        {"venue": "htx", "fault": "slow", "params": {"delay_ms": 1500}},
    ]});
    service.tell_sim("/_sim/faults", faults).await;
    let got = service.get(&format!("{BTC}?fresh=true&deadline_ms=500")).await;
    assert!(got.is_whole() && got.status == 200);
    for venue in VENUES {
        let id = venue.profile().id;
        let late = ["binance", "htx", "kraken"].contains(&id);
        assert_eq!(got.word_of(id), Some(if late { "timeout" } else { "in" }), "{id}");
    }
    let sequence = got.body["sequence"].as_u64().unwrap();
    let later = service.until(BTC, "the straggler's quote is there", |got| {
        got.quote("htx").is_some() && got.body["sequence"].as_u64().unwrap() > sequence
    });
    assert!(later.await.is_whole());
    service.stop().await;
}

#[actix_web::test]
async fn a_thousand_callers_cost_one_request_a_venue() {
    let service = settled((1000, 1000), &QUIET).await;
    service.reset_stats().await;
    let calls = (0..1000).map(|n| async move { tokio::time::sleep(Duration::from_micros(500 * n)).await });
    let path = format!("{BTC}?fresh=true&deadline_ms=5000");
    let answers = futures_util::future::join_all(calls.map(|wait| async {
        wait.await;
        service.get(&path).await
    }))
    .await;
    let sequences: BTreeSet<u64> = answers.iter().map(|got| got.body["sequence"].as_u64().unwrap()).collect();
    assert_eq!((answers.len(), sequences.len()), (1000, 1), "{sequences:?}");
    assert!(answers.iter().all(|got| got.body["venues"]["answered"] == VENUES.len()), "{}", answers[0].body);
    let stats = service.stats().await;
    for venue in VENUES {
        assert_eq!(stats[venue.profile().id]["requests"], 1, "{}", venue.profile().id);
    }
    service.stop().await;
}

#[actix_web::test]
async fn enough_is_enough() {
    let service = settled((1, 10), &QUIET).await;
    let silent = ["okx", "mexc"].map(|venue| json!({"venue": venue, "fault": "silent"}));
    let slow = json!({"venue": "kucoin", "fault": "slow", "params": {"delay_ms": 2000}});
    service.tell_sim("/_sim/faults", json!({"faults": [silent[0], silent[1], slow]})).await;
    let got = service.get(&format!("{BTC}?fresh=true&min_sources=9&deadline_ms=10000")).await;
    assert_eq!(got.body["quotes"].as_array().unwrap().len(), 9);
    assert_eq!(["kucoin", "mexc", "okx"].map(|venue| got.word_of(venue).unwrap()), ["not_awaited"; 3]);
    service.stop().await;
}

#[actix_web::test]
async fn without_a_network_it_starts_says_so_and_recovers_by_itself() {
    let nowhere: Vec<(String, String)> =
        VENUES.iter().map(|v| (format!("venues.{}.origin", v.profile().id), "https://no-such-host.invalid".to_owned())).collect();
    let mut keys: Vec<(&str, &str)> = nowhere.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    keys.extend([("poll_ms", "500"), ("pairs", r#"[{name="BTC-USDT"}]"#)]);
    let service = Service::start((1, 5), &keys).await;
    let got = service.get(BTC).await;
    assert!([503, 504].contains(&got.status), "{}", got.body);
    assert_eq!(got.headers.get("content-type").unwrap(), "application/problem+json");
    assert_eq!(got.body["misses"].as_array().unwrap().len(), VENUES.len());
    let reasons = ["dns", "timeout", "breaker_open"];
    assert!(got.body["misses"].as_array().unwrap().iter().all(|m| reasons.contains(&m["reason"].as_str().unwrap())), "{}", got.body);
    assert_eq!(service.get("/readyz").await.status, 503);
    assert_eq!(service.get("/healthz").await.status, 200);
    service.stop().await;

    // What comes back is a port that was closed: a name cannot be made to resolve by a test.
    let service = Service::start((1, 5), &[("poll_ms", "500"), ("pairs", r#"[{name="BTC-USDT"}]"#)]).await;
    service.tell_sim("/_sim/faults", json!({"faults": [{"venue": "*", "fault": "refused"}]})).await;
    let got = service.until(&format!("{BTC}?fresh=true"), "nobody answers", |got| got.status == 503).await;
    assert_eq!(got.body["code"], "no_quotes");
    service.mend().await;
    service.until(BTC, "all are back", |got| got.body["venues"]["answered"] == VENUES.len()).await;
    assert_eq!(service.get("/readyz").await.status, 200);
    service.stop().await;
}

#[actix_web::test]
async fn nine_of_twelve_are_answered_with_as_soon_as_they_are_nine() {
    let service = settled((1, 5), &QUIET).await;
    let venues = ["binance", "bitget", "bitstamp", "bybit", "coinbaseexchange", "gate", "htx", "kraken", "kucoin", "mexc"];
    let slow =
        venues.iter().enumerate().map(|(at, venue)| json!({"venue": venue, "fault": "slow", "params": {"delay_ms": 500 + 200 * at}}));
    let silent = ["okx", "bitfinex"].map(|venue| json!({"venue": venue, "fault": "silent"}));
    service.tell_sim("/_sim/faults", json!({"faults": slow.chain(silent).collect::<Vec<_>>()})).await;
    let got = service.get(&format!("{BTC}?fresh=true&min_sources=9&deadline_ms=4000")).await;
    assert_eq!(
        (got.status, got.body["quotes"].as_array().unwrap().len(), got.body["status"].as_str()),
        (200, 9, Some("partial")),
        "{}",
        got.text
    );
    // At the deadline the tenth would have answered, and the silent ones would be `timeout`.
    assert_eq!(["mexc", "okx", "bitfinex"].map(|venue| got.word_of(venue)), [Some("not_awaited"); 3], "{}", got.text);
    service.stop().await;
}
