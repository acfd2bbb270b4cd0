//! Numbers: their grammar, their range, and the exact value of those that are integers.

use super::ScanErrorKind;

/// The largest integer that every JSON implementation holds exactly, 2^53 - 1.
const MAX_SAFE: i64 = (1 << 53) - 1;

/// The exact value of a JSON number that is an integer of at most 2^53 - 1 either way, however it
/// is written: `42`, `42.0` and `4.2e1` are one value (R26-HDR-26). `None` for everything else.
pub fn integer(value: &[u8]) -> Option<i64> {
    let parts = Parts::of(value.trim_ascii())?;
    let digits = || parts.whole.iter().chain(parts.fraction);
    let Some(first) = digits().position(|digit| *digit != b'0') else {
        return Some(0);
    };
    let count = parts.whole.len() + parts.fraction.len();
    let zeros = digits().rev().take_while(|digit| **digit == b'0').count();
    // The value is `significant` followed by `power` zeros.
    let significant = digits().take(count - zeros).skip(first);
    let power =
        parts.exponent.saturating_sub(parts.fraction.len() as i64).saturating_add(zeros as i64);
    let power = usize::try_from(power).ok()?;
    let magnitude =
        significant.chain(std::iter::repeat_n(&b'0', power)).try_fold(0i64, |value, digit| {
            let value = value.checked_mul(10)?.checked_add(i64::from(digit - b'0'))?;
            (value <= MAX_SAFE).then_some(value)
        })?;
    Some(if parts.negative { -magnitude } else { magnitude })
}

/// Whether a JSON number is an integer: written with digits alone, of any length, or one that
/// [`integer`] can read.
pub fn is_integer(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    match Parts::of(value) {
        Some(parts) if parts.len == parts.whole.len() + usize::from(parts.negative) => true,
        Some(_) => integer(value).is_some(),
        None => false,
    }
}

/// A validated value with its integers written in digits alone: `2` for `2.0` and `1e2`, `0` for
/// `-0`. `None` where they are already.
pub(crate) fn with_plain_integers(value: &[u8]) -> Option<Vec<u8>> {
    let mut plain: Option<Vec<u8>> = None;
    // What of the value was taken over.
    let (mut taken, mut at) = (0, 0);
    while let Some(byte) = value.get(at) {
        let rest = value.get(at..).unwrap_or_default();
        match byte {
            b'"' => at += string_len(rest),
            b'-' | b'0'..=b'9' => {
                let len = Parts::parse(rest).map_or(1, |parts| parts.len);
                let number = rest.get(..len).unwrap_or_default();
                let is_plain = number.iter().skip(1).all(u8::is_ascii_digit) && number != b"-0";
                if let Some(integer) = integer(number).filter(|_| !is_plain) {
                    let plain = plain.get_or_insert_with(|| Vec::with_capacity(value.len()));
                    plain.extend_from_slice(value.get(taken..at).unwrap_or_default());
                    plain.extend_from_slice(integer.to_string().as_bytes());
                    taken = at + len;
                }
                at += len;
            }
            _ => at += 1,
        }
    }
    let mut plain = plain?;
    plain.extend_from_slice(value.get(taken..).unwrap_or_default());
    Some(plain)
}

/// The length of the string that a validated text begins with, its quotes included.
fn string_len(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', text.get(at..).unwrap_or_default()) {
        at += found;
        match text.get(at) {
            Some(b'\\') => at += 2,
            _ => return at + 1,
        }
    }
    text.len()
}

/// The length of the number that `bytes` begin with.
pub(super) fn number(bytes: &[u8]) -> Result<usize, ScanErrorKind> {
    let parts = Parts::parse(bytes).ok_or(ScanErrorKind::Syntax)?;
    let text = bytes.get(..parts.len).unwrap_or_default();
    if parts.in_range(text) { Ok(parts.len) } else { Err(ScanErrorKind::Number) }
}

/// A number taken apart.
struct Parts<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    /// Saturating: no message is long enough to make up for such an exponent.
    exponent: i64,
    /// Bytes in all.
    len: usize,
}

impl<'a> Parts<'a> {
    /// All of `value`, by the grammar of RFC 8259.
    fn of(value: &'a [u8]) -> Option<Self> {
        Parts::parse(value).filter(|parts| parts.len == value.len())
    }

    /// The number that `bytes` begin with.
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (negative, rest) = match bytes.strip_prefix(b"-") {
            Some(rest) => (true, rest),
            None => (false, bytes),
        };
        let (whole, mut rest) = digits(rest)?;
        if whole.len() > 1 && whole.first() == Some(&b'0') {
            return None;
        }
        let mut fraction: &[u8] = b"";
        if let Some(after) = rest.strip_prefix(b".") {
            (fraction, rest) = digits(after)?;
        }
        let mut exponent = 0;
        if let Some((b'e' | b'E', after)) = rest.split_first() {
            let (down, after) = match after.split_first() {
                Some((b'-', after)) => (true, after),
                Some((b'+', after)) => (false, after),
                _ => (false, after),
            };
            let digits;
            (digits, rest) = self::digits(after)?;
            exponent = digits.iter().fold(0i64, |value, digit| {
                value.saturating_mul(10).saturating_add(i64::from(digit - b'0'))
            });
            exponent = if down { -exponent } else { exponent };
        }
        Some(Parts { negative, whole, fraction, exponent, len: bytes.len() - rest.len() })
    }

    /// Whether an `f64` holds the value (rounded, or as zero), as `serde_json` requires.
    fn in_range(&self, text: &[u8]) -> bool {
        let whole = self.whole.len() as i64;
        let highest = if self.whole != b"0" {
            whole - 1
        } else {
            match self.fraction.iter().position(|digit| *digit != b'0') {
                Some(zeros) => -1 - zeros as i64,
                None => return true,
            }
        };
        // The value is d.ddd times ten to this power; the largest f64 is 1.8e308.
        match highest.saturating_add(self.exponent) {
            ..308 => true,
            308 => serde_json::from_slice::<f64>(text).is_ok(),
            _ => false,
        }
    }
}

/// At least one digit, and what follows.
fn digits(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let count = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    bytes.split_at_checked(count).filter(|_| count > 0)
}
