//! A flood of calls that never end, and what must get through behind it.

use core::time::Duration;

use mcp_proto::model::sample;
use mcp_proto::revision::Revision;
use mcp_proto::server::{Answered, CallId, Closing, Event, Machine, Output};
use mcp_proto::time::Instant;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

use crate::fixture::{Peer, Wire};
use crate::traffic;

/// Calls, and which of them is asked about and cancelled.
#[derive(Clone, Debug)]
pub(crate) struct Flood {
    revision: Revision,
    /// Of each call, how many bytes of arguments it has.
    calls: Vec<usize>,
    /// How many come in one piece.
    at_once: usize,
    asks: Index,
    cancelled: Index,
}

pub(crate) fn floods() -> impl Strategy<Value = Flood> {
    let calls = prop::collection::vec(0..500usize, 0..40);
    (traffic::revision(), calls, 1..9usize, any::<Index>(), any::<Index>()).prop_map(
        |(revision, calls, at_once, asks, cancelled)| Flood {
            revision,
            calls,
            at_once,
            asks,
            cancelled,
        },
    )
}

/// Whether an answer, a cancellation, a ping and the end of the input get through.
pub(crate) fn gets_through<M: Machine>(machine: M, flood: &Flood) -> Result<(), TestCaseError> {
    let mut peer = Peer::new(flood.revision, Wire::Stdio);
    peer.capabilities = r#"{"sampling":{}}"#;
    let has_handshake = peer.adapter().has_handshake;
    let mut talk = Talk { machine, events: Vec::new(), said: Vec::new() };
    if has_handshake {
        let hello = peer.hello();
        talk.says(&hello)?;
        talk.says(&peer.initialized())?;
    }
    let calls = flood.calls.iter().enumerate().map(|(id, size)| {
        let params = format!(r#""name":"hang","arguments":{{"x":"{}"}}"#, "x".repeat(*size));
        peer.request_as(&format!("\"call {id}\""), "tools/call", &params, "")
    });
    let calls: Vec<_> = calls.collect();
    for piece in calls.chunks(flood.at_once) {
        talk.says(&piece.join("\n"))?;
    }
    let running: Vec<(CallId, String)> = talk
        .events
        .drain(..)
        .filter_map(|event| match event {
            Event::Call(id, call) => Some((id, call.id()?.to_string())),
            _ => None,
        })
        .collect();
    let refused = talk.said.iter().filter(|line| line["error"]["code"] == -32603).count();
    let most = running.len() + 3;
    prop_assert!(flood.calls.len() <= most + refused, "{refused} of {} refused", flood.calls.len());
    talk.said.clear();

    if !running.is_empty() && has_handshake {
        let ask = talk.machine.ask(flood.asks.get(&running).0, sample("?", 5).into());
        talk.drain();
        let question = talk.said.pop().map(|line| line["id"].clone());
        let answer = r#"{"role":"assistant","content":{"type":"text","text":"!"},"model":"m"}"#;
        let id = question.unwrap_or_default();
        talk.says(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{answer}}}"#))?;
        let is_answered =
            |event: &Event| matches!(event, Event::Answered(id, Answered::Given(_)) if *id == ask);
        prop_assert!(talk.events.iter().any(is_answered), "no answer among {:?}", talk.events);
    }
    if !running.is_empty() {
        let (call, id) = flood.cancelled.get(&running);
        let params = format!(r#"{{"requestId":{id}}}"#);
        let method = "notifications/cancelled";
        talk.says(&format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#))?;
        let is_cancelled = |event: &Event| matches!(event, Event::Cancelled(id) if id == call);
        prop_assert!(talk.events.iter().any(is_cancelled), "not cancelled: {:?}", talk.events);
    }
    let ping = if has_handshake { "ping" } else { "server/discover" };
    talk.says(&peer.request_as("\"ping\"", ping, "", ""))?;
    prop_assert!(talk.said.iter().any(|line| line["id"] == "ping" && line["result"].is_object()));

    talk.machine.handle_eof(Instant::ZERO);
    talk.machine.handle_timeout(Instant::ZERO + Duration::from_secs(5));
    talk.drain();
    prop_assert_eq!(talk.machine.closing(), Closing::Closed);
    Ok(())
}

struct Talk<M> {
    machine: M,
    events: Vec<Event>,
    said: Vec<Value>,
}

impl<M: Machine> Talk<M> {
    /// Lines, which are taken as a whole.
    fn says(&mut self, lines: &str) -> Result<(), TestCaseError> {
        let input = format!("{lines}\n");
        prop_assert_eq!(self.machine.handle_input(Instant::ZERO, input.as_bytes()), input.len());
        self.drain();
        Ok(())
    }

    fn drain(&mut self) {
        let outputs = std::iter::from_fn(|| self.machine.poll_output());
        self.events.extend(outputs.filter_map(|output| match output {
            Output::Event(event) => Some(event),
            _ => None,
        }));
        let mut said = Vec::new();
        self.machine.transmit(&mut said);
        let lines = said.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        self.said.extend(lines.map(|line| serde_json::from_slice::<Value>(line).expect("JSON")));
    }
}
