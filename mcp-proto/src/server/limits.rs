//! Every bound that the server keeps, in one place.

use core::time::Duration;

use crate::frame::http1;
use crate::frame::json::ScanLimits;
use crate::revision::ReadLimits;

/// How much of everything a server takes. Each bound is applied to each peer by itself, unless it
/// says otherwise.
///
/// # What a process holds at most
///
/// | of | at most | by default |
/// |---|---|---|
/// | sessions, states of calls that asked, handles, in memory | [`MemorySessionStore::BYTES`] | 64 MiB |
/// | events, answers and changes, in memory | [`MemoryHub::BYTES`] | 64 MiB |
/// | requests that arrive or are answered, output that is not read | [`held`](Self::held), and 16 KiB for each connection | 128 MiB, and 160 MiB where all 10,000 connections hold just as much as is not counted |
/// | calls of one stdio client | [`in_flight`](Self::in_flight) times [`message`](Self::message), and as much as one message waits | 260 MiB |
/// | one record of any store | [`client`](Self::client) + [`subscribed`](Self::subscribed) and the application's values; or [`message`](Self::message) | 128 KiB; 4 MiB |
///
/// What handlers make of a call is the application's. In a shared store the number of records is
/// bounded by their lives alone. Not all that is given back reaches the system: with glibc, the
/// environment variable `MALLOC_MMAP_THRESHOLD_=131072` has large blocks given back at once.
///
/// [`MemorySessionStore::BYTES`]: ../service/struct.MemorySessionStore.html#associatedconstant.BYTES
/// [`MemoryHub::BYTES`]: ../service/struct.MemoryHub.html#associatedconstant.BYTES
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bounds of HTTP/1.1 framing: heads, bodies, and how long they may take.
    pub http: http1::Limits,
    /// Bytes of one message: an HTTP body or a line.
    pub message: usize,
    /// How deep JSON may nest.
    pub depth: usize,
    /// Messages in one batch.
    pub batch: usize,
    /// Calls that run at once on one connection; further ones are parked.
    pub in_flight: usize,
    /// Calls that wait for others to end, on stdio, and no more than [`message`](Self::message)
    /// bytes of them; further ones are refused at once, as -32603. 1,024.
    pub parked: usize,
    /// Bytes that a client may say about itself in its handshake (`capabilities` and `clientInfo`,
    /// which its session keeps). 64 KiB.
    pub client: usize,
    /// Bytes of the URIs that one session, or one request to listen, may be subscribed to, of which
    /// there are at most [`Filter::MOST_URIS`](crate::model::Filter::MOST_URIS). 64 KiB.
    pub subscribed: usize,
    /// Bytes that all HTTP connections of a process may hold together: requests that are arriving or
    /// being answered, and output that is not read. Where they hold more, the connection that moved
    /// nothing for longest is given up. Who holds less than 16 KiB is not counted, nor is what a web
    /// framework holds. 128 MiB.
    pub held: usize,
    /// Bytes of output that may wait for a reader before its stream is given up.
    pub queued_bytes: usize,
    /// How long a reply may stay undecided before it becomes a stream, where the client takes one.
    pub undecided: Duration,
    /// Silence on a stream after which a comment is sent.
    pub heartbeat: Duration,
    /// How long calls may run on after the input ended.
    pub eof_grace: Duration,
    /// How long a session lives without a request.
    pub session_ttl: Duration,
    /// How long the state of a call that asked waits for the answers.
    pub request_state_ttl: Duration,
    /// How long one poll of the hub waits.
    pub hub_poll: Duration,
    /// How long the client may take to answer a question.
    pub ask: Duration,
    /// How long a client is told to wait before it comes back for a stream.
    pub retry: Duration,
    /// How long a worker may be silent before another one speaks for the calls that it runs: it
    /// says three times meanwhile that it lives. Workers that share a store have the same.
    pub lease: Duration,
}

impl Limits {
    /// The part that reading a message needs.
    pub(crate) fn read(&self) -> ReadLimits {
        ReadLimits {
            scan: ScanLimits::depth(self.depth),
            batch: self.batch,
            ..ReadLimits::default()
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            http: http1::Limits::default(),
            message: 4 << 20,
            depth: 128,
            batch: 100,
            in_flight: 64,
            parked: 1_024,
            client: 64 << 10,
            subscribed: 64 << 10,
            held: 128 << 20,
            queued_bytes: 1 << 20,
            undecided: Duration::from_secs(5),
            heartbeat: Duration::from_secs(15),
            eof_grace: Duration::from_secs(5),
            session_ttl: Duration::from_secs(3600),
            request_state_ttl: Duration::from_secs(600),
            hub_poll: Duration::from_secs(30),
            ask: Duration::from_secs(120),
            retry: Duration::from_secs(1),
            lease: Duration::from_secs(15),
        }
    }
}
