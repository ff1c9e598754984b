//! Holds the plan of the house: which room may name which, and how large files and functions grow.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

#[path = "floors/source.rs"]
mod source;

use source::{Source, sources};
use std::collections::BTreeSet;

/// Rooms that share a floor and name each other, or do not.
enum Floor {
    /// Each stands alone: none names another of its floor.
    Apart(&'static [&'static str]),
    /// They are one thing in several files.
    Together(&'static [&'static str]),
}
use Floor::{Apart, Together};

impl Floor {
    fn rooms(&self) -> &'static [&'static str] {
        match self {
            Apart(rooms) | Together(rooms) => rooms,
        }
    }
}

/// The engine, from the ground up: a file names only what stands on its own floor, if that is one thing, and on the floors before it.
const ENGINE: &[Floor] = &[
    Apart(&["model"]),
    Apart(&["clock", "hash", "text"]),
    Apart(&["venue"]),
    Apart(&["venues"]),
    Apart(&["meter", "transport", "terms", "view"]),
    Apart(&["rate"]),
    Apart(&["sim", "breaker", "budget", "mirrors", "plan", "board", "gather"]),
    // Actors name each other's messages and addresses.
    Together(&["exchange", "coordinator", "watchdog", "engine"]),
];

/// The service.
const SERVICE: &[Floor] =
    &[Apart(&["config", "replay"]), Apart(&["wire"]), Apart(&["error"]), Apart(&["http", "sim"]), Apart(&["serve"]), Apart(&["cli"])];

/// Rooms that name nothing of ours, so that they could leave for a crate of their own.
const FREE: &[&str] = &["meter"];

/// Files in the root of a crate that only tie it together.
const ROOTS: &[&str] = &["lib", "main"];

/// Macros stand in the root of their crate, wherever they are written.
const MACROS: &[(&str, &str)] = &[("metered", "meter")];

fn held(folder: &str, floors: &[Floor]) {
    let floor_of = |room: &str| floors.iter().position(|floor| floor.rooms().contains(&room));
    let (files, mut wrong, mut seen) = (sources(folder), Vec::new(), BTreeSet::new());
    assert!(!files.is_empty(), "{folder}: no files");
    for file in files.iter().filter(|file| !ROOTS.contains(&file.room())) {
        let here = file.room();
        seen.insert(here.to_owned());
        let Some(floor) = floor_of(here) else {
            wrong.push(format!("{}: room {here} stands on no floor: give it one in tests/floors.rs", file.path));
            continue;
        };
        for named in file.rooms_named() {
            let named = MACROS.iter().find(|(name, _)| *name == named).map_or(named.as_str(), |(_, room)| room);
            let lawful = match floor_of(named) {
                _ if named == here => true,
                _ if FREE.contains(&here) => false,
                Some(other) if other == floor => matches!(floors[floor], Together(_)),
                other => other.is_some_and(|other| other < floor),
            };
            if !lawful {
                wrong.push(format!("{}: {here} names {named}", file.path));
            }
        }
    }
    let rooms: BTreeSet<String> = floors.iter().flat_map(Floor::rooms).map(|room| (*room).to_owned()).collect();
    assert!(wrong.is_empty(), "against the order of import:\n{}", wrong.join("\n"));
    assert_eq!(rooms, seen, "{folder}: rooms of the table and of the folder");
}

#[test]
fn the_engine_keeps_its_order_of_import() {
    held("actors/src", ENGINE);
}

#[test]
fn the_service_keeps_its_order_of_import() {
    held("src", SERVICE);
}

#[test]
fn no_room_is_entered_by_the_back_door() {
    for file in sources("actors/src").into_iter().chain(sources("src")) {
        // As many `super` as the path has parts lead out of the room; unit tests stand one step deeper.
        let (code, tests) = file.code.split_once("mod tests {").unwrap_or((&file.code, ""));
        let out = "super::".repeat(file.parts().len());
        let leaves = code.contains(&out) || tests.contains(&format!("{out}super::"));
        assert!(!leaves, "{}: names another room by super", file.path);
    }
}

#[test]
fn no_venue_names_another() {
    let venues: Vec<Source> = sources("actors/src").into_iter().filter(|file| file.room() == "venues" && !file.is_room()).collect();
    assert!(venues.len() >= 12);
    for file in venues {
        assert!(!file.code.contains("venues::"), "{}: names the table of venues", file.path);
        let own = file.path.ends_with(&format!("venues/{}.rs", file.parts()[1]));
        assert!(!own || !file.code.contains("super::"), "{}: names its neighbours", file.path);
    }
}

#[test]
fn the_engine_does_not_know_the_web_server() {
    for file in sources("actors/src") {
        assert!(!file.code.contains("actix_web"), "{}: names actix-web", file.path);
    }
    let manifest = source::read("actors/Cargo.toml");
    let outside_dev = manifest.split("\n[").filter(|section| !section.starts_with("dev-dependencies")).collect::<String>();
    assert!(manifest.contains("[dev-dependencies]") && !outside_dev.contains("actix-web"), "actors/Cargo.toml: actix-web outside dev");
}

const FILE_MOST: usize = 400;
const FUNCTION_MOST: usize = 70;
const VENUE_MOST: usize = 160;
const VENUE_PART_MOST: usize = 120;

#[test]
fn files_and_functions_stay_small() {
    let mut functions = 0;
    for file in ["actors", "src", "tests", "benches", "examples"].into_iter().flat_map(sources) {
        assert!(file.lines <= FILE_MOST, "{}: {} lines, at most {FILE_MOST}", file.path, file.lines);
        for (name, lines) in file.functions() {
            assert!(lines <= FUNCTION_MOST, "{}: fn {name} has {lines} lines, at most {FUNCTION_MOST}", file.path);
            functions += 1;
        }
    }
    assert!(functions > 500, "only {functions} functions found");
}

#[test]
fn venues_stay_small() {
    let mut held = 0;
    for file in sources("actors/src/venues") {
        let most = if file.parts().len() == 1 { VENUE_MOST } else { VENUE_PART_MOST };
        assert!(file.lines <= most, "{}: {} lines, at most {most}", file.path, file.lines);
        held += 1;
    }
    assert!(held >= 36, "only {held} files found");
}
