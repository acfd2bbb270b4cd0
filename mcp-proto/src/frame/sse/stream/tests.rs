use super::*;
#[cfg(feature = "gzip")]
mod gzip;
mod properties;

const START: Instant = Instant::from_millis(1_000);

fn at(milliseconds: u64) -> Instant {
    START + Duration::from_millis(milliseconds)
}

fn stream(change: impl FnOnce(&mut StreamOptions)) -> Stream {
    let mut options = StreamOptions::default();
    change(&mut options);
    Stream::new(START, options)
}

fn taken(stream: &mut Stream) -> String {
    let mut out = Vec::new();
    stream.transmit(&mut out);
    String::from_utf8(out).expect("text")
}

#[test]
fn a_response_is_an_event_stream_that_nobody_may_hold_back() {
    let headers: Vec<_> = stream(|_| ()).headers().collect();
    assert_eq!(
        headers,
        [
            ("Content-Type", "text/event-stream"),
            ("Cache-Control", "no-cache, no-transform"),
            ("X-Accel-Buffering", "no"),
        ]
    );
}

#[test]
fn the_event_limit_passes_and_one_more_is_refused_until_some_are_taken() {
    let mut stream = stream(|options| options.max_events = 3);
    for _ in 0..3 {
        assert_eq!(stream.send(START, &Event::data("x")), Ok(()));
    }
    assert_eq!(stream.send(START, &Event::data("y")), Err(SendError::Full));
    assert_eq!(taken(&mut stream), "data: x\n\n".repeat(3));
    assert_eq!(stream.send(START, &Event::data("y")), Ok(()));
    assert_eq!(taken(&mut stream), "data: y\n\n");
}

#[test]
fn the_byte_limit_passes_and_one_more_is_refused() {
    let event = Event::data("12345"); // 13 bytes
    let mut stream = stream(|options| options.max_bytes = 26);
    assert_eq!(stream.send(START, &event), Ok(()));
    assert_eq!(stream.send(START, &Event::data("123456")), Err(SendError::Full));
    assert_eq!(stream.send(START, &event), Ok(()));
    assert_eq!(stream.send(START, &Event::comment("")), Err(SendError::Full));
    assert_eq!(taken(&mut stream).len(), 26);
    assert_eq!(stream.send(START, &Event::data("1".repeat(18))), Ok(()));
    assert_eq!(taken(&mut stream).len(), 26);
    assert_eq!(stream.send(START, &Event::data("1".repeat(19))), Err(SendError::TooLarge));
    assert!(!stream.has_output());
}

#[test]
fn the_default_limits_are_those_of_the_documentation() {
    let mut bytes = stream(|_| ());
    let large = Event::data("x".repeat((1 << 20) - 8));
    assert_eq!(bytes.send(START, &large), Ok(()));
    assert_eq!(bytes.send(START, &Event::comment("")), Err(SendError::Full));
    let mut events = stream(|_| ());
    let sent = (0..2_000).take_while(|_| events.send(START, &Event::data("x")).is_ok()).count();
    assert_eq!(sent, 1_024);
}

#[test]
fn what_is_queued_is_written_before_a_stream_closes() {
    let mut stream = stream(|_| ());
    stream.send(START, &Event::data("last")).expect("open");
    stream.close(START);
    assert!(stream.closed());
    assert_eq!(stream.end(), None);
    assert_eq!(stream.send(START, &Event::data("later")), Err(SendError::Closed));
    assert_eq!(taken(&mut stream), "data: last\n\n");
    assert_eq!(stream.end(), Some(StreamEnd::Complete));
    assert_eq!(stream.poll_timeout(), None);
}

#[test]
fn an_empty_stream_closes_at_once() {
    let mut stream = stream(|_| ());
    stream.close(START);
    assert_eq!(stream.end(), Some(StreamEnd::Complete));
}

#[test]
fn silence_is_broken_by_a_comment_and_every_event_puts_it_off() {
    let mut stream = stream(|_| ());
    assert_eq!(stream.poll_timeout(), Some(at(15_000)));
    stream.send(at(14_000), &Event::data("x")).expect("open");
    assert_eq!(taken(&mut stream), "data: x\n\n");
    stream.handle_timeout(at(15_000)); // of the past
    assert!(!stream.has_output());
    assert_eq!(stream.poll_timeout(), Some(at(29_000)));
    stream.handle_timeout(at(29_000));
    assert_eq!(taken(&mut stream), ":\n");
    assert_eq!(stream.poll_timeout(), Some(at(44_000)));
}

#[test]
fn a_heartbeat_can_be_switched_off() {
    let mut stream = stream(|options| options.heartbeat = None);
    assert_eq!(stream.poll_timeout(), None);
    stream.handle_timeout(at(1_000_000));
    assert!(!stream.has_output());
}

#[test]
fn an_event_without_fields_is_nothing() {
    let mut stream = stream(|_| ());
    assert_eq!(stream.send(at(1_000), &Event::default()), Ok(()));
    assert!(!stream.has_output());
    assert_eq!(stream.poll_timeout(), Some(at(15_000)));
}

#[test]
fn the_reconnection_time_comes_first() {
    let mut stream = stream(|options| options.retry = Some(Duration::from_secs(3)));
    stream.send(START, &Event::data("x")).expect("open");
    assert_eq!(taken(&mut stream), "retry: 3000\n\ndata: x\n\n");
}

#[test]
fn a_reader_that_takes_nothing_loses_the_stream() {
    let mut stream = stream(|_| ());
    stream.send(at(0), &Event::data("x")).expect("open");
    stream.send(at(20_000), &Event::data("y")).expect("open");
    stream.handle_timeout(at(29_999));
    assert!(!stream.closed());
    stream.handle_timeout(at(30_000));
    assert_eq!(stream.end(), Some(StreamEnd::Stalled));
    assert_eq!(stream.send(at(30_000), &Event::data("z")), Err(SendError::Closed));
    assert_eq!(taken(&mut stream), "");
    assert_eq!(stream.poll_timeout(), None);
}

#[test]
fn a_slow_reader_that_goes_on_taking_keeps_the_stream() {
    let mut stream = stream(|_| ());
    for step in 0..10 {
        stream.send(at(step * 29_000), &Event::data("x")).expect("open");
        stream.handle_timeout(at(step * 29_000 + 28_999));
        assert!(taken(&mut stream).starts_with("data: x\n\n"));
    }
    assert!(!stream.closed());
}

#[test]
fn a_closing_stream_waits_for_its_reader_no_longer_either() {
    let mut stream = stream(|_| ());
    stream.send(START, &Event::data("x")).expect("open");
    stream.close(START);
    stream.handle_timeout(at(30_000));
    assert_eq!(stream.end(), Some(StreamEnd::Stalled));
}

#[test]
fn a_lost_connection_ends_the_stream_and_the_first_end_stays() {
    let mut lost = stream(|_| ());
    lost.send(START, &Event::data("x")).expect("open");
    lost.handle_closed();
    assert_eq!(lost.end(), Some(StreamEnd::Disconnected));
    assert!(!lost.has_output());
    lost.close(START);
    lost.handle_timeout(at(1_000_000));
    assert_eq!(lost.end(), Some(StreamEnd::Disconnected));

    let mut complete = stream(|_| ());
    complete.close(START);
    complete.handle_closed();
    assert_eq!(complete.end(), Some(StreamEnd::Complete));
}

#[test]
fn an_idle_stream_keeps_no_large_buffer() {
    let mut stream = stream(|_| ());
    stream.send(START, &Event::data("x".repeat(100_000))).expect("open");
    taken(&mut stream);
    assert!(stream.queue.wire.capacity() <= KEEP);
}
