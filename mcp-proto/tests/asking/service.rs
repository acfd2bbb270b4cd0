//! A server with one tool for each kind of question.

use std::sync::Arc;

use mcp_proto::model::{
    Answer, AskWay, BadAnswer, Call, Catalog, Field, Implementation, InputRequest, Json,
    NeedsInput, Tool, ToolResult, elicit, elicit_url, list_roots, sample,
};
use mcp_proto::server::{Answered, Endpoint};
use mcp_proto::testing::{Application, Script};

use crate::fixture::Caller;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Form,
    Url,
    Sampling,
    Roots,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Form, Self::Url, Self::Sampling, Self::Roots];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Form => "form",
            Self::Url => "url",
            Self::Sampling => "sampling",
            Self::Roots => "roots",
        }
    }

    pub(crate) fn question(self) -> InputRequest {
        match self {
            Self::Form => elicit("Who are you?").field(Field::text("name")).into(),
            Self::Url => elicit_url("Please sign in", "https://example.com/sign-in"),
            Self::Sampling => sample("Say hello", 10).into(),
            Self::Roots => list_roots(),
        }
    }
}

pub(crate) fn endpoint() -> Endpoint {
    let mut catalog = Catalog::new(Implementation::new("asking", "1"));
    for kind in Kind::ALL {
        let mut tool = Tool::new(kind.name(), Json::parse(r#"{"type":"object"}"#).expect("JSON"));
        tool.asks = matches!(kind, Kind::Form | Kind::Url);
        catalog.insert_tool(tool);
    }
    Endpoint::builder(Arc::new(catalog))
        .path("/mcp")
        .http_sse(Caller::STREAM, Caller::MESSAGES)
        .build()
}

/// Each tool asks its question, and tells what came of it.
pub(crate) struct Service;

impl Application for Service {
    fn call(&mut self, call: &Call) -> Script {
        let named = |kind: &Kind| Some(kind.name()) == call.target();
        let kind = Kind::ALL.into_iter().find(named).expect("a tool");
        let question = kind.question();
        match call.answer("q", &question) {
            Some(answer) => told(verdict(answer)),
            None => {
                let asking = call.asking();
                let way = match kind {
                    Kind::Form | Kind::Url => asking.elicitation,
                    Kind::Sampling | Kind::Roots => asking.other,
                };
                match way {
                    AskWay::Retry => Script::answer(NeedsInput::new(vec![("q".into(), question)])),
                    AskWay::Push | AskWay::Never => Script::silent().ask(question),
                }
            }
        }
    }

    fn answered(&mut self, _: &Call, question: &InputRequest, answered: Answered) -> Script {
        told(match answered {
            Answered::Given(answer) => verdict(Answer::read(question, &answer)),
            Answered::Error(_) => "error".into(),
            Answered::TimedOut => "timed out".into(),
            Answered::Unsupported => "unsupported".into(),
            other => format!("{other:?}"),
        })
    }
}

fn verdict(answer: Result<Answer, BadAnswer>) -> String {
    match answer {
        Ok(answer) => answer.action().to_string(),
        Err(_) => "bad answer".into(),
    }
}

fn told(what: String) -> Script {
    Script::answer(ToolResult::text(format!("told: {what}")))
}
