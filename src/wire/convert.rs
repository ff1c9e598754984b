//! The body of `/v1/convert`: an amount of one asset in another, with the way.

use super::{
    each, field, push_bool, push_null, push_str, push_text, push_time,
    rates::{push_age, push_legs, push_num, push_pair, push_steps},
};
use bytes::Bytes;
use quorate_actors::{
    model::{Asset, UnixMs},
    rate::{Converted, How, Num, Receipt, Status},
};
use std::time::Duration;

/// Holds a conversion, and how it was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Conversion<'a> {
    pub(crate) from: Asset,
    pub(crate) to: Asset,
    pub(crate) amount: Num,
    pub(crate) how: How,
    pub(crate) simulated: bool,
    pub(crate) as_of: UnixMs,
    pub(crate) converted: Converted<'a>,
    /// What it is made of; `None` where both assets are the same.
    pub(crate) receipt: Option<&'a Receipt>,
    /// How old the rate is, or the quote that is traded at.
    pub(crate) age: Option<Duration>,
}

/// Writes the body.
pub(crate) fn conversion(of: &Conversion<'_>) -> Bytes {
    let Conversion { converted, receipt, .. } = of;
    let mut out = Vec::with_capacity(1024);
    out.extend_from_slice(b"{\"from\":");
    push_str(&mut out, of.from.as_str());
    field(&mut out, b"to", |out| push_str(out, of.to.as_str()));
    field(&mut out, b"amount", |out| push_num(out, Some(of.amount)));
    field(&mut out, b"side", |out| push_str(out, of.how.slug()));
    field(&mut out, b"rate", |out| push_num(out, Some(converted.rate)));
    field(&mut out, b"result", |out| push_num(out, Some(of.amount.times(converted.rate))));
    field(&mut out, b"status", |out| push_str(out, receipt.map_or(Status::Ok, |receipt| receipt.outcome.status).slug()));
    field(&mut out, b"simulated", |out| push_bool(out, of.simulated));
    field(&mut out, b"as_of", |out| push_time(out, of.as_of));
    field(&mut out, b"age_ms", |out| push_age(out, of.age));
    let venue = converted.top.map(|top| top.row.offer.member.venue.as_str());
    field(&mut out, b"venue", |out| push_text(out, venue));
    field(&mut out, b"pair", |out| match receipt {
        Some(receipt) => push_pair(out, receipt.outcome.pair),
        None => push_null(out),
    });
    field(&mut out, b"receipt", |out| push_text(out, receipt.map(Receipt::id)));
    field(&mut out, b"path", |out| push_legs(out, converted.legs.iter().cloned()));
    // The ways on which the quotes came that the rate is the middle of; what is traded at has its own path alone.
    let through = receipt.filter(|_| converted.top.is_none());
    out.extend_from_slice(b",\"through\":[");
    each(&mut out, through.into_iter().flat_map(Receipt::paths_used), |out, path| {
        out.extend_from_slice(b"{\"from\":");
        push_str(out, path.from.as_str());
        field(out, b"to", |out| push_text(out, receipt.map(|receipt| receipt.outcome.pair.quote.as_str())));
        field(out, b"rate", |out| push_num(out, Some(path.rate)));
        field(out, b"path", |out| push_steps(out, &path.steps));
        out.push(b'}');
    });
    out.extend_from_slice(b"]}");
    out.into()
}
