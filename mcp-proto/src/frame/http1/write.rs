//! Writing heads and bodies: what both machines send goes through here.

use core::fmt;

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
    /// There is no body, or it is swallowed because the request was `HEAD`.
    Silent,
    /// So many bytes are still to come.
    Sized(u64),
    Chunked,
    UntilClose,
}

impl Outgoing {
    pub(super) fn write(&mut self, data: &[u8], out: &mut Vec<u8>) -> Result<(), SendError> {
        match self {
            Self::Silent => {}
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
            Self::Silent | Self::Sized(0) | Self::UntilClose => {}
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

pub(super) fn content_length(length: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"Content-Length: ");
    out.extend_from_slice(itoa::Buffer::new().format(length).as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// `HTTP/1.1 200 OK`
pub(super) fn status_line(status: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(b"HTTP/1.1 ");
    out.extend_from_slice(itoa::Buffer::new().format(status).as_bytes());
    out.push(b' ');
    out.extend_from_slice(reason(status).as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// A `tchar` (RFC 9110, section 5.6.2).
pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
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
