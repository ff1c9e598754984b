//! The service around the engine of Quorate: its command line, and the simulated exchanges behind real sockets.

pub mod cli;
pub mod sim;
