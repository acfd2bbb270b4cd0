//! The five revisions by name.

use core::fmt;
use core::str::FromStr;

use super::{Adapter, v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25, v2026_07_28};

/// A published revision of the protocol. It has no order: what a revision can do is asked of its
/// [`Adapter`].
///
/// ```
/// use mcp_proto::revision::Revision;
///
/// assert_eq!("2025-06-18".parse(), Ok(Revision::V2025_06_18));
/// assert!(Revision::V2025_06_18.adapter().can_push_ask());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(non_camel_case_types, reason = "the names are dates")]
pub enum Revision {
    /// 2024-11-05.
    V2024_11_05,
    /// 2025-03-26.
    V2025_03_26,
    /// 2025-06-18.
    V2025_06_18,
    /// 2025-11-25.
    V2025_11_25,
    /// 2026-07-28.
    V2026_07_28,
}

impl Revision {
    /// Every revision, in the order of their publication.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// What the revision is like.
    pub const fn adapter(self) -> &'static Adapter {
        match self {
            Self::V2024_11_05 => &v2024_11_05::ADAPTER,
            Self::V2025_03_26 => &v2025_03_26::ADAPTER,
            Self::V2025_06_18 => &v2025_06_18::ADAPTER,
            Self::V2025_11_25 => &v2025_11_25::ADAPTER,
            Self::V2026_07_28 => &v2026_07_28::ADAPTER,
        }
    }

    /// The version as the protocol spells it.
    pub const fn as_str(self) -> &'static str {
        self.adapter().version
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text names no published revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseRevisionError;

impl fmt::Display for ParseRevisionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no published revision; they are named by date, like `")?;
        f.write_str(Revision::V2025_11_25.as_str())?;
        f.write_str("`")
    }
}

impl core::error::Error for ParseRevisionError {}

impl FromStr for Revision {
    type Err = ParseRevisionError;

    fn from_str(version: &str) -> Result<Self, Self::Err> {
        let named = |revision: &Self| revision.as_str() == version;
        Self::ALL.into_iter().find(named).ok_or(ParseRevisionError)
    }
}
