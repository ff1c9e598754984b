//! `quorate verify`, and the receipts of every market incident.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects)]

use quorate::replay::Replay;
use quorate_actors::rate::{Made, Receipt, verify};
use serde_json::{Value, json};
use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
    sync::Arc,
};

/// A market in three currencies, one venue of which is wrong by a factor, then steps over to the others.
const REPLAY: &str = r#"{"pair":"BTC/USD","class":"major","frames":[
 {"at":1000,"quotes":[
  {"venue":"a","pair":"BTC/USD","bid":"60000","ask":"60010"},{"venue":"b","pair":"BTC/USD","bid":"60001","ask":"60011"},
  {"venue":"c","pair":"BTC/USDT","bid":"60030","ask":"60040"},{"venue":"d","pair":"USD/BTC","last":"0.00001666"},
  {"venue":"e","pair":"BTC/USD","bid":"600000","ask":"600100"},
  {"venue":"a","pair":"USDT/USD","bid":"0.9994","ask":"0.9996"},{"venue":"b","pair":"USD/USDT","bid":"1.0004","ask":"1.0006"}]},
 {"at":1010,"quotes":[
  {"venue":"a","pair":"BTC/USD","bid":"60000","ask":"60010"},{"venue":"b","pair":"BTC/USD","bid":"60001","ask":"59999"},
  {"venue":"c","pair":"BTC/EUR","bid":"55000","ask":"55010"},{"venue":"e","pair":"BTC/USD","bid":"60005","ask":"60015"}]}]}"#;

fn receipts(text: &str) -> Vec<Receipt> {
    let replay = Replay::read(text).unwrap();
    let rules = Arc::new(replay.rules.clone());
    replay.run().map(|outcome| Receipt::new(outcome, Arc::clone(&rules), Vec::new(), Made::Memory, true)).collect()
}

/// Runs the command on a body from standard input.
fn verified(body: &[u8], flags: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quorate"));
    command.arg("verify").args(flags).arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(body).unwrap();
    child.wait_with_output().unwrap()
}

fn told(output: &Output) -> (i32, &str, &str) {
    (output.status.code().unwrap(), str::from_utf8(&output.stdout).unwrap(), str::from_utf8(&output.stderr).unwrap())
}

#[test]
fn a_receipt_is_verified_and_a_changed_one_is_not() {
    let receipts = receipts(REPLAY);
    let [first, second] = receipts.as_slice() else { panic!("{}", receipts.len()) };
    let rate = first.outcome.rate.unwrap();
    let output = verified(&first.bytes(), &[]);
    assert_eq!(told(&output), (0, format!("verified {} BTC-USD ok {rate} SIMULATED\n", first.id()).as_str(), ""));
    let output = verified(&second.bytes(), &["--json"]);
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let want = json!({"verified": true, "error": null, "id": second.id(), "pair": "BTC-USD", "status": second.outcome.status.slug(), "rate": second.outcome.rate.map(|r| r.to_string()), "simulated": true});
    assert_eq!((output.status.code(), said), (Some(0), want));

    let body = String::from_utf8(first.bytes().to_vec()).unwrap();
    let changed = body.replacen("\"unit_suspect\"", "\"in\"", 1);
    assert_ne!(changed, body);
    let path = "quotes[4].decision";
    let output = verified(changed.as_bytes(), &[]);
    let (code, out, err) = told(&output);
    assert_eq!((code, out), (1, ""));
    assert_eq!(err, format!("quorate verify: not verified: {path} is \"in\", recomputed \"unit_suspect\"\n"));
    let output = verified(changed.as_bytes(), &["--json"]);
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((output.status.code(), &said["verified"]), (Some(1), &json!(false)));
    assert!(said["error"].as_str().unwrap().starts_with(path), "{said}");
}

#[test]
fn what_is_no_receipt_is_a_failure_that_says_why() {
    for (body, want) in [("", "not a receipt: EOF"), ("{\"pair\":1}", "base: nothing, expected an asset"), ("[1.5]", "floating point")] {
        let output = verified(body.as_bytes(), &[]);
        let (code, out, err) = told(&output);
        assert!(code == 1 && out.is_empty() && err.contains(want), "{err}");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_quorate")).args(["verify", "no/such/file.json"]).output().unwrap();
    let (code, out, err) = told(&output);
    assert!(code == 1 && out.is_empty() && err.starts_with("quorate verify: no/such/file.json: "), "{err}");
    let problem = json!({"code": "held", "status": 503, "receipt": serde_json::from_slice::<Value>(&receipts(REPLAY)[1].bytes()).unwrap()});
    assert_eq!(verified(problem.to_string().as_bytes(), &[]).status.code(), Some(0), "a problem has the whole receipt");
}

/// Holds every frame of a replay's receipts to themselves.
fn held(name: &str, text: &str) -> usize {
    let receipts = receipts(text);
    for (frame, receipt) in receipts.iter().enumerate() {
        let body = receipt.bytes();
        let found = verify(&body).unwrap_or_else(|error| panic!("{name}, frame {frame}: {error}\n{}", String::from_utf8_lossy(&body)));
        assert_eq!((found.id.as_str(), found.rate), (receipt.id(), receipt.outcome.rate), "{name}, frame {frame}");
    }
    receipts.len()
}

#[test]
fn the_receipt_of_every_frame_of_every_incident_is_verified() {
    assert_eq!(held("built in", REPLAY), 2);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/incidents");
    for entry in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
        if entry.extension().is_some_and(|extension| extension == "json") {
            assert!(held(&entry.display().to_string(), &fs::read_to_string(&entry).unwrap()) > 0);
        }
    }
}
