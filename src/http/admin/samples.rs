//! The lines of the metrics: a name, labels, a number.

use super::snapshot::{Pair, Snapshot, Venue};
use crate::wire::push_u64;
use quorate_actors::{
    meter::{ActorSnapshot, BucketCounts, MessageSnapshot},
    text::{self, is_plain, push_room},
};
use std::sync::{Arc, Mutex, PoisonError};

/// The longest text that is copied whole, which takes few steps, whatever its length.
const ROOM: usize = 64;

/// Holds a text that is written again and again.
pub(super) struct Text {
    room: [u8; ROOM],
    len: usize,
    /// The text where it is longer than the room.
    long: Vec<u8>,
}

impl Text {
    /// Holds a text of ours, which fits the room.
    pub(super) const fn fixed(text: &'static str) -> Self {
        let (mut room, mut at) = ([0; ROOM], 0);
        let mut rest = text.as_bytes();
        while let ([first, left @ ..], Some((to, _))) = (rest, room.split_at_mut(at).1.split_first_mut()) {
            *to = *first;
            rest = left;
            at = at.wrapping_add(1);
        }
        assert!(rest.is_empty(), "a fixed text is as long as the room at most");
        Self { room, len: at, long: Vec::new() }
    }

    fn of(text: &[u8]) -> Self {
        Self::of_both(text, &[])
    }

    fn of_both(start: &[u8], end: &[u8]) -> Self {
        let (mut room, len) = ([0; ROOM], start.len().saturating_add(end.len()));
        match room.get_mut(..len).and_then(|room| room.split_at_mut_checked(start.len())) {
            Some((to_start, to_end)) => {
                to_start.copy_from_slice(start);
                to_end.copy_from_slice(end);
                Self { room, len, long: Vec::new() }
            }
            None => Self { room, len: 0, long: [start, end].concat() },
        }
    }

    #[inline]
    fn push(&self, out: &mut Vec<u8>) {
        if !self.long.is_empty() {
            return self.push_long(out);
        }
        push_room(out, &self.room, self.len);
    }

    #[cold]
    #[inline(never)]
    fn push_long(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.long);
    }
}

/// The labels of a sample: the first, of an actor, a type of its messages, a venue or a pair, are written once for all families; the others are names and
/// words of ours, fixed where they are always the same.
#[derive(Clone, Copy)]
pub(super) struct Labels<'a> {
    first: Option<&'a Text>,
    fixed: Option<&'static Text>,
    rest: &'a [(&'static str, &'a str)],
}

impl<'a> Labels<'a> {
    /// No label at all.
    pub(super) const NONE: Labels<'static> = Labels { first: None, fixed: None, rest: &[] };

    /// Labels without a first.
    pub(super) fn of(rest: &'a [(&'static str, &'a str)]) -> Self {
        Self { rest, ..Labels::NONE }
    }

    fn first(first: &'a Text) -> Self {
        Self { first: Some(first), ..Labels::NONE }
    }

    /// The same first labels, and others.
    pub(super) fn and<'b>(self, rest: &'b [(&'static str, &'b str)]) -> Labels<'b>
    where
        'a: 'b,
    {
        Labels { rest, ..self }
    }

    /// The same first labels, and others as they stand in the text, such as `window="1m"`.
    pub(super) fn fixed(self, fixed: &'static Text) -> Self {
        Self { fixed: Some(fixed), ..self }
    }

    /// Pushes the labels without the brace at their end; gives what comes before a further one.
    fn push(self, out: &mut Vec<u8>) -> u8 {
        let mut before = b'{';
        if let Some(first) = self.first {
            first.push(out);
            before = b',';
        }
        if let Some(fixed) = self.fixed {
            out.push(before);
            fixed.push(out);
            before = b',';
        }
        for (name, value) in self.rest {
            push_label(out, before, name, value);
            before = b',';
        }
        before
    }
}

/// Holds first labels, written and escaped.
pub(super) struct Firsts {
    actors: Vec<Text>,
    /// Of each actor, the types of message that ever came.
    messages: Vec<Vec<(usize, Text)>>,
    venues: Vec<Text>,
    pairs: Vec<Text>,
}

impl Firsts {
    pub(super) fn of(s: &Snapshot) -> Self {
        let write = |labels: &[(&str, &str)]| {
            let (mut out, mut before) = (Vec::with_capacity(ROOM), b'{');
            for (name, value) in labels {
                push_label(&mut out, before, name, value);
                before = b',';
            }
            Text::of(&out)
        };
        let messages = |actor: &ActorSnapshot| {
            let came = actor.messages.iter().enumerate().filter(|(_, row)| row.sent > 0 || row.refused > 0);
            came.map(|(at, row)| (at, write(&[("actor", &actor.name), ("message", row.message)]))).collect()
        };
        Self {
            actors: s.actors.iter().map(|actor| write(&[("actor", &actor.name)])).collect(),
            messages: s.actors.iter().map(messages).collect(),
            venues: s.venues.iter().map(|venue| write(&[("venue", venue.id())])).collect(),
            pairs: s.pairs.iter().map(|pair| write(&[("pair", &pair.name)])).collect(),
        }
    }
}

/// Gives the bounds of a histogram as the ends of its labels. They are ours, few, and never change: each is written once.
fn bounds(bounds_us: &'static [u64]) -> Arc<[Text]> {
    type Written = (&'static [u64], Arc<[Text]>);
    static WRITTEN: Mutex<Vec<Written>> = Mutex::new(Vec::new());
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, texts)) = written.iter().find(|(bounds, _)| std::ptr::eq(*bounds, bounds_us)) {
        return Arc::clone(texts);
    }
    let bound = |us: &u64| {
        let mut out = b"le=\"".to_vec();
        push_scaled(&mut out, *us, 6);
        if us.is_multiple_of(1_000_000) {
            // OpenMetrics wants a point in every bound.
            out.extend_from_slice(b".0");
        }
        out.extend_from_slice(b"\"} ");
        Text::of(&out)
    };
    let texts: Arc<[Text]> = bounds_us.iter().map(bound).chain([Text::fixed("le=\"+Inf\"} ")]).collect();
    written.push((bounds_us, Arc::clone(&texts)));
    texts
}

/// Takes the samples of one family.
pub(super) struct Samples<'a> {
    out: &'a mut Vec<u8>,
    firsts: &'a Firsts,
    name: Text,
}

/// Runs over the rows of one kind, each with its first label.
macro_rules! each {
    ($name:ident, $rows:ident, $row:ty) => {
        pub(super) fn $name(&mut self, s: &Snapshot, add: impl Fn(&mut Self, Labels<'_>, &$row)) {
            let firsts = self.firsts;
            for (row, first) in s.$rows.iter().zip(&firsts.$rows) {
                add(self, Labels::first(first), row);
            }
        }
    };
}

impl<'a> Samples<'a> {
    /// Begins a family of this name, which is given in two parts.
    pub(super) fn new(out: &'a mut Vec<u8>, firsts: &'a Firsts, [start, end]: [&str; 2]) -> Self {
        Self { out, firsts, name: Text::of_both(start.as_bytes(), end.as_bytes()) }
    }

    each!(actors, actors, ActorSnapshot);
    each!(venues, venues, Venue);
    each!(pairs, pairs, Pair);

    /// Runs over the types of message that ever came, of all actors, each with its first labels.
    pub(super) fn messages(&mut self, s: &Snapshot, add: impl Fn(&mut Self, Labels<'_>, &MessageSnapshot)) {
        let firsts = self.firsts;
        for (actor, came) in s.actors.iter().zip(&firsts.messages) {
            for (at, first) in came {
                actor.messages.get(*at).into_iter().for_each(|row| add(self, Labels::first(first), row));
            }
        }
    }

    /// Adds a whole number.
    pub(super) fn count(&mut self, labels: Labels<'_>, number: u64) {
        self.head(labels);
        push_u64(self.out, number);
        self.out.push(b'\n');
    }

    /// Adds 1 where a thing is so, else 0.
    pub(super) fn flag(&mut self, labels: Labels<'_>, is_so: bool) {
        self.count(labels, u64::from(is_so));
    }

    /// Adds `number / 10^scale`.
    pub(super) fn scaled(&mut self, labels: Labels<'_>, number: u64, scale: u32) {
        self.head(labels);
        push_scaled(self.out, number, scale);
        self.out.push(b'\n');
    }

    /// Adds seconds that are given in milliseconds.
    pub(super) fn ms(&mut self, labels: Labels<'_>, ms: u64) {
        self.scaled(labels, ms, 3);
    }

    /// Adds seconds before or after, given in milliseconds.
    pub(super) fn signed_ms(&mut self, labels: Labels<'_>, ms: i64) {
        self.head(labels);
        if ms < 0 {
            self.out.push(b'-');
        }
        push_scaled(self.out, ms.unsigned_abs(), 3);
        self.out.push(b'\n');
    }

    /// Adds a histogram: its buckets, each with those below it, then sum and count.
    pub(super) fn histogram(&mut self, labels: Labels<'_>, times: &BucketCounts) {
        let mut seen = 0_u64;
        let mut before_bound = Vec::with_capacity(2 * ROOM);
        self.name.push(&mut before_bound);
        before_bound.extend_from_slice(b"_bucket");
        let before = labels.push(&mut before_bound);
        before_bound.push(before);
        for (count, bound) in times.counts.iter().zip(&*bounds(times.bounds_us)) {
            seen = seen.saturating_add(*count);
            self.out.extend_from_slice(&before_bound);
            bound.push(self.out);
            push_u64(self.out, seen);
            self.out.push(b'\n');
        }
        self.end(b"_sum", labels);
        push_scaled(self.out, times.sum_us, 6);
        self.out.push(b'\n');
        self.end(b"_count", labels);
        push_u64(self.out, seen);
        self.out.push(b'\n');
    }

    fn head(&mut self, labels: Labels<'_>) {
        self.end(b"", labels);
    }

    /// Pushes a line up to its number; the suffix goes behind the name.
    #[inline]
    fn end(&mut self, suffix: &[u8], labels: Labels<'_>) {
        self.name.push(self.out);
        if !suffix.is_empty() {
            self.out.extend_from_slice(suffix);
        }
        match labels.push(self.out) {
            b'{' => self.out.push(b' '),
            _ => self.out.extend_from_slice(b"} "),
        }
    }
}

/// Pushes `number / 10^scale`, the zeros at the end of the fraction left out.
fn push_scaled(out: &mut Vec<u8>, mut number: u64, mut scale: u32) {
    if number == 0 {
        return out.push(b'0');
    }
    while scale > 0 && number.is_multiple_of(10) {
        number /= 10;
        scale = scale.saturating_sub(1);
    }
    text::push_scaled(out, false, u128::from(number), scale);
}

/// Pushes one label, its value escaped as both texts want it.
fn push_label(out: &mut Vec<u8>, before: u8, name: &str, value: &str) {
    out.push(before);
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"=\"");
    if is_plain(value.as_bytes()) {
        out.extend_from_slice(value.as_bytes());
    } else {
        out.extend_from_slice(value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").as_bytes());
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_plain_and_labels_are_escaped() {
        let scaled = |number, scale| {
            let mut out = Vec::new();
            push_scaled(&mut out, number, scale);
            String::from_utf8(out).unwrap()
        };
        for (number, scale, text) in [
            (0, 9, "0"),
            (1, 9, "0.000000001"),
            (1_500_000_000, 9, "1.5"),
            (1_000_000, 6, "1"),
            (30_000_000, 6, "30"),
            (1_050, 3, "1.05"),
            (7, 0, "7"),
            (70, 0, "70"),
        ] {
            assert_eq!(scaled(number, scale), text);
        }
        assert_eq!(scaled(u64::MAX, 9), "18446744073.709551615");
        let mut out = Vec::new();
        push_label(&mut out, b'{', "x", "a\"b\\c\nd");
        assert_eq!(out, br#"{x="a\"b\\c\nd""#);
    }

    #[test]
    fn a_text_is_the_same_whatever_its_length() {
        for text in [String::new(), "x".repeat(ROOM), "y".repeat(ROOM + 1)] {
            let mut out = b">".to_vec();
            Text::of(text.as_bytes()).push(&mut out);
            Text::of_both(b"_", text.as_bytes()).push(&mut out);
            assert_eq!(out, format!(">{text}_{text}").as_bytes());
        }
        let mut out = Vec::with_capacity(2 * ROOM);
        Text::fixed("window=\"1m\"").push(&mut out);
        assert_eq!(out, b"window=\"1m\"");
    }
}
