//! From votes to a rate or a refusal, and the guard against jumps.

use super::{
    Band, Good, Hold, Label, Memory, Middle, Num, Rules, Vote, median, outlier,
    rules::{CONFIRMED_AFTER, ENOUGH_FOR_A_JUMP, HELD_MAX, MINUTE, jump_max},
};
use crate::model::{Pair, UnixMs};
use std::cmp::Ordering;

/// Tells in one word what a rate is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// Three votes or more agree.
    Ok,
    /// Two agree.
    Degraded,
    /// There is one alone.
    SingleSource,
    /// It jumped, and is not confirmed: the last good rate stands.
    Held,
    /// No vote is left: the last good rate stands, a minute at most.
    Stale,
    /// The votes contradict each other.
    Inconsistent,
    /// There is nothing.
    Unavailable,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 7] =
        [Self::Ok, Self::Degraded, Self::SingleSource, Self::Held, Self::Stale, Self::Inconsistent, Self::Unavailable];

    /// Gives the word for it.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Degraded => "degraded",
            Self::SingleSource => "single_source",
            Self::Held => "held",
            Self::Stale => "stale",
            Self::Inconsistent => "inconsistent",
            Self::Unavailable => "unavailable",
        }
    }
}

/// Holds what a set of votes comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// The votes, sorted by operator.
    pub votes: Vec<Vote>,
    /// For each vote why it does not count.
    pub labels: Vec<Option<Label>>,
    /// Their middle; `None` without votes.
    pub middle: Option<Middle>,
    /// What they come to.
    pub status: Status,
    /// The rate, where they make one.
    pub rate: Option<Num>,
}

impl Tally {
    /// Gives the votes that make the rate: those that are neither out nor cooling, and none in a pass that is inconsistent.
    pub fn survivors(&self) -> Vec<&Vote> {
        let votes = if self.status == Status::Inconsistent { &[] } else { self.votes.as_slice() };
        votes.iter().zip(&self.labels).filter(|(_, label)| label.is_none()).map(|(vote, _)| vote).collect()
    }
}

/// Counts votes, and remembers who was out.
pub(super) fn tally(votes: Vec<Vote>, band: &Band, marks: &mut super::Marks, now: UnixMs) -> Tally {
    let (middle, distances) = outlier::middle(&votes).unzip();
    let mut labels = vec![None; votes.len()];
    let (status, rate) = match (votes.as_slice(), middle) {
        ([], _) | (_, None) => (Status::Unavailable, None),
        ([..], _) if votes.len() < 3 && votes.iter().any(|vote| outlier::was_out_of_late(vote, marks, now)) => (Status::Inconsistent, None),
        ([only], _) => (Status::SingleSource, Some(only.price)),
        ([a, b], _) if agree(a.price, b.price, band) => (Status::Degraded, Some(a.price.mean(b.price))),
        ([_, _], _) => (Status::Inconsistent, None),
        (_, Some(middle)) => {
            let judged = outlier::judge(&votes, middle, &distances.unwrap_or_default(), band, marks, now);
            labels = judged.labels;
            let counted = votes.iter().zip(&labels).filter(|(_, label)| label.is_none());
            match counted.clone().count() {
                _ if judged.inconsistent => (Status::Inconsistent, None),
                // The median of all is known.
                all if all == votes.len() => (Status::Ok, Some(middle.median)),
                count => {
                    let prices: Vec<Num> = counted.map(|(vote, _)| vote.price).collect();
                    let status = match count {
                        1 => Status::SingleSource,
                        2 => Status::Degraded,
                        _ => Status::Ok,
                    };
                    (status, median(prices.iter().copied()))
                }
            }
        }
    };
    Tally { votes, labels, middle, status, rate }
}

/// Tells whether two votes are within half of the cap of each other: (larger − smaller) / smaller ≤ cap / 2.
fn agree(a: Num, b: Num, band: &Band) -> bool {
    Num::cmp_products(a.distance(b).doubled(), Num::ONE, band.cap, a.min(b)) != Ordering::Greater
}

/// Decides what is published, and remembers it.
pub(super) fn publish(tally: &Tally, pair: Pair, rules: &Rules, memory: &mut Memory, now: UnixMs) -> (Status, Option<Num>) {
    let last_good = memory.last_good;
    let Some(rate) = tally.rate else {
        return match (tally.status, last_good) {
            (Status::Unavailable, Some(good)) if now.since(good.at) <= rules.stale => (Status::Stale, Some(good.rate)),
            (status, _) => (status, None),
        };
    };
    let counting = if tally.votes.len() < 3 { tally.votes.len() } else { tally.labels.iter().filter(|label| label.is_none()).count() };
    memory.hold = memory.hold.filter(|hold| now.since(hold.since) < MINUTE);
    let jumped = last_good.filter(|good| counting < ENOUGH_FOR_A_JUMP && is_jump(rate, good.rate, pair));
    if let Some(good) = jumped
        && let Some(hold) = held(memory.hold, rate, &rules.band, now)
    {
        memory.hold = Some(hold);
        return (Status::Held, Some(good.rate));
    }
    memory.hold = None;
    memory.last_good = Some(Good { rate, at: now });
    (tally.status, Some(rate))
}

fn is_jump(rate: Num, last_good: Num, pair: Pair) -> bool {
    Num::cmp_products(rate.distance(last_good), Num::ONE, jump_max(pair), last_good) == Ordering::Greater
}

/// Gives the hold that a jump begins or leaves standing; `None` where it is confirmed, and passes.
fn held(hold: Option<Hold>, rate: Num, band: &Band, now: UnixMs) -> Option<Hold> {
    let Some(hold) = hold else { return Some(Hold { since: now, value: rate, value_since: now }) };
    let confirms = Num::cmp_products(rate.distance(hold.value), Num::ONE, band.cap, hold.value) != Ordering::Greater;
    match confirms {
        _ if now.since(hold.since) >= HELD_MAX => None,
        true if now.since(hold.value_since) >= CONFIRMED_AFTER => None,
        true => Some(hold),
        false => Some(Hold { value: rate, value_since: now, ..hold }),
    }
}
