use super::*;

#[path = "../../../tests/corpora/mod.rs"]
mod corpora;

#[test]
fn the_line_splitting_vectors() {
    let Some(corpus) = corpora::load("sse.json") else { return };
    let rows = corpora::rows(&corpus, "line_split_cases");
    for row in rows {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        for piece in corpora::rows(row, "chunks") {
            lines.feed(piece.as_str().expect("text").as_bytes());
            while let Some(line) = lines.next_line() {
                found.push(String::from_utf8_lossy(line).into_owned());
            }
        }
        // The vectors count what has no line end at the end of the stream; events do not.
        if lines.unfinished() > 0 {
            lines.feed(b"\n");
            let line = lines.next_line().expect("a line");
            found.push(String::from_utf8_lossy(line).into_owned());
        }
        assert_eq!(serde_json::json!(found), row["lines"], "{}", row["title"]);
    }
    corpora::report("sse.json, line_split_cases", rows.len());
}

#[test]
fn a_large_buffer_is_given_back_once_it_is_empty() {
    let mut lines = Lines::default();
    lines.feed(&[b'x'; 100_000]);
    lines.feed(b"\r");
    assert_eq!(lines.next_line().map(<[u8]>::len), Some(100_000));
    assert_eq!(lines.next_line(), None);
    assert_eq!(lines.bytes.capacity(), 0);
    lines.feed(b"\nnext\n");
    assert_eq!(lines.next_line(), Some(&b"next"[..]));
}
