//! The service of Quorate: configuration, command line and HTTP around the engine of `quorate-actors`.

pub mod cli;
pub mod config;
pub mod error;
pub mod http;
pub mod replay;
pub mod serve;
pub mod sim;
pub mod wire;

pub use http::{Options, State, routes, routes_of};
pub use serve::{Listeners, ServeError, run};

/// Compiles what README.md shows.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
