//! What a server does, and what that may cost.

use core::time::Duration;

use mcp_proto::client::Open;
use mcp_proto::revision::Revision;

/// One thing that a server does.
#[derive(Clone)]
pub(crate) enum Act {
    Head(u16, &'static str),
    /// A head that names a session.
    Opens(&'static str),
    Encoded(&'static str),
    Elsewhere(u16, String),
    Say(String),
    End,
    Cut,
}

/// What a server does in an exchange: some things, each after a pause, and the last one again and
/// again where it has no end.
pub(crate) struct Play {
    pub(crate) acts: Vec<(Duration, Act)>,
    pub(crate) without_end: bool,
}

use Act::Say;

pub(crate) const NOW: Duration = Duration::ZERO;

pub(crate) fn play(acts: impl IntoIterator<Item = (Duration, Act)>) -> Play {
    Play { acts: acts.into_iter().collect(), without_end: false }
}

pub(crate) fn for_ever(acts: impl IntoIterator<Item = (Duration, Act)>) -> Play {
    Play { without_end: true, ..play(acts) }
}

/// All at once.
pub(crate) fn at_once(acts: impl IntoIterator<Item = Act>) -> Play {
    play(acts.into_iter().map(|act| (NOW, act)))
}

pub(crate) fn id(open: &Open) -> String {
    let body: serde_json::Value = serde_json::from_slice(&open.body).unwrap();
    body["id"].to_string()
}

pub(crate) fn result(open: &Open, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id(open))
}

pub(crate) fn error(open: &Open, code: i64, data: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":{code},"message":"no","data":{data}}}}}"#,
        id(open)
    )
}

/// Whether a request is of this method.
pub(crate) fn is(open: &Open, method: &str) -> bool {
    String::from_utf8_lossy(&open.body).contains(&format!(r#""method":"{method}""#))
}

pub(crate) fn event(data: &str) -> Act {
    Say(format!("data: {data}\n\n"))
}

pub(crate) const JSON: &str = "application/json";
pub(crate) const EVENTS: &str = "text/event-stream";

/// A row: what the server does, how the call ends, and what that costs at most.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) revision: Revision,
    pub(crate) lists: bool,
    pub(crate) plays: fn(&Open, usize) -> Play,
    pub(crate) ends: &'static str,
    pub(crate) bytes: usize,
    pub(crate) time: u64,
}

pub(crate) fn row(
    name: &'static str,
    ends: &'static str,
    (bytes, time): (usize, u64),
    plays: fn(&Open, usize) -> Play,
) -> Row {
    Row { name, revision: Revision::V2026_07_28, lists: false, plays, ends, bytes, time }
}

impl Row {
    pub(crate) fn lists(self) -> Self {
        Self { lists: true, ..self }
    }

    pub(crate) fn at(self, revision: Revision) -> Self {
        Self { revision, ..self }
    }
}
