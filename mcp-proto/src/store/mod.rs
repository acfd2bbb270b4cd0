//! The contracts of session stores and hubs, as data. Nothing here does I/O.

mod hub;
mod session;

pub use hub::{Cursor, HubOp, Polled, Read};
pub use session::{Record, SessionOp};
