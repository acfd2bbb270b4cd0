//! How a stream is cut changes no event, and events survive being written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_proto::frame::sse::{Decoder, Event, Limits, SseError};

/// Small, so that short inputs reach them.
const LIMITS: Limits = Limits { line: 64, event: 96, id: 24 };

/// The events of a stream fed in pieces of this size, up to the first error.
fn decode(stream: &[u8], piece: usize, limits: Limits) -> (Vec<Event>, Option<SseError>, String) {
    let mut decoder = Decoder::new(limits).comments(true);
    let mut events = Vec::new();
    for piece in stream.chunks(piece) {
        decoder.feed(piece);
        while let Some(event) = decoder.next_event() {
            match event {
                Ok(event) => events.push(event),
                Err(error) => return (events, Some(error), decoder.last_event_id().to_owned()),
            }
        }
    }
    (events, None, decoder.last_event_id().to_owned())
}

fuzz_target!(|stream: &[u8]| {
    let whole = decode(stream, stream.len().max(1), LIMITS);
    assert_eq!(decode(stream, 1, LIMITS), whole);
    assert_eq!(decode(stream, 7, LIMITS), whole);

    let mut wire = Vec::new();
    whole.0.iter().for_each(|event| event.encode(&mut wire));
    let (again, error, _) = decode(&wire, 5, Limits::default());
    assert_eq!((again, error), (whole.0, None));
});
