//! The caller's terms, from a query or from a JSON body: one table for both.

use super::{openapi::Shape, pairs::closest_word};
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
#[derive(Clone, Copy, Default)]
pub struct Takes {
    /// Whether it takes `pairs`.
    pub pairs: bool,
    /// Parameters that only this route knows; it reads their texts itself.
    pub(crate) own: &'static [Own],
}

/// Holds what is said of a parameter of a route's own.
pub(crate) struct Own {
    pub(crate) name: &'static str,
    /// Whether the route has no answer without it.
    pub(crate) needed: bool,
    pub(crate) shape: Shape,
    /// What it does.
    pub(crate) about: &'static str,
}

impl Own {
    /// Names a parameter that may be left out.
    pub(crate) const fn new(name: &'static str, shape: Shape, about: &'static str) -> Self {
        Self { name, needed: false, shape, about }
    }
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

/// How a parameter's value is written, and where it goes.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Integer(&'static RangeInclusive<u64>, fn(&mut Asked<'_>, u64)),
    Boolean(fn(&mut Asked<'_>, bool)),
    List(for<'a> fn(&mut Asked<'a>, Given<'a>, &Basis) -> Result<(), ApiError>),
}

/// One parameter of the terms.
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// What it does.
    pub(super) about: &'static str,
}

impl Parameter {
    fn set<'a>(&self, asked: &mut Asked<'a>, given: Given<'a>, basis: &Basis) -> Result<(), ApiError> {
        match self.kind {
            Kind::Integer(range, set) => set(asked, integer(self.name, &given.text(), range)?),
            Kind::Boolean(set) => set(asked, boolean(self.name, &given.text())?),
            Kind::List(set) => set(asked, given, basis)?,
        }
        Ok(())
    }

    /// Tells whether its value in JSON begins with such a letter.
    fn begins_with(&self, letter: u8) -> bool {
        match self.kind {
            Kind::Integer(..) => matches!(letter, b'-' | b'0'..=b'9'),
            Kind::Boolean(_) => matches!(letter, b't' | b'f'),
            Kind::List(_) => matches!(letter, b'"' | b'['),
        }
    }
}

/// What was given for a parameter: one text, which may be a list between commas, or the texts of a list.
pub(super) enum Given<'a> {
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
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "max_age_ms",
        kind: Kind::Integer(&MAX_AGE_MS, |asked, ms| asked.terms.max_age = Duration::from_millis(ms)),
        about: "how old a venue's word may be; where it is older, the venues are asked",
    },
    Parameter {
        name: "min_sources",
        kind: Kind::Integer(&MIN_SOURCES, |asked, count| asked.terms.min_sources = usize::try_from(count).ok()),
        about: "how many sources must count: the answer is given as soon as they do",
    },
    Parameter {
        name: "deadline_ms",
        kind: Kind::Integer(&DEADLINE_MS, |asked, ms| asked.terms.deadline = Duration::from_millis(ms)),
        about: "how long to wait where venues must be asked",
    },
    Parameter {
        name: "venues",
        kind: Kind::List(|asked, given, basis| {
            asked.terms.venues = filter(&given.text(), basis)?;
            Ok(())
        }),
        about: "ids of the only venues that count (a,b), or of those that do not (-a,-b)",
    },
    Parameter {
        name: "fresh",
        kind: Kind::Boolean(|asked, fresh| asked.terms.fresh = fresh),
        about: "whether every venue is asked now, whatever is known",
    },
    Parameter {
        name: "pairs",
        kind: Kind::List(|asked, given, _| {
            asked.pairs = Some(given.words());
            Ok(())
        }),
        about: "the pairs, such as BTC-USD,ETH-EUR",
    },
];

/// Gives the parameters of a route that are terms.
pub(super) fn parameters(takes: Takes) -> impl Iterator<Item = &'static Parameter> {
    PARAMETERS.iter().filter(move |parameter| takes.pairs || parameter.name != "pairs")
}

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
        if let Some(own) = takes.own.iter().find(|own| own.name == name) {
            note(own.name, &mut seen)?;
            asked.own.push((own.name, value));
        } else {
            let parameter = find(&name, takes, &mut seen)?;
            parameter.set(&mut asked, Given::One(value.into()), basis)?;
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
        parameter.set(&mut asked, given(parameter, value.get())?, basis)?;
    }
    Ok(asked)
}

fn find(name: &str, takes: Takes, seen: &mut Vec<&'static str>) -> Result<&'static Parameter, ApiError> {
    let known = || parameters(takes);
    let Some(parameter) = known().find(|p| p.name == name) else {
        let names: Vec<&str> = known().map(|p| p.name).chain(takes.own.iter().map(|own| own.name)).collect();
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
    let first = json.bytes().next().unwrap_or_default();
    let unfit = || {
        let is = match first {
            b'"' => "a text",
            b'[' => "a list",
            b't' | b'f' => "a truth value",
            b'-' | b'0'..=b'9' => "a number",
            b'{' => "an object",
            _ => "null",
        };
        let expected = match parameter.kind {
            Kind::Integer(..) => "a whole number",
            Kind::Boolean(_) => "true or false",
            Kind::List(_) => "a text or a list of texts",
        };
        ApiError::new(Code::InvalidParameter, format!("{} is {is}, expected {expected}", parameter.name))
    };
    let unread = |error: serde_json::Error| match error.is_data() {
        true => unfit(),
        // What passed for a text until it was read: half of a pair of escapes.
        false => ApiError::new(Code::InvalidBody, format!("{} has a text that is none in JSON", parameter.name)),
    };
    if !parameter.begins_with(first) {
        return Err(unfit());
    }
    match first {
        b'"' => serde_json::from_str(json).map(|Word(text)| Given::One(text)).map_err(unread),
        b'[' => serde_json::from_str::<Vec<Word<'_>>>(json)
            .map(|words| Given::Many(words.into_iter().map(|Word(text)| text).collect()))
            .map_err(unread),
        _ => Ok(Given::One(json.into())),
    }
}

/// Says that a parameter's value is none of what is expected.
pub(super) fn invalid(name: &str, value: &str, expected: impl fmt::Display) -> ApiError {
    ApiError::new(Code::InvalidParameter, format!("{name} is {}, expected {expected}", shown(value)))
}

fn integer(name: &str, text: &str, range: &RangeInclusive<u64>) -> Result<u64, ApiError> {
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
