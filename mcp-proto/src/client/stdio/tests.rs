mod listening;
mod unreadable;

use std::sync::Arc;

use super::Stdio;
use crate::client::{CallId, Carry, ClientError, Config, Event, Machine, Output, Question};
use crate::model::{
    Catalog, Filter, Implementation, Json, Operation, Reply, ReplyValue, Request, Tool, ToolResult,
};
use crate::revision::{AdapterSet, Revision};
use crate::server;
use crate::server::Machine as _;
use crate::time::Instant;

const NOW: Instant = Instant::ZERO;

fn config(revisions: impl IntoIterator<Item = Revision>) -> Config {
    let mut config = Config::new(Implementation::new("client", "1"));
    config.adapters = AdapterSet::of(revisions).unwrap();
    config
}

fn events(client: &mut Stdio) -> Vec<Event> {
    let mut events = Vec::new();
    while let Some(output) = client.poll_output() {
        match output {
            Output::Event(event) => events.push(event),
            Output::Carry(Carry::Respawn) => {}
            other => panic!("{other:?}"),
        }
    }
    events
}

fn sent(client: &mut Stdio) -> Vec<serde_json::Value> {
    let mut out = Vec::new();
    client.transmit(&mut out);
    out.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

fn hear(client: &mut Stdio, line: &str) {
    client.handle_input(NOW, format!("{line}\n").as_bytes());
}

fn ended(events: &[Event], call: CallId) -> Option<Result<Reply, ClientError>> {
    let mut ends = events.iter().filter_map(|event| match event {
        Event::Ended(id, result) if *id == call => Some(result.clone().map(|reply| *reply)),
        _ => None,
    });
    let end = ends.next();
    assert!(ends.next().is_none(), "{call} ended twice");
    end
}

/// A client that made its handshake at 2025-11-25; what it sent is taken.
fn connected() -> Stdio {
    let mut client = Stdio::new(config([Revision::V2025_11_25]), NOW);
    let initialize = sent(&mut client);
    assert_eq!(initialize[0]["method"], "initialize");
    hear(
        &mut client,
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"2"},"instructions":"be kind"}}"#,
    );
    assert!(matches!(&events(&mut client)[..], [Event::Connected(_)]));
    assert_eq!(sent(&mut client)[0]["method"], "notifications/initialized");
    client
}

/// Our own server, with a tool that doubles what it is given.
fn server(revisions: impl IntoIterator<Item = Revision>) -> server::Stdio {
    let mut catalog = Catalog::new(Implementation::new("demo", "1"));
    let schema = Json::parse(r#"{"type":"object"}"#).unwrap();
    catalog.insert_tool(Tool::new("echo", schema));
    let endpoint = server::Endpoint::builder(Arc::new(catalog))
        .adapters(AdapterSet::of(revisions).unwrap())
        .build();
    server::Stdio::new(endpoint, NOW)
}

fn run(client: &mut Stdio, server: &mut server::Stdio) -> Vec<Event> {
    let mut heard = Vec::new();
    loop {
        let mut there = Vec::new();
        client.transmit(&mut there);
        server.handle_input(NOW, &there);
        while let Some(output) = server.poll_output() {
            if let server::Output::Event(server::Event::Call(id, call)) = output {
                let text = call.arguments().map(Json::as_str).unwrap_or_default().to_owned();
                server.respond(id, ToolResult::text(text).into());
            }
        }
        let mut back = Vec::new();
        server.transmit(&mut back);
        client.handle_input(NOW, &back);
        heard.extend(events(client));
        if there.is_empty() && back.is_empty() {
            return heard;
        }
    }
}

#[test]
fn every_revision_is_found_and_called_alike() {
    for revision in Revision::ALL {
        let mut client = Stdio::new(config(Revision::ALL), NOW);
        let arguments = Json::parse(r#"{"a":2}"#).unwrap();
        let call = client.call(NOW, Request::call_tool("echo", Some(arguments)));
        let list = client.call(NOW, Request::list(Operation::ListTools));
        let events = run(&mut client, &mut server([revision]));
        let known = client.server().unwrap();
        assert_eq!(known.adapter.version, revision.adapter().version);
        assert_eq!(known.description.server.as_ref().unwrap().name, "demo");
        let ReplyValue::Tool(result) = ended(&events, call).unwrap().unwrap().value else {
            panic!("{revision:?}");
        };
        assert_eq!(result.content, ToolResult::text(r#"{"a":2}"#).content);
        let ReplyValue::Tools(tools) = ended(&events, list).unwrap().unwrap().value else {
            panic!("{revision:?}");
        };
        assert_eq!(tools.entries.len(), 1);
    }
}

#[test]
fn an_id_that_a_gateway_made_a_string_is_understood() {
    // C02
    let mut client = connected();
    let call = client.call(NOW, Request::ping());
    hear(&mut client, r#"{"jsonrpc":"2.0","id":"02","result":{}}"#);
    assert!(ended(&events(&mut client), call).is_none());
    hear(&mut client, r#"{"jsonrpc":"2.0","id":"2","result":{}}"#);
    assert!(ended(&events(&mut client), call).unwrap().is_ok());
}

#[test]
fn cancelling_tells_the_server_and_a_late_answer_is_ignored() {
    // R24-CANC-01, R24-CANC-05, C83
    let mut client = connected();
    let call = client.call(NOW, Request::call_tool("slow", None));
    sent(&mut client);
    client.cancel(NOW, call);
    client.cancel(NOW, call);
    let cancelled = sent(&mut client);
    assert_eq!(cancelled.len(), 1);
    assert_eq!(cancelled[0]["method"], "notifications/cancelled");
    assert_eq!(cancelled[0]["params"]["requestId"], 2);
    hear(&mut client, r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#);
    let events = events(&mut client);
    assert!(ended(&events, call).unwrap().is_err());
    assert_eq!(events.len(), 1, "{events:?}");
    assert!(sent(&mut client).is_empty());
}

#[test]
fn a_handshake_that_times_out_is_not_cancelled() {
    // C31
    let mut client = Stdio::new(config([Revision::V2025_06_18]), NOW);
    let call = client.call(NOW, Request::ping());
    sent(&mut client);
    let at = client.poll_timeout().unwrap();
    client.handle_timeout(at);
    assert!(ended(&events(&mut client), call).unwrap().is_err());
    assert!(sent(&mut client).is_empty());
}

#[test]
fn a_server_that_ends_on_the_probe_is_started_again_once() {
    // C22
    let mut client = Stdio::new(config(Revision::ALL), NOW);
    assert_eq!(sent(&mut client)[0]["method"], "server/discover");
    client.handle_eof(NOW);
    assert!(matches!(client.poll_output(), Some(Output::Carry(Carry::Respawn))));
    assert!(sent(&mut client).is_empty());
    client.handle_eof(NOW);
    client.handle_respawned(NOW);
    assert_eq!(sent(&mut client)[0]["method"], "initialize");
    client.handle_eof(NOW);
    assert!(matches!(&events(&mut client)[..], [Event::Unavailable(_), ..]));
}

#[test]
fn every_call_ends_when_the_server_does() {
    // C86
    let mut client = connected();
    let calls: Vec<_> = (0..3).map(|_| client.call(NOW, Request::call_tool("t", None))).collect();
    client.handle_eof(NOW);
    client.handle_eof(NOW);
    client.handle_closed(NOW);
    let events = events(&mut client);
    for call in calls {
        assert!(ended(&events, call).unwrap().is_err());
    }
    assert!(client.poll_timeout().is_none() && sent(&mut client).is_empty());
    client.close(NOW);
    assert!(client.is_closed() && client.poll_timeout().is_none());
    let late = client.call(NOW, Request::ping());
    assert!(ended(&self::events(&mut client), late).unwrap().is_err());
}

#[test]
fn a_server_that_ended_is_started_again_when_there_is_a_call_for_it() {
    // R26-STDIO-18
    let mut client = connected();
    client.handle_eof(NOW);
    assert!(client.poll_output().is_none());
    let call = client.call(NOW, Request::ping());
    assert!(matches!(client.poll_output(), Some(Output::Carry(Carry::Respawn))));
    assert!(sent(&mut client).is_empty());
    client.handle_respawned(NOW);
    let initialize = sent(&mut client);
    assert_eq!(initialize[0]["method"], "initialize");
    let id = &initialize[0]["id"];
    hear(
        &mut client,
        &format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"2025-11-25","capabilities":{{}}}}}}"#
        ),
    );
    let again = sent(&mut client);
    assert_eq!(again[1]["method"], "ping");
    hear(&mut client, &format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, again[1]["id"]));
    assert!(ended(&events(&mut client), call).unwrap().is_ok());
    // One that cannot be started is the end.
    client.handle_eof(NOW);
    let call = client.call(NOW, Request::ping());
    client.handle_unstarted(NOW, "no such program");
    assert!(ended(&events(&mut client), call).unwrap().is_err());
    assert!(client.is_closed());
}

#[test]
fn what_the_server_may_ask_is_what_was_declared() {
    let mut config = config([Revision::V2025_06_18]);
    config.capabilities.roots = true;
    let mut client = Stdio::new(config, NOW);
    let initialize = sent(&mut client);
    assert_eq!(initialize[0]["params"]["capabilities"], serde_json::json!({ "roots": {} }));
    hear(
        &mut client,
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"2"}}}"#,
    );
    events(&mut client);
    sent(&mut client);
    for (id, method) in [(1, "ping"), (2, "roots/list"), (3, "sampling/createMessage"), (4, "x/y")]
    {
        hear(&mut client, &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#));
    }
    let asked = events(&mut client);
    let [Event::Ask(ask, Question { method, .. })] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!(method, "roots/list");
    client.answer(NOW, *ask, Ok(Json::parse(r#"{"roots":[]}"#).unwrap()));
    client.answer(NOW, *ask, Ok(Json::parse(r#"{"roots":[]}"#).unwrap()));
    let answers = sent(&mut client);
    assert_eq!(answers.len(), 4);
    assert_eq!(answers[0]["result"], serde_json::json!({}));
    assert_eq!(answers[1]["error"]["code"], -32601);
    assert_eq!(answers[2]["error"]["code"], -32601);
    assert_eq!(answers[3]["id"], 2);
}

#[test]
fn an_answer_counts_though_the_server_could_not_be_reached_meanwhile() {
    let mut config = config([Revision::V2026_07_28]);
    config.capabilities.roots = true;
    let mut client = Stdio::new(config, NOW);
    hear(
        &mut client,
        r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}"#,
    );
    let call = client.call(NOW, Request::call_tool("t", None));
    hear(
        &mut client,
        r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}}}}"#,
    );
    let said = events(&mut client);
    let Some(Event::Ask(ask, _)) = said.last() else { panic!("{said:?}") };
    // The server ends, and ends again when it is started for another call.
    client.handle_eof(NOW);
    let other = client.call(NOW, Request::ping());
    client.handle_respawned(NOW);
    client.handle_eof(NOW);
    let said = events(&mut client);
    assert!(said.iter().any(|event| matches!(event, Event::Unavailable(_))), "{said:?}");
    assert!(ended(&said, other).is_some() && ended(&said, call).is_none());
    // The answer has it started once more.
    let roots = Json::parse(r#"{"roots":[]}"#).unwrap();
    client.answer(NOW, *ask, Ok(roots));
    assert!(matches!(client.poll_output(), Some(Output::Carry(Carry::Respawn))));
    client.handle_respawned(NOW);
    let sent = sent(&mut client);
    assert_eq!(sent.last().unwrap()["method"], "server/discover");
    let probe = sent.last().unwrap()["id"].as_i64().unwrap();
    hear(
        &mut client,
        &format!(
            r#"{{"jsonrpc":"2.0","id":{probe},"result":{{"supportedVersions":["2026-07-28"],"capabilities":{{}}}}}}"#
        ),
    );
    let sent = self::sent(&mut client);
    assert_eq!(sent[0]["method"], "tools/call");
    assert_eq!(sent[0]["params"]["inputResponses"]["r"]["roots"], serde_json::json!([]));
}

#[test]
fn a_server_may_end_a_subscription_by_cancelling_it() {
    // R26-SUBS-12, C88
    let mut client = Stdio::new(config([Revision::V2026_07_28]), NOW);
    hear(
        &mut client,
        r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}"#,
    );
    let listen = client.listen(NOW, Filter::lists());
    let posted = sent(&mut client);
    let id = posted.last().unwrap()["id"].clone();
    hear(
        &mut client,
        &format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        ),
    );
    let ends = |event: &Event| matches!(event, Event::Unlistened(own, Ok(())) if *own == listen);
    assert!(events(&mut client).iter().any(ends));
    // Nothing is left to be cancelled.
    assert!(sent(&mut client).is_empty());
}

/// R24-PROG-02.
#[test]
fn progress_that_does_not_rise_is_dropped_on_lines_too() {
    let mut client = connected();
    let call = client.call(NOW, Request::call_tool("t", None));
    let request = sent(&mut client).remove(0);
    assert_eq!(request["params"]["_meta"]["progressToken"], request["id"]);
    for step in ["1", "1", "2", "1.5", "3"] {
        let params = format!(r#"{{"progressToken":{},"progress":{step}}}"#, request["id"]);
        let note =
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#);
        hear(&mut client, &note);
    }
    let told = events(&mut client).into_iter().filter_map(|event| match event {
        Event::Progress(own, progress) if own == call => Some(progress.progress),
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), [1.0, 2.0, 3.0]);
}

/// Whatever a process answers the probe with, it lives, and is greeted as it is.
#[test]
fn an_error_of_no_request_answers_the_probe() {
    for id in [r#""id":null,"#, "", r#""id":1,"#] {
        let mut client = Stdio::new(config(Revision::ALL), NOW);
        assert_eq!(sent(&mut client)[0]["method"], "server/discover");
        let error = r#""error":{"code":-32700,"message":"Parse error"}"#;
        hear(&mut client, &format!(r#"{{"jsonrpc":"2.0",{id}{error}}}"#));
        assert_eq!(sent(&mut client)[0]["method"], "initialize", "{id}");
        let respawns = std::iter::from_fn(|| client.poll_output());
        assert_eq!(respawns.filter(|it| matches!(it, Output::Carry(Carry::Respawn))).count(), 0);
    }
}

/// The Python SDK up to 1.8 says nothing to the probe, and dies at the next line.
#[test]
fn a_silent_process_is_started_again_before_another_line_is_sent() {
    let mut client = Stdio::new(config(Revision::ALL), NOW);
    assert_eq!(sent(&mut client)[0]["method"], "server/discover");
    let due = client.poll_timeout().expect("patience ends");
    assert!(due.saturating_since(NOW) <= core::time::Duration::from_secs(5), "{due:?}");
    client.handle_timeout(due);
    let outputs: Vec<_> = std::iter::from_fn(|| client.poll_output()).collect();
    assert!(outputs.iter().any(|it| matches!(it, Output::Carry(Carry::Respawn))), "{outputs:?}");
    assert!(sent(&mut client).is_empty(), "nothing is said to the old process");
    client.handle_respawned(due);
    assert_eq!(sent(&mut client)[0]["method"], "initialize");
}

/// A client with a model, of this revision, that puts two questions at once and lets three wait.
fn asked(revision: Revision) -> Stdio {
    let mut config = config([revision]);
    config.capabilities.sampling = true;
    (config.limits.asks, config.limits.unasked, config.limits.message) = (2, 3, 1_000);
    let mut client = Stdio::new(config, NOW);
    sent(&mut client);
    let server = r#""capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"2"}"#;
    hear(
        &mut client,
        &format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{revision}",{server}}}}}"#
        ),
    );
    events(&mut client);
    sent(&mut client);
    client
}

fn put(client: &mut Stdio, id: u32, filler: usize) {
    let params = format!(r#"{{"maxTokens":1,"messages":[],"x":"{}"}}"#, "x".repeat(filler));
    let method = "sampling/createMessage";
    hear(
        client,
        &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#),
    );
}

fn asks(client: &mut Stdio) -> Vec<crate::client::AskId> {
    let asks = events(client).into_iter().filter_map(|event| match event {
        Event::Ask(ask, _) => Some(ask),
        _ => None,
    });
    asks.collect()
}

fn answered(client: &mut Stdio, ask: crate::client::AskId) -> serde_json::Value {
    client.answer(NOW, ask, Ok(Json::parse("{}").unwrap()));
    sent(client).remove(0)["id"].clone()
}

#[test]
fn as_many_questions_are_put_at_once_as_our_server_asks() {
    let (client, server) = (crate::client::Limits::default(), server::Limits::default());
    assert!(client.asks >= server.in_flight && client.unasked >= server.parked);
}

#[test]
fn questions_beyond_those_that_may_be_open_wait_for_their_turn() {
    for revision in Revision::ALL.into_iter().filter(|it| it.adapter().has_handshake) {
        let mut client = asked(revision);
        (1..=6).for_each(|id| put(&mut client, id, 0));
        let mut open = asks(&mut client);
        assert_eq!(open.len(), 2, "{revision}");
        // The sixth finds no room, and is told so at once.
        let refused = sent(&mut client);
        assert_eq!((refused.len(), &refused[0]["id"]), (1, &6.into()), "{revision}");
        assert_eq!(refused[0]["error"]["code"], -32603, "{revision}");
        // One that waits is taken back, and one that waits has an id in use.
        let cancelled = r#"{"method":"notifications/cancelled","params":{"requestId":4}}"#;
        hear(&mut client, &cancelled.replacen('{', r#"{"jsonrpc":"2.0","#, 1));
        put(&mut client, 5, 0);
        assert_eq!(sent(&mut client)[0]["error"]["code"], -32600, "{revision}");
        let mut ids = Vec::new();
        while !open.is_empty() {
            ids.push(answered(&mut client, open.remove(0)));
            open.extend(asks(&mut client));
        }
        assert_eq!(ids, [1, 2, 3, 5], "{revision}");
    }
}

#[test]
fn questions_that_are_open_and_that_wait_are_bounded_by_their_bytes_together() {
    for (filler, put_at_once, refused) in
        [(100, 2, vec![]), (300, 2, vec![3, 4]), (800, 1, vec![2, 3, 4])]
    {
        let mut client = asked(Revision::V2025_11_25);
        (1..=4).for_each(|id| put(&mut client, id, filler));
        assert_eq!(asks(&mut client).len(), put_at_once, "{filler}");
        let busy = sent(&mut client);
        let ids: Vec<_> = busy.iter().map(|it| it["id"].as_u64().unwrap()).collect();
        assert_eq!(ids, refused, "{filler}");
        assert!(busy.iter().all(|it| it["error"]["code"] == -32603), "{filler}");
    }
}

/// A client that knows its server and has nothing to write.
fn idle(revision: Revision) -> Stdio {
    let mut config = config([revision]);
    (config.limits.unsent, config.limits.queued_bytes) = (10_000, 50_000);
    let mut client = Stdio::new(config, NOW);
    let handshake = sent(&mut client).remove(0);
    let (id, server) = (&handshake["id"], r#"{"name":"s","version":"2"}"#);
    hear(
        &mut client,
        &format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"{revision}","capabilities":{{"tools":{{}}}},"serverInfo":{server}}}}}"#
        ),
    );
    assert!(client.server().is_some());
    sent(&mut client);
    events(&mut client);
    client
}

#[test]
fn a_server_that_asks_and_never_reads_is_not_read_on_and_calls_are_written_all_the_same() {
    let long = "x".repeat(3_000);
    let asked = [
        r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#.to_owned(),
        format!(r#"{{"jsonrpc":"2.0","id":"{long}","method":"ping"}}"#),
        r#"{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":7,"method":"no/such"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":1e400}}"#.to_owned(),
    ];
    for revision in Revision::ALL.into_iter().filter(|it| it.adapter().has_handshake) {
        for line in &asked {
            let mut client = idle(revision);
            let input = format!(
                "{line}
"
            )
            .repeat(2_000);
            let taken = client.handle_input(NOW, input.as_bytes());
            assert!(taken < input.len() && !client.wants_input(), "{revision}: {line:.60}");
            assert_eq!(client.handle_input(NOW, &input.as_bytes()[taken..]), 0);
            let call = client.call(NOW, Request::call_tool("t", None));
            let written = sent(&mut client);
            assert_eq!(written.last().unwrap()["method"], "tools/call", "{revision}");
            // It reads again: nothing that it asked is left out.
            let mut answers = written.len() - 1;
            let mut rest = &input.as_bytes()[taken..];
            while !rest.is_empty() {
                assert!(client.wants_input(), "{revision}: {line:.60}");
                let more = client.handle_input(NOW, rest);
                rest = &rest[more..];
                answers += sent(&mut client).len();
            }
            assert_eq!(answers, 2_000, "{revision}: {line:.60}");
            assert!(ended(&events(&mut client), call).is_none());
        }
    }
}

/// What the test above is to find: a client that reads on, whatever waits to be written.
#[test]
fn a_client_that_reads_on_though_its_answers_are_not_taken_would_be_found() {
    let mut client = idle(Revision::V2025_11_25);
    client.core.config.limits.unsent = usize::MAX;
    let input = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n".repeat(2_000);
    assert_eq!(client.handle_input(NOW, input.as_bytes()), input.len());
    assert_eq!(sent(&mut client).len(), 2_000);
}

#[test]
fn what_nobody_fetches_stops_input_by_its_bytes() {
    let text = "x".repeat(5_000);
    let said = [
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":"{text}"}}}}"#
        ),
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/{text}"}}"#),
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/other","params":{{"x":"{text}"}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":"{text}","result":{{}}}}"#),
    ];
    for revision in Revision::ALL.into_iter().filter(|it| it.adapter().has_handshake) {
        for line in &said {
            let mut client = idle(revision);
            let input = format!(
                "{line}
"
            )
            .repeat(100);
            let taken = client.handle_input(NOW, input.as_bytes());
            assert!((50_000..70_000).contains(&taken), "{revision}: {taken} of {line:.60}");
            assert!(!client.wants_input());
            assert!(!events(&mut client).is_empty());
            assert!(client.wants_input(), "{revision}: {line:.60}");
        }
    }
}
