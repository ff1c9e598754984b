//! The engine of Quorate.

pub mod model;
pub mod venue;
pub mod venues;
