use super::*;
use proptest::prelude::*;

/// Everything that a decoder says about a stream fed in these pieces.
fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Event>, String, Option<u64>) {
    let mut decoder = Decoder::default().comments(true);
    let mut events = Vec::new();
    for piece in pieces {
        decoder.feed(piece);
        while let Some(event) = decoder.next_event() {
            events.push(event.expect("within the limits"));
        }
    }
    (events, decoder.last_event_id().to_owned(), decoder.reconnection_time())
}

fn whole(stream: &[u8]) -> Vec<Event> {
    decode([stream]).0
}

#[test]
fn a_priming_event_has_an_id_and_no_message() {
    // T-36, C55
    let mut wire = Vec::new();
    append_priming(&mut wire, "s1_0", Some(3000)).unwrap();
    assert_eq!(wire, b"retry: 3000\nid: s1_0\ndata: \n\n");
    let mut decoder = Decoder::default();
    decoder.feed(&wire);
    let event = decoder.next_event().unwrap().unwrap();
    assert_eq!((event.message(), event.raw_data()), (None, Some("")));
    assert_eq!((event.id(), event.retry()), (Some("s1_0"), Some(3000)));
    assert_eq!((decoder.last_event_id(), decoder.reconnection_time()), ("s1_0", Some(3000)));
    assert_eq!(event, Event::priming("s1_0").unwrap().with_retry(3000));
}

#[test]
fn comments_are_events_only_where_they_are_kept() {
    // C38
    let stream = b": one\n\nid: 7\n: two\ndata: x\n\n:\n\n:three\n:four\n\n";
    let with = |keep: Option<bool>| {
        let mut decoder = Decoder::default();
        if let Some(keep) = keep {
            decoder = decoder.comments(keep);
        }
        decoder.feed(stream);
        core::iter::from_fn(|| decoder.next_event()).map(Result::unwrap).collect::<Vec<_>>()
    };
    for off in [None, Some(false)] {
        let events = with(off);
        assert_eq!(events.len(), 1, "{events:?}");
        assert_eq!((events[0].raw_data(), events[0].comment_text()), (Some("x"), None));
    }
    let kept = with(Some(true));
    let texts: Vec<_> = kept.iter().map(Event::comment_text).collect();
    assert_eq!(texts, [Some("one"), Some("two"), Some(""), Some("three\nfour")]);
    assert_eq!(kept[1].raw_data(), Some("x"));
}

#[test]
fn an_id_without_any_data_counts() {
    let (events, last, _) = decode([&b"id: 7\n\n"[..]]);
    assert_eq!(events.first().and_then(Event::id), Some("7"));
    assert_eq!(last, "7");
}

#[test]
fn the_text_cases_seen_in_the_field() {
    // C62
    let stream: &[u8] =
        b"event: message\r\ndata: {\"jsonrpc\":\"2.0\",\r\ndata: \"id\":1,\"result\":{}}\r\n\r\n";
    let expected = Event::data("{\"jsonrpc\":\"2.0\",\n\"id\":1,\"result\":{}}");
    let expected = expected.with_event("message").unwrap();
    assert_eq!(decode(stream.chunks(1)).0, [expected]);
    assert_eq!(whole(b"\xEF\xBB\xBFdata:{}\n\n"), [Event::data("{}")]);
    assert_eq!(whole(b": ping\n\n"), [Event::comment("ping")]);
    assert_eq!(whole(b"data\n\n"), [Event::data("")]);
    assert_eq!(whole(b"id: a\0b\nretry: 1e3\n\n"), []);
    assert_eq!(whole(b"data: 1\r\r"), [Event::data("1")]);
    assert_eq!(whole("data: a\u{2028}b\n\n".as_bytes()), [Event::data("a\u{2028}b")]);
    assert_eq!(whole(b"data: whole\n\ndata: tail\n"), [Event::data("whole")]);
    assert_eq!(whole(b"data: \xE4\xB8\n\n"), [Event::data("\u{FFFD}")]);
    assert_eq!(
        whole(b"retry: 99999999999999999999999\n\n"),
        [Event::default().with_retry(u64::MAX)]
    );
}

#[test]
fn fields_that_would_break_the_framing_are_refused() {
    for text in ["a\rb", "a\nb", "a\0b"] {
        assert_eq!(Event::data("").with_id(text), Err(InvalidField::Id));
        assert_eq!(Event::data("").with_event(text), Err(InvalidField::Event));
        let mut wire = Vec::new();
        assert_eq!(append_message(&mut wire, Some(text), b"{}"), Err(InvalidField::Id));
        assert_eq!(append_named(&mut wire, text, None, b"{}"), Err(InvalidField::Event));
        assert_eq!(append_named(&mut wire, "e", Some(text), b"{}"), Err(InvalidField::Id));
        assert_eq!(append_priming(&mut wire, text, Some(1)), Err(InvalidField::Id));
        assert!(wire.is_empty());
    }
}

#[test]
fn the_borrowed_helpers_write_what_an_event_writes() {
    let mut helped = Vec::new();
    append_message(&mut helped, Some("1"), b"{\r\n}").unwrap();
    append_named(&mut helped, "endpoint", None, b"/messages").unwrap();
    let mut encoded = Vec::new();
    Event::data("{\r\n}").with_id("1").unwrap().encode(&mut encoded);
    Event::data("/messages").with_event("endpoint").unwrap().encode(&mut encoded);
    assert_eq!(helped, encoded);

    let mut comment = Vec::new();
    append_comment(&mut comment);
    assert_eq!(whole(&comment), [], "no event ends there");
    comment.push(b'\n');
    assert_eq!(whole(&comment), [Event::comment("")]);
}

#[test]
fn the_limits_pass_what_fits_and_refuse_one_byte_more_for_good() {
    let limits = Limits { line: 14, event: 8, id: 8 };
    let feed = |stream: &[u8]| {
        let mut decoder = Decoder::new(limits);
        decoder.feed(stream);
        (decoder.next_event(), decoder.next_event())
    };
    assert_eq!(feed(b"data: 12345678\n\n").0, Some(Ok(Event::data("12345678"))));
    assert_eq!(feed(b"data: 123\ndata: 4567\n\n").0, Some(Ok(Event::data("123\n4567"))));
    let event = Some(Err(SseError::EventTooLong(8)));
    assert_eq!(feed(b"data: 1234\ndata: 5678\n\n"), (event.clone(), event));
    let line = Some(Err(SseError::LineTooLong(14)));
    assert_eq!(feed(b"data: 123456789\n\n"), (line.clone(), line.clone()));
    assert_eq!(feed(b"data: 123456789"), (line.clone(), line));
    let full = "x".repeat(Limits::default().event);
    let mut wire = Vec::new();
    append_message(&mut wire, None, full.as_bytes()).unwrap();
    assert_eq!(whole(&wire), [Event::data(full)]);
}

#[test]
fn an_id_beyond_its_limit_is_as_if_it_were_not_there() {
    let limits = Limits { id: 4, ..Limits::default() };
    for (id, is_kept) in
        [("1", true), ("1234", true), ("12345", false), ("é23", true), ("é234", false)]
    {
        let mut decoder = Decoder::new(limits);
        decoder.feed(format!("id: 7\ndata: a\n\nid: {id}\ndata: b\n\n").as_bytes());
        decoder.next_event();
        let event = decoder.next_event().unwrap().unwrap();
        assert_eq!(event.id.as_deref(), is_kept.then_some(id), "{id}");
        assert_eq!(decoder.last_event_id(), if is_kept { id } else { "7" }, "{id}");
    }
}

#[test]
fn skipped_events_cost_no_stack() {
    // C64
    let mut stream = b": k\n\nfoo: bar\n\n".repeat(50_000);
    stream.extend_from_slice(b"data: x\n\n");
    let mut decoder = Decoder::default();
    decoder.feed(&stream);
    assert_eq!(decoder.next_event(), Some(Ok(Event::data("x"))));
    assert_eq!(decoder.next_event(), None);
}

#[test]
fn a_comment_of_endless_lines_is_not_held() {
    let mut decoder = Decoder::new(Limits { line: 8, event: 8, id: 8 });
    for _ in 0..1_000 {
        decoder.feed(b": k\n");
        assert_eq!(decoder.next_event(), None);
    }
}

/// Text of the characters that matter to the grammar.
fn text(alphabet: &'static str) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(alphabet.chars().collect::<Vec<_>>()), 0..12)
        .prop_map(|characters| characters.into_iter().collect())
}

prop_compose! {
    fn events()(
        data in prop::option::of(text("a: \n\u{FEFF}é\u{2028}\0")),
        event in prop::option::of(text("a: é")),
        id in prop::option::of(text("1: é")),
        retry in prop::option::of(any::<u64>()),
        comment in prop::option::of(text("a: \né")),
    ) -> Event {
        Event { data, event: event.filter(|event| !event.is_empty()), id, retry, comment }
    }
}

/// What streams are made of.
const TOKENS: &[&[u8]] = &[
    b"\r",
    b"\n",
    b"\n\n",
    b"\r\n",
    b"data",
    b"data: x",
    b"id",
    b"id:1",
    b"event: e",
    b"retry:5",
    b":",
    b" ",
    b"\0",
    b"\xEF\xBB\xBF",
    b"\xE4",
    b"\xB8\xAD",
    b"\xFF",
    b"c",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn decoding_undoes_encoding(events in prop::collection::vec(events(), 0..6)) {
        let mut wire = Vec::new();
        events.iter().for_each(|event| event.encode(&mut wire));
        let expected: Vec<_> = events.into_iter().filter(|event| *event != Event::default()).collect();
        prop_assert_eq!(whole(&wire), expected);
    }

    #[test]
    fn pieces_never_matter(
        stream in prop::collection::vec(prop::sample::select(TOKENS), 0..40)
            .prop_map(|tokens| tokens.concat()),
        sizes in prop::collection::vec(0..6_usize, 1..40),
    ) {
        let mut rest = &stream[..];
        let mut pieces = Vec::new();
        for size in sizes {
            let (piece, more) = rest.split_at(size.min(rest.len()));
            pieces.push(piece);
            rest = more;
        }
        pieces.push(rest);
        let expected = decode([&stream[..]]);
        prop_assert_eq!(decode(pieces), expected.clone());
        prop_assert_eq!(decode(stream.chunks(1)), expected);
    }
}
