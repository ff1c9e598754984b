//! Random worlds: venues with quirks, conversions with gaps, and quotes with every fault there is.

use super::offers::{START, later, pair};
use fastrand::Rng;
use quorate_actors::{
    model::{Amount, Asset, Pair, Price, Source, Ticker, UnixMs, VenueId},
    rate::{Class, Offer, Rules},
    venue::{Basis, Member, Region, TimeOf},
};
use rust_decimal::Decimal;
use std::{sync::Arc, time::Duration};

/// Holds a pair, its rule, and what comes in pass after pass.
pub(crate) struct World {
    pub(crate) market: Pair,
    pub(crate) rules: Rules,
    pub(crate) frames: Vec<(UnixMs, Vec<Offer>)>,
}

const MARKETS: [(&str, &str, Class); 6] = [
    ("BTC", "USD", Class::Major),
    ("ETH", "EUR", Class::Major),
    ("ABC", "USDT", Class::Other),
    ("USDT", "USD", Class::Peg),
    ("BTC", "KRW", Class::Other),
    ("EUR", "USD", Class::Other),
];

/// Currencies, what they are worth in millionths of a dollar, and in which markets of each they are traded.
const WORTH: [(&str, u64, &[&str]); 8] = [
    ("USD", 1_000_000, &["EUR"]),
    ("EUR", 1_100_000, &["USD"]),
    ("USDT", 999_000, &["USD", "EUR"]),
    ("USDC", 980_000, &["USD", "USDT"]),
    ("BRL", 200_000, &["USDT", "EUR"]),
    ("KRW", 700, &["USD", "USDT"]),
    ("BTC", 60_000_000_000, &["USD", "USDT", "BRL"]),
    ("XYZ", 3_000_000, &[]),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quirk {
    None,
    /// So many hundredths of the price.
    Off(u64),
    /// It says what it said first.
    Stuck,
}

/// Holds who quotes what, and how.
struct Quoter {
    member: Arc<Member>,
    pair: Pair,
    /// What one of the pair's base is worth in its quote, in millionths.
    worth: Decimal,
    quirk: Quirk,
    first: Option<Ticker>,
    has_time: bool,
}

fn worth(code: &str) -> Decimal {
    let known = WORTH.iter().find(|(known, ..)| *known == code);
    Decimal::from(known.map_or(5_000_000, |(_, worth, _)| *worth))
}

/// Makes an id; some venues have an operator in common, and some stand behind a wall.
fn member(rng: &mut Rng, name: String) -> Member {
    let operator = if rng.u8(..6) == 0 { "group".into() } else { name.as_str().into() };
    let region = if rng.u8(..12) == 0 { Some([Region::Kr, Region::Tr][rng.usize(..2)]) } else { None };
    let basis = if rng.bool() { Basis::Mid } else { Basis::Last };
    Member { venue: VenueId::new(&name), operator, region, basis, time_of: TimeOf::Answer }
}

fn quoter(rng: &mut Rng, name: String, (base, quote): (&str, &str)) -> Quoter {
    let quirk = match rng.u8(..12) {
        0 => Quirk::Off([103, 107, 96, 9_900, 1, 420][rng.usize(..6)]),
        1 => Quirk::Stuck,
        _ => Quirk::None,
    };
    let (base, quote) = if rng.u8(..8) == 0 { (quote, base) } else { (base, quote) };
    let worth = worth(base) / worth(quote);
    Quoter { member: Arc::new(member(rng, name)), pair: pair(base, quote), worth, quirk, first: None, has_time: rng.bool() }
}

/// Makes those who quote the base, in all kinds of currencies, and those who make the currencies' markets.
fn quoters(rng: &mut Rng, base: &str, target: &str) -> Vec<Quoter> {
    let mut quoters = Vec::new();
    for at in 0..rng.usize(1..9) {
        let other = WORTH[rng.usize(..8)].0;
        let quote = if rng.bool() || other == base { target } else { other };
        let mut quoter = quoter(rng, format!("v{at}"), (base, quote));
        // Upside down only in the target: another's inverse prices another thing.
        if quoter.pair.quote == pair(base, target).base && quote != target {
            quoter = Quoter { pair: pair(base, quote), worth: worth(base) / worth(quote), ..quoter };
        }
        quoters.push(quoter);
    }
    for (code, _, markets) in WORTH.iter().filter(|(code, ..)| *code != base) {
        if rng.u8(..3) == 0 {
            continue;
        }
        for quote in markets.iter().filter(|quote| **quote != base) {
            for at in 0..[0, 0, 1, 2, 2, 3][rng.usize(..6)] {
                quoters.push(quoter(rng, format!("m{at}"), (code, quote)));
            }
        }
    }
    quoters
}

fn priced(number: Decimal) -> Option<Price> {
    number.round_sf(8).and_then(Price::new)
}

fn ticker(rng: &mut Rng, quoter: &mut Quoter, level: Decimal, now: UnixMs) -> Ticker {
    let noise = Decimal::new(rng.i64(9_990..10_011), 4);
    let quirk = match quoter.quirk {
        Quirk::Off(hundredths) if rng.u8(..8) > 0 => Decimal::new(i64::try_from(hundredths).unwrap(), 2),
        _ => Decimal::ONE,
    };
    let price = quoter.worth * level * noise * quirk;
    let half = price * Decimal::new([0, 1, 4, 50, 60][rng.usize(..5)] * i64::from(rng.u8(..4) == 0), 3);
    let is_book = quoter.member.basis == Basis::Mid;
    let time = UnixMs(now.0 - [0, 0, 500, 9_000, 31_000, -5_000, -5_001][rng.usize(..7)] * i64::from(rng.bool()));
    let mut ticker = Ticker {
        bid: priced(price - half).filter(|_| is_book),
        ask: priced(price + half).filter(|_| is_book),
        last: priced(price),
        base_volume: Amount::new(Decimal::from(rng.u32(..3))),
        venue_time: quoter.has_time.then_some(time),
        ..Ticker::default()
    };
    if quoter.quirk == Quirk::Stuck {
        ticker = Ticker { venue_time: ticker.venue_time, ..*quoter.first.get_or_insert(ticker) };
    }
    // Two faults at once, too: the first reason is to be named.
    let mut at_times = || rng.u8(..40) == 0;
    ticker.halted = at_times();
    if at_times() {
        (ticker.bid, ticker.last) = (None, None);
    }
    if at_times() {
        std::mem::swap(&mut ticker.bid, &mut ticker.ask);
    }
    ticker
}

fn frame(rng: &mut Rng, quoters: &mut [Quoter], market: Pair, level: Decimal, now: UnixMs) -> Vec<Offer> {
    let mut offers = Vec::new();
    let silent = rng.u8(..10) == 0;
    let few = rng.u8(..10) == 0;
    for quoter in quoters {
        let is_base = quoter.pair.base == market.base || quoter.pair.quote == market.base;
        let absent = if few { 2 } else { 8 };
        if silent && is_base || rng.u8(..absent) == 0 {
            continue;
        }
        // What is said more than once at the same time may differ.
        for _ in 0..1 + usize::from(rng.u8(..16) == 0) {
            let level = match (quoter.pair.base == market.base, quoter.pair.quote == market.base) {
                (true, _) => level,
                (_, true) => Decimal::ONE / level,
                _ => Decimal::ONE,
            };
            let ticker = ticker(rng, quoter, level, now);
            let received = UnixMs(now.0 - [0, 0, 0, 700, 30_000, 30_001][rng.usize(..6)] * i64::from(rng.u8(..4) == 0));
            let (member, pair) = (Arc::clone(&quoter.member), quoter.pair);
            offers.push(Offer { member, pair, ticker, received, latency: Duration::ZERO, source: Source::Rest });
        }
    }
    rng.shuffle(&mut offers);
    offers
}

pub(crate) fn world(rng: &mut Rng) -> World {
    let (base, target, class) = MARKETS[rng.usize(..MARKETS.len())];
    let mut rules = Rules::of(class);
    let asset = |code| Asset::new(code).unwrap();
    if rng.u8(..5) == 0 {
        rules.par.push((asset(["USDT", "USDC"][rng.usize(..2)]), asset("USD")));
    }
    let market = pair(base, target);
    let mut quoters = quoters(rng, base, target);
    let (mut now, mut level) = (START, Decimal::ONE);
    let mut frames = Vec::new();
    for _ in 0..rng.usize(4..10) {
        frames.push((now, frame(rng, &mut quoters, market, level, now)));
        now = later(now, [1, 200, 1_000, 2_000, 20_000, 40_000, 61_000][rng.usize(..7)]);
        if rng.u8(..4) == 0 {
            let moved = level * Decimal::new([60, 98, 99, 101, 103, 150][rng.usize(..6)], 2);
            level = moved.clamp(Decimal::new(5, 2), Decimal::from(5));
        }
    }
    World { market, rules, frames }
}
