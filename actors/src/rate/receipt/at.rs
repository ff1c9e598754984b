//! A value of a receipt with the way to it, so that what is wrong can be named by its place.

use super::{super::Num, read::ReadError, tree::Tree};
use crate::model::{Asset, Pair, UnixMs};
use std::{fmt, time::Duration};

/// Points to a value, or to where one is missing.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    tree: Option<&'a Tree<'a>>,
    up: Option<&'a At<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root,
    Member(&'a str),
    Item(usize),
}

impl<'a> At<'a> {
    pub(super) fn root(tree: &'a Tree<'a>) -> Self {
        Self { tree: Some(tree), up: None, step: Step::Root }
    }

    /// Points to a member.
    pub(super) fn get(&'a self, name: &'a str) -> Self {
        Self { tree: self.tree.and_then(|tree| tree.get(name)), up: Some(self), step: Step::Member(name) }
    }

    /// Reads every item of a list.
    pub(super) fn each(&self, mut read: impl FnMut(At<'_>) -> Result<(), ReadError>) -> Result<(), ReadError> {
        let Some(Tree::List(items)) = self.tree else { return self.wrong("a list") };
        items.iter().enumerate().try_for_each(|(at, item)| read(At { tree: Some(item), up: Some(self), step: Step::Item(at) }))
    }

    /// Reads what may be null.
    pub(super) fn maybe<T>(&self, read: impl FnOnce(&Self) -> Result<T, ReadError>) -> Result<Option<T>, ReadError> {
        if matches!(self.tree, Some(Tree::Null)) { Ok(None) } else { read(self).map(Some) }
    }

    pub(super) fn text(&self) -> Result<&'a str, ReadError> {
        match self.tree {
            Some(Tree::Text(text)) => Ok(text),
            _ => self.wrong("a text"),
        }
    }

    /// Reads a text that says something else.
    pub(super) fn parsed<T>(&self, expected: &'static str, parse: impl FnOnce(&str) -> Option<T>) -> Result<T, ReadError> {
        match self.tree {
            Some(Tree::Text(text)) => parse(text).map_or_else(|| self.wrong(expected), Ok),
            _ => self.wrong(expected),
        }
    }

    /// Reads one of a closed set of words.
    pub(super) fn word<T: Copy>(&self, expected: &'static str, all: &[T], slug: impl Fn(T) -> &'static str) -> Result<T, ReadError> {
        self.parsed(expected, |text| all.iter().copied().find(|word| slug(*word) == text))
    }

    pub(super) fn flag(&self) -> Result<bool, ReadError> {
        match self.tree {
            Some(Tree::Flag(value)) => Ok(*value),
            _ => self.wrong("true or false"),
        }
    }

    pub(super) fn millis(&self) -> Result<Duration, ReadError> {
        match self.tree {
            Some(Tree::Whole(ms)) => Ok(Duration::from_millis(*ms)),
            _ => self.wrong("a whole number of milliseconds"),
        }
    }

    pub(super) fn num(&self) -> Result<Num, ReadError> {
        self.parsed("a plain decimal that is not negative", |text| text.parse().ok())
    }

    pub(super) fn time(&self) -> Result<UnixMs, ReadError> {
        self.parsed("a time such as 2026-11-30T11:00:00.123Z", UnixMs::from_rfc3339)
    }

    pub(super) fn asset(&self) -> Result<Asset, ReadError> {
        self.parsed("an asset such as BTC", |text| Asset::new(text).ok())
    }

    pub(super) fn pair(&self) -> Result<Pair, ReadError> {
        // As it is written: old codes are assets of their own here.
        self.parsed("a pair such as BTC-USD", |text| text.split_once('-').and_then(|(base, quote)| Pair::new(base, quote).ok()))
    }

    /// Says that the value is none of its kind.
    pub(super) fn wrong<T>(&self, expected: &'static str) -> Result<T, ReadError> {
        let value = self.tree.map_or_else(|| "nothing".to_owned(), ToString::to_string);
        let place = self.to_string();
        Err(ReadError::Value { place: if place.is_empty() { "the body".to_owned() } else { place }, value, expected })
    }
}

impl fmt::Display for At<'_> {
    /// Writes the way to it: `quotes[3].bid`, and nothing of the whole.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(up) = self.up {
            fmt::Display::fmt(up, f)?;
        }
        match self.step {
            Step::Root => Ok(()),
            Step::Item(at) => write!(f, "[{at}]"),
            Step::Member(name) if self.up.is_some_and(|up| up.up.is_some()) => write!(f, ".{name}"),
            Step::Member(name) => f.write_str(name),
        }
    }
}
