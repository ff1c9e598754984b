//! The loss of an arbiter with all that run on it: in real time, since a thread of its own cannot be paused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

mod support;

use quorate_actors::{Control, clock::Clock, sim::MemoryConnect, sim::Options, sim::World, venues::VENUES};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use support::{ms, pair, until};
use tokio::time::Instant;

/// How much later than in theory anything may happen on a machine that is busy with other tests.
const SLACK: Duration = Duration::from_secs(5);

#[test]
fn a_lost_arbiter_is_replaced_and_no_quote_vanishes() {
    actix::System::new().block_on(async {
        let clock = Clock::start();
        let world = World::new(Options { latency: (ms(50), ms(50)), ..Options::default() }, clock.now()).unwrap();
        let connect = Arc::new(MemoryConnect::new(Arc::clone(&world), clock.clone()));
        let engine = quorate_actors::Engine::builder().clock(clock).connect(connect).rates(["BTC-USDT"]).poll(ms(500)).start().unwrap();
        let btc = pair("BTC-USDT");
        let rows = || engine.latest(&btc).map_or(0, |p| p.view.rows.len());
        until("every venue has answered", || rows() == VENUES.len()).await;
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
