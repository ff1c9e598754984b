//! What wrong-data faults do to a ticker and to the text of an answer.

use super::{
    active::Active,
    faults::{FaultName, Params},
};
use crate::{
    model::{Price, Ticker, UnixMs},
    venue::Row,
};
use rust_decimal::Decimal;

const CLOCK_OFF_MS: u64 = 60_000;
/// A price that no market has: where it stands in an answer, the bid stands.
const SENTINEL: Decimal = Decimal::from_parts(1_234_567_891, 0, 0, false, 3);

/// Does to a ticker what a fault does; faults of other kinds leave it alone.
pub(super) fn ticker(ticker: Ticker, fault: &Active) -> Ticker {
    match fault.spec.fault {
        FaultName::Zero => Ticker { bid: None, ask: None, last: None, ..ticker },
        FaultName::Crossed => Ticker { bid: ticker.ask, ask: ticker.bid, bid_size: ticker.ask_size, ask_size: ticker.bid_size, ..ticker },
        FaultName::TimeAhead | FaultName::TimeBack => Ticker { venue_time: ticker.venue_time.map(|t| clock(t, fault)), ..ticker },
        FaultName::WrongUnit => in_unit(ticker, &fault.spec.params),
        _ => ticker,
    }
}

/// Gives what a venue's clock says under a fault.
pub(super) fn clock(time: UnixMs, fault: &Active) -> UnixMs {
    let by = i64::try_from(fault.spec.params.by_ms.unwrap_or(CLOCK_OFF_MS)).unwrap_or(i64::MAX);
    match fault.spec.fault {
        FaultName::TimeAhead => UnixMs(time.0.saturating_add(by)),
        FaultName::TimeBack => UnixMs(time.0.saturating_sub(by)),
        _ => time,
    }
}

fn in_unit(ticker: Ticker, params: &Params) -> Ticker {
    let factor = if params.factor.as_deref() == Some("0.01") { Decimal::new(1, 2) } else { Decimal::ONE_HUNDRED };
    let times = |price: Option<Price>| price.and_then(|p| p.get().checked_mul(factor)).and_then(Price::new);
    Ticker {
        bid: times(ticker.bid),
        ask: times(ticker.ask),
        last: times(ticker.last),
        high: times(ticker.high),
        low: times(ticker.low),
        open: times(ticker.open),
        ..ticker
    }
}

/// Renames a field in an answer's text: the one that is named, else the one that holds the bid. A dialect without names gets its answer under one.
pub(super) fn renamed(text: &str, params: &Params, rows: &[Row<'_>], encode: fn(&[Row<'_>]) -> String) -> String {
    match params.field.clone().or_else(|| field_of_the_bid(rows, encode)) {
        Some(field) => text.replace(&format!("\"{field}\":"), &format!("\"{field}_renamed\":")),
        None => format!("{{\"renamed\":{text}}}"),
    }
}

/// Finds the name before the bid by writing a bid that cannot be mistaken.
fn field_of_the_bid(rows: &[Row<'_>], encode: fn(&[Row<'_>]) -> String) -> Option<String> {
    let row = rows.first()?;
    let ticker = Ticker { bid: Price::new(SENTINEL), ..*row.ticker };
    let text = encode(&[Row { ticker: &ticker, ..*row }]);
    let (before, _) = text.split_once(&SENTINEL.to_string())?;
    let (before, list) = before.rsplit_once("\":")?;
    // Between the name and the bid there may be an opening, but no other value.
    let alone = list.bytes().all(|b| matches!(b, b'[' | b'"' | b'{' | b' '));
    alone.then(|| before.rsplit('"').next().map(str::to_owned)).flatten()
}
