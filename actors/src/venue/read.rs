//! What all venues share in reading an answer: statuses, pages, emptiness.

use super::{Body, Endpoint, Scratch, Sink, Venue};
use crate::model::{Fault, Pair, Reason, Ticker};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Reads an answer of a venue: a refusal becomes its typed fault, rows go to the sink without what means nothing. A panic inside the venue's code is a
/// `decode` fault.
///
/// # Errors
/// The [`Fault`] of the whole answer.
pub fn read(venue: &dyn Venue, endpoint: &Endpoint, status: u16, bytes: &[u8], scratch: &mut Scratch, sink: Sink<'_>) -> Result<(), Fault> {
    catch_unwind(AssertUnwindSafe(|| {
        if let Some(fault) = refused(venue, status, bytes) {
            return Err(fault);
        }
        venue.decode(endpoint, &mut Body::new(bytes, scratch), &mut |symbol, row| sink(symbol, &|| row().map(meaningful)))
    }))
    .unwrap_or_else(|_| Err(Fault::new(Reason::Decode, "the decoder panicked")))
}

/// Leaves out what stands in an answer and means nothing: a size beside a price that is not there, and the time 0 of a market that never traded.
fn meaningful(ticker: Ticker) -> Ticker {
    Ticker {
        bid_size: ticker.bid.and(ticker.bid_size),
        ask_size: ticker.ask.and(ticker.ask_size),
        venue_time: ticker.venue_time.filter(|time| time.0 > 0),
        ..ticker
    }
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

/// Gives what the status alone says, as every venue means it.
fn reason_of_status(status: u16) -> Reason {
    match status {
        429 => Reason::RateLimited,
        418 => Reason::Banned,
        451 => Reason::GeoBlocked,
        401 | 403 => Reason::Forbidden,
        300..=399 => Reason::Redirect,
        400..=499 => Reason::Http4xx,
        500..=599 => Reason::Http5xx,
        _ => Reason::Protocol,
    }
}

/// Gives the reason of a refusal by the venue's own code: what the code means where that is known, else what the status says by itself, else `rejected`.
pub fn reason_of_code(known: Option<Reason>, status: u16) -> Reason {
    known.unwrap_or_else(|| match reason_of_status(status) {
        Reason::Http4xx | Reason::Protocol => Reason::Rejected,
        said => said,
    })
}

/// Reads a refusal from the status alone; of a page, the words with which content networks turn a country away are known too.
pub fn refusal_of_status(status: u16, bytes: &[u8]) -> Fault {
    let page = bytes.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'<');
    let whole = std::str::from_utf8(bytes).unwrap_or("no text");
    let walled = status == 403 && (whole.contains("from your country") || whole.contains("restricted location"));
    let reason = if walled { Reason::GeoBlocked } else { reason_of_status(status) };
    Fault::said(reason, &format!("HTTP {status}: {}", if page { "a page" } else { whole.trim() }))
}

/// Quote assets by which a symbol without separator is split, when nothing better is at hand. The longest that fits wins, so that `ETHUSDT` is no pair in `SDT`.
const QUOTES: &[&str] = &[
    "USDT", "USDC", "USD1", "USDE", "USDS", "USDD", "TUSD", "BUSD", "FDUSD", "PYUSD", "RLUSD", "USDP", "USDQ", "USDR", "XUSD", "BFUSD",
    "AEUR", "EURI", "EURC", "EURR", "EURQ", "EURT", "HUSD", "EURCV", "DAI", "UST", "USD", "EUR", "GBP", "JPY", "TRY", "BRL", "ARS", "MXN",
    "COP", "CZK", "PLN", "RON", "UAH", "ZAR", "IDR", "IDRT", "BIDR", "BVND", "NGN", "RUB", "AUD", "CAD", "CHF", "KRW", "AED", "HKD", "SGD",
    "BTC", "ETH", "BNB", "XRP", "TRX", "DOT", "SOL", "DOGE", "KCS", "HT", "TRB", "MNT", "BIT", "BRZ", "PAX", "VAI", "U",
];

/// Base assets that are told apart from quotes which swallow their last letters: `ETHUSD` is no pair in `HUSD`, `USDTUSD` none in `TUSD`.
const BASES: &[&str] = &[
    "BTC", "XBT", "ETH", "SOL", "XRP", "DOGE", "ADA", "LTC", "BCH", "BNB", "TRX", "AVAX", "FLUX", "IMX", "DYDX", "ZRX", "SNX", "GMX",
    "STX", "DASH", "GRT", "BAT", "DOT", "MNT", "FET", "APT", "CVX", "KNC", "ARB", "SHIB", "BNT", "ICP", "SAND", "EURT", "USDT", "USDC",
    "USDD", "DAI",
];

/// Splits a symbol without separator by the longest known quote asset at its end that leaves a well-known base, else by the longest there is.
pub fn split_by_quote(symbol: &str) -> Option<Pair> {
    let upper = symbol.to_ascii_uppercase();
    let splits = || QUOTES.iter().filter_map(|quote| Some((upper.strip_suffix(quote)?, *quote))).filter(|(base, _)| !base.is_empty());
    let longest = |(_, quote): &(&str, &str)| quote.len();
    let (base, quote) = splits().filter(|(base, _)| BASES.contains(base)).max_by_key(longest).or_else(|| splits().max_by_key(longest))?;
    Pair::new(base, quote).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Amount, Price, UnixMs};

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
            ("ETHUSD", "ETH-USD"),
            ("USDTUSD", "USDT-USD"),
            ("AVAXUSD", "AVAX-USD"),
            ("ETHTUSD", "ETH-TUSD"),
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
        let page = b"<html>configured to block access from your country.</html>";
        assert_eq!(refusal_of_status(403, page).to_string(), "geo_blocked: HTTP 403: a page");
    }

    #[test]
    fn a_known_code_outweighs_the_status_and_an_unknown_one_does_not() {
        assert_eq!(reason_of_code(Some(Reason::Unlisted), 500), Reason::Unlisted);
        for (status, reason) in [(200, Reason::Rejected), (400, Reason::Rejected), (429, Reason::RateLimited), (500, Reason::Http5xx)] {
            assert_eq!(reason_of_code(None, status), reason);
        }
    }

    #[test]
    fn a_size_beside_no_price_and_a_time_of_zero_mean_nothing() {
        let (price, size) = (Price::parse("2").unwrap(), Amount::parse("3").unwrap());
        let said = Ticker { ask: price, bid_size: size, ask_size: size, venue_time: Some(UnixMs(0)), ..Ticker::default() };
        assert_eq!(meaningful(said), Ticker { ask: price, ask_size: size, ..Ticker::default() });
    }
}
