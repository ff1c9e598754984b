//! Writes Gate's dialect, for the simulation.

use crate::{
    model::Reason,
    venue::{Change, Row, json_list, text},
};

/// One pair: a list of one row, which alone has the sizes.
pub(super) fn one(rows: &[Row<'_>]) -> String {
    let sized = |row: &Row<'_>| {
        let t = row.ticker;
        format!(r#"{{{},"lowest_size":"{}","highest_size":"{}"}}"#, fields(row), text(t.ask_size), text(t.bid_size))
    };
    json_list(rows, sized)
}

pub(super) fn all(rows: &[Row<'_>]) -> String {
    json_list(rows, |row| format!("{{{}}}", fields(row)))
}

fn fields(row: &Row<'_>) -> String {
    let t = row.ticker;
    format!(
        concat!(
            r#""currency_pair":"{}","last":"{}","lowest_ask":"{}","highest_bid":"{}","change_percentage":"{}","#,
            r#""base_volume":"{}","quote_volume":"{}","high_24h":"{}","low_24h":"{}""#
        ),
        row.symbol,
        text(t.last),
        text(t.ask),
        text(t.bid),
        Change::of(t).percent(2),
        text(t.base_volume),
        text(t.quote_volume),
        text(t.high),
        text(t.low)
    )
}

pub(super) fn refused(reason: Reason, symbol: &str) -> Option<(u16, String)> {
    let (status, label, message) = match reason {
        Reason::Unlisted => (400, "INVALID_CURRENCY_PAIR", "Invalid currency pair "),
        Reason::RateLimited => (429, "TOO_MANY_REQUESTS", "Request Rate Limit Exceeded"),
        Reason::Forbidden => (403, "FORBIDDEN", "Request forbidden"),
        Reason::Halted => (400, "TRADE_RESTRICTED", "Trading is restricted"),
        Reason::Http5xx => (500, "SERVER_ERROR", "Internal server error"),
        _ => return None,
    };
    let symbol = if reason == Reason::Unlisted { symbol } else { "" };
    Some((status, format!(r#"{{"label":"{label}","message":"{message}{symbol}"}}"#)))
}
