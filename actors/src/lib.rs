//! The engine of Quorate.

pub mod model;

pub mod clock;
pub mod sim;
pub mod terms;
pub mod transport;
pub mod venue;
pub mod venues;
pub mod view;
