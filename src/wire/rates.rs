//! Bodies about rates, besides receipts: those write themselves.

use super::{each, field, push_bool, push_count, push_millis, push_null, push_str, push_text, push_time, quoted};
use bytes::Bytes;
use quorate_actors::{
    model::{Pair, UnixMs},
    rate::{LeftOut, Leg, Num, Receipt, Step, Taker},
};
use std::time::Duration;

/// Writes of a receipt what is enough for who trusts it: rate, status, age, counts.
pub fn short_rate(receipt: &Receipt) -> Bytes {
    let outcome = &receipt.outcome;
    let mut out = Vec::with_capacity(384);
    head(&mut out, receipt, outcome.as_of);
    field(&mut out, b"age_ms", |out| push_age(out, outcome.age()));
    out.extend_from_slice(b",\"counts\":{\"votes\":");
    push_count(&mut out, outcome.tally.votes.len());
    field(&mut out, b"survivors", |out| push_count(out, outcome.tally.survivors().len()));
    out.push(b'}');
    field(&mut out, b"id", |out| push_str(out, receipt.id()));
    out.push(b'}');
    out.into()
}

/// Holds what every body begins with that is made of a rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Derived<'a> {
    pub(crate) receipt: &'a Receipt,
    /// The time at which the ages in the body are taken.
    pub(crate) as_of: UnixMs,
}

impl Derived<'_> {
    pub(super) fn push(self, out: &mut Vec<u8>) {
        head(out, self.receipt, self.as_of);
        field(out, b"receipt", |out| push_str(out, self.receipt.id()));
    }
}

/// Opens an object with what a rate is and what it is worth.
fn head(out: &mut Vec<u8>, receipt: &Receipt, as_of: UnixMs) {
    let outcome = &receipt.outcome;
    out.extend_from_slice(b"{\"pair\":");
    push_pair(out, outcome.pair);
    field(out, b"base", |out| push_str(out, outcome.pair.base.as_str()));
    field(out, b"quote", |out| push_str(out, outcome.pair.quote.as_str()));
    field(out, b"status", |out| push_str(out, outcome.status.slug()));
    field(out, b"rate", |out| push_num(out, outcome.rate));
    field(out, b"simulated", |out| push_bool(out, receipt.simulated));
    field(out, b"as_of", |out| push_time(out, as_of));
}

/// Pushes a number of the rate as a text, or null.
pub(super) fn push_num(out: &mut Vec<u8>, number: Option<Num>) {
    match number {
        Some(number) => quoted(out, |out| number.push(out)),
        None => push_null(out),
    }
}

pub(super) fn push_pair(out: &mut Vec<u8>, pair: Pair) {
    push_str(out, &pair.to_string());
}

pub(super) fn push_age(out: &mut Vec<u8>, age: Option<Duration>) {
    match age {
        Some(age) => push_millis(out, age),
        None => push_null(out),
    }
}

/// Pushes what a taker pays, and whose word that is, as three fields.
pub(super) fn fee_fields(out: &mut Vec<u8>, taker: Option<Taker>) {
    field(out, b"fee", |out| push_num(out, taker.map(|taker| taker.rate)));
    field(out, b"fee_source", |out| push_text(out, taker.map(|taker| taker.source.slug())));
    field(out, b"fee_read", |out| push_text(out, taker.and_then(|taker| taker.source.read())));
}

/// Pushes which markets have no part, each with its reason.
pub(super) fn excluded(out: &mut Vec<u8>, left_out: &[LeftOut<'_>]) {
    out.extend_from_slice(b",\"excluded\":[");
    each(out, left_out, |out, left| {
        out.extend_from_slice(b"{\"venue\":");
        push_str(out, left.venue.as_str());
        field(out, b"pair", |out| push_pair(out, left.pair));
        field(out, b"reason", |out| push_str(out, left.reason));
        out.push(b'}');
    });
    out.push(b']');
}

/// Pushes the way from one asset to another.
pub(super) fn push_legs(out: &mut Vec<u8>, legs: impl IntoIterator<Item = Leg>) {
    out.push(b'[');
    each(out, legs, |out, leg| {
        out.extend_from_slice(b"{\"from\":");
        push_str(out, leg.from.as_str());
        field(out, b"to", |out| push_str(out, leg.to.as_str()));
        field(out, b"rate", |out| push_num(out, Some(leg.rate)));
        field(out, b"pair", |out| push_pair(out, leg.pair));
        field(out, b"venue", |out| push_text(out, leg.venue.as_ref().map(|venue| venue.as_str())));
        field(out, b"par", |out| push_bool(out, leg.par));
        out.push(b'}');
    });
    out.push(b']');
}

pub(super) fn push_steps(out: &mut Vec<u8>, steps: &[Step]) {
    push_legs(out, steps.iter().map(Leg::of_step));
}
