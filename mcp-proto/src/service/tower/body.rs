//! The body of a reply.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::io;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::pipe::Reader;

/// The body of a reply: a document, or a stream of events. A stream that could not be sent to its
/// end gives an error.
pub struct HttpBody(Kind);

enum Kind {
    Whole(Bytes),
    Stream(Reader),
}

impl HttpBody {
    pub(super) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self(Kind::Whole(bytes.into()))
    }

    pub(super) fn stream(reader: Reader) -> Self {
        Self(Kind::Stream(reader))
    }
}

impl Body for HttpBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let next = match &mut self.0 {
            Kind::Whole(bytes) if bytes.is_empty() => None,
            Kind::Whole(bytes) => Some(Ok(core::mem::take(bytes))),
            Kind::Stream(reader) => ready!(reader.poll_read(cx)),
        };
        Poll::Ready(next.map(|bytes| bytes.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Whole(bytes) => bytes.is_empty(),
            Kind::Stream(reader) => reader.is_over(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Kind::Stream(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for HttpBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Whole(bytes) => write!(f, "HttpBody({} bytes)", bytes.len()),
            Kind::Stream(_) => f.write_str("HttpBody(stream)"),
        }
    }
}
