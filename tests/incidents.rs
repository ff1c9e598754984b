//! Holds the rule to market incidents: every frame of every file in `tests/incidents/` gives what the file says, and `docs/incidents.md` shows it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

#[path = "incidents/file.rs"]
mod file;
#[path = "incidents/page.rs"]
mod page;

use file::{Incident, incidents};
use quorate::replay::{Line, Replay};
use quorate_actors::{
    model::{Group, Reason},
    rate::{Label, Num, Status},
};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    fs,
    path::PathBuf,
    process::{Command, Output},
};

/// The five fields of an outcome.
const FIELDS: [&str; 5] = ["out", "rate", "refused", "status", "votes"];

/// Gives an outcome as it is compared: rates are decimals, whatever zeros stand at their ends.
fn comparable(outcome: &Value) -> Value {
    let mut outcome = outcome.clone();
    let fields: Vec<&str> = outcome.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, FIELDS, "{outcome}");
    if let Some(rate) = outcome["rate"].as_str() {
        let rate: Num = rate.parse().unwrap_or_else(|error| panic!("{rate}: {error}"));
        outcome["rate"] = rate.to_string().into();
    }
    outcome
}

/// Names every frame whose outcome is not the one that its file expects.
fn differing(incident: &Incident, outcomes: &[Value]) -> Vec<String> {
    let expected: Vec<&Value> = incident.frames().iter().map(|frame| &frame["expect"]).collect();
    assert_eq!(outcomes.len(), expected.len(), "{}: outcomes and frames", incident.name);
    let pairs = outcomes.iter().zip(expected).enumerate();
    let wrong = pairs.filter(|(_, (got, want))| comparable(got) != comparable(want));
    wrong.map(|(frame, (got, want))| format!("{}, frame {frame}:\n  gives    {got}\n  expected {want}", incident.name)).collect()
}

fn run(incident: &Incident) -> Vec<Value> {
    let replay = Replay::read(&incident.text).unwrap_or_else(|error| panic!("{}: {error}", incident.name));
    replay.run().map(|outcome| serde_json::to_value(Line::of(&outcome)).unwrap()).collect()
}

#[test]
fn every_frame_gives_what_its_file_expects() {
    let incidents = incidents();
    assert!(incidents.len() >= 100, "{} files", incidents.len());
    let wrong: Vec<String> = incidents.iter().flat_map(|incident| differing(incident, &run(incident))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_files_reach_every_status_reason_and_label() {
    let incidents = incidents();
    let expects: Vec<&Value> = incidents.iter().flat_map(|incident| incident.frames()).map(|frame| &frame["expect"]).collect();
    let words = |field: &'static str| -> BTreeSet<&str> {
        expects.iter().flat_map(|expect| expect[field].as_object().unwrap().values()).map(|word| word.as_str().unwrap()).collect()
    };
    let statuses: BTreeSet<&str> = expects.iter().map(|expect| expect["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, Status::ALL.into_iter().map(Status::slug).collect());
    assert_eq!(words("out"), Label::ALL.into_iter().map(Label::slug).collect());
    let admission = Reason::ALL.iter().filter(|reason| reason.group() == Group::Admission || **reason == Reason::Halted);
    assert_eq!(words("refused"), admission.map(|reason| reason.slug()).collect());
}

/// Runs `quorate replay` on a file.
fn replay(path: &PathBuf) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quorate"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("QUORATE_")) {
        command.env_remove(name);
    }
    command.arg("replay").arg(path).output().unwrap()
}

#[test]
fn the_command_prints_one_line_a_frame() {
    for incident in incidents() {
        let output = replay(&incident.path);
        let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8_lossy(&output.stderr));
        assert_eq!((output.status.code(), &*err), (Some(0), ""), "{}", incident.name);
        let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let wrong = differing(&incident, &lines);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

/// Makes a replay of one quote, in which a part is replaced.
fn changed(part: &str, by: &str) -> String {
    let good = r#"{"pair":"BTC/USD","class":"major","frames":[{"at":5,"quotes":[{"venue":"v","pair":"BTC/USDT","last":"7"}]}]}"#;
    assert!(part.is_empty() || good.contains(part), "{part}");
    good.replacen(part, by, 1)
}

/// Files that are no replays, and what the error about each must say.
fn bad() -> Vec<(&'static str, String, &'static str)> {
    let (long, deep) = ("9".repeat(10 << 20), format!("{}{}", "[".repeat(200_000), "]".repeat(200_000)));
    let quoted = |text: &str| format!("\"{text}\"");
    vec![
        ("empty", String::new(), "EOF while parsing"),
        ("no JSON", "pair: BTC/USD".into(), r#"expected value at line 1 column 1: "pair: BTC/USD""#),
        ("cut short", changed(r#"}]}]}"#, ""), "EOF while parsing"),
        ("more behind it", changed("", "") + "{}", r#"trailing characters at line 1 column 109: "{}""#),
        ("unknown class", changed("major", "minor"), r#"class: "minor", expected major, other or peg"#),
        ("NaN as text", changed("\"7\"", "\"NaN\""), r#"frames[0].quotes[0].last: "NaN", expected a price"#),
        ("NaN", changed("\"7\"", "NaN"), r#"expected value at line 1 column 101: "NaN}]}]}""#),
        ("a price that is a list", changed("\"7\"", "[7]"), r#"frames[0].quotes[0].last: "[7]", expected a price"#),
        ("a price beyond all", changed("\"7\"", "1e15"), r#"frames[0].quotes[0].last: "1e15", expected a price"#),
        ("no pair", changed(r#""pair":"BTC/USD","#, ""), "missing field `pair`"),
        ("no pair of a quote", changed(r#","pair":"BTC/USDT""#, ""), "missing field `pair`"),
        ("a pair of one", changed("BTC/USDT", "BTC"), r#"frames[0].quotes[0].pair: "BTC", expected a pair such as BTC/USD"#),
        ("no frames", changed(r#","frames":"#, r#","other":"#), "missing field `frames`"),
        ("a time that is none", changed("5", "\"soon\""), r#"frames[0].at: "soon", expected a time in seconds"#),
        ("a time beyond all", changed("5", "1e300"), r#"frames[0].at: "1e300", expected a time in seconds"#),
        (
            "a time from nowhere",
            changed(r#""last""#, r#""received":null,"venue_time":{},"last""#),
            r#"frames[0].quotes[0].venue_time: "{}""#,
        ),
        ("deep", deep.clone(), "not a replay"),
        ("deep in a price", changed("\"7\"", &deep), r#"frames[0].quotes[0].last: "[[[["#),
        ("long price", changed("7", &long), r#"frames[0].quotes[0].last: "9999"#),
        ("long pair", changed("BTC/USDT", &long), r#"frames[0].quotes[0].pair: "9999"#),
        ("long class", changed("major", &long), r#"class: "9999"#),
        (
            "long frames",
            changed(r#"[{"at":5,"quotes":[{"venue":"v","pair":"BTC/USDT","last":"7"}]}]"#, &quoted(&long)),
            r#"invalid type: string "9999"#,
        ),
        ("long par", changed(r#""frames""#, &format!(r#""settings":{{"par":[{}]}},"frames""#, quoted(&long))), r#"settings.par: "9999"#),
    ]
}

#[test]
fn a_bad_file_is_an_error_that_names_the_value() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join("bad-replay.json");
    for (name, text, says) in bad() {
        fs::write(&path, text).unwrap();
        let output = replay(&path);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!((output.status.code(), &*out), (Some(1), ""), "{name}: {err:.300}");
        assert!(err.contains(says), "{name}: says {err:.300}, expected {says}");
        assert!(err.len() < 600 && err.trim_end().lines().count() == 1, "{name}: {} bytes", err.len());
    }
    let output = replay(&folder.join("nowhere.json"));
    assert_eq!(output.status.code(), Some(1), "a file that is not there");
    assert!(String::from_utf8_lossy(&output.stderr).contains("nowhere.json"));
}
