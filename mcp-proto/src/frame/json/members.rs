//! The members of one object.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::{Span, text};

/// One member of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The name, without its quotes.
    pub name: Span,
    /// Whether the name contains an escape.
    pub escaped: bool,
    /// The value, without white space around it.
    pub value: Span,
}

impl Member {
    /// Whether the name, unescaped, is exactly `name`.
    #[inline]
    pub fn is_named(&self, src: &[u8], name: &str) -> bool {
        let written = self.name.of(src);
        match self.escaped {
            false => written == name.as_bytes(),
            true => text::unescape(written).is_some_and(|decoded| decoded == name),
        }
    }

    /// The name, unescaped.
    pub fn decoded_name<'a>(&self, src: &'a [u8]) -> Cow<'a, str> {
        text::unescape(self.name.of(src)).unwrap_or_default()
    }
}

/// The members of one object, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members(SmallVec<[Member; 6]>);

impl Members {
    /// The value of the first member that, unescaped, is named exactly `name`. `src` is the text
    /// that was scanned.
    pub fn get(&self, src: &[u8], name: &str) -> Option<Span> {
        self.iter().find(|member| member.is_named(src, name)).map(|member| member.value)
    }

    /// As [`get`](Self::get), for several names in one walk.
    #[inline]
    pub fn find<const N: usize>(&self, src: &[u8], names: [&str; N]) -> [Option<Span>; N] {
        let mut found = [None; N];
        for member in self.iter() {
            for (name, found) in names.iter().zip(&mut found) {
                if found.is_none() && member.is_named(src, name) {
                    *found = Some(member.value);
                    break;
                }
            }
        }
        found
    }

    /// All members, in the order of the text.
    pub fn iter(&self) -> std::slice::Iter<'_, Member> {
        self.0.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    pub(super) fn push(&mut self, member: Member) {
        self.0.push(member);
    }

    /// Where a name begins that occurred before. Few members are compared in pairs, many sorted:
    /// a peer chooses how many there are.
    pub(super) fn duplicate(&self, src: &[u8]) -> Option<usize> {
        const PAIRWISE: usize = 12;
        if self.len() <= PAIRWISE && !self.iter().any(|member| member.escaped) {
            let repeats = |(i, member): (usize, &Member)| {
                let name = member.name.of(src);
                self.iter().take(i).any(|earlier| earlier.name.of(src) == name)
            };
            return self
                .iter()
                .enumerate()
                .find(|pair| repeats(*pair))
                .map(|(_, m)| m.name.start as usize);
        }
        let mut names: Vec<_> =
            self.iter().map(|member| (member.decoded_name(src), member.name.start)).collect();
        names.sort_unstable();
        let repeated = names.windows(2).filter_map(|pair| match pair {
            [(a, _), (b, at)] if a == b => Some(*at as usize),
            _ => None,
        });
        repeated.min()
    }
}
