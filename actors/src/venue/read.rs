//! What all venues share in reading an answer: statuses, pages, emptiness.

use super::{Body, Endpoint, Scratch, Sink, Venue};
use crate::model::{Fault, Pair, Reason};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Reads an answer of a venue: a refusal becomes its typed fault, rows go to the sink. A panic inside the venue's code is a `decode` fault.
///
/// # Errors
/// The [`Fault`] of the whole answer.
pub fn read(venue: &dyn Venue, endpoint: &Endpoint, status: u16, bytes: &[u8], scratch: &mut Scratch, sink: Sink<'_>) -> Result<(), Fault> {
    catch_unwind(AssertUnwindSafe(|| {
        if let Some(fault) = refused(venue, status, bytes) {
            return Err(fault);
        }
        venue.decode(endpoint, &mut Body::new(bytes, scratch), sink)
    }))
    .unwrap_or_else(|_| Err(Fault::new(Reason::Decode, "the decoder panicked")))
}

/// Reads status and body as a refusal; `None` where rows are due.
fn refused(venue: &dyn Venue, status: u16, bytes: &[u8]) -> Option<Fault> {
    let blank = bytes.iter().all(u8::is_ascii_whitespace);
    let page = bytes.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'<');
    if (200..300).contains(&status) {
        return match (blank, page) {
            (true, _) => Some(Fault::new(Reason::Empty, "an answer without content")),
            (_, true) => Some(Fault::new(Reason::Html, "a page where data was due")),
            _ => None,
        };
    }
    let said = if blank || page { None } else { venue.said(status, bytes) };
    Some(said.unwrap_or_else(|| refusal_of_status(status, bytes)))
}

/// Reads a refusal from the status alone, as every venue means it.
pub fn refusal_of_status(status: u16, bytes: &[u8]) -> Fault {
    let reason = match status {
        429 => Reason::RateLimited,
        418 => Reason::Banned,
        451 => Reason::GeoBlocked,
        401 | 403 => Reason::Forbidden,
        300..=399 => Reason::Redirect,
        400..=499 => Reason::Http4xx,
        500..=599 => Reason::Http5xx,
        _ => Reason::Protocol,
    };
    let text = if bytes.first() == Some(&b'<') { "a page" } else { std::str::from_utf8(bytes).unwrap_or("no text") };
    Fault::said(reason, &format!("HTTP {status}: {}", text.trim()))
}

/// Quote assets by which a symbol without separator is split, when nothing better is at hand. The longest that fits wins, so that `ETHUSDT` is no pair in `SDT`.
const QUOTES: &[&str] = &[
    "USDT", "USDC", "USD1", "USDE", "USDS", "USDD", "TUSD", "BUSD", "FDUSD", "PYUSD", "RLUSD", "USDP", "USDQ", "USDR", "XUSD", "BFUSD",
    "AEUR", "EURI", "EURC", "EURR", "EURQ", "EURT", "HUSD", "EURCV", "DAI", "UST", "USD", "EUR", "GBP", "JPY", "TRY", "BRL", "ARS", "MXN",
    "COP", "CZK", "PLN", "RON", "UAH", "ZAR", "IDR", "IDRT", "BIDR", "BVND", "NGN", "RUB", "AUD", "CAD", "CHF", "KRW", "AED", "HKD", "SGD",
    "BTC", "ETH", "BNB", "XRP", "TRX", "DOT", "SOL", "DOGE", "KCS", "HT", "TRB", "MNT", "BIT", "BRZ", "PAX", "VAI", "U",
];

/// Splits a symbol without separator by the longest known quote asset at its end.
pub fn split_by_quote(symbol: &str) -> Option<Pair> {
    let upper = symbol.to_ascii_uppercase();
    // `USDTUSD` is USDT in USD: nobody trades USD in TUSD.
    let fits = QUOTES.iter().filter_map(|quote| Some((upper.strip_suffix(quote)?, *quote)));
    let pairs = fits.filter(|fit| !fit.0.is_empty() && *fit != ("USD", "TUSD"));
    let (base, quote) = pairs.max_by_key(|(_, quote)| quote.len())?;
    Pair::new(base, quote).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_split_by_the_longest_quote() {
        for (symbol, pair) in [
            ("BTCUSDT", "BTC-USDT"),
            ("btcusd", "BTC-USD"),
            ("ethbtc", "ETH-BTC"),
            ("WLFIUSD1", "WLFI-USD1"),
            ("AUSDT", "A-USDT"),
            ("1000SATSUSDT", "1000SATS-USDT"),
            ("aethusdtusdt", "AETHUSDT-USDT"),
            ("ltcht", "LTC-HT"),
            ("usdtusd", "USDT-USD"),
        ] {
            assert_eq!(split_by_quote(symbol).unwrap().to_string(), pair);
        }
        assert_eq!(split_by_quote("USDT"), None);
        assert_eq!(split_by_quote("牛来usdt"), None);
    }

    #[test]
    fn statuses_speak_for_themselves() {
        for (status, reason) in [
            (429, Reason::RateLimited),
            (418, Reason::Banned),
            (451, Reason::GeoBlocked),
            (403, Reason::Forbidden),
            (302, Reason::Redirect),
            (400, Reason::Http4xx),
            (503, Reason::Http5xx),
            (999, Reason::Protocol),
        ] {
            assert_eq!(refusal_of_status(status, b"no").reason, reason);
        }
    }
}
