//! The fixture's server, as handlers.

use mcp_proto::model::{Completing, Completion, Outcome, PromptResult, ResourceResult, Value};
use mcp_proto::model::{Failure, FailureKind, ToolResult};
use mcp_proto::service::{Error, Exchange, Registry, Service, State, prompt, resource, tool};
use mcp_proto::testing::Act;

use crate::fixed::World;
use crate::fixture::{application, catalog};

/// What the fixture declares, run by the fixture's application.
pub(crate) fn service(world: &World) -> Service {
    let catalog = catalog(2);
    let mut registry = Registry::new("fixture", "1.0.0")
        .instructions(catalog.instructions.clone().expect("instructions"))
        .page_size(catalog.page_size)
        .list_changed(catalog.features.list_changed)
        .subscribe(catalog.features.subscribe)
        .logging(catalog.features.logging)
        .state(world.clone())
        .completions(completer);
    for declared in catalog.tools() {
        let mut own = tool(declared.name.to_string(), run_tool)
            .hints(declared.hints.clone())
            .input_schema(declared.input_schema.clone())
            .unchecked();
        if let Some(title) = &declared.title {
            own = own.title(title.to_string());
        }
        if let Some(text) = &declared.description {
            own = own.description(text.to_string());
        }
        if let Some(schema) = &declared.output_schema {
            own = own.output_schema(schema.clone());
        }
        registry = registry.tool(if declared.streaming { own.streaming() } else { own });
    }
    for declared in catalog.resources() {
        let mime_type = declared.mime_type.clone().expect("a media type");
        let own = resource(read).name(declared.name.to_string()).mime_type(mime_type);
        registry = registry.resource(declared.uri.to_string(), own);
    }
    for declared in catalog.templates() {
        let own = resource(read).name(declared.name.to_string());
        registry = registry.resource_template(declared.uri_template.to_string(), own);
    }
    for declared in catalog.prompts() {
        let own = prompt(declared.name.to_string(), get_prompt);
        let own = declared.arguments.iter().fold(own, |own, it| own.argument(it.clone()));
        registry = registry.prompt(own);
    }
    registry.build().expect("the declarations are right")
}

async fn run_tool(ex: Exchange, State(world): State<World>) -> Result<ToolResult, Error> {
    match play(&ex, &world).await? {
        Value::Tool(result) => Ok(result),
        other => Err(other_kind(&other)),
    }
}

async fn read(ex: Exchange, State(world): State<World>) -> Result<ResourceResult, Error> {
    match play(&ex, &world).await? {
        Value::Resource(result) => Ok(result),
        other => Err(other_kind(&other)),
    }
}

async fn get_prompt(ex: Exchange, State(world): State<World>) -> Result<PromptResult, Error> {
    match play(&ex, &world).await? {
        Value::Prompt(result) => Ok(result),
        other => Err(other_kind(&other)),
    }
}

async fn completer(
    _: Completing,
    ex: Exchange,
    State(world): State<World>,
) -> Result<Completion, Error> {
    match play(&ex, &world).await? {
        Value::Completion(result) => Ok(result),
        other => Err(other_kind(&other)),
    }
}

/// Does what the script for the call says.
async fn play(ex: &Exchange, world: &World) -> Result<Value, Error> {
    for (pause, act) in application(ex.call()) {
        world.pause(pause).await;
        match act {
            Act::Progress(progress) => {
                let message = progress.message.unwrap_or_default();
                ex.progress(progress.progress, progress.total).message(message);
            }
            Act::Log(message) => {
                let data: serde_json::Value = serde_json::from_str(message.data.as_str())?;
                ex.log(message.level, data);
            }
            Act::Respond(Outcome::Value(value)) => return Ok(value),
            Act::Respond(Outcome::Failure(failure)) => return Err(failure.into()),
            act => panic!("the fixture does not {act:?}"),
        }
    }
    world.hang();
    std::future::pending().await
}

fn other_kind(value: &Value) -> Error {
    Failure::new(FailureKind::Internal, format!("{value:?} is of another kind")).into()
}
