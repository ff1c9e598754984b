//! Rates as the engine keeps them: on the simulated market, with time paused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

mod support;

use actix::Actor;
use quorate_actors::{
    Control, Engine, PublishedRate,
    model::{Pair, Reason, VenueId},
    rate::{Decision, Made, Num, Status},
    terms::{Terms, VenueFilter},
    venues::VENUES,
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use support::{Listener, Sim, ms, pair, paused, until};
use tokio::time::Instant;

fn statuses(rate: &PublishedRate) -> (Status, usize, usize) {
    let tally = &rate.receipt.outcome.tally;
    (rate.receipt.outcome.status, tally.votes.len(), tally.survivors().len())
}

/// Gives what is wrong with a receipt by the laws that hold for every one.
fn unlawful(rate: &PublishedRate) -> Vec<String> {
    let outcome = &rate.receipt.outcome;
    let mut markets: Vec<(VenueId, Pair)> = outcome.rows.iter().map(|row| (row.offer.member.venue.clone(), row.offer.pair)).collect();
    markets.extend(rate.receipt.misses.iter().map(|miss| (miss.venue.clone(), miss.pair)));
    let count = markets.len();
    markets.sort();
    markets.dedup();
    let mut wrong = Vec::new();
    if markets.len() != count {
        wrong.push("a market is answered for twice".to_owned());
    }
    for row in &outcome.rows {
        let counted = row.converted.is_some() != matches!(row.decision, Decision::Refused(_));
        if !counted {
            wrong.push(format!("{} {}: {:?} but {:?}", row.offer.member.venue, row.offer.pair, row.decision, row.converted));
        }
    }
    wrong
}

#[test]
fn a_rate_is_made_of_direct_and_of_converted_markets_each_with_its_path() {
    paused(async {
        let sim = Sim::new((20, 60));
        let engine = sim.builder().rates(["BTC-USD"]).start().unwrap();
        let btc = pair("BTC-USD");
        until("every venue votes", || engine.latest_rate(&btc).is_some_and(|rate| rate.receipt.outcome.tally.votes.len() == 12)).await;
        tokio::time::sleep(ms(5_000)).await;
        let rate = engine.latest_rate(&btc).unwrap();
        assert_eq!(unlawful(&rate), Vec::<String>::new());
        assert_eq!(statuses(&rate), (Status::Ok, 12, 12));
        let outcome = &rate.receipt.outcome;
        let votes_with =
            |hops: usize| outcome.tally.votes.iter().filter(|vote| vote.hops == hops).map(|vote| &*vote.operator).collect::<Vec<_>>();
        assert_eq!(votes_with(0), ["bitfinex", "bitstamp", "coinbase", "kraken"]);
        assert_eq!(votes_with(1).len(), 8);
        let through = |quote: &str| outcome.rows.iter().filter(|row| row.votes && row.is_base && row.offer.pair.quote == quote).count();
        assert!(
            through("USD") == 4 && through("USDT") >= 8 && through("USDC") == 6,
            "{} {} {}",
            through("USD"),
            through("USDT"),
            through("USDC")
        );
        let path = outcome.paths.iter().find(|path| path.from == "USDT").unwrap();
        assert_eq!((path.steps.len(), path.steps[0].pair, path.steps[0].par), (1, pair("USDT-USD"), false));
        // The truth is 67,000 at the start, and venues are less than 3 bps apart.
        let apart = outcome.rate.unwrap().distance(Num::new(67_000, 0)).ratio(Num::new(67_000, 0), 4).unwrap();
        assert!(apart < 100, "{} ten-thousandths from the truth", apart);
        engine.shutdown().await;
    });
}

/// Begins a market of which ten venues answer after 50, 70, … 230 ms and two never, and an engine that asks nobody unasked.
fn staggered() -> (Sim, quorate_actors::Engine, Terms) {
    let sim = Sim::new((0, 0));
    let venues = ["binance", "bitget", "bitstamp", "bybit", "coinbaseexchange", "gate", "htx", "kraken", "kucoin", "mexc"];
    let slow = venues.iter().enumerate().map(|(at, venue)| {
        let delay = 50 + 20 * at;
        format!(r#"{{"venue":"{venue}","fault":"slow","params":{{"delay_ms":{delay}}}}}"#)
    });
    let silent = ["okx", "bitfinex"].map(|venue| format!(r#"{{"venue":"{venue}","fault":"silent"}}"#));
    let faults: Vec<String> = slow.chain(silent).collect();
    sim.faults(&format!(r#"{{"faults":[{}]}}"#, faults.join(",")));
    let engine = sim.builder().background(false).on_demand(50).start().unwrap();
    let terms = Terms { min_sources: Some(9), deadline: ms(400), fresh: true, ..engine.terms().clone() };
    (sim, engine, terms)
}

#[test]
fn a_round_ends_when_enough_sources_agree_and_the_others_are_not_awaited() {
    let not_awaited = [("bitfinex", Reason::NotAwaited), ("mexc", Reason::NotAwaited), ("okx", Reason::NotAwaited)];
    paused(async {
        let (_sim, engine, terms) = staggered();
        let begun = Instant::now();
        let quotes = engine.ask(pair("BTC-USDT"), terms).await.unwrap();
        assert_eq!((begun.elapsed(), quotes.view.rows.len()), (ms(210), 9));
        let misses: Vec<_> = quotes.view.misses.iter().map(|miss| (miss.venue.as_str(), miss.fault.reason)).collect();
        assert_eq!(misses, not_awaited);
        engine.shutdown().await;
    });
    paused(async {
        let (_sim, engine, terms) = staggered();
        let begun = Instant::now();
        let rate = engine.ask_rate(pair("BTC-USDT"), terms).await.unwrap();
        assert_eq!((begun.elapsed(), statuses(&rate), rate.receipt.made), (ms(210), (Status::Ok, 9, 9), Made::Enough));
        let direct = rate.receipt.misses.iter().filter(|miss| miss.pair == pair("BTC-USDT"));
        assert_eq!(direct.map(|miss| (miss.venue.as_str(), miss.fault.reason)).collect::<Vec<_>>(), not_awaited);
        assert_eq!(unlawful(&rate), Vec::<String>::new());
        engine.shutdown().await;
    });
}

#[test]
fn a_caller_with_terms_of_his_own_gets_a_receipt_of_his_own() {
    paused(async {
        let sim = Sim::new((20, 60));
        let engine = sim.builder().rates(["BTC-USD"]).start().unwrap();
        let btc = pair("BTC-USD");
        until("every venue votes", || engine.latest_rate(&btc).is_some_and(|rate| rate.receipt.outcome.tally.votes.len() == 12)).await;
        let only = ["kraken", "bitstamp"].map(VenueId::new).to_vec();
        let terms = Terms { venues: VenueFilter::Only(only), ..engine.terms().clone() };
        let own = engine.ask_rate(btc, terms).await.unwrap();
        assert_eq!((statuses(&own), own.shared), ((Status::Degraded, 2, 2), false));
        assert!(
            own.receipt.outcome.rows.iter().any(|row| !row.is_base && row.offer.member.venue.as_str() == "coinbaseexchange"),
            "conversions are everybody's"
        );
        let shared = engine.ask_rate(btc, engine.terms().clone()).await.unwrap();
        assert_eq!((statuses(&shared), shared.shared), ((Status::Ok, 12, 12), true));
        let fresh = engine.rate(&btc).await.unwrap();
        assert!(fresh.at > shared.at && fresh.receipt.made == Made::Fetch, "{:?}", fresh.receipt.made);
        // A venue whose budget is spent does not say at once that it lists none of it.
        let mut unknown = engine.rate(&pair("NONE-USD")).await;
        while unknown.is_ok() {
            tokio::time::sleep(ms(1_000)).await;
            unknown = engine.rate(&pair("NONE-USD")).await;
        }
        assert_eq!(unknown.unwrap_err(), quorate_actors::AskError::UnknownPair);
        engine.shutdown().await;
    });
}

#[test]
fn with_all_but_two_venues_faulted_it_is_degraded_and_with_all_stale_then_unavailable() {
    paused(async {
        let sim = Sim::new((20, 60));
        let engine = sim.builder().rates(["BTC-USD"]).start().unwrap();
        let btc = pair("BTC-USD");
        until("every venue votes", || engine.latest_rate(&btc).is_some_and(|rate| rate.receipt.outcome.tally.votes.len() == 12)).await;
        let silent = |venue: &str| format!(r#"{{"faults":[{{"venue":"{venue}","fault":"silent"}}]}}"#);
        let stay = ["kraken", "bitstamp"];
        for venue in quorate_actors::venues::VENUES.iter().map(|v| v.profile().id).filter(|id| !stay.contains(id)) {
            sim.faults(&silent(venue));
        }
        let status = || engine.latest_rate(&btc).unwrap().receipt.outcome.status;
        tokio::time::sleep(ms(31_100)).await;
        for _ in 0..200 {
            assert_eq!(status(), Status::Degraded);
            tokio::time::sleep(ms(100)).await;
        }
        stay.iter().for_each(|venue| sim.faults(&silent(venue)));
        until("nothing counts any more", || status() != Status::Degraded && status() != Status::SingleSource).await;
        let first = engine.latest_rate(&btc).unwrap();
        assert_eq!(first.receipt.outcome.status, Status::Stale);
        assert_eq!(first.receipt.outcome.rate, first.receipt.outcome.last_good.map(|good| good.rate));
        until("it is too old", || status() != Status::Stale).await;
        let last = engine.latest_rate(&btc).unwrap();
        assert_eq!((last.receipt.outcome.status, last.receipt.outcome.rate), (Status::Unavailable, None));
        let since = last.receipt.outcome.as_of.since(last.receipt.outcome.last_good.unwrap().at);
        assert!(since > ms(60_000) && since <= ms(61_100), "{since:?}");
        engine.shutdown().await;
    });
}

#[test]
fn a_rate_of_more_markets_than_are_kept_is_answered() {
    paused(async {
        let sim = Sim::new((20, 60));
        let engine = sim.builder().background(false).on_demand(2).start().unwrap();
        let begun = Instant::now();
        let rate = engine.rate(&pair("BTC-USD")).await.unwrap();
        assert!(begun.elapsed() <= engine.terms().deadline, "{:?}", begun.elapsed());
        assert_eq!(unlawful(&rate), Vec::<String>::new());
        engine.shutdown().await;
    });
}

#[test]
fn the_pass_of_each_second_publishes_only_news() {
    paused(async {
        let sim = Sim::new((20, 60));
        let engine = sim.builder().rates(["BTC-USD"]).poll(ms(3_600_000)).start().unwrap();
        let (btc, told) = (pair("BTC-USD"), Arc::new(Mutex::new(Vec::new())));
        engine.subscribe_rate(btc, Listener(Arc::clone(&told)).start().recipient()).await.unwrap();
        until("every venue votes", || engine.latest_rate(&btc).is_some_and(|rate| rate.receipt.outcome.tally.votes.len() == 12)).await;
        tokio::time::sleep(ms(8_000)).await;
        let (count, latest) = (told.lock().unwrap().len(), engine.latest_rate(&btc).unwrap());
        tokio::time::sleep(ms(15_000)).await;
        assert_eq!(told.lock().unwrap().len(), count, "fifteen passes later nothing has changed");
        assert!(Arc::ptr_eq(&latest, &engine.latest_rate(&btc).unwrap()), "the receipt stands");
        until("quotes are too old", || told.lock().unwrap().len() > count).await;
        let decisions =
            |rate: &PublishedRate| rate.receipt.outcome.rows.iter().filter(|row| row.decision == Decision::Refused(Reason::Stale)).count();
        assert!(decisions(&engine.latest_rate(&btc).unwrap()) > 0);
        engine.shutdown().await;
    });
}

/// What `demo` follows: at Coinbase Exchange, which is asked pair by pair, a cycle takes seconds.
const DEMO: [&str; 16] = [
    "BTC-USD", "BTC-USDT", "BTC-USDC", "BTC-EUR", "ETH-USD", "ETH-USDT", "ETH-USDC", "ETH-EUR", "SOL-USD", "SOL-USDT", "SOL-USDC",
    "SOL-EUR", "XRP-USD", "XRP-USDT", "XRP-USDC", "XRP-EUR",
];

/// Holds the worst that was seen of the rate of BTC-USD while USDT went to 0.91, in ten-thousandths.
struct Slide {
    moved: u128,
    refused_longest: Duration,
    /// How far the path's USDT/USD was from the truth once that had come to rest, and how often it was looked at.
    path_off: u128,
    paths_seen: usize,
}

async fn slide(after_ms: u64, over_ms: u64, for_ms: u64) -> Slide {
    let sim = Sim::new((50, 300));
    let engine = sim.builder().rates(DEMO).poll(ms(500)).start().unwrap();
    let (btc, usdt) = (pair("BTC-USD"), pair("USDT-USD"));
    until("every venue votes", || engine.latest_rate(&btc).is_some_and(|rate| rate.receipt.outcome.tally.votes.len() == 12)).await;
    let latest = || engine.latest_rate(&btc).unwrap();
    tokio::time::sleep(ms(after_ms)).await;
    let first = latest().receipt.outcome.rate.unwrap();
    sim.world
        .control(&serde_json::from_str(&format!(r#"{{"prices":{{"USDT-USD":"0.91"}},"over_ms":{over_ms}}}"#)).unwrap(), sim.clock.now())
        .unwrap();
    let begun = Instant::now();
    let mut slide = Slide { moved: 0, refused_longest: Duration::ZERO, path_off: 0, paths_seen: 0 };
    let mut served = Instant::now();
    while begun.elapsed() < ms(for_ms) {
        let published = latest();
        let outcome = &published.receipt.outcome;
        if matches!(outcome.status, Status::Ok | Status::Degraded) {
            served = Instant::now();
            slide.moved = slide.moved.max(outcome.rate.unwrap().distance(first).ratio(first, 4).unwrap());
        }
        slide.refused_longest = slide.refused_longest.max(served.elapsed());
        if let Some(path) = outcome.paths.iter().find(|path| path.from == "USDT" && path.steps[0].pair == usdt) {
            let truth: Num = sim.world.truth(sim.clock.now()).prices[&usdt].to_string().parse().unwrap();
            let off = path.rate.distance(truth).ratio(truth, 4).unwrap();
            // While the price moves, the votes are as old as each venue's budget makes them: 4 s at the slowest.
            if begun.elapsed() > ms(over_ms + 4_500) {
                slide.path_off = slide.path_off.max(off);
                slide.paths_seen += 1;
            }
        }
        tokio::time::sleep(ms(20)).await;
    }
    engine.shutdown().await;
    slide
}

#[test]
fn a_stablecoin_that_slides_or_falls_does_not_take_the_rate_along() {
    paused(async {
        let slow = slide(0, 10_000, 20_000).await;
        assert!(slow.moved <= 100 && slow.refused_longest <= ms(2_000), "{} {:?}", slow.moved, slow.refused_longest);
        assert!(slow.path_off <= 50 && slow.paths_seen > 100, "{} {}", slow.path_off, slow.paths_seen);
        for after_ms in [0, 90, 170, 260, 340, 430, 1_010, 2_020] {
            let fast = slide(after_ms, 0, 10_000).await;
            assert!(fast.moved <= 100, "after {after_ms} ms: moved by {} ten-thousandths", fast.moved);
            assert!(fast.path_off <= 50 && fast.paths_seen > 100, "{} {}", fast.path_off, fast.paths_seen);
        }
    });
}

#[test]
fn while_a_stablecoin_slides_its_price_is_asked_for_ahead_of_its_turn_within_the_budgets() {
    paused(async {
        let sim = Sim::new((20, 60));
        let engine = sim.builder().rates(["BTC-USD", "ETH-USD", "SOL-USD"]).poll(ms(500)).start().unwrap();
        tokio::time::sleep(ms(60_000)).await;
        let limited = VENUES.iter().filter(|venue| venue.profile().budget.per <= ms(60_000)).map(|venue| venue.profile());
        let asked: Vec<(&str, u64)> = limited.clone().map(|profile| (profile.id, sim.requests(profile.id))).collect();
        // Polled in turn, Kraken's word is up to two seconds old and Bitfinex's four: the middle of all would be off by more than two per cent.
        followed(&sim, &engine, Num::new(95, -4)).await;
        for ((id, before), profile) in asked.into_iter().zip(limited) {
            let windows = ms(12_000).as_millis().div_ceil(profile.budget.per.as_millis()) as u64;
            let weight = sim.requests(id) - before;
            assert!(weight <= u64::from(profile.budget.weight) * windows, "{id}: {weight}");
        }
        let halfway = sim.requests("kraken");
        tokio::time::sleep(ms(60_000)).await;
        assert_eq!(sim.requests("kraken") - halfway, 30, "once it rests, each waits for its turn");
        engine.shutdown().await;
    });
}

#[test]
fn where_no_budget_is_in_the_way_a_sliding_stablecoins_price_is_within_half_a_per_cent() {
    paused(async {
        let sim = Sim::new((50, 300));
        let engine = sim.unlimited().rates(["BTC-USD", "ETH-USD", "SOL-USD"]).poll(ms(500)).start().unwrap();
        tokio::time::sleep(ms(60_000)).await;
        followed(&sim, &engine, Num::new(5, -3)).await;
        engine.shutdown().await;
    });
}

/// Takes USDT down to 0.91 over ten seconds, and holds what is told of it against the truth, and BTC-USD against what it was.
async fn followed(sim: &Sim, engine: &Engine, most: Num) {
    let (btc, usdt) = (pair("BTC-USD"), pair("USDT-USD"));
    let begun = engine.latest_rate(&btc).unwrap().receipt.outcome.rate.unwrap();
    let control = serde_json::from_str(r#"{"prices":{"USDT-USD":"0.91"},"over_ms":10000}"#).unwrap();
    sim.world.control(&control, sim.clock.now()).unwrap();
    let mut worst = Num::ZERO;
    for _ in 0..240 {
        tokio::time::sleep(ms(50)).await;
        let truth = Num::from(sim.world.truth(sim.clock.now()).prices[&usdt]);
        let outcome = &engine.latest_rate(&btc).unwrap().receipt.outcome;
        let said = outcome.conversions.iter().find(|made| made.pair == usdt).unwrap().usable().unwrap();
        worst = worst.max(said.distance(truth));
        assert!(outcome.rate.unwrap().distance(begun) < begun.times(Num::new(1, -2)), "BTC-USD {:?} from {begun}", outcome.rate);
    }
    assert!(worst < most, "USDT-USD was {worst} from the truth");
}

#[test]
fn who_is_paused_or_fails_is_not_hurried() {
    paused(async {
        let sim = Sim::new((20, 60));
        let engine = sim.builder().rates(["BTC-USD"]).poll(ms(500)).start().unwrap();
        tokio::time::sleep(ms(60_000)).await;
        engine.control("kraken", Control::Pause).await.unwrap();
        sim.faults(r#"{"faults":[{"venue":"bitstamp","fault":"http_500"}]}"#);
        let asked = sim.requests("bitstamp");
        let slide = serde_json::from_str(r#"{"prices":{"USDT-USD":"0.91"},"over_ms":10000}"#).unwrap();
        sim.world.control(&slide, sim.clock.now()).unwrap();
        tokio::time::sleep(ms(10_000)).await;
        // One is polled each 2 s, the other each 500 ms until its breaker opens.
        let kraken = engine.venues().into_iter().find(|venue| venue.id.as_str() == "kraken").unwrap();
        let faults: u64 = kraken.faults.values().sum();
        assert!(faults <= 7, "{faults} faults of one that is paused");
        assert!(sim.requests("bitstamp") - asked <= 21, "{} requests to one that fails", sim.requests("bitstamp") - asked);
        engine.shutdown().await;
    });
}
