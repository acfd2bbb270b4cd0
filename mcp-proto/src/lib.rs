//! The Model Context Protocol as a pure state machine.

pub mod frame;
pub mod model;
pub mod time;
