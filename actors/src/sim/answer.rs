//! From a request and the faults that it meets to a reply, as a pure function.

use super::{
    active::Active,
    desk::{Asked, Desk},
    faults::FaultName,
    listing::Listing,
    market::Snapshot,
    reply::{Manner, Reply},
    spoil,
};
use crate::{
    model::{Pair, Reason, Ticker},
    venue::Row,
};
use std::{sync::Arc, time::Duration};

const SLOW_BY_MS: u64 = 3000;
const DRIP_BYTES_PER_S: u32 = 2;
/// How far beyond the venue's limit an answer goes that is too long.
const BEYOND: u64 = 1 << 20;
const PAGE: &str = "<!DOCTYPE html><html><head><title>Just a moment...</title></head><body><h1>Please wait</h1></body></html>";
const MAINTENANCE: &str =
    "<!DOCTYPE html><html><head><title>503</title></head><body><h1>503 Service Temporarily Unavailable</h1></body></html>";

/// Answers a request. Of faults that take the answer's place the first one set acts; the others add up.
pub(super) fn answer(desk: &Desk, asked: &Asked<'_>, at: &Snapshot, met: &[Arc<Active>]) -> Reply {
    let met: Vec<&Active> = met.iter().map(Arc::as_ref).filter(|fault| concerns(fault, asked)).collect();
    let mut reply = met.iter().find_map(|fault| instead(desk, asked, fault)).unwrap_or_else(|| plain(desk, asked, at, &met));
    reply.clock = met.iter().fold(at.now, |time, fault| spoil::clock(time, fault));
    for fault in &met {
        change(&mut reply, desk, fault);
    }
    reply
}

/// A fault of one pair concerns the requests that ask for it.
fn concerns(fault: &Active, asked: &Asked<'_>) -> bool {
    match (fault.spec.pair, asked) {
        (None, _) => true,
        (Some(pair), Asked::Rows(rows, _)) => rows.iter().any(|row| row.pair == pair),
        (Some(_), _) => false,
    }
}

/// Gives what comes in the answer's place.
fn instead(desk: &Desk, asked: &Asked<'_>, fault: &Active) -> Option<Reply> {
    let refused =
        |reason| Reply { retry_after_s: fault.spec.params.retry_after_s, ..refusal(desk, reason, symbol(asked, fault.spec.pair)) };
    Some(match fault.spec.fault {
        FaultName::Silent => Reply::in_manner(Manner::Silent),
        FaultName::Refused => Reply::in_manner(Manner::Refused),
        FaultName::Reset => Reply::in_manner(Manner::Reset),
        FaultName::RateLimited => refused(Reason::RateLimited),
        FaultName::Banned => refused(Reason::Banned),
        FaultName::GeoBlocked => refused(Reason::GeoBlocked),
        FaultName::Forbidden => refused(Reason::Forbidden),
        FaultName::UnknownSymbol => refused(Reason::Unlisted),
        FaultName::Http500 => Reply::text(500, "Internal Server Error"),
        FaultName::Html503 => Reply::page(503, MAINTENANCE),
        FaultName::Html200 => Reply::page(200, PAGE),
        FaultName::Empty => Reply::json(200, ""),
        FaultName::Redirect => {
            let location = fault.spec.params.location.clone().unwrap_or_else(|| "http://127.0.0.1:9/elsewhere".to_owned());
            Reply { location: Some(location), ..Reply::text(302, "Found") }
        }
        _ => return None,
    })
}

/// Changes how an answer is given, whatever it says.
fn change(reply: &mut Reply, desk: &Desk, fault: &Active) {
    let params = &fault.spec.params;
    let limit = u64::try_from(desk.venue.profile().body_max).unwrap_or(u64::MAX);
    let size = params.bytes.unwrap_or_else(|| limit.saturating_add(BEYOND));
    let pad = size.saturating_sub(reply.length());
    let manner = match fault.spec.fault {
        FaultName::Slow => {
            reply.delay = reply.delay.saturating_add(Duration::from_millis(params.delay_ms.unwrap_or(SLOW_BY_MS)));
            return;
        }
        FaultName::Oversize | FaultName::GzipBomb => {
            reply.pad = reply.pad.max(pad);
            reply.packed |= fault.spec.fault == FaultName::GzipBomb;
            return;
        }
        FaultName::Drip => Manner::Drip { bytes_per_s: params.bytes_per_s.unwrap_or(DRIP_BYTES_PER_S) },
        FaultName::Truncated => Manner::Truncated,
        FaultName::WrongLength => Manner::WrongLength,
        _ => return,
    };
    if reply.manner == Manner::Whole {
        reply.manner = manner;
    }
}

/// Gives what the venue says when nothing takes the answer's place.
fn plain(desk: &Desk, asked: &Asked<'_>, at: &Snapshot, met: &[&Active]) -> Reply {
    match asked {
        Asked::Rows(rows, encode) => {
            let tickers: Vec<Ticker> = rows.iter().map(|listing| spoiled(listing, at, met)).collect();
            let rows: Vec<Row<'_>> =
                rows.iter().zip(&tickers).map(|(l, ticker)| Row { symbol: &l.symbol, pair: &l.pair, ticker }).collect();
            let mut text = encode(&rows);
            for fault in met.iter().filter(|fault| fault.spec.fault == FaultName::RenamedField) {
                text = spoil::renamed(&text, &fault.spec.params, &rows, *encode);
            }
            Reply::json(200, text)
        }
        Asked::Unlisted(symbol) => refusal(desk, Reason::Unlisted, symbol),
        Asked::WarmUp => Reply::json(200, "{}"),
        Asked::Nothing => Reply::text(404, "Not Found"),
    }
}

fn spoiled(listing: &Listing, at: &Snapshot, met: &[&Active]) -> Ticker {
    let mine = || met.iter().filter(|fault| fault.spec.pair.is_none_or(|pair| pair == listing.pair));
    let frozen = mine().find(|fault| fault.spec.fault == FaultName::Frozen);
    let at = frozen.map_or(at, |fault| fault.first.get_or_init(|| *at));
    mine().fold(listing.ticker(at), |ticker, fault| spoil::ticker(ticker, fault))
}

/// Refuses in the venue's own words, or by the status that everybody means where it has none.
fn refusal(desk: &Desk, reason: Reason, symbol: &str) -> Reply {
    if let Some((status, body)) = desk.venue.refuse(reason, symbol) {
        return Reply::json(status, body);
    }
    match reason {
        Reason::RateLimited => Reply::text(429, "Too Many Requests"),
        Reason::Banned => Reply::text(418, "Banned"),
        Reason::GeoBlocked => Reply::text(451, "Unavailable For Legal Reasons"),
        Reason::Forbidden => Reply::text(403, "Forbidden"),
        _ => Reply::text(404, "Not Found"),
    }
}

/// Gives the symbol that a refusal names: that of the fault's pair, or the first that is asked.
fn symbol<'a>(asked: &'a Asked<'_>, pair: Option<Pair>) -> &'a str {
    match asked {
        Asked::Rows(rows, _) => {
            let named = rows.iter().find(|row| pair.is_none_or(|pair| row.pair == pair));
            named.map_or("", |row| row.symbol.as_str())
        }
        Asked::Unlisted(symbol) => symbol,
        Asked::WarmUp | Asked::Nothing => "",
    }
}
