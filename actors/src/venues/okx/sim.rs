//! Writes OKX's dialect, for the simulation.

use crate::{
    model::{Reason, UnixMs},
    venue::{Row, json_list, text},
};

pub(super) fn written(rows: &[Row<'_>]) -> String {
    format!(r#"{{"code":"0","msg":"","data":{}}}"#, json_list(rows, row))
}

fn row(row: &Row<'_>) -> String {
    let t = row.ticker;
    format!(
        concat!(
            r#"{{"instType":"SPOT","instId":"{}","last":"{}","lastSz":"0.01","askPx":"{}","askSz":"{}","bidPx":"{}","bidSz":"{}","open24h":"{}","#,
            r#""high24h":"{}","low24h":"{}","volCcy24h":"{}","vol24h":"{}","ts":"{}","sodUtc0":"{}","sodUtc8":"{}"}}"#
        ),
        row.symbol,
        text(t.last),
        text(t.ask),
        text(t.ask_size),
        text(t.bid),
        text(t.bid_size),
        text(t.open),
        text(t.high),
        text(t.low),
        text(t.quote_volume),
        text(t.base_volume),
        t.venue_time.unwrap_or(UnixMs(0)).0,
        text(t.open),
        text(t.open)
    )
}

pub(super) fn refused(reason: Reason) -> Option<(u16, String)> {
    let (status, code, text) = match reason {
        Reason::Unlisted => (200, 51001, "Instrument ID, Instrument ID code, or Spread ID doesn't exist."),
        Reason::RateLimited => (429, 50011, "Too Many Requests"),
        Reason::GeoBlocked => (200, 51155, "You can't trade this pair due to local compliance restrictions."),
        Reason::Forbidden => (401, 50110, "Your IP is not included in your API key's IP whitelist."),
        Reason::Halted => (200, 51022, "Instrument suspended."),
        Reason::Http5xx => (503, 50001, "Service temporarily unavailable. Try again later."),
        _ => return None,
    };
    Some((status, format!(r#"{{"code":"{code}","data":[],"msg":"{text}"}}"#)))
}
