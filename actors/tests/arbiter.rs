//! The loss of an arbiter with all that run on it: in real time, since a thread of its own cannot be paused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

mod support;

use actix::Actor;
use quorate_actors::{Control, Engine, PublishedRate, clock::Clock, sim::MemoryConnect, sim::Options, sim::World, venues::VENUES};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};
use support::{Listener, ms, pair, until};
use tokio::time::Instant;

/// How much later than in theory anything may happen on a machine that is busy with other tests.
const SLACK: Duration = Duration::from_secs(5);

/// An engine on a simulated market, polling each 500 ms, on an arbiter of its own, once every venue has answered.
async fn settled() -> Engine {
    let clock = Clock::start();
    let world = World::new(Options { latency: (ms(50), ms(50)), ..Options::default() }, clock.now()).unwrap();
    let connect = Arc::new(MemoryConnect::new(Arc::clone(&world), clock.clone()));
    let engine = Engine::builder().clock(clock).connect(connect).rates(["BTC-USDT"]).poll(ms(500)).start().unwrap();
    until("every venue has answered", || engine.latest(&pair("BTC-USDT")).is_some_and(|p| p.view.rows.len() == VENUES.len())).await;
    engine
}

#[test]
fn a_lost_arbiter_is_replaced_and_no_quote_vanishes() {
    actix::System::new().block_on(async {
        let engine = settled().await;
        let btc = pair("BTC-USDT");
        let rows = || engine.latest(&btc).map_or(0, |p| p.view.rows.len());
        let agreed = |rate: &PublishedRate| rate.receipt.outcome.tally.votes.len() == VENUES.len();
        until("a rate is made of all", || engine.latest_rate(&btc).is_some_and(|rate| agreed(&rate))).await;
        let told = Arc::new(Mutex::new(Vec::new()));
        engine.subscribe_rate(btc, Listener(Arc::clone(&told)).start().recipient()).await.unwrap();
        engine.control("kraken", Control::RehearseArbiterLoss).await.unwrap();
        let lost = Instant::now();
        let received = || -> BTreeMap<String, Instant> {
            engine.latest(&btc).unwrap().view.rows.iter().map(|r| (r.quote.venue.to_string(), r.quote.received)).collect()
        };
        until("every venue is heard of again", || {
            assert_eq!(rows(), VENUES.len(), "no quote vanished");
            assert!(lost.elapsed() < ms(4_000) + SLACK, "{:?}", received());
            received().values().all(|at| *at > lost + ms(100))
        })
        .await;
        assert!(engine.venues().iter().all(|v| v.restarts == 1), "one rebuilding each");
        // What the rule remembers outlives the coordinator, and so does the count of what was published.
        until("a rate is published again", || told.lock().unwrap().iter().any(|rate| rate.at > lost)).await;
        let told: Vec<Arc<PublishedRate>> = told.lock().unwrap().clone();
        assert!(told.iter().all(|rate| rate.receipt.outcome.before.last_good.is_some()), "the first since the loss among them");
        assert!(told.is_sorted_by(|a, b| a.sequence < b.sequence), "{:?}", told.iter().map(|rate| rate.sequence).collect::<Vec<_>>());
        let answer = engine.quote(&btc).await.unwrap();
        assert_eq!(answer.view.asked(), VENUES.len());
        engine.shutdown().await;
        assert!(engine.quote(&btc).await.is_err(), "after the shutdown nobody answers");
    });
}

#[test]
#[ignore = "a measurement in real time: --ignored --nocapture shows it"]
fn how_long_a_lost_arbiter_is_missed() {
    actix::System::new().block_on(async {
        let engine = settled().await;
        let (btc, begun) = (pair("BTC-USDT"), Instant::now());
        until("all are polled, not only started", || engine.latest(&btc).unwrap().view.rows.iter().all(|r| r.quote.received > begun)).await;
        engine.control("kraken", Control::RehearseArbiterLoss).await.unwrap();
        let lost = Instant::now();
        let (mut rebuilt, mut heard, mut late) = (None, BTreeMap::new(), BTreeMap::new());
        while lost.elapsed() < ms(10_000) {
            let venues = engine.venues();
            if rebuilt.is_none() && venues.iter().all(|v| v.restarts == 1) {
                rebuilt = Some(lost.elapsed());
            }
            let view = &engine.latest(&btc).unwrap().view;
            assert_eq!(view.rows.len(), VENUES.len(), "no quote vanished");
            for (quote, venue) in view.rows.iter().map(|row| &row.quote).zip(&venues) {
                assert_eq!(quote.venue, venue.id);
                let beyond = quote.received.elapsed().saturating_sub(ms(venue.plan.interval_ms) + quote.latency);
                let most = late.entry(venue.id.to_string()).or_insert(beyond);
                *most = beyond.max(*most);
                if quote.received > lost {
                    heard.entry(venue.id.to_string()).or_insert(lost.elapsed());
                }
            }
            tokio::time::sleep(ms(10)).await;
        }
        println!("all rebuilt after {rebuilt:?}\nheard of again after {heard:#?}\nages beyond interval and latency, at most {late:#?}");
        assert!(engine.venues().iter().all(|v| v.restarts == 1), "one rebuilding each");
        engine.shutdown().await;
    });
}
