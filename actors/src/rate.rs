//! How quotes become an answer that can be trusted: pure rules over quotes and one instant. Memory is one value, time is an argument.
#![warn(clippy::disallowed_types)]

mod admission;
mod age;
mod best;
mod conversion;
mod memory;
mod num;
mod outlier;
mod pass;
mod receipt;
mod rules;
mod settings;
mod status;
mod vote;
mod wide;

pub use admission::{AdmissionRules, admit};
pub use best::{best_ask, best_bid};
pub use conversion::{Conversion, Path, Step};
pub use memory::{Good, Hold, Mark, Marks, Memory};
pub use num::{Num, NumError, median};
pub use outlier::{Label, Middle};
pub use pass::{Before, Decision, Offer, Outcome, Prior, Row, pass};
pub use receipt::{Difference, Made, MarketMiss, ReadError, Receipt, Verified, verify};
pub use rules::{Band, Class, Rules};
pub use settings::{Markets, Own, Settings};
pub use status::{Status, Tally};
pub use vote::{Operator, Vote};
