//! `watch`, `doctor`, `completions` and `man` as people run them, against `sim` on a free port.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects)]

mod program;

use program::{Sim, run};
use serde_json::Value;

#[test]
fn watch_prints_a_line_whenever_the_best_changes_and_ends_after_so_many() {
    let sim = Sim::start("faults = []");
    let ran = sim.run(&["watch", "btc_usdt", "--count", "3", "--every-ms", "100", "--set", "poll_ms=200"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    let lines: Vec<Vec<&str>> = ran.out.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect()).collect();
    assert_eq!((ran.out.lines().next().unwrap().contains("SIMULATED"), lines.len()), (true, 3), "{ran:?}");
    assert!(lines.iter().all(|line| line.len() == 11 && line[0].ends_with('Z') && line[10] == "12"), "{ran:?}");
    let best = |line: &[&str]| [1, 3, 4, 6].map(|at| line[at].to_owned());
    assert!(lines.windows(2).all(|two| best(&two[0]) != best(&two[1])), "{ran:?}");
}

#[test]
fn watch_says_what_is_wrong_and_that_no_quote_came() {
    let sim = Sim::start("[[faults]]\nvenue = \"*\"\nfault = \"http_500\"\n");
    let ran = sim.run(&["watch", "BTC-USDT", "--count", "1", "--every-ms", "100"]);
    assert_eq!((ran.code, ran.err.lines().last()), (4, Some("no venue gave a quote for BTC-USDT")), "{ran:?}");
    for (args, says) in [
        (&["watch", "NO"][..], "\"NO\""),
        (&["watch", "BTC-USDT", "--venues", "nasdaq"], "nasdaq"),
        (&["watch", "BTC-USDT", "--every-ms", "1"], "100..=60000"),
        (&["watch", "BTC-USDT", "--count", "0"], "0 is not in 1.."),
    ] {
        let ran = sim.run(args);
        assert!(ran.code == 2 && ran.err.contains(says), "{ran:?}");
    }
}

#[test]
fn doctor_finds_what_is_well_and_what_is_not() {
    let sim = Sim::start("[[faults]]\nvenue = \"okx\"\nfault = \"http_500\"\n");
    let ports = ["--set", "listen=127.0.0.1:0", "--set", "admin_listen=127.0.0.1:0"];
    let ran = sim.run(&[&["doctor", "--json"], &ports[..]].concat());
    assert_eq!(ran.code, 3, "{ran:?}");
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((report["simulated"].as_bool(), report["verdict"].as_str()), (Some(true), Some("bad")));
    let verdict = |check: &str, subject: &str| {
        let findings = report["findings"].as_array().unwrap();
        findings.iter().find(|f| f["check"] == check && f["subject"] == subject).map(|f| f["verdict"].as_str().unwrap().to_owned())
    };
    for check in ["name", "reach", "answer"] {
        assert_eq!(verdict(check, "kraken").as_deref(), Some("ok"), "{check}: {report}");
    }
    assert_eq!((verdict("reach", "okx").as_deref(), verdict("answer", "okx").as_deref()), (Some("ok"), Some("bad")), "{report}");
    assert_eq!(verdict("clock", "ours").as_deref(), Some("ok"), "{report}");
    assert_eq!(verdict("address", "listen 127.0.0.1:0").as_deref(), Some("ok"), "{report}");

    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = format!("listen={}", taken.local_addr().unwrap());
    let lines = sim.run(&["doctor", "--set", &listen, "--set", "admin_listen=127.0.0.1:0", "--set", "venues.okx.enabled=false"]);
    assert_eq!(lines.code, 0, "a warning is not bad: {lines:?}");
    let address = lines.out.lines().find(|line| line.starts_with("address\tlisten")).unwrap();
    assert!(address.contains("\twarn\tis in use"), "{address}");
}

#[test]
fn shells_and_manuals_are_told_of_every_command() {
    let bash = run(&["completions", "bash"]);
    assert!(bash.code == 0 && bash.out.contains("complete -F _quorate") && bash.out.contains("doctor"), "{}", bash.err);
    assert_eq!(run(&["completions", "cmd"]).code, 2);
    let page = run(&["man", "quote"]);
    assert!(page.code == 0 && page.out.contains(".TH quorate-quote") && page.out.contains("\\-\\-deadline\\-ms"), "{page:?}");
    let wrong = run(&["man", "qoute"]);
    assert!(wrong.code == 2 && wrong.err.contains("\"qoute\", expected one of serve, demo"), "{wrong:?}");
    let dir = std::env::temp_dir().join(format!("quorate-man-{}", std::process::id()));
    assert_eq!(run(&["man", "--dir", dir.to_str().unwrap()]).code, 0);
    let pages = std::fs::read_dir(&dir).unwrap().count();
    std::fs::remove_dir_all(&dir).unwrap();
    assert!(pages > 12, "{pages}");
}
