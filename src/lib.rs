//! The service around the engine of Quorate: its command line.

pub mod cli;
