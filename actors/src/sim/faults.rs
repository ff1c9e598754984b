//! The closed list of faults, and how one is described: parsed strictly, from JSON and TOML alike.

use crate::model::Pair;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::{fmt, str::FromStr};

/// How many faults may be set at once.
pub const FAULTS_MAX: usize = 1000;

macro_rules! faults {
    ($($name:ident $slug:literal [$($param:literal)*] $doc:literal),+ $(,)?) => {
        /// Names what can go wrong in the simulation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum FaultName { $(#[doc = $doc] $name),+ }

        impl FaultName {
            /// Every fault, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// Gives the word for it.
            pub fn slug(self) -> &'static str {
                match self { $(Self::$name => $slug),+ }
            }

            /// Gives the names of the parameters that it takes; each is optional.
            pub fn params(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$($param),*]),+ }
            }
        }
    };
}

faults! {
    Slow "slow" ["delay_ms"] "Answers later, by 3 s or `delay_ms`.",
    Drip "drip" ["bytes_per_s"] "Sends the body byte by byte: 2 a second, or `bytes_per_s`.",
    Silent "silent" [] "Takes the request and never answers.",
    Refused "refused" [] "Refuses connections: the venue's own port is closed.",
    Reset "reset" [] "Breaks the connection instead of answering.",
    RateLimited "rate_limited" ["retry_after_s"] "Says that there were too many requests, in the venue's words; `retry_after_s` is sent as Retry-After.",
    Banned "banned" ["retry_after_s"] "Bans the caller, in the venue's words; `retry_after_s` is sent as Retry-After.",
    GeoBlocked "geo_blocked" [] "Does not serve this country.",
    Forbidden "forbidden" [] "Denies access.",
    Http500 "http_500" [] "Answers 500.",
    Html503 "html_503" [] "Answers 503 with a page.",
    Html200 "html_200" [] "Answers 200 with a page.",
    Empty "empty" [] "Answers 200 without content.",
    Truncated "truncated" [] "Ends the connection amid the body, short of its Content-Length.",
    WrongLength "wrong_length" [] "Declares half of the body's length.",
    Oversize "oversize" ["bytes"] "Pads the body beyond the venue's limit, or to `bytes`.",
    GzipBomb "gzip_bomb" ["bytes"] "Packs a body that unpacks to far beyond the venue's limit, or to `bytes`.",
    Redirect "redirect" ["location"] "Sends the caller elsewhere, to `location`.",
    Zero "zero" [] "Says 0 for bid, ask and last.",
    Crossed "crossed" [] "Puts the bid above the ask.",
    Frozen "frozen" [] "Repeats what it said at first, its time too.",
    TimeAhead "time_ahead" ["by_ms"] "Runs its clock ahead, by 60 s or `by_ms`.",
    TimeBack "time_back" ["by_ms"] "Runs its clock behind, by 60 s or `by_ms`.",
    WrongUnit "wrong_unit" ["factor"] "Multiplies prices by 100, or by a `factor` of \"0.01\".",
    RenamedField "renamed_field" ["field"] "Renames the field of the bid, or `field`.",
    UnknownSymbol "unknown_symbol" [] "Does not know the pair, in the venue's words.",
}

impl FaultName {
    fn names() -> String {
        Self::ALL.iter().map(|fault| fault.slug()).collect::<Vec<_>>().join(" ")
    }
}

impl fmt::Display for FaultName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.slug())
    }
}

impl FromStr for FaultName {
    type Err = FaultError;

    fn from_str(text: &str) -> Result<Self, FaultError> {
        Self::ALL.iter().find(|f| f.slug() == text).copied().ok_or_else(|| FaultError::Name(cut(text)))
    }
}

impl Serialize for FaultName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.slug())
    }
}

impl<'de> Deserialize<'de> for FaultName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// Says why a fault was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FaultError {
    /// There is no such fault.
    #[error("unknown fault {0:?}: expected one of {names}", names = FaultName::names())]
    Name(String),
    /// There is no such venue.
    #[error("unknown venue {0:?}: expected * or a venue's id")]
    Venue(String),
    /// The pair is listed nowhere that the fault would act.
    #[error("pair {pair} is not listed by venue {venue:?}")]
    Pair {
        /// The pair.
        pair: Pair,
        /// The venue, or `*`.
        venue: String,
    },
    /// The share is no share.
    #[error("share {0}: expected a number above 0, up to 1")]
    Share(f64),
    /// The fault does not take the parameter.
    #[error("fault {fault} takes no parameter {param}")]
    Param {
        /// The fault.
        fault: FaultName,
        /// The parameter.
        param: &'static str,
    },
    /// The parameter's value is out of range.
    #[error("parameter {param}: expected {expected}")]
    Value {
        /// The parameter.
        param: &'static str,
        /// What was expected.
        expected: &'static str,
    },
    /// A closed port can neither tell pairs apart nor be closed to some.
    #[error("fault refused closes the venue's port: expected no pair, and a share of 1")]
    WholeVenue,
    /// Too many are set.
    #[error("too many faults: at most {FAULTS_MAX} may be set at once")]
    TooMany,
}

/// Holds the content of a fault file, and of a request that sets faults.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FaultFile {
    /// The faults to set.
    pub faults: Vec<FaultSpec>,
}

/// Describes one fault to be set.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FaultSpec {
    /// The venue's id, or `*` for all.
    pub venue: String,
    /// The pair; absent: all.
    #[serde(default, with = "pair_text")]
    pub pair: Option<Pair>,
    /// What goes wrong.
    pub fault: FaultName,
    /// The share of requests that it meets: 0 < share ≤ 1.
    #[serde(default = "whole")]
    pub share: f64,
    /// When it begins, in milliseconds from being set.
    #[serde(default)]
    pub after_ms: u64,
    /// How long it lasts, in milliseconds; absent: until removed.
    #[serde(default)]
    pub for_ms: Option<u64>,
    /// What else it takes.
    #[serde(default)]
    pub params: Params,
}

fn whole() -> f64 {
    1.0
}

mod pair_text {
    use super::*;

    pub(super) fn serialize<S: Serializer>(pair: &Option<Pair>, to: S) -> Result<S::Ok, S::Error> {
        pair.map(|p| p.to_string()).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Pair>, D::Error> {
        let text: Option<String> = Option::deserialize(from)?;
        text.map(|t| t.parse().map_err(|e| D::Error::custom(format!("pair {:?}: {e}", cut(&t))))).transpose()
    }
}

/// Holds the parameters of a fault; which one takes which stands in [`FaultName::params`].
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "explained at the faults that take them")]
pub struct Params {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_s: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_s: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

impl Params {
    /// Lists the parameters that are given, each with whether its value is lawful and what would be.
    fn checks(&self) -> impl Iterator<Item = (&'static str, bool, &'static str)> {
        let plain = |text: &String, most: usize| {
            (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic() && b != b'"' && b != b'\\')
        };
        [
            self.delay_ms.map(|v| ("delay_ms", v <= 600_000, "at most 600000")),
            self.bytes_per_s.map(|v| ("bytes_per_s", (1..=1_000_000).contains(&v), "1 to 1000000")),
            self.retry_after_s.map(|v| ("retry_after_s", v <= 31_536_000, "at most 31536000")),
            self.bytes.map(|v| ("bytes", v <= 64 << 20, "at most 67108864")),
            self.location.as_ref().map(|v| ("location", plain(v, 200), "a URL of at most 200 printable characters")),
            self.by_ms.map(|v| ("by_ms", v <= 31_536_000_000, "at most 31536000000")),
            self.factor.as_ref().map(|v| ("factor", matches!(v.as_str(), "100" | "0.01"), "\"100\" or \"0.01\"")),
            self.field.as_ref().map(|v| ("field", plain(v, 40), "a field's name of at most 40 printable characters")),
        ]
        .into_iter()
        .flatten()
    }
}

impl FaultSpec {
    /// Checks what the types do not.
    ///
    /// # Errors
    /// The first [`FaultError`].
    pub fn check(&self) -> Result<(), FaultError> {
        if !(self.share > 0.0 && self.share <= 1.0) {
            return Err(FaultError::Share(self.share));
        }
        if self.fault == FaultName::Refused && (self.pair.is_some() || self.share < 1.0) {
            return Err(FaultError::WholeVenue);
        }
        for (param, lawful, expected) in self.params.checks() {
            if !self.fault.params().contains(&param) {
                return Err(FaultError::Param { fault: self.fault, param });
            }
            if !lawful {
                return Err(FaultError::Value { param, expected });
            }
        }
        Ok(())
    }
}

fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(json: &str) -> Result<FaultSpec, String> {
        let spec: FaultSpec = serde_json::from_str(json).map_err(|e| e.to_string())?;
        spec.check().map_err(|e| e.to_string())?;
        Ok(spec)
    }

    #[test]
    fn names_are_those_of_the_surface() {
        let names: Vec<_> = FaultName::ALL.iter().map(|f| f.slug()).collect();
        let surface = "slow drip silent refused reset rate_limited banned geo_blocked forbidden http_500 html_503 html_200 empty truncated \
                       wrong_length oversize gzip_bomb redirect zero crossed frozen time_ahead time_back wrong_unit renamed_field unknown_symbol";
        let (mut names, mut surface) = (names, surface.split_whitespace().collect::<Vec<_>>());
        names.sort_unstable();
        surface.sort_unstable();
        assert_eq!(names, surface);
    }

    #[test]
    fn the_sample_of_the_surface_is_read_and_written_back() {
        let json = r#"{"faults":[{"venue":"kraken","pair":null,"fault":"rate_limited","share":1.0,"after_ms":0,"for_ms":10000,"params":{"retry_after_s":7}}]}"#;
        let file: FaultFile = serde_json::from_str(json).unwrap();
        assert_eq!(file.faults[0].params.retry_after_s, Some(7));
        assert_eq!(serde_json::to_string(&file).unwrap(), json);
        let least = spec(r#"{"venue":"*","pair":"btc_usdt","fault":"slow"}"#).unwrap();
        assert_eq!((least.share, least.for_ms, least.pair.unwrap().to_string()), (1.0, None, "BTC-USDT".to_owned()));
    }

    #[test]
    fn what_is_unknown_or_out_of_range_is_named() {
        for (json, want) in [
            (r#"{"venue":"kraken","fault":"slowly"}"#, "unknown fault \"slowly\": expected one of slow drip"),
            (r#"{"venue":"kraken","fault":"slow","shere":1}"#, "`shere`"),
            (r#"{"venue":"kraken","fault":"slow","params":{"delay":1}}"#, "`delay`"),
            (r#"{"venue":"kraken","fault":"slow","params":{"retry_after_s":1}}"#, "fault slow takes no parameter retry_after_s"),
            (r#"{"venue":"kraken","fault":"slow","params":{"delay_ms":600001}}"#, "parameter delay_ms: expected at most 600000"),
            (r#"{"venue":"kraken","fault":"redirect","params":{"location":"a\r\nb"}}"#, "parameter location"),
            (r#"{"venue":"kraken","fault":"slow","share":0}"#, "share 0"),
            (r#"{"venue":"kraken","fault":"slow","share":1.5}"#, "share 1.5"),
            (r#"{"venue":"kraken","fault":"slow","pair":"BTCUSDT"}"#, "pair \"BTCUSDT\""),
            (r#"{"venue":"kraken","fault":"refused","share":0.5}"#, "share of 1"),
            (r#"{"venue":"kraken","fault":"slow","after_ms":-1}"#, "-1"),
            (r#"{"fault":"slow"}"#, "`venue`"),
        ] {
            let error = spec(json).unwrap_err();
            assert!(error.contains(want), "{json}: {error}");
        }
    }
}
