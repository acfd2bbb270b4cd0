use super::*;
use crate::client::{AskId, Declined};
use crate::model::ReplyValue;

fn asked(http: &mut Http) -> Vec<AskId> {
    let asks = http.events.iter().filter_map(|event| match event {
        Event::Ask(ask, _) => Some(*ask),
        _ => None,
    });
    let asks = asks.collect();
    http.events.retain(|event| !matches!(event, Event::Ask(..)));
    asks
}

fn asking() -> Config {
    let mut config = config([Revision::V2026_07_28]);
    config.capabilities.elicitation_form = true;
    config
}

fn question(key: &str) -> String {
    format!(
        r#""{key}":{{"method":"elicitation/create","params":{{"message":"?","requestedSchema":{{"type":"object","properties":{{"n":{{"type":"integer","default":3}}}}}}}}}}"#
    )
}

fn asks(keys: &[&str], state: Option<&str>) -> String {
    let requests: Vec<_> = keys.iter().map(|key| question(key)).collect();
    let state = state.map(|state| format!(r#","requestState":{state}"#)).unwrap_or_default();
    let requests = match keys {
        [] => String::new(),
        _ => format!(r#","inputRequests":{{{}}}"#, requests.join(",")),
    };
    format!(r#"{{"resultType":"input_required"{requests}{state}}}"#)
}

#[test]
fn a_call_that_asks_is_repeated_with_the_answers_and_its_state() {
    // R26-MRTR-15 to R26-MRTR-21, R2511-ELIC-08
    let mut http = Http::modern_with(asking());
    let call = http.call(Request::call_tool("t", json(r#"{"x":1}"#)));
    let first = http.take();
    let state = r#""a\u0062 \/é""#;
    http.result(&first, &asks(&["one", "two"], Some(state)));
    let open = asked(&mut http);
    assert_eq!(open.len(), 2);
    let accept =
        |content: &str| Ok(Json::parse(format!(r#"{{"action":"accept"{content}}}"#)).unwrap());
    http.session.answer(http.now, open[0], accept(r#","content":{"n":7}"#));
    assert!(http.take_all().is_empty());
    http.session.answer(http.now, open[1], accept(""));
    let second = http.take();
    let params = &body(&second)["params"];
    assert_ne!(body(&second)["id"], body(&first)["id"]);
    assert_eq!(params["arguments"], serde_json::json!({ "x": 1 }));
    assert_eq!(params["inputResponses"]["one"]["content"], serde_json::json!({ "n": 7 }));
    assert_eq!(params["inputResponses"]["two"]["content"], serde_json::json!({ "n": 3 }));
    let text = String::from_utf8(second.body.to_vec()).unwrap();
    assert!(text.contains(&format!(r#""requestState":{state}"#)), "{text}");
    assert!(params["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string());
    assert_eq!(header(&second, "Mcp-Name"), Some("t"));
    // A round without a state sends none (T-49).
    http.result(&second, &asks(&["three"], None));
    let open = asked(&mut http);
    http.session.answer(http.now, open[0], Ok(Json::parse(r#"{"action":"decline"}"#).unwrap()));
    let third = http.take();
    assert!(body(&third)["params"].get("requestState").is_none());
    assert_eq!(
        body(&third)["params"]["inputResponses"],
        serde_json::json!({ "three": { "action": "decline" } })
    );
    http.result(&third, DONE);
    assert!(http.ended(call).unwrap().is_ok());
}

#[test]
fn without_anybody_to_ask_the_questions_are_the_result() {
    let mut http = Http::modern();
    let call = http.call(tool_call());
    let post = http.take();
    http.result(&post, &asks(&["one"], Some(r#""s""#)));
    let ReplyValue::InputRequired(asks) = http.ended(call).unwrap().unwrap().value else {
        panic!()
    };
    assert_eq!(asks.requests[0].0, "one");
    let answers = vec![("one".to_owned(), json(r#"{"action":"accept"}"#).unwrap())];
    http.call(tool_call().with_answers(answers, asks.state));
    let params = body(&http.take())["params"].clone();
    assert_eq!(params["requestState"], "s");
    assert_eq!(params["inputResponses"]["one"]["action"], "accept");
}

#[test]
fn a_question_that_cannot_be_answered_ends_its_call() {
    // R26-MRTR-22
    let mut http = Http::modern_with(asking());
    let call = http.call(tool_call());
    let post = http.take();
    http.result(&post, &asks(&["one", "two"], None));
    let open = asked(&mut http);
    http.session.answer(http.now, open[0], Err(Declined::failed("nobody there")));
    http.drain();
    assert_eq!(http.error_of(call).kind, ErrorKind::Unanswered("nobody there".into()));
    assert_eq!(http.count(|event| matches!(event, Event::Withdrawn(_))), 1);
    http.session.answer(http.now, open[1], Ok(Json::parse("{}").unwrap()));
    assert!(http.take_all().is_empty());
}

#[test]
fn a_server_that_asks_without_end_is_left() {
    // T-50
    let mut http = Http::modern();
    let call = http.call(tool_call());
    let mut rounds = 0;
    while http.ended(call).is_none() {
        for post in http.take_all() {
            rounds += 1;
            http.result(&post, &asks(&[], Some(r#""s""#)));
        }
        if http.ended(call).is_none() && http.opened.is_empty() {
            http.pass(Duration::from_secs(6));
        }
    }
    assert_eq!(http.error_of(call).kind, ErrorKind::TooManyRounds);
    assert_eq!(rounds, 33);
}

#[test]
fn what_was_not_declared_may_not_be_asked() {
    // R26-MRTR-07
    let mut http = Http::modern_with(asking());
    let call = http.call(tool_call());
    let post = http.take();
    http.result(
        &post,
        r#"{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}}}"#,
    );
    assert!(matches!(http.error_of(call).kind, ErrorKind::Protocol(_)));
    // R26-RPC-35: and a request of the server's is not answered at all.
    http.call(tool_call());
    let post = http.take();
    http.head(&post, 200, EVENTS);
    http.feed(&post, &event(None, r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#));
    assert!(http.take_all().is_empty());
}

#[test]
fn a_request_of_the_server_s_is_answered_in_the_session() {
    // T-33, C97
    let mut config = config([Revision::V2025_06_18]);
    config.capabilities.elicitation_form = true;
    let mut http = Http::legacy_with(config, Revision::V2025_06_18);
    let call = http.call(tool_call().with_patience(Duration::from_secs(10)));
    let post = http.take();
    http.head(&post, 200, EVENTS);
    http.feed(&post, &event(None, r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}"#));
    let open = asked(&mut http);
    // While somebody is asked, the server is not silent.
    http.pass(Duration::from_secs(100));
    assert!(http.ended(call).is_none());
    http.session.answer(http.now, open[0], Ok(Json::parse(r#"{"action":"accept"}"#).unwrap()));
    let answer = http.take();
    assert_eq!(body(&answer)["id"], "q");
    assert_eq!(body(&answer)["result"]["action"], "accept");
    assert_eq!(header(&answer, "Mcp-Session-Id"), Some("s1"));
    // One that is taken back is not answered.
    http.feed(
        &post,
        &event(
            None,
            r#"{"jsonrpc":"2.0","id":"r","method":"elicitation/create","params":{"message":"?"}}"#,
        ),
    );
    http.feed(
        &post,
        &event(
            None,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"r"}}"#,
        ),
    );
    let open = asked(&mut http);
    assert_eq!(http.count(|event| matches!(event, Event::Withdrawn(_))), 1);
    http.respond(&answer, 202, &[], b"");
    http.session.answer(http.now, open[0], Ok(Json::parse("{}").unwrap()));
    assert!(http.take_all().is_empty());
}

/// A client that was asked by a request, and whose answer is on its way.
fn answering() -> (Http, Open) {
    let mut config = config([Revision::V2025_06_18]);
    config.capabilities.elicitation_form = true;
    let mut http = Http::legacy_with(config, Revision::V2025_06_18);
    http.call(tool_call());
    let post = http.take();
    http.head(&post, 200, EVENTS);
    http.feed(&post, &event(None, r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}"#));
    let open = asked(&mut http);
    http.session.answer(http.now, open[0], Ok(Json::parse(r#"{"action":"accept"}"#).unwrap()));
    let sent = http.take();
    (http, sent)
}

#[test]
fn an_answer_that_reached_no_server_is_sent_again_within_bounds() {
    let (mut http, first) = answering();
    let mut sent = first.clone();
    for status in [502, 503, 504, 500, 502] {
        http.respond(&sent, status, &[], b"nobody is there");
        http.pass(Duration::from_secs(5));
        sent = http.take();
        assert_eq!(sent.body, first.body);
    }
    http.respond(&sent, 502, &[], b"");
    assert_eq!(http.count(|event| matches!(event, Event::Warning(_))), 1);
    http.pass(Duration::from_secs(5));
    assert!(http.take_all().is_empty());
}

#[test]
fn an_answer_that_is_refused_is_not_sent_again() {
    let (mut http, sent) = answering();
    http.respond(&sent, 400, &[], b"");
    http.pass(Duration::from_secs(30));
    assert!(http.take_all().is_empty());
}

#[test]
fn questions_in_arguments_are_answered_there() {
    let mut config = config([Revision::V2025_03_26]);
    config.capabilities.elicitation_form = true;
    let mut http = Http::legacy_with(config, Revision::V2025_03_26);
    let call = http.call(Request::call_tool("t", json(r#"{"x":1}"#)));
    let first = http.take();
    let result = format!(
        r#"{{"content":[{{"type":"text","text":"ask"}}],"_meta":{{"mcp-proto/inputRequired":{{"inputRequests":{{{}}},"requestState":"s"}}}}}}"#,
        question("one")
    );
    http.result(&first, &result);
    let open = asked(&mut http);
    http.session.answer(http.now, open[0], Ok(Json::parse(r#"{"action":"accept"}"#).unwrap()));
    let second = http.take();
    assert_eq!(
        body(&second)["params"]["arguments"],
        serde_json::json!({
            "x": 1,
            "input_responses": { "one": { "action": "accept", "content": { "n": 3 } } },
            "request_state": "s",
        })
    );
    http.result(&second, r#"{"content":[]}"#);
    assert!(http.ended(call).unwrap().is_ok());
}
