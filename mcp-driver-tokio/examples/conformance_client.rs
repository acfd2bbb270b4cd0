//! The client that the official conformance suite tests:
//!
//! ```text
//! conformance client --command target/debug/examples/conformance_client --requirements 2026-07-28
//! ```
//!
//! The suite appends its server's URL and names the scenario in the environment. The scenario picks
//! the calls that are made, and nothing else: how they are made is the library's.

use std::env;

use mcp_driver_tokio::client::{Asked, Declined, ask_with};
use mcp_driver_tokio::model::{Answer, ClientCapabilities, elicit_accept};
use mcp_driver_tokio::{Client, Error};
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let url = env::args().next_back().unwrap_or_default();
    let scenario = env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let client = Client::http(url).info("conformance-client", "1.0.0");
    let client = client.on_ask(ask_with(everything(), answer)).connect().await?;
    let called = call(&client, &scenario).await;
    client.close().await;
    called
}

async fn call(client: &Client, scenario: &str) -> Result<(), Error> {
    match scenario {
        "http-custom-headers" => the_calls_of_the_context(client).await,
        "http-standard-headers" => one_of_each(client).await,
        "json-schema-2020-12-preservation" => echo_a_schema(client).await,
        _ => every_tool(client).await,
    }
}

/// Calls each tool with the least arguments that its schema allows.
async fn every_tool(client: &Client) -> Result<(), Error> {
    for tool in client.list_tools().await? {
        let arguments = least(&tool.input_schema.decode::<Schema>()?);
        client.call_tool(&tool.name, &arguments).await?;
    }
    Ok(())
}

async fn one_of_each(client: &Client) -> Result<(), Error> {
    every_tool(client).await?;
    for resource in client.list_resources().await? {
        client.read_resource(&resource.uri).await?;
    }
    for prompt in client.list_prompts().await? {
        client.get_prompt(&prompt.name, &()).await?;
    }
    Ok(())
}

/// Gives one tool's schema, as it was received, to another tool.
async fn echo_a_schema(client: &Client) -> Result<(), Error> {
    for tool in client.list_tools().await? {
        if tool.name == "json_schema_2020_12_tool" {
            let schema: Value = tool.input_schema.decode()?;
            client.call_tool("json_schema_echo", &json!({ "schema": schema })).await?;
        }
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Context {
    tool_calls: Vec<ToolCall>,
}

#[derive(Deserialize)]
struct ToolCall {
    name: String,
    arguments: Map<String, Value>,
}

async fn the_calls_of_the_context(client: &Client) -> Result<(), Error> {
    let context: Context = serde_json::from_str(&env::var("MCP_CONFORMANCE_CONTEXT")?)?;
    client.list_tools().await?;
    for ToolCall { name, arguments } in context.tool_calls {
        client.call_tool(&name, &arguments).await?;
    }
    Ok(())
}

#[derive(Deserialize)]
struct Schema {
    #[serde(default)]
    properties: Map<String, Value>,
    #[serde(default)]
    required: Vec<String>,
}

/// The least that has the schema's shape.
fn least(schema: &Schema) -> Map<String, Value> {
    let value = |name: &String| match schema.properties.get(name).and_then(|it| it["type"].as_str())
    {
        Some("number" | "integer") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("text"),
    };
    schema.required.iter().map(|name| (name.clone(), value(name))).collect()
}

fn everything() -> ClientCapabilities {
    let mut can = ClientCapabilities::default();
    can.elicitation_form = true;
    can.elicitation_url = true;
    can.sampling = true;
    can.roots = true;
    can
}

/// Agrees to everything and fills in nothing, which leaves the form's defaults.
async fn answer(_: Asked) -> Result<Answer, Declined> {
    elicit_accept(&json!({})).map_err(|error| Declined::failed(error.to_string()))
}
