//! Ids that a client may compare are unique in the server.

use mcp_proto::effect::{Effect, EffectId, Reply};
use mcp_proto::model::{InputRequest, elicit, elicit_url, sample};
use mcp_proto::revision::Revision;
use mcp_proto::server::{Answered, AskId, CallId, Event, Machine, Output, Stdio};
use mcp_proto::time::Instant;
use serde_json::Value;

use crate::fixture::{Peer, Wire, builder};

/// A stream with a call that runs and asks.
struct Asking {
    machine: Stdio,
    call: CallId,
    events: Vec<Event>,
    random: Vec<EffectId>,
}

impl Asking {
    fn new(revision: Revision) -> Self {
        let mut peer = Peer::new(revision, Wire::Stdio);
        peer.capabilities = r#"{"sampling":{},"elicitation":{"form":{},"url":{}}}"#;
        let mut machine = Stdio::new(builder().build(), Instant::ZERO);
        let call = peer.request_as("1", "tools/call", r#""name":"hang""#, "");
        let lines = [peer.hello(), peer.initialized(), call].join("\n") + "\n";
        machine.handle_input(Instant::ZERO, lines.as_bytes());
        let mut asking =
            Self { machine, call: mcp_proto::testing::call_id(0), events: vec![], random: vec![] };
        asking.said();
        let Some(Event::Call(id, _)) = asking.events.pop() else { panic!("no call") };
        asking.call = id;
        asking
    }

    fn ask(&mut self, request: impl Into<InputRequest>) -> AskId {
        self.machine.ask(self.call, request.into())
    }

    fn draw(&mut self, random: [u8; 32]) {
        for id in std::mem::take(&mut self.random) {
            self.machine.handle_reply(Instant::ZERO, id, Ok(Reply::Random(random)));
        }
    }

    fn said(&mut self) -> Vec<Value> {
        while let Some(output) = self.machine.poll_output() {
            match output {
                Output::Event(event) => self.events.push(event),
                Output::Effect(id, Effect::Random) => self.random.push(id),
                Output::Effect(..) => {}
                Output::Abandon(id) => self.random.retain(|own| *own != id),
                other => panic!("{other:?}"),
            }
        }
        let mut out = Vec::new();
        self.machine.transmit(&mut out);
        let lines = out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).expect("JSON")).collect()
    }
}

fn link() -> InputRequest {
    elicit_url("Sign in.", "https://a.example/")
}

#[test]
fn a_link_has_an_id_that_no_other_connection_has() {
    // R2511-ELIC-17
    let mut seen = Vec::new();
    for connection in 0..3u8 {
        let mut asking = Asking::new(Revision::V2025_11_25);
        for question in 0..3u8 {
            let ask = asking.ask(link());
            assert_eq!(asking.said().len(), 0, "there is no id for it yet");
            asking.draw([connection * 16 + question; 32]);
            let sent = asking.said();
            let id = sent[0]["params"]["elicitationId"].as_str().expect("an id").to_owned();
            assert!(id.len() >= 43 && !seen.contains(&id), "{id}");
            let (request, result) = (&sent[0]["id"], r#"{"action":"accept"}"#);
            let answer = format!(r#"{{"jsonrpc":"2.0","id":{request},"result":{result}}}"#) + "\n";
            asking.machine.handle_input(Instant::ZERO, answer.as_bytes());
            asking.said();
            let Some(Event::Answered(id, Answered::Given(_))) = asking.events.pop() else {
                panic!()
            };
            assert_eq!(id, ask);
            seen.push(sent[0]["params"]["elicitationId"].as_str().unwrap().to_owned());
        }
    }
}

#[test]
fn what_nobody_compares_is_sent_at_once() {
    for (revision, form) in [
        (Revision::V2024_11_05, false),
        (Revision::V2025_06_18, true),
        (Revision::V2025_11_25, true),
    ] {
        let mut asking = Asking::new(revision);
        asking.ask(sample("?", 5));
        assert_eq!(asking.said().len(), 1, "{revision}");
        asking.ask(elicit("?"));
        assert_eq!(asking.said().len(), usize::from(form), "{revision}");
        assert!(asking.random.is_empty(), "{revision}");
    }
}

#[test]
fn a_link_that_is_withdrawn_before_it_has_an_id_is_never_sent() {
    let mut asking = Asking::new(Revision::V2025_11_25);
    let ask = asking.ask(link());
    asking.said();
    asking.machine.withdraw(ask);
    assert_eq!(asking.said().len(), 0);
    asking.draw([7; 32]);
    assert_eq!(asking.said().len(), 0);
    // Nor is one whose id cannot be had.
    let ask = asking.ask(link());
    asking.said();
    for id in std::mem::take(&mut asking.random) {
        let error = mcp_proto::effect::EffectError::TimedOut;
        asking.machine.handle_reply(Instant::ZERO, id, Err(error));
    }
    assert_eq!(asking.said().len(), 0);
    let failed =
        |event: &Event| matches!(event, Event::Answered(id, Answered::Failed) if *id == ask);
    assert!(asking.events.iter().any(failed));
}
