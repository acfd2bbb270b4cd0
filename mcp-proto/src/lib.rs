//! The Model Context Protocol as a pure state machine.

pub mod auth;
pub mod client;
pub mod effect;
pub mod frame;
pub mod model;
pub mod revision;
pub mod server;
#[cfg(feature = "service")]
pub mod service;
pub mod store;
#[cfg(feature = "testing")]
pub mod testing;
pub mod time;
