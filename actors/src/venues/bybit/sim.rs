//! Writes Bybit's dialect, for the simulation.

use crate::{
    model::{Reason, UnixMs},
    venue::{Change, Row, json_list, text},
};

pub(super) fn written(rows: &[Row<'_>]) -> String {
    let time = rows.first().and_then(|row| row.ticker.venue_time).unwrap_or(UnixMs(0)).0;
    format!(
        r#"{{"retCode":0,"retMsg":"OK","result":{{"category":"spot","list":{}}},"retExtInfo":{{}},"time":{time}}}"#,
        json_list(rows, row)
    )
}

fn row(row: &Row<'_>) -> String {
    let t = row.ticker;
    format!(
        concat!(
            r#"{{"symbol":"{}","bid1Price":"{}","bid1Size":"{}","ask1Price":"{}","ask1Size":"{}","lastPrice":"{}","prevPrice24h":"{}","#,
            r#""price24hPcnt":"{}","highPrice24h":"{}","lowPrice24h":"{}","turnover24h":"{}","volume24h":"{}","usdIndexPrice":"{}"}}"#
        ),
        row.symbol,
        text(t.bid),
        text(t.bid_size),
        text(t.ask),
        text(t.ask_size),
        text(t.last),
        text(t.open),
        Change::of(t).share(4),
        text(t.high),
        text(t.low),
        text(t.quote_volume),
        text(t.base_volume),
        text(t.last)
    )
}

pub(super) fn refused(reason: Reason) -> Option<(u16, String)> {
    let (code, text) = match reason {
        Reason::Unlisted => (10001, "Not supported symbols"),
        Reason::RateLimited => (10006, "Too many visits. Exceeded the API Rate Limit."),
        Reason::Banned => (10009, "IP has been banned"),
        Reason::GeoBlocked => {
            (10024, "The product or service you are seeking to access is not available to you due to regulatory restrictions.")
        }
        Reason::Forbidden => (10010, "Unmatched IP, please check your API key's bound IP addresses."),
        _ => return None,
    };
    Some((200, format!(r#"{{"retCode":{code},"retMsg":"{text}","result":{{}},"retExtInfo":{{}},"time":1796036400000}}"#)))
}
