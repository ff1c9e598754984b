//! The table of built-in venues. Adding one: its file, its fixtures, and two lines here.
#![warn(clippy::disallowed_types)]

use crate::venue::Venue;

mod binance;
mod bitget;
mod bybit;
mod coinbaseexchange;
mod gate;
mod kraken;
mod okx;

pub use binance::Binance;
pub use bitget::Bitget;
pub use bybit::Bybit;
pub use coinbaseexchange::CoinbaseExchange;
pub use gate::Gate;
pub use kraken::Kraken;
pub use okx::Okx;

/// Every built-in venue, sorted by id.
pub const VENUES: &[&dyn Venue] = &[&Binance, &Bitget, &Bybit, &CoinbaseExchange, &Gate, &Kraken, &Okx];

/// Finds a built-in venue by its id.
pub fn by_id(id: &str) -> Option<&'static dyn Venue> {
    VENUES.iter().find(|v| v.profile().id == id).copied()
}
