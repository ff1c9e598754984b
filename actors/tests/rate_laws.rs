//! The laws of the rule: what holds of every rate, over random worlds. A failing case names its seed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

#[path = "rate_laws/absurd.rs"]
mod absurd;
#[path = "rate_laws/honest.rs"]
mod honest;
#[path = "rate_laws/jump.rs"]
mod jump;
#[path = "rate_laws/offers.rs"]
mod offers;
#[path = "rate_laws/reasons.rs"]
mod reasons;
#[path = "rate_laws/same.rs"]
mod same;
#[path = "rate_laws/second.rs"]
mod second;
#[path = "rate_laws/world.rs"]
mod world;

use fastrand::Rng;
use quorate_actors::rate::Outcome;
use std::{collections::BTreeMap, thread};

/// How many cases each law tries.
fn seeds() -> u64 {
    std::env::var("QUORATE_SEEDS").map_or(1000, |n| n.parse().expect("QUORATE_SEEDS is a number"))
}

/// Names the seed of a case that fails.
struct Named(u64);

impl Drop for Named {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("the seed is {}", self.0);
        }
    }
}

/// Tries a law with every seed, and counts what it reached.
fn every_seed(mut law: impl FnMut(&mut Rng, &mut Reached)) -> Reached {
    let mut reached = Reached::default();
    for seed in 0..seeds() {
        let named = Named(seed);
        law(&mut Rng::with_seed(seed), &mut reached);
        drop(named);
    }
    reached
}

/// Counts how often a law came upon what.
#[derive(Debug, Default)]
struct Reached(BTreeMap<&'static str, u64>);

impl Reached {
    fn note(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }

    fn note_if(&mut self, is_so: bool, what: &'static str) {
        if is_so {
            self.note(what);
        }
    }

    /// Notes status, decisions and labels of a pass.
    fn note_outcome(&mut self, outcome: &Outcome) {
        self.note(outcome.status.slug());
        outcome.rows.iter().for_each(|row| self.note(row.decision.slug()));
    }

    /// A law that never came upon what it is about says nothing.
    fn holds_all<'a>(&self, wanted: impl IntoIterator<Item = &'a str>) {
        let missing: Vec<&str> = wanted.into_iter().filter(|what| !self.0.contains_key(what)).collect();
        assert!(missing.is_empty(), "never reached: {missing:?}; reached: {:?}", self.0);
    }
}
