//! A client's handle: calls that are awaited, over the machines of [`client`](crate::client).
//!
//! One loop beside everything else drives the machine; a [`Client`] is a handle to it that any
//! number of tasks may hold. Whoever carries the messages is a [`HttpCarrier`] or a [`Respawn`]:
//! a driver, another library's HTTP client, or a test.
//!
//! Dropping the future of a call cancels it, in the revision's way.

mod asking;
mod bearer;
mod builder;
mod calls;
mod child;
mod connect;
mod cookies;
mod drive;
mod exchanges;
mod handle;
mod headers;
mod in_process;
mod inner;
mod last_words;
mod listening;
mod pool;
mod process;
mod replies;
mod streams;
mod tap;
#[cfg(test)]
mod tests;

#[cfg(feature = "testing")]
pub(crate) use asking::spell;
pub use asking::{Ask, Asked, Asker, ask_with};
pub use bearer::{Bearer, TokenSource};
pub use builder::ClientBuilder;
pub use calls::{Pages, Pending, ProgressUpdates, Running};
pub use child::{Child, ChildProcess, Pipes};
pub use connect::{ClientDriver, Connect, Http, StartProcess};
pub use cookies::Cookies;
pub use exchanges::{CarryError, HttpCarrier};
#[cfg(feature = "tls")]
pub use futures_rustls::rustls;
pub use handle::Client;
pub use headers::WithHeaders;
pub use in_process::InProcess;
pub use listening::{ListenEvent, Listening};
#[cfg(feature = "tls")]
pub use pool::Tls;
pub use pool::{Dial, InvalidProxy, Pool, PoolBody, PoolBuilder, PoolLimits, Proxy};
pub use process::{Drain, Process, Stderr};
pub use replies::ToolReply;
pub use streams::Respawn;
pub use tap::{Tap, Tapped, TappedBody, Wire};

pub use crate::client::{
    ClientError, Config, Declined, Erred, ErrorKind, Event, Learned, Limits, Ran, Retry, Server,
    Unfollowed,
};
