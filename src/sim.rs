//! The simulated exchanges behind real HTTP on loopback: every fault of the simulation reaches the bytes of the connection.

mod connection;
mod control;
mod head;
mod ports;
mod reply;
mod server;
mod tls;

pub use server::Sim;
pub use tls::Tls;
