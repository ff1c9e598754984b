//! The two headers of an answer that carry a time: pure, and safe for whatever a server sends.

use crate::model::{Retry, UnixMs};
use std::time::Duration;

const MONTHS: [&[u8; 3]; 12] = [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// Reads a `Retry-After`: whole seconds or an HTTP date; `None` for anything else. Seconds beyond 64 bits are as many as there are.
pub fn retry_after(value: &[u8]) -> Option<Retry> {
    let value = value.trim_ascii();
    if value.is_empty() {
        return None;
    }
    number(value).map(|seconds| Retry::After(Duration::from_secs(seconds))).or_else(|| http_date(value).map(Retry::At))
}

/// Reads an HTTP date in the form that servers must write (IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`). The name of the day is not judged, and a leap
/// second is taken as the second before it.
pub fn http_date(value: &[u8]) -> Option<UnixMs> {
    let [_, _, _, b',', b' ', rest @ .., b' ', b'G', b'M', b'T'] = value.trim_ascii() else { return None };
    let [d1, d2, b' ', m1, m2, m3, b' ', y1, y2, y3, y4, b' ', h1, h2, b':', n1, n2, b':', s1, s2] = rest else { return None };
    let two = |high: &u8, low: &u8| number(&[*high, *low]).and_then(|n| i8::try_from(n).ok());
    let year = i16::try_from(number(&[*y1, *y2, *y3, *y4])?).ok()?;
    let month = (1_i8..).zip(MONTHS).find(|(_, name)| **name == [*m1, *m2, *m3])?.0;
    let second = two(s1, s2)?;
    let second = if second == 60 { 59 } else { second };
    let civil = jiff::civil::DateTime::new(year, month, two(d1, d2)?, two(h1, h2)?, two(n1, n2)?, second, 0).ok()?;
    Some(UnixMs(jiff::tz::Offset::UTC.to_timestamp(civil).ok()?.as_millisecond()))
}

/// Reads digits and nothing else.
fn number(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |sum, digit| match digit {
        b'0'..=b'9' => Some(sum.saturating_mul(10).saturating_add(u64::from(digit & 0x0f))),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_the_form_that_servers_must_write() {
        for (text, ms) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777_000),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199_000),
            (" Mon, 30 Nov 2026 11:00:00 GMT ", 1_796_036_400_000),
            ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_799_000),
        ] {
            assert_eq!(http_date(text.as_bytes()), Some(UnixMs(ms)), "{text}");
        }
    }

    #[test]
    fn other_dates_are_none() {
        for text in [
            "",
            "GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 nov 1994 08:49:37 GMT",
            "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:60:00 GMT",
            "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, +6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37  GMT",
            "Sun, 6 Nov 1994 08:49:37 GMT",
        ] {
            assert_eq!(http_date(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_wait_is_seconds_or_a_date() {
        assert_eq!(retry_after(b"0"), Some(Retry::After(Duration::ZERO)));
        assert_eq!(retry_after(b" 120 "), Some(Retry::After(Duration::from_secs(120))));
        assert_eq!(retry_after(&[b'9'; 400]), Some(Retry::After(Duration::from_secs(u64::MAX))));
        assert_eq!(retry_after(b"Thu, 01 Jan 1970 00:00:10 GMT"), Some(Retry::At(UnixMs(10_000))));
        for text in ["", " ", "-1", "+1", "1.5", "soon", "1e3", "\u{661}"] {
            assert_eq!(retry_after(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn no_bytes_panic() {
        let date = b"Sun, 06 Nov 1994 08:49:37 GMT";
        for at in 0..date.len() {
            for byte in 0..=u8::MAX {
                let mut changed = *date;
                changed[at] = byte;
                let read = http_date(&changed);
                assert!(at < 3 || byte == date[at] || read != http_date(date), "{at} {byte}");
                assert_eq!(http_date(&changed[..at]), None);
            }
        }
    }
}
