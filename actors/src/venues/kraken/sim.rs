//! Writes Kraken's dialect, for the simulation.

use super::key;
use crate::{
    model::Reason,
    venue::{Row, text},
};

pub(super) fn written(rows: &[Row<'_>]) -> String {
    let market = |row: &Row<'_>| {
        let t = row.ticker;
        let (bid, ask, volume, low, high) = (text(t.bid), text(t.ask), text(t.base_volume), text(t.low), text(t.high));
        format!(
            r#""{}":{{"a":["{ask}","1","{}"],"b":["{bid}","1","{}"],"c":["{}","0.01"],"v":["{volume}","{volume}"],"p":["{bid}","{bid}"],"t":[100,1000],"l":["{low}","{low}"],"h":["{high}","{high}"],"o":"{}"}}"#,
            key(row.pair),
            text(t.ask_size),
            text(t.bid_size),
            text(t.last),
            text(t.open)
        )
    };
    format!(r#"{{"error":[],"result":{{{}}}}}"#, rows.iter().map(market).collect::<Vec<_>>().join(","))
}

pub(super) fn refused(reason: Reason) -> Option<(u16, String)> {
    let text = match reason {
        Reason::Unlisted => "EQuery:Unknown asset pair",
        Reason::RateLimited => "EGeneral:Too many requests",
        Reason::Forbidden => "EGeneral:Permission denied",
        Reason::Http5xx => "EService:Unavailable",
        Reason::Halted => "EService:Market in cancel_only mode",
        _ => return None,
    };
    Some((200, format!(r#"{{"error":["{text}"]}}"#)))
}
