//! A request's body while it arrives.

use bytes::{Bytes, BytesMut};

/// The body so far. The usual one comes in one piece, which is kept as it is.
#[derive(Debug)]
pub(super) enum Body {
    Piece(Bytes),
    Pieces(BytesMut),
}

impl Default for Body {
    fn default() -> Self {
        Self::Piece(Bytes::new())
    }
}

impl Body {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Piece(piece) => piece.len(),
            Self::Pieces(pieces) => pieces.len(),
        }
    }

    pub(super) fn add(&mut self, chunk: Bytes) {
        match self {
            Self::Piece(piece) if piece.is_empty() => *piece = chunk,
            Self::Piece(piece) => {
                let mut pieces = BytesMut::with_capacity(piece.len() + chunk.len());
                pieces.extend_from_slice(piece);
                pieces.extend_from_slice(&chunk);
                *self = Self::Pieces(pieces);
            }
            Self::Pieces(pieces) => pieces.extend_from_slice(&chunk),
        }
    }

    pub(super) fn into_bytes(self) -> Bytes {
        match self {
            Self::Piece(piece) => piece,
            Self::Pieces(pieces) => pieces.freeze(),
        }
    }
}
