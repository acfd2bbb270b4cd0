//! A block of content in a conversation with a model.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::frame::json;
use crate::frame::writer::Object;
use crate::model::Json;
use crate::model::view::{View, boolean, copied, elements};

/// A block of content in a conversation with a model: text, a picture, sound, the use of a tool, or
/// its result. It is kept as its text, so that members which nobody here knows, and `_meta`, are
/// sent again as they came (R2511-SAMP-19).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block(Json);

/// A tool that the model wants to be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolUse {
    /// What the result refers to.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The tool's arguments.
    pub input: Json,
}

impl Block {
    /// Text.
    pub fn text(text: &str) -> Self {
        Self::written("text", |block| {
            block.string("text", text);
        })
    }

    /// A picture.
    pub fn image(data: &[u8], mime_type: &str) -> Self {
        Self::media("image", data, mime_type)
    }

    /// Sound.
    pub fn audio(data: &[u8], mime_type: &str) -> Self {
        Self::media("audio", data, mime_type)
    }

    /// The use of a tool, as the model asked for it.
    pub fn tool_use(id: &str, name: &str, input: &Json) -> Self {
        Self::written("tool_use", |block| {
            block.string("id", id).string("name", name);
            input.write(block.value("input"));
        })
    }

    /// The result of a tool that the model used, as text.
    pub fn tool_result(tool_use_id: &str, text: &str, is_error: bool) -> Self {
        Self::written("tool_result", |block| {
            block.string("toolUseId", tool_use_id);
            block.array("content", [text], |text, out| {
                out.extend_from_slice(Self::text(text).as_json().as_bytes());
            });
            if is_error {
                block.boolean("isError", true);
            }
        })
    }

    /// Any block, given as JSON; `None` where it is no object with a `type`.
    pub fn from_json(block: Json) -> Option<Self> {
        View::of(block.as_bytes())?.string("type")?;
        Some(Self(block))
    }

    /// The block's text in JSON.
    pub fn as_json(&self) -> &Json {
        &self.0
    }

    /// The block's `type`.
    pub fn kind(&self) -> Cow<'_, str> {
        self.string("type").unwrap_or_default()
    }

    /// The text, where it is text.
    pub fn as_text(&self) -> Option<Cow<'_, str>> {
        if self.kind() == "text" { self.string("text") } else { None }
    }

    /// The use of a tool, where it is one.
    pub fn as_tool_use(&self) -> Option<ToolUse> {
        let view = View::of(self.0.as_bytes()).filter(|_| self.kind() == "tool_use")?;
        Some(ToolUse {
            id: view.string("id")?.into(),
            name: view.string("name")?.into(),
            input: view.json("input")?,
        })
    }

    /// Which use of a tool it is the result of, where it is one.
    pub fn tool_result_for(&self) -> Option<Cow<'_, str>> {
        if self.kind() == "tool_result" { self.string("toolUseId") } else { None }
    }

    /// Whether it is the result of a tool that failed.
    pub fn is_error(&self) -> bool {
        let view = View::of(self.0.as_bytes());
        view.and_then(|view| view.get("isError")).and_then(boolean) == Some(true)
    }

    /// The blocks of a `content` member: one, or an array (T-72). `None` where one is none.
    pub(crate) fn list(content: &[u8]) -> Option<Vec<Self>> {
        match json::kind(content) {
            json::Kind::Array => elements(content).map(copied).map(Self::from_json).collect(),
            _ => Some(vec![Self::from_json(copied(content))?]),
        }
    }

    fn string(&self, name: &str) -> Option<Cow<'_, str>> {
        View::of(self.0.as_bytes())?.string(name)
    }

    fn media(kind: &str, data: &[u8], mime_type: &str) -> Self {
        Self::written(kind, |block| {
            block.string("data", &STANDARD.encode(data)).string("mimeType", mime_type);
        })
    }

    fn written(kind: &str, fill: impl FnOnce(&mut Object<'_>)) -> Self {
        let mut out = Vec::new();
        let mut block = Object::begin(&mut out);
        block.string("type", kind);
        fill(&mut block);
        block.end();
        Self(Json::scanned(out.into()))
    }
}

impl From<String> for Block {
    fn from(text: String) -> Self {
        Self::text(&text)
    }
}

impl From<&str> for Block {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}
