//! What is said of each market: its quote or why there is none, and of each operator its vote.

use super::{
    super::{AdmissionRules, Decision, Num, Path, Row, admission::counted_time},
    Receipt,
    body::ms_between,
    quoted::OPERATOR,
    section::Section,
    write::Writer,
};
use crate::model::UnixMs;
use std::ops::Range;

/// Writes quotes, and a path's text once for all that take it.
pub(super) struct Quotes<'a> {
    as_of: UnixMs,
    rules: &'a AdmissionRules,
    paths: &'a [Path],
    /// Where each path stands that has been written.
    written: Vec<Option<Range<usize>>>,
}

/// Holds where the numbers of a quote stand of which a vote is made: alone in it, it is the same.
#[derive(Clone)]
pub(super) struct Voted {
    price: Num,
    price_at: Range<usize>,
    distance_at: Range<usize>,
    operator_at: Range<usize>,
}

impl<'a> Quotes<'a> {
    pub(super) fn new(receipt: &'a Receipt) -> Self {
        let paths = receipt.outcome.paths.as_slice();
        Self { as_of: receipt.outcome.as_of, rules: &receipt.rules.admission, paths, written: vec![None; paths.len()] }
    }

    /// Writes a section's quotes, and gives for each vote the numbers of a quote that it is made of.
    pub(super) fn push(&mut self, w: &mut Writer, section: &Section<'_>) -> Vec<Option<Voted>> {
        let mut voted = vec![None; section.tally.map_or(0, |tally| tally.votes.len())];
        let median = section.median();
        w.list(&section.rows, |w, row| self.row(w, row, median, &mut voted));
        voted
    }

    fn row(&mut self, w: &mut Writer, row: &Row, median: Option<Num>, voted: &mut [Option<Voted>]) {
        let (offer, member, ticker) = (&row.offer, &row.offer.member, &row.offer.ticker);
        let counted = counted_time(ticker, member, self.rules).map_or(0, |time| ms_between(time, self.as_of));
        let ([book, last, who, when], operator_len) = row.quoted.pieces(offer);
        w.raw(b"{");
        w.age(ms_between(offer.received, self.as_of).max(counted));
        w.raw(book);
        let price_at = w.noted(|w| w.maybe(row.converted, Writer::num));
        match row.decision {
            Decision::In => w.raw(b",\"decision\":\"in\",\"distance_bps\":"),
            other => {
                w.raw(b",\"decision\":");
                w.word(other.slug());
                w.raw(b",\"distance_bps\":");
            }
        }
        let distance_at = w.noted(|w| w.maybe(row.converted.zip(median), push_distance));
        w.raw(if ticker.halted { b",\"halted\":true,\"hops\":".as_slice() } else { b",\"halted\":false,\"hops\":" });
        w.maybe(row.converted, |w, _| w.count(row.hops(self.paths)));
        w.raw(last);
        w.latency(u64::try_from(offer.latency.as_millis()).unwrap_or(u64::MAX));
        let operator_from = w.len().saturating_add(OPERATOR.len());
        w.raw(who);
        self.path(w, row.path.filter(|_| row.converted.is_some()));
        w.raw(when);
        w.raw(if row.votes { b"true}".as_slice() } else { b"false}" });
        if let (true, Some(place), Some(price)) = (row.votes, row.vote.and_then(|at| voted.get_mut(at)), row.converted) {
            let operator_at = operator_from..operator_from.saturating_add(operator_len);
            *place = Some(Voted { price, price_at, distance_at, operator_at });
        }
    }

    fn path(&mut self, w: &mut Writer, at: Option<usize>) {
        let Some((path, written)) = at.and_then(|at| self.paths.get(at).zip(self.written.get_mut(at))) else { return w.raw(b"[]") };
        match written {
            Some(before) => w.again(before.clone()),
            None => *written = Some(w.noted(|w| push_path(w, path))),
        }
    }
}

fn push_path(w: &mut Writer, path: &Path) {
    w.list(&path.steps, |w, step| {
        w.raw(b"{\"from\":");
        w.asset(step.pair.base);
        w.raw(b",\"par\":");
        w.flag(step.par);
        w.raw(b",\"rate\":");
        w.num(step.rate);
        w.raw(b",\"to\":");
        w.asset(step.pair.quote);
        w.raw(b"}");
    });
}

/// Writes how far a price is from the median in basis points, negative where it is below.
fn push_distance(w: &mut Writer, (price, median): (Num, Num)) {
    // 10^4 for basis points, 10^4 for four decimals.
    let (is_below, distance) = price.apart(median);
    w.maybe(distance.ratio(median, 8), |w, rounded| w.fraction(is_below && rounded != 0, rounded, 4));
}

/// Writes a section's votes, sorted by operator.
pub(super) fn push_votes(w: &mut Writer, section: &Section<'_>, voted: &[Option<Voted>]) {
    let (votes, labels) = section.tally.map(|tally| (tally.votes.as_slice(), tally.labels.as_slice())).unwrap_or_default();
    let median = section.median();
    w.list(votes.iter().zip(labels).zip(voted), |w, ((vote, label), voted)| {
        let same = voted.as_ref().filter(|voted| voted.price == vote.price);
        match label {
            None => w.raw(b"{\"decision\":\"in\",\"distance_bps\":"),
            Some(label) => {
                w.raw(b"{\"decision\":");
                w.word(label.slug());
                w.raw(b",\"distance_bps\":");
            }
        }
        match same {
            Some(voted) => w.again(voted.distance_at.clone()),
            None => w.maybe(median, |w, median| push_distance(w, (vote.price, median))),
        }
        w.raw(b",\"hops\":");
        w.count(vote.hops);
        w.raw(b",\"operator\":");
        match voted {
            Some(voted) => w.again(voted.operator_at.clone()),
            None => w.text(&vote.operator),
        }
        w.raw(b",\"price\":");
        match same {
            Some(voted) => w.again(voted.price_at.clone()),
            None => w.num(vote.price),
        }
        w.raw(b"}");
    });
}

/// Writes why markets of a section gave no quote.
pub(super) fn push_misses(w: &mut Writer, section: &Section<'_>) {
    w.list(&section.misses, |w, miss| {
        w.raw(b"{\"detail\":");
        w.text(&miss.fault.detail);
        w.raw(b",\"pair\":");
        w.pair(miss.pair);
        w.raw(b",\"reason\":");
        w.word(miss.fault.reason.slug());
        w.raw(b",\"venue\":");
        w.text(miss.venue.as_str());
        w.raw(b"}");
    });
}
