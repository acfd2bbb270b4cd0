//! What hostile servers do to our client: tables with the error that a call ends with, and the
//! bytes and the (virtual) time that the server gets at most.

mod byte_streams;
mod finding_out;
mod http;
mod listening;
mod play;
mod scene;

use core::time::Duration;

use mcp_proto::client::{Config, Limits};
use mcp_proto::model::{ClientCapabilities, Implementation};
use mcp_proto::revision::{AdapterSet, Revision};

const SECOND: Duration = Duration::from_secs(1);
const MESSAGE: usize = 64 << 10;
/// How long a call bears silence here, and how long it may take in all.
const PATIENCE: u64 = 10;
const LONGEST: u64 = 60;

const TOO_MUCH: &str = "the server sent too much";
const LATE: &str = "no answer in time";
const NO_ANSWER: &str =
    "the server does not keep to the protocol: a body of status 200 without the answer";

fn config(revisions: impl IntoIterator<Item = Revision>) -> Config {
    let mut config = Config::new(Implementation::new("client", "1"));
    config.adapters = AdapterSet::of(revisions).unwrap();
    config.capabilities = ClientCapabilities::default();
    config.capabilities.roots = true;
    config.unasked = false;
    config.limits = Limits::default();
    config.limits.message = MESSAGE;
    config.limits.patience = Duration::from_secs(PATIENCE);
    config.limits.longest = Duration::from_secs(LONGEST);
    config.limits.entries = 10_000;
    config
}
