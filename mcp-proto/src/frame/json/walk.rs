//! The cursor that walks JSON text. No recursion: open containers are kept in a list as long as
//! the nesting limit.

use smallvec::SmallVec;

use super::{Member, Members, ScanError, ScanErrorKind, Span, number, text};

/// Where it fails, the cursor stands at the fault.
pub(super) type Walked<T = ()> = Result<T, ScanErrorKind>;

#[derive(Debug)]
pub(super) struct Walker<'a> {
    src: &'a [u8],
    pos: usize,
    depth: usize,
    open: SmallVec<[Container; 128]>,
    /// The first repeated name at a level whose members were collected.
    duplicate: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Container {
    Object,
    Array,
}

impl<'a> Walker<'a> {
    pub(super) fn new(src: &'a [u8], depth: usize) -> Self {
        Walker { src, pos: 0, depth, open: SmallVec::new(), duplicate: None }
    }

    /// Goes to the value. Comes first.
    pub(super) fn begin(&mut self) -> Walked {
        if u32::try_from(self.src.len()).is_err() {
            return Err(ScanErrorKind::TooLong);
        }
        self.space();
        Ok(())
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.src.get(self.pos..).unwrap_or_default()
    }

    /// The byte at the cursor.
    pub(super) fn at(&self) -> Option<u8> {
        self.src.get(self.pos).copied()
    }

    pub(super) fn fault(&self, kind: ScanErrorKind) -> ScanError {
        ScanError { kind, at: self.pos }
    }

    pub(super) fn src(&self) -> &'a [u8] {
        self.src
    }

    pub(super) fn named(&self, member: &Member, name: &str) -> bool {
        member.is_named(self.src, name)
    }

    pub(super) fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.at() {
            self.pos += 1;
        }
    }

    /// The end of the text: nothing may follow, and no name may have been repeated.
    pub(super) fn finish(&mut self) -> Walked {
        self.finish_any()?;
        match self.duplicate {
            Some(at) => {
                self.pos = at;
                Err(ScanErrorKind::Duplicate)
            }
            None => Ok(()),
        }
    }

    /// The end of the text: nothing may follow.
    pub(super) fn finish_any(&mut self) -> Walked {
        self.space();
        match self.at() {
            Some(_) => Err(ScanErrorKind::Trailing),
            None => Ok(()),
        }
    }

    /// Walks the object at the cursor and collects its members. `value` walks each value; the
    /// member that it is shown has a name only.
    pub(super) fn object(
        &mut self,
        members: &mut Members,
        mut value: impl FnMut(&mut Self, &Member) -> Walked,
    ) -> Walked {
        self.expect(b'{')?;
        self.enter(Container::Object)?;
        self.space();
        if !self.eat(b'}') {
            loop {
                let mut member = self.name()?;
                let start = self.pos;
                value(self, &member)?;
                member.value = self.span(start);
                members.push(member);
                self.space();
                if self.eat(b'}') {
                    break;
                }
                self.expect(b',')?;
                self.space();
            }
        }
        self.open.pop();
        if self.duplicate.is_none() {
            self.duplicate = members.duplicate(self.src);
        }
        Ok(())
    }

    /// Walks any value and tells where it is.
    pub(super) fn value_span(&mut self) -> Walked<Span> {
        let start = self.pos;
        self.value()?;
        Ok(self.span(start))
    }

    /// Walks any value.
    pub(super) fn value(&mut self) -> Walked {
        let outside = self.open.len();
        loop {
            match self.at() {
                Some(b'"') => self.string().map(drop)?,
                Some(b'{') => {
                    self.pos += 1;
                    self.enter(Container::Object)?;
                    self.space();
                    if self.at() != Some(b'}') {
                        self.name()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.pos += 1;
                    self.enter(Container::Array)?;
                    self.space();
                    if self.at() != Some(b']') {
                        continue;
                    }
                }
                _ => self.scalar()?,
            }
            if !self.next_value(outside)? {
                return Ok(());
            }
        }
    }

    /// Walks the array at the cursor; `value` walks each element.
    pub(super) fn array(&mut self, mut value: impl FnMut(&mut Self) -> Walked) -> Walked {
        self.expect(b'[')?;
        self.enter(Container::Array)?;
        self.space();
        if !self.eat(b']') {
            loop {
                value(self)?;
                self.space();
                if self.eat(b']') {
                    break;
                }
                self.expect(b',')?;
                self.space();
            }
        }
        self.open.pop();
        Ok(())
    }

    /// The next element of the array that the cursor is in, or at. `None` at its end, and where
    /// the text is not an array's.
    pub(super) fn element(&mut self) -> Option<Span> {
        let separator = if self.open.is_empty() { b'[' } else { b',' };
        self.expect(separator).ok()?;
        if self.open.is_empty() {
            self.open.push(Container::Array);
        }
        self.space();
        let element = self.value_span().ok()?;
        self.space();
        Some(element)
    }

    /// After a value: closes what ends here and goes to the next value. False once the containers
    /// opened beyond `outside` are closed.
    fn next_value(&mut self, outside: usize) -> Walked<bool> {
        while self.open.len() > outside {
            self.space();
            let (close, object) = match self.open.last() {
                Some(Container::Object) => (b'}', true),
                _ => (b']', false),
            };
            if self.eat(close) {
                self.open.pop();
                continue;
            }
            self.expect(b',')?;
            self.space();
            if object {
                self.name()?;
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// A member's name and its colon, up to its value.
    fn name(&mut self) -> Walked<Member> {
        let (name, escaped) = self.string()?;
        self.space();
        self.expect(b':')?;
        self.space();
        Ok(Member { name, escaped, value: Span::default() })
    }

    /// A string: what is between its quotes, and whether that contains an escape.
    #[inline]
    fn string(&mut self) -> Walked<(Span, bool)> {
        self.expect(b'"')?;
        let start = self.pos;
        let run = text::plain_run(self.rest());
        self.pos += run.len;
        if run.ascii && self.at() == Some(b'"') {
            let inside = self.span(start);
            self.pos += 1;
            return Ok((inside, false));
        }
        self.string_from(start)
    }

    /// A string with more than ASCII in it, from its first byte.
    fn string_from(&mut self, start: usize) -> Walked<(Span, bool)> {
        self.pos = start;
        let (mut ascii, mut escaped) = (true, false);
        loop {
            let run = text::plain_run(self.rest());
            self.pos += run.len;
            ascii &= run.ascii;
            match self.at() {
                Some(b'"') => break,
                Some(b'\\') => {
                    let (len, _) = text::escape(self.rest())?;
                    self.pos += len;
                    escaped = true;
                }
                _ => return Err(ScanErrorKind::Syntax),
            }
        }
        let inside = self.span(start);
        if !ascii && let Err(e) = std::str::from_utf8(inside.of(self.src)) {
            self.pos = start + e.valid_up_to();
            return Err(ScanErrorKind::Utf8);
        }
        self.pos += 1;
        Ok((inside, escaped))
    }

    fn scalar(&mut self) -> Walked {
        self.pos += match self.at() {
            Some(b'-' | b'0'..=b'9') => number::number(self.rest()),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            Some(b'n') => self.word(b"null"),
            _ => Err(ScanErrorKind::Syntax),
        }?;
        Ok(())
    }

    fn word(&self, word: &[u8]) -> Walked<usize> {
        if self.rest().starts_with(word) { Ok(word.len()) } else { Err(ScanErrorKind::Syntax) }
    }

    fn enter(&mut self, container: Container) -> Walked {
        if self.open.len() >= self.depth {
            return Err(ScanErrorKind::Depth);
        }
        self.open.push(container);
        Ok(())
    }

    fn eat(&mut self, byte: u8) -> bool {
        let there = self.at() == Some(byte);
        self.pos += usize::from(there);
        there
    }

    fn expect(&mut self, byte: u8) -> Walked {
        if self.eat(byte) { Ok(()) } else { Err(ScanErrorKind::Syntax) }
    }

    /// From a position up to the cursor.
    fn span(&self, start: usize) -> Span {
        // `new` made sure that positions fit.
        Span { start: start as u32, end: self.pos as u32 }
    }
}
