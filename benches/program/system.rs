//! The same with the system's allocator, which valgrind can count.

#![allow(missing_docs, reason = "a bench has no readers of its docs but these")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::arithmetic_side_effects,
    reason = "a bench that cannot measure ends"
)]

mod parts;
#[path = "../support/mod.rs"]
mod support;

fn main() {
    parts::run();
}
