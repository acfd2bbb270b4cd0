//! How a call can ask its client.

use super::{ClientCapabilities, Failure, FailureKind, InputRequest};

/// How a question reaches the client of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AskWay {
    /// It does not.
    #[default]
    Never,
    /// The call ends with the question, and is repeated with the answer.
    Retry,
    /// The question is put while the call goes on.
    Push,
}

/// How a call can ask its client: what its revision, its transport and the client's capabilities
/// leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asking {
    /// Forms and URLs.
    pub elicitation: AskWay,
    /// Sampling and roots.
    pub other: AskWay,
    /// Forms and URLs need no capability, as the model puts them in a tool's arguments.
    pub undeclared: bool,
    /// The revision has an error that names the capabilities which a client lacks.
    pub names_missing: bool,
}

impl Asking {
    /// How `request` reaches a client that declared `capabilities`.
    pub fn way(&self, request: &InputRequest, capabilities: &ClientCapabilities) -> AskWay {
        let elicits = matches!(request, InputRequest::Elicit(_) | InputRequest::ElicitUrl { .. });
        let way = if elicits { self.elicitation } else { self.other };
        let declared = (elicits && self.undeclared) || request.supported_by(capabilities);
        if declared { way } else { AskWay::Never }
    }

    /// Why a client that declared `capabilities` is not asked these questions: it did not declare
    /// what they need, where the revision can say so, or else this call has no way to ask them
    /// (R26-MRTR-02, R26-MRTR-07).
    pub fn failure<'a>(
        &self,
        requests: impl IntoIterator<Item = &'a InputRequest>,
        capabilities: &ClientCapabilities,
    ) -> Failure {
        let undeclared = requests.into_iter().filter(|it| !it.supported_by(capabilities));
        let undeclared: Vec<_> = undeclared.collect();
        if self.names_missing && !undeclared.is_empty() {
            return Failure::missing_capability(undeclared);
        }
        let why = "this call cannot ask its client for input";
        Failure::new(FailureKind::InputUnsupported, why)
    }
}
