//! What `benches/peers/run` and `benches/claims/run` measure of ours, with the allocator of the binary.

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

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    parts::run();
}
