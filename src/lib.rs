//! The service around the engine of Quorate.

pub mod cli;
pub mod sim;
