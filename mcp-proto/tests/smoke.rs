//! A first look at the machines, by bytes.
use mcp_proto::effect::{Effect, Reply};
use mcp_proto::model::*;
use mcp_proto::server::*;
use mcp_proto::time::Instant;
use std::sync::Arc;

fn endpoint() -> Endpoint {
    let mut catalog = Catalog::new(Implementation::new("demo", "1"));
    catalog.insert_tool(Tool::new(
        "add",
        Json::parse(r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#).unwrap(),
    ));
    Endpoint::builder(Arc::new(catalog)).path("/mcp").build()
}

fn drive<M: Machine>(m: &mut M, input: &[u8]) -> String {
    let now = Instant::from_millis(1);
    assert_eq!(m.handle_input(now, input), input.len());
    while let Some(output) = m.poll_output() {
        match output {
            Output::Event(Event::Call(id, call)) => {
                let v: serde_json::Value = call.decode_arguments().unwrap();
                m.respond(id, ToolResult::text(v.to_string()).into());
            }
            Output::Effect(id, Effect::Random) => {
                m.handle_reply(now, id, Ok(Reply::Random([7; 32])))
            }
            Output::Effect(id, Effect::Session(_)) => {
                m.handle_reply(now, id, Ok(Reply::Created(true)))
            }
            other => println!("{other:?}"),
        }
    }
    let mut out = Vec::new();
    m.transmit(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn stdio_smoke() {
    let mut m = Stdio::new(endpoint(), Instant::ZERO);
    print!("{}", drive(&mut m, br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"add","arguments":{"a":1}}}
{"jsonrpc":"2.0","id":3,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
nonsense
"#));
}

#[test]
fn http_smoke() {
    let mut m = Connection::new(endpoint(), Instant::ZERO);
    let body = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":1},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    println!("{}", drive(&mut m, format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: add\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes()));
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    println!("{}", drive(&mut m, format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes()));
    println!("{}", drive(&mut m, b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    println!("{}", drive(&mut m, b"GET /mcp HTTP/1.1\r\nHost: evil\r\n\r\n"));
}
