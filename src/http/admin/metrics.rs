//! `GET /metrics`: a snapshot as Prometheus or OpenMetrics text, by what the caller accepts.

use super::{families, snapshot::Snapshot};
use crate::wire::push_u64;
use quorate_actors::meter::BucketCounts;

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

/// The labels of a sample: names of ours, and values that the text escapes.
pub(super) type Labels<'a> = &'a [(&'static str, &'a str)];

/// Takes the samples of one family.
pub(super) struct Samples<'a> {
    out: &'a mut Vec<u8>,
    name: &'static str,
    suffix: &'static str,
}

impl Samples<'_> {
    /// Adds a whole number.
    pub(super) fn count(&mut self, labels: Labels<'_>, number: u64) {
        self.scaled(labels, number, 0);
    }

    /// Adds 1 where a thing is so, else 0.
    pub(super) fn flag(&mut self, labels: Labels<'_>, is_so: bool) {
        self.scaled(labels, u64::from(is_so), 0);
    }

    /// Adds seconds that are given in nanoseconds.
    pub(super) fn ns(&mut self, labels: Labels<'_>, ns: u64) {
        self.scaled(labels, ns, 9);
    }

    /// Adds seconds that are given in microseconds.
    pub(super) fn us(&mut self, labels: Labels<'_>, us: u64) {
        self.scaled(labels, us, 6);
    }

    /// Adds seconds that are given in milliseconds.
    pub(super) fn ms(&mut self, labels: Labels<'_>, ms: u64) {
        self.scaled(labels, ms, 3);
    }

    /// Adds a share that is given in thousandths.
    pub(super) fn permille(&mut self, labels: Labels<'_>, permille: u64) {
        self.scaled(labels, permille, 3);
    }

    /// Adds seconds before or after, given in milliseconds.
    pub(super) fn signed_ms(&mut self, labels: Labels<'_>, ms: i64) {
        self.head(self.suffix, labels, None);
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
            self.head("_bucket", labels, Some(times.bounds_us.get(number).copied()));
            push_u64(self.out, seen);
            self.out.push(b'\n');
        }
        self.head("_sum", labels, None);
        push_scaled(self.out, times.sum_us, 6);
        self.out.push(b'\n');
        self.head("_count", labels, None);
        push_u64(self.out, seen);
        self.out.push(b'\n');
    }

    /// Adds `number / 10^scale`.
    pub(super) fn scaled(&mut self, labels: Labels<'_>, number: u64, scale: u32) {
        self.head(self.suffix, labels, None);
        push_scaled(self.out, number, scale);
        self.out.push(b'\n');
    }

    /// Pushes name and labels; a bound that is `Some(None)` is the one above all.
    fn head(&mut self, suffix: &str, labels: Labels<'_>, bound_us: Option<Option<u64>>) {
        self.out.extend_from_slice(self.name.as_bytes());
        self.out.extend_from_slice(suffix.as_bytes());
        let mut before = b'{';
        for (name, value) in labels {
            self.out.push(before);
            self.out.extend_from_slice(name.as_bytes());
            self.out.extend_from_slice(b"=\"");
            push_label(self.out, value);
            self.out.push(b'"');
            before = b',';
        }
        if let Some(bound_us) = bound_us {
            self.out.push(before);
            self.out.extend_from_slice(b"le=\"");
            match bound_us {
                // OpenMetrics wants a point in every bound.
                Some(us) if us % 1_000_000 == 0 => {
                    push_u64(self.out, us / 1_000_000);
                    self.out.extend_from_slice(b".0");
                }
                Some(us) => push_scaled(self.out, us, 6),
                None => self.out.extend_from_slice(b"+Inf"),
            }
            self.out.push(b'"');
            before = b',';
        }
        if before == b',' {
            self.out.push(b'}');
        }
        self.out.push(b' ');
    }
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

/// Pushes a label's value, escaped as both texts want it.
fn push_label(out: &mut Vec<u8>, value: &str) {
    for byte in value.bytes() {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'"' => out.extend_from_slice(b"\\\""),
            b'\n' => out.extend_from_slice(b"\\n"),
            other => out.push(other),
        }
    }
}

/// Writes every family.
pub(super) fn render(snapshot: &Snapshot, format: Format) -> Vec<u8> {
    let mut out = Vec::with_capacity(64 << 10);
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
        (family.samples)(snapshot, &mut Samples { out: &mut out, name: family.name, suffix });
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
        push_label(&mut out, "a\"b\\c\nd");
        assert_eq!(out, br#"a\"b\\c\nd"#);
    }
}
