//! The values that everything else speaks of: no I/O, no clock, no actor.
#![warn(clippy::disallowed_types)]

mod asset;
mod fault;
mod pair;
mod price;
mod quote;
mod time;

pub use asset::{Asset, AssetError};
pub use fault::{Fault, Group, Phase, Reason, Retry};
pub use pair::{Pair, PairError};
pub use price::{Amount, NumberError, Price};
pub use quote::{Outcome, Quote, Source, Ticker, VenueId};
pub use time::UnixMs;
