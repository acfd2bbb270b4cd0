//! Our client and our server together, in virtual time: every call ends exactly once, and the
//! pair ends quiet, for every revision, every way, and links of all kinds.

use core::time::Duration;
use std::sync::Arc;

use mcp_proto::client::{CallId, ClientError, Config, ErrorKind, Event};
use mcp_proto::model::{
    Call, Catalog, Implementation, Json, Operation, Progress, Reply, ReplyValue, Request, Tool,
    ToolResult,
};
use mcp_proto::revision::{AdapterSet, Revision};
use mcp_proto::server::Endpoint;
use mcp_proto::testing::{Link, Pair, Script, Way};

const WAYS: [Way; 2] = [Way::Stdio, Way::Http];

fn endpoint(revisions: &[Revision]) -> Endpoint {
    let mut catalog = Catalog::new(Implementation::new("demo", "1"));
    let schema = || Json::parse(r#"{"type":"object"}"#).unwrap();
    catalog.insert_tool(Tool::new("echo", schema()));
    catalog.insert_tool(Tool::new("never", schema()));
    let mut slow = Tool::new("slow", schema());
    slow.streaming = true;
    catalog.insert_tool(slow);
    Endpoint::builder(Arc::new(catalog))
        .adapters(AdapterSet::of(revisions.iter().copied()).unwrap())
        .path("/mcp")
        .build()
}

fn application(call: &Call) -> Script {
    let text = call.arguments().map(Json::as_str).unwrap_or("{}").to_owned();
    let second = Duration::from_secs(1);
    match call.target() {
        Some("slow") => Script::default()
            .progress(Progress::new(1.0))
            .wait(second)
            .progress(Progress::new(2.0))
            .wait(second)
            .respond(ToolResult::text(text)),
        Some("never") => Script::silent(),
        _ => Script::answer(ToolResult::text(text)),
    }
}

fn pair(way: Way, revision: Revision) -> Pair<fn(&Call) -> Script> {
    let config = Config::new(Implementation::new("client", "1"));
    Pair::new(way, config, endpoint(&[revision]), application as fn(&Call) -> Script)
}

fn ends(events: &[Event], call: CallId) -> Vec<Result<Reply, ClientError>> {
    let end = |event: &Event| match event {
        Event::Ended(id, result) if *id == call => {
            Some(result.clone().map(|reply| (*reply).clone()))
        }
        _ => None,
    };
    events.iter().filter_map(end).collect()
}

fn end(events: &[Event], call: CallId) -> Result<Reply, ClientError> {
    let mut all = ends(events, call);
    assert_eq!(all.len(), 1, "{call} ended {} times: {events:?}", all.len());
    all.remove(0)
}

fn text(reply: Result<Reply, ClientError>) -> String {
    match reply.map(|reply| reply.value) {
        Ok(ReplyValue::Tool(result)) => match &result.content[..] {
            [mcp_proto::model::Content::Text { text, .. }] => text.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

fn json(text: &str) -> Option<Json> {
    Some(Json::parse(text.to_owned()).unwrap())
}

fn good_links() -> [Link; 4] {
    let second = Duration::from_secs(1);
    [
        Link::direct(),
        Link::bytewise(),
        Link::direct().pieces(40).delay(Duration::from_millis(20)),
        Link::direct().pieces(200).stall(20, second),
    ]
}

#[test]
fn calls_are_made_alike_whatever_the_revision_the_way_and_the_link() {
    for (seed, link) in good_links().into_iter().enumerate() {
        for revision in Revision::ALL {
            for way in WAYS {
                let mut pair = pair(way, revision).with_link(link.clone(), seed as u64);
                let echo = pair.call(Request::call_tool("echo", json(r#"{"a":1}"#)));
                let list = pair.call(Request::list(Operation::ListTools));
                let slow =
                    pair.call(Request::call_tool("slow", json(r#"{"b":2}"#)).with_progress());
                let never = pair.call(Request::call_tool("never", None));
                let none = pair.call(Request::call_tool("none", None));
                let ping = pair.call(Request::ping());
                pair.run_for(Duration::from_secs(60));
                let now = pair.now();
                pair.client().cancel(now, never);
                pair.run_for(Duration::from_secs(60));
                let events = pair.take_events();
                let what = format!("{revision:?} {way:?} {link:?} {events:?}");
                assert_eq!(text(end(&events, echo)), r#"{"a":1}"#, "{what}");
                assert_eq!(text(end(&events, slow)), r#"{"b":2}"#, "{what}");
                let ReplyValue::Tools(tools) = end(&events, list).unwrap().value else {
                    panic!("{what}");
                };
                assert_eq!(tools.entries.len(), 3, "{what}");
                assert!(end(&events, ping).is_ok(), "{what}");
                assert_eq!(end(&events, never).unwrap_err().kind, ErrorKind::Cancelled);
                assert_eq!(end(&events, none).unwrap_err().server().unwrap().code, -32602);
                let steps = events.iter().filter(|event| matches!(event, Event::Progress(..)));
                assert_eq!(steps.count(), 2, "{what}");
                let server = pair.client().server().unwrap();
                assert_eq!(server.adapter.version, revision.adapter().version);
                pair.client().close(now);
                pair.run_for(Duration::from_secs(600));
                assert!(pair.client().is_closed(), "{what}");
                assert_eq!(pair.client().poll_timeout(), None, "{what}");
            }
        }
    }
}

#[test]
fn over_links_that_break_every_call_still_ends_exactly_once() {
    for seed in 0..40 {
        for revision in Revision::ALL {
            for way in WAYS {
                let link = Link::direct().pieces(60).delay(Duration::from_millis(5)).cut(30);
                let mut pair = pair(way, revision).with_link(link, seed);
                let mut calls = Vec::new();
                for n in 0..6 {
                    let name = if n % 3 == 0 { "slow" } else { "echo" };
                    calls.push(pair.call(Request::call_tool(name, json(r#"{"a":1}"#))));
                    pair.run_for(Duration::from_millis(700));
                }
                pair.run_for(Duration::from_secs(7_200));
                let events = pair.take_events();
                for call in calls {
                    let _ = end(&events, call);
                }
                let now = pair.now();
                pair.client().close(now);
                pair.run_for(Duration::from_secs(600));
                assert_eq!(pair.client().poll_timeout(), None);
                assert_eq!(pair.connections(), 0);
            }
        }
    }
}
