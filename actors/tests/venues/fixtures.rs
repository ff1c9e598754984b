//! The fixtures beside the table: whole answers in the venues' documented formats, each with what a reader gets out of it.

use quorate_actors::{
    model::Pair,
    venue::{Endpoint, Venue, route},
};
use serde_json::Value;
use std::{fs, path::PathBuf};

/// One answer and what is wanted of it.
pub(crate) struct Fixture {
    pub(crate) name: String,
    pub(crate) body: Vec<u8>,
    pub(crate) kind: String,
    pub(crate) path: String,
    pub(crate) status: u16,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) want: Value,
}

impl Fixture {
    /// Gives the endpoint that the fixture's path asks.
    pub(crate) fn endpoint(&self, venue: &'static dyn Venue) -> &'static Endpoint {
        route(venue.profile().endpoints, &self.path).unwrap_or_else(|| panic!("{}: no endpoint for {}", self.name, self.path)).0
    }

    /// Gives what is wanted of a pair.
    pub(crate) fn want_of(&self, pair: &Pair) -> &Value {
        if self.is_one() { &self.want } else { &self.want[format!("{pair:#}")] }
    }

    /// Tells whether the answer is about one pair, and the want therefore a ticker and no map.
    pub(crate) fn is_one(&self) -> bool {
        self.kind == "ticker" || self.want.get("bid").is_some()
    }
}

pub(crate) fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// Reads every fixture of a venue, sorted by name.
pub(crate) fn of(id: &str) -> Vec<Fixture> {
    let files = fs::read_dir(folder().join(id)).map_or(Vec::new(), |dir| dir.map(|f| f.unwrap().path()).collect());
    let is_want = |file: &PathBuf| file.to_string_lossy().ends_with(".want.json");
    let mut bodies: Vec<_> = files.iter().filter(|file| !is_want(file)).collect();
    assert_eq!(bodies.len() * 2, files.len(), "{id}: each fixture has its want beside it");
    bodies.sort();
    let fixture = |file: &PathBuf| {
        let want: Value = serde_json::from_slice(&fs::read(file.with_extension("want.json")).unwrap()).unwrap();
        let pairs = want["pairs"].as_array().unwrap();
        Fixture {
            name: format!("{id}/{}", file.file_stem().unwrap().to_string_lossy()),
            body: fs::read(file).unwrap(),
            kind: want["kind"].as_str().unwrap().to_owned(),
            path: want["path"].as_str().unwrap().to_owned(),
            status: want["status"].as_u64().unwrap().try_into().unwrap(),
            pairs: pairs.iter().map(|pair| pair.as_str().unwrap().parse().unwrap()).collect(),
            want: want["want"].clone(),
        }
    };
    bodies.into_iter().map(fixture).collect()
}
