//! Writes Bitstamp's dialect, for the simulation.

use crate::{
    model::{Reason, UnixMs},
    venue::{Change, Row, json_list, text},
};

pub(super) fn one(rows: &[Row<'_>]) -> String {
    rows.first().map(|row| format!("{{{}}}", fields(row))).unwrap_or_default()
}

pub(super) fn all(rows: &[Row<'_>]) -> String {
    json_list(rows, |row| format!(r#"{{{},"pair":"{:#}"}}"#, fields(row), row.pair))
}

fn fields(row: &Row<'_>) -> String {
    let t = row.ticker;
    format!(
        concat!(
            r#""timestamp":"{}","high":"{}","last":"{}","bid":"{}","vwap":"{}","volume":"{}","low":"{}","ask":"{}","open":"{}","open_24":"{}","#,
            r#""percent_change_24":"{}","side":"0""#
        ),
        t.venue_time.unwrap_or(UnixMs(0)).0.div_euclid(1000),
        text(t.high),
        text(t.last),
        text(t.bid),
        text(t.last),
        text(t.base_volume),
        text(t.low),
        text(t.ask),
        text(t.open),
        text(t.open),
        Change::of(t).percent(2)
    )
}

pub(super) fn refused(reason: Reason) -> Option<(u16, String)> {
    let (status, code, text) = match reason {
        Reason::Unlisted => (404, "404.002", "Currency pair not found."),
        Reason::RateLimited => (400, "400.002", "Request rate limit exceeded."),
        Reason::Forbidden => (403, "API0017", "IP address not allowed"),
        _ => return None,
    };
    Some((status, format!(r#"{{"status":"error","reason":"{text}","code":"{code}"}}"#)))
}
