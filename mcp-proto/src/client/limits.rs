//! What a client accepts from a server, and how long it waits.

use core::time::Duration;

use crate::frame::json::ScanLimits;
use crate::frame::sse;
use crate::revision::ReadLimits;

/// Bounds on everything that a server decides. No server can make a machine hold or do more.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one message: a body, a line, an event. 16 MiB, which holds a screenshot.
    pub message: usize,
    /// How deep JSON may nest. 128.
    pub depth: usize,
    /// Messages in one batch. 100.
    pub batch: usize,
    /// Calls under way or waiting at once; further ones end at once. 1,024.
    pub calls: usize,
    /// Questions of the server that are put to the application at once: as many as a server of this
    /// library runs calls on one stream. 64.
    pub asks: usize,
    /// Questions that wait until others are answered, and no more than
    /// [`message`](Self::message) bytes of them; further ones are refused. 1,024.
    pub unasked: usize,
    /// How often one call may be answered with questions, or with nothing but a state. 32.
    pub rounds: u32,
    /// Pages of one list. 1,000.
    pub pages: usize,
    /// Entries of one list. 100,000.
    pub entries: usize,
    /// Bytes of one list, all pages together. 64 MiB.
    pub listing: usize,
    /// Bytes of a session's id. 1,024.
    pub session_id: usize,
    /// Results in the cache, where it is on. 64.
    pub cached: usize,
    /// Bytes in the cache, about. 16 MiB.
    pub cached_bytes: usize,
    /// Bytes of a stream's event id; a longer one is left out. 1,024.
    pub event_id: usize,
    /// Events that wait to be fetched before input stops. 4,096.
    pub queued: usize,
    /// Bytes, about, of events that wait to be fetched before input stops; one may exceed it by a
    /// message. 16 MiB.
    pub queued_bytes: usize,
    /// Bytes of answers to the server's requests that it has not taken yet. While there are more,
    /// nothing is read from its stream (stdio), and what it asks is not answered (HTTP). 1 MiB.
    pub unsent: usize,
    /// How often one request is sent elsewhere. 5.
    pub redirects: u32,
    /// How often a broken stream is taken up again without news in between. 5.
    pub reconnects: u32,
    /// The longest time that a server may have its client wait before it comes back. 60 s.
    pub retry_most: Duration,
    /// The shortest time before a client comes back, whatever a server says. 50 ms.
    pub retry_least: Duration,
    /// How long a server may be silent to the question which revision it speaks. 4 s: over stdio
    /// its process is then started again, and is asked in the older way.
    pub probe: Duration,
    /// How long a handshake may take. 30 s.
    pub handshake: Duration,
    /// How much silence a call bears; progress is none. 120 s.
    pub patience: Duration,
    /// How long a call may take in all, whatever progress it makes (R2503-TIME-04). 1 h.
    pub longest: Duration,
    /// How long a stream that may go on for ever may be silent, if it showed life before; 60 s.
    ///
    /// Signs of life are heartbeats (comments) and messages. Where heartbeats came every n seconds, the
    /// stream is opened anew after three times n, and after this time at the latest; where only
    /// messages came, after 30 s at the earliest. Opening anew that brings nothing is done ever more
    /// rarely, and a server that breaks longer silences than this is left alone. Subscriptions are
    /// told that they may have [missed](super::Event::Missed) something. [`Duration::MAX`] is for ever.
    pub silence: Duration,
    /// How long a response may go on after its answer. 2 s.
    pub drain: Duration,
    /// How long the end of a session may take. 2 s (C68).
    pub goodbye: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            message: 16 << 20,
            depth: 128,
            batch: 100,
            calls: 1_024,
            asks: 64,
            unasked: 1_024,
            rounds: 32,
            pages: 1_000,
            entries: 100_000,
            listing: 64 << 20,
            session_id: 1_024,
            cached: 64,
            cached_bytes: 16 << 20,
            event_id: 1_024,
            queued: 4_096,
            queued_bytes: 16 << 20,
            unsent: 1 << 20,
            redirects: 5,
            reconnects: 5,
            retry_most: seconds(60),
            retry_least: Duration::from_millis(50),
            probe: seconds(4),
            handshake: seconds(30),
            patience: seconds(120),
            longest: seconds(3_600),
            silence: seconds(60),
            drain: seconds(2),
            goodbye: seconds(2),
        }
    }
}

impl Limits {
    pub(crate) fn read(&self, replaces_surrogates: bool) -> ReadLimits {
        ReadLimits { scan: ScanLimits::depth(self.depth), batch: self.batch, replaces_surrogates }
    }

    pub(crate) fn sse(&self) -> sse::Limits {
        let line = self.message.saturating_add("data: ".len());
        sse::Limits { line, event: self.message, id: self.event_id }
    }
}
