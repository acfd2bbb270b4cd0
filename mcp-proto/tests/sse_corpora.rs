//! Server-Sent Events against the vectors of web-platform-tests and other implementations.

mod corpora;

use base64::{Engine, engine::general_purpose::STANDARD};
use mcp_proto::frame::sse::{Decoder, Event, InvalidField};
use serde_json::{Value, json};

#[test]
fn decoding_whole_in_pieces_and_byte_by_byte() {
    let Some(corpus) = corpora::load("sse.json") else { return };
    let rows = corpora::rows(&corpus, "cases");
    for row in rows {
        let stream = corpora::bytes(row);
        check_row(row, &[&stream]);
        check_row(row, &stream.chunks(1).collect::<Vec<_>>());
        if let Some(pieces) = row["chunks_b64"].as_array() {
            let piece =
                |piece: &Value| STANDARD.decode(piece.as_str().expect("text")).expect("base64");
            let pieces: Vec<_> = pieces.iter().map(piece).collect();
            check_row(row, &pieces.iter().map(Vec::as_slice).collect::<Vec<_>>());
        }
        check_comments(row, &stream);
    }
    corpora::report("sse.json, cases", rows.len());
}

/// What the HTML Standard dispatches, with the state of the decoder.
fn check_row(row: &Value, pieces: &[&[u8]]) {
    let carried = row["initial_last_event_id"].as_str().unwrap_or_default();
    let mut decoder = Decoder::default().resume_from(carried);
    let (mut events, mut retry) = (Vec::new(), Vec::new());
    for piece in pieces {
        decoder.feed(piece);
        while let Some(event) = decoder.next_event() {
            let event = event.expect("within the limits");
            retry.extend(event.retry());
            if let Some(data) = event.raw_data() {
                events.push(json!({
                    "type": event.event().unwrap_or("message"),
                    "data": data,
                    "lastEventId": decoder.last_event_id(),
                }));
            }
        }
    }
    let id = corpora::text(row, "id");
    assert_eq!(json!(events), row["events"], "{id}");
    assert_eq!(decoder.last_event_id(), row["last_event_id_at_eof"], "{id}");
    assert_eq!(json!(retry), row["retry"], "{id}");
    assert_eq!(decoder.reconnection_time(), retry.last().copied(), "{id}");
}

/// Every comment line, one space after the colon being ours to drop. A blank line is added, since
/// comments come with the event they stand in and a corpus row may end before that does.
fn check_comments(row: &Value, stream: &[u8]) {
    let mut decoder = Decoder::default().comments(true);
    decoder.feed(stream);
    decoder.feed(b"\n\n");
    let mut comments = Vec::new();
    while let Some(event) = decoder.next_event() {
        let event = event.expect("within the limits");
        comments.extend(
            event.comment_text().iter().flat_map(|text| text.split('\n')).map(str::to_owned),
        );
    }
    let id = corpora::text(row, "id");
    match row["comments"].as_array() {
        Some(expected) => {
            let bare = |text: &Value| {
                let text = text.as_str().expect("text");
                text.strip_prefix(' ').unwrap_or(text).to_owned()
            };
            assert_eq!(comments, expected.iter().map(bare).collect::<Vec<_>>(), "{id}");
        }
        None => assert_eq!(json!(comments.len()), row["comment_count"], "{id}"),
    }
}

#[test]
fn encoding() {
    let Some(corpus) = corpora::load("sse.json") else { return };
    let rows = corpora::rows(&corpus, "encode_cases");
    for row in rows {
        let title = corpora::text(row, "title");
        match (encode(&row["input"]), row["error"].as_str()) {
            (Ok(wire), None) => assert_eq!(wire, corpora::text(row, "output"), "{title}"),
            (Err(InvalidField::Event), Some("newline in event")) => {}
            (Err(InvalidField::Id), Some("newline in id")) => {}
            other => panic!("{title}: {other:?}"),
        }
    }
    corpora::report("sse.json, encode_cases", rows.len());
}

fn encode(input: &Value) -> Result<String, InvalidField> {
    let mut event = match (input["data"].as_str(), input["comment"].as_str()) {
        (Some(data), _) => Event::data(data),
        (None, comment) => Event::comment(comment.expect("data or a comment")),
    };
    if let Some(name) = input["event"].as_str() {
        event = event.with_event(name)?;
    }
    match &input["id"] {
        Value::Null => {}
        Value::String(id) => event = event.with_id(id)?,
        number => event = event.with_id(number.to_string())?,
    }
    if let Some(retry) = input["retry"].as_u64() {
        event = event.with_retry(retry);
    }
    let mut wire = Vec::new();
    event.encode(&mut wire);
    Ok(String::from_utf8(wire).expect("UTF-8"))
}
