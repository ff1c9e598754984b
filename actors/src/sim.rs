//! A simulated world of exchanges: a seeded market, faults on demand, and answers in each venue's own dialect.
//!
//! Nothing here opens a socket or reads a clock: time is an argument. [`MemoryConnect`] serves an engine without a network, under paused time too;
//! the service puts the same [`World`] behind real HTTP on loopback.

mod active;
mod answer;
mod desk;
mod faults;
mod listing;
mod market;
mod memory;
mod noise;
mod reply;
mod spoil;
mod stats;
mod world;

pub use active::ListedFault;
pub use faults::{FAULTS_MAX, FaultError, FaultFile, FaultName, FaultSpec, Params};
pub use listing::{Listing, every_pair, listed_by};
pub use market::{Control, Market, MarketError, Prices, Snapshot};
pub use memory::MemoryConnect;
pub use reply::{Manner, Reply};
pub use stats::{Connection, VenueStats};
pub use world::{Options, OptionsError, Truth, World};
