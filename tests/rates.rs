//! Rates over real sockets: served with their receipts, or refused plainly.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

mod support;

use serde_json::{Value, json};
use std::{
    io::Write,
    process::{Command, Stdio},
};
use support::{Got, Service};

const PAIRS: (&str, &str) = ("pairs", r#"[{name="BTC-USD"}, {name="BTC-USDT"}, {name="BTC-USDC"}]"#);

async fn started(keys: &[(&str, &str)]) -> Service {
    let service = Service::start((1, 5), &[&[PAIRS], keys].concat()).await;
    service
        .until("/v1/rates/BTC-USD", "every venue votes", |got| got.status == 200 && got.body["votes"].as_array().map(Vec::len) == Some(12))
        .await;
    service
}

/// Runs `quorate verify -` on a body: the exit code, and what was said.
fn verify(body: &str) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quorate"));
    let mut child = command.args(["verify", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(body.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    let said = [done.stdout, done.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    (done.status.code().unwrap(), said)
}

fn sections(receipt: &Value) -> Vec<&Value> {
    std::iter::once(receipt).chain(receipt["conversions"].as_array().unwrap()).collect()
}

/// Holds a receipt to the laws of every one.
fn lawful(receipt: &Value) {
    for section in sections(receipt) {
        let (quotes, misses) = (section["quotes"].as_array().unwrap(), section["misses"].as_array().unwrap());
        assert_eq!(section["counts"]["asked"], json!(quotes.len() + misses.len()), "{section}");
        assert_eq!(section["counts"]["received"], json!(quotes.len()));
        assert!(quotes.iter().all(|quote| !quote["decision"].as_str().unwrap().is_empty()));
        assert!(misses.iter().all(|miss| !miss["reason"].as_str().unwrap().is_empty()));
    }
}

#[actix_web::test]
async fn a_rate_comes_with_its_receipt_which_verifies_and_is_kept() {
    let service = started(&[]).await;
    let got = service.get("/v1/rates/btc_usd").await;
    assert_eq!(
        (got.status, &got.body["pair"], &got.body["status"], &got.body["simulated"]),
        (200, &json!("BTC-USD"), &json!("ok"), &json!(true))
    );
    lawful(&got.body);
    let through = |quote: &str| {
        got.body["quotes"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|q| q["pair"] == json!(format!("BTC-{quote}")) && q["decision"] == "in")
            .count()
    };
    assert!(
        through("USD") == 4 && through("USDT") == 12 && through("USDC") == 7,
        "{} {} {}",
        through("USD"),
        through("USDT"),
        through("USDC")
    );
    let usdt = got.body["quotes"].as_array().unwrap().iter().find(|q| q["pair"] == "BTC-USDT").unwrap();
    assert_eq!((&usdt["path"][0]["from"], &usdt["path"][0]["to"], &usdt["hops"]), (&json!("USDT"), &json!("USD"), &json!(1)));

    let (code, said) = verify(&got.text);
    assert_eq!(code, 0, "{said}");
    let id = got.body["id"].as_str().unwrap();
    assert!(said.starts_with("verified") && said.contains(id) && id.starts_with("r1_") && id.len() == 29, "{said}");
    let (code, said) = verify(&got.text.replacen("\"status\":\"ok\"", "\"status\":\"degraded\"", 1));
    assert_eq!(code, 1, "{said}");

    let kept = service.get(&format!("/v1/receipts/{id}")).await;
    assert_eq!((kept.status, &kept.text), (200, &got.text));
    assert_eq!(service.get("/v1/receipts/r1_aaaaaaaaaaaaaaaaaaaaaaaaaa").await.code(), (404, "unknown_receipt"));
    let short = service.get("/v1/rates/BTC-USD?receipt=short").await;
    let names: Vec<&String> = short.body.as_object().unwrap().keys().collect();
    assert_eq!(names, ["age_ms", "as_of", "base", "counts", "id", "pair", "quote", "rate", "simulated", "status"]);
    let kept = service.get(&format!("/v1/receipts/{}", short.body["id"].as_str().unwrap())).await;
    assert_eq!((kept.status, &kept.body["rate"]), (200, &short.body["rate"]), "an id that a short answer gave is kept, too");
    service.stop().await;
}

#[actix_web::test]
async fn headers_tell_age_and_version_and_what_the_caller_has_is_not_sent_again() {
    let service = started(&[("poll_ms", "3600000"), ("max_age_ms", "600000")]).await;
    let first = service.get("/v1/rates/BTC-USD").await;
    let tag = first.header("etag").unwrap().to_owned();
    assert_eq!(tag, format!("W/\"{}\"", first.body["id"].as_str().unwrap()));
    assert!(
        first.header("quorate-age-ms").is_some()
            && first.header("age").is_some()
            && first.header("cache-control").unwrap().starts_with("max-age=")
    );
    let again = service.get_with("/v1/rates/BTC-USD", &[("if-none-match", &tag)]).await;
    assert_eq!((again.status, again.text.as_str()), (304, ""));
    let fresh = service.get("/v1/rates/BTC-USD?fresh=true").await;
    assert_eq!((fresh.status, fresh.header("cache-control")), (200, Some("no-store")));
    assert!(
        fresh.body["id"] != first.body["id"] && ["fetch", "deadline"].contains(&fresh.body["made"].as_str().unwrap()),
        "{}",
        fresh.body["made"]
    );
    lawful(&fresh.body);
    service.stop().await;
}

#[actix_web::test]
async fn what_is_wrong_with_a_request_is_named() {
    let service = started(&[]).await;
    for (path, status, code) in [
        ("/v1/rates/BTC-USD?allow=ok", 400, "invalid_parameter"),
        ("/v1/rates/BTC-USD?receipt=long", 400, "invalid_parameter"),
        ("/v1/rates/BTC-USD?min_sources=0", 400, "invalid_parameter"),
        ("/v1/rates/BTC-USD?pairs=ETH-USD", 400, "unknown_parameter"),
        ("/v1/rates/BTC-USD?allow=held&allow=stale", 400, "duplicate_parameter"),
        ("/v1/rates/BTCUSDX", 400, "invalid_pair"),
        ("/v1/rates", 400, "missing_parameter"),
        ("/v1/receipts/x?y=1", 400, "unknown_parameter"),
    ] {
        assert_eq!(service.get(path).await.code(), (status, code), "{path}");
    }
    service.until("/v1/rates/NONE-USD", "every venue says that it does not list it", |got| got.code() == (404, "unknown_pair")).await;
    let batch = service.get("/v1/rates?pairs=BTC-USD,btc%2Fusdt,NONE-USD,x&receipt=short").await;
    let items: Vec<(u64, &str)> = batch.body["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (item["http_status"].as_u64().unwrap(), item["status"].as_str().unwrap()))
        .collect();
    assert_eq!(items, [(200, "ok"), (200, "ok"), (404, "unknown_pair"), (400, "invalid_pair")]);
    service.stop().await;
}

fn refusal(got: &Got) -> (u16, &str) {
    assert_eq!(got.header("retry-after"), Some("1"), "{}", got.text);
    lawful(&got.body["receipt"]);
    let (code, said) = verify(&got.text);
    assert_eq!(code, 0, "the receipt of a refusal verifies: {said}");
    got.code()
}

#[actix_web::test]
async fn too_few_sources_are_refused_with_the_receipt_unless_the_caller_takes_them() {
    let service = started(&[]).await;
    let alone = service.get("/v1/rates/BTC-USD?venues=kraken").await;
    assert_eq!(refusal(&alone), (503, "insufficient_sources"));
    assert_eq!(
        (&alone.body["receipt"]["status"], alone.body["last_good"].is_string(), alone.body["last_good_age_ms"].is_u64()),
        (&json!("single_source"), true, true)
    );
    let taken = service.get("/v1/rates/BTC-USD?venues=kraken&min_sources=1").await;
    assert_eq!((taken.status, &taken.body["status"]), (200, &json!("single_source")));
    let two = service.get("/v1/rates/BTC-USD?venues=kraken,bitstamp").await;
    assert_eq!((two.status, &two.body["status"], two.body["counts"]["survivors"].as_u64()), (200, &json!("degraded"), Some(2)));
    assert_eq!(refusal(&service.get("/v1/rates/BTC-USD?min_sources=13&deadline_ms=300").await), (503, "insufficient_sources"));
    assert_eq!(service.get("/v1/rates/BTC-USD?min_sources=12").await.status, 200);
    service.stop().await;
}

#[actix_web::test]
async fn with_every_venue_silent_the_last_good_rate_is_stale_and_then_there_is_none() {
    let service = started(&[
        ("rate.stale_ms", "3000"),
        ("rate.max_age_polled_ms", "1000"),
        ("max_age_ms", "500"),
        ("deadline_ms", "100"),
        ("fetch_timeout_ms", "300"),
    ])
    .await;
    service.tell_sim("/_sim/faults", json!({"faults": [{"venue": "*", "fault": "silent"}]})).await;
    let stale = service.until("/v1/rates/BTC-USD", "the last good rate is stale", |got| got.code() == (503, "stale")).await;
    assert_eq!(refusal(&stale), (503, "stale"));
    assert_eq!(stale.body["last_good"], stale.body["receipt"]["rate"]);
    let taken = service.get("/v1/rates/BTC-USD?allow=held,stale").await;
    assert!(
        taken.status == 200
            && taken.body["status"] == "stale"
            && taken.body["rate"].is_string()
            && taken.body["last_good"]["age_ms"].is_u64(),
        "{}",
        taken.text
    );
    let none =
        service.until("/v1/rates/BTC-USD?allow=stale", "the last good rate is too old", |got| got.code() == (503, "unavailable")).await;
    assert_eq!(refusal(&none), (503, "unavailable"));
    assert!(none.body["receipt"]["rate"].is_null() && none.body["last_good_age_ms"].as_u64().unwrap() > 3000);
    service.mend().await;
    service.until("/v1/rates/BTC-USD", "it recovers by itself", |got| got.status == 200).await;
    service.stop().await;
}
