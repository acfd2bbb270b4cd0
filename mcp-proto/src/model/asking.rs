//! How a call can ask its client.

use super::{ClientCapabilities, Failure, FailureKind, InputFields, InputRequest};

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
    /// What questions of the revision can hold.
    pub fields: InputFields,
}

impl Asking {
    /// How `request` reaches a client that declared `capabilities`.
    pub fn way(&self, request: &InputRequest, capabilities: &ClientCapabilities) -> AskWay {
        let elicits = request.is_elicitation();
        let way = if elicits { self.elicitation } else { self.other };
        let declared = (elicits && self.undeclared) || request.supported_by(capabilities);
        if declared { way } else { AskWay::Never }
    }

    /// Why a client that declared `capabilities` is not asked these questions: it did not declare
    /// what they need, its revision cannot put them, or else this call has no way to ask
    /// (R26-MRTR-02, R26-MRTR-07).
    pub fn failure<'a>(
        &self,
        requests: impl IntoIterator<Item = &'a InputRequest>,
        capabilities: &ClientCapabilities,
    ) -> Failure {
        let requests: Vec<_> = requests.into_iter().collect();
        let lacks = |it: &&&InputRequest| !it.supported_by(capabilities);
        let undeclared: Vec<_> = requests.iter().filter(lacks).copied().collect();
        if self.names_missing && !undeclared.is_empty() {
            return Failure::missing_capability(undeclared);
        }
        // What is asked in arguments needs nothing.
        let in_arguments = |it: &InputRequest| self.undeclared && it.is_elicitation();
        let needing = undeclared.iter().filter(|it| !in_arguments(it));
        let needed = needing.fold(ClientCapabilities::default(), |all, it| all.union(it.needs()));
        let missing = capabilities.missing(&needed);
        let why = match requests.iter().find_map(|request| request.check(&self.fields).err()) {
            _ if !missing.is_empty() => {
                let missing: Vec<_> = missing.iter().map(|name| format!("`{name}`")).collect();
                let missing = missing.join(", ");
                format!("this needs to ask, and the client declares no {missing}")
            }
            Some(unaskable) => unaskable.to_string(),
            None => "this call cannot ask its client for input".to_owned(),
        };
        Failure::new(FailureKind::InputUnsupported, why)
    }
}
