//! What a handler can ask of the client: a form, a visit to a URL, a model's answer, the roots.
//!
//! A question has one neutral form here. What of it a revision can say is told by
//! [`InputFields`], which adapters hold as data; what cannot be said is projected, or reported as
//! [`Unaskable`] where the projection would ask something else.

mod field;
mod fields;
mod form;
mod format;
mod judge;
mod pairing;
mod read;
mod sampling;
#[cfg(test)]
mod tests;
mod wire;

#[cfg(test)]
pub(crate) use tests::question;

pub use field::{Choice, Field, FieldKind, Format};
pub use fields::{InputFields, Unaskable};
pub use form::{FormError, FormErrorKind, FormSchema};
pub use judge::Misfit;
pub use pairing::PairingError;
pub use read::BadQuestion;
pub use sampling::{
    Block, IncludeContext, ModelPreferences, Sampling, SamplingMessage, ToolChoice, ToolUse,
};

use super::{BadAnswer, ClientCapabilities};

/// The names of the methods by which a client is asked.
pub mod method {
    /// Elicitation, in both modes.
    pub const ELICIT: &str = "elicitation/create";
    /// Sampling.
    pub const SAMPLE: &str = "sampling/createMessage";
    /// The listing of roots.
    pub const LIST_ROOTS: &str = "roots/list";
}

/// A question to the client.
///
/// ```
/// use mcp_proto::model::{Field, InputRequest, elicit};
///
/// let question: InputRequest = elicit("Deploy web?").field(Field::boolean("sure")).into();
/// assert_eq!(question.method(), "elicitation/create");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputRequest {
    /// Fill in a form, or just agree (R2506-ELIC-05).
    Elicit(Form),
    /// Visit a URL (R2511-ELIC-05). Nothing comes back but whether the person agreed to (T-70).
    ElicitUrl {
        /// Why.
        message: String,
        /// Where. No secrets, and nothing that authenticates whoever opens it (R2511-ELIC-19).
        url: String,
    },
    /// Let the client's model answer (R24-SAMP-03).
    Sample(Box<Sampling>),
    /// Tell the roots that the server may work in (R24-ROOT-02).
    ListRoots,
}

/// A form, or a plain request for agreement.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Form {
    /// What the person reads.
    pub message: String,
    /// What they fill in; nothing where only agreement is asked for.
    pub schema: FormSchema,
}

/// Asks for agreement; with fields, for a form.
pub fn elicit(message: impl Into<String>) -> Form {
    Form { message: message.into(), schema: FormSchema::default() }
}

/// Asks the person to visit a URL.
pub fn elicit_url(message: impl Into<String>, url: impl Into<String>) -> InputRequest {
    InputRequest::ElicitUrl { message: message.into(), url: url.into() }
}

/// Asks the client's model to go on from `message` with at most `max_tokens` tokens.
pub fn sample(message: impl Into<SamplingMessage>, max_tokens: u32) -> Sampling {
    Sampling::new([message.into()], max_tokens)
}

/// Asks for the roots.
pub fn list_roots() -> InputRequest {
    InputRequest::ListRoots
}

impl Form {
    /// The same form with one more field. A field of the same name is replaced.
    #[must_use]
    pub fn field(mut self, field: Field) -> Self {
        self.schema = self.schema.with(field);
        self
    }

    /// The same question with this form in place of its own.
    #[must_use]
    pub fn schema(mut self, schema: FormSchema) -> Self {
        self.schema = schema;
        self
    }
}

impl From<Form> for InputRequest {
    fn from(form: Form) -> Self {
        Self::Elicit(form)
    }
}

impl From<Sampling> for InputRequest {
    fn from(sampling: Sampling) -> Self {
        Self::Sample(Box::new(sampling))
    }
}

impl InputRequest {
    /// The method that puts the question.
    pub const fn method(&self) -> &'static str {
        match self {
            Self::Elicit(_) | Self::ElicitUrl { .. } => method::ELICIT,
            Self::Sample(_) => method::SAMPLE,
            Self::ListRoots => method::LIST_ROOTS,
        }
    }

    /// What a client must have declared to be asked this (R2511-ELIC-02, R2511-SAMP-10,
    /// R26-MRTR-07).
    pub fn needs(&self) -> ClientCapabilities {
        let mut needs = ClientCapabilities::default();
        match self {
            Self::Elicit(_) => needs.elicitation_form = true,
            Self::ElicitUrl { .. } => needs.elicitation_url = true,
            Self::Sample(sampling) => {
                needs.sampling = true;
                needs.sampling_tools = sampling.uses_tools();
            }
            Self::ListRoots => needs.roots = true,
        }
        needs
    }

    /// Whether it is put to a person.
    pub(crate) const fn is_elicitation(&self) -> bool {
        matches!(self, Self::Elicit(_) | Self::ElicitUrl { .. })
    }

    /// Whether a client with these capabilities can be asked this.
    pub fn supported_by(&self, client: &ClientCapabilities) -> bool {
        client.includes(&self.needs())
    }
}
