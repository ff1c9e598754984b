//! Layers of values, the later over the earlier, each value remembering where it comes from.

use super::{ConfigError, raw::Raw};
use quorate_actors::{venue::Profile, venues};
use std::{collections::BTreeMap, fmt};
use toml::{Table, Value};

/// Every default, as the file that `config init` writes.
pub const DEFAULT: &str = include_str!("default.toml");

/// Names in the environment that start like a key and are none: read by other parts, or set for every service by Kubernetes.
const NOT_KEYS: &[&str] = &["CONFIG", "LOG", "LOG_STYLE", "SEEDS"];
const NOT_KEYS_BY_START: &[&str] = &["SERVICE_", "PORT"];

/// Tells where a value comes from. A later one wins.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum From {
    /// Nobody said anything.
    Default,
    /// The file at this path.
    File(String),
    /// This variable of the environment.
    Environment(String),
    /// This flag.
    Flag(String),
}

impl fmt::Display for From {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "file {path}"),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

impl From {
    fn rank(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::File(_) => 1,
            Self::Environment(_) => 2,
            Self::Flag(_) => 3,
        }
    }
}

/// Holds merged values, and by the path of each (`venues.kraken.origin`) where it comes from.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// The values.
    pub values: Table,
    /// Where each comes from.
    pub origins: BTreeMap<String, From>,
}

impl Layers {
    /// Starts with the defaults: the file of defaults, and what the venues' profiles say.
    ///
    /// # Errors
    /// [`ConfigError`] where the file of defaults is wrong, which the tests rule out.
    pub fn defaults() -> Result<Self, ConfigError> {
        let mut layers = Self::default();
        layers.file(DEFAULT, &From::Default)?;
        let of_venues = venues::VENUES.iter().map(|v| (v.profile().id.to_owned(), Value::Table(of_profile(v.profile())))).collect();
        layers.lay(Table::from_iter([("venues".to_owned(), Value::Table(of_venues))]), &From::Default);
        Ok(layers)
    }

    /// Lays a file's text over what is there.
    ///
    /// # Errors
    /// [`ConfigError`] with line and caret.
    pub fn file(&mut self, text: &str, from: &From) -> Result<(), ConfigError> {
        let wrong = |error: toml::de::Error| ConfigError::new(from, error.to_string().trim_end());
        toml::from_str::<Raw>(text).map_err(wrong)?;
        self.lay(toml::from_str(text).map_err(wrong)?, from);
        Ok(())
    }

    /// Lays over what is there every variable that starts with `QUORATE_`.
    ///
    /// # Errors
    /// [`ConfigError`] naming the variable.
    pub fn environment(&mut self, variables: impl Iterator<Item = (String, String)>) -> Result<(), ConfigError> {
        let mut sorted: Vec<_> = variables.filter_map(|(name, value)| Some((key_of(&name)?, name, value))).collect();
        sorted.sort();
        sorted.into_iter().try_for_each(|(key, name, value)| self.set(&key, &value, &From::Environment(name)))
    }

    /// Lays one value over what is there. `key` is its path, with dots.
    ///
    /// # Errors
    /// [`ConfigError`] naming the flag or the variable.
    pub fn set(&mut self, key: &str, text: &str, from: &From) -> Result<(), ConfigError> {
        // A number, a truth value or a list is written as in the file; everything else, and what the key wants as text, is text.
        let written = toml::from_str::<Table>(&format!("value = {text}")).ok().filter(|t| t.len() == 1).and_then(|mut t| t.remove("value"));
        let candidates = written.into_iter().chain([Value::String(text.to_owned())]);
        let mut first_error = None;
        for value in candidates {
            let table = nested(key, value);
            match table.clone().try_into::<Raw>() {
                Ok(_) => {
                    self.lay(table, from);
                    return Ok(());
                }
                Err(error) => {
                    first_error.get_or_insert(error);
                }
            }
        }
        let why = first_error.map(|e| e.message().to_owned()).unwrap_or_default();
        Err(ConfigError::new(from, &format!("{key}: {why}")))
    }

    fn lay(&mut self, table: Table, from: &From) {
        lay(&mut self.values, table, "", from, &mut self.origins);
        self.drop_mirrors();
    }

    /// A new address drops the mirrors that belong to the old one: a simulated venue must not fall back on the real one.
    fn drop_mirrors(&mut self) {
        let Some(Value::Table(venues)) = self.values.get_mut("venues") else { return };
        for (id, venue) in venues {
            let path = |name: &str| format!("venues.{id}.{name}");
            let rank = |origins: &BTreeMap<String, From>, name: &str| origins.get(&path(name)).map(From::rank);
            if let (Some(origin), Value::Table(venue)) = (self.origins.get(&path("origin")).cloned(), venue)
                && Some(origin.rank()) > rank(&self.origins, "mirrors")
            {
                venue.insert("mirrors".to_owned(), Value::Array(Vec::new()));
                self.origins.insert(path("mirrors"), origin);
            }
        }
    }
}

fn of_profile(profile: &Profile) -> Table {
    let text = |t: &str| Value::String(t.to_owned());
    Table::from_iter([
        ("enabled".to_owned(), Value::Boolean(true)),
        ("origin".to_owned(), text(profile.origin)),
        ("mirrors".to_owned(), Value::Array(profile.mirrors.iter().map(|m| text(m)).collect())),
    ])
}

/// Gives the path that a variable sets: `QUORATE_VENUES__KRAKEN__ORIGIN` sets `venues.kraken.origin`.
fn key_of(variable: &str) -> Option<String> {
    let name = variable.strip_prefix("QUORATE_")?;
    let other = NOT_KEYS.contains(&name) || NOT_KEYS_BY_START.iter().any(|s| name.starts_with(s));
    (!other).then(|| name.to_ascii_lowercase().replace("__", "."))
}

fn nested(key: &str, value: Value) -> Table {
    let mut names = key.rsplit('.');
    let leaf = names.next().unwrap_or_default();
    names.fold(Table::from_iter([(leaf.to_owned(), value)]), |inner, name| Table::from_iter([(name.to_owned(), Value::Table(inner))]))
}

fn lay(under: &mut Table, over: Table, path: &str, from: &From, origins: &mut BTreeMap<String, From>) {
    for (name, value) in over {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match (under.get_mut(&name), value) {
            (Some(Value::Table(under)), Value::Table(over)) => lay(under, over, &path, from, origins),
            (_, Value::Table(over)) => {
                let mut fresh = Table::new();
                lay(&mut fresh, over, &path, from, origins);
                under.insert(name, Value::Table(fresh));
            }
            (_, value) => {
                origins.insert(path, from.clone());
                under.insert(name, value);
            }
        }
    }
}
