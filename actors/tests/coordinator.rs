//! The coordinator on the simulated market, with time paused: deadlines, shared rounds, stragglers, quorum, memory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

mod support;

use quorate_actors::{
    AskError, Builder, Control, Engine, Published, VenueState,
    model::Reason,
    terms::{Terms, VenueFilter},
    venues::VENUES,
};
use std::{collections::BTreeMap, sync::Arc};
use support::{Sim, ms, pair, paused, until};
use tokio::time::Instant;

/// Polling so rare that only rounds ask.
const RARELY: u64 = 3_600_000;

fn fresh(engine: &Engine, deadline_ms: u64) -> Terms {
    Terms { fresh: true, deadline: ms(deadline_ms), ..engine.terms().clone() }
}

fn misses(answer: &Published) -> BTreeMap<String, Reason> {
    answer.view.misses.iter().map(|m| (m.venue.to_string(), m.fault.reason)).collect()
}

/// An engine that has settled: every venue is warm and was heard of once.
async fn settled(sim: &Sim, poll_ms: u64) -> Engine {
    started(sim.builder(), poll_ms).await
}

async fn started(builder: Builder, poll_ms: u64) -> Engine {
    let engine = builder.pairs(["BTC-USDT", "ETH-USDT"]).poll(ms(poll_ms)).start().unwrap();
    until("every venue has answered", || engine.venues().iter().all(|v| v.quoted == 2)).await;
    engine
}

#[test]
fn a_round_brings_every_venue_and_the_best_of_them() {
    paused(async {
        let sim = Sim::new((50, 300));
        let engine = settled(&sim, RARELY).await;
        let answer = engine.quote(&pair("BTC-USDT")).await.unwrap();
        let view = &answer.view;
        assert_eq!((view.rows.len(), view.misses.len(), view.asked()), (VENUES.len(), 0, VENUES.len()));
        let ids: Vec<_> = view.rows.iter().map(|r| r.quote.venue.clone()).collect();
        assert!(ids.is_sorted());
        assert!(view.rows.iter().all(|r| r.refused.is_none()));
        assert_eq!(view.bid().unwrap().quote.ticker.bid, view.rows.iter().map(|r| r.quote.ticker.bid).max().unwrap());
        assert_eq!(view.ask().unwrap().quote.ticker.ask, view.rows.iter().map(|r| r.quote.ticker.ask).min().unwrap());
        engine.shutdown().await;
    });
}

#[test]
fn the_answer_comes_by_the_deadline_and_a_stragglers_quote_afterwards() {
    paused(async {
        let sim = Sim::new((50, 100));
        let engine = settled(&sim, RARELY).await;
        sim.faults(r#"{"faults":[{"venue":"binance","fault":"silent"},{"venue":"kraken","fault":"drip"},{"venue":"htx","fault":"slow","params":{"delay_ms":900}}]}"#);
        let (begun, was) = (Instant::now(), engine.latest(&pair("BTC-USDT")).unwrap().view.sequence);
        let answer = engine.ask(pair("BTC-USDT"), fresh(&engine, 500)).await.unwrap();
        assert_eq!(begun.elapsed(), ms(500));
        let late = [("binance", Reason::Timeout), ("htx", Reason::Timeout), ("kraken", Reason::Timeout)];
        assert_eq!(misses(&answer), late.map(|(v, r)| (v.to_owned(), r)).into());
        assert_eq!(answer.view.asked(), VENUES.len());
        assert!(answer.view.sequence > was);
        let straggler = || {
            engine
                .latest(&pair("BTC-USDT"))
                .unwrap()
                .view
                .rows
                .iter()
                .find(|r| r.quote.venue.as_str() == "htx")
                .is_some_and(|r| r.quote.received > begun)
        };
        until("the straggler's quote is on the board", straggler).await;
        assert!(begun.elapsed() < ms(1100), "{:?}", begun.elapsed());
        engine.shutdown().await;
    });
}

#[test]
fn nothing_is_sent_to_a_venue_before_it_allows_it() {
    paused(async {
        let sim = Sim::new((50, 50));
        let engine = settled(&sim, 500).await;
        sim.faults(r#"{"faults":[{"venue":"kraken","fault":"rate_limited","for_ms":2000,"params":{"retry_after_s":7}}]}"#);
        until("kraken says so", || engine.venues().iter().any(|v| v.id.as_str() == "kraken" && v.state == VenueState::RateLimited)).await;
        let (said, had) = (Instant::now(), sim.requests("kraken"));
        while said.elapsed() < ms(6_900) {
            let answer = engine.ask(pair("BTC-USDT"), fresh(&engine, 200)).await.unwrap();
            assert_eq!(misses(&answer).get("kraken"), Some(&Reason::RateLimited));
            tokio::time::sleep(ms(100)).await;
        }
        assert_eq!(sim.requests("kraken"), had, "no request left within 7 s");
        until("kraken is asked again", || sim.requests("kraken") > had).await;
        assert!(said.elapsed() < ms(8_000));
        until("kraken is up", || engine.venues().iter().any(|v| v.id.as_str() == "kraken" && v.state == VenueState::Up)).await;
        engine.shutdown().await;
    });
}

#[test]
fn a_thousand_callers_share_one_request_a_venue_and_one_sequence() {
    paused(async {
        let sim = Sim::new((1000, 1000));
        let engine = settled(&sim, RARELY).await;
        sim.world.reset_stats();
        let calls = (0..1000).map(|n| {
            let engine = engine.clone();
            async move {
                tokio::time::sleep(ms(n / 2)).await;
                engine.ask(pair("BTC-USDT"), fresh(&engine, 3000)).await.unwrap().view.sequence
            }
        });
        let sequences = futures_util::future::join_all(calls).await;
        assert!(sequences.iter().all(|s| *s == sequences[0]), "one sequence");
        for venue in VENUES {
            assert_eq!(sim.requests(venue.profile().id), 1, "{}", venue.profile().id);
        }
        engine.shutdown().await;
    });
}

#[test]
fn with_enough_sources_the_rest_are_not_awaited() {
    paused(async {
        let sim = Sim::new((50, 50));
        let engine = settled(&sim, RARELY).await;
        // 50, 70, 90, … ms, and the last two never.
        let ids: Vec<&str> = VENUES.iter().map(|v| v.profile().id).collect();
        let silent = ids.len() - 2;
        let faults = ids.iter().enumerate().map(|(n, id)| match n {
            n if n >= silent => format!(r#"{{"venue":"{id}","fault":"silent"}}"#),
            n => format!(r#"{{"venue":"{id}","fault":"slow","params":{{"delay_ms":{}}}}}"#, 20 * n),
        });
        sim.faults(&format!(r#"{{"faults":[{}]}}"#, faults.collect::<Vec<_>>().join(",")));
        let enough = silent - 1;
        let begun = Instant::now();
        let answer = engine.ask(pair("BTC-USDT"), Terms { min_sources: Some(enough), ..fresh(&engine, 400) }).await.unwrap();
        assert_eq!(begun.elapsed(), ms(50 + 20 * (enough as u64 - 1)));
        assert_eq!(answer.view.rows.len(), enough);
        assert_eq!(misses(&answer), ids[enough..].iter().map(|id| ((*id).to_owned(), Reason::NotAwaited)).collect());
        engine.shutdown().await;
    });
}

#[test]
fn memory_answers_while_it_satisfies_the_terms() {
    paused(async {
        let sim = Sim::new((50, 50));
        let engine = settled(&sim, RARELY).await;
        let all = || VENUES.iter().map(|v| sim.requests(v.profile().id)).sum::<u64>();
        let before = all();
        let terms = |max_age_ms| Terms { max_age: ms(max_age_ms), ..engine.terms().clone() };
        tokio::time::sleep(ms(3000)).await;
        assert!(engine.ask(pair("BTC-USDT"), terms(5000)).await.unwrap().from_memory);
        assert_eq!(all(), before, "nobody was asked");
        let asked = engine.ask(pair("BTC-USDT"), terms(1000)).await.unwrap();
        assert!(!asked.from_memory && asked.view.rows.len() == VENUES.len());
        assert_eq!(all(), before + VENUES.len() as u64, "each was asked once");
        let only = VenueFilter::Only(vec![asked.view.rows[0].quote.venue.clone()]);
        let one = engine.ask(pair("BTC-USDT"), Terms { venues: only, ..terms(1000) }).await.unwrap();
        assert_eq!((one.view.asked(), one.from_memory), (1, true));
        let nobody = VenueFilter::Only(vec![quorate_actors::model::VenueId::new("mtgox")]);
        assert_eq!(
            engine.ask(pair("BTC-USDT"), Terms { venues: nobody, ..terms(1000) }).await.unwrap_err(),
            AskError::NoSuchVenue("mtgox".into())
        );
        engine.shutdown().await;
    });
}

#[test]
fn venues_that_lack_a_pair_are_not_among_the_asked() {
    paused(async {
        let sim = Sim::new((50, 50));
        let engine = settled(&sim, RARELY).await;
        let listing = sim.listing(&pair("BTC-EUR"));
        assert!(0 < listing && listing < VENUES.len());
        let answer = engine.quote(&pair("BTC-EUR")).await.unwrap();
        assert_eq!((answer.view.rows.len(), answer.view.asked()), (listing, listing));
        sim.world.reset_stats();
        assert_eq!(engine.quote(&pair("NOPE-USDT")).await.unwrap_err(), AskError::UnknownPair);
        let asked: u64 = VENUES.iter().map(|v| sim.requests(v.profile().id)).sum();
        assert_eq!(asked, VENUES.len() as u64);
        assert_eq!(engine.quote(&pair("NOPE-USDT")).await.unwrap_err(), AskError::UnknownPair);
        assert_eq!(VENUES.iter().map(|v| sim.requests(v.profile().id)).sum::<u64>(), asked, "known from memory");
        engine.shutdown().await;
    });
}

#[test]
fn rounds_and_pairs_on_demand_are_bounded() {
    paused(async {
        let sim = Sim::new((50, 50));
        let engine = sim.builder().pairs(["BTC-USDT"]).poll(ms(RARELY)).rounds_per_s(3).on_demand(2).start().unwrap();
        until("every venue has answered", || engine.venues().iter().all(|v| v.quoted == 1)).await;
        tokio::time::sleep(ms(1000)).await;
        for _ in 0..3 {
            engine.quote(&pair("BTC-USDT")).await.unwrap();
        }
        let refused = engine.quote(&pair("BTC-USDT")).await.unwrap_err();
        assert!(
            matches!(refused, AskError::TooManyRounds { retry_after } if retry_after > ms(0) && retry_after <= ms(1000)),
            "{refused:?}"
        );
        for text in ["ETH-USDT", "SOL-USDT", "XRP-USDT"] {
            tokio::time::sleep(ms(1000)).await;
            engine.quote(&pair(text)).await.unwrap();
        }
        let known: Vec<_> = engine.pairs().iter().map(|p| p.pair.to_string()).collect();
        assert_eq!(known, ["BTC-USDT", "SOL-USDT", "XRP-USDT"], "the least recently asked went");
        engine.shutdown().await;
    });
}

#[test]
fn a_paused_venue_is_left_alone_and_the_others_do_not_notice() {
    paused(async {
        let sim = Sim::new((50, 50));
        let engine = settled(&sim, 500).await;
        engine.control("kraken", Control::Pause).await.unwrap();
        tokio::time::sleep(ms(200)).await;
        let (kraken, binance) = (sim.requests("kraken"), sim.requests("binance"));
        tokio::time::sleep(ms(10_000)).await;
        assert_eq!(sim.requests("kraken"), kraken);
        assert!(sim.requests("binance") >= binance + 15);
        let answer = engine.ask(pair("BTC-USDT"), fresh(&engine, 500)).await.unwrap();
        assert_eq!(misses(&answer), [("kraken".to_owned(), Reason::Paused)].into());
        engine.control("kraken", Control::Resume).await.unwrap();
        until("kraken is back", || engine.venues().iter().any(|v| v.id.as_str() == "kraken" && v.state == VenueState::Up)).await;
        assert!(engine.control("mtgox", Control::Pause).await.is_err());
        engine.shutdown().await;
    });
}

#[test]
fn a_panic_in_a_handler_is_recovered_from_and_no_quote_is_lost() {
    // Of the published budgets, Bitfinex's lets it be asked each 4 s.
    recovered_from_a_panic(Sim::builder, 4000);
}

#[test]
fn a_panic_delays_no_other_venue_beyond_the_interval_of_all() {
    recovered_from_a_panic(Sim::unlimited, 500);
}

/// How long an answer takes at most.
const LONGEST: u64 = 300;

fn recovered_from_a_panic(builder: fn(&Sim) -> Builder, slowest_ms: u64) {
    paused(async move {
        let poll_ms = 500;
        let sim = Sim::new((50, LONGEST));
        let engine = started(builder(&sim), poll_ms).await;
        engine.control("kraken", Control::RehearsePanic).await.unwrap();
        let begun = Instant::now();
        // As often as asked for, or as half of the venue's budget allows.
        let plans = engine.venues().into_iter().map(|v| (v.id.to_string(), v.plan));
        let plans: BTreeMap<String, _> =
            plans.inspect(|(id, p)| assert!(p.interval_ms == poll_ms || p.budget_share_permille == 500, "{id}: {p:?}")).collect();
        assert_eq!(plans.values().map(|p| p.interval_ms).max(), Some(slowest_ms), "this outlasts it three times over");
        let (mut back, mut heard) = (None, BTreeMap::new());
        while begun.elapsed() < ms(13_000) {
            for pair in ["BTC-USDT", "ETH-USDT"].map(pair) {
                let view = &engine.latest(&pair).unwrap().view;
                assert_eq!(view.rows.len(), VENUES.len(), "no quote vanished: {:?}", view.misses);
                for quote in view.rows.iter().map(|row| &row.quote) {
                    let (venue, age) = (quote.venue.as_str(), Instant::now() - quote.received);
                    let before = heard.insert((pair, venue.to_owned()), quote.received).unwrap_or(quote.received);
                    let (gap, due) = (quote.received - before, ms(plans[venue].interval_ms + 200));
                    // What takes its place comes after its own latency: at most the longest, until then.
                    let in_time = gap <= due + quote.latency && age <= due + ms(LONGEST);
                    assert!(
                        venue == "kraken" || in_time,
                        "{venue}'s {pair} is {age:?} old, after one that was {gap:?}, and {due:?} was due"
                    );
                    if venue == "kraken" && quote.received > begun {
                        back.get_or_insert(begun.elapsed());
                    }
                }
            }
            tokio::time::sleep(ms(10)).await;
        }
        assert!(back.unwrap() < ms(2000), "{back:?}");
        let restarted: Vec<_> = engine.venues().iter().filter(|v| v.restarts > 0).map(|v| (v.id.to_string(), v.restarts)).collect();
        assert_eq!(restarted, [("kraken".to_owned(), 1)]);
        engine.shutdown().await;
    });
}

#[test]
fn an_actor_that_keeps_dying_is_parked() {
    paused(async {
        let sim = Sim::new((50, 50));
        let engine = settled(&sim, RARELY).await;
        let kraken = || engine.venues().into_iter().find(|v| v.id.as_str() == "kraken").unwrap();
        for death in 1..=5 {
            engine.control("kraken", Control::RehearsePanic).await.unwrap();
            until("it is rebuilt or parked", || kraken().restarts == death || kraken().state == VenueState::Parked).await;
        }
        assert_eq!(kraken().state, VenueState::Parked);
        let answer = engine.ask(pair("BTC-USDT"), fresh(&engine, 500)).await.unwrap();
        assert_eq!(misses(&answer), [("kraken".to_owned(), Reason::Parked)].into());
        until("it lives again", || kraken().restarts == 5).await;
        engine.shutdown().await;
    });
}

#[test]
fn two_engines_share_nothing() {
    paused(async {
        let (one, two) = (Sim::new((50, 50)), Sim::new((50, 50)));
        let (a, b) = (settled(&one, 500).await, settled(&two, 500).await);
        a.control("kraken", Control::Pause).await.unwrap();
        tokio::time::sleep(ms(1000)).await;
        assert_eq!(a.venues().iter().filter(|v| v.state == VenueState::Paused).count(), 1);
        assert!(b.venues().iter().all(|v| v.state == VenueState::Up));
        a.shutdown().await;
        let before = two.requests("kraken");
        tokio::time::sleep(ms(2000)).await;
        assert!(two.requests("kraken") > before, "the other goes on");
        let after: Vec<_> = VENUES.iter().map(|v| one.requests(v.profile().id)).collect();
        tokio::time::sleep(ms(5000)).await;
        assert_eq!(VENUES.iter().map(|v| one.requests(v.profile().id)).collect::<Vec<_>>(), after, "the first is silent");
        b.shutdown().await;
    });
}

#[test]
fn an_engine_needs_a_system_and_readable_settings() {
    let outside = Engine::builder().start().unwrap_err();
    assert!(outside.to_string().contains("System"), "{outside}");
    paused(async {
        let bad = Engine::builder().pairs(["BTCUSDT"]).start().unwrap_err();
        assert!(bad.to_string().contains("BTCUSDT"), "{bad}");
        assert!(Engine::builder().arbiters(0).start().is_err());
        assert!(Engine::builder().venue_config("mtgox", quorate_actors::VenueConfig::default()).start().is_err());
    });
}

#[test]
fn same_terms_same_answer() {
    paused(async {
        let sim = Sim::new((50, 50));
        let engine = settled(&sim, RARELY).await;
        let ask = || engine.ask(pair("BTC-USDT"), fresh(&engine, 500));
        let (one, two) = futures_util::future::join(ask(), ask()).await;
        assert!(Arc::ptr_eq(&one.unwrap(), &two.unwrap()), "made once");
        engine.shutdown().await;
    });
}
