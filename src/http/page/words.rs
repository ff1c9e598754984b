//! What a rate is worth, in plain words. `assets/words.js` says the same of the same receipt: the browser's tests compare the two.

use super::markup::{grouped, plain};
use quorate_actors::{
    model::UnixMs,
    rate::{Label, Num, Outcome, Status, Step, Vote},
};
use std::collections::BTreeSet;

/// How many exchanges that were left out are named.
const NAMED_MAX: usize = 3;
/// How many digits of a rate say something to a person.
const DIGITS: u32 = 8;

/// Gives the word for a status and the sign before it.
pub(super) fn status(status: Status) -> (&'static str, &'static str) {
    match status {
        Status::Ok => ("✓", "ok"),
        Status::Degraded => ("◐", "degraded"),
        Status::SingleSource => ("1", "single source"),
        Status::Held => ("‖", "held"),
        Status::Stale => ("◌", "stale"),
        Status::Inconsistent => ("≠", "inconsistent"),
        Status::Unavailable => ("×", "unavailable"),
    }
}

/// Says what a rate is worth and why.
pub(super) fn sentence(outcome: &Outcome) -> String {
    let tally = &outcome.tally;
    let survivors = survivors(outcome);
    let agreed = || format!("{}{}{}.", within(&survivors), converted(outcome, &survivors), left_out(outcome));
    let age = outcome.last_good.map(|good| UnixMs::since(outcome.as_of, good.at).as_secs());
    let last = match (outcome.last_good, age) {
        (Some(good), Some(age)) => format!("; the last good one was {}, {age} s ago", figure(good.rate)),
        _ => String::new(),
    };
    let old = age.map_or_else(String::new, |age| format!(", {age} s old"));
    match outcome.status {
        Status::Ok => format!("{} exchanges agree{}", survivors.len(), agreed()),
        Status::Degraded => format!("only {} exchanges agree{}", survivors.len(), agreed()),
        Status::SingleSource => {
            let only = survivors.first().map(|vote| plain(&vote.operator, 40)).unwrap_or_default();
            format!("only {only} prices it, and nobody confirms that{}{}.", converted(outcome, &survivors), left_out(outcome))
        }
        Status::Held => format!("the price moved too far at once and is not confirmed yet: this is the last good rate{old}."),
        Status::Stale => format!("no quote counts any more: this is the last good rate{old}."),
        Status::Inconsistent => format!("{} exchanges contradict each other, so no rate is given{last}.", tally.votes.len()),
        Status::Unavailable => format!("no quote counts, so no rate is given{last}."),
    }
}

/// Gives the votes that count: none of those that contradict each other.
fn survivors(outcome: &Outcome) -> Vec<&Vote> {
    let votes = if outcome.status == Status::Inconsistent { &[] } else { outcome.tally.votes.as_slice() };
    votes.iter().zip(&outcome.tally.labels).filter(|(_, label)| label.is_none()).map(|(vote, _)| vote).collect()
}

/// Gives a rate as a person reads it.
pub(super) fn figure(rate: Num) -> String {
    let text = rate.to_string();
    let rounded = rust_decimal::Decimal::from_str_exact(&text)
        .ok()
        .and_then(|d| d.round_sf_with_strategy(DIGITS, rust_decimal::RoundingStrategy::MidpointAwayFromZero));
    grouped(&rounded.map_or(text, |d| d.normalize().to_string()))
}

/// Gives ` within 3.1 bps`: from the lowest to the highest, of the lowest.
fn within(survivors: &[&Vote]) -> String {
    let prices = || survivors.iter().map(|vote| vote.price);
    let span = prices().min().zip(prices().max()).and_then(|(low, high)| bps(low, high, low));
    span.map_or_else(String::new, |span| format!(" within {span} bps"))
}

/// Gives how far apart two prices are, in basis points with one decimal.
pub(super) fn bps(a: Num, b: Num, of: Num) -> Option<String> {
    let tenths = a.distance(b).ratio(of, 5)?;
    Some(format!("{}.{}", tenths / 10, tenths % 10))
}

/// Gives `; 8 of them converted through USDT/USD 0.9996`.
fn converted(outcome: &Outcome, survivors: &[&Vote]) -> String {
    let through = survivors.iter().filter(|vote| vote.hops > 0).count();
    if through == 0 {
        return String::new();
    }
    let counted = outcome.rows.iter().filter(|row| row.is_base && row.votes && row.decision.slug() == "in");
    let steps = counted.filter_map(|row| outcome.paths.get(row.path?)).flat_map(|path| &path.steps);
    let step = |step: &Step| {
        let par = if step.par { " by declaration" } else { "" };
        format!("{}/{} {}{par}", step.pair.base, step.pair.quote, figure(step.rate))
    };
    let steps: BTreeSet<String> = steps.map(step).collect();
    format!("; {through} of them converted through {}", listed(&steps.into_iter().collect::<Vec<_>>()))
}

/// Gives `; left out: kraken (outlier)`.
fn left_out(outcome: &Outcome) -> String {
    let tally = &outcome.tally;
    let out = tally.votes.iter().zip(&tally.labels).filter_map(|(vote, label)| Some((vote, (*label)?)));
    let said = |(vote, label): (&Vote, Label)| format!("{} ({})", plain(&vote.operator, 40), label.slug().replace('_', " "));
    let mut named: Vec<String> = out.map(said).collect();
    let more = named.len().saturating_sub(NAMED_MAX);
    if named.is_empty() {
        return String::new();
    }
    named.truncate(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("; left out: {}{more}", named.join(", "))
}

fn listed(words: &[String]) -> String {
    match words {
        [most @ .., last] if !most.is_empty() => format!("{} and {last}", most.join(", ")),
        [only] => only.clone(),
        _ => String::new(),
    }
}
