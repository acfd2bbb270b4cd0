//! One text for one value, to be digested or compared.

use std::borrow::Cow;

use super::walk::{Walked, Walker};
use super::{ScanError, ScanLimits, Span, integer, string, write_string};

/// Appends a value in a form that does not depend on how it was written: no white space, members
/// sorted by name, strings with the escapes only that must be, integers up to 2^53 - 1 in plain
/// digits. Other numbers keep their text, and members of one name their order.
///
/// # Errors
/// [`ScanError`] for what is no JSON value or is nested deeper than the limit; repeated names are
/// none. Nothing is appended then.
pub fn canonical(value: &[u8], limits: &ScanLimits, out: &mut Vec<u8>) -> Result<(), ScanError> {
    let mut walker = Walker::new(value, limits.depth.min(MAX_DEPTH));
    let tree = Tree::of(&mut walker).map_err(|kind| walker.fault(kind))?;
    tree.write(value, out);
    Ok(())
}

/// The tree is built and written by recursion, which this bounds.
const MAX_DEPTH: usize = 256;

enum Tree<'a> {
    Scalar(Span),
    Array(Vec<Tree<'a>>),
    Object(Vec<(Cow<'a, str>, Tree<'a>)>),
}

impl<'a> Tree<'a> {
    fn of(walker: &mut Walker<'a>) -> Walked<Self> {
        walker.begin()?;
        let tree = Tree::at(walker)?;
        walker.finish_any()?;
        Ok(tree)
    }

    fn at(walker: &mut Walker<'a>) -> Walked<Self> {
        match walker.at() {
            Some(b'[') => {
                let mut elements = Vec::new();
                walker.array(|walker| {
                    elements.push(Tree::at(walker)?);
                    Ok(())
                })?;
                Ok(Tree::Array(elements))
            }
            Some(b'{') => {
                let mut members = Vec::new();
                walker.object(&mut Default::default(), |walker, member| {
                    let name = member.decoded_name(walker.src());
                    members.push((name, Tree::at(walker)?));
                    Ok(())
                })?;
                members.sort_by(|(a, _), (b, _)| a.cmp(b));
                Ok(Tree::Object(members))
            }
            _ => walker.value_span().map(Tree::Scalar),
        }
    }

    fn write(&self, src: &[u8], out: &mut Vec<u8>) {
        match self {
            Tree::Scalar(span) => scalar(span.of(src), out),
            Tree::Array(elements) => {
                list(out, b'[', b']', elements, |element, out| element.write(src, out));
            }
            Tree::Object(members) => list(out, b'{', b'}', members, |(name, value), out| {
                write_string(out, name);
                out.push(b':');
                value.write(src, out);
            }),
        }
    }
}

fn scalar(value: &[u8], out: &mut Vec<u8>) {
    if let Some(text) = string(value) {
        write_string(out, &text);
    } else if let Some(integer) = integer(value) {
        out.extend_from_slice(itoa::Buffer::new().format(integer).as_bytes());
    } else {
        out.extend_from_slice(value);
    }
}

fn list<T>(
    out: &mut Vec<u8>,
    open: u8,
    close: u8,
    items: &[T],
    mut write: impl FnMut(&T, &mut Vec<u8>),
) {
    out.push(open);
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(close);
}
