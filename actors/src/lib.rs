//! The engine of Quorate, for embedding: one actix actor for each crypto exchange, and a coordinator that asks them all at once.
//!
//! ```no_run
//! use quorate_actors::{Engine, venues};
//! use std::time::Duration;
//!
//! # #[actix::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let rates = Engine::builder()
//!     .pairs(["BTC-USDT", "ETH-USDT"])
//!     .venue(venues::Kraken)
//!     .venue(venues::Binance)
//!     .deadline(Duration::from_millis(400))
//!     .start()?; // Clone + Send + Sync; inside an actix System
//! let pair = "BTC-USDT".parse()?;
//!
//! let answer = rates.quote(&pair).await?; // a round, under the deadline
//! for row in &answer.view.rows {
//!     println!("{} {:?} {:?}", row.quote.venue, row.quote.ticker.bid, row.quote.ticker.ask);
//! }
//! for miss in &answer.view.misses {
//!     println!("{} gave none: {}", miss.venue, miss.fault);
//! }
//! let latest = rates.latest(&pair); // no await, no lock
//! # drop(latest);
//! rates.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! The same on a simulated market, which needs no network and may run under paused time:
//!
//! ```
//! use quorate_actors::{Engine, clock::Clock, sim::{MemoryConnect, Options, World}};
//! use std::{sync::Arc, time::Duration};
//!
//! # #[actix::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let clock = Clock::start();
//! let world = World::new(Options { latency: (Duration::ZERO, Duration::from_millis(5)), ..Options::default() }, clock.now())?;
//! let engine = Engine::builder()
//!     .pairs(["BTC-USDT"])
//!     .clock(clock.clone())
//!     .connect(Arc::new(MemoryConnect::new(world, clock)))
//!     .here()
//!     .start()?;
//! let view = engine.quote(&"BTC-USDT".parse()?).await?.view.clone();
//! assert_eq!(view.rows.len() + view.misses.len(), view.asked());
//! assert!(view.bid().is_some());
//! engine.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! # The map
//!
//! From the ground up; each uses only what stands before it.
//!
//! - [`model`]: assets, pairs, prices, quotes, faults: values, without I/O or a clock. [`text`]: those written as JSON has them. [`clock`]: wall time by the monotonic clock.
//! - [`venue`]: what an exchange is, as data and pure functions of bytes; [`venues`]: those that are built in. A host adds its own by implementing
//!   [`venue::Venue`].
//! - [`rate`]: which quotes count, where it is best, what rate they make, and the receipt that proves it. [`view`], [`terms`]: what a caller gets and what he demands.
//! - [`meter`]: mailboxes made visible. It knows nothing of exchanges: meter your own actors with [`metered!`].
//! - [`transport`]: a GET by a deadline, over awc; [`sim`]: the same without a network, on a seeded market with faults.
//! - [`breaker`], [`budget`], [`mirrors`], [`plan`], [`gather`]: the guards and plans of an exchange, as values that take time as an argument.
//! - The actors: an exchange each, the coordinator, the watchdog; [`engine`] is their door, and [`board`] what they publish.
//!
//! The library sets no allocator, logger, panic hook, signal handler or default crypto provider, never ends the process, and uses no registry and no
//! statics: two engines in one process share nothing.

pub mod model;

pub mod board;
pub mod breaker;
pub mod budget;
pub mod clock;
mod coordinator;
pub mod engine;
mod exchange;
pub mod gather;
mod hash;
pub mod meter;
pub mod mirrors;
pub mod plan;
pub mod rate;
pub mod sim;
pub mod terms;
pub mod text;
pub mod transport;
pub mod venue;
pub mod venues;
pub mod view;
mod watchdog;

pub use board::{Published, PublishedRate, Render};
pub use coordinator::{AskError, QuoteUpdate, RateUpdate, Tallied};
pub use engine::{Builder, ControlError, Engine, PairConfig, PairStatus, StartError, VenueStatus};
pub use exchange::{Control, PlanFacts, VenueConfig, VenueState};
