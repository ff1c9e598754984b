//! The body of `/v1/best/{pair}`: who is best to trade with, side by side.

use super::{
    each, field, push_bool, push_count, push_millis, push_null, push_quoted, push_str, push_text,
    rates::{Derived, excluded, fee_fields, push_num, push_pair, push_steps},
};
use bytes::Bytes;
use quorate_actors::rate::{Num, Ranked, Side, Tops, rank};

/// Holds what is ranked, and how that was asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranking<'a> {
    /// The side; `None`: both.
    pub(crate) side: Option<Side>,
    /// How much of the base there should be.
    pub(crate) amount: Option<Num>,
    pub(crate) fees: bool,
    pub(crate) convert: bool,
    pub(crate) tops: &'a Tops<'a>,
}

/// Writes the body.
pub(crate) fn best(derived: Derived<'_>, ranking: &Ranking<'_>) -> Bytes {
    let Ranking { side, amount, fees, convert, tops } = *ranking;
    let mut out = Vec::with_capacity(tops.tops.len().saturating_mul(480).saturating_add(512));
    derived.push(&mut out);
    field(&mut out, b"side", |out| push_text(out, side.map(Side::slug)));
    field(&mut out, b"amount", |out| push_num(out, amount));
    field(&mut out, b"fees", |out| push_bool(out, fees));
    field(&mut out, b"convert", |out| push_bool(out, convert));
    for each_side in Side::ALL {
        field(&mut out, each_side.slug().as_bytes(), |out| match side {
            Some(other) if other != each_side => push_null(out),
            _ => push_side(out, &rank(&tops.tops, each_side), each_side, amount),
        });
    }
    excluded(&mut out, &tops.left_out);
    // There are no order books to sweep.
    field(&mut out, b"sweep", push_null);
    out.push(b'}');
    out.into()
}

fn push_side(out: &mut Vec<u8>, ranked: &[Ranked<'_>], side: Side, amount: Option<Num>) {
    out.push(b'[');
    each(out, ranked.iter().zip(1..), |out, (row, number)| push_row(out, number, row, side, amount));
    out.push(b']');
}

fn push_row(out: &mut Vec<u8>, number: usize, ranked: &Ranked<'_>, side: Side, amount: Option<Num>) {
    let (top, offer) = (&ranked.top, &ranked.top.row.offer);
    out.extend_from_slice(b"{\"rank\":");
    push_count(out, number);
    field(out, b"venue", |out| push_str(out, offer.member.venue.as_str()));
    field(out, b"pair", |out| push_pair(out, offer.pair));
    field(out, b"price", |out| push_num(out, Some(ranked.price)));
    field(out, b"size", |out| push_num(out, ranked.size));
    fee_fields(out, top.taker);
    field(out, b"price_after_fee", |out| push_num(out, Some(ranked.after_fee)));
    field(out, b"covers", |out| match amount.and_then(|amount| ranked.covers(amount)) {
        Some(covers) => push_bool(out, covers),
        None => push_null(out),
    });
    field(out, b"age_ms", |out| push_millis(out, top.age));
    field(out, b"quoted_price", |out| push_quoted(out, top.quoted(side).map(|price| price.get())));
    field(out, b"path", |out| push_steps(out, top.path.map_or(&[], |path| &path.steps)));
    out.push(b'}');
}
