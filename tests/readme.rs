//! Holds README.md to the program: its table of exchanges is what `quorate venues` says, its set-up commands and files are there.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

use rust_decimal::Decimal;
use serde_json::Value;
use std::{fs, path::Path, process::Command};

const HEAD: &str = "| exchange | id | taker fee | asked for | its time is of | budget |";

fn readme() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap()
}

/// Writes the row of one exchange.
fn row(venue: &Value) -> String {
    let text = |key: &str| venue[key].as_str().unwrap();
    let percent = (text("taker").parse::<Decimal>().unwrap() * Decimal::ONE_HUNDRED).normalize();
    let powers: Vec<&str> = venue["powers"].as_array().unwrap().iter().map(|power| power.as_str().unwrap()).collect();
    let (weight, ms) = (venue["budget"]["weight"].as_u64().unwrap(), venue["budget"]["per_ms"].as_u64().unwrap());
    let budget = if ms % 1000 == 0 { format!("{weight} in {} s", ms / 1000) } else { format!("{weight} in {ms} ms") };
    let (name, docs, id, powers, time_of) = (text("name"), text("docs"), text("id"), powers.join(", "), text("time_of"));
    format!("| [{name}]({docs}) | `{id}` | {percent} % | {powers} | {time_of} | {budget} |")
}

#[test]
fn the_table_of_exchanges_is_the_programs() {
    let output = Command::new(env!("CARGO_BIN_EXE_quorate")).args(["venues", "--json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let venues: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows: Vec<String> = venues["venues"].as_array().unwrap().iter().map(row).collect();
    assert!(rows.len() >= 12, "{rows:?}");
    let readme = readme();
    let shown: Vec<&str> = readme.lines().skip_while(|line| *line != HEAD).skip(2).take_while(|line| line.starts_with('|')).collect();
    assert_eq!(shown, rows, "expected under {HEAD}:\n{}", rows.join("\n"));
}

#[test]
fn what_it_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut links = 0;
    for file in [
        "README.md",
        "CONTRIBUTING.md",
        "docs/architecture.md",
        "docs/incidents.md",
        "docs/peers.md",
        "docs/claims.md",
        "tests/incidents/README.md",
    ] {
        let text = fs::read_to_string(root.join(file)).unwrap();
        let folder = root.join(file).parent().unwrap().to_owned();
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
            .filter(|link| !link.contains("://") && !link.starts_with('#'))
        {
            links += 1;
            let target = link.split('#').next().unwrap();
            assert!(folder.join(target).exists(), "{file}: {link} is not there");
        }
    }
    assert!(links >= 5, "{links} links");
    let readme = readme();
    for command in ["cargo run --release -- demo", "bash tests/all"] {
        assert!(readme.contains(command), "README.md does not name {command}");
    }
}
