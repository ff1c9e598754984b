//! Writes Bitget's dialect, for the simulation.

use crate::{
    model::{Reason, UnixMs},
    venue::{Change, Row, json_list, text},
};

pub(super) fn written(rows: &[Row<'_>]) -> String {
    let time = rows.first().and_then(|row| row.ticker.venue_time).unwrap_or(UnixMs(0)).0;
    format!(r#"{{"code":"00000","msg":"success","requestTime":{time},"data":{}}}"#, json_list(rows, row))
}

fn row(row: &Row<'_>) -> String {
    let t = row.ticker;
    format!(
        concat!(
            r#"{{"open":"{}","symbol":"{}","high24h":"{}","low24h":"{}","lastPr":"{}","quoteVolume":"{}","baseVolume":"{}","usdtVolume":"{}","#,
            r#""ts":"{}","bidPr":"{}","askPr":"{}","bidSz":"{}","askSz":"{}","openUtc":"{}","changeUtc24h":"{change}","change24h":"{change}"}}"#
        ),
        text(t.open),
        row.symbol,
        text(t.high),
        text(t.low),
        text(t.last),
        text(t.quote_volume),
        text(t.base_volume),
        text(t.quote_volume),
        t.venue_time.unwrap_or(UnixMs(0)).0,
        text(t.bid),
        text(t.ask),
        text(t.bid_size),
        text(t.ask_size),
        text(t.open),
        change = Change::of(t).share(5)
    )
}

pub(super) fn refused(reason: Reason, symbol: &str) -> Option<(u16, String)> {
    let (status, code, text) = match reason {
        Reason::Unlisted => (400, "40034", format!("Parameter {symbol} does not exist")),
        Reason::RateLimited => (429, "429", "Too Many Requests".to_owned()),
        Reason::Forbidden => (403, "40018", "Invalid IP".to_owned()),
        Reason::Halted => (400, "41114", "The current trading pair is under maintenance".to_owned()),
        Reason::Http5xx => (500, "40015", "System is abnormal, please try again later".to_owned()),
        _ => return None,
    };
    Some((status, format!(r#"{{"code":"{code}","msg":"{text}","requestTime":1796036400000,"data":null}}"#)))
}
