//! Sections 5 to 7 of the rule, written a second time: from the history of all passes, in whole numbers, for votes that are whole numbers.

use super::{
    every_seed,
    offers::{START, last, later, pair, price},
};
use fastrand::Rng;
use quorate_actors::{
    model::UnixMs,
    rate::{Class, Label, Memory, Num, Offer, Rules, Status, pass},
};
use std::collections::BTreeMap;

type Votes = BTreeMap<&'static str, i128>;

/// Holds a pass of three votes or more: how each vote stood to the limit, and what became of it.
struct Past {
    at: UnixMs,
    counts: bool,
    half: Vec<&'static str>,
    far: Vec<&'static str>,
    out: Vec<&'static str>,
}

/// Holds everything that was.
#[derive(Default)]
struct History {
    passes: Vec<Past>,
    /// Who is out or cooling, with the price that put it out.
    serving: BTreeMap<&'static str, i128>,
    good: Option<(i128, UnixMs)>,
    /// When the first value was held, the value, and when that was first held.
    hold: Option<(UnixMs, i128, UnixMs)>,
}

/// Holds what a pass must come to; prices are in quarters.
#[derive(Debug, PartialEq)]
struct Wanted {
    status: Status,
    rate: Option<i128>,
    labels: Vec<(&'static str, Label)>,
}

/// Gives the median of numbers times two.
fn twice_median(mut numbers: Vec<i128>) -> i128 {
    numbers.sort_unstable();
    numbers[(numbers.len() - 1) / 2] + numbers[numbers.len() / 2]
}

fn ms(now: UnixMs, then: UnixMs) -> i64 {
    now.0 - then.0
}

impl History {
    /// Tells since when something has been so of a vote in every pass of those that matter, the one at hand last.
    fn since(&self, matters: impl Fn(&Past) -> bool, is_so: impl Fn(&Past) -> bool) -> Option<UnixMs> {
        self.passes.iter().rev().filter(|past| matters(past)).take_while(|past| is_so(past)).last().map(|past| past.at)
    }

    /// Judges three votes or more, given in quarters; `floor` and `cap` in thousandths. Gives the labels, or nothing where it is inconsistent.
    fn judge(&mut self, votes: &Votes, (floor, cap): (i128, i128), now: UnixMs) -> Option<Vec<(&'static str, Label)>> {
        let m = twice_median(votes.values().copied().collect()) / 2;
        let mad = twice_median(votes.values().map(|vote| (vote - m).abs()).collect()) / 2;
        // The limit, times a thousand times the median.
        let limit = (10_000 * mad).clamp(floor * m, cap * m);
        let within = |distance: i128, of: i128, share: i128| distance * 1000 * m * share <= limit * of;
        let half = |vote: i128| within((vote - m).abs(), m, 2);
        let who = |is_so: &dyn Fn(i128) -> bool| votes.iter().filter(|(_, vote)| is_so(**vote)).map(|(name, _)| *name).collect::<Vec<_>>();

        let free: Vec<i128> = votes.iter().filter(|(name, _)| !self.serving.contains_key(*name)).map(|(_, vote)| *vote).collect();
        let most = free.iter().filter(|vote| half(**vote)).count() * 2 > free.len();
        let is_far = |vote: i128| vote > 3 * m || vote * 3 < m;
        self.passes.push(Past { at: now, counts: false, half: who(&half), far: who(&is_far), out: Vec::new() });
        for (name, vote) in votes {
            let Some(then) = self.serving.get(name) else { continue };
            let since = self.since(|_| true, |past| past.half.contains(name));
            let came_to_it = half(*vote) && most && within((vote - then).abs(), *then, 1);
            if came_to_it || since.is_some_and(|since| ms(now, since) >= 60_000) {
                self.serving.remove(name);
            }
        }

        let out = who(&|vote| !within((vote - m).abs(), m, 1));
        let cooling: Vec<&str> = votes.keys().copied().filter(|name| self.serving.contains_key(name) && !out.contains(name)).collect();
        let s = votes.len() - out.len() - cooling.len();
        if s == 0 || 2 * (s + cooling.len()) <= votes.len() {
            return None;
        }
        let past = self.passes.last_mut().unwrap();
        (past.counts, past.out) = (true, out.clone());
        let mut labels: Vec<(&str, Label)> = cooling.into_iter().map(|name| (name, Label::Cooling)).collect();
        for name in out {
            self.serving.entry(name).or_insert(votes[name]);
            let since = self.since(|past| past.counts, |past| past.far.contains(&name));
            let is_unit = (1..12)
                .map(|k| 10i128.pow(k))
                .any(|ten| (votes[name] - m * ten).abs() * 20 <= m * ten || (votes[name] * ten - m).abs() * 20 <= m);
            labels.push((
                name,
                match since {
                    _ if is_unit => Label::UnitSuspect,
                    Some(since) if ms(now, since) > 60_000 => Label::CollisionSuspect,
                    _ => Label::Outlier,
                },
            ));
        }
        labels.sort_by_key(|(name, _)| *name);
        Some(labels)
    }

    /// Gives status, rate and labels before the guard against jumps, and how many votes stand for it.
    fn tally(&mut self, votes: &Votes, band: (i128, i128), now: UnixMs) -> (Status, Option<i128>, Vec<(&'static str, Label)>, usize) {
        let all: Vec<i128> = votes.values().copied().collect();
        let was_out = |name: &&&str| self.passes.iter().any(|past| past.counts && past.out.contains(*name) && ms(now, past.at) < 60_000);
        match all[..] {
            [] => return (Status::Unavailable, None, Vec::new(), 0),
            [_] | [_, _] if votes.keys().any(|name| was_out(&name)) => return (Status::Inconsistent, None, Vec::new(), 0),
            [only] => return (Status::SingleSource, Some(only), Vec::new(), 1),
            [a, b] if (a - b).abs() * 2000 <= band.1 * a.min(b) => return (Status::Degraded, Some((a + b) / 2), Vec::new(), 2),
            [_, _] => return (Status::Inconsistent, None, Vec::new(), 0),
            _ => {}
        }
        let Some(labels) = self.judge(votes, band, now) else { return (Status::Inconsistent, None, Vec::new(), 0) };
        let is_in = |name: &str| labels.iter().all(|(other, _)| *other != name);
        let counted: Vec<i128> = votes.iter().filter(|(name, _)| is_in(name)).map(|(_, vote)| *vote).collect();
        let status = [Status::SingleSource, Status::Degraded, Status::Ok][counted.len().min(3) - 1];
        (status, Some(twice_median(counted.clone()) / 2), labels, counted.len())
    }

    fn pass(&mut self, votes: &Votes, band: (i128, i128), now: UnixMs) -> Wanted {
        let (status, rate, labels, counted) = self.tally(votes, band, now);
        let Some(rate) = rate else {
            let good = self.good.filter(|(_, at)| status == Status::Unavailable && ms(now, *at) <= 60_000);
            let status = if good.is_some() { Status::Stale } else { status };
            return Wanted { status, rate: good.map(|(rate, _)| rate), labels };
        };
        self.hold = self.hold.filter(|(since, ..)| ms(now, *since) < 60_000);
        if let Some((good, _)) = self.good
            && (rate - good).abs() * 4 > good
            && counted < 5
        {
            let (since, value, value_since) = self.hold.unwrap_or((now, rate, now));
            let confirms = (rate - value).abs() * 1000 <= band.1 * value;
            let passes = ms(now, since) >= 5_000 || confirms && ms(now, value_since) >= 1_000;
            if !passes {
                self.hold = Some(if confirms { (since, value, value_since) } else { (since, rate, now) });
                return Wanted { status: Status::Held, rate: Some(good), labels };
            }
        }
        (self.hold, self.good) = (None, Some((rate, now)));
        Wanted { status, rate: Some(rate), labels }
    }
}

/// Draws votes around a level: many at it, some at the very edges of what the rule asks, some far away.
fn draw(rng: &mut Rng, level: u64) -> BTreeMap<&'static str, u64> {
    let at = |percent: u64| level / 1000 * percent;
    let present = [9, 8, 5][rng.usize(..3)];
    let names: Vec<&str> = ["a", "b", "c", "d", "e", "f"].into_iter().filter(|_| rng.u8(..10) < present).collect();
    let wild = rng.u8(..4);
    let vote = |rng: &mut Rng| {
        if rng.u8(..8) > wild {
            return level + rng.u64(..3) * (rng.u64(..40) / 39);
        }
        match rng.u8(..4) {
            0 => at([990, 1010, 980, 1020, 1025, 950, 1050, 970, 1030, 985, 1015, 900, 1100, 995][rng.usize(..14)]) + rng.u64(..2),
            1 => at([300, 333, 334, 3000, 3001, 4000, 10_000, 100, 10_500, 10_501, 95][rng.usize(..11)]),
            2 => at(rng.u64(900..1100)),
            _ => rng.u64(1..level * 20),
        }
    };
    names.into_iter().map(|name| (name, vote(rng))).collect()
}

#[test]
fn a_second_writing_of_the_rule_agrees() {
    let reached = every_seed(|rng, reached| {
        let class = Class::ALL[rng.usize(..3)];
        let (band, rules) = ([(20, 50), (30, 100), (5, 10)][class as usize], Rules::of(class));
        let (market, mut level, mut now) = (pair("ABC", "USD"), 100_000 * rng.u64(1..9), START);
        let (mut history, mut memory) = (History::default(), Memory::default());
        let steps: &[u64] = [&[1, 400, 600, 1_000, 2_000][..], &[1_000, 19_999, 20_001, 40_000, 59_999, 60_000, 60_001]][rng.usize(..2)];
        for number in 0..30u64 {
            let votes = if rng.u8(..16) == 0 { BTreeMap::new() } else { draw(rng, level) };
            // Another volume each time, so that none is frozen.
            let offer = |(name, vote): (&&'static str, &u64)| -> Offer {
                let mut offer = last(name, market, price(*vote, 0), now);
                offer.ticker.base_volume = quorate_actors::model::Amount::new(number.into());
                offer
            };
            let outcome = pass(market, &rules, votes.iter().map(offer).collect(), now, &mut memory);
            let wanted = history.pass(&votes.iter().map(|(name, vote)| (*name, i128::from(*vote) * 4)).collect(), band, now);
            let labels = outcome.tally.votes.iter().zip(&outcome.tally.labels);
            let labels: Vec<(&str, Label)> = labels.filter_map(|(vote, label)| Some((&*vote.operator, (*label)?))).collect();
            let rate = wanted.rate.map(|rate| Num::new(u64::try_from(rate).unwrap(), 0).half().half());
            let got = (outcome.status, outcome.rate, labels);
            assert_eq!(got, (wanted.status, rate, wanted.labels), "pass {number} at {now}: {outcome:?}");
            reached.note_outcome(&outcome);
            now = later(now, steps[rng.usize(..steps.len())]);
            if rng.u8(..6) == 0 {
                level = (level / 100 * [60, 74, 75, 80, 98, 99, 101, 102, 105, 125, 126, 140][rng.usize(..12)]).clamp(10_000, 100_000_000);
            }
        }
    });
    reached.holds_all(Status::ALL.into_iter().map(Status::slug));
    reached.holds_all(Label::ALL.into_iter().map(Label::slug));
}
