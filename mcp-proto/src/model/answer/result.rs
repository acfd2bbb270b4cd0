//! What models and roots answer.

use super::BadAnswer;
use crate::frame::json;
use crate::model::view::{View, elements};
use crate::model::{Block, Json, Role};

/// What the client's model said (R24-SAMP-04).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SampleResult {
    /// Who says it.
    pub role: Role,
    /// What it says: one block, or several from clients that can send an array (C98).
    pub content: Vec<Block>,
    /// The model's name.
    pub model: String,
    /// Why it stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or a word of the client's
    /// own (C98).
    pub stop_reason: Option<String>,
}

/// The roots that a server may work in (R24-ROOT-02).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Roots {
    /// The roots, in the client's order.
    pub roots: Vec<Root>,
}

/// One root.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Root {
    /// Where it is: a `file://` URI (R24-ROOT-03).
    pub uri: String,
    /// Its name for people.
    pub name: Option<String>,
    /// The root's `_meta`.
    pub meta: Option<Json>,
}

impl SampleResult {
    /// Reads a validated result.
    pub(super) fn read(result: &[u8]) -> Result<Self, BadAnswer> {
        let result = View::of(result).ok_or(BadAnswer::NotAnObject)?;
        let role = result.string("role").and_then(|role| Role::named(&role));
        let content = result.get("content").and_then(Block::list);
        let model = result.string("model");
        let stop_reason = match result.get("stopReason").map(json::string) {
            Some(None) => return Err(BadAnswer::Member("stopReason")),
            reason => reason.flatten(),
        };
        Ok(Self {
            role: role.ok_or(BadAnswer::Member("role"))?,
            content: content.ok_or(BadAnswer::Member("content"))?,
            model: model.ok_or(BadAnswer::Member("model"))?.into(),
            stop_reason: stop_reason.map(Into::into),
        })
    }

    /// The text of all text blocks.
    pub fn text(&self) -> String {
        self.content.iter().filter_map(Block::as_text).collect()
    }
}

impl Roots {
    /// Reads a validated result.
    pub(super) fn read(result: &[u8]) -> Result<Self, BadAnswer> {
        let result = View::of(result).ok_or(BadAnswer::NotAnObject)?;
        let roots = result.get("roots").filter(|roots| json::kind(roots) == json::Kind::Array);
        let roots = elements(roots.ok_or(BadAnswer::Member("roots"))?).map(root);
        Ok(Self { roots: roots.collect::<Result<_, _>>()? })
    }
}

fn root(value: &[u8]) -> Result<Root, BadAnswer> {
    let root = View::of(value).ok_or(BadAnswer::Member("roots"))?;
    let uri = root.string("uri").ok_or(BadAnswer::Member("uri"))?;
    // Schemes are compared without case (RFC 3986, section 3.1).
    if !uri.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file://")) {
        return Err(BadAnswer::RootUri(uri.into()));
    }
    let name = root.string("name").map(Into::into);
    Ok(Root { uri: uri.into(), name, meta: root.json("_meta") })
}
