//! The loss of an arbiter with all that run on it: in real time, since a thread of its own cannot be paused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

mod support;

use quorate_actors::{Control, Engine, clock::Clock, sim::MemoryConnect, sim::Options, sim::World, venues::VENUES};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use support::{ms, pair, until};
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
        // What the rule remembers outlives the coordinator, too.
        let rate = engine.latest_rate(&btc).unwrap();
        assert!(rate.at > lost && rate.receipt.outcome.before.last_good.is_some_and(|good| good.at < rate.receipt.outcome.as_of));
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
