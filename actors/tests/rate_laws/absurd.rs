//! Nothing that comes in makes the rule panic: neither quotes, nor settings, nor a memory.

use super::{
    Reached, every_seed,
    offers::{START, last, pair, price},
    seeds,
};
use fastrand::Rng;
use quorate_actors::{
    model::{Amount, Asset, Pair, Price, Source, Ticker, UnixMs, VenueId},
    rate::{AdmissionRules, Band, Class, Decision, Good, Hold, Mark, Memory, Num, Offer, Rules, Status, pass},
    venue::{Basis, Member, Region, TimeOf},
};
use std::{sync::Arc, time::Duration};

const CODES: [&str; 10] = ["USD", "EUR", "USDT", "USDC", "BTC", "KRW", "BRL", "A", "ABCDEFGHIJKLMNOP", "0"];

fn asset(rng: &mut Rng) -> Asset {
    Asset::new(CODES[rng.usize(..CODES.len())]).unwrap()
}

/// Makes a pair; of an asset against itself, too, which no text can name.
fn any_pair(rng: &mut Rng) -> Pair {
    Pair { base: asset(rng), quote: asset(rng) }
}

fn any_time(rng: &mut Rng) -> UnixMs {
    let edges = [i64::MIN, i64::MIN + 1, -1, 0, 1, 1_796_036_400_000, i64::MAX - 1, i64::MAX];
    UnixMs(match rng.u8(..9) {
        0 => edges[rng.usize(..8)],
        1 => rng.i64(..),
        2 => 1_796_036_400_000 + rng.i64(-90_000..90_000),
        _ => 1_796_036_400_000,
    })
}

/// Gives a price that a venue may say, from the smallest to the largest, with up to 28 digits.
fn any_price(rng: &mut Rng) -> Option<Price> {
    match rng.u8(..9) {
        0 => price(1, 18),
        1 => price(999_999_999_999_999, 0),
        2 => Price::parse(&format!("{}.{:014}", rng.u64(..99_999_999_999_999), rng.u64(..99_999_999_999_999))).unwrap(),
        3 => None,
        4 => price(rng.u64(..999_999_999_999_999), rng.u32(..19)),
        _ => price(rng.u64(90..111), 0),
    }
}

fn any_amount(rng: &mut Rng) -> Option<Amount> {
    Amount::parse(["", "0", "999999999999999999999999", "0.0000000000000000000000000001"][rng.usize(..4)]).unwrap()
}

/// Gives a number such as a receipt or a setting may have in it.
fn any_num(rng: &mut Rng) -> Num {
    match rng.u8(..4) {
        0 => Num::ZERO,
        1 => "0.9999999999999999999999999999".parse().unwrap(),
        2 => Num::new(rng.u64(90..111), 0),
        _ => Num::new(rng.u64(..), rng.i32(-200..=200)),
    }
}

fn any_member(rng: &mut Rng, venues: usize) -> Member {
    let name = format!("v{}", rng.usize(..venues));
    Member {
        venue: VenueId::new(&name),
        // Now and then an operator without a name, or one whom others belong to as well.
        operator: [&name, &name, &name, "", "v0"][rng.usize(..5)].into(),
        region: [None, None, None, Some(Region::Kr), Some(Region::Ng)][rng.usize(..5)],
        basis: [Basis::Mid, Basis::Last][rng.usize(..2)],
        time_of: [TimeOf::Book, TimeOf::Answer, TimeOf::Trade, TimeOf::None][rng.usize(..4)],
    }
}

fn any_offer(rng: &mut Rng, venues: usize, market: Pair) -> Offer {
    let bid = any_price(rng);
    let ticker = Ticker {
        bid,
        ask: if rng.bool() { bid } else { any_price(rng) },
        last: any_price(rng),
        bid_size: any_amount(rng),
        ask_size: any_amount(rng),
        base_volume: any_amount(rng),
        venue_time: Some(any_time(rng)).filter(|_| rng.bool()),
        halted: rng.u8(..9) == 0,
        ..Ticker::default()
    };
    let pair = if rng.bool() { market } else { any_pair(rng) };
    let latency = [Duration::ZERO, Duration::MAX][rng.usize(..2)];
    let member = Arc::new(any_member(rng, venues));
    Offer { member, pair, ticker, received: any_time(rng), latency, source: Source::Rest }
}

fn any_rules(rng: &mut Rng) -> Rules {
    let span = |rng: &mut Rng| [Duration::ZERO, Duration::from_secs(30), Duration::MAX][rng.usize(..3)];
    // A floor above the cap among them, and none at all.
    let band = |rng: &mut Rng| if rng.bool() { Class::Major.band() } else { Band { floor: any_num(rng), cap: any_num(rng) } };
    Rules {
        class: Class::ALL[rng.usize(..3)],
        band: band(rng),
        peg: band(rng),
        other: band(rng),
        admission: AdmissionRules { max_age: span(rng), future_max: span(rng), trust_venue_time: rng.bool() },
        stale: span(rng),
        // Par in circles, and of an asset with itself.
        par: (0..rng.usize(..5)).map(|_| (asset(rng), asset(rng))).collect(),
        stablecoins: (0..rng.usize(..9)).map(|_| asset(rng)).collect(),
    }
}

fn any_memory(rng: &mut Rng) -> Memory {
    let mut memory = Memory::default();
    for at in 0..rng.usize(..6) {
        let time = |rng: &mut Rng| Some(any_time(rng)).filter(|_| rng.bool());
        let put_out = Some(any_num(rng)).filter(|_| rng.bool());
        let mark = Mark { put_out, inside_since: time(rng), last_out: time(rng), far_since: time(rng) };
        memory.marks.insert(format!("v{at}").into(), mark);
    }
    memory.last_good = Some(Good { rate: any_num(rng), at: any_time(rng) }).filter(|_| rng.bool());
    memory.hold = Some(Hold { since: any_time(rng), value: any_num(rng), value_since: any_time(rng) }).filter(|_| rng.bool());
    memory
}

/// Runs some passes of quotes that nobody should send, and looks whether the answers are such at all.
fn runs(rng: &mut Rng, reached: &mut Reached, most: usize) {
    let (market, rules, mut memory) = (any_pair(rng), any_rules(rng), any_memory(rng));
    let (marked, venues) = (memory.marks.len(), rng.usize(1..=most));
    for _ in 0..3 {
        let offers: Vec<Offer> = (0..rng.usize(..=most)).map(|_| any_offer(rng, venues, market)).collect();
        let count = offers.len();
        let now = any_time(rng);
        let outcome = pass(market, &rules, offers, now, &mut memory);
        assert!(outcome.rows.len() <= count && outcome.tally.votes.len() <= outcome.rows.len());
        assert!(memory.marks.len() <= marked + venues + 1, "{} marks of {venues} venues", memory.marks.len());
        let has_rate = !matches!(outcome.status, Status::Inconsistent | Status::Unavailable);
        assert_eq!(outcome.rate.is_some(), has_rate, "{outcome:?}");
        for row in &outcome.rows {
            assert!(row.price.is_some() || matches!(row.decision, Decision::Refused(_)), "{row:?}");
        }
        memory.shift(rng.i64(..));
        reached.note_outcome(&outcome);
        reached.note_if(outcome.rows.iter().any(|row| row.path.is_some()), "converted");
        reached.note_if(outcome.tally.votes.len() > 5, "many votes");
    }
}

#[test]
fn nothing_that_comes_in_makes_it_panic() {
    let reached = every_seed(|rng, reached| runs(rng, reached, 30));
    reached.holds_all(Status::ALL.into_iter().map(Status::slug));
    let reasons = ["halted", "non_positive", "crossed", "wide", "future", "stale", "out_of_order", "region", "no_conversion", "in"];
    reached.holds_all(reasons.into_iter().chain(["outlier", "unit_suspect", "cooling", "converted", "many votes"]));
}

#[test]
fn thousands_of_quotes_are_too_many_for_nothing() {
    let mut reached = Reached::default();
    for seed in 0..seeds().div_ceil(500) {
        runs(&mut Rng::with_seed(seed), &mut reached, 5_000);
    }
    reached.holds_all(["in", "many votes"]);
}

#[test]
fn there_may_be_as_many_currencies_as_quotes() {
    let (market, count) = (pair("BTC", "USD"), 2_000);
    let of_each = |at: u64| {
        let (code, five) = (format!("X{at}"), price(5, 0));
        let makers = ["b", "c"].map(|maker| last(maker, pair(&code, "USD"), five, START));
        makers.into_iter().chain([last("a", pair("BTC", &code), price(at + 1, 0), START)])
    };
    let offers: Vec<Offer> = (0..count).flat_map(of_each).collect();
    let outcome = pass(market, &Rules::of(Class::Major), offers, START, &mut Memory::default());
    assert_eq!((outcome.status, outcome.rate), (Status::SingleSource, Some(Num::new(count / 2 * 5, 0).plus(Num::new(25, -1)))));
    assert_eq!((outcome.paths.len(), outcome.conversions.len()), (2_000, 2_000));
}
