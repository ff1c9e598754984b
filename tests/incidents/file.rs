//! The files, as they lie in the folder.

use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Holds a file: what it says, as text and as JSON.
pub(crate) struct Incident {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) json: Value,
}

impl Incident {
    pub(crate) fn frames(&self) -> &[Value] {
        self.json["frames"].as_array().unwrap_or_else(|| panic!("{}: no frames", self.name))
    }

    /// Gives one of the texts at its head; empty where there is none.
    pub(crate) fn head(&self, key: &str) -> &str {
        self.json[key].as_str().unwrap_or_default()
    }

    /// Tells whether it happened; the others are constructed cases.
    pub(crate) fn happened(&self) -> bool {
        self.head("date") != "-" && !self.head("source").contains("made up")
    }
}

/// Reads every file, sorted by name.
pub(crate) fn incidents() -> Vec<Incident> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/incidents");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let json: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(json["id"], *name.strip_suffix(".json").unwrap(), "{name}: its id");
        Incident { name, path, text, json }
    };
    paths.into_iter().map(read).collect()
}
