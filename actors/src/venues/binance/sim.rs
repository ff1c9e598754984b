//! Writes Binance's dialect, for the simulation.

use crate::{
    model::{Reason, UnixMs},
    venue::{Change, Row, json_list, text},
};

pub(super) fn one(rows: &[Row<'_>]) -> String {
    rows.first().map(written).unwrap_or_default()
}

fn written(row: &Row<'_>) -> String {
    let t = row.ticker;
    let change = Change::of(t);
    let time = t.venue_time.unwrap_or(UnixMs(0)).0;
    format!(
        concat!(
            r#"{{"symbol":"{}","priceChange":"{}","priceChangePercent":"{}","weightedAvgPrice":"{}","prevClosePrice":"{}","lastPrice":"{}","lastQty":"0.01","#,
            r#""bidPrice":"{}","bidQty":"{}","askPrice":"{}","askQty":"{}","openPrice":"{}","highPrice":"{}","lowPrice":"{}","volume":"{}","quoteVolume":"{}","#,
            r#""openTime":{},"closeTime":{},"firstId":1,"lastId":100,"count":100}}"#
        ),
        row.symbol,
        change.by,
        change.percent(3),
        text(t.last),
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

pub(super) fn all(rows: &[Row<'_>]) -> String {
    json_list(rows, written)
}

pub(super) fn refused(reason: Reason) -> Option<(u16, String)> {
    match reason {
            Reason::Unlisted => Some((400, r#"{"code":-1121,"msg":"Invalid symbol."}"#.to_owned())),
            Reason::RateLimited => Some((429, r#"{"code":-1003,"msg":"Too much request weight used; current limit is 6000 request weight per 1 MINUTE. Please use WebSocket Streams for live updates to avoid polling the API."}"#.to_owned())),
            Reason::Banned => Some((418, r#"{"code":-1003,"msg":"Way too much request weight used; IP banned. Please use WebSocket Streams for live updates to avoid bans."}"#.to_owned())),
            Reason::GeoBlocked => Some((451, r#"{"code":0,"msg":"Service unavailable from a restricted location according to 'b. Eligibility' in https://www.binance.com/en/terms."}"#.to_owned())),
            _ => None,
        }
}
