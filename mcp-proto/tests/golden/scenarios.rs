//! What is said in each transcript. The scenarios of the official conformance suite that need no
//! asking are among them, for the revisions that the suite does not test.

use core::time::Duration;

use mcp_proto::revision::Revision;

use crate::fixture::{Peer, Wire};
use crate::talk::{Talk, between};

/// One conversation, held in every revision and on every transport that it applies to.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) applies: fn(Revision, Wire) -> bool,
    pub(crate) run: fn(&mut Talk),
}

const fn everywhere(name: &'static str, about: &'static str, run: fn(&mut Talk)) -> Scenario {
    Scenario { name, about, applies: |_, _| true, run }
}

const fn where_(
    name: &'static str,
    applies: fn(Revision, Wire) -> bool,
    about: &'static str,
    run: fn(&mut Talk),
) -> Scenario {
    Scenario { name, about, applies, run }
}

pub(crate) const SCENARIOS: &[Scenario] = &[
    everywhere("opening", "Who the server is and what it can do.", Talk::greet),
    everywhere("ping", "A ping, whose id is text that looks like a number.", ping),
    everywhere(
        "lists",
        "Lists in pages of two, to their ends; then a cursor of no such list.",
        lists,
    ),
    everywhere("tools-call", "Tools and every kind of result.", tools_call),
    everywhere("tools-call-wrong", "Calls that cannot work.", tools_call_wrong),
    everywhere("unknown", "A method, a notification and a tool that nobody knows.", unknown),
    everywhere("resources-read", "Text, bytes, a template, and nothing.", resources_read),
    everywhere("prompts-get", "Prompts with and without arguments.", prompts_get),
    everywhere("completion", "150 candidates, of which 100 are shown.", completion),
    everywhere("logging", "A log level, and a tool that logs.", logging),
    everywhere(
        "progress",
        "A tool that reports progress, with and without being asked to.",
        progress,
    ),
    everywhere(
        "cancellation",
        "A call that is cancelled, and one whose client leaves.",
        cancellation,
    ),
    everywhere("batch", "Several messages at once.", batch),
    everywhere("slow-call", "A call that takes a minute.", slow_call),
    where_("one-kind-of-reply", on_http, "Clients that take only JSON, or only a stream.", accept),
    where_("streams", on_http, "Three lists and a streamed reply on one connection.", streams),
    where_("session", with_session, "A session from its beginning to its end.", session),
    where_("gate", on_http, "Hosts and origins that are not answered.", gate),
    where_("routes", on_http, "Methods and paths besides POST /mcp.", routes),
    where_("headers", with_mirrors, "Headers that repeat parts of the body.", headers),
];

fn on_http(_: Revision, wire: Wire) -> bool {
    wire == Wire::Http
}

fn with_session(revision: Revision, wire: Wire) -> bool {
    wire == Wire::Http && revision.adapter().has_handshake
}

fn with_mirrors(revision: Revision, wire: Wire) -> bool {
    wire == Wire::Http && revision.adapter().mirrors_headers
}

fn ping(talk: &mut Talk) {
    talk.open();
    let ping = talk.peer.request_as("\"007\"", "ping", "", "");
    talk.say(&ping);
}

fn lists(talk: &mut Talk) {
    talk.open();
    for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
        let mut reply = talk.ask(method, "");
        while let Some(cursor) = between(&reply, "\"nextCursor\":\"", "\"") {
            reply = talk.ask(method, &format!("\"cursor\":\"{cursor}\""));
        }
    }
    let reply = talk.ask("resources/list", "");
    let foreign = between(&reply, "\"nextCursor\":\"", "\"").unwrap_or_default();
    talk.ask("tools/list", &format!("\"cursor\":\"{foreign}\""));
    talk.ask("tools/list", "\"cursor\":\"\"");
}

fn tools_call(talk: &mut Talk) {
    talk.open();
    for name in [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_resource_link",
        "test_error_handling",
    ] {
        talk.ask("tools/call", &format!("\"name\":\"{name}\""));
    }
    talk.ask("tools/call", r#""name":"add","arguments":{"a":40,"b":2}"#);
    talk.ask("tools/call", r#""name":"test_x_mcp_header","arguments":{"region":"eu"}"#);
}

fn tools_call_wrong(talk: &mut Talk) {
    talk.open();
    talk.ask("tools/call", r#""name":"add","arguments":{"a":"forty"}"#);
    talk.ask("tools/call", r#""name":"add","arguments":[40,2]"#);
    talk.ask("tools/call", r#""name":"add","arguments":null"#);
    talk.ask("tools/call", "");
}

fn unknown(talk: &mut Talk) {
    talk.open();
    talk.ask("no/such/method", "");
    talk.ask("tools/call", "\"name\":\"no_such_tool\"");
    talk.say(r#"{"jsonrpc":"2.0","method":"notifications/nobody-knows"}"#);
}

fn resources_read(talk: &mut Talk) {
    talk.open();
    for uri in [
        "test://static-text",
        "test://static-binary",
        "test://template/a%20b/data",
        "test://template/..%2fx/data",
        "test://nothing",
    ] {
        talk.ask("resources/read", &format!("\"uri\":\"{uri}\""));
    }
    talk.ask("resources/subscribe", "\"uri\":\"test://watched\"");
}

fn prompts_get(talk: &mut Talk) {
    talk.open();
    talk.ask("prompts/get", "\"name\":\"test_simple_prompt\"");
    let arguments = r#""name":"test_prompt_with_arguments","arguments":{"arg1":"x","arg2":"y"}"#;
    talk.ask("prompts/get", arguments);
    talk.ask("prompts/get", r#""name":"test_prompt_with_arguments","arguments":{"arg1":"x"}"#);
    let resource =
        r#""name":"test_prompt_with_embedded_resource","arguments":{"resourceUri":"test://x"}"#;
    talk.ask("prompts/get", resource);
    talk.ask("prompts/get", "\"name\":\"test_prompt_with_image\"");
    talk.ask("prompts/get", "\"name\":\"no_such_prompt\"");
}

fn completion(talk: &mut Talk) {
    talk.open();
    let argument = r#""argument":{"name":"arg1","value":"v"}"#;
    let known =
        format!(r#""ref":{{"type":"ref/prompt","name":"test_prompt_with_arguments"}},{argument}"#);
    talk.ask("completion/complete", &known);
    let template = format!(
        r#""ref":{{"type":"ref/resource","uri":"test://template/{{id}}/data"}},{argument}"#
    );
    talk.ask("completion/complete", &template);
    let unknown = format!(r#""ref":{{"type":"ref/prompt","name":"nope"}},{argument}"#);
    talk.ask("completion/complete", &unknown);
    talk.ask("completion/complete", r#""ref":{"type":"ref/x"}"#);
}

fn logging(talk: &mut Talk) {
    talk.open();
    let call = "\"name\":\"test_tool_with_logging\"";
    talk.ask("tools/call", call);
    talk.ask("logging/setLevel", "\"level\":\"error\"");
    talk.ask("tools/call", call);
    talk.ask("logging/setLevel", "\"level\":\"loud\"");
    talk.ask_with("tools/call", call, r#""io.modelcontextprotocol/logLevel":"debug""#);
}

fn progress(talk: &mut Talk) {
    talk.open();
    let call = "\"name\":\"test_tool_with_progress\"";
    talk.ask_with("tools/call", call, "\"progressToken\":\"progress-test-1\"");
    talk.ask_with("tools/call", call, "\"progressToken\":7");
    talk.ask("tools/call", call);
}

fn cancellation(talk: &mut Talk) {
    talk.open();
    let cancelled = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        )
    };
    if talk.peer.wire == Wire::Stdio {
        let call = talk.peer.request_as("5", "tools/call", "\"name\":\"hang\"", "");
        talk.say(&call);
        talk.say(&cancelled("\"5\""));
        talk.say(&cancelled("5"));
        talk.say(&cancelled("5"));
    } else {
        talk.say(&cancelled("5"));
    }
    talk.ask("tools/call", "\"name\":\"hang\"");
    talk.leave();
    talk.wait(Duration::from_secs(10));
}

fn batch(talk: &mut Talk) {
    talk.open();
    let simple = talk.peer.request("tools/call", "\"name\":\"test_simple_text\"");
    let logs = talk.peer.request("tools/call", "\"name\":\"test_tool_with_logging\"");
    let list = talk.peer.request("prompts/list", "");
    let notification = talk.peer.initialized();
    talk.say(&format!("[{logs},{notification},{simple},{list}]"));
    talk.say(&format!("[{notification}]"));
    talk.say("[]");
    let hello = talk.peer.hello();
    talk.say(&format!("[1,{hello},{simple}]"));
}

fn slow_call(talk: &mut Talk) {
    talk.open();
    talk.ask("tools/call", "\"name\":\"slow\"");
}

fn accept(talk: &mut Talk) {
    talk.open();
    for accept in ["application/json", "text/event-stream", "*/*", "text/html"] {
        talk.peer.accept = accept;
        let call = "\"name\":\"test_tool_with_progress\"";
        talk.ask_with("tools/call", call, "\"progressToken\":1");
    }
}

fn streams(talk: &mut Talk) {
    talk.open();
    talk.peer.accept = "text/event-stream, application/json";
    for _ in 0..3 {
        talk.ask("tools/list", "");
    }
    talk.ask("tools/call", "\"name\":\"test_streaming\"");
}

fn session(talk: &mut Talk) {
    talk.greet();
    talk.ask("ping", "");
    let own = talk.peer.session.clone();
    talk.peer.session = Some("gone".into());
    talk.ask("tools/list", "");
    talk.peer.session = Some("not visible".into());
    talk.ask("tools/list", "");
    talk.peer.session = own.clone();
    delete(talk, None);
    delete(talk, own.as_deref());
    talk.ask("tools/list", "");
}

fn delete(talk: &mut Talk, session: Option<&str>) {
    let session = session.map_or(String::new(), |it| format!("Mcp-Session-Id: {it}\r\n"));
    talk.send(format!("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n{session}\r\n").as_bytes());
}

fn gate(talk: &mut Talk) {
    let hello = talk.peer.hello();
    let frame = String::from_utf8(talk.peer.frame(&hello)).expect("text");
    for (host, origin) in [
        ("evil.example.com", Some("http://evil.example.com")),
        ("localhost", Some("http://evil.example.com")),
        ("localhost", Some("null")),
        ("localhost.evil.com", None),
        ("127.0.0.1:8080", Some("http://127.0.0.1:8080")),
    ] {
        let origin = origin.map_or(String::new(), |it| format!("\r\nOrigin: {it}"));
        let frame = frame.replace("Host: localhost", &format!("Host: {host}{origin}"));
        talk.send(frame.as_bytes());
    }
}

fn routes(talk: &mut Talk) {
    for method in ["GET", "PUT", "HEAD", "OPTIONS"] {
        talk.send(
            format!("{method} /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n").as_bytes(),
        );
    }
    let hello = talk.peer.hello();
    let frame = String::from_utf8(talk.peer.frame(&hello)).expect("text");
    for path in ["/mcp/", "/mcp?key=1", "//mcp", "/"] {
        talk.send(frame.replace("/mcp", path).as_bytes());
    }
    talk.send(frame.replace("application/json\r\nAccept", "text/plain\r\nAccept").as_bytes());
}

fn headers(talk: &mut Talk) {
    let call = |peer: &mut Peer| {
        peer.request("tools/call", r#""name":"test_x_mcp_header","arguments":{"region":"Hello"}"#)
    };
    let changes: [(&str, &str, Option<&str>); 14] = [
        ("MCP-Protocol-Version", "no version", None),
        ("MCP-Protocol-Version", "another version", Some("2025-06-18")),
        ("Mcp-Method", "no method", None),
        ("Mcp-Method", "another method", Some("prompts/list")),
        ("Mcp-Method", "another case", Some("TOOLS/CALL")),
        ("Mcp-Name", "no name", None),
        ("Mcp-Name", "another name", Some("wrong_tool_name")),
        ("Mcp-Name", "spaces around", Some("  test_x_mcp_header  ")),
        ("Mcp-Param-Region", "no parameter", None),
        ("Mcp-Param-Region", "another parameter", Some("Bye")),
        ("Mcp-Param-Region", "in Base64", Some("=?base64?SGVsbG8=?=")),
        ("Mcp-Param-Region", "not padded", Some("=?base64?SGVsbG8?=")),
        ("Mcp-Param-Region", "not Base64", Some("=?base64?SGVs!!!bG8=?=")),
        ("mcp-name", "in lower case", Some("test_x_mcp_header")),
    ];
    for (name, _, value) in changes {
        let request = call(&mut talk.peer);
        let mut headers = talk.peer.headers(&request);
        headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        headers.extend(value.map(|value| (name, value.to_owned())));
        let frame = talk.peer.post(&headers, request.as_bytes());
        talk.send(&frame);
    }
    // The metadata: missing, of another revision, of none.
    let discover = |meta: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"m","method":"server/discover","params":{{"_meta":{{{meta}}}}}}}"#
        )
    };
    let own = talk.peer.adapter().version;
    for (header, meta) in [
        (own, String::new()),
        (own, format!(r#""io.modelcontextprotocol/protocolVersion":"{own}""#)),
        (own, r#""io.modelcontextprotocol/clientCapabilities":{}"#.to_owned()),
        (own, r#""io.modelcontextprotocol/protocolVersion":"v999.0.0","io.modelcontextprotocol/clientCapabilities":{}"#.to_owned()),
        ("v999.0.0", r#""io.modelcontextprotocol/protocolVersion":"v999.0.0","io.modelcontextprotocol/clientCapabilities":{}"#.to_owned()),
    ] {
        let body = discover(&meta);
        let headers =
            [("MCP-Protocol-Version", header.to_owned()), ("Mcp-Method", "server/discover".into())];
        let frame = talk.peer.post(&headers, body.as_bytes());
        talk.send(&frame);
    }
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe"] {
        talk.ask(method, "");
    }
}
