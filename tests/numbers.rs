//! Absurd numbers in every venue's dialect go through decode, admission and JSON: none is made up, none counts, and what is printed is plain.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

use quorate::wire;
use quorate_actors::{
    model::{Amount, Pair, Price, Quote, Source, Ticker, UnixMs, VenueId},
    rate::{AdmissionRules, admit, best_ask, best_bid},
    venue::{Basis, Member, Reach, Row, Scratch, TimeOf, read},
    venues::VENUES,
    view::{View, ViewRow},
};
use serde_json::Value;
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

const AS_OF: UnixMs = UnixMs(1_796_036_400_000);
const ABSURD: [&str; 11] =
    ["1e28", "1e-28", "1234567890123456789012345678901234567890", "-0", "1_000", "NaN", "Infinity", "1e999", "", "null", "٣٤"];
/// Numbers that stand nowhere else in an answer.
const BID: &str = "71234.25";
const ASK: &str = "71234.75";
const LAST: &str = "71234.5";
const SIZE: &str = "3.0625";

fn ticker() -> Ticker {
    let (price, amount) = (|t: &str| Price::parse(t).unwrap(), |t: &str| Amount::parse(t).unwrap());
    Ticker {
        bid: price(BID),
        ask: price(ASK),
        last: price(LAST),
        bid_size: amount(SIZE),
        ask_size: amount("4.125"),
        high: price("72000.5"),
        low: price("70000.5"),
        open: price("70500.5"),
        base_volume: amount("1234.5"),
        quote_volume: amount("87654321.5"),
        venue_time: Some(AS_OF),
        halted: false,
    }
}

/// Gives the public JSON of one quote, as a caller gets it, and whether admission let the quote in.
fn shown(venue: &str, pair: Pair, ticker: Ticker) -> (Value, bool) {
    let (now, venue) = (Instant::now(), VenueId::new(venue));
    let latency = Duration::from_millis(7);
    let quote = Quote { venue, pair, symbol: "X".into(), ticker, received: now, received_time: AS_OF, latency, source: Source::Rest };
    let member = Member { venue: quote.venue.clone(), operator: "o".into(), region: None, basis: Basis::Mid, time_of: TimeOf::None };
    let refused = admit(&quote, &member, now, AS_OF, &AdmissionRules::default()).err();
    let rows = vec![ViewRow { quote: Arc::new(quote), member: Arc::new(member), refused }];
    let (best_bid, best_ask) = (best_bid(&rows), best_ask(&rows));
    let view = View { pair, at: now, as_of: AS_OF, sequence: 1, rows, misses: vec![], best_bid, best_ask, oldest: now, unknown: 0 };
    (serde_json::from_slice(&wire::quotes_body(&view, "0000", true)).unwrap(), refused.is_none())
}

fn is_plain(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.split('.').count() <= 2
        && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        && digits.starts_with(|c: char| c.is_ascii_digit())
}

#[test]
fn an_absurd_number_never_comes_out_as_another() {
    let pair = Pair::new("BTC", "USDT").unwrap();
    for venue in VENUES {
        let (id, symbol, mut tried) = (venue.profile().id, venue.spell(&pair), 0);
        for endpoint in venue.profile().endpoints {
            let Some(encode) = endpoint.encode else { continue };
            let whole = encode(&[Row { symbol: &symbol, pair: &pair, ticker: &ticker() }]);
            for (field, number) in [("bid", BID), ("ask", ASK), ("last", LAST), ("bid_size", SIZE)] {
                for absurd in ABSURD {
                    let quoted = whole.replace(&format!("\"{number}\""), &format!("\"{absurd}\""));
                    let bare = whole.replace(&format!("\"{number}\""), number).replace(number, absurd);
                    for body in [quoted, bare].iter().filter(|body| **body != whole) {
                        tried += 1;
                        let mut rows = Vec::new();
                        let ended = read(*venue, endpoint, 200, body.as_bytes(), &mut Scratch::default(), &mut |_, row| rows.push(row()));
                        let Some(Ok(read)) = rows.pop().filter(|_| ended.is_ok()) else { continue };
                        let (json, admitted) = shown(id, pair, read);
                        let row = &json["quotes"][0];
                        let text = row[field].as_str();
                        let lawful = field == "bid_size" && ["1e-28", "-0"].contains(&absurd);
                        assert!(text.is_none() || lawful || text == Some(number), "{id} {field} {absurd}: {text:?} of {body}");
                        let named = ["bid", "ask", "last", "bid_size", "ask_size", "high", "low", "open", "base_volume", "quote_volume"];
                        assert!(named.iter().all(|f| row[*f].as_str().is_none_or(is_plain)), "{id}: {row}");
                        let gone = ["bid", "ask"].contains(&field) && text.is_none();
                        assert!(!(gone && admitted), "{id} {field} {absurd}: counts without it");
                        assert!(!gone || json["mid"].is_null() && row["decision"] == "non_positive", "{id}: {json}");
                    }
                }
            }
            assert!(endpoint.reach != Reach::One || tried >= 2 * ABSURD.len(), "{id}: {tried} tried");
        }
    }
}
