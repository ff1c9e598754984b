//! Writes HTX's dialect, for the simulation.

use crate::{
    model::{Reason, UnixMs},
    venue::{Row, json_list, text},
};

fn time_of(row: &Row<'_>) -> i64 {
    row.ticker.venue_time.unwrap_or(UnixMs(0)).0
}

pub(super) fn merged(rows: &[Row<'_>]) -> String {
    let Some(row) = rows.first() else { return String::new() };
    let t = row.ticker;
    format!(
        r#"{{"ch":"market.{}.detail.merged","status":"ok","ts":{},"tick":{{"id":1,"version":1,"count":100,{},"bid":[{},{}],"ask":[{},{}]}}}}"#,
        row.symbol,
        time_of(row),
        day_written(row),
        text(t.bid),
        text(t.bid_size),
        text(t.ask),
        text(t.ask_size)
    )
}

pub(super) fn all(rows: &[Row<'_>]) -> String {
    let time = rows.first().map(time_of).unwrap_or_default();
    let row = |row: &Row<'_>| {
        let t = row.ticker;
        format!(
            r#"{{"symbol":"{}","count":100,{},"bid":{},"bidSize":{},"ask":{},"askSize":{}}}"#,
            row.symbol,
            day_written(row),
            text(t.bid),
            text(t.bid_size),
            text(t.ask),
            text(t.ask_size)
        )
    };
    format!(r#"{{"status":"ok","ts":{time},"data":{}}}"#, json_list(rows, row))
}

fn day_written(row: &Row<'_>) -> String {
    let t = row.ticker;
    format!(
        r#""open":{},"high":{},"low":{},"close":{},"amount":{},"vol":{}"#,
        text(t.open),
        text(t.high),
        text(t.low),
        text(t.last),
        text(t.base_volume),
        text(t.quote_volume)
    )
}

pub(super) fn refused(reason: Reason) -> Option<(u16, String)> {
    let (status, code, msg) = match reason {
        Reason::Unlisted => (200, "invalid-parameter", "invalid symbol"),
        Reason::RateLimited => (429, "rate-too-many-requests", "exceeded rate limit"),
        Reason::Halted => (200, "base-symbol-trade-disabled", "trading of the symbol is disabled"),
        _ => return None,
    };
    Some((status, format!(r#"{{"status":"error","err-code":"{code}","err-msg":"{msg}","data":null}}"#)))
}
