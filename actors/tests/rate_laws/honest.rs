//! What the many honest say is what is published, or nothing is: whatever fewer others say, and whatever is held against those.

use super::{
    every_seed,
    offers::{START, last, last_of, later, pair, price},
};
use fastrand::Rng;
use quorate_actors::{
    model::{Pair, Price, UnixMs},
    rate::{Class, Good, Hold, Label, Mark, Memory, Num, Offer, Outcome, Rules, Status, pass},
};

const STEPS_MS: [u64; 8] = [0, 1, 300, 1_000, 5_000, 20_000, 59_999, 60_000];

/// Holds what honest votes agree on: prices from `low` to `high`, as far apart as the floor allows, over `10^scale`.
struct Camp {
    class: Class,
    low: u64,
    scale: u32,
}

impl Camp {
    fn new(rng: &mut Rng) -> Self {
        Self { class: Class::ALL[rng.usize(..3)], low: rng.u64(1_000_000..100_000_000), scale: rng.u32(0..=12) }
    }

    /// Gives floor and cap in millionths.
    fn band(&self) -> (u64, u64) {
        match self.class {
            Class::Major => (20_000, 50_000),
            Class::Other => (30_000, 100_000),
            Class::Peg => (5_000, 10_000),
        }
    }

    fn high(&self) -> u64 {
        self.low + self.low * self.band().0 / 1_000_000
    }

    fn honest(&self, rng: &mut Rng) -> u64 {
        match rng.u8(..4) {
            0 => self.low,
            1 => self.high(),
            _ => rng.u64(self.low..=self.high()),
        }
    }

    /// Gives what somebody says who means ill: far, near, just inside, just outside, the same as the last one, or nothing.
    fn hostile(&self, rng: &mut Rng, before: u64) -> u64 {
        let (floor, cap) = self.band();
        let limit = if rng.bool() { floor } else { cap };
        let off = |of: u64| of * limit / 1_000_000;
        match rng.u8(..8) {
            0 => 10u64.pow(rng.u32(..12)) + rng.u64(..9),
            1 => self.low - off(self.low) + rng.u64(..3) - 1,
            2 => self.high() + off(self.high()) + rng.u64(..3) - 1,
            3 => self.low * 10u64.pow(rng.u32(1..4)),
            4 => self.low / 10u64.pow(rng.u32(1..4)),
            5 => self.low * rng.u64(2..6),
            6 => before,
            _ => self.honest(rng) * rng.u64(..2),
        }
    }

    fn offer(&self, venue: &str, mantissa: u64, now: UnixMs) -> Offer {
        last(venue, market(), price(mantissa, self.scale), now)
    }

    fn num(&self, mantissa: u64) -> Num {
        Num::new(mantissa, 0 - i32::try_from(self.scale).unwrap())
    }
}

fn market() -> Pair {
    pair("ABC", "USD")
}

/// Makes the votes of a pass: those of the honest, and fewer others, some of whom have many venues. Gives the honest prices, too.
fn crowd(rng: &mut Rng, camp: &Camp, now: UnixMs) -> (Vec<Offer>, Vec<u64>) {
    let count = rng.usize(1..9);
    let honest: Vec<u64> = (0..count).map(|_| camp.honest(rng)).collect();
    let mut offers: Vec<Offer> = honest.iter().enumerate().map(|(at, price)| camp.offer(&format!("a{at}"), *price, now)).collect();
    let mut before = camp.low * 2;
    for operator in 0..rng.usize(..count) {
        for venue in 0..[1, 1, 30][rng.usize(..3)] {
            before = camp.hostile(rng, before);
            offers.push(last_of(&format!("x{operator}"), camp.offer(&format!("x{operator}-{venue}"), before, now)));
        }
    }
    rng.shuffle(&mut offers);
    (offers, honest)
}

/// Tells whether a rate lies where the honest are.
fn is_honest(rate: Num, honest: &[u64], camp: &Camp) -> bool {
    let (low, high) = (honest.iter().min().unwrap(), honest.iter().max().unwrap());
    camp.num(*low) <= rate && rate <= camp.num(*high)
}

fn is_hostile(operator: &str) -> bool {
    operator.starts_with('x')
}

/// Tells whether some hostile vote has this label, or none.
fn has_hostile(outcome: &Outcome, label: Option<Label>) -> bool {
    outcome.tally.votes.iter().zip(&outcome.tally.labels).any(|(vote, own)| is_hostile(&vote.operator) && *own == label)
}

#[test]
fn fewer_than_half_cannot_move_the_rate_beyond_the_honest() {
    let reached = every_seed(|rng, reached| {
        let camp = Camp::new(rng);
        let (offers, honest) = crowd(rng, &camp, START);
        let outcome = pass(market(), &Rules::of(camp.class), offers, START, &mut Memory::default());
        let rate = outcome.rate.unwrap_or_else(|| panic!("{outcome:?}"));
        assert!(is_honest(rate, &honest, &camp), "{rate} is not among {honest:?}: {:?}", outcome.tally);
        let labels = outcome.tally.votes.iter().zip(&outcome.tally.labels);
        assert!(labels.clone().all(|(vote, label)| is_hostile(&vote.operator) || label.is_none()), "{:?}", outcome.tally);
        reached.note_outcome(&outcome);
        reached.note_if(has_hostile(&outcome, None), "a hostile vote that counts");
    });
    reached.holds_all(["ok", "degraded", "single_source", "in", "outlier", "unit_suspect", "non_positive", "a hostile vote that counts"]);
}

/// Makes a memory in which nothing is held against the honest.
fn prejudiced(rng: &mut Rng, camp: &Camp, now: UnixMs) -> Memory {
    let mut memory = Memory::default();
    let ago = |rng: &mut Rng| Some(UnixMs(now.0 - rng.i64(..70_000))).filter(|_| rng.bool());
    for operator in 0..8 {
        let put_out = Some(camp.num(camp.hostile(rng, camp.low) + 1)).filter(|_| rng.bool());
        let mark = Mark { put_out, inside_since: ago(rng).filter(|_| put_out.is_some()), last_out: ago(rng), far_since: ago(rng) };
        memory.marks.insert(format!("x{operator}").into(), mark);
    }
    let value = |rng: &mut Rng| camp.num(camp.low * rng.u64(1..30) / 10);
    memory.last_good = ago(rng).map(|at| Good { rate: value(rng), at });
    memory.hold = ago(rng).map(|since| Hold { since, value: value(rng), value_since: since });
    memory
}

#[test]
fn what_is_held_against_others_does_not_move_the_rate_beyond_the_honest() {
    let reached = every_seed(|rng, reached| {
        let (mut camp, mut now) = (Camp::new(rng), START);
        let mut memory = prejudiced(rng, &camp, now);
        for _ in 0..5 {
            let (offers, honest) = crowd(rng, &camp, now);
            let outcome = pass(market(), &Rules::of(camp.class), offers, now, &mut memory);
            let hostile = outcome.tally.votes.iter().filter(|vote| is_hostile(&vote.operator)).count();
            // An honest quote may be frozen, and then it is not among the votes.
            if hostile * 2 < outcome.tally.votes.len() {
                let held = outcome.status == Status::Held;
                assert!(held || outcome.rate.is_some_and(|rate| is_honest(rate, &honest, &camp)), "{honest:?}: {outcome:?}");
                assert!(outcome.last_good.is_some(), "{outcome:?}");
                reached.note_outcome(&outcome);
                reached.note_if(has_hostile(&outcome, None), "a hostile vote that counts");
            }
            now = later(now, STEPS_MS[rng.usize(..STEPS_MS.len())]);
            camp.low = (camp.low * [10, 10, 10, 4, 25][rng.usize(..5)] / 10 + 1).clamp(1_000_000, 1_000_000_000);
        }
    });
    reached.holds_all(["ok", "degraded", "single_source", "held", "in", "outlier", "unit_suspect", "collision_suspect", "cooling"]);
    reached.holds_all(["a hostile vote that counts"]);
}

#[test]
fn one_more_vote_in_the_middle_of_a_close_crowd_does_no_harm() {
    let reached = every_seed(|rng, reached| {
        let (camp, rules) = (Camp::new(rng), |camp: &Camp| Rules::of(camp.class));
        let reach = camp.low * camp.band().0 / 1_000_000 / 2;
        let count = rng.usize(3..9);
        let draw = |rng: &mut Rng| camp.low - reach + [0, reach, reach * 2, rng.u64(..=reach * 2)][rng.usize(..4)];
        let offers: Vec<Offer> = (0..count).map(|at| camp.offer(&format!("a{at}"), draw(rng), START)).collect();
        let mut memory = if rng.bool() { Memory::default() } else { prejudiced(rng, &camp, START) };
        // Serving or not, the same are marked before and after; the guard against jumps asks for something else.
        let marks = std::mem::take(&mut memory.marks);
        memory = Memory::default();
        memory.marks = marks.into_iter().map(|(operator, mark)| (operator.replace('x', "a").into(), mark)).collect();
        let (mut fresh, mut again) = (memory.clone(), memory);

        let before = pass(market(), &rules(&camp), offers.clone(), START, &mut fresh);
        let middle = before.tally.middle.unwrap().median;
        let twice = |price: Num| price.distance(middle).doubled();
        let is_close = |price: Num| Num::cmp_products(twice(price), Num::ONE, rules(&camp).band.floor, middle).is_le();
        let close = before.tally.votes.iter().all(|vote| is_close(vote.price));
        reached.note_if(close && before.status != Status::Ok, "not ok before");
        if !close || before.status != Status::Ok {
            return;
        }
        reached.note_if(before.tally.labels.contains(&Some(Label::Cooling)), "one is cooling");
        let more = last("b", market(), Price::parse(&middle.to_string()).unwrap(), START);
        let with: Vec<Offer> = offers.into_iter().chain([more]).collect();
        for (memory, now) in [(&mut again, START), (&mut fresh, later(START, 1))] {
            let after = pass(market(), &rules(&camp), with.clone(), now, memory);
            assert_eq!(after.status, Status::Ok, "{before:?}\n{after:?}");
            assert_eq!(after.tally.middle.unwrap().median, middle);
        }
        reached.note(if count % 2 == 0 { "even" } else { "odd" });
    });
    reached.holds_all(["even", "odd", "one is cooling", "not ok before"]);
}

#[test]
fn three_equal_votes_are_not_inconsistent_for_longer_than_a_minute() {
    let reached = every_seed(|rng, reached| {
        let (mut camp, mut now, mut memory) = (Camp::new(rng), START, Memory::default());
        let rules = Rules::of(camp.class);
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        for _ in 0..rng.usize(..12) {
            let spread = |rng: &mut Rng| if rng.u8(..3) == 0 { camp.hostile(rng, camp.low) } else { camp.low + rng.u64(..9) };
            let offers = names.iter().map(|name| camp.offer(name, spread(rng), now)).collect();
            pass(market(), &rules, offers, now, &mut memory);
            now = later(now, rng.u64(..30_000));
        }
        let began = now;
        while now.since(began).as_secs() < 200 {
            // Always another price, so that none is frozen.
            camp.low += 10 + rng.u64(..10);
            let offers = names.iter().take(3).map(|name| camp.offer(name, camp.low, now)).collect();
            let outcome = pass(market(), &rules, offers, now, &mut memory);
            assert_eq!(outcome.tally.votes.len(), 3);
            let inconsistent = outcome.status == Status::Inconsistent;
            assert!(!inconsistent || now.since(began).as_millis() < 60_000, "{:?} after they began: {outcome:?}", now.since(began));
            reached.note_if(inconsistent, "inconsistent");
            reached.note_if(inconsistent && now.since(began).as_secs() >= 30, "inconsistent for long");
            now = later(now, rng.u64(1..20_000));
        }
        reached.note(if memory.marks.values().all(|mark| mark.put_out.is_none()) { "all are back" } else { "some are away" });
    });
    reached.holds_all(["inconsistent", "inconsistent for long", "all are back", "some are away"]);
}
