//! Bodies in the chunked coding (RFC 9112, section 7.1).

use super::write::is_token;

/// Why a chunked body cannot be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChunkError {
    /// The framing is broken; the text says where.
    Malformed(&'static str),
    /// The data exceeds the limit of the body.
    TooLarge,
}

/// Decodes the chunked coding in pieces of any size. Extensions and trailers are checked,
/// counted and dropped: a trailer never becomes a header field.
#[derive(Debug)]
pub(super) struct Chunked {
    state: State,
    size: u64,
    /// How many bytes of data may still come.
    room: u64,
    /// How many bytes of extensions and trailers may come without data, at most and by now.
    limit: u64,
    spare: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    SizeStart,
    Size,
    SizeSpace,
    NameStart,
    Name,
    NameSpace,
    ValueStart,
    Value,
    ValueSpace,
    Quoted,
    QuotedPair,
    QuotedEnd,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    TrailerStart,
    TrailerName,
    TrailerValue,
    TrailerLf,
    LastLf,
    Done,
}

impl Chunked {
    /// A body of at most `room` bytes. Extensions and trailers may have `limit` bytes; each
    /// chunk earns some back, so that a stream may have them for ever.
    pub(super) fn new(room: u64, limit: usize) -> Self {
        let limit = limit as u64;
        Self { state: State::SizeStart, size: 0, room, limit, spare: limit }
    }

    /// Whether the last chunk and the trailers were read.
    pub(super) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Reads from `input` up to the body's end and hands the data to `sink`; returns how many
    /// bytes belonged to the body. Fails at the first byte that cannot be right.
    pub(super) fn decode(
        &mut self,
        input: &[u8],
        mut sink: impl FnMut(&[u8]),
    ) -> Result<usize, ChunkError> {
        let mut rest = input;
        while let (false, Some((&byte, tail))) = (self.is_done(), rest.split_first()) {
            if self.state == State::Data {
                let here = usize::try_from(self.size).unwrap_or(usize::MAX).min(rest.len());
                let (data, tail) = rest.split_at(here);
                sink(data);
                self.size -= here as u64;
                self.state = if self.size == 0 { State::DataCr } else { State::Data };
                rest = tail;
            } else {
                self.state = self.step(byte)?;
                rest = tail;
            }
        }
        Ok(input.len() - rest.len())
    }

    /// The state after one byte of framing.
    fn step(&mut self, byte: u8) -> Result<State, ChunkError> {
        use State::*;
        let next = match (self.state, byte) {
            (SizeStart | Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => self.digit(byte)?,
            (Size, b'\r') => SizeLf,
            (Size | SizeSpace, b' ' | b'\t') => SizeSpace,
            (Size | SizeSpace | Name | NameSpace | Value | ValueSpace | QuotedEnd, b';') => {
                NameStart
            }
            (Name | Value | QuotedEnd, b'\r') => SizeLf,
            (NameStart, b' ' | b'\t') => NameStart,
            (NameStart | Name, _) if is_token(byte) => Name,
            (Name | NameSpace, b'=') => ValueStart,
            (Name | NameSpace, b' ' | b'\t') => NameSpace,
            (ValueStart, b' ' | b'\t') => ValueStart,
            (ValueStart, b'"') => Quoted,
            (ValueStart | Value, _) if is_token(byte) => Value,
            (Value | ValueSpace | QuotedEnd, b' ' | b'\t') => ValueSpace,
            (Quoted, b'"') => QuotedEnd,
            (Quoted, b'\\') => QuotedPair,
            (Quoted | QuotedPair, b'\t' | b' '..=b'~' | 0x80..) => Quoted,
            (SizeLf, b'\n') if self.size == 0 => TrailerStart,
            (SizeLf, b'\n') => self.admit()?,
            (DataCr, b'\r') => DataLf,
            (DataLf, b'\n') => SizeStart,
            (TrailerStart, b'\r') => LastLf,
            (TrailerStart | TrailerName, _) if is_token(byte) => TrailerName,
            (TrailerName, b':') => TrailerValue,
            (TrailerValue, b'\r') => TrailerLf,
            (TrailerValue, b'\t' | b' '..=b'~' | 0x80..) => TrailerValue,
            (TrailerLf, b'\n') => TrailerStart,
            (LastLf, b'\n') => Done,
            (state, _) => return Err(ChunkError::Malformed(complaint(state))),
        };
        if matches!(next, SizeLf | Data | DataCr | DataLf | SizeStart | LastLf | Done) {
            return Ok(next);
        }
        let is_leading_digit = next == Size && self.size == 0;
        if next != Size || is_leading_digit {
            let short = ChunkError::Malformed("chunk extensions or trailers are too long");
            self.spare = self.spare.checked_sub(1).ok_or(short)?;
        }
        Ok(next)
    }

    fn digit(&mut self, byte: u8) -> Result<State, ChunkError> {
        let digit = char::from(byte).to_digit(16).unwrap_or_default();
        let overflow = ChunkError::Malformed("a chunk's size is too large");
        self.size = self.size.checked_mul(16).ok_or(overflow)? | u64::from(digit);
        Ok(State::Size)
    }

    /// Checks a chunk's size against what is left of the limit, before its data is read.
    fn admit(&mut self) -> Result<State, ChunkError> {
        self.room = self.room.checked_sub(self.size).ok_or(ChunkError::TooLarge)?;
        self.spare =
            self.limit.min(self.spare.saturating_add(self.size).saturating_add(CHUNK_ALLOWANCE));
        Ok(State::Data)
    }
}

/// Bytes of extensions that every chunk may have: padded sizes and the like.
const CHUNK_ALLOWANCE: u64 = 16;

fn complaint(state: State) -> &'static str {
    use State::*;
    match state {
        SizeStart | Size | SizeSpace => "a chunk's size is invalid",
        NameStart | Name | NameSpace | ValueStart | Value | ValueSpace => {
            "a chunk extension is invalid"
        }
        Quoted | QuotedPair | QuotedEnd => "a chunk extension is invalid",
        SizeLf => "a chunk's size does not end in CR LF",
        Data | DataCr | DataLf => "a chunk's data does not end in CR LF",
        TrailerStart | TrailerName | TrailerValue => "a trailer field is invalid",
        TrailerLf | LastLf | Done => "the trailers do not end in CR LF",
    }
}
