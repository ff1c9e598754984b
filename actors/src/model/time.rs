//! Wall time, as venues and receipts write it.

use std::{fmt, time::Duration};

/// Counts milliseconds since 1970-01-01 UTC. Ages are never taken from it: those are monotonic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMs(pub i64);

impl UnixMs {
    /// Gives the instant `by` later, or the last one there is.
    pub fn saturating_add(self, by: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Gives how much later `self` is than `earlier`, or zero.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Reads a timestamp in RFC 3339; one without a zone is taken as UTC, as venues mean it.
    pub fn from_rfc3339(text: &str) -> Option<Self> {
        let stamp = text.parse::<jiff::Timestamp>().ok().or_else(|| {
            let civil = text.parse::<jiff::civil::DateTime>().ok()?;
            jiff::tz::Offset::UTC.to_timestamp(civil).ok()
        })?;
        Some(Self(stamp.as_millisecond()))
    }
}

impl fmt::Display for UnixMs {
    /// Writes RFC 3339 UTC with milliseconds; a time outside the years -9999 to 9999 is written at the edge.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stamp =
            jiff::Timestamp::from_millisecond(self.0).unwrap_or(if self.0 < 0 { jiff::Timestamp::MIN } else { jiff::Timestamp::MAX });
        write!(f, "{stamp:.3}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_with_milliseconds_and_read_in_the_venues_forms() {
        assert_eq!(UnixMs(1_796_036_400_123).to_string(), "2026-11-30T11:00:00.123Z");
        assert_eq!(UnixMs(1_796_036_400_000).to_string(), "2026-11-30T11:00:00.000Z");
        for text in ["2015-04-08T20:49:06.506997Z", "2015-04-08T20:49:06.506", "2015-04-08T22:49:06.506+02:00"] {
            assert_eq!(UnixMs::from_rfc3339(text), Some(UnixMs(1_428_526_146_506)), "{text}");
        }
        assert_eq!(UnixMs::from_rfc3339("soon"), None);
        assert!(UnixMs(i64::MAX).to_string().starts_with("9999-12-"));
    }
}
