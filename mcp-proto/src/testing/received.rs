//! What a client makes of the bytes that it received.

use crate::frame::http1::client::{Client, Event, RequestLine};
use crate::frame::http1::{Headers as _, Limits, ResponseHead};
use crate::frame::sse;
use crate::time::Instant;

/// One HTTP response, or the part of it that came.
#[derive(Clone, Debug)]
pub struct Received {
    /// The status.
    pub status: u16,
    /// The body, or what came of it.
    pub body: Vec<u8>,
    /// It came to its end.
    pub is_complete: bool,
    head: ResponseHead,
}

impl Received {
    /// The responses in what one connection received.
    pub fn read(mut bytes: &[u8]) -> Vec<Self> {
        let mut client = Client::new(Instant::ZERO, Limits::default());
        let mut found = Vec::new();
        // Which request a response is for makes no difference to its framing.
        let line = RequestLine { method: "GET", target: "/", host: "localhost" };
        while !bytes.is_empty() && client.send(line, [("Accept", "*/*")], b"").is_ok() {
            loop {
                let taken = client.handle_input(Instant::ZERO, bytes);
                bytes = bytes.get(taken..).unwrap_or_default();
                let events: Vec<_> = core::iter::from_fn(|| client.poll_event()).collect();
                let ends = events.iter().any(|event| matches!(event, Event::End));
                let moved = taken > 0 || !events.is_empty();
                events.into_iter().for_each(|event| Self::take(&mut found, event));
                if ends {
                    break;
                }
                if !moved {
                    return found;
                }
            }
        }
        found
    }

    fn take(found: &mut Vec<Self>, event: Event) {
        match (event, found.last_mut()) {
            (Event::Head(head), _) => {
                let (status, body) = (head.status(), Vec::new());
                found.push(Self { status, body, is_complete: false, head });
            }
            (Event::Body(chunk), Some(last)) => last.body.extend_from_slice(&chunk),
            (Event::End, Some(last)) => last.is_complete = true,
            _ => {}
        }
    }

    /// The value of a header field.
    pub fn header<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        core::str::from_utf8(self.head.get(name)?).ok()
    }

    /// The response is a stream of events.
    pub fn is_stream(&self) -> bool {
        self.header("content-type").is_some_and(|it| it.starts_with("text/event-stream"))
    }

    /// The complete events of a stream.
    pub fn events(&self) -> Vec<sse::Event> {
        let mut decoder = sse::Decoder::new(sse::Limits::default());
        decoder.feed(&self.body);
        core::iter::from_fn(|| decoder.next_event()).map_while(Result::ok).collect()
    }

    /// The messages that came whole: one of a JSON body, or those of a stream's events.
    pub fn messages(&self) -> Vec<String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match self.is_stream() {
            true => self
                .events()
                .into_iter()
                .filter(|event| event.event().is_none_or(|name| name == "message"))
                .filter_map(|event| event.message().map(str::to_owned))
                .collect(),
            false if self.body.is_empty() || !self.is_complete => Vec::new(),
            false => vec![text(&self.body)],
        }
    }

    /// The id of the last event that has one.
    pub fn last_event_id(&self) -> Option<String> {
        self.events().iter().rev().find_map(|event| event.id().map(str::to_owned))
    }
}
