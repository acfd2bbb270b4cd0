//! What the workers serve.

use core::time::Duration;
use std::sync::Arc;

use mcp_proto::model::{
    Answer, Call, Catalog, Field, InputRequest, Json, LogLevel, LogMessage, NeedsInput, Progress,
    Tool, ToolResult, elicit, sample,
};
use mcp_proto::server::{Answered, Endpoint, EndpointBuilder};
use mcp_proto::testing::{Application, Cluster, Script};

use crate::fixture::{Caller, catalog};

pub(crate) const MS: fn(u64) -> Duration = Duration::from_millis;
pub(crate) const SEC: fn(u64) -> Duration = Duration::from_secs;

/// What every worker declares.
pub(crate) fn declared() -> Catalog {
    let mut catalog = catalog(0);
    (catalog.features.list_changed, catalog.features.subscribe) = (true, true);
    for name in ["ask", "count", "chat", "flood", "keep", "long", "polled"] {
        let mut tool = tool(name);
        tool.asks = matches!(name, "ask" | "keep");
        catalog.insert_tool(tool);
    }
    catalog
}

/// A tool that not everybody may call.
pub(crate) fn secret() -> Tool {
    let mut tool = tool("secret");
    tool.scopes = ["secrets".to_owned()].into_iter().collect();
    tool
}

fn tool(name: &str) -> Tool {
    Tool::new(name, Json::parse(r#"{"type":"object"}"#).expect("JSON"))
}

/// An endpoint of one worker. Nothing of it is shared with another one's.
pub(crate) fn builder() -> EndpointBuilder {
    serving(declared())
}

/// The same with another catalog.
pub(crate) fn serving(catalog: Catalog) -> EndpointBuilder {
    Endpoint::builder(Arc::new(catalog))
        .path("/mcp")
        .allow_delete(true)
        .http_sse(Caller::STREAM, Caller::MESSAGES)
}

pub(crate) fn cluster(workers: usize) -> Cluster<Service> {
    Cluster::new((0..workers).map(|_| builder().build()), Service)
}

/// The application of every worker: it remembers nothing.
pub(crate) struct Service;

pub(crate) fn question() -> InputRequest {
    elicit("Who are you?").field(Field::text("name")).into()
}

impl Application for Service {
    fn call(&mut self, call: &Call) -> Script {
        match call.target().unwrap_or_default() {
            "ask" => ask(call),
            "keep" => keep(call),
            "count" => (1..=10)
                .fold(Script::silent(), |script, n| {
                    script.progress(Progress::new(f64::from(n))).wait(SEC(1))
                })
                .respond(ToolResult::text("counted")),
            "long" => Script::silent()
                .progress(Progress::new(1.0))
                .wait(SEC(200))
                .respond(ToolResult::text("long")),
            "flood" => flood(),
            "chat" => Script::silent().ask(sample("Say hello", 10)),
            "polled" => Script::silent()
                .log(LogMessage::new(LogLevel::Info, Json::parse("1").expect("JSON")))
                .close_stream()
                .wait(SEC(2))
                .respond(ToolResult::text("polled")),
            _ => crate::fixture::application(call),
        }
    }

    fn answered(&mut self, _: &Call, question: &InputRequest, answered: Answered) -> Script {
        let text = match answered {
            Answered::Given(answer) => match Answer::read(question, &answer) {
                Ok(answer) => format!("given {}", answer.raw().map_or("", Json::as_str)),
                Err(bad) => format!("bad: {bad}"),
            },
            Answered::Error(error) => format!("error {}", error.as_str()),
            other => format!("{other:?}"),
        };
        Script::answer(ToolResult::text(text))
    }
}

/// Asks, and runs for a second once it is answered.
fn ask(call: &Call) -> Script {
    match call.answer("who", &question()) {
        None => Script::answer(NeedsInput::new(vec![("who".into(), question())])),
        Some(Ok(answer)) => {
            let name = answer.raw().map_or("", Json::as_str).to_owned();
            let pause = if name.contains("slow") { SEC(15 * 60) } else { SEC(1) };
            Script::silent().wait(pause).respond(ToolResult::text(name))
        }
        Some(Err(bad)) => Script::answer(ToolResult::text(format!("bad: {bad}"))),
    }
}

/// Keeps what it is given until it is answered, and gives it back so many times.
fn keep(call: &Call) -> Script {
    let given = call.arguments().and_then(|it| it.decode::<Kept>().ok()).unwrap_or_default();
    match call.answer("who", &question()) {
        Some(Ok(_)) => Script::answer(ToolResult::text(given.text.repeat(given.times))),
        _ => {
            let mut needs = NeedsInput::new(vec![("who".into(), question())]);
            needs.state = Some(Json::of(&given.text).expect("JSON"));
            Script::answer(needs)
        }
    }
}

#[derive(Default, serde::Deserialize)]
struct Kept {
    text: String,
    times: usize,
}

/// 1 GiB of messages, 64 KiB each.
fn flood() -> Script {
    let text = Json::of(&"x".repeat(64 << 10)).expect("JSON");
    let log = |script: Script, _| {
        script.log(LogMessage::new(LogLevel::Emergency, text.clone())).wait(MS(1))
    };
    (0..16 << 10).fold(Script::silent(), log).respond(ToolResult::text("flooded"))
}
