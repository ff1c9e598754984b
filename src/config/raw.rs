//! The configuration as it is typed: every key optional, every value checked where it stands, so that an error can point at it.

use quorate_actors::{
    model::{Asset, Pair, PairError},
    rate::{Class, Num, read_fee},
    venue::{Budget, Region},
    venues,
};
use serde::{Deserialize, Deserializer, de::Error};
use std::{collections::BTreeMap, fmt, net::SocketAddr, time::Duration};

/// The keys at the top.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Raw {
    pub listen: Option<Listen>,
    pub admin_listen: Option<Listen>,
    pub admin_token_file: Option<String>,
    pub admin_hosts: Option<Vec<String>>,
    pub deadline_ms: Option<Within<50, 10_000>>,
    pub fetch_timeout_ms: Option<FetchTimeout>,
    pub max_age_ms: Option<Within<100, 3_600_000>>,
    pub poll_ms: Option<Poll>,
    pub on_demand: Option<bool>,
    pub metrics: Option<bool>,
    pub pairs: Option<Vec<RawPair>>,
    pub venues: Option<BTreeMap<VenueKey, RawVenue>>,
    pub rate: Option<RawRate>,
    pub receipts: Option<RawReceipts>,
    pub limits: Option<RawLimits>,
}

pub(super) type FetchTimeout = Within<100, 60_000>;
pub(super) type Poll = Within<100, 3_600_000>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPair {
    pub name: PairName,
    pub required: Option<bool>,
    pub quorum: Option<Within<1, 100>>,
    pub venues: Option<Vec<VenueKey>>,
    pub class: Option<ClassName>,
    pub floor: Option<Share>,
    pub cap: Option<Share>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawVenue {
    pub enabled: Option<bool>,
    pub origin: Option<Origin>,
    pub mirrors: Option<Vec<Origin>>,
    pub taker: Option<Fraction>,
    pub poll_ms: Option<Poll>,
    pub budget: Option<Allowed>,
    pub fetch_timeout_ms: Option<FetchTimeout>,
    pub operator: Option<Operator>,
    pub region: Option<Walled>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRate {
    pub max_age_polled_ms: Option<Within<1000, 3_600_000>>,
    pub stale_ms: Option<Within<0, 3_600_000>>,
    pub par: Option<Vec<Par>>,
    pub through: Option<Vec<AssetCode>>,
    pub class: Option<RawClasses>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawClasses {
    pub major: Option<RawMajor>,
    pub other: Option<RawBand>,
    pub peg: Option<RawBand>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMajor {
    pub floor: Option<Share>,
    pub cap: Option<Share>,
    pub assets: Option<Vec<AssetCode>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBand {
    pub floor: Option<Share>,
    pub cap: Option<Share>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawReceipts {
    pub memory_mib: Option<Within<1, 65_536>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawLimits {
    pub connections: Option<Within<1, 1_000_000>>,
    pub body_bytes: Option<Within<1024, 16_777_216>>,
    pub pairs_per_request: Option<Within<1, 1000>>,
    pub rounds_per_s: Option<Within<1, 10_000>>,
    pub on_demand_pairs: Option<Within<1, 100_000>>,
}

/// Holds a whole number in a range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Within<const MIN: u64, const MAX: u64>(pub u64);

impl<'de, const MIN: u64, const MAX: u64> Deserialize<'de> for Within<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        let within = u64::try_from(number).ok().filter(|n| (MIN..=MAX).contains(n));
        within.map(Self).ok_or_else(|| D::Error::custom(format_args!("{number} is out of range, expected {MIN} to {MAX}")))
    }
}

macro_rules! checked_text {
    ($($(#[$doc:meta])* $name:ident($value:ty): $read:expr;)+) => { $(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub(super) struct $name(pub $value);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                let read: fn(&str) -> Result<$value, String> = $read;
                read(&text).map(Self).map_err(D::Error::custom)
            }
        }
    )+ };
}

fn expected(text: &str, what: impl fmt::Display) -> String {
    format!("{text:?}, expected {what}")
}

checked_text! {
    /// Holds an address to listen at.
    Listen(SocketAddr): |text| text.parse().map_err(|_| expected(text, "an address and a port such as 127.0.0.1:8080"));
    /// Holds a pair.
    PairName(Pair): |text| text.parse().map_err(|e: PairError| format!("{text:?}: {e}"));
    /// Holds the id of a built-in venue.
    #[derive(PartialOrd, Ord)]
    VenueKey(String): |text| match venues::by_id(text) {
        Some(venue) => Ok(venue.profile().id.to_owned()),
        None => Err(expected(text, format_args!("a venue: {}", venue_ids()))),
    };
    /// Holds where a venue is asked.
    Origin(String): |text| super::origin::read(text).map_err(|e| expected(text, e));
    /// Holds a class of pairs.
    ClassName(Class): |text| Class::ALL
        .into_iter()
        .find(|class| class.slug() == text)
        .ok_or_else(|| expected(text, "major, other or peg"));
    /// Holds an asset's code.
    AssetCode(Asset): |text| Asset::new(text).map_err(|e| format!("{text:?}: {e}"));
    /// Holds two assets declared to be worth the same.
    Par(Pair): |text| text
        .split_once('=')
        .and_then(|(a, b)| Pair::new(a.trim(), b.trim()).ok())
        .ok_or_else(|| expected(text, "two assets, such as \"USD1=USD\""));
    /// Holds a distance as a share of the median.
    Share(Num): |text| text
        .parse::<Num>()
        .ok()
        .filter(|share| !share.is_zero() && *share <= Num::ONE)
        .ok_or_else(|| expected(text, "a fraction above 0, of 1 at most, such as \"0.02\""));
    /// Holds how much a venue lets be asked.
    Allowed(Budget): |text| allowed(text).ok_or_else(|| expected(text, "a weight of 1 or more in a window of 1 to 86400 s, such as \"30/60s\""));
    /// Holds who runs a venue.
    Operator(String): |text| {
        let lawful = !text.is_empty() && text.len() <= 40 && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_');
        if lawful { Ok(text.to_owned()) } else { Err(expected(text, "1 to 40 of a-z, 0-9, - and _")) }
    };
    /// Holds a region behind capital controls.
    Walled(Region): |text| Region::by_code(text).ok_or_else(|| expected(text, "KR, IN, TR, AR or NG"));
    /// Holds a fee.
    Fraction(Num): |text| read_fee(text).map_err(|_| expected(text, "a fraction from 0 to 0.1, such as \"0.001\""));
}

fn allowed(text: &str) -> Option<Budget> {
    let (weight, window) = text.split_once('/')?;
    let (weight, seconds) = (weight.trim().parse().ok()?, window.trim().strip_suffix('s')?.trim_end().parse().ok()?);
    (weight > 0 && (1..=86_400).contains(&seconds)).then_some(Budget { weight, per: Duration::from_secs(seconds) })
}

fn venue_ids() -> String {
    venues::VENUES.iter().map(|v| v.profile().id).collect::<Vec<_>>().join(", ")
}
