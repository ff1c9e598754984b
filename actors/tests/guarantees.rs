//! What somebody who stakes money on an answer relies on, held on the simulated market.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

mod support;

use actix::prelude::*;
use quorate_actors::{
    AskError, Control, Engine, PairConfig, QuoteUpdate, VenueState,
    clock::Clock,
    model::{Reason, VenueId},
    sim::{MemoryConnect, Options, World},
    terms::{Terms, VenueFilter},
    venue::TimeOf,
    venues::VENUES,
};
use std::sync::{Arc, Mutex};
use support::{Sim, ms, pair, paused, until};
use tokio::time::Instant;

/// Polling so rare that only rounds ask.
const RARELY: u64 = 3_600_000;

/// The first venue whose time is the book's or the answer's.
fn timed() -> &'static str {
    VENUES.iter().map(|v| v.profile()).find(|p| matches!(p.time_of, TimeOf::Book | TimeOf::Answer)).unwrap().id
}

fn only(ids: &[&str]) -> VenueFilter {
    VenueFilter::Only(ids.iter().map(|id| VenueId::new(id)).collect())
}

fn terms(engine: &Engine) -> Terms {
    engine.terms().clone()
}

async fn settled(sim: &Sim, poll_ms: u64) -> Engine {
    let engine = sim.builder().pairs(["BTC-USDT"]).poll(ms(poll_ms)).start().unwrap();
    until("every venue has answered", || engine.venues().iter().all(|v| v.quoted == 1)).await;
    engine
}

#[test]
fn a_venues_wait_outlives_its_actor() {
    paused(async {
        let sim = Sim::new((50, 50));
        let engine = settled(&sim, 500).await;
        sim.faults(r#"{"faults":[{"venue":"kraken","fault":"banned","for_ms":3000,"params":{"retry_after_s":60}}]}"#);
        let kraken = || engine.venues().into_iter().find(|v| v.id.as_str() == "kraken").unwrap();
        until("kraken bans us", || kraken().state == VenueState::RateLimited).await;
        let (said, had) = (Instant::now(), sim.requests("kraken"));
        engine.control("kraken", Control::RehearsePanic).await.unwrap();
        until("it is rebuilt", || kraken().restarts == 1).await;
        engine.control("kraken", Control::Restart).await.unwrap();
        while said.elapsed() < ms(55_000) {
            tokio::time::sleep(ms(500)).await;
            assert_eq!(sim.requests("kraken"), had, "asked {:?} into a ban of 60 s", said.elapsed());
        }
        until("it is asked again", || sim.requests("kraken") > had).await;
        engine.shutdown().await;
    });
}

#[test]
fn one_answer_from_the_future_does_not_shut_out_those_that_follow() {
    paused(async {
        let sim = Sim::new((50, 50));
        let engine = settled(&sim, 500).await;
        let decided = || {
            let latest = engine.latest(&pair("BTC-USDT")).unwrap();
            latest.view.rows.iter().find(|r| r.quote.venue.as_str() == timed()).map(|r| r.refused)
        };
        sim.faults(&format!(r#"{{"faults":[{{"venue":"{}","fault":"time_ahead","for_ms":3000,"params":{{"by_ms":3600000}}}}]}}"#, timed()));
        until("its time is refused", || decided() == Some(Some(Reason::Future))).await;
        let begun = Instant::now();
        until("it counts again", || decided() == Some(None)).await;
        assert!(begun.elapsed() < ms(10_000), "shut out for {:?}", begun.elapsed());
        engine.shutdown().await;
    });
}

#[test]
fn who_was_not_asked_is_not_said_to_be_late() {
    paused(async {
        let sim = Sim::new((50, 50));
        let engine = settled(&sim, RARELY).await;
        tokio::time::sleep(ms(500)).await;
        let others = VenueFilter::Except(vec![VenueId::new("kraken")]);
        engine.ask(pair("BTC-USDT"), Terms { fresh: true, venues: others, ..terms(&engine) }).await.unwrap();
        tokio::time::sleep(ms(200)).await;
        sim.faults(r#"{"faults":[{"venue":"kraken","fault":"slow","params":{"delay_ms":600}}]}"#);
        let answer = engine.ask(pair("BTC-USDT"), Terms { max_age: ms(700), ..terms(&engine) }).await.unwrap();
        assert_eq!((answer.view.rows.len(), answer.view.misses.len()), (VENUES.len(), 0), "{:?}", answer.view.misses);
        engine.shutdown().await;
    });
}

#[test]
fn enough_in_memory_is_answered_at_once_and_too_few_are_asked_again() {
    paused(async {
        let sim = Sim::new((50, 50));
        let engine = settled(&sim, RARELY).await;
        tokio::time::sleep(ms(6000)).await;
        let young = ["binance", "kraken", "okx"];
        engine.ask(pair("BTC-USDT"), Terms { fresh: true, venues: only(&young), ..terms(&engine) }).await.unwrap();
        sim.faults(r#"{"faults":[{"venue":"*","fault":"silent"}]}"#);
        let begun = Instant::now();
        let answer = engine.ask(pair("BTC-USDT"), Terms { min_sources: Some(3), ..terms(&engine) }).await.unwrap();
        assert_eq!((begun.elapsed(), answer.view.rows.len(), answer.from_memory), (ms(0), 3, true));
        assert_eq!(answer.view.asked(), VENUES.len());
        assert!(answer.view.misses.iter().all(|m| m.fault.reason == Reason::NotAwaited));
        engine.shutdown().await;

        let sim = Sim::new((50, 50));
        sim.faults(r#"{"faults":[{"venue":"kraken","fault":"crossed","for_ms":2000}]}"#);
        let engine = settled(&sim, RARELY).await;
        tokio::time::sleep(ms(2500)).await;
        let all = Terms { min_sources: Some(VENUES.len()), max_age: ms(20_000), ..terms(&engine) };
        let counted = engine.ask(pair("BTC-USDT"), all).await.unwrap();
        assert_eq!(counted.view.rows.iter().filter(|r| r.refused.is_none()).count(), VENUES.len());
        engine.shutdown().await;
    });
}

#[test]
fn one_callers_haste_is_not_a_venues_fault() {
    paused(async {
        let sim = Sim::new((50, 50));
        let engine = settled(&sim, RARELY).await;
        let hasty = engine.ask(pair("SOL-USDT"), Terms { deadline: ms(0), ..terms(&engine) }).await.unwrap();
        assert_eq!((hasty.view.rows.len(), hasty.view.misses.len()), (0, VENUES.len()));
        let next = engine.ask(pair("SOL-USDT"), terms(&engine)).await.unwrap();
        assert_eq!((next.view.rows.len(), next.from_memory), (VENUES.len(), false));
        engine.shutdown().await;
    });
}

#[test]
fn a_quote_grows_stale_by_the_venues_own_time_on_the_board_too() {
    paused(async {
        let sim = Sim::new((50, 50));
        sim.faults(&format!(r#"{{"faults":[{{"venue":"{}","fault":"time_back","params":{{"by_ms":25000}}}}]}}"#, timed()));
        let engine = sim.builder().pairs(["BTC-USDT"]).poll(ms(RARELY)).max_age(ms(120_000)).start().unwrap();
        until("every venue has answered", || engine.venues().iter().all(|v| v.quoted == 1)).await;
        let decided = || {
            let latest = engine.remembered(&pair("BTC-USDT"), engine.terms()).unwrap();
            latest.view.rows.iter().find(|r| r.quote.venue.as_str() == timed()).unwrap().refused
        };
        tokio::time::sleep(ms(1000)).await;
        assert_eq!(decided(), None);
        tokio::time::sleep(ms(6000)).await;
        assert_eq!(decided(), Some(Reason::Stale));
        engine.shutdown().await;
    });
}

#[test]
fn what_is_forgotten_is_forgotten_by_the_exchanges_too() {
    paused(async {
        let sim = Sim::new((50, 50));
        let engine = sim.builder().pairs(["BTC-USDT"]).poll(ms(RARELY)).on_demand(1).start().unwrap();
        until("every venue has answered", || engine.venues().iter().all(|v| v.quoted == 1)).await;
        for text in ["ETH-USDT", "SOL-USDT", "XRP-USDT", "ETH-USDT"] {
            engine.quote(&pair(text)).await.unwrap();
        }
        tokio::time::sleep(ms(100)).await;
        let kept: Vec<_> = engine.venues().iter().map(|v| v.quoted).collect();
        assert!(kept.iter().all(|quoted| *quoted <= 2), "the configured one and one on demand: {kept:?}");
        engine.shutdown().await;
    });
}

#[derive(Default)]
struct Listener(Arc<Mutex<Vec<u64>>>);

impl Actor for Listener {
    type Context = Context<Self>;
}

impl Handler<QuoteUpdate> for Listener {
    type Result = ();
    fn handle(&mut self, QuoteUpdate(published): QuoteUpdate, _: &mut Self::Context) {
        self.0.lock().unwrap().push(published.view.sequence);
    }
}

#[test]
fn a_subscription_outlives_the_coordinator() {
    actix::System::new().block_on(async {
        let clock = Clock::start();
        let world = World::new(Options { latency: (ms(20), ms(20)), ..Options::default() }, clock.now()).unwrap();
        let connect = Arc::new(MemoryConnect::new(world, clock.clone()));
        let engine = Engine::builder().clock(clock).connect(connect).pairs(["BTC-USDT"]).poll(ms(500)).start().unwrap();
        let heard: Arc<Mutex<Vec<u64>>> = Arc::default();
        engine.subscribe(pair("BTC-USDT"), Listener(Arc::clone(&heard)).start().recipient()).await.unwrap();
        until("changes are heard", || heard.lock().unwrap().len() >= 3).await;
        engine.control("kraken", Control::RehearseArbiterLoss).await.unwrap();
        until("the coordinator is rebuilt", || engine.actors().actors.iter().any(|a| a.name == "coordinator" && a.restarts > 0)).await;
        let before = heard.lock().unwrap().len();
        let begun = Instant::now();
        until("changes are heard again", || heard.lock().unwrap().len() > before + 3 || begun.elapsed() > ms(10_000)).await;
        assert!(heard.lock().unwrap().len() > before + 3, "nothing was heard after the rebuild");
        engine.shutdown().await;
    });
}

#[test]
fn a_subscription_that_is_not_taken_is_refused() {
    paused(async {
        let sim = Sim::new((50, 50));
        let engine = sim.builder().pairs(["BTC-USDT"]).on_demand(0).start().unwrap();
        let refused = engine.subscribe(pair("ETH-USDT"), Listener::default().start().recipient()).await;
        assert_eq!(refused, Err(AskError::NotConfigured));
        engine.shutdown().await;
    });
}

#[test]
fn a_pair_is_asked_of_its_own_venues_alone() {
    paused(async {
        let sim = Sim::new((50, 50));
        let config = |quorum, venues| PairConfig { pair: pair("BTC-USDT"), required: true, quorum, venues, rate: None };
        let engine = sim.builder().pair(config(3, only(&["kraken", "okx"]))).poll(ms(500)).start().unwrap();
        let ready = || engine.pairs()[0].clone();
        until("it is ready with the two that it has", || ready().is_ready()).await;
        assert_eq!((ready().asked, ready().admitted), (2, 2));
        let ids = |answer: &quorate_actors::Published| answer.view.rows.iter().map(|r| r.quote.venue.to_string()).collect::<Vec<_>>();
        for fresh in [false, true] {
            let answer = engine.ask(pair("BTC-USDT"), Terms { fresh, ..terms(&engine) }).await.unwrap();
            assert_eq!((ids(&answer), answer.view.asked()), (vec!["kraken".to_owned(), "okx".to_owned()], 2));
        }
        let named = engine.ask(pair("BTC-USDT"), Terms { venues: only(&["bybit", "okx"]), ..terms(&engine) }).await.unwrap();
        assert_eq!(ids(&named), ["okx"]);
        tokio::time::sleep(ms(5000)).await;
        assert!(sim.requests("bybit") <= 1, "no more than a connection opened ahead: {}", sim.requests("bybit"));
        engine.shutdown().await;
        let wrong = sim.builder().pair(config(1, only(&["mtgox"]))).start().unwrap_err();
        assert!(wrong.to_string().contains("mtgox"), "{wrong}");
    });
}

/// Hears nothing: its mailbox takes one message and it never gets to handle it.
struct Deaf;

impl Actor for Deaf {
    type Context = Context<Self>;
    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(1);
        ctx.wait(actix::fut::wrap_future(std::future::pending()));
    }
}

impl Handler<QuoteUpdate> for Deaf {
    type Result = ();
    fn handle(&mut self, _: QuoteUpdate, _: &mut Self::Context) {}
}

#[test]
fn what_a_full_mailbox_misses_is_counted() {
    paused(async {
        let sim = Sim::new((50, 50));
        let engine = settled(&sim, 500).await;
        engine.subscribe(pair("BTC-USDT"), Deaf.start().recipient()).await.unwrap();
        until("updates are missed", || engine.updates_missed() > 3).await;
        engine.shutdown().await;
    });
}

#[test]
fn a_slow_venue_is_asked_as_often_as_its_plan_says_and_one_that_hangs_no_more_than_so_often() {
    paused(async {
        let sim = Sim::new((400, 400));
        let pairs = ["BTC-USD", "ETH-USD", "SOL-USD", "XRP-USD", "BTC-EUR", "ETH-EUR", "SOL-EUR", "XRP-EUR"];
        let engine = sim.builder().pairs(pairs).poll(ms(2000)).start().unwrap();
        let coinbase = || engine.venues().into_iter().find(|v| v.id.as_str() == "coinbaseexchange").unwrap();
        until("it has answered for all", || coinbase().quoted == pairs.len()).await;
        tokio::time::sleep(ms(10_000)).await;
        assert_eq!((coinbase().plan.request_count, coinbase().plan.interval_ms), (8, 2000), "each 250 ms, and it takes 400 to answer");
        let had = sim.requests("coinbaseexchange");
        tokio::time::sleep(ms(20_000)).await;
        let asked = sim.requests("coinbaseexchange") - had;
        assert!((78..=80).contains(&asked), "{asked} in 20 s");
        sim.faults(r#"{"faults":[{"venue":"coinbaseexchange","fault":"silent"}]}"#);
        tokio::time::sleep(ms(500)).await;
        let had = sim.requests("coinbaseexchange");
        tokio::time::sleep(ms(4_000)).await;
        let asked = sim.requests("coinbaseexchange") - had;
        assert!(asked <= 8, "{asked} while the first of them hang");
        engine.shutdown().await;
    });
}
