//! The contracts of session stores and hubs, as data, and what real ones are made of: keys,
//! places in a log, SQL and Lua. Nothing here does I/O.

mod hub;
mod keys;
mod place;
pub mod redis;
mod session;
pub mod sql;

pub use hub::{Cursor, HubOp, Polled, Read};
pub use keys::{scoped, topic};
pub(crate) use place::fnv1a;
pub use place::{Bell, DELETED_FOR, Extent, Found, PAGE_BYTES, PAGE_MESSAGES, Place, place, read};
pub use session::{Record, SessionOp};
