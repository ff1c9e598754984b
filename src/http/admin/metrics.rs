//! `GET /metrics`: a snapshot as Prometheus or OpenMetrics text, by what the caller accepts.

use super::{
    families,
    samples::{Firsts, Samples},
    snapshot::Snapshot,
};

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

/// Writes every family.
pub(super) fn render(snapshot: &Snapshot, format: Format) -> Vec<u8> {
    let (mut out, firsts) = (Vec::with_capacity(SIZE), Firsts::of(snapshot));
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
        (family.samples)(snapshot, &mut Samples::new(&mut out, &firsts, [family.name, suffix]));
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
}
