//! A request to a model in JSON, as a revision can say it.

use super::{Block, IncludeContext, ModelPreferences, Sampling, SamplingMessage};
use crate::frame::json::write_string;
use crate::frame::writer::{Object, array};
use crate::model::Json;
use crate::model::input::InputFields;

impl Sampling {
    /// Adds the parameters. `context` tells whether the client declared that it can include any.
    pub(in crate::model::input) fn write(
        &self,
        params: &mut Object<'_>,
        fields: &InputFields,
        context: bool,
    ) {
        let messages = self.messages.iter().flat_map(|message| spoken(message, fields));
        params.array("messages", messages, write_message);
        if let Some(preferences) = &self.model_preferences {
            params.object("modelPreferences", |object| write_preferences(preferences, object));
        }
        params.string_if("systemPrompt", self.system_prompt.as_deref());
        // The client may ignore it anyway (R24-SAMP-05), so leaving it out asks nothing else.
        let said = context || !fields.sampling_context_declared;
        let include = self.include_context.filter(|_| said).map(IncludeContext::as_str);
        params.string_if("includeContext", include);
        if let Some(temperature) = self.temperature {
            params.float("temperature", temperature);
        }
        params.number("maxTokens", self.max_tokens);
        if !self.stop_sequences.is_empty() {
            params.array("stopSequences", &self.stop_sequences, |text, out| {
                write_string(out, text);
            });
        }
        if let Some(metadata) = &self.metadata {
            write_json(metadata, params.value("metadata"));
        }
        if !self.tools.is_empty() {
            params.array("tools", &self.tools, write_json);
        }
        if let Some(choice) = self.tool_choice {
            params.object("toolChoice", |object| {
                object.string("mode", choice.as_str());
            });
        }
        for (name, value) in &self.extra {
            write_json(value, params.value(name));
        }
    }
}

/// A message as one or, where a message has one block only, as one for each block.
fn spoken<'a>(
    message: &'a SamplingMessage,
    fields: &InputFields,
) -> impl Iterator<Item = (&'a SamplingMessage, &'a [Block])> {
    let size = if fields.sampling_blocks { message.content.len().max(1) } else { 1 };
    let whole = message.content.is_empty().then_some((message, &[][..]));
    message.content.chunks(size).map(move |blocks| (message, blocks)).chain(whole)
}

fn write_message((message, blocks): (&SamplingMessage, &[Block]), out: &mut Vec<u8>) {
    let mut object = Object::begin(out);
    object.string("role", message.role.as_str());
    let write = |block: &Block, out: &mut Vec<u8>| write_json(block.as_json(), out);
    let content = object.value("content");
    match blocks {
        [block] => write(block, content),
        _ => array(content, blocks, write),
    }
    if let Some(meta) = &message.meta {
        write_json(meta, object.value("_meta"));
    }
    object.end();
}

fn write_preferences(preferences: &ModelPreferences, object: &mut Object<'_>) {
    if !preferences.hints.is_empty() {
        object.array("hints", &preferences.hints, |hint, out| {
            let mut object = Object::begin(out);
            object.string("name", hint);
            object.end();
        });
    }
    for (name, priority) in [
        ("costPriority", preferences.cost_priority),
        ("speedPriority", preferences.speed_priority),
        ("intelligencePriority", preferences.intelligence_priority),
    ] {
        if let Some(priority) = priority {
            object.float(name, priority);
        }
    }
}

fn write_json(value: &Json, out: &mut Vec<u8>) {
    value.write(out);
}
