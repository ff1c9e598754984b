//! The public JSON, apart from the model: what a client reads never changes because the model did.
//!
//! Bodies of quotes are pushed onto a buffer by hand: they are made for every quote that comes in, and formatting is what they cost.

mod best;
mod convert;
mod listing;
pub(crate) mod object;
mod rates;
mod spreads;

pub(crate) use best::{Ranking, best};
pub(crate) use convert::{Conversion, conversion};
pub(crate) use listing::powers;
pub use listing::{PairJson, ReadyJson, VenueJson, json};
pub use quorate_actors::text::{push_decimal, push_str, push_time, push_u64};
pub(crate) use rates::Derived;
pub use rates::short_rate;
pub(crate) use spreads::spreads;

use bytes::Bytes;
use quorate_actors::{
    model::{Amount, Price, Quote},
    rate::{Bps, Num},
    view::{Miss, View, ViewRow},
};
use rust_decimal::Decimal;
use tokio::time::Instant;

/// The typical length of a row and of a head, for the first guess at a body's size.
const ROW_BYTES: usize = 420;
const HEAD_BYTES: usize = 640;

/// Writes the body of a pair's quotes: ages are those at the view's instant.
pub fn quotes_body(view: &View, boot: &str, simulated: bool) -> Bytes {
    let mut out = Vec::with_capacity(view.asked().saturating_mul(ROW_BYTES).saturating_add(HEAD_BYTES));
    head(&mut out, view, boot, simulated);
    out.extend_from_slice(b",\"quotes\":[");
    each(&mut out, &view.rows, |out, row| push_row(out, row, view.at));
    out.extend_from_slice(b"],\"misses\":");
    push_misses(&mut out, &view.misses);
    out.push(b'}');
    out.into()
}

/// Writes the misses of a view as a JSON array.
pub fn misses_json(misses: &[Miss]) -> Vec<u8> {
    let mut out = Vec::with_capacity(misses.len().saturating_mul(96).saturating_add(2));
    push_misses(&mut out, misses);
    out
}

fn head(out: &mut Vec<u8>, view: &View, boot: &str, simulated: bool) {
    let (bid, ask, mid) = (view.bid(), view.ask(), view.mid());
    let (bid_price, ask_price) = (bid.and_then(|r| r.quote.ticker.bid), ask.and_then(|r| r.quote.ticker.ask));
    out.extend_from_slice(b"{\"pair\":\"");
    out.extend_from_slice(view.pair.base.as_str().as_bytes());
    out.push(b'-');
    out.extend_from_slice(view.pair.quote.as_str().as_bytes());
    out.push(b'"');
    field(out, b"base", |out| push_str(out, view.pair.base.as_str()));
    field(out, b"quote", |out| push_str(out, view.pair.quote.as_str()));
    field(out, b"status", |out| push_str(out, if view.misses.is_empty() { "complete" } else { "partial" }));
    field(out, b"simulated", |out| push_bool(out, simulated));
    field(out, b"as_of", |out| push_time(out, view.as_of));
    field(out, b"boot", |out| push_str(out, boot));
    field(out, b"sequence", |out| push_u64(out, view.sequence));
    field(out, b"bid", |out| push_price(out, bid_price));
    field(out, b"bid_size", |out| push_amount(out, bid.and_then(|r| r.quote.ticker.bid_size)));
    field(out, b"bid_venue", |out| push_venue(out, bid));
    field(out, b"ask", |out| push_price(out, ask_price));
    field(out, b"ask_size", |out| push_amount(out, ask.and_then(|r| r.quote.ticker.ask_size)));
    field(out, b"ask_venue", |out| push_venue(out, ask));
    field(out, b"mid", |out| push_quoted(out, mid));
    let both = bid_price.zip(ask_price).map(|(bid, ask)| (bid.get(), ask.get()));
    field(out, b"spread", |out| push_quoted(out, both.and_then(|(bid, ask)| ask.checked_sub(bid))));
    let of_mid = |((bid, ask), mid): ((Decimal, Decimal), Decimal)| Bps::between(Num::from(bid), Num::from(ask), Num::from(mid));
    field(out, b"spread_bps", |out| push_bps(out, both.zip(mid).and_then(of_mid)));
    field(out, b"crossed", |out| push_bool(out, both.is_some_and(|(bid, ask)| bid > ask)));
    out.extend_from_slice(b",\"venues\":{\"asked\":");
    push_count(out, view.asked());
    field(out, b"answered", |out| push_count(out, view.rows.len()));
    field(out, b"missed", |out| push_count(out, view.misses.len()));
    out.push(b'}');
}

fn push_row(out: &mut Vec<u8>, row: &ViewRow, at: Instant) {
    let Quote { venue, symbol, ticker, received, received_time, latency, source, .. } = &*row.quote;
    out.extend_from_slice(b"{\"venue\":");
    push_str(out, venue.as_str());
    field(out, b"symbol", |out| push_str(out, symbol));
    field(out, b"bid", |out| push_price(out, ticker.bid));
    field(out, b"bid_size", |out| push_amount(out, ticker.bid_size));
    field(out, b"ask", |out| push_price(out, ticker.ask));
    field(out, b"ask_size", |out| push_amount(out, ticker.ask_size));
    field(out, b"last", |out| push_price(out, ticker.last));
    field(out, b"high", |out| push_price(out, ticker.high));
    field(out, b"low", |out| push_price(out, ticker.low));
    field(out, b"open", |out| push_price(out, ticker.open));
    field(out, b"base_volume", |out| push_amount(out, ticker.base_volume));
    field(out, b"quote_volume", |out| push_amount(out, ticker.quote_volume));
    field(out, b"venue_time", |out| match ticker.venue_time {
        Some(time) => push_time(out, time),
        None => push_null(out),
    });
    field(out, b"time_of", |out| push_str(out, row.member.time_of.slug()));
    field(out, b"received_time", |out| push_time(out, *received_time));
    field(out, b"age_ms", |out| push_millis(out, at.saturating_duration_since(*received)));
    field(out, b"latency_ms", |out| push_millis(out, *latency));
    field(out, b"source", |out| push_str(out, source.slug()));
    field(out, b"decision", |out| push_str(out, row.refused.map_or("in", |r| r.slug())));
    out.push(b'}');
}

fn push_misses(out: &mut Vec<u8>, misses: &[Miss]) {
    out.push(b'[');
    each(out, misses, |out, miss| {
        out.extend_from_slice(b"{\"venue\":");
        push_str(out, miss.venue.as_str());
        field(out, b"reason", |out| push_str(out, miss.fault.reason.slug()));
        field(out, b"detail", |out| push_str(out, &miss.fault.detail));
        out.push(b'}');
    });
    out.push(b']');
}

fn each<T>(out: &mut Vec<u8>, items: impl IntoIterator<Item = T>, push: impl Fn(&mut Vec<u8>, T)) {
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        push(out, item);
    }
}

fn field(out: &mut Vec<u8>, name: &[u8], push: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name);
    out.extend_from_slice(b"\":");
    push(out);
}

fn quoted(out: &mut Vec<u8>, push: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'"');
    push(out);
    out.push(b'"');
}

fn push_bps(out: &mut Vec<u8>, bps: Option<Bps>) {
    match bps {
        Some(bps) => quoted(out, |out| bps.push(out)),
        None => push_null(out),
    }
}

fn push_text(out: &mut Vec<u8>, text: Option<&str>) {
    match text {
        Some(text) => push_str(out, text),
        None => push_null(out),
    }
}

fn push_quoted(out: &mut Vec<u8>, number: Option<Decimal>) {
    match number {
        Some(number) => quoted(out, |out| push_decimal(out, number)),
        None => push_null(out),
    }
}

fn push_price(out: &mut Vec<u8>, price: Option<Price>) {
    push_quoted(out, price.map(Price::get));
}

fn push_amount(out: &mut Vec<u8>, amount: Option<Amount>) {
    push_quoted(out, amount.map(Amount::get));
}

fn push_venue(out: &mut Vec<u8>, row: Option<&ViewRow>) {
    match row {
        Some(row) => push_str(out, row.quote.venue.as_str()),
        None => push_null(out),
    }
}

fn push_millis(out: &mut Vec<u8>, duration: std::time::Duration) {
    push_u64(out, u64::try_from(duration.as_millis()).unwrap_or(u64::MAX));
}

fn push_count(out: &mut Vec<u8>, count: usize) {
    push_u64(out, u64::try_from(count).unwrap_or(u64::MAX));
}

fn push_bool(out: &mut Vec<u8>, value: bool) {
    out.extend_from_slice(if value { b"true" } else { b"false" });
}

fn push_null(out: &mut Vec<u8>) {
    out.extend_from_slice(b"null");
}

#[cfg(test)]
mod tests;
