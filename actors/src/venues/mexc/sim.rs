//! Writes MEXC's dialect, for the simulation.

use crate::{
    model::{Reason, UnixMs},
    venue::{Change, Row, json_list, text},
};

pub(super) fn one(rows: &[Row<'_>]) -> String {
    rows.first().map(written).unwrap_or_default()
}

pub(super) fn all(rows: &[Row<'_>]) -> String {
    json_list(rows, written)
}

fn written(row: &Row<'_>) -> String {
    let t = row.ticker;
    let change = Change::of(t);
    let time = t.venue_time.unwrap_or(UnixMs(0)).0;
    format!(
        concat!(
            r#"{{"symbol":"{}","priceChange":"{}","priceChangePercent":"{}","prevClosePrice":"{}","lastPrice":"{}","bidPrice":"{}","bidQty":"{}","#,
            r#""askPrice":"{}","askQty":"{}","openPrice":"{}","highPrice":"{}","lowPrice":"{}","volume":"{}","quoteVolume":"{}","#,
            r#""openTime":{},"closeTime":{},"count":null}}"#
        ),
        row.symbol,
        change.by,
        change.share(8),
        text(t.open),
        text(t.last),
        text(t.bid),
        text(t.bid_size),
        text(t.ask),
        text(t.ask_size),
        text(t.open),
        text(t.high),
        text(t.low),
        text(t.base_volume),
        text(t.quote_volume),
        time.saturating_sub(86_400_000),
        time
    )
}

pub(super) fn refused(reason: Reason) -> Option<(u16, String)> {
    let (status, code, msg) = match reason {
        Reason::Unlisted => (400, -1121, "Invalid symbol."),
        Reason::RateLimited => (429, 429, "Too many requests"),
        Reason::Forbidden => (403, 403, "Access Denied"),
        Reason::Halted => (400, 30000, "Suspended transaction for the symbol"),
        _ => return None,
    };
    Some((status, format!(r#"{{"code":{code},"msg":"{msg}"}}"#)))
}
