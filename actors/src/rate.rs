//! How quotes become an answer that can be trusted: pure rules over quotes and one instant.
#![warn(clippy::disallowed_types)]

mod admission;
mod best;

pub use admission::{AdmissionRules, admit};
pub use best::{best_ask, best_bid};
