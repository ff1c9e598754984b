//! A receipt says everything that led to its rate, and can be held against that.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects)]

#[path = "receipts/world.rs"]
mod world;

use quorate_actors::{
    model::Reason,
    rate::{Decision, Difference, Receipt, verify},
};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};
use world::World;

fn receipts(seeds: Range<u64>) -> impl Iterator<Item = Receipt> {
    seeds.flat_map(|seed| {
        let mut world = World::new(seed);
        (0..16).map(move |_| world.step())
    })
}

fn parsed(receipt: &Receipt) -> Value {
    serde_json::from_slice(&receipt.bytes()).unwrap()
}

/// Asserts that a body is not what its receipt comes to, and gives the member that is named.
fn refused(body: &[u8]) -> String {
    match verify(body) {
        Err(Difference::Member { path, .. }) => path,
        other => panic!("{other:?}: {}", String::from_utf8_lossy(body)),
    }
}

#[test]
fn every_receipt_is_verified_from_itself_alone() {
    let (mut words, mut verified) = (BTreeMap::<String, usize>::new(), 0);
    for receipt in receipts(0..120) {
        let (body, outcome) = (receipt.bytes(), &receipt.outcome);
        let found = verify(&body).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&body)));
        assert_eq!((found.id.as_str(), found.pair, found.status, found.rate), (receipt.id(), outcome.pair, outcome.status, outcome.rate));
        verified += 1;
        let decisions = outcome.rows.iter().map(|row| row.decision.slug());
        let paths = outcome
            .paths
            .iter()
            .map(|path| if path.steps.iter().any(|step| step.par) { "par" } else { ["", "one", "two"][path.steps.len()] });
        let marks = outcome.before.marks.values().map(|mark| if mark.put_out.is_some() { "put out" } else { "was out" });
        let holds = outcome.before.hold.iter().map(|_| "hold");
        let walled = outcome.rows.iter().filter(|row| row.decision == Decision::Refused(Reason::Region) && row.converted.is_some());
        for word in decisions.chain(paths).chain(marks).chain(holds).chain(walled.map(|_| "premium")).chain([outcome.status.slug()]) {
            *words.entry(word.to_owned()).or_default() += 1;
        }
    }
    assert_eq!(verified, 120 * 16);
    // What a world never meets is not tested.
    for word in "in halted non_positive crossed wide future stale out_of_order frozen region no_conversion unit_suspect collision_suspect outlier cooling \
                 ok degraded single_source held unavailable inconsistent par one two hold premium"
        .split_ascii_whitespace()
        .chain(["put out", "was out"])
    {
        assert!(words.contains_key(word), "no {word} in {words:?}");
    }
}

#[test]
fn what_is_asked_is_answered_for_in_every_section() {
    for receipt in receipts(200..260) {
        let body = parsed(&receipt);
        let asked = receipt.outcome.rows.len() + receipt.misses.len();
        let sections: Vec<&Value> = std::iter::once(&body).chain(body["conversions"].as_array().unwrap()).collect();
        let (mut counted, mut seen, mut pairs) = (0, BTreeSet::new(), BTreeSet::new());
        for section in sections {
            let (quotes, misses) = (section["quotes"].as_array().unwrap(), section["misses"].as_array().unwrap());
            let (counts, votes) = (&section["counts"], section["votes"].as_array().unwrap());
            let admitted = quotes.iter().filter(|quote| !quote["converted"].is_null() && quote["decision"] != "region").count();
            assert_eq!(counts["asked"], quotes.len() + misses.len());
            assert_eq!(
                (&counts["received"], &counts["admitted"], &counts["votes"]),
                (&json!(quotes.len()), &json!(admitted), &json!(votes.len()))
            );
            counted += quotes.len() + misses.len();
            for market in quotes.iter().chain(misses) {
                assert!(seen.insert((market["venue"].to_string(), market["pair"].to_string())), "{market} twice");
            }
            // A quote has a vote, or a word why not.
            for quote in quotes {
                let vote = votes.iter().find(|vote| vote["operator"] == quote["operator"]);
                let is_in = quote["decision"] == "in";
                assert_eq!(
                    is_in,
                    vote.is_some_and(|vote| vote["decision"] == "in") && !quote["converted"].is_null() && !is_refused(quote),
                    "{quote}"
                );
                assert!(quote["vote"] == false || vote.is_some());
            }
            let [base, quote] = [0, 1].map(|at| section["pair"].as_str().unwrap().split('-').nth(at).unwrap().to_owned());
            assert!(pairs.insert((base.clone().min(quote.clone()), base.max(quote))), "a section twice");
        }
        assert_eq!(counted, asked);
    }
}

fn is_refused(quote: &Value) -> bool {
    ["halted", "non_positive", "crossed", "wide", "future", "stale", "out_of_order", "frozen", "region", "no_conversion"]
        .iter()
        .any(|reason| quote["decision"] == *reason)
}

#[test]
fn a_body_is_canonical_and_its_id_stable() {
    let sorted = serde_json::from_str::<Value>(r#"{"b":1,"a":2}"#).unwrap().to_string();
    assert_eq!(sorted, r#"{"a":2,"b":1}"#, "this library's objects are sorted by name");
    let mut ids = BTreeSet::new();
    for receipt in receipts(300..330) {
        assert_eq!(receipt.known_id(), None, "nothing is written before it is asked for");
        let body = receipt.bytes();
        assert_eq!(parsed(&receipt).to_string().as_bytes(), body, "keys sorted, no white space");
        assert_eq!(receipt.known_id(), Some(receipt.id()));
        let again = Receipt::read(&body).unwrap().recomputed();
        assert_eq!(again.id(), receipt.id());
        let id = receipt.id().strip_prefix("r1_").unwrap();
        assert!(id.len() == 26 && id.bytes().all(|b| matches!(b, b'a'..=b'z' | b'2'..=b'7')), "{id}");
        assert_eq!(parsed(&receipt)["id"], receipt.id());
        ids.insert(receipt.id().to_owned());
    }
    assert!(ids.len() > 30 * 12, "only {} ids", ids.len());
}

/// Gives a body with much in it: conversions, misses, a hold, marks, something out.
fn rich() -> Vec<u8> {
    let is_rich = |receipt: &Receipt| {
        let outcome = &receipt.outcome;
        outcome.before.hold.is_some() && !outcome.before.marks.is_empty() && !outcome.conversions.is_empty() && !receipt.misses.is_empty()
    };
    let of_some_length = |body: &Vec<u8>| (6_000..10_000).contains(&body.len());
    receipts(0..2_000).filter(is_rich).map(|receipt| receipt.bytes().to_vec()).find(of_some_length).unwrap()
}

/// Gives the places of the digits of ages and latencies.
fn not_compared(body: &[u8]) -> BTreeSet<usize> {
    let text = std::str::from_utf8(body).unwrap();
    let names = ["\"age_ms\":", "\"latency_ms\":"];
    let starts = names.iter().flat_map(|name| text.match_indices(name).map(|(at, _)| at + name.len()));
    starts.flat_map(|start| (start..).take_while(|at| body[*at].is_ascii_digit())).collect()
}

#[test]
fn no_digit_can_be_changed() {
    let body = rich();
    let free = not_compared(&body);
    let mut changed = 0;
    for at in (0..body.len()).filter(|at| body[*at].is_ascii_digit()) {
        for digit in (b'0'..=b'9').filter(|digit| *digit != body[at]) {
            let mut body = body.clone();
            body[at] = digit;
            let is_number = body[at - 1] != b':' || digit != b'0' || !body[at + 1].is_ascii_digit();
            assert_eq!(
                verify(&body).is_ok(),
                free.contains(&at) && is_number,
                "at {at}: {}",
                String::from_utf8_lossy(&body[at - 20..at + 20])
            );
            changed += 1;
        }
    }
    assert!(changed > 9 * 1_000, "only {changed} changes");
}

/// Gives what a body says, but ages and latencies; nothing of what is no JSON.
fn said(body: &[u8]) -> Option<Value> {
    fn forget(value: &mut Value) {
        match value {
            Value::Object(members) => {
                for (name, value) in members.iter_mut() {
                    if matches!(name.as_str(), "age_ms" | "latency_ms") && value.is_u64() {
                        *value = Value::Null;
                    }
                    forget(value);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(forget),
            _ => {}
        }
    }
    let mut value = serde_json::from_slice(body).ok()?;
    forget(&mut value);
    Some(value)
}

#[test]
fn nothing_else_is_verified_and_nothing_panics() {
    let body = rich();
    let original = said(&body);
    let mut rng = fastrand::Rng::with_seed(7);
    let held = |changed: &[u8]| {
        let is_same = said(changed) == original;
        assert_eq!(verify(changed).is_ok(), is_same, "{}", String::from_utf8_lossy(changed));
        is_same
    };
    let mut same = 0;
    for at in 0..body.len() {
        let mut cut = body.clone();
        cut.remove(at);
        same += usize::from(held(&cut));
        let mut changed = body.clone();
        changed[at] = *rng.choice(b"09-.e\",:[]{}\\ nt\0\xff").unwrap();
        same += usize::from(held(&changed));
        if at % 8 == 0 {
            assert!(!held(&body[..at]), "the first {at} bytes");
            let mut doubled = body.clone();
            let from = rng.usize(..body.len());
            doubled.splice(at..at, body[from..(from + rng.usize(1..40)).min(body.len())].iter().copied());
            same += usize::from(held(&doubled));
        }
    }
    assert!(same > 0, "ages are free");
}

/// Changes a member of a body, and gives it as text.
fn with(body: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(body).unwrap();
    change(&mut value);
    value.to_string().into_bytes()
}

#[test]
fn the_first_member_that_differs_is_named() {
    let body = rich();
    let value: Value = serde_json::from_slice(&body).unwrap();
    let at = value["quotes"].as_array().unwrap().iter().position(|quote| quote["decision"] == "in").unwrap();
    assert_eq!(refused(&with(&body, |value| value["quotes"][at]["decision"] = json!("outlier"))), format!("quotes[{at}].decision"));
    assert_eq!(refused(&with(&body, |value| value["rate"] = json!("1"))), "rate");
    assert_eq!(refused(&with(&body, |value| value["conversions"][0]["rate"] = json!("7"))), "conversions[0].rate");
    assert_eq!(refused(&with(&body, |value| value["counts"]["votes"] = json!(99))), "counts.votes");
    assert_eq!(refused(&with(&body, |value| value["id"] = json!("r1_aaaaaaaaaaaaaaaaaaaaaaaaaa"))), "id");
    assert_eq!(refused(&with(&body, |value| value["misses"][0]["detail"] = json!("no"))), "id", "only the id knows");
    assert_eq!(refused(&with(&body, |value| value["made_up"] = json!(1))), "made_up");
    assert_eq!(
        refused(&with(&body, |value| value[&format!("b\u{1b}{}", "x".repeat(99))] = json!(1))),
        format!("b\\u{{1b}}{}", "x".repeat(38))
    );
    assert_eq!(refused(&with(&body, |value| drop(value.as_object_mut().unwrap().remove("median")))), "median");
    assert_eq!(refused(&with(&body, |value| value["quotes"][at]["age_ms"] = json!("7"))), format!("quotes[{at}].age_ms"));
    // A quote that is left out is missed where it is counted.
    assert_eq!(refused(&with(&body, |value| drop(value["quotes"].as_array_mut().unwrap().remove(at)))), "counts.admitted");
    let Err(Difference::Member { said, recomputed, .. }) = verify(&with(&body, |value| value["status"] = json!("fine"))) else { panic!() };
    assert_eq!((said, recomputed), ("\"fine\"".to_owned(), value["status"].to_string()));
}

#[test]
fn what_is_no_receipt_is_told_from_a_wrong_one() {
    let body = rich();
    let says = |body: &[u8]| match verify(body) {
        Err(Difference::Unreadable(error)) => error.to_string(),
        other => panic!("{other:?}"),
    };
    for (body, want) in [
        (b"".to_vec(), "not a receipt: EOF"),
        (b"[]".to_vec(), "base: nothing, expected an asset such as BTC"),
        (b"{}".to_vec(), "base: nothing, expected"),
        (with(&body, |value| value["quotes"][0]["bid"] = json!("1e3x")), "quotes[0].bid: \"1e3x\", expected a price or null"),
        (with(&body, |value| value["quotes"][0]["pair"] = json!("BTCUSD")), "quotes[0].pair: \"BTCUSD\", expected a pair such as BTC-USD"),
        (with(&body, |value| value["conversions"][0]["misses"] = json!({})), "conversions[0].misses: an object of 0, expected a list"),
        (with(&body, |value| value["as_of"] = json!("soon")), "as_of: \"soon\", expected a time such as"),
        (with(&body, |value| value["rules"]["cap"] = json!(0)), "rules.cap: 0, expected a plain decimal"),
        (
            with(&body, |value| value["state_before"]["marks"][0]["operator"] = Value::Null),
            "state_before.marks[0].operator: null, expected a text",
        ),
        (vec![b' '; 4_194_305], "4194305 bytes, expected 4194304 at most"),
    ] {
        let said = says(&body);
        assert!(said.starts_with(want), "{said}, not {want}");
    }
}

#[test]
fn a_receipt_may_come_in_a_problem_or_made_pretty() {
    let body = rich();
    let value: Value = serde_json::from_slice(&body).unwrap();
    let id = value["id"].as_str().unwrap();
    let problem = json!({"type": "about:blank", "status": 503, "code": "held", "receipt": value, "last_good_age_ms": 7, "request_id": "x", "suggestions": []});
    for body in [problem.to_string(), serde_json::to_string_pretty(&value).unwrap(), serde_json::to_string_pretty(&problem).unwrap()] {
        assert_eq!(verify(body.as_bytes()).unwrap().id, id);
    }
    let twice = String::from_utf8(body.clone()).unwrap().replacen("{\"as_of\"", "{\"rate\":\"1\",\"as_of\"", 1);
    assert!(verify(twice.as_bytes()).unwrap_err().to_string().contains("member \"rate\" twice"));
    assert!(matches!(
        verify(&with(&problem.to_string().into_bytes(), |value| value["receipt"]["rate"] = json!("1"))),
        Err(Difference::Member { .. })
    ));
}
