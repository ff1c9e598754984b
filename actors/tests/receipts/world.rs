//! Seeded markets on which everything happens that a rate can meet: operators with several venues, inverse markets, two hops, par, walls, wrong units,
//! jumps, clocks that are off, venues that vanish and come back.

use quorate_actors::{
    model::{Fault, Pair, Price, Reason, Source, Ticker, UnixMs, VenueId},
    rate::{self, Class, Made, MarketMiss, Memory, Offer, Receipt, Rules},
    venue::{Basis, Member, Region, TimeOf},
};
use std::{sync::Arc, time::Duration};

pub(crate) struct World {
    rng: fastrand::Rng,
    pair: Pair,
    rules: Arc<Rules>,
    markets: Vec<Market>,
    /// What one of each asset is worth, in millionths.
    worth: Vec<(&'static str, u64)>,
    memory: Memory,
    now: UnixMs,
}

struct Market {
    member: Arc<Member>,
    pair: Pair,
    /// How the venue is wrong of late: a factor in thousandths.
    skew: u64,
    /// Whether it repeats itself for ever, with new times.
    is_dead: bool,
    said: Option<Ticker>,
    received: UnixMs,
}

const WORTH: [(&str, u64); 8] = [
    ("USD", 1_000_000),
    ("EUR", 1_100_000),
    ("USDT", 999_000),
    ("USDC", 1_000_100),
    ("USD1", 1_000_000),
    ("JPY", 6_600),
    ("KRW", 720),
    ("BTC", 60_000_000_000),
];

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let target = ["USD", "USD", "EUR", "USDT", "JPY"][rng.usize(..5)];
        // Some worlds have few kinds of money, so that enough markets trade each for another.
        let kinds = rng.usize(3..8);
        // And some have no market from the currency in which most is quoted to the target.
        let is_chained = rng.u8(..4) == 0;
        let target = if is_chained { "EUR" } else { target };
        let pair = Pair::new("BTC", target).unwrap();
        let mut rules = Rules::of(Class::ALL[rng.usize(..3)]);
        if rng.bool() {
            rules.par.push((Pair::new("USD1", "USD").unwrap().base, Pair::new("USD1", "USD").unwrap().quote));
        }
        let mut markets = Vec::new();
        for n in 0..rng.usize(1..14) {
            let name = format!("v{n:02}");
            let operator = if rng.u8(..4) == 0 { format!("op\"{}", rng.u8(..3)) } else { name.clone() };
            let member = Arc::new(Member {
                venue: VenueId::new(&name),
                operator: operator.into(),
                region: (rng.u8(..10) == 0).then_some(Region::Kr),
                basis: if rng.u8(..8) == 0 { Basis::Last } else { Basis::Mid },
                time_of: TimeOf::ALL[rng.usize(..4)],
            });
            for _ in 0..rng.usize(1..5) {
                let other = |rng: &mut fastrand::Rng| WORTH[rng.usize(..kinds)].0;
                let (base, quote) = match rng.u8(..10) {
                    _ if is_chained => [("BTC", "USDT"), ("USDT", "USD"), ("EUR", "USD"), ("BTC", "EUR")][rng.usize(..4)],
                    0..4 => ("BTC", target),
                    4..6 => ("BTC", other(&mut rng)),
                    6 => (target, "BTC"),
                    _ => (other(&mut rng), other(&mut rng)),
                };
                let Ok(pair) = Pair::new(base, quote) else { continue };
                if markets.iter().all(|market: &Market| (&market.member.venue, market.pair) != (&member.venue, pair)) {
                    markets.push(Market {
                        member: Arc::clone(&member),
                        pair,
                        skew: 1_000,
                        is_dead: rng.u8(..12) == 0,
                        said: None,
                        received: UnixMs(0),
                    });
                }
            }
        }
        Self {
            rng,
            pair,
            rules: Arc::new(rules),
            markets,
            worth: WORTH.to_vec(),
            memory: Memory::default(),
            now: UnixMs(1_796_036_400_000),
        }
    }

    /// Lets time pass and markets move, and gives the receipt of what follows.
    pub(crate) fn step(&mut self) -> Receipt {
        let rng = &mut self.rng;
        self.now.0 += [0, 200, 500, 1_000, 3_000, 5_000, 20_000, 40_000][rng.usize(..8)];
        let moved = [1_000, 1_000, 1_000, 1_003, 998, 1_020, 1_001, 999, 700, 1_400][rng.usize(..10)];
        self.worth[7].1 = (self.worth[7].1 * moved / 1_000).clamp(1_000_000_000, 1_000_000_000_000);
        let (mut offers, mut misses) = (Vec::new(), Vec::new());
        for market in &mut self.markets {
            if rng.u8(..8) == 0 {
                let fault = match rng.u8(..3) {
                    0 => Fault::new(Reason::Timeout, "no answer within 500 ms"),
                    1 => Fault::said(Reason::Rejected, "code -7: \"say\" é\\\u{1f}"),
                    _ => Fault::new(Reason::Unlisted, ""),
                };
                misses.push(MarketMiss { venue: market.member.venue.clone(), pair: market.pair, fault: Arc::new(fault) });
                continue;
            }
            if rng.u8(..16) == 0 {
                market.skew = [1_000, 1_000, 1_000, 10_000, 100, 3_500, 1_080, 950, 1_000_000][rng.usize(..9)];
            }
            if market.said.is_none() || rng.u8(..5) != 0 {
                let fresh = said(rng, market, &self.worth, self.now);
                let before = market.said.filter(|_| market.is_dead);
                market.said = Some(before.map_or(fresh, |before| Ticker { venue_time: fresh.venue_time, ..before }));
                market.received = UnixMs(self.now.0 - [0, 0, 0, 0, 40, 40, 900, 900, 5_000, 31_000][rng.usize(..10)]);
            }
            offers.push(Offer {
                member: Arc::clone(&market.member),
                pair: market.pair,
                ticker: market.said.unwrap(),
                received: market.received,
                latency: Duration::from_millis(rng.u64(..900)),
                source: Source::Rest,
            });
        }
        rng.shuffle(&mut offers);
        rng.shuffle(&mut misses);
        let outcome = rate::pass(self.pair, &self.rules, offers, self.now, &mut self.memory);
        Receipt::new(outcome, Arc::clone(&self.rules), misses, Made::ALL[rng.usize(..4)], rng.bool())
    }
}

fn said(rng: &mut fastrand::Rng, market: &Market, worth: &[(&str, u64)], now: UnixMs) -> Ticker {
    let of = |asset| u128::from(worth.iter().find(|(name, _)| asset == *name).unwrap().1);
    // Nine decimals, a little off.
    let price = of(market.pair.base) * 1_000_000_000 / of(market.pair.quote) * u128::from(market.skew) / 1_000;
    let price = price * u128::from(rng.u64(999_000..1_001_000)) / 1_000_000;
    let text = |nanos: u128| Price::parse(&format!("{nanos}e-9")).unwrap();
    let half = price * [0, 1, 1, 2, 5, 20, 20, 20, 40, 600][rng.usize(..10)] / 10_000;
    let (mut bid, mut ask) = (text(price - half), text(price + half));
    match rng.u8(..40) {
        0 => std::mem::swap(&mut bid, &mut ask),
        1 => bid = None,
        _ => {}
    }
    Ticker {
        bid,
        ask,
        last: if rng.u8(..6) == 0 { None } else { text(price) },
        venue_time: (rng.u8(..4) != 0)
            .then(|| UnixMs(now.0 - [0, 10, 20, 50, 90, 90, 200, 200, 3_000, 31_000, -4_000, -6_000][rng.usize(..12)])),
        halted: rng.u8(..40) == 0,
        ..Ticker::default()
    }
}
