//! A request to a model, from JSON.

use super::{Block, IncludeContext, ModelPreferences, Sampling, SamplingMessage, ToolChoice};
use crate::frame::json;
use crate::model::view::{View, copied, elements, number};
use crate::model::{Json, Role};

impl Sampling {
    /// Reads the parameters; `None` where a member has not the shape it must have. Members that
    /// are not known are kept.
    pub(in crate::model::input) fn read(params: &View<'_>) -> Option<Self> {
        let max_tokens = json::integer(params.get("maxTokens")?)?;
        let mut read = Self::new(messages(params.get("messages")?)?, 0);
        read.max_tokens = u64::try_from(max_tokens).ok()?;
        for (name, value) in params.iter() {
            match &*name {
                "messages" | "maxTokens" => {}
                "systemPrompt" => read.system_prompt = Some(json::string(value)?.into()),
                "modelPreferences" => read.model_preferences = Some(preferences(value)?),
                "temperature" => read.temperature = Some(number(value)?),
                "stopSequences" => read.stop_sequences = list(value, string)?,
                "includeContext" => {
                    let which = json::string(value)?;
                    let mut all = IncludeContext::ALL.into_iter();
                    read.include_context = Some(all.find(|known| known.as_str() == which)?);
                }
                "metadata" => read.metadata = Some(object(value)?),
                "tools" => read.tools = list(value, object)?,
                "toolChoice" => {
                    let choice = View::of(value)?;
                    // A choice without a mode is the default one (R2511-SAMP-03).
                    let mode = choice.string("mode").unwrap_or("auto".into());
                    let mut all = ToolChoice::ALL.into_iter();
                    read.tool_choice = Some(all.find(|known| known.as_str() == mode)?);
                }
                _ => read.extra.push((name.into(), copied(value))),
            }
        }
        Some(read)
    }
}

fn messages(value: &[u8]) -> Option<Vec<SamplingMessage>> {
    list(value, |message| {
        let message = View::of(message)?;
        Some(SamplingMessage {
            role: Role::named(&message.string("role")?)?,
            content: Block::list(message.get("content")?)?,
            meta: message.json("_meta"),
        })
    })
}

fn preferences(value: &[u8]) -> Option<ModelPreferences> {
    let object = View::of(value)?;
    let hint = |hint: &[u8]| Some(View::of(hint)?.string("name").map(Into::into));
    let hints: Vec<Option<String>> = match object.get("hints") {
        Some(hints) => list(hints, hint)?,
        None => Vec::new(),
    };
    let priority = |name| object.get(name).and_then(number);
    Some(ModelPreferences {
        // A hint without a name hints at nothing.
        hints: hints.into_iter().flatten().collect(),
        cost_priority: priority("costPriority"),
        speed_priority: priority("speedPriority"),
        intelligence_priority: priority("intelligencePriority"),
    })
}

fn list<T>(array: &[u8], read: impl Fn(&[u8]) -> Option<T>) -> Option<Vec<T>> {
    if json::kind(array) != json::Kind::Array {
        return None;
    }
    elements(array).map(read).collect()
}

fn string(value: &[u8]) -> Option<String> {
    json::string(value).map(Into::into)
}

fn object(value: &[u8]) -> Option<Json> {
    View::of(value).map(|_| copied(value))
}
