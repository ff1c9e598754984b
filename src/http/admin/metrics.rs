//! `GET /metrics`: a snapshot as Prometheus or OpenMetrics text, by what the caller accepts.

use super::{
    families,
    snapshot::{Pair, Snapshot, Venue},
};
use crate::wire::push_u64;
use quorate_actors::meter::{ActorSnapshot, BucketCounts, MessageSnapshot};

/// About how long the text is, for the first guess.
const SIZE: usize = 96 << 10;

/// Tells the two texts apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Prometheus,
    OpenMetrics,
}

impl Format {
    /// Chooses by an `Accept` header: OpenMetrics where it is named and nothing is liked better.
    pub(super) fn accepted(accept: &str) -> Self {
        let (mut open, mut plain) = (0, 0);
        for range in accept.split(',') {
            let mut parts = range.split(';').map(str::trim);
            let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
            let weight = parts.find_map(|part| part.strip_prefix("q=")).map_or(1000, thousandths);
            match kind.as_str() {
                "application/openmetrics-text" => open = open.max(weight),
                "text/plain" | "text/*" => plain = plain.max(weight),
                _ => {}
            }
        }
        if open > 0 && open >= plain { Self::OpenMetrics } else { Self::Prometheus }
    }

    /// Gives the type of the content.
    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// Reads a weight such as `0.5`, of three decimals at most.
fn thousandths(text: &str) -> u64 {
    let (whole, decimals) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let digits: String = decimals.chars().chain("000".chars()).take(3).collect();
    let whole: u64 = whole.parse().unwrap_or(0);
    whole.saturating_mul(1000).saturating_add(digits.parse().unwrap_or(0)).min(1000)
}

/// Tells how the samples of a family behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Only goes up; its samples end in `_total`.
    Counter,
    Gauge,
    Histogram,
    /// Is 1, and says what it says by its labels; its samples end in `_info`.
    Info,
}

/// Holds one name, and how its samples are found in a snapshot.
pub(super) struct Family {
    /// The name, with its unit and without `_total` or `_info`.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// `seconds`, `bytes`, `ratio`, or nothing.
    pub(super) unit: &'static str,
    pub(super) help: &'static str,
    pub(super) samples: fn(&Snapshot, &mut Samples<'_>),
}

/// The labels of a sample: the first, of an actor, a type of its messages, a venue or a pair, are written once for all families; the others are names and
/// words of ours, fixed where they are always the same.
#[derive(Clone, Copy)]
pub(super) struct Labels<'a> {
    first: &'a [u8],
    fixed: &'static str,
    rest: &'a [(&'static str, &'a str)],
}

impl<'a> Labels<'a> {
    /// No label at all.
    pub(super) const NONE: Labels<'static> = Labels { first: &[], fixed: "", rest: &[] };

    /// Labels without a first.
    pub(super) fn of(rest: &'a [(&'static str, &'a str)]) -> Self {
        Self { rest, ..Labels::NONE }
    }

    fn first(first: &'a [u8]) -> Self {
        Self { first, ..Labels::NONE }
    }

    /// The same first labels, and others.
    pub(super) fn and<'b>(self, rest: &'b [(&'static str, &'b str)]) -> Labels<'b>
    where
        'a: 'b,
    {
        Labels { rest, ..self }
    }

    /// The same first labels, and others as they stand in the text, such as `window="1m"`.
    pub(super) fn fixed(self, fixed: &'static str) -> Self {
        Self { fixed, ..self }
    }
}

/// Holds first labels, written and escaped.
struct Firsts {
    actors: Vec<Vec<u8>>,
    /// Of each actor, the types of message that ever came.
    messages: Vec<Vec<(usize, Vec<u8>)>>,
    venues: Vec<Vec<u8>>,
    pairs: Vec<Vec<u8>>,
}

impl Firsts {
    fn of(s: &Snapshot) -> Self {
        let write = |name: &str, value: &str| {
            let mut out = Vec::with_capacity(48);
            push_label(&mut out, b'{', name, value);
            out
        };
        let messages = |actor: &ActorSnapshot| {
            let came = actor.messages.iter().enumerate().filter(|(_, row)| row.sent > 0 || row.refused > 0);
            let first = |(at, row): (usize, &MessageSnapshot)| {
                let mut out = write("actor", &actor.name);
                push_label(&mut out, b',', "message", row.message);
                (at, out)
            };
            came.map(first).collect()
        };
        Self {
            actors: s.actors.iter().map(|actor| write("actor", &actor.name)).collect(),
            messages: s.actors.iter().map(messages).collect(),
            venues: s.venues.iter().map(|venue| write("venue", venue.id())).collect(),
            pairs: s.pairs.iter().map(|pair| write("pair", &pair.name)).collect(),
        }
    }
}

/// Takes the samples of one family.
pub(super) struct Samples<'a> {
    out: &'a mut Vec<u8>,
    firsts: &'a Firsts,
    name: &'a str,
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

impl Samples<'_> {
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
        self.head("", labels);
        push_u64(self.out, number);
        self.out.push(b'\n');
    }

    /// Adds 1 where a thing is so, else 0.
    pub(super) fn flag(&mut self, labels: Labels<'_>, is_so: bool) {
        self.count(labels, u64::from(is_so));
    }

    /// Adds `number / 10^scale`.
    pub(super) fn scaled(&mut self, labels: Labels<'_>, number: u64, scale: u32) {
        self.head("", labels);
        push_scaled(self.out, number, scale);
        self.out.push(b'\n');
    }

    /// Adds seconds that are given in milliseconds.
    pub(super) fn ms(&mut self, labels: Labels<'_>, ms: u64) {
        self.scaled(labels, ms, 3);
    }

    /// Adds seconds before or after, given in milliseconds.
    pub(super) fn signed_ms(&mut self, labels: Labels<'_>, ms: i64) {
        self.head("", labels);
        if ms < 0 {
            self.out.push(b'-');
        }
        push_scaled(self.out, ms.unsigned_abs(), 3);
        self.out.push(b'\n');
    }

    /// Adds a histogram: its buckets, each with those below it, then sum and count.
    pub(super) fn histogram(&mut self, labels: Labels<'_>, times: &BucketCounts) {
        let mut seen = 0_u64;
        for (number, count) in times.counts.iter().enumerate() {
            seen = seen.saturating_add(*count);
            self.out.extend_from_slice(self.name.as_bytes());
            self.out.extend_from_slice(b"_bucket");
            let before = push_labels(self.out, labels);
            self.out.extend_from_slice(if before == b'{' { b"{le=\"" } else { b",le=\"" });
            match times.bounds_us.get(number) {
                // OpenMetrics wants a point in every bound.
                Some(us) if us.is_multiple_of(1_000_000) => {
                    push_u64(self.out, us / 1_000_000);
                    self.out.extend_from_slice(b".0");
                }
                Some(us) => push_scaled(self.out, *us, 6),
                None => self.out.extend_from_slice(b"+Inf"),
            }
            self.out.extend_from_slice(b"\"} ");
            push_u64(self.out, seen);
            self.out.push(b'\n');
        }
        self.head("_sum", labels);
        push_scaled(self.out, times.sum_us, 6);
        self.out.push(b'\n');
        self.head("_count", labels);
        push_u64(self.out, seen);
        self.out.push(b'\n');
    }

    fn head(&mut self, suffix: &str, labels: Labels<'_>) {
        self.out.extend_from_slice(self.name.as_bytes());
        if !suffix.is_empty() {
            self.out.extend_from_slice(suffix.as_bytes());
        }
        let before = push_labels(self.out, labels);
        self.out.extend_from_slice(if before == b'{' { b" " } else { b"} " });
    }
}

/// Pushes labels without the brace at their end; gives what comes before a further one.
fn push_labels(out: &mut Vec<u8>, labels: Labels<'_>) -> u8 {
    out.extend_from_slice(labels.first);
    let mut before = if labels.first.is_empty() { b'{' } else { b',' };
    if !labels.fixed.is_empty() {
        out.push(before);
        out.extend_from_slice(labels.fixed.as_bytes());
        before = b',';
    }
    for (name, value) in labels.rest {
        push_label(out, before, name, value);
        before = b',';
    }
    before
}

/// Pushes `number / 10^scale`, the zeros at the end of the fraction left out.
fn push_scaled(out: &mut Vec<u8>, number: u64, scale: u32) {
    let unit = 10_u64.saturating_pow(scale);
    push_u64(out, number.checked_div(unit).unwrap_or(0));
    let (mut rest, mut digits) = (number.checked_rem(unit).unwrap_or(0), scale);
    if rest == 0 {
        return;
    }
    while rest.is_multiple_of(10) {
        rest /= 10;
        digits = digits.saturating_sub(1);
    }
    out.push(b'.');
    let mut place = 10_u64.saturating_pow(digits.saturating_sub(1));
    while place > 0 {
        out.push(b'0' | (rest.checked_div(place).unwrap_or(0) % 10) as u8);
        place /= 10;
    }
}

/// Pushes one label, its value escaped as both texts want it.
fn push_label(out: &mut Vec<u8>, before: u8, name: &str, value: &str) {
    out.push(before);
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"=\"");
    if value.bytes().any(|b| matches!(b, b'\\' | b'"' | b'\n')) {
        out.extend_from_slice(value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").as_bytes());
    } else {
        out.extend_from_slice(value.as_bytes());
    }
    out.push(b'"');
}

/// Writes every family.
pub(super) fn render(snapshot: &Snapshot, format: Format) -> Vec<u8> {
    let (mut out, firsts, mut name) = (Vec::with_capacity(SIZE), Firsts::of(snapshot), String::new());
    for family in families::all() {
        let (kind, suffix) = match family.kind {
            Kind::Counter => ("counter", "_total"),
            Kind::Gauge => ("gauge", ""),
            Kind::Histogram => ("histogram", ""),
            // Prometheus' own text has no such kind.
            Kind::Info if format == Format::Prometheus => ("gauge", "_info"),
            Kind::Info => ("info", "_info"),
        };
        // What a family is called differs: with its suffix in the one text, without it in the other.
        let of_name = if format == Format::Prometheus { suffix } else { "" };
        for (word, text) in [("# HELP ", family.help), ("# TYPE ", kind), ("# UNIT ", family.unit)] {
            if text.is_empty() || (word == "# UNIT " && format == Format::Prometheus) {
                continue;
            }
            for part in [word, family.name, of_name, " ", text, "\n"] {
                out.extend_from_slice(part.as_bytes());
            }
        }
        name.clear();
        name.push_str(family.name);
        name.push_str(suffix);
        (family.samples)(snapshot, &mut Samples { out: &mut out, firsts: &firsts, name: &name });
    }
    if format == Format::OpenMetrics {
        out.extend_from_slice(b"# EOF\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_chosen_by_what_is_accepted() {
        let prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
        for (accept, format) in [
            ("", Format::Prometheus),
            ("*/*", Format::Prometheus),
            ("text/plain", Format::Prometheus),
            ("application/openmetrics-text", Format::OpenMetrics),
            (prometheus, Format::OpenMetrics),
            ("application/openmetrics-text;q=0.1, text/plain;q=0.7", Format::Prometheus),
            ("application/openmetrics-text;q=0", Format::Prometheus),
        ] {
            assert_eq!(Format::accepted(accept), format, "{accept}");
        }
    }

    #[test]
    fn numbers_are_plain_and_labels_are_escaped() {
        let scaled = |number, scale| {
            let mut out = Vec::new();
            push_scaled(&mut out, number, scale);
            String::from_utf8(out).unwrap()
        };
        for (number, scale, text) in
            [(0, 9, "0"), (1, 9, "0.000000001"), (1_500_000_000, 9, "1.5"), (1_000_000, 6, "1"), (1_050, 3, "1.05"), (7, 0, "7")]
        {
            assert_eq!(scaled(number, scale), text);
        }
        assert_eq!(scaled(u64::MAX, 9), "18446744073.709551615");
        let mut out = Vec::new();
        push_label(&mut out, b'{', "x", "a\"b\\c\nd");
        assert_eq!(out, br#"{x="a\"b\\c\nd""#);
    }
}
