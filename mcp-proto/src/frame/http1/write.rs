//! Writing heads and bodies: what both machines send goes through here.

use core::fmt;

use super::client::RequestLine;
use super::target::{Target, is_host};
pub(super) use crate::frame::header_value::is_tchar as is_token;

/// How long a body to be sent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyLength {
    /// There is none.
    None,
    /// Exactly so many bytes.
    Sized(u64),
    /// Not known yet: chunked on HTTP/1.1, ended by closing on HTTP/1.0.
    Stream,
}

impl BodyLength {
    /// That of a body that is whole.
    pub(super) const fn of(body: &[u8]) -> Self {
        match body {
            [] => Self::None,
            _ => Self::Sized(body.len() as u64),
        }
    }
}

/// Why a command to send was not carried out. Nothing was written then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError {
    /// The exchange has ended, the peer left: the rest of its answer goes nowhere. Not a fault.
    Gone,
    /// Not now: there is no exchange in the state that the command needs.
    OutOfTurn,
    /// A field's name is no token, its value has a control character, or framing decides it
    /// (`Connection`, `Content-Length`, `Transfer-Encoding`).
    Field,
    /// The first line cannot be written: the status is not within 200..=599, or the method or
    /// target is invalid.
    FirstLine,
    /// More or fewer bytes than announced.
    Length,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gone => "the exchange has ended",
            Self::OutOfTurn => "no exchange is in the state that this needs",
            Self::Field => "a header field cannot be sent",
            Self::FirstLine => "the first line cannot be sent",
            Self::Length => "the body is not as long as announced",
        })
    }
}

impl std::error::Error for SendError {}

/// The framing of a body being sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outgoing {
    /// There is no body.
    Nothing,
    /// There is none on the wire; what the caller writes is swallowed.
    Silent,
    /// So many bytes are still to come.
    Sized(u64),
    Chunked,
    UntilClose,
}

impl Outgoing {
    pub(super) fn write(&mut self, data: &[u8], out: &mut Vec<u8>) -> Result<(), SendError> {
        match self {
            Self::Nothing if !data.is_empty() => return Err(SendError::Length),
            Self::Nothing | Self::Silent => {}
            Self::Sized(left) => {
                *left = left.checked_sub(data.len() as u64).ok_or(SendError::Length)?;
                out.extend_from_slice(data);
            }
            // An empty chunk would end the body.
            Self::Chunked if data.is_empty() => {}
            Self::Chunked => {
                hex(data.len(), out);
                out.extend_from_slice(b"\r\n");
                out.extend_from_slice(data);
                out.extend_from_slice(b"\r\n");
            }
            Self::UntilClose => out.extend_from_slice(data),
        }
        Ok(())
    }

    pub(super) fn finish(&self, out: &mut Vec<u8>) -> Result<(), SendError> {
        match self {
            Self::Sized(1..) => return Err(SendError::Length),
            Self::Chunked => out.extend_from_slice(b"0\r\n\r\n"),
            Self::Nothing | Self::Silent | Self::Sized(0) | Self::UntilClose => {}
        }
        Ok(())
    }
}

/// Writes the caller's header fields; none of them may touch framing or break out of its line.
pub(super) fn fields<N: AsRef<str>, V: AsRef<[u8]>>(
    fields: impl IntoIterator<Item = (N, V)>,
    out: &mut Vec<u8>,
) -> Result<(), SendError> {
    for (name, value) in fields {
        let (name, value) = (name.as_ref(), value.as_ref());
        let is_value = |&b: &u8| b == b'\t' || (b >= b' ' && b != 0x7f);
        if name.is_empty() || !name.bytes().all(is_token) || !value.iter().all(is_value) {
            return Err(SendError::Field);
        }
        if FRAMING_FIELDS.iter().any(|field| field.eq_ignore_ascii_case(name)) {
            return Err(SendError::Field);
        }
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
        out.extend_from_slice(b"\r\n");
    }
    Ok(())
}

const FRAMING_FIELDS: [&str; 3] = ["connection", "content-length", "transfer-encoding"];

/// A buffer that grew beyond this is not kept for the next exchange.
pub(crate) const KEEP: usize = 256 * 1024;

/// Writes the field that tells how the body ends.
pub(super) fn framing(outgoing: Outgoing, out: &mut Vec<u8>) {
    match outgoing {
        Outgoing::Sized(length) => {
            out.extend_from_slice(b"Content-Length: ");
            out.extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
            out.extend_from_slice(b"\r\n");
        }
        Outgoing::Chunked => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
        Outgoing::Nothing | Outgoing::Silent | Outgoing::UntilClose => {}
    }
}

/// `POST /mcp HTTP/1.1` and the `Host` field.
pub(super) fn request_line(line: RequestLine<'_>, out: &mut Vec<u8>) -> Result<(), SendError> {
    let RequestLine { method, target, host } = line;
    let is_method = !method.is_empty() && method.bytes().all(is_token);
    let is_target = match method {
        "CONNECT" => is_host(target.as_bytes()),
        _ => Target::parse(target, method == "OPTIONS").is_ok(),
    };
    if !is_method || !is_target || !is_host(host.as_bytes()) {
        return Err(SendError::FirstLine);
    }
    for part in [method, " ", target, " HTTP/1.1\r\nHost: ", host, "\r\n"] {
        out.extend_from_slice(part.as_bytes());
    }
    Ok(())
}

/// Moves what is to be sent into the caller's buffer.
pub(super) fn hand_over(output: &mut Vec<u8>, out: &mut Vec<u8>) {
    out.extend_from_slice(output);
    output.clear();
    if output.capacity() > KEEP {
        *output = Vec::new();
    }
}

/// `HTTP/1.1 200 OK`
pub(super) fn status_line(status: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(b"HTTP/1.1 ");
    out.extend_from_slice(itoa::Buffer::new().format(status).as_bytes());
    out.push(b' ');
    out.extend_from_slice(reason(status).as_bytes());
    out.extend_from_slice(b"\r\n");
}

fn hex(number: usize, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let nibbles = (usize::BITS - number.leading_zeros()).div_ceil(4).max(1);
    out.extend((0..nibbles).rev().map(|i| DIGITS[(number >> (4 * i)) & 15]));
}

fn reason(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        200 => "OK",
        202 => "Accepted",
        204 => "No Content",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        417 => "Expectation Failed",
        421 => "Misdirected Request",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}
