//! What must not matter does not: the order of quotes, and the place of the point.

use super::{every_seed, offers::price_of, world::world};
use quorate_actors::{
    model::{Pair, Price, Ticker},
    rate::{Decision, Memory, Num, Offer, Outcome, Row, pass},
};
use rust_decimal::Decimal;

/// Tells whether two passes came to the same in every respect.
fn are_same(one: &Outcome, other: &Outcome) -> bool {
    let row = |row: &Row| {
        let Offer { member, pair, ticker, received, .. } = row.offer.clone();
        ((member, pair, ticker, received), (row.is_base, row.decision, row.price, row.converted, row.path))
    };
    let whole = |it: &'_ Outcome| (it.status, it.rate, it.last_good, it.tally.clone(), it.paths.clone(), it.conversions.clone());
    one.rows.iter().map(row).eq(other.rows.iter().map(row)) && whole(one) == whole(other) && one.before == other.before
}

#[test]
fn the_order_of_quotes_does_not_matter_and_the_newest_of_a_market_counts() {
    let reached = every_seed(|rng, reached| {
        let world = world(rng);
        let (mut memory, mut other) = (Memory::default(), Memory::default());
        for (now, offers) in world.frames {
            let mut shuffled = offers.clone();
            rng.shuffle(&mut shuffled);
            let outcome = pass(world.market, &world.rules, offers.clone(), now, &mut memory);
            let again = pass(world.market, &world.rules, shuffled, now, &mut other);
            assert!(are_same(&outcome, &again), "{outcome:?}\n{again:?}");
            assert_eq!(memory, other);
            for row in &outcome.rows {
                let is_same = |offer: &&Offer| offer.member.venue == row.offer.member.venue && offer.pair == row.offer.pair;
                let all: Vec<&Offer> = offers.iter().filter(is_same).collect();
                let newest = all.iter().map(|offer| offer.received).max().unwrap();
                let prices = all.iter().filter(|offer| offer.received == newest).filter_map(|offer| price_of(offer));
                assert_eq!((row.offer.received, price_of(&row.offer)), (newest, prices.min()), "{all:?}");
                reached.note(if all.len() > 1 { "several" } else { "one" });
            }
            reached.note_outcome(&outcome);
        }
    });
    reached.holds_all(["several", "one", "ok", "in", "outlier", "cooling", "no_conversion"]);
}

/// Moves the point of all prices of the base by so many places.
fn moved(offer: &Offer, market: Pair, places: i32) -> Offer {
    let by = if offer.pair.base == market.base { places } else { -places };
    let ten = Decimal::from(10u64.pow(by.unsigned_abs()));
    let moved = |price: Option<Price>| {
        let number = price?.get();
        Some(Price::new(if by < 0 { number / ten } else { number * ten }).expect("the price stays one"))
    };
    let Ticker { bid, ask, last, .. } = offer.ticker;
    let ticker = Ticker { bid: moved(bid), ask: moved(ask), last: moved(last), ..offer.ticker };
    if offer.pair.base == market.base || offer.pair.quote == market.base { Offer { ticker, ..offer.clone() } } else { offer.clone() }
}

#[test]
fn the_place_of_the_point_does_not_matter() {
    let reached = every_seed(|rng, reached| {
        let (world, places) = (world(rng), rng.i32(-4..=4));
        let (mut memory, mut other) = (Memory::default(), Memory::default());
        for (now, offers) in world.frames {
            let elsewhere = offers.iter().map(|offer| moved(offer, world.market, places)).collect();
            let outcome = pass(world.market, &world.rules, offers, now, &mut memory);
            let there = pass(world.market, &world.rules, elsewhere, now, &mut other);
            let decisions = |rows: &[Row]| -> Vec<Decision> { rows.iter().map(|row| row.decision).collect() };
            assert_eq!(decisions(&outcome.rows), decisions(&there.rows));
            let here: Option<Num> = outcome.rate.map(|rate| rate.shifted(places));
            assert_eq!((outcome.status, here), (there.status, there.rate), "{places}: {outcome:?}\n{there:?}");
            reached.note_outcome(&outcome);
            reached.note_if(places < 0 && here.is_some(), "to the left");
            reached.note_if(places > 0 && here.is_some(), "to the right");
        }
    });
    let statuses = ["ok", "degraded", "single_source", "held", "stale", "inconsistent", "unavailable"];
    reached.holds_all(["to the left", "to the right", "cooling", "frozen", "unit_suspect"].into_iter().chain(statuses));
}
