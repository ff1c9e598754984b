//! When all move together, the new rate is published: at once, or a second later.

use super::{
    every_seed,
    offers::{START, last, later, pair, price},
};
use quorate_actors::{
    model::UnixMs,
    rate::{Class, Memory, Num, Offer, Outcome, Rules, Status, pass},
};

/// How much of the older rate a jump is, in hundredths, at most where it needs no confirmation.
fn free_percent(base: &str) -> u64 {
    if base == "EUR" { 10 } else { 25 }
}

#[test]
fn a_move_of_all_is_published_at_once_or_a_second_later() {
    let reached = every_seed(|rng, reached| {
        let base = ["ABC", "EUR"][rng.usize(..2)];
        let (market, rules) = (pair(base, "USD"), Rules::of(Class::ALL[rng.usize(..3)]));
        // Within half of the narrowest floor of each other, and divisible by a thousand.
        let (count, low) = (rng.usize(1..9), rng.u64(10_000..1_000_000));
        let votes: Vec<u64> = (0..count).map(|_| (low + rng.u64(..=low / 500)) * 1000).collect();
        // In thousandths; the edges of what is a jump among them.
        let factor = [rng.u64(1..5000), rng.u64(1..1500), 750, 749, 1250, 1251, 900, 899, 1100, 1101][rng.usize(..10)];
        let run = |factor: u64, now: UnixMs, memory: &mut Memory| -> Outcome {
            let offer = |(at, vote): (usize, &u64)| -> Offer { last(&format!("v{at}"), market, price(vote * factor / 1000, 6), now) };
            pass(market, &rules, votes.iter().enumerate().map(offer).collect(), now, memory)
        };

        let (mut memory, mut now) = (Memory::default(), START);
        let old = run(1000, now, &mut memory);
        let fresh = run(factor, now, &mut Memory::default());
        let (old_rate, new_rate) = (old.rate.unwrap(), fresh.rate.unwrap());
        assert!(Num::cmp_products(old_rate, Num::new(factor, -3), new_rate, Num::ONE).is_eq(), "{old_rate} {factor} {new_rate}");

        now = later(now, rng.u64(..100_000));
        let (mut outcome, began) = (run(factor, now, &mut memory), now);
        let free = Num::cmp_products(new_rate.distance(old_rate), Num::ONE, Num::new(free_percent(base), -2), old_rate).is_le();
        if !free && count < 5 {
            while now.since(began).as_millis() < 1000 {
                assert_eq!((outcome.status, outcome.rate), (Status::Held, Some(old_rate)), "{outcome:?}");
                now = later(now, [rng.u64(1..400), 1000, rng.u64(1000..59_000)][rng.usize(..3)]);
                outcome = run(factor, now, &mut memory);
            }
            reached.note("held");
        } else {
            reached.note(if free { "no jump" } else { "a jump of five" });
        }
        assert_eq!((outcome.status, outcome.rate), (fresh.status, fresh.rate), "{outcome:?}");
        assert!(memory.marks.is_empty() && memory.hold.is_none(), "{memory:?}");
        reached.note_outcome(&outcome);
    });
    reached.holds_all(["held", "no jump", "a jump of five", "ok", "degraded", "single_source"]);
}
