//! Conversations of which every message reaches another worker than the one before. The workers
//! share nothing but a store and a hub.

mod batching;
mod cancelling;
#[path = "../fixture/mod.rs"]
mod fixture;
mod listening;
mod resuming;
mod retrying;
mod service;
mod strangers;
