//! Verifying: the pass is made again from the receipt alone, and everything that it says is compared.

use super::read::{ReadError, inputs, receipt_in};
use crate::{
    model::Pair,
    rate::{Num, Status},
};
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};
use std::fmt;

/// The longest receipt that is read, in bytes.
const BYTES_MAX: usize = 8 << 20;
/// What neither the id nor a comparison covers: it follows from `as_of`, or proves nothing.
const NOT_COVERED: [&str; 2] = ["age_ms", "latency_ms"];

/// Tells what a receipt was verified to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The id.
    pub id: String,
    /// The pair.
    pub pair: Pair,
    /// What the rate is worth.
    pub status: Status,
    /// The rate.
    pub rate: Option<Num>,
}

/// Says why a receipt is not verified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] ReadError),
    /// A member is not what comes out when the pass is made again.
    #[error("{at} differs: the receipt says {said}, made again it is {made}")]
    Member {
        /// The member's path.
        at: String,
        /// What the receipt says, cut where it is long.
        said: String,
        /// What it should say.
        made: String,
    },
}

/// Verifies a receipt, or the answer that bears one: rate, every decision and the id are made again from it alone.
///
/// # Errors
/// The first member that differs, or that cannot be read.
pub fn verify(answer: &[u8]) -> Result<Verified, Difference> {
    if answer.len() > BYTES_MAX {
        return Err(ReadError::Json(format!("{} bytes, expected at most {BYTES_MAX}", answer.len())).into());
    }
    let Strict(answer) = serde_json::from_slice(answer).map_err(|error| ReadError::Json(error.to_string()))?;
    let said = answer.as_object().and_then(receipt_in).unwrap_or(&answer);
    let receipt = inputs(said)?.receipt();
    let made: Value = serde_json::from_slice(&receipt.bytes()).map_err(|error| ReadError::Json(error.to_string()))?;
    compare("", said, &made)?;
    let outcome = &receipt.outcome;
    Ok(Verified { id: receipt.id().to_owned(), pair: outcome.pair, status: outcome.status, rate: outcome.rate })
}

fn compare(path: &str, said: &Value, made: &Value) -> Result<(), Difference> {
    match (said, made) {
        (Value::Object(said), Value::Object(made)) => compare_members(path, said, made),
        (Value::Array(said), Value::Array(made)) if said.len() == made.len() => {
            said.iter().zip(made).enumerate().try_for_each(|(at, (said, made))| compare(&format!("{path}[{at}]"), said, made))
        }
        _ if said == made => Ok(()),
        _ => Err(difference(path, Some(said), Some(made))),
    }
}

fn compare_members(path: &str, said: &Map<String, Value>, made: &Map<String, Value>) -> Result<(), Difference> {
    let path_of = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let mut names: Vec<&String> = said.keys().chain(made.keys()).collect();
    names.sort_unstable();
    names.dedup();
    // The id covers everything: it is the last to say what differs.
    names.sort_by_key(|name| path.is_empty() && *name == "id");
    for name in names.into_iter().filter(|name| !NOT_COVERED.contains(&name.as_str())) {
        match (said.get(name), made.get(name)) {
            (Some(said), Some(made)) => compare(&path_of(name), said, made)?,
            (said, made) => return Err(difference(&path_of(name), said, made)),
        }
    }
    Ok(())
}

fn difference(path: &str, said: Option<&Value>, made: Option<&Value>) -> Difference {
    let shown = |value: Option<&Value>| match value {
        None => "nothing".to_owned(),
        Some(value) => {
            let text = value.to_string();
            if text.chars().count() > 80 { text.chars().take(80).chain(['…']).collect() } else { text }
        }
    };
    let at = if path.is_empty() { "the receipt".to_owned() } else { path.to_owned() };
    Difference::Member { at, said: shown(said), made: shown(made) }
}

/// Holds JSON in which no object has a name twice: of two, readers take different ones.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Self)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    #[allow(clippy::disallowed_types, reason = "a receipt has no such number: it is kept to be told")]
    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some((name, Strict(value))) = members.next_entry::<String, Strict>()? {
            if all.insert(name.clone(), value).is_some() {
                return Err(A::Error::custom(format_args!("{name} is there twice")));
            }
        }
        Ok(Value::Object(all))
    }
}
