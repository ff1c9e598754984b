//! The built program, run as people run it, against `sim` on a free port.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects)]

mod program;

use program::{File, Sim, quorate, run, run_with};
use quorate_actors::venues::VENUES;
use serde_json::Value;

#[test]
fn quote_asks_every_venue_once_and_says_what_each_gave() {
    let sim = Sim::start("faults = []");
    let ran = sim.run(&["quote", "BTC-USDT", "--deadline-ms", "10000", "--strict"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    assert!(ran.out.lines().next().unwrap().contains("SIMULATED"), "{}", ran.out);
    let lines = ran.lines();
    let ids: Vec<&str> = VENUES.iter().map(|v| v.profile().id).collect();
    assert_eq!(lines.iter().take(ids.len()).map(|line| line[0]).collect::<Vec<_>>(), ids);
    assert!(lines[..ids.len()].iter().all(|line| line.len() == 9 && line[8] == "in"), "{}", ran.out);
    assert_eq!(lines[ids.len()..].iter().map(|line| line[0]).collect::<Vec<_>>(), ["best_bid", "best_ask", "mid", "spread"]);
    // One request each: nothing was polled, and no connection opened ahead.
    assert!(sim.requests().iter().all(|(_, requests)| *requests == 1), "{:?}", sim.requests());
}

#[test]
fn quote_as_json_is_the_body_of_the_route() {
    let sim = Sim::start("faults = []");
    let ran = sim.run(&["quote", "xbt/usdt", "--json", "--deadline-ms", "10000", "--venues", "kraken,okx"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.starts_with("SIMULATED"), "{ran:?}");
    let body = ran.json();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<std::collections::BTreeSet<_>>();
    let set = |text: &str| text.split_whitespace().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
    let head = "pair base quote status simulated as_of boot sequence bid bid_size bid_venue ask ask_size ask_venue mid spread spread_bps crossed venues quotes misses";
    assert_eq!(keys(&body), set(head));
    let row = "venue symbol bid bid_size ask ask_size last high low open base_volume quote_volume venue_time time_of received_time age_ms latency_ms source decision";
    assert_eq!(keys(&body["quotes"][0]), set(row));
    assert_eq!((&body["pair"], &body["status"], &body["simulated"]), (&"BTC-USDT".into(), &"complete".into(), &true.into()));
    assert_eq!(
        (&body["venues"]["asked"], &body["quotes"][0]["venue"], &body["quotes"][1]["venue"]),
        (&2.into(), &"kraken".into(), &"okx".into())
    );
}

#[test]
fn one_faulted_venue_is_a_miss_and_with_strict_an_exit_of_its_own() {
    let sim = Sim::start("[[faults]]\nvenue = \"kraken\"\nfault = \"http_500\"\n");
    for (strict, code) in [(&["--deadline-ms", "10000"][..], 0), (&["--deadline-ms", "10000", "--strict"][..], 3)] {
        let ran = sim.run(&[&["quote", "BTC-USDT"], strict].concat());
        assert_eq!(ran.code, code, "{ran:?}");
        let lines = ran.lines();
        let kraken = lines.iter().find(|line| line[0] == "kraken").unwrap();
        assert_eq!((kraken.len(), kraken[8]), (10, "http_5xx"), "{kraken:?}");
    }
    let others = sim.run(&["quote", "BTC-USDT", "--strict", "--venues", "-kraken", "--deadline-ms", "10000"]);
    assert_eq!(others.code, 0, "{others:?}");
}

#[test]
fn no_quote_at_all_is_an_exit_of_its_own() {
    let sim = Sim::start("[[faults]]\nvenue = \"*\"\nfault = \"silent\"\npair = \"BTC-USDT\"\n");
    let ran = sim.run(&["quote", "BTC-USDT", "--deadline-ms", "50"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert_eq!(ran.lines().len(), VENUES.len(), "each with why: {ran:?}");
    assert!(ran.err.contains("none of 12 venues answered for BTC-USDT within 50 ms"), "{ran:?}");

    let problem = sim.run(&["quote", "BTC-USDT", "--deadline-ms", "50", "--json"]);
    let json = problem.json();
    assert_eq!((problem.code, &json["code"], &json["simulated"]), (4, &"deadline".into(), &true.into()));
    assert_eq!(json["misses"].as_array().unwrap().len(), VENUES.len());

    let unknown = sim.run(&["quote", "BTC-USDX", "--deadline-ms", "10000"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (4, ""), "{unknown:?}");
    assert!(unknown.err.contains("pair BTC-USDX is listed by no venue; did you mean BTC-USDT"), "{unknown:?}");
}

#[test]
fn check_has_a_row_for_every_venue() {
    let sim = Sim::start("[[faults]]\nvenue = \"okx\"\nfault = \"forbidden\"\n");
    let ran = sim.run(&["check"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    assert!(ran.out.starts_with("# SIMULATED"), "{ran:?}");
    let lines = ran.lines();
    assert_eq!(lines.len(), VENUES.len());
    let row = |venue: &str| lines.iter().find(|line| line[0] == venue).unwrap().clone();
    assert_eq!(row("kraken")[1..4], ["3", "0", "0"], "{ran:?}");
    assert_eq!(row("gate")[1..4], ["1", "2", "0"], "{ran:?}");
    assert_eq!((&row("okx")[1..4], row("okx")[6]), (&["0", "0", "3"][..], "forbidden"), "{ran:?}");

    let json = sim.run(&["check", "--json", "--strict"]);
    assert_eq!(json.code, 3, "{json:?}");
    let report = json.json();
    assert_eq!((&report["pairs"], report["venues"].as_array().unwrap().len()), (&3.into(), VENUES.len()));
    let okx = report["venues"].as_array().unwrap().iter().find(|v| v["venue"] == "okx").unwrap().clone();
    assert_eq!((&okx["first_fault"]["reason"], &okx["latency_ms"]), (&"forbidden".into(), &Value::Null));
}

#[test]
fn venues_are_listed_offline() {
    let ran = run(&["venues"]);
    assert_eq!((ran.code, ran.lines().len(), ran.err.as_str()), (0, VENUES.len(), ""));
    let json = run(&["venues", "--json"]).json();
    for (row, venue) in json["venues"].as_array().unwrap().iter().zip(VENUES) {
        let profile = venue.profile();
        assert_eq!((&row["id"], &row["docs"], &row["taker"]), (&profile.id.into(), &profile.docs.into(), &profile.taker.rate.into()));
        assert!(row["budget"]["weight"].as_u64().unwrap() > 0 && !row["powers"].as_array().unwrap().is_empty());
    }
}

#[test]
fn a_configuration_is_written_checked_and_shown() {
    let init = run(&["config", "init"]);
    assert_eq!(init.code, 0);
    let file = File::new(&init.out);
    let check = run(&["config", "check", "--config", file.path()]);
    assert_eq!((check.code, check.err.as_str()), (0, ""));
    assert!(check.out.starts_with("the configuration is right: 17 pairs at 12 venues\n"), "{check:?}");
    assert_eq!(check.out.lines().filter(|line| line.split('\t').count() == 6).count(), VENUES.len());

    let slow = run(&["config", "check", "--json", "--set", "venues.kraken.poll_ms=60000"]);
    assert!(slow.err.starts_with("warning: kraken is polled every 60000 ms, expected at most 15000 "), "{slow:?}");
    assert_eq!((slow.code, slow.json()["warnings"].as_array().unwrap().len()), (0, 1));

    let mut command = quorate(&["config", "show", "--origin", "--config", file.path(), "--set", "poll_ms=900"]);
    command.env("QUORATE_DEADLINE_MS", "700");
    let shown = run_with(command, b"").out;
    for (key, from) in
        [("poll_ms = 900", "# flag --set poll_ms"), ("deadline_ms = 700", "# environment QUORATE_DEADLINE_MS"), ("max_age_ms", file.path())]
    {
        assert!(shown.lines().any(|line| line.starts_with(key) && line.ends_with(from)), "{key} {from}: {shown}");
    }
}

#[test]
fn a_wrong_configuration_is_shown_with_line_and_caret() {
    let file = File::new("poll_ms = 900\ndeadline = 700\n");
    for command in [&["quote", "BTC-USDT"][..], &["check"], &["config", "check"], &["config", "show"], &["serve"]] {
        let ran = run(&[command, &["--config", file.path()]].concat());
        assert_eq!((ran.code, ran.out.as_str()), (5, ""), "{command:?} {ran:?}");
        for part in [file.path(), "line 2", "deadline = 700", "^", "unknown field `deadline`"] {
            assert!(ran.err.contains(part), "{command:?} {part}: {ran:?}");
        }
    }
    let missing = run(&["check", "--config", "/no/such/file.toml"]);
    assert_eq!((missing.code, missing.err.starts_with("file /no/such/file.toml: ")), (5, true), "{missing:?}");
}

#[test]
fn wrong_usage_names_the_value_and_what_was_expected() {
    for (args, part) in [
        (&["quote"][..], "<PAIR>"),
        (&["quote", "BTC"], "pair is \"BTC\", expected BASE-QUOTE such as BTC-USDT"),
        (&["quote", "BTC-BTC"], "expected two different assets"),
        (&["quote", "BTC-USDT", "--deadline-ms", "20"], "50..=10000"),
        (&["quote", "BTC-USDT", "--venues", "nasdaq"], "--venues \"nasdaq\", expected venues that are enabled: binance, "),
        (&["quote", "BTC-USDT", "--fast"], "--fast"),
        (&["nonsense"], "nonsense"),
        (&["decode", "--venue", "nasdaq", "--kind", "ticker"], "unknown venue \"nasdaq\""),
        (&["decode", "--venue", "kraken", "--kind", "ticker", "--pair", "BTC"], "BASE-QUOTE"),
    ] {
        let ran = run(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?} {ran:?}");
        assert!(ran.err.contains(part), "{args:?} {ran:?}");
    }
}

#[test]
fn decode_reads_a_recorded_answer() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/actors/tests/fixtures/kraken");
    let ticker = std::fs::read(format!("{folder}/ticker.json")).unwrap();
    let all = run_with(quorate(&["decode", "--venue", "kraken", "--kind", "tickers", "--json"]), &ticker);
    assert_eq!((all.code, all.err.as_str(), &all.json()["XRP/EUR"]["bid"]), (0, "", &"1.9741".into()), "{all:?}");
    let one = run_with(quorate(&["decode", "--venue", "kraken", "--kind", "ticker", "--pair", "XRP-EUR"]), &ticker);
    assert_eq!((one.code, one.json()), (0, all.json()["XRP/EUR"].clone()));
    let broken = run_with(quorate(&["decode", "--venue", "kraken", "--kind", "ticker", "--pair", "XRP-EUR"]), &ticker[..ticker.len() / 2]);
    assert_eq!((broken.code, broken.out.as_str()), (1, ""));
    assert!(broken.err.contains("unreadable answer"), "{broken:?}");
}

#[test]
fn a_reader_who_goes_is_no_failure_and_no_panic() {
    for args in [&["venues"][..], &["config", "init"], &["venues", "--json"], &["config", "check"], &["--help"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = quorate(args);
        command.stdout(writer);
        let ran = run_with(command, b"");
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}");
    }
    // With nobody to hear it either, an error is still an exit code.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = quorate(&["quote", "BTC"]);
    command.stderr(writer);
    assert_eq!(run_with(command, b"").code, 2);
}

#[test]
fn the_version_names_the_commit_and_every_command_helps() {
    let version = run(&["--version"]).out;
    let commit = version.trim().strip_prefix(concat!("quorate ", env!("CARGO_PKG_VERSION"), " (")).and_then(|rest| rest.strip_suffix(')'));
    let commit = commit.unwrap_or_else(|| panic!("{version}"));
    assert!(commit == "unknown" || (commit.len() == 12 && commit.bytes().all(|b| b.is_ascii_hexdigit())), "{version}");
    for command in ["serve", "demo", "quote", "rate", "check", "venues", "config", "sim", "decode"] {
        let help = run(&[command, "--help"]);
        assert!(help.code == 0 && help.out.contains("Usage: quorate ") && help.err.is_empty(), "{help:?}");
    }
}

#[test]
fn what_the_build_leaves_in_the_environment_is_no_key() {
    // `cargo run` hands the program what build.rs sets: a name that starts like a key would be refused as an unknown one.
    let script = include_str!("../build.rs");
    let set: Vec<&str> = script.split("rustc-env=").skip(1).collect();
    assert!(!set.is_empty() && set.iter().all(|name| !name.starts_with("QUORATE_")), "{set:?}");
}
