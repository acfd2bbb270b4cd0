use super::*;

#[test]
fn each_request_of_the_newest_revision_describes_itself() {
    // R26-META-07, R26-HDR-01, R26-HDR-05, R26-HDR-06, R26-HTTP-06
    let mut http = Http::new(config(Revision::ALL));
    let discover = http.take();
    assert_eq!((discover.method, discover.target.as_str()), (Method::Post, "/mcp"));
    assert_eq!(header(&discover, "MCP-Protocol-Version"), Some("2026-07-28"));
    assert_eq!(header(&discover, "Mcp-Method"), Some("server/discover"));
    assert_eq!(header(&discover, "Mcp-Name"), None);
    assert_eq!(header(&discover, "Accept"), Some("application/json, text/event-stream"));
    assert_eq!(header(&discover, "Content-Type"), Some("application/json"));
    let meta = &body(&discover)["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "client");
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], serde_json::json!({}));

    let mut http = Http::modern();
    http.call(Request::read_resource("file:///ü"));
    let read = http.take();
    assert_eq!(header(&read, "Mcp-Name"), Some("=?base64?ZmlsZTovLy/DvA==?="));
    assert_eq!(header(&read, "Mcp-Session-Id"), None);
    http.call(Request::get_prompt("p", None).with_progress());
    let prompt = http.take();
    assert_eq!(header(&prompt, "Mcp-Name"), Some("p"));
    assert_eq!(body(&prompt)["params"]["_meta"]["progressToken"], body(&prompt)["id"]);
}

#[test]
fn a_handshake_names_no_session_and_what_follows_does() {
    // R2506-HDR-01, R2503-SESS-04, T-31, C59
    let mut config = config([Revision::V2025_06_18]);
    config.unasked = false;
    let mut http = Http::new(config);
    let initialize = http.opened[0].clone();
    assert_eq!(header(&initialize, "MCP-Protocol-Version"), None);
    assert_eq!(header(&initialize, "Mcp-Session-Id"), None);
    assert_eq!(header(&initialize, "Mcp-Method"), None);
    assert_eq!(body(&initialize)["params"]["protocolVersion"], "2025-06-18");
    http.call(tool_call());
    http.shake("s1", Revision::V2025_06_18);
    let call = http.take();
    assert_eq!(header(&call, "MCP-Protocol-Version"), Some("2025-06-18"));
    assert_eq!(header(&call, "Mcp-Session-Id"), Some("s1"));
}

#[test]
fn a_session_s_id_is_taken_from_a_successful_handshake_only() {
    // C59
    let mut http = Http::new(config(Revision::ALL));
    let discover = http.take();
    http.respond(&discover, 400, &[JSON[0], ("Mcp-Session-Id", "poison")], b"");
    let initialize = http.take();
    assert_eq!(header(&initialize, "Mcp-Session-Id"), None);
    http.result(&initialize, r#"{"protocolVersion":"2025-06-18","capabilities":{}}"#);
    assert_eq!(header(&http.take(), "Mcp-Session-Id"), None);
    http.session.close(http.now);
    assert!(http.take_all().iter().all(|open| open.method != Method::Delete));
    for bad in ["a b", "ü", ""] {
        let mut http = Http::new(config([Revision::V2025_06_18]));
        let initialize = http.take();
        let text = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}"#;
        http.respond(&initialize, 200, &[JSON[0], ("Mcp-Session-Id", bad)], text.as_bytes());
        assert_eq!(header(&http.take(), "Mcp-Session-Id"), None, "{bad:?}");
    }
}

#[test]
fn a_challenge_or_trouble_is_told_and_nothing_is_learned_from_it() {
    // C23
    for (status, headers) in
        [(401, ("WWW-Authenticate", "Bearer x=\"y\"")), (503, ("Retry-After", "7"))]
    {
        let mut http = Http::new(config(Revision::ALL));
        let call = http.call(tool_call());
        let discover = http.take();
        http.respond(&discover, status, &[headers], b"");
        let error = http.error_of(call);
        match &error.kind {
            ErrorKind::Unauthorized { challenges, .. } => {
                assert_eq!(challenges, &["Bearer x=\"y\""])
            }
            ErrorKind::Http { retry_after, .. } => assert_eq!(*retry_after, Some(7)),
            other => panic!("{other:?}"),
        }
        assert!(http.session.learned().is_none() && !http.session.is_closed());
        // The next call begins anew.
        http.call(tool_call());
        assert_eq!(body(&http.take())["method"], "server/discover");
    }
}

#[test]
fn the_oldest_transport_is_found_by_its_stream() {
    // R26-COMPAT-02, R24-SSE-03, C56, T-26
    let mut http = Http::new(config(Revision::ALL));
    let call = http.call(tool_call());
    for method in ["server/discover", "initialize"] {
        let post = http.take();
        assert_eq!(body(&post)["method"], method);
        http.respond(&post, 405, HTML, b"<html>");
    }
    let stream = http.take();
    assert_eq!((stream.method, stream.target.as_str()), (Method::Get, "/mcp"));
    assert_eq!(header(&stream, "Accept"), Some("text/event-stream"));
    http.head(&stream, 200, EVENTS);
    http.feed(&stream, "event: endpoint\ndata: messages?sid=1\n\n");
    let initialize = http.take();
    assert_eq!(initialize.target, "/messages?sid=1");
    http.respond(&initialize, 202, &[], b"Accepted");
    let id = &body(&initialize)["id"];
    http.feed(
        &stream,
        &event(None, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"2024-11-05","capabilities":{{}}}}}}"#)),
    );
    let initialized = http.take();
    http.respond(&initialized, 202, &[], b"");
    let post = http.take();
    assert_eq!(post.target, "/messages?sid=1");
    // C56: some servers answer in the response.
    http.respond(&post, 200, &[], b"");
    assert!(http.ended(call).is_none());
    let id = &body(&post)["id"];
    http.feed(
        &stream,
        &event(None, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#)),
    );
    assert!(http.ended(call).unwrap().is_ok());
    assert_eq!(http.session.learned().unwrap().to_string(), "2024-11-05 http+sse");
    // The stream is the session: without it, nothing will be answered.
    let lost = http.call(tool_call());
    let post = http.take();
    http.respond(&post, 202, &[], b"");
    http.fail(&stream);
    assert!(matches!(http.error_of(lost).kind, ErrorKind::Connection(_)));
    http.call(tool_call());
    assert_eq!(http.take().method, Method::Get);
}

#[test]
fn an_endpoint_of_another_origin_gets_nothing() {
    // C56
    for reference in ["http://evil/x", "//evil/x", "https://h/x"] {
        let mut http = Http::new(config([Revision::V2024_11_05]));
        let call = http.call(tool_call());
        let post = http.take();
        http.respond(&post, 404, HTML, b"");
        let stream = http.take();
        http.head(&stream, 200, EVENTS);
        http.feed(&stream, &format!("event: endpoint\ndata: {reference}\n\n"));
        assert!(http.take_all().is_empty(), "{reference}");
        assert!(http.ended(call).unwrap().is_err());
        assert!(http.closed.contains(&stream.exchange));
    }
}
