use proptest::prelude::*;

use super::*;
use crate::frame::envelope::RequestId;

type Line = Result<Bytes, LineTooLong>;

/// All lines of a stream that arrives in these pieces.
fn decode<'a>(limit: usize, pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Line> {
    let mut lines = LineDecoder::new(limit);
    let mut found = Vec::new();
    for mut piece in pieces {
        found.extend(std::iter::from_fn(|| lines.next(&mut piece)));
        assert!(piece.is_empty() && lines.held() <= limit + 1);
    }
    found.extend(lines.finish());
    assert_eq!(lines.finish(), None);
    found
}

fn texts(limit: usize, stream: &[u8]) -> Vec<String> {
    let text = |line: Line| match line {
        Ok(line) => String::from_utf8_lossy(&line).into_owned(),
        Err(LineTooLong { limit, .. }) => format!("more than {limit}"),
    };
    decode(limit, [stream]).into_iter().map(text).collect()
}

#[test]
fn ends_lines_at_lf_and_crlf_and_at_the_end_of_the_stream() {
    assert_eq!(texts(9, b"a\nb\r\nc\rd\ne"), ["a", "b", "c\rd", "e"]);
    assert_eq!(texts(9, b"a\r"), ["a"]);
}

#[test]
fn skips_blank_lines_and_a_bom_at_the_very_start() {
    assert_eq!(texts(9, b"\n\r\n \t\nx\n\n"), ["x"]);
    assert_eq!(texts(9, b"\xef\xbb\xbf{}\n"), ["{}"]);
    assert_eq!(texts(9, b"\xef\xbb\xbf\n{}"), ["{}"]);
    assert_eq!(texts(9, b"{}\n\xef\xbb\xbf{}"), ["{}", "\u{feff}{}"]);
    assert_eq!(texts(5, b"{....}\n\xef\xbb\xbf{}"), ["more than 5", "\u{feff}{}"]);
}

#[test]
fn the_limit_passes_and_one_byte_more_is_reported_once() {
    assert_eq!(
        texts(3, b"abc\nabcd\nabc\r\nabcd\r\nx"),
        ["abc", "more than 3", "abc", "more than 3", "x"]
    );
    assert_eq!(texts(3, b"abcdefgh"), ["more than 3"]);
    assert_eq!(texts(3, b"abc\r\r\nx"), ["more than 3", "x"]);
}

/// C77: a peer that never ends its line costs no memory.
#[test]
fn an_endless_line_is_not_held() {
    let mut lines = LineDecoder::new(1 << 16);
    let piece = [b'y'; 4096];
    let reports = (0..10_000).filter(|_| lines.next(&mut &piece[..]).is_some()).count();
    assert_eq!((reports, lines.held()), (1, 0));
    assert_eq!(lines.next(&mut &b"\nz\n"[..]), Some(Ok(Bytes::from_static(b"z"))));
}

/// What a peer wrote in vain is told once, with whom it concerns, wherever the id stands.
#[test]
fn a_line_that_is_too_long_still_says_what_it_was_about() {
    let filler = "x".repeat(100);
    let cases = [
        (
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":"{filler}"}}"#),
            Some("1"),
            None,
        ),
        (
            format!(r#"{{"method":"m","params":"{filler}","jsonrpc":"2.0","id":"a"}}"#),
            Some("\"a\""),
            None,
        ),
        (format!(r#"{{"id":3,"params":"{filler}","method":"m"}}"#), Some("3"), None),
        (format!(r#"{{"jsonrpc":"2.0","id":4,"result":"{filler}"}}"#), None, Some("4")),
        (format!(r#"{{"error":{{"message":"{filler}"}},"id":5}}"#), None, Some("5")),
        (format!(r#"{{"method":"m","params":"{filler}"}}"#), None, None),
        (filler, None, None),
    ];
    for (line, request, response) in cases {
        for end in ["\n{}\n", "\r\n{}", ""] {
            let stream = format!("{line}{end}");
            for size in [1, 7, 60, 1000] {
                let mut found = decode(40, stream.as_bytes().chunks(size)).into_iter();
                let outline = found.next().unwrap().unwrap_err().outline;
                let text = |id: Option<&RequestId>| id.map(ToString::to_string);
                assert_eq!(text(outline.request_id()).as_deref(), request, "{stream}");
                assert_eq!(text(outline.response_id()).as_deref(), response, "{stream}");
                let rest: Vec<_> = found.map(Result::unwrap).collect();
                assert_eq!(rest, vec!["{}"; usize::from(!end.is_empty())], "{stream}");
            }
        }
    }
}

#[test]
fn holds_no_more_than_the_limit_allows() {
    let mut lines = LineDecoder::new(1000);
    for _ in 0..1000 {
        assert_eq!(lines.next(&mut &b"a"[..]), None);
    }
    let State::Line(held) = &lines.state else { panic!("skipping") };
    assert!(held.capacity() <= 1001, "{}", held.capacity());
}

/// C71: what arrived of a line stays, however the rest comes.
#[test]
fn large_lines_in_small_pieces_arrive_whole() {
    let stream: Vec<u8> = (0..200)
        .flat_map(|i| {
            let mut line = vec![b'a' + (i % 26) as u8; 64 << 10];
            line.push(b'\n');
            line
        })
        .collect();
    let lines = decode(LineDecoder::DEFAULT_LIMIT, stream.chunks(1 << 10));
    assert_eq!(lines.len(), 200);
    assert!(lines.iter().all(|line| line.as_ref().is_ok_and(|line| line.len() == 64 << 10)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn where_the_stream_is_cut_changes_nothing(
        stream in proptest::collection::vec(
            prop_oneof![4 => Just(b'\n'), 3 => Just(b'\r'), 1 => Just(0xef), 1 => Just(0xbb), 1 => Just(0xbf), 8 => b' '..b'z'],
            0..60,
        ),
        bom: bool,
        limit in 0..20usize,
        cuts in proptest::collection::vec(1..12usize, 1..20),
    ) {
        let stream = if bom { [b"\xef\xbb\xbf", &stream[..]].concat() } else { stream };
        let whole = decode(limit, [&stream[..]]);
        prop_assert_eq!(&whole, &decode(limit, stream.chunks(1)));
        let mut rest = &stream[..];
        let pieces = cuts.iter().cycle().map_while(|cut| {
            let piece = rest.split_off(..rest.len().min(*cut))?;
            (!piece.is_empty()).then_some(piece)
        });
        prop_assert_eq!(&whole, &decode(limit, pieces.collect::<Vec<_>>()));
    }
}
