//! Which votes are too far out to count, and when they are believed again.

use super::{Band, Mark, Marks, Num, Vote, median, rules::MINUTE};
use crate::model::UnixMs;
use std::{cmp::Ordering, sync::Arc};

/// Says why a vote does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// It is a power of ten away from the others.
    UnitSuspect,
    /// It has been over three times the others, or under a third, for over a minute: another coin, perhaps.
    CollisionSuspect,
    /// It is too far out.
    Outlier,
    /// It was out, and has not behaved for long enough.
    Cooling,
}

impl Label {
    /// Every label.
    pub const ALL: [Self; 4] = [Self::UnitSuspect, Self::CollisionSuspect, Self::Outlier, Self::Cooling];

    /// Gives the word for it.
    pub fn slug(self) -> &'static str {
        match self {
            Self::UnitSuspect => "unit_suspect",
            Self::CollisionSuspect => "collision_suspect",
            Self::Outlier => "outlier",
            Self::Cooling => "cooling",
        }
    }
}

/// Holds the middle of votes and how far they lie from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Middle {
    /// The median of all votes.
    pub median: Num,
    /// The median of their distances from it.
    pub mad: Num,
}

/// Holds which votes count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Judged {
    /// For each vote why it does not count; nothing in a pass that is inconsistent.
    pub(super) labels: Vec<Option<Label>>,
    pub(super) inconsistent: bool,
}

/// How near a vote is to the median.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Half,
    Inside,
    Beyond,
}

/// Holds a limit as a fraction of two numbers, so that nothing is lost in a division.
#[derive(Clone, Copy, Debug)]
struct Limit {
    over: Num,
    under: Num,
    /// What it comes to from the median, where a number holds that exactly.
    around: Option<Num>,
}

impl Limit {
    /// Gives clamp(10 · MAD / m, floor, cap).
    fn new(middle: Middle, band: &Band) -> Self {
        let spread = middle.mad.shifted(1);
        let against = |fraction: Num| Num::cmp_products(spread, Num::ONE, fraction, middle.median);
        let at = |fraction: Num| Self { over: fraction, under: Num::ONE, around: fraction.times_exactly(middle.median) };
        if against(band.floor) == Ordering::Less {
            at(band.floor)
        } else if against(band.cap) == Ordering::Greater {
            at(band.cap)
        } else {
            Self { over: spread, under: middle.median, around: Some(spread) }
        }
    }

    /// Compares a distance with the limit taken of a price.
    fn compare(&self, distance: Num, of: Num) -> Ordering {
        Num::cmp_products(distance, self.under, self.over, of)
    }

    fn reach(&self, distance: Num, median: Num) -> Reach {
        let against = |distance: Num| match self.around {
            Some(limit) => distance.cmp(&limit),
            None => self.compare(distance, median),
        };
        if against(distance.doubled()) != Ordering::Greater {
            Reach::Half
        } else if against(distance) != Ordering::Greater {
            Reach::Inside
        } else {
            Reach::Beyond
        }
    }
}

/// Gives the middle of votes, and how far each is from the median; `None` of none.
pub(super) fn middle(votes: &[Vote]) -> Option<(Middle, Vec<Num>)> {
    let middle = median(votes.iter().map(|vote| vote.price))?;
    let distances: Vec<Num> = votes.iter().map(|vote| vote.price.distance(middle)).collect();
    Some((Middle { median: middle, mad: median(distances.iter().copied())? }, distances))
}

/// Judges three votes or more, and remembers.
pub(super) fn judge(votes: &[Vote], middle: Middle, distances: &[Num], band: &Band, marks: &mut Marks, now: UnixMs) -> Judged {
    let limit = Limit::new(middle, band);
    let reaches: Vec<Reach> = distances.iter().map(|distance| limit.reach(*distance, middle.median)).collect();
    let is_marked = |marks: &Marks, vote: &Vote| marks.get(&vote.operator).is_some_and(|mark| mark.put_out.is_some());
    let free = || votes.iter().zip(&reaches).filter(|(vote, _)| !is_marked(marks, vote));
    let behaving = free().filter(|(_, reach)| **reach == Reach::Half).count();
    let most_behave = behaving.saturating_mul(2) > free().count();

    // An absence breaks a minute of good behaviour.
    for (operator, mark) in marks.iter_mut() {
        if find(votes, operator).is_none() {
            mark.inside_since = None;
        }
    }
    for (vote, reach) in votes.iter().zip(&reaches) {
        let Some(mark) = marks.get_mut(&vote.operator) else { continue };
        let Some(put_out) = mark.put_out else { continue };
        mark.inside_since = if *reach == Reach::Half { mark.inside_since.or(Some(now)) } else { None };
        let behaved = mark.inside_since.is_some_and(|since| now.since(since) >= MINUTE);
        let followed = || limit.compare(vote.price.distance(put_out), put_out) != Ordering::Greater;
        if behaved || *reach == Reach::Half && most_behave && followed() {
            (mark.put_out, mark.inside_since) = (None, None);
        }
    }

    let labels: Vec<Option<Label>> = votes
        .iter()
        .zip(&reaches)
        .map(|(vote, reach)| match reach {
            Reach::Beyond => Some(Label::Outlier),
            _ => is_marked(marks, vote).then_some(Label::Cooling),
        })
        .collect();
    let count = |wanted: Option<Label>| labels.iter().filter(|label| **label == wanted).count();
    let (counted, cooling) = (count(None), count(Some(Label::Cooling)));
    let inconsistent = counted == 0 || counted.saturating_add(cooling).saturating_mul(2) <= votes.len();
    if inconsistent {
        return Judged { labels: vec![None; votes.len()], inconsistent };
    }
    Judged { labels: put_out(votes, labels, middle, band, marks, now), inconsistent }
}

/// Puts votes out and names them, in a pass that counts for that.
fn put_out(
    votes: &[Vote],
    mut labels: Vec<Option<Label>>,
    middle: Middle,
    band: &Band,
    marks: &mut Marks,
    now: UnixMs,
) -> Vec<Option<Label>> {
    // What is within half of the median of it is not far.
    let is_wide = band.cap > Num::new(5, -1);
    for (operator, mark) in marks.iter_mut() {
        if find(votes, operator).is_none() {
            mark.far_since = None;
        }
    }
    for (vote, label) in votes.iter().zip(&mut labels) {
        let is_out = *label == Some(Label::Outlier);
        let is_far = (is_out || is_wide) && is_far(vote.price, middle.median);
        if !is_out && !is_far && !marks.contains_key(&vote.operator) {
            continue;
        }
        let mark = marks.entry(Arc::clone(&vote.operator)).or_default();
        // Limits that are set wide may leave in what is far.
        mark.far_since = if is_far { mark.far_since.or(Some(now)) } else { None };
        if !is_out {
            continue;
        }
        mark.put_out = mark.put_out.or(Some(vote.price));
        mark.last_out = Some(now);
        *label = Some(if is_another_unit(vote.price, middle.median) {
            Label::UnitSuspect
        } else if mark.far_since.is_some_and(|since| now.since(since) > MINUTE) {
            Label::CollisionSuspect
        } else {
            Label::Outlier
        });
    }
    let is_of_late = |mark: &Mark| mark.last_out.is_some_and(|at| now.since(at) < MINUTE);
    marks.retain(|_, mark| mark.put_out.is_some() || mark.far_since.is_some() || is_of_late(mark));
    labels
}

fn find<'a>(votes: &'a [Vote], operator: &str) -> Option<&'a Vote> {
    votes.binary_search_by(|vote| (*vote.operator).cmp(operator)).ok().and_then(|at| votes.get(at))
}

/// Tells whether a vote is over three times the median, or under a third of it.
fn is_far(price: Num, median: Num) -> bool {
    let three = Num::new(3, 0);
    let over = Num::cmp_products(price, Num::ONE, three, median) == Ordering::Greater;
    over || Num::cmp_products(price, three, Num::ONE, median) == Ordering::Less
}

/// Tells whether a vote is within 5 % of the median times a power of ten, other than one.
fn is_another_unit(price: Num, median: Num) -> bool {
    // The nearest power of ten is that of the orders of magnitude, or one beside it.
    let orders = price.order().saturating_sub(median.order());
    (-1..=1).map(|beside| orders.saturating_add(beside)).filter(|power| *power != 0).any(|power| {
        let unit = median.shifted(power);
        Num::cmp_products(price.distance(unit), Num::ONE, Num::new(5, -2), unit) != Ordering::Greater
    })
}

/// Tells whether a vote was out in a pass less than a minute ago.
pub(super) fn was_out_of_late(vote: &Vote, marks: &Marks, now: UnixMs) -> bool {
    let last_out = marks.get(&vote.operator).and_then(|mark: &Mark| mark.last_out);
    last_out.is_some_and(|at| now.since(at) < MINUTE)
}
