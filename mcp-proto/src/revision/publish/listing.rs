//! One list of declarations, rendered and cut into pages.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use smallvec::SmallVec;

use super::append_base64;
use crate::model::{Catalog, Failure, FailureKind, Operation};

/// A cursor out of its Base64 form; most keys are short.
type Plain = SmallVec<[u8; 256]>;

/// What is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Tools,
    Resources,
    Templates,
    Prompts,
}

impl Kind {
    /// What an operation lists.
    pub(super) fn of(operation: Operation) -> Option<Self> {
        match operation {
            Operation::ListTools => Some(Self::Tools),
            Operation::ListResources => Some(Self::Resources),
            Operation::ListResourceTemplates => Some(Self::Templates),
            Operation::ListPrompts => Some(Self::Prompts),
            _ => None,
        }
    }

    /// The result's member that holds the list (R24-PAGE-07).
    pub(super) const fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }

    /// Appends the cursor that goes on after the entry of that key: `kind:key` in Base64.
    pub(super) fn write_cursor(self, key: &str, out: &mut Vec<u8>) {
        let mut cursor = Plain::from_slice(self.member().as_bytes());
        cursor.push(b':');
        cursor.extend_from_slice(key.as_bytes());
        append_base64(&URL_SAFE_NO_PAD, &cursor, out);
    }

    /// The position after the key in a cursor that [`write_cursor`](Self::write_cursor) wrote for
    /// this list, as `find` tells it; `None` for any other cursor.
    fn read_cursor(self, cursor: &str, find: impl FnOnce(&str) -> usize) -> Option<usize> {
        let mut plain = Plain::from_elem(0, base64::decoded_len_estimate(cursor.len()));
        let len = URL_SAFE_NO_PAD.decode_slice(cursor, &mut plain).ok()?;
        let plain = core::str::from_utf8(plain.get(..len)?).ok()?;
        Some(find(plain.strip_prefix(self.member())?.strip_prefix(':')?))
    }

    /// What entries are sorted and found by.
    fn key(self, catalog: &Catalog, index: usize) -> Option<&str> {
        Some(match self {
            Self::Tools => &catalog.tools().get(index)?.name,
            Self::Resources => &catalog.resources().get(index)?.uri,
            Self::Templates => catalog.templates().get(index)?.uri_template.as_str(),
            Self::Prompts => &catalog.prompts().get(index)?.name,
        })
    }
}

/// The entries of a list, rendered one after the other with commas between them.
#[derive(Debug)]
pub(super) struct Listing {
    text: Vec<u8>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Its position in the catalog.
    index: usize,
    /// Where its text ends.
    end: usize,
}

/// One page of a list.
#[derive(Debug)]
pub(super) struct Page<'a> {
    pub(super) entries: &'a [u8],
    /// The key of the last entry, where there are more.
    pub(super) more_after: Option<&'a str>,
}

impl Listing {
    pub(super) fn new<'a, T: 'a>(
        entries: impl Iterator<Item = (usize, &'a T)>,
        write: impl Fn(&T, &mut Vec<u8>),
    ) -> Self {
        let mut text = Vec::new();
        let render = |(index, entry)| {
            if !text.is_empty() {
                text.push(b',');
            }
            write(entry, &mut text);
            Entry { index, end: text.len() }
        };
        let entries = entries.map(render).collect();
        Self { text, entries }
    }

    /// All entries, as they are on one page.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The page at a cursor; a `size` of 0 puts everything on one.
    ///
    /// # Errors
    /// Where the cursor is none of this list (R24-PAGE-05).
    pub(super) fn page<'a>(
        &'a self,
        catalog: &'a Catalog,
        kind: Kind,
        cursor: Option<&str>,
        size: usize,
    ) -> Result<Page<'a>, Failure> {
        let key = |entry: &Entry| kind.key(catalog, entry.index).unwrap_or_default();
        let first = match cursor {
            None => 0,
            Some(cursor) => {
                let after = |last: &str| self.entries.partition_point(|entry| key(entry) <= last);
                kind.read_cursor(cursor, after).ok_or_else(|| {
                    Failure::new(FailureKind::InvalidParams, "the cursor is none of this list")
                })?
            }
        };
        let all = self.entries.len();
        let end = if size == 0 { all } else { first.saturating_add(size).min(all) };
        let last = self.entries.get(..end).and_then(<[Entry]>::last);
        let start = self.entries.get(..first).and_then(<[Entry]>::last);
        let start = start.map_or(0, |before| before.end + 1);
        let stop = last.map_or(0, |last| last.end);
        Ok(Page {
            entries: self.text.get(start..stop).unwrap_or_default(),
            more_after: last.filter(|_| end < all).map(key),
        })
    }
}
