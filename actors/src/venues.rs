//! The table of built-in venues. Adding one: its file, its fixtures, and two lines here.
#![warn(clippy::disallowed_types)]

use crate::venue::Venue;

mod binance;
mod bitfinex;
mod bitstamp;
mod htx;
mod kraken;
mod kucoin;
mod mexc;

pub use binance::Binance;
pub use bitfinex::Bitfinex;
pub use bitstamp::Bitstamp;
pub use htx::Htx;
pub use kraken::Kraken;
pub use kucoin::Kucoin;
pub use mexc::Mexc;

/// Every built-in venue, sorted by id.
pub const VENUES: &[&dyn Venue] = &[&Binance, &Bitfinex, &Bitstamp, &Htx, &Kraken, &Kucoin, &Mexc];

/// Finds a built-in venue by its id.
pub fn by_id(id: &str) -> Option<&'static dyn Venue> {
    VENUES.iter().find(|v| v.profile().id == id).copied()
}
