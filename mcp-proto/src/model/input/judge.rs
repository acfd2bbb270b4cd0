//! Whether a value fits a field.

use core::fmt;
use std::collections::BTreeSet;

use super::{Choice, FieldKind, format};
use crate::frame::json::{self, Kind};
use crate::model::view::{boolean, elements, number};

/// Why a field's value is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Misfit {
    /// It is required and not there.
    Missing,
    /// It has another type.
    Type,
    /// Too few characters.
    TooShort,
    /// Too many characters.
    TooLong,
    /// Below the least.
    TooSmall,
    /// Above the greatest.
    TooLarge,
    /// It is none of the options.
    NoOption,
    /// Too few options.
    TooFew,
    /// Too many options.
    TooMany,
    /// An option is chosen twice.
    Repeated,
    /// It is not of the format.
    Format,
    /// It was not asked for, and only what was asked for may be there.
    Unasked,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "is missing",
            Self::Type => "has the wrong type",
            Self::TooShort => "is too short",
            Self::TooLong => "is too long",
            Self::TooSmall => "is too small",
            Self::TooLarge => "is too large",
            Self::NoOption => "is none of the options",
            Self::TooFew => "has too few options",
            Self::TooMany => "has too many options",
            Self::Repeated => "has an option twice",
            Self::Format => "is not of the format asked for",
            Self::Unasked => "was not asked for",
        })
    }
}

/// Judges a validated value.
pub(super) fn judge(kind: &FieldKind, value: &[u8]) -> Result<(), Misfit> {
    match kind {
        FieldKind::Text { min_length, max_length, format } => {
            let text = json::string(value).ok_or(Misfit::Type)?;
            let bounds = (Misfit::TooShort, Misfit::TooLong);
            within(text.chars().count(), *min_length, *max_length, bounds)?;
            match format {
                Some(format) if !format::fits(*format, &text) => Err(Misfit::Format),
                _ => Ok(()),
            }
        }
        FieldKind::Number { integer, minimum, maximum } => {
            let given = number(value).ok_or(Misfit::Type)?;
            if *integer && !json::is_integer(value) {
                return Err(Misfit::Type);
            }
            match (minimum, maximum) {
                (Some(least), _) if given < *least => Err(Misfit::TooSmall),
                (_, Some(greatest)) if given > *greatest => Err(Misfit::TooLarge),
                _ => Ok(()),
            }
        }
        FieldKind::Boolean => boolean(value).map(|_| ()).ok_or(Misfit::Type),
        FieldKind::Choice { options } => one_of(options, value),
        FieldKind::Choices { options, min_items, max_items, unique } => {
            if json::kind(value) != Kind::Array {
                return Err(Misfit::Type);
            }
            let mut count = 0;
            let mut seen = BTreeSet::new();
            for element in elements(value) {
                one_of(options, element)?;
                if *unique && !seen.insert(json::string(element)) {
                    return Err(Misfit::Repeated);
                }
                count += 1;
            }
            within(count, *min_items, *max_items, (Misfit::TooFew, Misfit::TooMany))
        }
    }
}

fn one_of(options: &[Choice], value: &[u8]) -> Result<(), Misfit> {
    let text = json::string(value).ok_or(Misfit::Type)?;
    let known = options.iter().any(|option| option.value == text);
    if known { Ok(()) } else { Err(Misfit::NoOption) }
}

fn within(
    count: usize,
    least: Option<u64>,
    most: Option<u64>,
    (below, above): (Misfit, Misfit),
) -> Result<(), Misfit> {
    let count = count as u64;
    if least.is_some_and(|least| count < least) {
        Err(below)
    } else if most.is_some_and(|most| count > most) {
        Err(above)
    } else {
        Ok(())
    }
}
