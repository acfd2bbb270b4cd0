//! Machines driven in virtual time: for the tests of this library, and of whoever builds on it.
//!
//! To test a server of your own, see [`Pair`]: a client and your handlers, for every revision. What
//! follows drives single machines.
//!
//! A [`World`] stands where a driver would: it carries bytes to a machine over a [`Link`] that may
//! cut them up, delay or lose them, answers its effects from a [`Store`] that may be slow, fail or
//! repeat itself, and its calls from an [`Application`]. Nothing waits, and the same seeds give
//! the same run. A [`Recorder`] around the machine keeps what went in, so that [`replay`] can
//! show that the same comes out.
//!
//! ```
//! use core::time::Duration;
//! use std::sync::Arc;
//! use mcp_proto::model::{Call, Catalog, Implementation};
//! use mcp_proto::server::{Endpoint, Stdio};
//! use mcp_proto::testing::{Script, World};
//! use mcp_proto::time::Instant;
//!
//! let catalog = Catalog::new(Implementation::new("demo", "1.0.0"));
//! let endpoint = Endpoint::builder(Arc::new(catalog)).build();
//! let mut world = World::new(Stdio::new(endpoint, Instant::ZERO), |_: &Call| Script::silent());
//! world.send(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
//! world.run_for(Duration::from_millis(1));
//! assert_eq!(world.take_sent(), b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
//! ```

mod application;
mod cluster;
#[cfg(feature = "service")]
pub mod contract;
mod exchange;
mod hub;
mod link;
mod outage;
#[cfg(feature = "service")]
mod pair;
mod random;
mod received;
mod record;
mod store;
mod world;

pub use application::{Act, Application, Script};
pub use cluster::{Cluster, LineId};
pub use exchange::{BareExchange, Head};
pub use hub::Hub;
pub use link::{Arrival, Link};
pub use outage::{Failing, Operation, Outage};
#[cfg(feature = "service")]
pub use pair::{Pair, Way};
pub use random::Random;
pub use received::Received;
pub use record::{Input, Recorder, Transcript, replay};
pub use store::{Faults, Store};
pub use world::World;

#[cfg(feature = "service")]
pub use crate::service::virtual_time::VirtualTime;

use crate::effect::EffectId;
use crate::server::CallId;

/// The id that a machine gives to its effect number `index`, counted from 0. For replies that a
/// machine did not ask for.
pub fn effect_id(index: u64) -> EffectId {
    EffectId(index)
}

/// The id that a machine gives to its call number `index`, counted from 0. For answers that a
/// machine does not wait for.
pub fn call_id(index: u64) -> CallId {
    CallId(index)
}

#[cfg(test)]
mod tests;
