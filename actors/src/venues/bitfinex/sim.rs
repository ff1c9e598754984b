//! Writes Bitfinex's dialect, for the simulation.

use crate::{
    model::Reason,
    venue::{Change, Row, json_list, text},
};

pub(super) fn one(rows: &[Row<'_>]) -> String {
    rows.first().map(|row| format!("[{}]", cells(row))).unwrap_or_default()
}

/// Writes the ten cells behind the symbol.
fn cells(row: &Row<'_>) -> String {
    let t = row.ticker;
    let change = Change::of(t);
    let [bid, ask, last, high, low] = [t.bid, t.ask, t.last, t.high, t.low].map(text);
    format!(
        "{bid},{},{ask},{},{},{},{last},{},{high},{low}",
        text(t.bid_size),
        text(t.ask_size),
        change.by,
        change.share(8),
        text(t.base_volume)
    )
}

pub(super) fn all(rows: &[Row<'_>]) -> String {
    json_list(rows, |row| format!(r#"["{}",{}]"#, row.symbol, cells(row)))
}

pub(super) fn refused(reason: Reason) -> Option<(u16, String)> {
    let (status, code, text) = match reason {
        Reason::Unlisted => (500, 10020, "symbol: invalid"),
        Reason::RateLimited => (429, 11010, "ratelimit: error"),
        Reason::Http5xx => (503, 20060, "maintenance"),
        _ => return None,
    };
    Some((status, format!(r#"["error",{code},"{text}"]"#)))
}
