//! Bodies about rates, besides receipts: those write themselves.

use super::{field, push_bool, push_count, push_millis, push_null, push_str, push_time, quoted};
use bytes::Bytes;
use quorate_actors::rate::{Num, Receipt};

/// Writes of a receipt what is enough for who trusts it: rate, status, age, counts.
pub fn short_rate(receipt: &Receipt) -> Bytes {
    let outcome = &receipt.outcome;
    let mut out = Vec::with_capacity(384);
    out.extend_from_slice(b"{\"pair\":");
    push_str(&mut out, &outcome.pair.to_string());
    field(&mut out, b"base", |out| push_str(out, outcome.pair.base.as_str()));
    field(&mut out, b"quote", |out| push_str(out, outcome.pair.quote.as_str()));
    field(&mut out, b"status", |out| push_str(out, outcome.status.slug()));
    field(&mut out, b"rate", |out| push_num(out, outcome.rate));
    field(&mut out, b"simulated", |out| push_bool(out, receipt.simulated));
    field(&mut out, b"as_of", |out| push_time(out, outcome.as_of));
    field(&mut out, b"age_ms", |out| match outcome.age() {
        Some(age) => push_millis(out, age),
        None => push_null(out),
    });
    out.extend_from_slice(b",\"counts\":{\"votes\":");
    push_count(&mut out, outcome.tally.votes.len());
    field(&mut out, b"survivors", |out| push_count(out, outcome.tally.survivors().len()));
    out.push(b'}');
    field(&mut out, b"id", |out| push_str(out, receipt.id()));
    out.push(b'}');
    out.into()
}

/// Pushes a number of the rate as a text, or null.
pub(super) fn push_num(out: &mut Vec<u8>, number: Option<Num>) {
    match number {
        Some(number) => quoted(out, |out| number.push(out)),
        None => push_null(out),
    }
}
