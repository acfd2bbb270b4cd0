use std::io::Read as _;

use flate2::read::GzDecoder;
use proptest::prelude::*;

use super::properties::{run, sometimes, steps};
use super::*;

#[test]
fn a_compressed_stream_says_so() {
    let stream = stream(|options| options.coding = Coding::Gzip);
    let headers: Vec<_> = stream.headers().skip(3).collect();
    assert_eq!(headers, [("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding")]);
}

#[test]
fn limits_count_what_was_sent_and_not_what_is_left_of_it() {
    let mut stream = stream(|options| options.coding = Coding::Gzip);
    let event = Event::data("x".repeat((1 << 19) - 8));
    assert_eq!(stream.send(START, &event), Ok(()));
    assert_eq!(stream.send(START, &event), Ok(()));
    assert_eq!(stream.send(START, &Event::comment("")), Err(SendError::Full));
    let mut wire = Vec::new();
    stream.transmit(&mut wire);
    assert!(wire.len() < 10_000, "{}", wire.len());
    assert_eq!(stream.send(START, &Event::comment("")), Ok(()));
}

#[test]
fn an_event_can_be_read_before_the_next_one_is_sent() {
    let mut stream = stream(|options| options.coding = Coding::Gzip);
    let (mut wire, mut plain) = (Vec::new(), Vec::new());
    for data in ["one", "two", "one"] {
        let event = Event::data(data);
        event.encode(&mut plain);
        stream.send(START, &event).expect("open");
        stream.transmit(&mut wire);
        let mut read = vec![0; plain.len()];
        GzDecoder::new(&wire[..]).read_exact(&mut read).expect("all that was sent");
        assert_eq!(read, plain);
    }
}

proptest! {
    #[test]
    fn compression_changes_nothing_that_a_reader_sees(
        steps in steps(),
        pattern in any::<u64>(),
    ) {
        let plain = run(&steps, |_| true, Coding::Identity);
        let wire = run(&steps, sometimes(pattern), Coding::Gzip);
        prop_assert_eq!(&wire, &run(&steps, |_| false, Coding::Gzip));
        let mut read = Vec::new();
        GzDecoder::new(&wire[..]).read_to_end(&mut read).expect("a whole body");
        prop_assert_eq!(read, plain);
    }
}
