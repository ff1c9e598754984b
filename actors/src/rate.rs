//! How quotes become an answer that can be trusted: pure rules over quotes and one instant. Memory is one value, time is an argument.
#![warn(clippy::disallowed_types)]

mod admission;
mod age;
mod amount;
mod best;
mod conversion;
mod fee;
mod memory;
mod num;
mod outlier;
mod pass;
mod receipt;
mod rules;
mod settings;
mod spread;
mod status;
mod top;
mod vote;
mod wide;

pub use admission::{AdmissionRules, admit};
pub use amount::{Converted, How, Leg, convert};
pub use best::{Ranked, Side, best_ask, best_bid, rank};
pub use conversion::{Conversion, Path, Step};
pub use fee::{FeeSource, Taker, Takers, read_fee, taker, with_callers};
pub use memory::{Good, Hold, Mark, Marks, Memory};
pub use num::{Num, NumError, median};
pub use outlier::{Label, Middle};
pub use pass::{Before, Decision, Offer, Outcome, Prior, Row, pass};
pub use receipt::{Difference, Made, MarketMiss, ReadError, Reading, Receipt, Verified, verify};
pub use rules::{Band, Class, Rules};
pub use settings::{Markets, Own, Settings};
pub use spread::{Bps, Cell, Matrix, matrix};
pub use status::{Status, Tally};
pub use top::{LeftOut, Top, Tops, Wanted, tops};
pub use vote::{Operator, Vote};
