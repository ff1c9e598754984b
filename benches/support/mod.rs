//! What the benches share: the venues and their answers, a canned server, the floor, and the engine beside it.
#![allow(dead_code, unreachable_pub, missing_docs, reason = "each bench uses a part of it, and nobody else does")]

pub mod canned;
pub mod floor;
pub mod market;
pub mod ours;
pub mod stats;
