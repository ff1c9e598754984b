//! The caller's terms, from a query or from a JSON body: one table for both.

use super::pairs::closest_word;
use crate::error::{ApiError, Code, shown};
use quorate_actors::venue::percent_decoded;
use quorate_actors::{
    model::VenueId,
    terms::{Terms, VenueFilter},
    venue::Word,
};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;
use std::{borrow::Cow, fmt, ops::RangeInclusive, time::Duration};

/// What a caller may ask for, in milliseconds and venues.
const MAX_AGE_MS: RangeInclusive<u64> = 0..=3_600_000;
const DEADLINE_MS: RangeInclusive<u64> = 50..=10_000;
const MIN_SOURCES: RangeInclusive<u64> = 1..=100;

/// Holds what terms are read against.
#[derive(Clone, Debug)]
pub struct Basis {
    /// What holds where the caller says nothing.
    pub terms: Terms,
    /// The venues that there are.
    pub venues: Vec<VenueId>,
}

/// Holds what a request asked: its terms, and its pairs where the route takes them so. Texts of a body are borrowed from it wherever they have no escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked<'a> {
    /// The terms.
    pub terms: Terms,
    /// The texts under `pairs`; `None` where it was not given.
    pub pairs: Option<Vec<Cow<'a, str>>>,
    /// The parameters that are the route's own, with their texts, in the order in which they were given.
    pub own: Vec<(&'static str, String)>,
}

/// Tells what a route takes besides the terms.
#[derive(Clone, Copy, Debug, Default)]
pub struct Takes {
    /// Whether it takes `pairs`.
    pub pairs: bool,
    /// Parameters that only this route knows; it reads their texts itself.
    pub own: &'static [&'static str],
}

impl Asked<'_> {
    fn new(basis: &Basis) -> Self {
        Self { terms: basis.terms.clone(), pairs: None, own: Vec::new() }
    }

    /// Gives the text of a parameter of the route's own.
    pub fn own(&self, name: &str) -> Option<&str> {
        self.own.iter().find(|(known, _)| *known == name).map(|(_, text)| text.as_str())
    }
}

/// How a parameter's value is written in JSON.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    Boolean,
    List,
}

struct Parameter {
    name: &'static str,
    kind: Kind,
    set: for<'a> fn(&mut Asked<'a>, Given<'a>, &Basis) -> Result<(), ApiError>,
}

/// What was given for a parameter: one text, which may be a list between commas, or the texts of a list.
enum Given<'a> {
    One(Cow<'a, str>),
    Many(Vec<Cow<'a, str>>),
}

impl<'a> Given<'a> {
    /// Gives it as the query has it.
    fn text(&self) -> Cow<'_, str> {
        match self {
            Self::One(text) => Cow::Borrowed(text),
            Self::Many(texts) => texts.join(",").into(),
        }
    }

    /// Gives what stands between the commas.
    fn words(self) -> Vec<Cow<'a, str>> {
        match self {
            Self::One(Cow::Borrowed(text)) => text.split(',').map(Cow::Borrowed).collect(),
            Self::One(Cow::Owned(text)) => text.split(',').map(|word| word.to_owned().into()).collect(),
            Self::Many(texts) if texts.iter().all(|text| !text.contains(',')) => texts,
            Self::Many(texts) => texts.into_iter().flat_map(|text| Self::One(text).words()).collect(),
        }
    }
}

/// Every parameter of the terms; `pairs` stands last, for routes without it to leave out.
const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "max_age_ms",
        kind: Kind::Integer,
        set: |asked, given, _| {
            asked.terms.max_age = Duration::from_millis(integer("max_age_ms", &given.text(), MAX_AGE_MS)?);
            Ok(())
        },
    },
    Parameter {
        name: "min_sources",
        kind: Kind::Integer,
        set: |asked, given, _| {
            asked.terms.min_sources = usize::try_from(integer("min_sources", &given.text(), MIN_SOURCES)?).ok();
            Ok(())
        },
    },
    Parameter {
        name: "deadline_ms",
        kind: Kind::Integer,
        set: |asked, given, _| {
            asked.terms.deadline = Duration::from_millis(integer("deadline_ms", &given.text(), DEADLINE_MS)?);
            Ok(())
        },
    },
    Parameter {
        name: "venues",
        kind: Kind::List,
        set: |asked, given, basis| {
            asked.terms.venues = filter(&given.text(), basis)?;
            Ok(())
        },
    },
    Parameter {
        name: "fresh",
        kind: Kind::Boolean,
        set: |asked, given, _| {
            asked.terms.fresh = boolean("fresh", &given.text())?;
            Ok(())
        },
    },
    Parameter {
        name: "pairs",
        kind: Kind::List,
        set: |asked, given, _| {
            asked.pairs = Some(given.words());
            Ok(())
        },
    },
];

/// Reads the terms of a query string, and what else the route takes.
///
/// # Errors
/// `unknown_parameter`, `duplicate_parameter`, `invalid_parameter`, each naming the parameter.
pub fn from_query(query: &str, basis: &Basis, takes: Takes) -> Result<Asked<'static>, ApiError> {
    let mut asked = Asked::new(basis);
    let mut seen = Vec::new();
    for part in query.split('&').filter(|p| !p.is_empty()) {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let (name, value) = (decoded(name)?, decoded(value)?);
        if let Some(own) = takes.own.iter().find(|own| **own == name) {
            note(own, &mut seen)?;
            asked.own.push((own, value));
        } else {
            let parameter = find(&name, takes, &mut seen)?;
            (parameter.set)(&mut asked, Given::One(value.into()), basis)?;
        }
    }
    Ok(asked)
}

/// Reads pairs and terms of a JSON object.
///
/// # Errors
/// `invalid_body` where it is no object; else as [`from_query`].
pub fn from_json<'a>(body: &'a [u8], basis: &Basis) -> Result<Asked<'a>, ApiError> {
    let Members(members) = serde_json::from_slice(body)
        .map_err(|e| ApiError::new(Code::InvalidBody, format!("the body is no JSON object at line {}, column {}", e.line(), e.column())))?;
    let mut asked = Asked::new(basis);
    let mut seen = Vec::with_capacity(PARAMETERS.len());
    for (Word(name), value) in members {
        let parameter = find(&name, Takes { pairs: true, own: &[] }, &mut seen)?;
        (parameter.set)(&mut asked, given(parameter, value.get())?, basis)?;
    }
    Ok(asked)
}

fn find(name: &str, takes: Takes, seen: &mut Vec<&'static str>) -> Result<&'static Parameter, ApiError> {
    let known = || PARAMETERS.iter().filter(|p| takes.pairs || p.name != "pairs");
    let Some(parameter) = known().find(|p| p.name == name) else {
        let names: Vec<&str> = known().map(|p| p.name).chain(takes.own.iter().copied()).collect();
        let detail = format!("parameter {} is not known, expected one of {}", shown(name), names.join(", "));
        return Err(ApiError::new(Code::UnknownParameter, detail).suggest(closest_word(name, names.into_iter())));
    };
    note(parameter.name, seen)?;
    Ok(parameter)
}

fn note(name: &'static str, seen: &mut Vec<&'static str>) -> Result<(), ApiError> {
    if seen.contains(&name) {
        return Err(ApiError::new(Code::DuplicateParameter, format!("{name} is given more than once, expected once")));
    }
    seen.push(name);
    Ok(())
}

pub(super) fn decoded(text: &str) -> Result<String, ApiError> {
    percent_decoded(&text.replace('+', " "))
        .ok_or_else(|| ApiError::new(Code::InvalidParameter, format!("{} in the query, expected percent-encoded UTF-8", shown(text))))
}

/// Reads a JSON value, whose text says by its first letter what it is.
fn given<'a>(parameter: &Parameter, json: &'a str) -> Result<Given<'a>, ApiError> {
    let (kind, is) = match json.bytes().next() {
        Some(b'"') => (Some(Kind::List), "a text"),
        Some(b'[') => (Some(Kind::List), "a list"),
        Some(b't' | b'f') => (Some(Kind::Boolean), "a truth value"),
        Some(b'-' | b'0'..=b'9') => (Some(Kind::Integer), "a number"),
        Some(b'{') => (None, "an object"),
        _ => (None, "null"),
    };
    let expected = match parameter.kind {
        Kind::Integer => "a whole number",
        Kind::Boolean => "true or false",
        Kind::List => "a text or a list of texts",
    };
    let unfit = || ApiError::new(Code::InvalidParameter, format!("{} is {is}, expected {expected}", parameter.name));
    let unread = |error: serde_json::Error| match error.is_data() {
        true => unfit(),
        // What passed for a text until it was read: half of a pair of escapes.
        false => ApiError::new(Code::InvalidBody, format!("{} has a text that is none in JSON", parameter.name)),
    };
    match kind {
        Some(kind) if kind != parameter.kind => Err(unfit()),
        None => Err(unfit()),
        Some(Kind::Integer | Kind::Boolean) => Ok(Given::One(json.into())),
        Some(Kind::List) if json.starts_with('"') => serde_json::from_str(json).map(|Word(text)| Given::One(text)).map_err(unread),
        Some(Kind::List) => serde_json::from_str::<Vec<Word<'_>>>(json)
            .map(|words| Given::Many(words.into_iter().map(|Word(text)| text).collect()))
            .map_err(unread),
    }
}

/// Says that a parameter's value is none of what is expected.
pub(super) fn invalid(name: &str, value: &str, expected: impl fmt::Display) -> ApiError {
    ApiError::new(Code::InvalidParameter, format!("{name} is {}, expected {expected}", shown(value)))
}

fn integer(name: &str, text: &str, range: RangeInclusive<u64>) -> Result<u64, ApiError> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let number = if digits { text.parse().ok() } else { None };
    number
        .filter(|n| range.contains(n))
        .ok_or_else(|| invalid(name, text, format_args!("a whole number from {} to {}", range.start(), range.end())))
}

/// Finds the venue that a parameter names.
pub(super) fn venue<'b>(name: &str, id: &str, basis: &'b Basis) -> Result<&'b VenueId, ApiError> {
    basis.venues.iter().find(|venue| venue.as_str().eq_ignore_ascii_case(id)).ok_or_else(|| {
        let error = invalid(name, id, "the ids of /v1/venues");
        error.suggest(closest_word(id, basis.venues.iter().map(VenueId::as_str)))
    })
}

/// Reads `true` or `false`.
pub(super) fn boolean(name: &str, text: &str) -> Result<bool, ApiError> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(invalid(name, other, "true or false")),
    }
}

/// Reads `a,b` or `-c,-d`.
fn filter(text: &str, basis: &Basis) -> Result<VenueFilter, ApiError> {
    let mut ids = Vec::new();
    let (mut only, mut except) = (false, false);
    for word in text.split(',') {
        let id = match word.strip_prefix('-') {
            Some(id) => {
                except = true;
                id
            }
            None => {
                only = true;
                word
            }
        };
        let venue = venue("venues", id, basis)?;
        if !ids.contains(venue) {
            ids.push(venue.clone());
        }
    }
    match (only, except) {
        (true, true) => Err(invalid("venues", text, "ids alone (a,b) or exclusions alone (-a,-b)")),
        (_, true) => Ok(VenueFilter::Except(ids)),
        _ => Ok(VenueFilter::Only(ids)),
    }
}

/// Holds the members of an object in their order, the same name twice included.
struct Members<'a>(Vec<(Word<'a>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::with_capacity(PARAMETERS.len());
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Read)
    }
}

#[cfg(test)]
mod tests;
