//! The table of built-in venues. Adding one: its file, its fixtures, and two lines here.
#![warn(clippy::disallowed_types)]

use crate::venue::Venue;

mod binance;
mod bitfinex;
mod bitget;
mod bitstamp;
mod bybit;
mod coinbaseexchange;
mod gate;
mod htx;
mod kraken;
mod kucoin;
mod mexc;
mod okx;

pub use binance::Binance;
pub use bitfinex::Bitfinex;
pub use bitget::Bitget;
pub use bitstamp::Bitstamp;
pub use bybit::Bybit;
pub use coinbaseexchange::CoinbaseExchange;
pub use gate::Gate;
pub use htx::Htx;
pub use kraken::Kraken;
pub use kucoin::Kucoin;
pub use mexc::Mexc;
pub use okx::Okx;

/// Every built-in venue, sorted by id.
pub const VENUES: &[&dyn Venue] =
    &[&Binance, &Bitfinex, &Bitget, &Bitstamp, &Bybit, &CoinbaseExchange, &Gate, &Htx, &Kraken, &Kucoin, &Mexc, &Okx];

/// Finds a built-in venue by its id.
pub fn by_id(id: &str) -> Option<&'static dyn Venue> {
    VENUES.iter().find(|v| v.profile().id == id).copied()
}
