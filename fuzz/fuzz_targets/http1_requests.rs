//! A server reads any bytes without panicking, and the same whole as byte by byte.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_proto::frame::http1::Limits;
use mcp_proto::frame::http1::server::{Event, Server};
use mcp_proto::time::Instant;

fuzz_target!(|input: &[u8]| {
    assert_eq!(serve(input.chunks(input.len().max(1))), serve(input.chunks(1)));
});

/// Answers every request; what was reported, what was sent.
fn serve<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<String>, Vec<u8>) {
    let now = Instant::ZERO;
    let mut server = Server::new(now, Limits::default());
    let (mut log, mut sent) = (Vec::new(), Vec::new());
    for piece in pieces {
        let mut rest = piece;
        while !rest.is_empty() {
            let taken = server.handle_input(now, rest);
            rest = &rest[taken..];
            while let Some(event) = server.poll_event() {
                log.push(format!("{event:?}"));
                match event {
                    Event::Head(head) if head.expects_continue() => server.send_continue(),
                    Event::End => server.reply(now, 200, [("A", "b")], b"c").expect("its turn"),
                    Event::Refused(refusal) => server.refuse(now, &refusal).expect("its turn"),
                    _ => {}
                }
            }
        }
        server.transmit(&mut sent);
    }
    (log, sent)
}
