//! Writes Coinbase Exchange's dialect, for the simulation.

use crate::{
    model::{Reason, UnixMs},
    venue::{Row, text},
};

pub(super) fn written(rows: &[Row<'_>]) -> String {
    let Some(Row { ticker: t, .. }) = rows.first() else { return String::new() };
    format!(
        r#"{{"ask":"{}","bid":"{}","volume":"{}","trade_id":1,"price":"{}","size":"0.01","time":"{}","rfq_volume":"0"}}"#,
        text(t.ask),
        text(t.bid),
        text(t.base_volume),
        text(t.last),
        t.venue_time.unwrap_or(UnixMs(0))
    )
}

/// One point a product: an hour in which the price stood still.
pub(super) fn lines(rows: &[Row<'_>]) -> String {
    let line = |row: &Row<'_>| {
        let hour = row.ticker.venue_time.unwrap_or(UnixMs(0)).0.div_euclid(3_600_000).saturating_mul(3600);
        format!(r#""{}":[[{hour},{last},{last},{last},{last}]]"#, row.symbol, last = text(row.ticker.last))
    };
    format!("{{{}}}", rows.iter().map(line).collect::<Vec<_>>().join(","))
}

pub(super) fn refused(reason: Reason) -> Option<(u16, String)> {
    let (status, message) = match reason {
        Reason::Unlisted => (404, "NotFound"),
        Reason::RateLimited => (429, "Public rate limit exceeded"),
        Reason::Forbidden => (403, "Forbidden"),
        Reason::Http5xx => (500, "Internal server error"),
        _ => return None,
    };
    Some((status, format!(r#"{{"message":"{message}"}}"#)))
}
