//! Receipts of random worlds: each proves itself, and nothing in one can be changed unnoticed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

use fastrand::Rng;
use quorate_actors::{
    model::{Amount, Asset, Fault, Pair, Price, Reason, Source, Ticker, UnixMs, VenueId},
    rate::{Class, Decision, Made, MarketMiss, Memory, Offer, Receipt, Rules, Status, pass, verify},
    venue::{Basis, Member, Region, TimeOf},
};
use rust_decimal::Decimal;
use serde_json::Value;
use std::{collections::BTreeMap, sync::Arc, time::Duration};

const START: i64 = 1_796_036_400_000;
/// What each asset is worth in dollars, in hundredths of a cent.
const WORTH: [(&str, u64); 7] =
    [("BTC", 670_000_000), ("USD", 10_000), ("USDT", 9_996), ("USDC", 10_001), ("EUR", 10_800), ("USD1", 10_003), ("BRL", 1_800)];
const MARKETS: [(&str, &str); 13] = [
    ("BTC", "USD"),
    ("BTC", "USDT"),
    ("BTC", "USDC"),
    ("BTC", "USD1"),
    ("BTC", "BRL"),
    ("USD", "BTC"),
    ("USDT", "USD"),
    ("USD", "USDT"),
    ("USDC", "USD"),
    ("EUR", "USD"),
    ("USDT", "EUR"),
    ("USDT", "BRL"),
    ("BRL", "USDT"),
];

fn pair(base: &str, quote: &str) -> Pair {
    Pair::new(base, quote).unwrap()
}

fn worth(asset: Asset) -> u64 {
    WORTH.iter().find(|(code, _)| asset == *code).unwrap().1
}

/// Gives what a venue may say: mostly near the truth, now and then absurd.
fn ticker(rng: &mut Rng, market: Pair, drift: u64) -> Ticker {
    let mid = Decimal::from(worth(market.base) * if market.base == "BTC" { drift } else { 1000 })
        / Decimal::from(worth(market.quote) * if market.quote == "BTC" { drift } else { 1000 });
    let by = |parts: i64| Price::new((mid * Decimal::new(1_000_000 + parts, 6)).round_dp(12));
    let apart = match rng.u32(..20) {
        0 => 90_000,
        1 => -400_000,
        2 => 9_000_000,
        _ => rng.i64(-3_000..3_000),
    };
    let half = if rng.u32(..30) == 0 { 80_000 } else { rng.i64(0..400) };
    let (bid, ask) = if rng.u32(..40) == 0 { (by(apart + 50), by(apart - 50)) } else { (by(apart - half), by(apart + half)) };
    Ticker {
        bid: bid.filter(|_| rng.u32(..40) > 0),
        ask,
        last: by(apart),
        bid_size: Amount::new(Decimal::from(rng.u32(1..5))),
        base_volume: Amount::new(Decimal::from(rng.u32(1..3))),
        halted: rng.u32(..50) == 0,
        ..Ticker::default()
    }
}

/// Runs a world of so many passes and gives each with its receipt.
fn world(seed: u64, passes: usize) -> Vec<Receipt> {
    let mut rng = Rng::with_seed(seed);
    let rules = Rules { par: vec![(Asset::new("USD1").unwrap(), Asset::new("USD").unwrap())], ..Rules::of(Class::Major) };
    let rules = Arc::new(rules);
    let members: Vec<Arc<Member>> = (0..rng.usize(2..9))
        .map(|number| {
            let times = [TimeOf::Book, TimeOf::Answer, TimeOf::Trade, TimeOf::None];
            Arc::new(Member {
                venue: VenueId::new(&format!("v{number}")),
                operator: if number == 1 { "v0".into() } else { format!("v{number}").into() },
                region: (rng.u32(..12) == 0).then_some(Region::Kr),
                basis: if rng.u32(..5) == 0 { Basis::Last } else { Basis::Mid },
                time_of: times[rng.usize(..4)],
            })
        })
        .collect();
    let (mut memory, mut now, mut drift) = (Memory::default(), START, 1000);
    let mut said: BTreeMap<(usize, Pair), Ticker> = BTreeMap::new();
    (0..passes)
        .map(|_| {
            now += [0, 400, 1_000, 5_000, 31_000, 61_000][rng.usize(..6)];
            if rng.u32(..10) == 0 {
                drift = rng.u64(600..1_600);
            }
            let (mut offers, mut misses) = (Vec::new(), Vec::new());
            for (number, member) in members.iter().enumerate() {
                for (base, quote) in MARKETS {
                    if rng.u32(..3) == 0 {
                        continue;
                    }
                    let market = pair(base, quote);
                    if rng.u32(..8) == 0 {
                        let fault = Arc::new(Fault::said(Reason::Timeout, "no answer \"in\" 500 ms\u{7}"));
                        misses.push(MarketMiss { venue: member.venue.clone(), pair: market, fault });
                        continue;
                    }
                    let entry = said.entry((number, market)).or_insert_with(|| ticker(&mut rng, market, drift));
                    if rng.u32(..4) > 0 {
                        *entry = ticker(&mut rng, market, drift);
                    }
                    let venue_time = (member.time_of != TimeOf::None).then(|| UnixMs(now - rng.i64(-6_000..4_000)));
                    offers.push(Offer {
                        member: Arc::clone(member),
                        pair: market,
                        ticker: Ticker { venue_time, ..*entry },
                        received: UnixMs(now - rng.i64(0..31_000) / if rng.u32(..5) > 0 { 10 } else { 1 }),
                        latency: Duration::from_millis(rng.u64(..400)),
                        source: Source::Rest,
                    });
                }
            }
            let outcome = pass(pair("BTC", "USD"), &rules, offers, UnixMs(now), &mut memory);
            Receipt::new(outcome, Arc::clone(&rules), misses, Made::ALL[rng.usize(..4)], rng.bool())
        })
        .collect()
}

/// Asserts that quotes and misses add up to what was asked, and that each quote left out says why.
fn lawful(section: &Value) {
    let list = |name: &str| section[name].as_array().unwrap();
    let counts = &section["counts"];
    assert_eq!(counts["asked"], list("quotes").len() + list("misses").len(), "{section}");
    assert_eq!(counts["received"], list("quotes").len());
    assert_eq!(counts["votes"], list("votes").len());
    let admitted = list("quotes").iter().filter(|quote| !quote["converted"].is_null()).count();
    assert_eq!(counts["admitted"], admitted, "{section}");
    for quote in list("quotes") {
        let word = quote["decision"].as_str().unwrap();
        let known = word == "in"
            || Reason::ALL.iter().any(|reason| reason.slug() == word)
            || quorate_actors::rate::Label::ALL.iter().any(|label| label.slug() == word);
        assert!(known, "{quote}");
    }
}

fn seeds() -> u64 {
    std::env::var("QUORATE_SEEDS").ok().and_then(|seeds| seeds.parse::<u64>().ok()).unwrap_or(2_000) / 100
}

#[test]
fn every_receipt_proves_itself_and_is_its_own_canonical_form() {
    let (mut statuses, mut decisions) = (BTreeMap::<&str, usize>::new(), BTreeMap::<&str, usize>::new());
    for seed in 0..seeds().max(60) {
        for receipt in world(seed, 12) {
            let bytes = receipt.bytes();
            let verified = verify(&bytes).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", String::from_utf8_lossy(&bytes)));
            assert_eq!((verified.id.as_str(), verified.status), (receipt.id(), receipt.outcome.status));
            let json: Value = serde_json::from_slice(&bytes).unwrap();
            assert_eq!(serde_json::to_vec(&json).unwrap(), bytes, "sorted, without white space");
            assert!(receipt.id().len() == 29 && receipt.id().starts_with("r1_") && receipt.known_id() == Some(receipt.id()));
            lawful(&json);
            json["conversions"].as_array().unwrap().iter().for_each(lawful);
            *statuses.entry(receipt.outcome.status.slug()).or_default() += 1;
            for row in &receipt.outcome.rows {
                *decisions.entry(row.decision.slug()).or_default() += 1;
                assert!(row.decision != Decision::In || row.price.is_some());
            }
        }
    }
    assert!(
        Status::ALL.iter().filter(|status| !matches!(status, Status::Stale)).all(|status| statuses.contains_key(status.slug())),
        "{statuses:?}"
    );
    for word in ["in", "halted", "non_positive", "crossed", "wide", "future", "stale", "out_of_order", "frozen", "region", "no_conversion"]
    {
        assert!(decisions.contains_key(word), "{word} never occurred: {decisions:?}");
    }
    assert!(["outlier", "cooling", "unit_suspect"].iter().all(|word| decisions.contains_key(word)), "{decisions:?}");
}

/// Gives the places of the digits that something else than an age or a latency is made of.
fn digits_that_count(body: &str) -> Vec<usize> {
    let mut skip = Vec::new();
    for name in ["\"age_ms\":", "\"latency_ms\":"] {
        for (at, _) in body.match_indices(name) {
            let from = at + name.len();
            let digits = body[from..].bytes().take_while(u8::is_ascii_digit).count();
            skip.extend(from..from + digits);
        }
    }
    let skip: std::collections::BTreeSet<usize> = skip.into_iter().collect();
    body.bytes().enumerate().filter(|(at, byte)| byte.is_ascii_digit() && !skip.contains(at)).map(|(at, _)| at).collect()
}

#[test]
fn one_digit_changed_anywhere_is_noticed() {
    let receipt = (0..20).map(|seed| world(seed, 6).pop().unwrap()).min_by_key(|receipt| receipt.bytes().len()).unwrap();
    let body = String::from_utf8(receipt.bytes().to_vec()).unwrap();
    let places = digits_that_count(&body);
    assert!(places.len() > 300, "{}", places.len());
    for at in places {
        let mut changed = body.clone().into_bytes();
        changed[at] = if changed[at] == b'9' { b'0' } else { changed[at] + 1 };
        assert!(
            verify(&changed).is_err(),
            "at {at}: {}",
            String::from_utf8_lossy(&changed[at.saturating_sub(40)..(at + 20).min(changed.len())])
        );
    }
    let older = body.replace("\"age_ms\":", "\"age_ms\":1").replace("\"latency_ms\":", "\"latency_ms\":1");
    assert_eq!(verify(older.as_bytes()).unwrap().id, receipt.id(), "ages and latencies prove nothing");
}

#[test]
fn the_first_difference_is_named() {
    let receipt = world(3, 5).pop().unwrap();
    let body = String::from_utf8(receipt.bytes().to_vec()).unwrap();
    let said = |from: &str, to: &str| verify(body.replacen(from, to, 1).as_bytes()).unwrap_err().to_string();
    assert!(said("\"made\":", "\"mode\":").contains("made: expected a member of that name"));
    assert!(said("{\"as_of\"", "{\"extra\":1,\"as_of\"").starts_with("extra differs: the receipt says 1, made again it is nothing"));
    assert!(said("{\"as_of\"", "{\"as_of\":\"x\",\"as_of\"").contains("as_of is there twice"));
    assert!(said(receipt.id(), "r1_aaaaaaaaaaaaaaaaaaaaaaaaaa").starts_with("id differs: the receipt says \"r1_aaaa"));
    let status = format!("\"status\":\"{}\",\"votes\"", receipt.outcome.status.slug());
    let at = body.rfind(&status).unwrap();
    let changed = format!("{}\"status\":\"odd\",\"votes\"{}", &body[..at], &body[at + status.len()..]);
    assert!(verify(changed.as_bytes()).unwrap_err().to_string().starts_with("status differs: the receipt says \"odd\""));
    let refusal = format!("{{\"code\":\"held\",\"receipt\":{body}}}");
    assert_eq!(verify(refusal.as_bytes()).unwrap().id, receipt.id(), "a refusal bears its receipt");
    for no_receipt in ["", "{}", "[]", "null", "{\"receipt\":{}}", &"[".repeat(100_000), &"{\"a\":".repeat(100_000)] {
        assert!(verify(no_receipt.as_bytes()).is_err());
    }
}

#[test]
fn what_is_cut_or_spoilt_is_refused_without_a_panic() {
    let receipt = world(11, 4).pop().unwrap();
    let body = receipt.bytes();
    (0..body.len()).step_by(7).for_each(|at| assert!(verify(&body[..at]).is_err(), "cut at {at}"));
    let mut rng = Rng::with_seed(5);
    for _ in 0..4_000 {
        let mut spoilt = body.to_vec();
        let at = rng.usize(..spoilt.len());
        spoilt[at] = b"0-9.e\",:[]{}\\ \0\xff"[rng.usize(..16)];
        // It may still be the same, or differ in an age: what matters is that it returns.
        let _ = verify(&spoilt);
    }
}
