//! A request to the client's model.

mod block;
mod read;
mod write;

pub use block::{Block, ToolUse};

use super::{InputFields, PairingError, Unaskable, pairing};
use crate::model::{Json, Role};

/// A request to the client's model (R24-SAMP-03). The client may change or ignore much of it
/// (R24-SAMP-05).
///
/// ```
/// use mcp_proto::model::{InputRequest, SamplingMessage, sample};
///
/// let question: InputRequest = sample("What is the capital of France?", 100)
///     .system_prompt("Answer in one word.")
///     .into();
/// # let _ = (question, SamplingMessage::assistant("Paris"));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sampling {
    /// What was said so far.
    pub messages: Vec<SamplingMessage>,
    /// The most tokens that may be sampled.
    pub max_tokens: u64,
    /// What the model is told first.
    pub system_prompt: Option<String>,
    /// Which model would be best.
    pub model_preferences: Option<ModelPreferences>,
    /// How freely the model samples; finite.
    pub temperature: Option<f64>,
    /// Where the model stops.
    pub stop_sequences: Vec<String>,
    /// Context of which servers is to be included; only from clients that declared it
    /// (R2511-SAMP-12).
    pub include_context: Option<IncludeContext>,
    /// What the model's provider is told: an object.
    pub metadata: Option<Json>,
    /// Tools that the model may use, each as `tools/list` has it (R2511-SAMP-03).
    pub tools: Vec<Json>,
    /// Whether it must use one.
    pub tool_choice: Option<ToolChoice>,
    /// Members that this type does not know, passed through.
    pub extra: Vec<(String, Json)>,
}

/// One message of a conversation with a model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SamplingMessage {
    /// Who says it.
    pub role: Role,
    /// What is said: one block, or several from 2025-11-25 on (T-72).
    pub content: Vec<Block>,
    /// The message's `_meta`.
    pub meta: Option<Json>,
}

/// Which model would be best. Hints come before numbers (R24-SAMP-06).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelPreferences {
    /// Names or parts of names, best first.
    pub hints: Vec<String>,
    /// How much low cost matters, from 0 to 1.
    pub cost_priority: Option<f64>,
    /// How much speed matters, from 0 to 1.
    pub speed_priority: Option<f64>,
    /// How much intelligence matters, from 0 to 1.
    pub intelligence_priority: Option<f64>,
}

/// Context of which servers is to be included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IncludeContext {
    /// None's.
    None,
    /// That of the server that asks.
    ThisServer,
    /// That of all servers of the client.
    AllServers,
}

/// Whether the model uses tools (R2511-SAMP-16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolChoice {
    /// As it likes.
    Auto,
    /// At least one.
    Required,
    /// None.
    None,
}

impl IncludeContext {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::None, Self::ThisServer, Self::AllServers];

    /// The name in the protocol.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ThisServer => "thisServer",
            Self::AllServers => "allServers",
        }
    }
}

impl ToolChoice {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Required, Self::None];

    /// The mode's name in the protocol.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Required => "required",
            Self::None => "none",
        }
    }
}

impl SamplingMessage {
    /// A message from the user.
    pub fn user(content: impl Into<Block>) -> Self {
        Self { role: Role::User, content: vec![content.into()], meta: None }
    }

    /// A message from the model.
    pub fn assistant(content: impl Into<Block>) -> Self {
        Self { role: Role::Assistant, content: vec![content.into()], meta: None }
    }

    /// The same message with one more block.
    #[must_use]
    pub fn and(mut self, content: impl Into<Block>) -> Self {
        self.content.push(content.into());
        self
    }
}

/// What the user says.
impl From<String> for SamplingMessage {
    fn from(text: String) -> Self {
        Self::user(text)
    }
}

/// What the user says.
impl From<&str> for SamplingMessage {
    fn from(text: &str) -> Self {
        Self::user(text)
    }
}

impl Sampling {
    /// A request to go on from these messages.
    pub fn new(messages: impl Into<Vec<SamplingMessage>>, max_tokens: u32) -> Self {
        Self {
            messages: messages.into(),
            max_tokens: max_tokens.into(),
            system_prompt: None,
            model_preferences: None,
            temperature: None,
            stop_sequences: Vec::new(),
            include_context: None,
            metadata: None,
            tools: Vec::new(),
            tool_choice: None,
            extra: Vec::new(),
        }
    }

    /// One more message.
    #[must_use]
    pub fn message(mut self, message: impl Into<SamplingMessage>) -> Self {
        self.messages.push(message.into());
        self
    }

    /// What the model is told first.
    #[must_use]
    pub fn system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = Some(prompt.into());
        self
    }

    /// One more model that would do, after those named before.
    #[must_use]
    pub fn model(mut self, hint: impl Into<String>) -> Self {
        self.model_preferences.get_or_insert_default().hints.push(hint.into());
        self
    }

    /// How much low cost, speed and intelligence matter, each from 0 to 1.
    #[must_use]
    pub fn priorities(mut self, cost: f64, speed: f64, intelligence: f64) -> Self {
        let preferences = self.model_preferences.get_or_insert_default();
        preferences.cost_priority = finite(cost);
        preferences.speed_priority = finite(speed);
        preferences.intelligence_priority = finite(intelligence);
        self
    }

    /// How freely the model samples. What is not finite is not said.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = finite(temperature);
        self
    }

    /// One more place where the model stops.
    #[must_use]
    pub fn stop_sequence(mut self, text: impl Into<String>) -> Self {
        self.stop_sequences.push(text.into());
        self
    }

    /// Context of which servers is to be included.
    #[must_use]
    pub fn include_context(mut self, which: IncludeContext) -> Self {
        self.include_context = Some(which);
        self
    }

    /// What the model's provider is told: an object.
    #[must_use]
    pub fn metadata(mut self, metadata: Json) -> Self {
        self.metadata = Some(metadata);
        self
    }

    /// One more tool that the model may use, as `tools/list` would have it.
    #[must_use]
    pub fn tool(mut self, tool: Json) -> Self {
        self.tools.push(tool);
        self
    }

    /// Whether the model must use a tool.
    #[must_use]
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    /// A member of the parameters that this type does not know, passed through as it is.
    #[must_use]
    pub fn extra(mut self, name: impl Into<String>, value: Json) -> Self {
        self.extra.push((name.into(), value));
        self
    }

    /// Whether the client's model must be able to use tools (R2511-SAMP-10).
    pub fn uses_tools(&self) -> bool {
        let blocks = || self.messages.iter().flat_map(|message| &message.content);
        !self.tools.is_empty()
            || self.tool_choice.is_some()
            || blocks().any(|block| matches!(&*block.kind(), "tool_use" | "tool_result"))
    }

    /// Whether each use of a tool has its result, and nothing stands between them
    /// (R2511-SAMP-13, R2511-SAMP-14). A client refuses what fails here with -32602 (C98).
    ///
    /// # Errors
    /// The first message that does not fit.
    pub fn check_pairing(&self) -> Result<(), PairingError> {
        pairing::check(&self.messages)
    }

    /// Whether a revision can say it.
    pub(super) fn check(&self, fields: &InputFields) -> Result<(), Unaskable> {
        self.check_pairing().map_err(Unaskable::Pairing)?;
        if !fields.sampling_tools && self.uses_tools() {
            return Err(Unaskable::SamplingTools);
        }
        let mut blocks = self.messages.iter().flat_map(|message| &message.content);
        if !fields.sampling_audio && blocks.any(|block| block.kind() == "audio") {
            return Err(Unaskable::SamplingAudio);
        }
        Ok(())
    }
}

fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}
