//! Writing envelopes: appended to the caller's buffer, compact, `jsonrpc` and `id` first.

use super::RequestId;
use crate::frame::json::write_string;

/// What appends a JSON value: the value's text, or a closure that writes it. Text is copied as it
/// is, so it must be one line where lines frame messages ([`json::compact`](crate::frame::json::compact)).
pub trait Payload {
    /// Appends the value.
    fn write(self, out: &mut Vec<u8>);
}

impl Payload for &[u8] {
    fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
}

impl Payload for &str {
    fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_bytes());
    }
}

impl<F: FnOnce(&mut Vec<u8>)> Payload for F {
    fn write(self, out: &mut Vec<u8>) {
        self(out);
    }
}

/// Appends the response to request `id`.
pub fn write_result(out: &mut Vec<u8>, id: &RequestId, result: impl Payload) {
    begin(out, Some(id));
    member(out, "result", result);
    out.push(b'}');
}

/// Appends an error response; without an id where the request's could not be read
/// (R2511-RPC-12).
pub fn write_error(
    out: &mut Vec<u8>,
    id: Option<&RequestId>,
    code: i64,
    message: &str,
    data: Option<impl Payload>,
) {
    begin(out, id);
    out.extend_from_slice(b",\"error\":{\"code\":");
    out.extend_from_slice(itoa::Buffer::new().format(code).as_bytes());
    out.extend_from_slice(b",\"message\":");
    write_string(out, message);
    if let Some(data) = data {
        member(out, "data", data);
    }
    out.extend_from_slice(b"}}");
}

/// Appends a request; `params` is a JSON object.
pub fn write_request(
    out: &mut Vec<u8>,
    id: &RequestId,
    method: &str,
    params: Option<impl Payload>,
) {
    call(out, Some(id), method, params);
}

/// Appends a notification; `params` is a JSON object.
pub fn write_notification(out: &mut Vec<u8>, method: &str, params: Option<impl Payload>) {
    call(out, None, method, params);
}

fn call(out: &mut Vec<u8>, id: Option<&RequestId>, method: &str, params: Option<impl Payload>) {
    begin(out, id);
    member(out, "method", |out: &mut Vec<u8>| write_string(out, method));
    if let Some(params) = params {
        member(out, "params", params);
    }
    out.push(b'}');
}

fn begin(out: &mut Vec<u8>, id: Option<&RequestId>) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\"");
    if let Some(id) = id {
        member(out, "id", id.as_json());
    }
}

fn member(out: &mut Vec<u8>, name: &str, value: impl Payload) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
    value.write(out);
}
