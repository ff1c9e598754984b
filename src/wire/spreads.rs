//! The body of `/v1/spreads/{pair}`: every venue's ask against every other's bid.

use super::{
    each, field, push_bool, push_bps, push_millis, push_str,
    rates::{Derived, excluded, fee_fields, push_num},
};
use bytes::Bytes;
use quorate_actors::rate::{Matrix, Top, Tops};

/// Writes the body.
pub(crate) fn spreads(derived: Derived<'_>, fees: bool, tops: &Tops<'_>, matrix: &Matrix) -> Bytes {
    let mut out = Vec::with_capacity(matrix.cells.len().saturating_mul(110).saturating_add(4096));
    derived.push(&mut out);
    field(&mut out, b"fees", |out| push_bool(out, fees));
    out.extend_from_slice(b",\"venues\":[");
    each(&mut out, &tops.tops, push_top);
    out.extend_from_slice(b"],\"spreads\":[");
    let venue = |at: usize| tops.tops.get(at).map_or("", |top| top.row.offer.member.venue.as_str());
    each(&mut out, &matrix.cells, |out, cell| {
        out.extend_from_slice(b"{\"buy\":");
        push_str(out, venue(cell.buy));
        field(out, b"sell", |out| push_str(out, venue(cell.sell)));
        field(out, b"gross_bps", |out| push_bps(out, cell.gross));
        field(out, b"net_bps", |out| push_bps(out, cell.net));
        field(out, b"opportunity", |out| push_bool(out, cell.opportunity));
        out.push(b'}');
    });
    out.push(b']');
    excluded(&mut out, &tops.left_out);
    out.push(b'}');
    out.into()
}

fn push_top(out: &mut Vec<u8>, top: &Top<'_>) {
    out.extend_from_slice(b"{\"venue\":");
    push_str(out, top.row.offer.member.venue.as_str());
    field(out, b"bid", |out| push_num(out, Some(top.bid)));
    field(out, b"bid_size", |out| push_num(out, top.bid_size));
    field(out, b"ask", |out| push_num(out, Some(top.ask)));
    field(out, b"ask_size", |out| push_num(out, top.ask_size));
    fee_fields(out, top.taker);
    field(out, b"age_ms", |out| push_millis(out, top.age));
    out.push(b'}');
}
