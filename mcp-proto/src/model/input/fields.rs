//! What of a question a revision can say.

use core::fmt;

use super::{FormError, PairingError};

/// What the questions of a revision can hold. An adapter has one of these as data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputFields {
    /// `default` in form fields of every type; else in booleans only (R2511-ELIC-07).
    pub form_defaults: bool,
    /// Options with titles as `oneOf`; else as `enum` with `enumNames` (T-69).
    pub titled_options: bool,
    /// Form fields that take several options (R2511-ELIC-07). Without it they cannot be asked.
    pub multi_select: bool,
    /// `mode`, and with it questions by URL (R2511-ELIC-05).
    pub modes: bool,
    /// `elicitationId` in questions by URL (R2511-ELIC-17); it was removed again (R26-ELIC-05).
    pub elicitation_id: bool,
    /// Sound in sampling messages (R2503-CONT-01).
    pub sampling_audio: bool,
    /// Tools in sampling (R2511-SAMP-03).
    pub sampling_tools: bool,
    /// Several blocks in one sampling message (T-72); else each becomes a message.
    pub sampling_blocks: bool,
    /// Context of servers is asked of those clients only that declared it (R2511-SAMP-12).
    pub sampling_context_declared: bool,
}

impl InputFields {
    /// Nothing that a later revision added.
    pub const NONE: Self = Self {
        form_defaults: false,
        titled_options: false,
        multi_select: false,
        modes: false,
        elicitation_id: false,
        sampling_audio: false,
        sampling_tools: false,
        sampling_blocks: false,
        sampling_context_declared: false,
    };

    /// All that a question can hold: the form in which questions are stored.
    pub const ALL: Self = Self {
        form_defaults: true,
        titled_options: true,
        multi_select: true,
        modes: true,
        elicitation_id: false,
        sampling_audio: true,
        sampling_tools: true,
        sampling_blocks: true,
        sampling_context_declared: false,
    };
}

/// A question that a revision cannot put, or that nobody may put.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unaskable {
    /// A form field takes several options.
    MultiSelect {
        /// The field's name.
        field: String,
    },
    /// The form is none.
    Form(FormError),
    /// Nobody can be sent to a URL.
    UrlMode,
    /// The URL is none.
    BadUrl {
        /// What was given.
        url: String,
    },
    /// Sampling has no tools.
    SamplingTools,
    /// Sampling has no sound.
    SamplingAudio,
    /// Uses and results of tools do not match (R2511-SAMP-13, R2511-SAMP-14).
    Pairing(PairingError),
    /// Only forms and URLs can be asked for in a tool's arguments.
    InArguments,
}

impl fmt::Display for Unaskable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MultiSelect { field } => write!(
                f,
                "this client's revision has no form field of several options, as `{field}` is; \
                 ask for one option, or for a boolean each"
            ),
            Self::Form(error) => error.fmt(f),
            Self::UrlMode => f.write_str("this client's revision cannot send a person to a URL"),
            Self::BadUrl { url } => write!(f, "`{url}` is no absolute URL"),
            Self::SamplingTools => f.write_str("this client's revision samples without tools"),
            Self::SamplingAudio => f.write_str("this client's revision samples without sound"),
            Self::Pairing(error) => error.fmt(f),
            Self::InArguments => {
                f.write_str("only forms and URLs can be asked for in a tool's arguments")
            }
        }
    }
}

impl core::error::Error for Unaskable {}
