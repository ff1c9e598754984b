//! The engine of Quorate.

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
pub mod transport;
pub mod venue;
pub mod venues;
pub mod view;
mod watchdog;

pub use board::{Published, Render};
pub use coordinator::{AskError, QuoteUpdate};
pub use engine::{Builder, ControlError, Engine, PairConfig, PairStatus, StartError, VenueStatus};
pub use exchange::{Control, PlanFacts, VenueConfig, VenueState};
