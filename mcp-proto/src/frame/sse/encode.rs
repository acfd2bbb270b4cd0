//! Events to bytes. Every function appends one whole event, or nothing when it refuses.

use super::{Event, InvalidField};

/// Appends an event with this data and, when given, this id; no copy of either is made.
///
/// `data` is UTF-8 text, as a rule one JSON message; each of its lines becomes a `data` line.
pub fn append_message(
    out: &mut Vec<u8>,
    id: Option<&str>,
    data: &[u8],
) -> Result<(), InvalidField> {
    InvalidField::Id.check(id.unwrap_or_default())?;
    if let Some(id) = id {
        append_line(out, b"id: ", id.as_bytes());
    }
    append_lines(out, b"data: ", data);
    out.push(b'\n');
    Ok(())
}

/// Appends an event with a type and data: what HTTP+SSE sends (`endpoint`, `message`).
pub fn append_named(
    out: &mut Vec<u8>,
    event: &str,
    id: Option<&str>,
    data: &[u8],
) -> Result<(), InvalidField> {
    InvalidField::Event.check(event)?;
    InvalidField::Id.check(id.unwrap_or_default())?;
    append_line(out, b"event: ", event.as_bytes());
    append_message(out, id, data)
}

/// Appends the event that opens a resumable stream: an id, empty data and, when given, the
/// reconnection time in milliseconds (T-36, C55).
pub fn append_priming(out: &mut Vec<u8>, id: &str, retry: Option<u64>) -> Result<(), InvalidField> {
    InvalidField::Id.check(id)?;
    if let Some(milliseconds) = retry {
        append_retry(out, milliseconds);
    }
    append_message(out, Some(id), b"")
}

/// Appends an empty comment, the shortest keep-alive (T-41). No empty line follows it: some readers
/// take one, once they have heard an id, for the end of an empty event.
pub fn append_comment(out: &mut Vec<u8>) {
    out.extend_from_slice(b":\n");
}

pub(super) fn append(out: &mut Vec<u8>, event: &Event) {
    let start = out.len();
    match event.comment.as_deref() {
        Some("") => out.extend_from_slice(b":\n"),
        Some(text) => append_lines(out, b": ", text.as_bytes()),
        None => {}
    }
    if let Some(event) = &event.event {
        append_line(out, b"event: ", event.as_bytes());
    }
    if let Some(milliseconds) = event.retry {
        append_retry(out, milliseconds);
    }
    if let Some(id) = &event.id {
        append_line(out, b"id: ", id.as_bytes());
    }
    if let Some(data) = &event.data {
        append_lines(out, b"data: ", data.as_bytes());
    }
    if out.len() > start {
        out.push(b'\n');
    }
}

fn append_retry(out: &mut Vec<u8>, milliseconds: u64) {
    append_line(out, b"retry: ", itoa::Buffer::new().format(milliseconds).as_bytes());
}

fn append_line(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    out.reserve(name.len() + value.len() + 2);
    out.extend_from_slice(name);
    out.extend_from_slice(value);
    out.push(b'\n');
}

/// One line of `name` per line of `text`, of which there is always at least one.
fn append_lines(out: &mut Vec<u8>, name: &[u8], mut text: &[u8]) {
    while let Some(end) = memchr::memchr2(b'\r', b'\n', text) {
        let (line, rest) = text.split_at(end);
        append_line(out, name, line);
        text = rest.strip_prefix(b"\r\n").or_else(|| rest.get(1..)).unwrap_or_default();
    }
    append_line(out, name, text);
}
