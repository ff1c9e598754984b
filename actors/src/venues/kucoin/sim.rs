//! Writes KuCoin's dialect, for the simulation.

use super::SUCCESS;
use crate::{
    model::{Reason, UnixMs},
    venue::{Change, Row, json_list, text},
};

fn time_of(row: &Row<'_>) -> i64 {
    row.ticker.venue_time.unwrap_or(UnixMs(0)).0
}

pub(super) fn unified(rows: &[Row<'_>]) -> String {
    listed(rows, r#""tradeType":"SPOT","ts""#, "list", unified_row)
}

pub(super) fn all(rows: &[Row<'_>]) -> String {
    listed(rows, r#""time""#, "ticker", row_written)
}

pub(super) fn stats(rows: &[Row<'_>]) -> String {
    let stats = |row| format!(r#"{{"code":"{SUCCESS}","data":{{"time":{},{}}}}}"#, time_of(row), fields(row));
    rows.first().map(stats).unwrap_or_default()
}

fn listed(rows: &[Row<'_>], time: &str, list: &str, write: fn(&Row<'_>) -> String) -> String {
    let now = rows.first().map(time_of).unwrap_or_default();
    format!(r#"{{"code":"{SUCCESS}","data":{{{time}:{now},"{list}":{}}}}}"#, json_list(rows, write))
}

fn unified_row(row: &Row<'_>) -> String {
    let t = row.ticker;
    format!(
        concat!(
            r#"{{"symbol":"{0}","name":"{0}","bestBidSize":"{1}","bestBidPrice":"{2}","bestAskSize":"{3}","bestAskPrice":"{4}","lastPrice":"{5}","#,
            r#""size":"0.01","open":"{6}","high":"{7}","low":"{8}","baseVolume":"{9}","quoteVolume":"{10}"}}"#
        ),
        row.symbol,
        text(t.bid_size),
        text(t.bid),
        text(t.ask_size),
        text(t.ask),
        text(t.last),
        text(t.open),
        text(t.high),
        text(t.low),
        text(t.base_volume),
        text(t.quote_volume)
    )
}

fn row_written(row: &Row<'_>) -> String {
    let t = row.ticker;
    format!(
        r#"{{"symbolName":"{}","bestBidSize":"{}","bestAskSize":"{}","open":"{}",{}}}"#,
        row.symbol,
        text(t.bid_size),
        text(t.ask_size),
        text(t.open),
        fields(row)
    )
}

/// What `stats` and the rows of `allTickers` have in common.
fn fields(row: &Row<'_>) -> String {
    let t = row.ticker;
    let change = Change::of(t);
    format!(
        concat!(
            r#""symbol":"{}","buy":"{}","sell":"{}","changeRate":"{}","changePrice":"{}","high":"{}","low":"{}","vol":"{}","volValue":"{}","last":"{}","#,
            r#""averagePrice":"{}","takerFeeRate":"0.001","makerFeeRate":"0.001","takerCoefficient":"1","makerCoefficient":"1""#
        ),
        row.symbol,
        text(t.bid),
        text(t.ask),
        change.share(4),
        change.by,
        text(t.high),
        text(t.low),
        text(t.base_volume),
        text(t.quote_volume),
        text(t.last),
        text(t.last)
    )
}

pub(super) fn refused(reason: Reason) -> Option<(u16, String)> {
    let (status, code, msg) = match reason {
        Reason::Unlisted => (400, "400100", "Unsupported trading pair."),
        Reason::RateLimited => (429, "429000", "Too many requests"),
        Reason::GeoBlocked => (403, "400302", "Our services are currently unavailable in the U.S."),
        Reason::Forbidden => (403, "400006", "The requested ip address is not in the api whitelist"),
        _ => return None,
    };
    Some((status, format!(r#"{{"msg":"{msg}","code":"{code}"}}"#)))
}
