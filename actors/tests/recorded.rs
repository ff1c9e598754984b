//! Holds the venue table against recorded answers of the real exchanges, where a folder of them lies beside the workspace.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

#[path = "venues/common.rs"]
mod common;

use common::{FIELDS, Rows, field, find, rows, wanted};
use quorate_actors::{
    model::{Fault, Pair, Reason, Ticker},
    venue::{Endpoint, Kind, Venue, route},
    venues::VENUES,
};
use serde_json::Value;
use std::{fs, path::Path};

#[test]
fn recorded_answers_read_as_they_should() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/exchanges");
    if !folder.is_dir() {
        eprintln!("skipped: no recorded answers at {}", folder.display());
        return;
    }
    let (mut held, mut wrong) = (0, Vec::new());
    for venue in VENUES {
        let id = venue.profile().id;
        let Ok(text) = fs::read(folder.join(id).with_extension("json")) else { continue };
        let recorded: Value = serde_json::from_slice(&text).unwrap();
        for case in recorded["cases"].as_array().unwrap().iter().filter(|case| is_ours(case)) {
            held += 1;
            if let Err(why) = judged(*venue, case) {
                wrong.push(format!("{id}/{}: {why}", case["name"]));
            }
        }
    }
    eprintln!("held {held} recorded answers");
    assert!(held > 0 && wrong.is_empty(), "{} of {held} read wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn tagged(case: &Value, tags: &[&str]) -> bool {
    case["tags"].as_array().is_some_and(|all| all.iter().any(|tag| tags.iter().any(|t| tag == t)))
}

fn is_ours(case: &Value) -> bool {
    ["ticker", "tickers", "book_ticker", "error"].iter().any(|kind| case["kind"] == *kind) && !tagged(case, &["derivative"])
}

/// Reads a case through the endpoint that its path asks, else through the first of its kind, else through any whose shape fits.
fn read(venue: &dyn Venue, case: &Value) -> Result<Rows, Fault> {
    let status = case["status"].as_u64().map_or(200, |status| status.try_into().unwrap());
    let (path, query) = (case["request"]["path"].as_str().unwrap(), case["request"]["query"].as_str().unwrap_or_default());
    let endpoints = venue.profile().endpoints;
    let kind = match case["kind"].as_str().unwrap() {
        "tickers" => Kind::Tickers,
        "book_ticker" => Kind::BookTicker,
        _ => Kind::Ticker,
    };
    let through = |endpoint: &Endpoint| rows(venue, endpoint, status, case["body"].as_str().unwrap().as_bytes());
    if let Some((endpoint, _)) = route(endpoints, &format!("{path}?{query}")) {
        return through(endpoint);
    }
    let of_kind = endpoints.iter().filter(|e| e.kind == kind).chain(endpoints);
    let mut tries = of_kind.map(through);
    let first = tries.next().unwrap();
    match first {
        Err(Fault { reason: Reason::Decode, .. }) => tries.find(Result::is_ok).unwrap_or(first),
        read => read,
    }
}

fn judged(venue: &dyn Venue, case: &Value) -> Result<(), String> {
    let (expect, read) = (&case["expect"], read(venue, case));
    if let Some(word) = expect["error"].as_str() {
        let fault = read.err().ok_or(format!("no error for {word}"))?;
        return if means(fault.reason, word) { Ok(()) } else { Err(format!("{fault} for {word}")) };
    }
    let rows = read.map_err(|fault| fault.to_string())?;
    let pairs: Vec<(Pair, &Value)> = match case["pair"].as_str() {
        Some(pair) => vec![(pair.parse().unwrap(), expect)],
        None => expect.as_object().unwrap().iter().map(|(pair, want)| (pair.parse().unwrap(), want)).collect(),
    };
    for (pair, want) in pairs {
        let want = want.get(format!("{pair:#}")).unwrap_or(want);
        let row = find(venue, &pair, &rows).ok_or(format!("{pair} absent"))?;
        let ticker = row.as_ref().map_err(|fault| format!("{pair}: {fault}"))?;
        alike(ticker, want, tagged(case, &["illiquid", "empty", "empty_fields"])).map_err(|why| format!("{pair}: {why}"))?;
    }
    Ok(())
}

/// Compares as decimals. More than is expected may be given, but no price where there is none; less only of what is of no use for a rate.
fn alike(ticker: &Ticker, want: &Value, strict: bool) -> Result<(), String> {
    for key in FIELDS {
        let (want, have) = (want.get(key).and_then(wanted), field(ticker, key));
        let priced = ["bid", "ask", "last", "bid_size", "ask_size"].contains(&key);
        let right = match (want, have) {
            (Some(want), Some(have)) => want == have,
            (Some(_), None) => ["high", "low", "open", "quote_volume"].contains(&key),
            (None, Some(_)) => !(strict && priced),
            (None, None) => true,
        };
        if !right {
            return Err(format!("{key}: {have:?} for {want:?}"));
        }
    }
    Ok(())
}

/// Tells whether a reason says what the recorded answers' word says.
fn means(reason: Reason, word: &str) -> bool {
    use Reason::{Banned, Decode, Empty, Forbidden, GeoBlocked, Halted, Html, Http4xx, Http5xx, RateLimited, Rejected, Unlisted};
    match word {
        "rate_limited" => [RateLimited, Banned].contains(&reason),
        "unknown_symbol" => [Unlisted, Rejected, Empty].contains(&reason),
        "blocked" => [GeoBlocked, Forbidden, Banned, Html, Http4xx].contains(&reason),
        "maintenance" => [Halted, Http5xx, Html].contains(&reason),
        "unavailable" => [Http5xx, Html, Decode].contains(&reason),
        "not_found" => [Unlisted, Rejected, Http4xx, Html].contains(&reason),
        "bad_request" => [Rejected, Unlisted, Http4xx].contains(&reason),
        "empty" => [Empty, Unlisted].contains(&reason),
        other => panic!("no such word: {other}"),
    }
}
