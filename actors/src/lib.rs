//! The engine of Quorate.

pub mod model;

pub mod breaker;
pub mod budget;
pub mod clock;
pub mod mirrors;
pub mod terms;
pub mod transport;
pub mod venue;
pub mod venues;
pub mod view;
