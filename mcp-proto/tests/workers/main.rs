//! Conversations of which every message reaches another worker than the one before. The workers
//! share nothing but a store and a hub.

mod batching;
mod bounds;
mod broken;
mod cancelling;
mod figures;
#[path = "../fixture/mod.rs"]
mod fixture;
mod holding;
mod kept;
mod listening;
mod outages;
mod properties;
mod resuming;
mod retrying;
mod scopes;
mod service;
mod shaking;
mod strangers;
