//! Names of what a machine has under way.

use core::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $letter:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub(super) u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($letter, "{}"), self.0)
            }
        }
    };
}

id! {
    /// Names one call of one machine. Ids are never reused within a machine.
    CallId, "c"
}

id! {
    /// Names one question to the application. Ids are never reused within a machine.
    AskId, "q"
}

id! {
    /// Names one subscription to changes. Ids are never reused within a machine.
    ListenId, "l"
}
