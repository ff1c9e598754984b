//! HTTP, one resource a file: parse, ask, render.

pub mod pairs;
pub mod terms;
