//! A client of every revision on one stdio stream, for tests: it answers what it is asked, however
//! it is asked, and calls again where that is how answers are given.

use core::time::Duration;

use std::sync::Arc;

use futures_util::future::pending;
use http::Extensions;
use serde_json::{Map, Value, json};

use super::super::live::Live;
use super::super::world::{End, VirtualTime, pair};
use super::super::{Announcer, Host, Hub, MemoryHub, MemorySessionStore, Service, Updater};
use crate::revision::AdapterSet;
use crate::server::{Endpoint, Limits, Stdio};
use crate::time::Instant;

pub(crate) const REVISIONS: [&str; 5] =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// One client.
pub(crate) struct Talk {
    end: End,
    unread: String,
    revision: &'static str,
    capabilities: Value,
    ids: u64,
    /// Every question, in the order in which they came: rounds are apart by a bar.
    pub(crate) asked: Vec<String>,
    /// What was withdrawn.
    pub(crate) withdrawn: usize,
}

/// Serves a client of `revision` with these capabilities to its end.
pub(crate) fn talk<C: Future>(
    service: &Service,
    revision: &'static str,
    capabilities: Value,
    client: impl FnOnce(Talk) -> C,
) -> C::Output {
    talk_at(&VirtualTime::default(), service, revision, capabilities, client)
}

/// The same on this clock.
pub(crate) fn talk_at<C: Future>(
    time: &VirtualTime,
    service: &Service,
    revision: &'static str,
    capabilities: Value,
    client: impl FnOnce(Talk) -> C,
) -> C::Output {
    Served::new(service).at(time).talk(revision, capabilities, client)
}

/// A service, served over stdio.
#[derive(Clone)]
pub(crate) struct Served {
    time: VirtualTime,
    service: Service,
    live: Live,
    hub: Arc<dyn Hub>,
    ask_in_arguments: bool,
}

impl Served {
    pub(crate) fn new(service: &Service) -> Self {
        let (time, hub) = (VirtualTime::default(), Arc::new(MemoryHub::new()));
        let live = Live::new(service.clone());
        Self { time, service: service.clone(), live, hub, ask_in_arguments: true }
    }

    /// Replaces the service, once the rest is settled.
    pub(crate) fn updater(&self) -> Updater {
        let (hub, time) = (Arc::clone(&self.hub), self.time.clone());
        let announcer = Announcer::new(hub, move || time.time(), "");
        Updater::new(self.live.clone(), announcer, AdapterSet::default(), Service::http_only)
    }

    pub(crate) fn at(self, time: &VirtualTime) -> Self {
        Self { time: time.clone(), ..self }
    }

    /// Asks no client in arguments whose revision has another way.
    pub(crate) fn never_in_arguments(self) -> Self {
        Self { ask_in_arguments: false, ..self }
    }

    pub(crate) fn hub(self, hub: Arc<dyn Hub>) -> Self {
        Self { hub, ..self }
    }

    pub(crate) fn talk<C: Future>(
        self,
        revision: &'static str,
        capabilities: Value,
        client: impl FnOnce(Talk) -> C,
    ) -> C::Output {
        let (ours, theirs) = pair(1 << 16);
        let limits = Limits { ask: Duration::from_secs(20), ..Limits::default() };
        let endpoint = Endpoint::builder(self.service.catalog().clone())
            .limits(limits)
            .ask_in_arguments(self.ask_in_arguments)
            .build();
        let machine = Stdio::new(endpoint, Instant::ZERO);
        let sessions = Arc::new(MemorySessionStore::new());
        let host = Host::live(self.live, self.time.clone(), sessions, self.hub, None);
        let talk = Talk {
            end: theirs,
            unread: String::new(),
            revision,
            capabilities,
            ids: 0,
            asked: Vec::new(),
            withdrawn: 0,
        };
        let client = async move {
            let mut talk = talk;
            talk.greet().await;
            client(talk).await
        };
        let served = host.run(machine, ours, Extensions::new(), pending());
        let (ended, output) = self.time.run(served, client);
        // A client that is gone reads no last words.
        let gone = |error: std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
        assert!(ended.is_ok() || ended.is_err_and(gone));
        output
    }
}

impl Talk {
    async fn greet(&mut self) {
        if self.shakes_hands() {
            let params = json!({
                "protocolVersion": self.revision,
                "capabilities": self.capabilities,
                "clientInfo": { "name": "talk", "version": "1" },
            });
            self.request("initialize", params).await;
            let hello = self.receive().await;
            assert_eq!(hello["result"]["protocolVersion"], self.revision, "{hello}");
            self.write(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        }
    }

    fn shakes_hands(&self) -> bool {
        let set = AdapterSet::default();
        set.by_version(self.revision).expect("a revision").has_handshake
    }

    pub(crate) async fn request(&mut self, method: &str, mut params: Value) -> u64 {
        self.ids += 1;
        if !self.shakes_hands() {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.revision,
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            });
        }
        let id = self.ids;
        self.write(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        id
    }

    pub(crate) async fn write(&mut self, message: Value) {
        self.end.send(format!("{message}\n").as_bytes()).await;
    }

    pub(crate) async fn receive(&mut self) -> Value {
        loop {
            if let Some((line, rest)) = self.unread.split_once('\n') {
                let message = serde_json::from_str(line).expect("JSON");
                self.unread = rest.to_owned();
                return message;
            }
            let more = self.end.receive().await;
            assert!(!more.is_empty(), "the server ended the stream");
            self.unread.push_str(&String::from_utf8(more).expect("UTF-8"));
        }
    }

    /// Calls a tool to its end. `answer` makes the reply to a question: a `result` or an `error`,
    /// or null where it is not answered at all.
    pub(crate) async fn call(
        &mut self,
        tool: &str,
        answer: impl FnMut(&str, &Value) -> Value,
    ) -> Value {
        self.finish("tools/call", json!({ "name": tool }), answer).await
    }

    /// Does the same for any method.
    pub(crate) async fn finish(
        &mut self,
        method: &str,
        params: Value,
        mut answer: impl FnMut(&str, &Value) -> Value,
    ) -> Value {
        self.request(method, params.clone()).await;
        loop {
            let message = self.receive().await;
            match message["method"].as_str() {
                Some("notifications/cancelled") => self.withdrawn += 1,
                Some(method) => {
                    let mut reply = answer(method, &message["params"]);
                    self.asked.push(said(method, &message["params"]));
                    if !reply.is_null() {
                        reply["jsonrpc"] = "2.0".into();
                        reply["id"] = message["id"].clone();
                        self.write(reply).await;
                    }
                }
                None => {
                    let result = &message["result"];
                    let in_arguments = &result["_meta"]["mcp-proto/inputRequired"];
                    let asks = match result["resultType"].as_str() {
                        Some("input_required") => result,
                        _ if in_arguments.is_object() => in_arguments,
                        _ => return message,
                    };
                    let requests = asks["inputRequests"].as_object().expect("questions");
                    let mut answers = Map::new();
                    for (key, request) in requests {
                        let method = request["method"].as_str().expect("a method");
                        self.asked.push(said(method, &request["params"]));
                        let reply = answer(method, &request["params"]);
                        if let Some(result) = reply.get("result") {
                            answers.insert(key.clone(), result.clone());
                        }
                    }
                    self.asked.push("|".into());
                    let mut again = params.clone();
                    let state = asks.get("requestState").cloned();
                    if in_arguments.is_object() {
                        let arguments = &mut again["arguments"];
                        arguments["input_responses"] = answers.into();
                        if let Some(state) = state {
                            arguments["request_state"] = state;
                        }
                    } else {
                        again["inputResponses"] = answers.into();
                        if let Some(state) = state {
                            again["requestState"] = state;
                        }
                    }
                    self.request(method, again).await;
                }
            }
        }
    }
}

fn said(method: &str, params: &Value) -> String {
    params["message"].as_str().unwrap_or(method).to_owned()
}

/// The text of a tool's result, or what the call failed with.
pub(crate) fn text(message: &Value) -> String {
    let result = &message["result"];
    match result["content"][0]["text"].as_str() {
        Some(text) if result["isError"] == true => format!("error: {text}"),
        Some(text) => text.to_owned(),
        None => format!("{}", message["error"]),
    }
}

pub(crate) fn accept(content: Value) -> Value {
    json!({ "result": { "action": "accept", "content": content } })
}

pub(crate) fn action(action: &str) -> Value {
    json!({ "result": { "action": action } })
}
