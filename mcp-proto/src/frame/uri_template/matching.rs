//! A URI to values, without backtracking.
//!
//! A template compiles to a short program, a nondeterministic automaton whose steps go forward
//! only. [`Program::run`] first finds, from the end of the URI back, from which (position, step)
//! pairs the end can be reached, one bit each; then walks forward once, at each choice taking the
//! preferred way that still reaches the end.

use super::parse::percent_encoded;
use super::{Modifier, Operator, Part, TemplateError, TemplateErrorKind, Variable, variables};

/// The longest URI that is matched, in bytes; a longer one matches nothing.
pub const MAX_URI: usize = 16 * 1024;

#[derive(Debug, Clone)]
pub(super) struct Program(Vec<Step>);

#[derive(Debug, Clone)]
enum Step {
    Literal(String),
    /// A value begins.
    Open,
    /// One character of a value.
    One(Class),
    /// Any number of them, preferably all.
    Many(Class),
    /// The value of this variable, by number, ends.
    Close(usize),
    /// The next step, or else that one.
    Fork(usize),
    Jump(usize),
    End,
}

/// The characters of a value.
#[derive(Debug, Clone, Copy)]
struct Class {
    operator: &'static Operator,
    /// An encoded slash is a character like any other.
    encoded_slash: bool,
    /// A comma ends the value as well.
    listed: bool,
    /// So does this: it opens the parameters that follow at once, if there are any.
    until: Option<u8>,
}

impl Program {
    /// `slashes` are the variables whose values may have encoded slashes.
    pub(super) fn compile(parts: &[Part], slashes: &[String]) -> Result<Self, TemplateError> {
        if let Some(other) = variables(parts).find(|other| other.modifier != Modifier::None) {
            return Err(TemplateError { kind: TemplateErrorKind::Unmatchable, at: other.at });
        }
        let mut steps = Steps(Vec::new());
        let mut number = 0;
        for (index, part) in parts.iter().enumerate() {
            let until = match parts.get(index + 1) {
                Some(Part::Expression { operator, .. }) if operator.named => {
                    operator.first.bytes().next()
                }
                _ => None,
            };
            match part {
                Part::Literal(text) => steps.add(Step::Literal(text.clone())),
                Part::Expression { operator, variables } => {
                    let listed = operator.separator == "," && variables.len() > 1;
                    let encoded_slash = operator.encoded_slash;
                    let class = Class { operator, encoded_slash, listed, until };
                    let class = |variable: &Variable| {
                        let encoded_slash = encoded_slash || slashes.contains(&variable.name);
                        Class { encoded_slash, ..class }
                    };
                    match operator.named {
                        true => steps.named(operator, class, variables, number),
                        false => steps.listed(operator, class, variables, number),
                    }
                    number += variables.len();
                }
            }
        }
        steps.add(Step::End);
        Ok(Self(steps.0))
    }

    pub(super) fn run<'p>(&self, parts: &'p [Part], uri: &str) -> Option<Vec<(&'p str, String)>> {
        if let Some(Step::Literal(text)) = self.0.first()
            && !uri.starts_with(text)
        {
            return None;
        }
        if uri.len() > MAX_URI || climbs(percent_encoding::percent_decode_str(uri)) {
            return None;
        }
        let names: Vec<_> = variables(parts).map(|variable| variable.name.as_str()).collect();
        let mut found: Vec<(&str, String)> = Vec::new();
        for (number, text) in self.walk(uri)? {
            let name = *names.get(number)?;
            let value = percent_encoding::percent_decode_str(text).decode_utf8().ok()?;
            if climbs(value.bytes()) {
                return None;
            }
            match found.iter().find(|(earlier, _)| *earlier == name) {
                Some((_, earlier)) if *earlier != value => return None,
                Some(_) => {}
                None => found.push((name, value.into_owned())),
            }
        }
        Some(found)
    }

    /// The raw values, by the number of their variable.
    fn walk<'u>(&self, uri: &'u str) -> Option<Vec<(usize, &'u str)>> {
        let reach = self.reach(uri.as_bytes());
        if !reach.has(0, 0) {
            return None;
        }
        let (mut at, mut step, mut opened) = (0, 0, 0);
        let mut values = Vec::new();
        loop {
            match self.0.get(step)? {
                Step::End => return Some(values),
                Step::Literal(text) => at += text.len(),
                Step::Open => opened = at,
                Step::Close(number) => values.push((*number, uri.get(opened..at)?)),
                Step::One(class) => at += class.unit(uri.as_bytes(), at)?,
                Step::Many(class) => match class.unit(uri.as_bytes(), at) {
                    Some(unit) if reach.has(at + unit, step) => {
                        at += unit;
                        continue;
                    }
                    _ => {}
                },
                Step::Fork(other) if !reach.has(at, step + 1) => {
                    step = *other;
                    continue;
                }
                Step::Fork(_) => {}
                Step::Jump(target) => {
                    step = *target;
                    continue;
                }
            }
            step += 1;
        }
    }

    /// From where the end can be reached.
    fn reach(&self, uri: &[u8]) -> Reach {
        let mut reach = Reach::new(uri.len() + 1, self.0.len());
        for at in (0..=uri.len()).rev() {
            let rest = uri.get(at..).unwrap_or_default();
            for (step, what) in self.0.iter().enumerate().rev() {
                let reached = match what {
                    Step::End => rest.is_empty(),
                    Step::Literal(text) => {
                        rest.starts_with(text.as_bytes()) && reach.has(at + text.len(), step + 1)
                    }
                    Step::Open | Step::Close(_) => reach.has(at, step + 1),
                    Step::One(class) => {
                        class.unit(uri, at).is_some_and(|unit| reach.has(at + unit, step + 1))
                    }
                    Step::Many(class) => {
                        reach.has(at, step + 1)
                            || class.unit(uri, at).is_some_and(|unit| reach.has(at + unit, step))
                    }
                    Step::Fork(other) => reach.has(at, step + 1) || reach.has(at, *other),
                    Step::Jump(target) => reach.has(at, *target),
                };
                if reached {
                    reach.set(at, step);
                }
            }
        }
        reach
    }
}

/// Whether a decoded text has a segment `..`, by the separators of URIs and of file systems.
fn climbs(decoded: impl Iterator<Item = u8>) -> bool {
    let mut dots = Some(0);
    let mut climbs = false;
    for byte in decoded.chain([b'/']) {
        dots = match (byte, dots) {
            (b'/' | b'\\' | b'?' | b'#', dots) => {
                climbs |= dots == Some(2);
                Some(0)
            }
            (b'.', Some(dots)) => Some(dots + 1),
            _ => None,
        };
    }
    climbs
}

impl Class {
    /// The length of the character of a value that stands there: one, or an encoded byte.
    fn unit(self, uri: &[u8], at: usize) -> Option<usize> {
        let rest = uri.get(at..)?;
        match *rest.first()? {
            b'%' => match percent_encoded(rest)? {
                b'/' if !self.encoded_slash => None,
                _ => Some(3),
            },
            b',' if self.listed => None,
            byte if self.until == Some(byte) => None,
            byte if byte.is_ascii_control() || self.operator.stops.contains(&byte) => None,
            ..0x80 => Some(1),
            0x80..0xC0 => None,
            0xC0..0xE0 => Some(2),
            0xE0..0xF0 => Some(3),
            0xF0.. => Some(4),
        }
    }
}

/// Steps on their way into a program.
struct Steps(Vec<Step>);

impl Steps {
    fn add(&mut self, step: Step) {
        self.0.push(step);
    }

    /// Leaves room for a step whose target is not known yet.
    fn reserve(&mut self) -> usize {
        self.add(Step::End);
        self.0.len() - 1
    }

    fn fill(&mut self, reserved: usize, step: Step) {
        if let Some(place) = self.0.get_mut(reserved) {
            *place = step;
        }
    }

    fn next(&self) -> usize {
        self.0.len()
    }

    /// Values without names: all must be there, with something in them.
    fn listed(
        &mut self,
        operator: &Operator,
        class: impl Fn(&Variable) -> Class,
        variables: &[Variable],
        first: usize,
    ) {
        let Operator { first: opening, separator, .. } = operator;
        for (index, variable) in variables.iter().enumerate() {
            let class = class(variable);
            let before = if index == 0 { opening } else { separator };
            if !before.is_empty() {
                self.add(Step::Literal((*before).to_owned()));
            }
            self.add(Step::Open);
            self.add(Step::One(class));
            self.add(Step::Many(class));
            self.add(Step::Close(first + index));
        }
    }

    /// Values with names: each may be missing. Which separator comes next depends on whether one
    /// was there, so there are two rows of steps, and finding one leads to the second row.
    fn named(
        &mut self,
        operator: &Operator,
        class: impl Fn(&Variable) -> Class,
        variables: &[Variable],
        first: usize,
    ) {
        let mut into_second = Vec::new();
        for (index, variable) in variables.iter().enumerate() {
            let skip = self.reserve();
            self.pair(class(variable), operator.first, variable, first + index);
            into_second.push(self.reserve());
            self.fill(skip, Step::Fork(self.next()));
        }
        let done = self.reserve();
        for (index, variable) in variables.iter().enumerate().skip(1) {
            let skip = self.reserve();
            if let Some(jump) = into_second.get(index - 1) {
                self.fill(*jump, Step::Jump(skip));
            }
            self.pair(class(variable), operator.separator, variable, first + index);
            self.fill(skip, Step::Fork(self.next()));
        }
        if let Some(last) = into_second.last() {
            self.fill(*last, Step::Jump(self.next()));
        }
        self.fill(done, Step::Jump(self.next()));
    }

    /// `name=value`, or a name alone where the operator has that for an empty value.
    fn pair(&mut self, class: Class, before: &str, variable: &Variable, number: usize) {
        self.add(Step::Literal(format!("{before}{}", variable.name)));
        let empty = class.operator.if_empty.is_empty().then(|| self.reserve());
        self.add(Step::Literal("=".to_owned()));
        self.add(Step::Open);
        self.add(Step::Many(class));
        self.add(Step::Close(number));
        if let Some(empty) = empty {
            let done = self.reserve();
            self.fill(empty, Step::Fork(self.next()));
            self.add(Step::Open);
            self.add(Step::Close(number));
            self.fill(done, Step::Jump(self.next()));
        }
    }
}

/// One bit for each position and step.
struct Reach {
    words: Vec<u64>,
    /// Words a position.
    width: usize,
}

impl Reach {
    fn new(positions: usize, steps: usize) -> Self {
        let width = steps.div_ceil(64);
        Self { words: vec![0; positions * width], width }
    }

    fn has(&self, at: usize, step: usize) -> bool {
        let word = self.words.get(at * self.width + step / 64).copied().unwrap_or_default();
        word >> (step % 64) & 1 == 1
    }

    fn set(&mut self, at: usize, step: usize) {
        if let Some(word) = self.words.get_mut(at * self.width + step / 64) {
            *word |= 1 << (step % 64);
        }
    }
}
