//! The header fields that frame a message: its body's length and the connection's life.

use super::head::Version;

/// How a received body's end is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// By its length, which may be zero.
    Sized(u64),
    /// By the chunked coding.
    Chunked,
}

/// Why a message cannot be framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FramingError {
    /// Readers could disagree about its end; the text says why.
    Ambiguous(&'static str),
    /// It uses a transfer coding other than chunked.
    UnknownCoding,
}

/// What the fields of one message say, gathered field by field.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FramingFields {
    length: Option<u64>,
    chunked: bool,
    close: bool,
    keep_alive: bool,
}

impl FramingFields {
    /// Notes a field, if it is one of `Content-Length`, `Transfer-Encoding` and `Connection`.
    pub(super) fn read(&mut self, name: &str, value: &[u8]) -> Result<(), FramingError> {
        if name.eq_ignore_ascii_case("content-length") {
            let length = content_length(value)
                .ok_or(FramingError::Ambiguous("the Content-Length field is invalid"))?;
            if self.length.replace(length).is_some() {
                return Err(FramingError::Ambiguous("there are several Content-Length fields"));
            }
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            if self.chunked {
                return Err(FramingError::Ambiguous("there are several transfer codings"));
            }
            transfer_encoding(value)?;
            self.chunked = true;
        } else if name.eq_ignore_ascii_case("connection") {
            for option in value.split(|&b| b == b',').map(<[u8]>::trim_ascii) {
                self.close |= option.eq_ignore_ascii_case(b"close");
                self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
            }
        }
        Ok(())
    }

    /// How the body ends (RFC 9112, section 6.3); `None` where the fields do not say.
    pub(super) fn framing(&self, version: Version) -> Result<Option<Framing>, FramingError> {
        match (self.chunked, self.length) {
            (false, length) => Ok(length.map(Framing::Sized)),
            (true, Some(_)) => {
                Err(FramingError::Ambiguous("both Transfer-Encoding and Content-Length are given"))
            }
            (true, None) if version == Version::Http10 => {
                Err(FramingError::Ambiguous("HTTP/1.0 has no Transfer-Encoding"))
            }
            (true, None) => Ok(Some(Framing::Chunked)),
        }
    }

    /// Whether the connection may serve another exchange (RFC 9112, section 9.3).
    pub(super) fn keeps_alive(&self, version: Version) -> bool {
        !self.close && (version == Version::Http11 || self.keep_alive)
    }
}

/// Digits and nothing else; a number beyond 64 bits counts as the largest there is.
fn content_length(value: &[u8]) -> Option<u64> {
    value.iter().try_fold(None, |sum: Option<u64>, b| {
        let digit = b.is_ascii_digit().then(|| u64::from(b - b'0'))?;
        Some(Some(sum.unwrap_or(0).saturating_mul(10).saturating_add(digit)))
    })?
}

/// `chunked` alone is decoded; what does not end in it, or has it twice, frames nothing.
fn transfer_encoding(value: &[u8]) -> Result<(), FramingError> {
    if value.eq_ignore_ascii_case(b"chunked") {
        return Ok(());
    }
    let mut codings = value.rsplit(|&b| b == b',').map(<[u8]>::trim_ascii);
    let is_chunked = |coding: &[u8]| coding.eq_ignore_ascii_case(b"chunked");
    match codings.next() {
        Some(last) if is_chunked(last) && !codings.any(|c| c.is_empty() || is_chunked(c)) => {
            Err(FramingError::UnknownCoding)
        }
        _ => Err(FramingError::Ambiguous("the Transfer-Encoding field is invalid")),
    }
}
