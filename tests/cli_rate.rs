//! `rate` and `config check` as people run them, against `sim` on a free port.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects)]

mod program;

use program::{Ran, Sim, run};
use quorate_actors::rate::Num;

/// Waits as long as can be; one venue is asked market by market, more slowly than its budget would have it.
const PATIENT: [&str; 4] = ["--deadline-ms", "10000", "--set", "venues.coinbaseexchange.enabled=false"];

fn rate(sim: &Sim, args: &[&str]) -> Ran {
    sim.run(&[&["rate"], args, &PATIENT].concat())
}

/// Gives the lines of one kind.
fn of_kind<'r>(ran: &'r Ran, kind: &str) -> Vec<Vec<&'r str>> {
    ran.lines().into_iter().filter(|line| line[0] == kind).collect()
}

#[test]
fn rate_asks_once_and_says_what_the_rate_is_made_of() {
    let sim = Sim::start("faults = []");
    let ran = rate(&sim, &["xbt/usd", "--strict"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    assert!(ran.out.lines().next().unwrap().contains("SIMULATED"), "{ran:?}");
    let first = &of_kind(&ran, "rate")[0];
    assert_eq!((first.len(), first[1], first[2]), (6, "BTC-USD", "ok"), "{ran:?}");
    let truth: Num = "67000".parse().unwrap();
    assert!(first[3].parse::<Num>().unwrap().distance(truth) < "700".parse().unwrap(), "{ran:?}");
    let votes = &of_kind(&ran, "votes")[0];
    assert_eq!((votes[1], votes[2]), ("11", "11"), "{ran:?}");
    // Three list BTC-USD; the others are converted.
    let quotes = of_kind(&ran, "quote");
    assert!(quotes.iter().all(|line| line.len() == 11 && line[9] == "in"), "{ran:?}");
    let direct: Vec<&str> = quotes.iter().filter(|line| line[2] == "BTC-USD").map(|line| line[1]).collect();
    assert_eq!(direct, ["bitfinex", "bitstamp", "kraken"]);
    let tether = quotes.iter().find(|line| line[1..3] == ["okx", "BTC-USDT"]).unwrap();
    let conversions = of_kind(&ran, "conversion");
    let peg = conversions.iter().find(|line| line[1] == "USDT-USD").unwrap();
    assert_eq!((peg[2], tether[8], tether[10]), ("ok", "true", format!("USDT-USD {}", peg[3]).as_str()), "{ran:?}");
    // One request each, but where each market is asked for itself.
    let requests = sim.requests();
    let once = ["bitfinex", "bitstamp", "kraken", "okx", "gate", "htx", "kucoin", "bitget", "bybit"];
    assert!(requests.iter().all(|(venue, count)| !once.contains(&venue.as_str()) || *count == 1), "{requests:?}");
}

#[test]
fn a_rate_follows_the_configuration_and_the_venues_asked() {
    let sim = Sim::start("[[faults]]\nvenue = \"kraken\"\nfault = \"wrong_unit\"\n\n[[faults]]\nvenue = \"okx\"\nfault = \"http_500\"\n");
    let ran = rate(&sim, &["BTC-USDT"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let kraken = of_kind(&ran, "quote").into_iter().find(|line| line[1..3] == ["kraken", "BTC-USDT"]).unwrap();
    assert_eq!(kraken[9], "unit_suspect", "{ran:?}");
    let miss = of_kind(&ran, "miss").into_iter().find(|line| line[1..3] == ["okx", "BTC-USDT"]).unwrap();
    assert_eq!(miss[3], "http_5xx", "{ran:?}");
    assert_eq!(rate(&sim, &["BTC-USDT", "--strict"]).code, 3);
    assert_eq!(rate(&sim, &["BTC-USDT", "--strict", "--venues", "-okx,-kraken"]).code, 0);
    // The limits of the pair's own hold as in the service: some venues are more than one basis point off.
    let pairs = "pairs=[{name=\"BTC-USDT\", floor=\"0.0001\", cap=\"0.0001\"}]";
    let strict = rate(&sim, &["BTC-USDT", "--set", pairs]);
    assert!(of_kind(&strict, "quote").iter().any(|line| line[9] == "outlier"), "{strict:?}");
}

#[test]
fn a_rate_that_is_refused_is_an_exit_of_its_own_and_shown_all_the_same() {
    let sim = Sim::start("faults = []");
    let alone = rate(&sim, &["BTC-USD", "--venues", "kraken"]);
    assert_eq!((alone.code, of_kind(&alone, "rate")[0][2]), (4, "single_source"), "{alone:?}");
    assert!(alone.err.contains("sources that agree on BTC-USD: 1, expected 2"), "{alone:?}");
    let unknown = rate(&sim, &["BTTC-USDT"]);
    assert_eq!((unknown.code, unknown.out.as_str()), (4, ""), "{unknown:?}");
    assert!(unknown.err.contains("BTTC-USDT is listed by no venue; did you mean BTC-USDT"), "{unknown:?}");
    let problem = rate(&sim, &["BTTC-USDT", "--json"]);
    assert_eq!((problem.code, &problem.json()["code"], &problem.json()["simulated"]), (4, &"unknown_pair".into(), &true.into()));
    let json = rate(&sim, &["BTC-USD", "--json"]);
    assert!(json.code == 0 && json.json().is_object() && json.err.starts_with("SIMULATED"), "{json:?}");
    for (args, part) in [
        (&["rate"][..], "<PAIR>"),
        (&["rate", "BTC"], "pair is \"BTC\", expected BASE-QUOTE"),
        (&["rate", "BTC-USD", "--venues", "nasdaq"], "--venues \"nasdaq\""),
    ] {
        let ran = run(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?} {ran:?}");
        assert!(ran.err.contains(part), "{args:?} {ran:?}");
    }
}

#[test]
fn config_check_says_what_each_rate_will_be_made_of() {
    let pairs =
        "pairs=[{name=\"BTC-USD\"}, {name=\"BTC-USDT\"}, {name=\"XRP-EUR\", venues=[\"kraken\", \"bitstamp\"], cap=\"0.04\", quorum=2}]";
    let set = ["--set", pairs, "--set", "venues.okx.enabled=false"];
    let text = run(&[&["config", "check"][..], &set].concat());
    assert_eq!((text.code, text.err.as_str()), (0, ""), "{text:?}");
    for line in [
        "BTC-USD: major, limit 2 % to 5 %, ready with 3 quotes; at up to 11 venues direct, and through USDT/USD",
        "XRP-EUR: other, limit 3 % to 4 %, ready with 2 quotes; at up to 2 venues direct",
    ] {
        assert!(text.out.lines().any(|other| other == line), "{line}: {text:?}");
    }
    let json = run(&[&["config", "check", "--json"][..], &set].concat()).json();
    let btc = &json["rates"][0];
    assert_eq!(
        (&btc["pair"], &btc["class"], &btc["cap"], &btc["votes_max"]),
        (&"BTC-USD".into(), &"major".into(), &"0.05".into(), &11.into())
    );
    assert_eq!((&btc["markets"], &btc["conversions"][0]["pair"]), (&serde_json::json!(["BTC-USD", "BTC-USDT"]), &"USDT-USD".into()));
    assert_eq!(json["rates"][2]["venues"], serde_json::json!(["bitstamp", "kraken"]));
}
