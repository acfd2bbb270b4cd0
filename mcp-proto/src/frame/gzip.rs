//! Compressing a body piece by piece (RFC 1952).

use core::fmt;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

/// A body that is compressed as it is written. Each piece can be read by itself: the compressor is
/// flushed behind it, at the price of five bytes or so, for no reader may wait for the next one.
///
/// A compressor holds 345 KiB for as long as its body lasts, whatever the level. That suits
/// replies and short streams; for streams that idle by the thousands, send plain text.
pub struct Gzip(GzEncoder<Vec<u8>>);

impl Gzip {
    /// A body without pieces.
    pub fn new() -> Self {
        Self(GzEncoder::new(Vec::new(), Compression::fast()))
    }

    /// Compresses `piece` and appends to `out` all that is needed to read it.
    pub fn write(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        // Writing to memory cannot fail.
        let _ = self.0.write_all(piece).and_then(|()| self.0.flush());
        out.append(self.0.get_mut());
    }

    /// Appends the end of the body.
    pub fn finish(self, out: &mut Vec<u8>) {
        if let Ok(mut end) = self.0.finish() {
            out.append(&mut end);
        }
    }
}

impl Default for Gzip {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Gzip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gzip(..)")
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn every_piece_can_be_read_before_the_next_is_written() {
        let (mut gzip, mut wire, mut plain) = (Gzip::new(), Vec::new(), String::new());
        for piece in ["data: 1\n\n", "", "data: {\"a\":1}\n\n", ":\n\n"] {
            gzip.write(piece.as_bytes(), &mut wire);
            plain.push_str(piece);
            let mut read = vec![0; plain.len()];
            GzDecoder::new(&wire[..]).read_exact(&mut read).expect("all of it");
            assert_eq!(read, plain.as_bytes());
        }
        gzip.finish(&mut wire);
        let mut read = String::new();
        GzDecoder::new(&wire[..]).read_to_string(&mut read).expect("a whole body");
        assert_eq!(read, plain);
    }
}
