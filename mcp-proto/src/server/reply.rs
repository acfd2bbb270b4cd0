//! The reply of one HTTP exchange: undecided, then one JSON body or a stream.

use smallvec::SmallVec;
use std::borrow::Cow;

use super::HttpRefusal;
use super::accept::Accept;
use crate::frame::coding::Coding;
use crate::frame::envelope::RequestId;
#[cfg(feature = "gzip")]
use crate::frame::gzip::Gzip;
use crate::frame::http1::{self, BodyLength};
use crate::frame::sse;

/// The first part of a response. Framing headers are the carrier's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseHead {
    /// The status.
    pub status: u16,
    /// Header fields, in order.
    pub headers: SmallVec<[(&'static str, Cow<'static, str>); 6]>,
    /// How long the body will be.
    pub length: BodyLength,
}

/// Where a reply stands. It only moves downwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing was promised.
    Undecided,
    /// A stream is open.
    Stream,
    /// Everything was written.
    Complete,
}

#[derive(Debug)]
pub(crate) struct Reply {
    accept: Accept,
    phase: Phase,
    head: Option<ResponseHead>,
    /// Headers that go out with whatever is decided.
    extra: SmallVec<[(&'static str, Cow<'static, str>); 2]>,
    body: Vec<u8>,
    /// One message of a stream, before it is framed.
    message: Vec<u8>,
    most_queued: usize,
    coding: Coding,
    /// The compressor of an open stream, where it has one.
    #[cfg(feature = "gzip")]
    gzip: Option<Box<Gzip>>,
    /// Something was said on the stream since this was last asked.
    spoke: bool,
}

impl Reply {
    /// An undecided reply that writes into `body`.
    pub(crate) fn new(accept: Accept, most_queued: usize, mut body: Vec<u8>) -> Self {
        body.clear();
        Self {
            accept,
            phase: Phase::Undecided,
            head: None,
            extra: SmallVec::new(),
            body,
            message: Vec::new(),
            most_queued,
            coding: Coding::Identity,
            #[cfg(feature = "gzip")]
            gzip: None,
            spoke: false,
        }
    }

    /// How a stream is coded, if the reply becomes one. A compressor is dear, so it is for streams
    /// that end with a result and not for those that idle.
    pub(crate) fn set_coding(&mut self, coding: Coding) {
        self.coding = coding;
    }

    /// Adds a header to the head, which must not have been decided yet.
    pub(crate) fn add_header(&mut self, name: &'static str, value: impl Into<Cow<'static, str>>) {
        self.extra.push((name, value.into()));
    }

    /// What kinds of reply the client takes.
    pub(crate) fn accept(&self) -> Accept {
        self.accept
    }

    pub(crate) fn is_undecided(&self) -> bool {
        self.phase == Phase::Undecided
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.phase == Phase::Stream
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.phase == Phase::Complete
    }

    /// Whether a message can go out before the result.
    pub(crate) fn can_stream(&self) -> bool {
        self.is_stream() || (self.is_undecided() && self.accept.stream)
    }

    /// A response without a body.
    pub(crate) fn empty(&mut self, status: u16) {
        self.decide(status, None, BodyLength::None);
        self.phase = Phase::Complete;
    }

    /// A JSON document that is no message.
    pub(crate) fn document(&mut self, json: &[u8]) {
        self.body.extend_from_slice(json);
        self.sized(200);
    }

    /// Nothing is said: everything was cancelled. A client that takes a stream gets an empty one.
    pub(crate) fn nothing(&mut self) {
        self.open();
        match self.phase {
            Phase::Undecided => self.empty(202),
            _ => self.end(),
        }
    }

    /// HTTP's own refusal. On an open stream there is no status left to say it with.
    pub(crate) fn refuse(&mut self, refusal: &HttpRefusal, id: Option<&RequestId>) {
        if !self.is_undecided() {
            return self.end();
        }
        refusal.write_body(id, &mut self.body);
        if matches!(refusal, HttpRefusal::Auth(_)) {
            self.add_header("Cache-Control", "no-store");
        }
        if let Some((name, value)) = refusal.header() {
            self.add_header(name, value);
        }
        self.sized(refusal.status());
    }

    /// The final message, which `write` appends, with the status that it returns: the whole body
    /// of a JSON reply, or the last event of a stream.
    pub(crate) fn last(&mut self, write: impl FnOnce(&mut Vec<u8>) -> u16) {
        if self.is_undecided() && !self.accept.json {
            self.open();
        }
        match self.phase {
            Phase::Undecided => {
                let status = write(&mut self.body);
                self.sized(status);
            }
            Phase::Stream => {
                self.event(|out| {
                    write(out);
                });
                self.end();
            }
            Phase::Complete => {}
        }
    }

    /// A message before the final one, which `write` appends on one line. It is left out where
    /// the reply cannot carry it, or where too much waits for a reader that stalls: then this is
    /// false.
    pub(crate) fn notify(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> bool {
        if self.can_stream() {
            self.open();
            if self.is_stalled() {
                return false;
            }
            self.event(write);
        }
        true
    }

    /// Makes the reply a stream, if it can be one and is nothing else yet.
    pub(crate) fn open(&mut self) {
        if self.is_undecided() && self.accept.stream {
            self.open_head();
            // The head must leave at once, and proxies wait for a first byte of the body (C38).
            self.put(sse::append_comment);
        }
    }

    /// The same, with an event that has an id and no data in front (R2511-HTTP-18).
    pub(crate) fn open_primed(&mut self, id: &str, retry: u64) {
        if self.is_undecided() && self.accept.stream {
            self.open_head();
            self.prime(id, retry);
        }
    }

    /// A message that is on a stream's log already. It is never left out.
    pub(crate) fn replay(&mut self, id: Option<&str>, message: &[u8]) {
        if self.is_stream() {
            self.spoke = true;
            self.put(|out| {
                let _ = sse::append_named(out, "message", id, message);
            });
        }
    }

    /// An event that has an id and no data, once a stream is open.
    pub(crate) fn prime(&mut self, id: &str, retry: u64) {
        if self.is_stream() {
            self.spoke = true;
            // Ids of ours have no line breaks.
            self.put(|out| {
                let _ = sse::append_priming(out, id, Some(retry));
            });
        }
    }

    /// An event of another name.
    pub(crate) fn named(&mut self, event: &str, data: &[u8]) {
        if self.is_stream() {
            self.spoke = true;
            self.put(|out| {
                let _ = sse::append_named(out, event, None, data);
            });
        }
    }

    /// Ends the stream before its time; `retry` tells the client when to come back (R2511-HTTP-20).
    /// Clients that know no events without data take that for an empty one.
    pub(crate) fn interrupt(&mut self, retry: Option<u64>) {
        if self.is_stream()
            && let Some(retry) = retry
        {
            self.put(|out| sse::Event::comment("").with_retry(retry).encode(out));
        }
        self.end();
    }

    fn open_head(&mut self) {
        self.add_header("Cache-Control", "no-cache, no-transform");
        self.add_header("X-Accel-Buffering", "no");
        for (name, value) in self.coding.headers() {
            self.add_header(name, *value);
        }
        #[cfg(feature = "gzip")]
        if self.coding == Coding::Gzip {
            self.gzip = Some(Box::default());
        }
        self.decide(200, Some("text/event-stream"), BodyLength::Stream);
        self.phase = Phase::Stream;
        self.spoke = true;
    }

    /// Whether anything was said on the stream since this was last asked.
    pub(crate) fn has_spoken(&mut self) -> bool {
        core::mem::take(&mut self.spoke)
    }

    /// Too much waits for a reader that stalls. What framing holds already comes on top of it.
    pub(crate) fn is_stalled(&self) -> bool {
        self.body.len() > self.most_queued / 4
    }

    /// A comment that keeps an open stream from looking dead (R26-HTTP-35).
    pub(crate) fn heartbeat(&mut self) {
        self.spoke = true;
        if self.is_stream() && self.body.len() < self.most_queued {
            self.put(sse::append_comment);
        }
    }

    /// Ends a stream, or gives up on a reply that nobody waits for.
    pub(crate) fn end(&mut self) {
        #[cfg(feature = "gzip")]
        if let Some(gzip) = self.gzip.take() {
            gzip.finish(&mut self.body);
        }
        self.phase = Phase::Complete;
    }

    /// The head, once it is decided; it comes once.
    pub(crate) fn poll_head(&mut self) -> Option<ResponseHead> {
        self.head.take()
    }

    /// The body bytes that were not taken yet.
    pub(crate) fn body(&mut self) -> &mut Vec<u8> {
        &mut self.body
    }

    /// Bytes that wait to be taken.
    #[cfg(feature = "service")]
    pub(crate) fn queued(&self) -> usize {
        self.body.len()
    }

    fn event(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.spoke = true;
        let mut message = core::mem::take(&mut self.message);
        message.clear();
        write(&mut message);
        self.put(|out| {
            // Neither the name nor the absent id can be refused.
            let _ = sse::append_named(out, "message", None, &message);
        });
        if message.capacity() <= http1::KEEP {
            self.message = message;
        }
    }

    /// Appends one piece of a stream that can be read before the next is written.
    fn put(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        #[cfg(feature = "gzip")]
        if let Some(gzip) = &mut self.gzip {
            let mut piece = Vec::new();
            write(&mut piece);
            return gzip.write(&piece, &mut self.body);
        }
        write(&mut self.body);
    }

    fn sized(&mut self, status: u16) {
        let length = BodyLength::Sized(self.body.len() as u64);
        self.decide(status, Some("application/json"), length);
        self.phase = Phase::Complete;
    }

    fn decide(&mut self, status: u16, content_type: Option<&'static str>, length: BodyLength) {
        let mut headers = SmallVec::new();
        if let Some(content_type) = content_type {
            headers.push(("Content-Type", Cow::Borrowed(content_type)));
        }
        headers.extend(self.extra.drain(..));
        self.head = Some(ResponseHead { status, headers, length });
    }
}

#[cfg(all(test, feature = "gzip"))]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;

    use super::*;

    fn reply(coding: Coding) -> Reply {
        let mut reply = Reply::new(Accept { json: true, stream: true }, 1 << 20, Vec::new());
        reply.set_coding(coding);
        reply
    }

    #[test]
    fn a_compressed_stream_says_the_same_and_each_event_can_be_read_at_once() {
        let (mut plain, mut coded) = (reply(Coding::Identity), reply(Coding::Gzip));
        let mut decoded = String::new();
        for number in 0..3 {
            for reply in [&mut plain, &mut coded] {
                reply.notify(|out| out.extend_from_slice(format!("{{\"n\":{number}}}").as_bytes()));
            }
            let so_far = plain.body().len();
            let mut read = vec![0; so_far];
            GzDecoder::new(&coded.body()[..]).read_exact(&mut read).expect("all of it");
            assert_eq!(&read, plain.body());
        }
        for reply in [&mut plain, &mut coded] {
            reply.last(|out| {
                out.extend_from_slice(b"{}");
                200
            });
        }
        GzDecoder::new(&coded.body()[..]).read_to_string(&mut decoded).expect("a whole body");
        assert_eq!(decoded.as_bytes(), &plain.body()[..]);
        let head = coded.poll_head().expect("a head");
        assert!(head.headers.contains(&("Content-Encoding", "gzip".into())));
        assert!(plain.poll_head().expect("a head").headers.iter().all(|it| it.1 != "gzip"));
    }

    #[test]
    fn a_json_reply_is_not_compressed() {
        let mut reply = reply(Coding::Gzip);
        reply.last(|out| {
            out.extend_from_slice(b"{}");
            200
        });
        assert_eq!(reply.body(), b"{}");
        assert!(reply.poll_head().expect("a head").headers.iter().all(|it| it.1 != "gzip"));
    }
}
