//! What a client does about a question, and what comes of it.

use core::time::Duration;

use mcp_proto::revision::{AskBy, Revision};
use mcp_proto::testing::Cluster;
use serde_json::Value;

use crate::fixture::{Caller, Way};
use crate::service::{Kind, Service, endpoint};

/// What the client does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    Accept,
    Decline,
    Cancel,
    Error,
    Malformed,
    Timeout,
    Undeclared,
    Unasked,
}

impl Does {
    pub(crate) const ALL: [Self; 8] = [
        Self::Accept,
        Self::Decline,
        Self::Cancel,
        Self::Error,
        Self::Malformed,
        Self::Timeout,
        Self::Undeclared,
        Self::Unasked,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
            Self::Error => "error",
            Self::Malformed => "malformed",
            Self::Timeout => "timeout",
            Self::Undeclared => "undeclared",
            Self::Unasked => "unasked",
        }
    }
}

const WORKERS: usize = 3;

/// Longer than any question, state or stream lives.
const LONG: Duration = Duration::from_secs(1_200);

const EVERYTHING: &str =
    r#"{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{"listChanged":true}}"#;

/// Runs the conversation, and says how it ended.
pub(crate) fn conversation(kind: Kind, way: Way, does: Does, revision: Revision) -> String {
    let answer = match (kind, does) {
        (Kind::Sampling | Kind::Roots, Does::Decline | Does::Cancel) => {
            return "- has no such answer".into();
        }
        (_, Does::Decline) => r#"{"action":"decline"}"#,
        (_, Does::Cancel) => r#"{"action":"cancel"}"#,
        (Kind::Form | Kind::Url, Does::Malformed) => r#"{"action":"ok"}"#,
        (_, Does::Malformed) => "{}",
        (Kind::Form, _) => r#"{"action":"accept","content":{"name":"ada"}}"#,
        (Kind::Url, _) => r#"{"action":"accept"}"#,
        (Kind::Sampling, _) => {
            r#"{"role":"assistant","content":{"type":"text","text":"hello"},"model":"m"}"#
        }
        (Kind::Roots, _) => r#"{"roots":[{"uri":"file:///a"}]}"#,
    };
    let mut cluster = Cluster::new((0..WORKERS).map(|_| endpoint()), Service);
    let capabilities = if does == Does::Undeclared { "{}" } else { EVERYTHING };
    let mut caller = Caller::new(revision, way, WORKERS).declaring(capabilities).open(&mut cluster);
    match revision.adapter().ask_by(&kind.question()) {
        AskBy::Push => push(&mut cluster, &mut caller, kind, does, answer),
        by => repeat(&mut cluster, &mut caller, kind, does, answer, by),
    }
}

fn push(
    cluster: &mut Cluster<Service>,
    caller: &mut Caller,
    kind: Kind,
    does: Does,
    answer: &str,
) -> String {
    if does == Does::Unasked {
        let message = format!(r#"{{"jsonrpc":"2.0","id":"nobody-asked","result":{answer}}}"#);
        let line = caller.send(cluster, &message);
        cluster.run();
        if caller.way == Way::Http {
            assert_eq!(cluster.responses(line)[0].status, 202);
        }
        let now = cluster.now();
        assert_eq!(cluster.hub().topics(now), topics_of_a_quiet_session(caller.way));
        return format!("ignored, then {}", push(cluster, caller, kind, Does::Accept, answer));
    }
    let line = caller.call(cluster, kind.name(), "");
    cluster.run();
    let question = caller.heard(cluster, line).into_iter().find_map(|it| question(&it));
    if let (Some(id), true) = (&question, does != Does::Timeout) {
        let said = match does {
            Does::Error => r#""error":{"code":-1,"message":"no"}"#.to_owned(),
            _ => format!("\"result\":{answer}"),
        };
        let message = format!(r#"{{"jsonrpc":"2.0","id":{id},{said}}}"#);
        // Said twice: an answer counts once.
        for _ in 0..2 {
            let line = caller.send(cluster, &message);
            cluster.run();
            if caller.way == Way::Http {
                assert_eq!(cluster.responses(line)[0].status, 202);
            }
        }
    }
    cluster.run_for(LONG);
    let heard = caller.heard(cluster, line);
    let withdrawn = heard.iter().any(|it| it.contains("notifications/cancelled"));
    let asked = if question.is_some() { "" } else { "not asked: " };
    let withdrawn = if withdrawn { ", withdrawn" } else { "" };
    format!("{asked}{}{withdrawn}", ended(&heard))
}

/// Nothing is published to a session that nobody listens to, or whose stream has read it all.
fn topics_of_a_quiet_session(way: Way) -> usize {
    match way {
        Way::Stdio => 0,
        // The news that there was a handshake.
        Way::Http => 1,
        // The same, and the handshake's reply.
        Way::Sse => 2,
    }
}

fn repeat(
    cluster: &mut Cluster<Service>,
    caller: &mut Caller,
    kind: Kind,
    does: Does,
    answer: &str,
    by: AskBy,
) -> String {
    let own_state = match does {
        Does::Unasked => None,
        _ => {
            let line = caller.call(cluster, kind.name(), "");
            cluster.run();
            let heard = caller.heard(cluster, line);
            let Some(state) = heard.last().and_then(|it| state(it)) else {
                return format!("not asked: {}", ended(&heard));
            };
            Some(state)
        }
    };
    if does == Does::Timeout {
        cluster.run_for(LONG);
    }
    let answers = format!(r#"{{"q":{answer},"other":{{"action":"accept"}}}}"#);
    let state = |name: &str| own_state.as_ref().map(|it| format!(r#","{name}":"{it}""#));
    let params = match by {
        AskBy::Retry => format!(
            r#""name":"{}","inputResponses":{answers}{}"#,
            kind.name(),
            state("requestState").unwrap_or_default()
        ),
        _ => format!(
            r#""name":"{}","arguments":{{"input_responses":{answers}{}}}"#,
            kind.name(),
            state("request_state").unwrap_or_default()
        ),
    };
    let message = caller.peer.request("tools/call", &params);
    let line = caller.send(cluster, &message);
    cluster.run_for(Duration::from_secs(5));
    ended(&caller.heard(cluster, line))
}

/// The id of a question, as JSON.
fn question(message: &str) -> Option<String> {
    let message: Value = serde_json::from_str(message).ok()?;
    message.get("method").filter(|it| !it.as_str().unwrap_or_default().starts_with("notif"))?;
    Some(message.get("id")?.to_string())
}

/// The state that a result asks to bring back.
fn state(message: &str) -> Option<String> {
    let message: Value = serde_json::from_str(message).ok()?;
    let result = message.get("result")?;
    let asked = match result.get("requestState") {
        Some(state) => state,
        None => result.pointer("/_meta/mcp-proto~1inputRequired/requestState")?,
    };
    asked.as_str().map(str::to_owned)
}

/// The end of a call: what its handler was told, that it asks, or its error.
fn ended(heard: &[String]) -> String {
    let mut replies = heard.iter().filter_map(|message| {
        let message: Value = serde_json::from_str(message).ok()?;
        message.get("method").is_none().then_some(message)
    });
    let Some(reply) = replies.next_back() else { return "no reply".into() };
    if let Some(error) = reply.get("error") {
        let needs = error.pointer("/data/requiredCapabilities");
        let needs = needs.map_or(String::new(), |needs| format!(" {needs}"));
        return format!("{}{needs}", error["code"]);
    }
    if state(&reply.to_string()).is_some() {
        return "asks".into();
    }
    let text = reply.pointer("/result/content/0/text").and_then(Value::as_str).unwrap_or_default();
    match text.strip_prefix("told: ") {
        Some(told) => told.to_owned(),
        None if reply.pointer("/result/isError") == Some(&Value::Bool(true)) => "isError".into(),
        None => format!("? {reply}"),
    }
}
