//! What can be told of an envelope whose text cannot be read, or not be held.

use super::super::json;
use super::RequestId;

/// Bytes of a name or of an id that are kept; longer ones count as unreadable.
const TOKEN: usize = 1024;

/// What a message is about, as far as its outermost members show it.
///
/// It is read piece by piece and keeps nothing but an id, so it can be had of a line that is too
/// long to be held. Nothing else needs to be right with the text: what is inside of members is
/// skipped by its quotes and brackets alone, so a lone surrogate, a number out of range or nesting
/// beyond the limit hides nothing.
///
/// ```
/// # use mcp_proto::frame::envelope::Outline;
/// let broken = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"x":"\ud800"}}"#;
/// assert_eq!(Outline::of(broken).request_id().unwrap().as_json(), b"7");
/// let cut_off = br#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"#;
/// assert_eq!(Outline::of(cut_off).response_id().unwrap().as_json(), b"7");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    place: Place,
    /// Objects and arrays that are open.
    depth: u64,
    quoted: Quoted,
    /// A name, or an id, as far as it has come.
    token: Vec<u8>,
    member: Member,
    ids: Ids,
    has_method: bool,
    has_response: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Before the object.
    #[default]
    Before,
    Within,
    /// After its last bracket.
    After,
    /// The text is that of no object.
    Elsewhere,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Quoted {
    #[default]
    No,
    Yes,
    /// After a backslash.
    Escaped,
}

/// The outermost member that the text is at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Member {
    /// Its name is not known yet.
    #[default]
    Unnamed,
    Id,
    Other,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Ids {
    #[default]
    None,
    One(RequestId),
    /// Several, or one that is none.
    Unclear,
}

impl Outline {
    /// The outline of a text, whole or not.
    pub fn of(text: &[u8]) -> Self {
        let mut outline = Self::default();
        outline.read(text);
        outline
    }

    /// Goes on with the next piece of the text.
    pub fn read(&mut self, piece: &[u8]) {
        self.read_while(piece, |_| true);
    }

    /// The same, up to where it [is settled](Self::is_settled) what the text is.
    pub fn read_until_settled(&mut self, piece: &[u8]) {
        self.read_while(piece, |outline| !outline.is_settled());
    }

    fn read_while(&mut self, mut piece: &[u8], goes_on: impl Fn(&Self) -> bool) {
        while let Some((&byte, rest)) = piece.split_first()
            && self.place != Place::Elsewhere
            && goes_on(self)
        {
            piece = rest;
            self.step(byte);
            if self.quoted == Quoted::Yes && !self.keeps() {
                let end = memchr::memchr2(b'"', b'\\', piece).unwrap_or(piece.len());
                piece = piece.get(end..).unwrap_or_default();
            }
        }
    }

    /// The id that a refusal can carry: that of a request, or of an object that is no response.
    pub fn request_id(&self) -> Option<&RequestId> {
        let is_request = self.has_method || self.place == Place::After && !self.has_response;
        self.id().filter(|_| is_request)
    }

    /// The id of the request that this answers.
    pub fn response_id(&self) -> Option<&RequestId> {
        self.id().filter(|_| self.is_response())
    }

    /// It has a `result` or an `error` and no `method`: it must not be answered.
    pub fn is_response(&self) -> bool {
        self.has_response && !self.has_method
    }

    /// Whether more of the text could hardly tell more: it is known what this is and whom it
    /// concerns, or it is no message.
    pub fn is_settled(&self) -> bool {
        let known = self.id().is_some() && (self.has_method || self.has_response);
        known || self.place == Place::Elsewhere
    }

    fn id(&self) -> Option<&RequestId> {
        match &self.ids {
            Ids::One(id) => Some(id),
            Ids::None | Ids::Unclear => None,
        }
    }

    /// Whether the text at hand belongs to a name or an id.
    fn keeps(&self) -> bool {
        self.depth == 1 && self.member != Member::Other
    }

    fn step(&mut self, byte: u8) {
        match (self.place, byte) {
            (Place::Within, _) => self.step_within(byte),
            // A byte order mark may come first.
            (Place::Before, b' ' | b'\t' | b'\r' | b'\n' | 0xef | 0xbb | 0xbf) => {}
            (Place::Before, b'{') => (self.place, self.depth) = (Place::Within, 1),
            (Place::Before, _) => self.place = Place::Elsewhere,
            (Place::After | Place::Elsewhere, _) => {}
        }
    }

    fn step_within(&mut self, byte: u8) {
        if self.quoted != Quoted::No {
            self.keep(byte);
            self.quoted = match (self.quoted, byte) {
                (Quoted::Yes, b'"') => Quoted::No,
                (Quoted::Yes, b'\\') => Quoted::Escaped,
                _ => Quoted::Yes,
            };
            return;
        }
        match byte {
            b':' if self.depth == 1 && self.member == Member::Unnamed => self.name(),
            b',' if self.depth == 1 => self.end_member(),
            b'}' | b']' => {
                self.depth -= 1;
                if self.depth == 0 {
                    self.end_member();
                    self.place = Place::After;
                }
            }
            b'{' | b'[' => {
                self.keep(byte);
                self.depth += 1;
            }
            b'"' => {
                self.keep(byte);
                self.quoted = Quoted::Yes;
            }
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        // One more than counts, so that a longer one is not taken for its beginning.
        if self.keeps() && self.token.len() <= TOKEN {
            self.token.push(byte);
        }
    }

    fn name(&mut self) {
        let name = json::string(&self.token);
        self.member = match name.as_deref() {
            Some("id") => Member::Id,
            _ => Member::Other,
        };
        self.has_method |= name.as_deref() == Some("method");
        self.has_response |= matches!(name.as_deref(), Some("result" | "error"));
        self.token.clear();
    }

    fn end_member(&mut self) {
        if self.member == Member::Id {
            let id = Some(&self.token).filter(|token| token.len() <= TOKEN);
            let id = id.and_then(|token| RequestId::from_json(token));
            self.ids = match (core::mem::take(&mut self.ids), id) {
                (Ids::None, Some(id)) => Ids::One(id),
                _ => Ids::Unclear,
            };
        }
        self.member = Member::Unnamed;
        self.token.clear();
    }
}

/// The elements of a text that begins as an array, told apart by quotes and brackets alone: their
/// ranges, `most` of them at most.
pub(crate) fn rough_elements(text: &[u8], most: usize) -> Vec<&[u8]> {
    let mut elements = Vec::new();
    let (mut depth, mut start, mut quoted, mut escaped) = (0u64, 0, false, false);
    for (at, &byte) in text.iter().enumerate() {
        if elements.len() == most {
            break;
        }
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => {
                depth += 1;
                start = if depth == 1 { at + 1 } else { start };
            }
            b'}' | b']' | b',' => {
                if depth == 1 {
                    elements.extend(text.get(start..at));
                    start = at + 1;
                }
                if byte != b',' {
                    depth = depth.saturating_sub(1);
                }
            }
            _ => {}
        }
    }
    elements
}

#[cfg(test)]
mod tests;
