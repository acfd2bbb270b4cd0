//! A client that sees every message: one request at a time, on a connection of its own.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::revision::Revision;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{World, breathe};
use crate::ledger::End;
use crate::wire::{Body, Head, Wire};

/// How long anything may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Caller {
    pub(crate) world: Arc<World>,
    pub(crate) revision: Revision,
    /// Where it sends its requests.
    pub(crate) path: String,
    session: Option<String>,
    next: i64,
    wire: Option<Wire>,
}

/// The response to one request, as it comes.
pub(crate) struct Response {
    wire: Wire,
    head: Head,
    body: Body,
    unread: String,
    is_over: bool,
}

/// An event, or the only message of a body.
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    /// Nothing, where it only tells a place.
    pub(crate) message: Option<Value>,
}

/// How one call ended.
#[derive(Debug, PartialEq)]
pub(crate) enum Answer {
    Result(Value),
    Error(Value),
    /// The connection broke, or nobody was there.
    Broken,
}

impl Answer {
    /// What a response says.
    pub(crate) fn of(response: &mut Value) -> Self {
        match response["result"].take() {
            Value::Null => Self::Error(response["error"].take()),
            result => Self::Result(result),
        }
    }

    pub(crate) fn end(&self) -> End {
        match self {
            Self::Result(_) => End::Result,
            Self::Error(_) => End::Error,
            Self::Broken => End::Broken,
        }
    }
}

impl Caller {
    /// A client that has said nothing yet.
    pub(crate) fn new(world: Arc<World>, revision: Revision) -> Self {
        let path = "/mcp".to_owned();
        Self { world, revision, path, session: None, next: 0, wire: None }
    }

    /// A client with a session, where its revision has those.
    pub(crate) async fn open(world: Arc<World>, revision: Revision) -> Self {
        let mut caller = Self::new(world, revision);
        while caller.begin().await.is_err() {
            breathe().await;
        }
        caller
    }

    /// Another client of the same session.
    pub(crate) fn twin(&self) -> Self {
        let (path, session) = (self.path.clone(), self.session.clone());
        let twin = Self::new(self.world.clone(), self.revision);
        Self { path, session, ..twin }
    }

    async fn begin(&mut self) -> io::Result<()> {
        if self.is_stateless() {
            return Ok(());
        }
        // A session that was opened before, and came to nothing, is not that of another handshake.
        self.session = None;
        let (_, message) = self.initialize();
        let mut response = self.post(&message, None).await?;
        self.session = response.head.get("mcp-session-id").map(str::to_owned);
        response.next().await?.ok_or(io::ErrorKind::UnexpectedEof)?;
        self.done(response);
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.note(&initialized).await
    }

    /// The message that opens a session.
    pub(crate) fn initialize(&mut self) -> (Value, Value) {
        let capabilities = json!({ "elicitation": {}, "sampling": {} });
        let client = json!({ "name": "raw", "version": "1" });
        let version = self.revision.as_str();
        let params = json!({
            "protocolVersion": version, "capabilities": capabilities, "clientInfo": client,
        });
        self.request("initialize", params)
    }

    pub(crate) fn is_stateless(&self) -> bool {
        self.revision == Revision::V2026_07_28
    }

    /// A message that asks for something, and its id.
    pub(crate) fn request(&mut self, method: &str, mut params: Value) -> (Value, Value) {
        self.next += 1;
        let id = json!(format!("{}-{}", self.world.name("call"), self.next));
        if self.is_stateless() {
            const PREFIX: &str = "io.modelcontextprotocol/";
            let meta = &mut params["_meta"];
            meta[format!("{PREFIX}protocolVersion")] = json!(self.revision.as_str());
            meta[format!("{PREFIX}clientInfo")] = json!({ "name": "raw", "version": "1" });
            meta[format!("{PREFIX}clientCapabilities")] = json!({ "elicitation": { "form": {} } });
        }
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        (id, message)
    }

    /// Sends a message that has no answer.
    pub(crate) async fn note(&mut self, message: &Value) -> io::Result<()> {
        let response = self.post(message, None).await?;
        let accepted = response.head.status() == 202;
        self.done(response);
        if accepted { Ok(()) } else { Err(io::ErrorKind::Other.into()) }
    }

    /// Posts a message. An error is a connection that broke, or nobody behind the balancer.
    pub(crate) async fn post(
        &mut self,
        message: &Value,
        name: Option<&str>,
    ) -> io::Result<Response> {
        let mut headers = vec![
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        if self.is_stateless() {
            headers.push(("Mcp-Method", message["method"].as_str().unwrap_or_default()));
            headers.extend(name.map(|name| ("Mcp-Name", name)));
        }
        self.send("POST", headers, message.to_string()).await
    }

    /// Takes a stream up again, or listens.
    pub(crate) async fn get(&mut self, from: Option<&str>) -> io::Result<Response> {
        let mut headers = vec![("Accept", "text/event-stream")];
        headers.extend(from.map(|from| ("Last-Event-ID", from)));
        self.send("GET", headers, String::new()).await
    }

    async fn send(
        &mut self,
        method: &str,
        headers: Vec<(&str, &str)>,
        body: String,
    ) -> io::Result<Response> {
        let mut text = format!(
            "{method} {} HTTP/1.1\r\nHost: {}\r\nMCP-Protocol-Version: {}\r\n",
            self.path,
            self.world.address,
            self.revision.as_str()
        );
        for (name, value) in &headers {
            text += &format!("{name}: {value}\r\n");
        }
        if let Some(session) = &self.session {
            text += &format!("Mcp-Session-Id: {session}\r\n");
        }
        text += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let mut wire = match self.wire.take() {
            Some(wire) => wire,
            None => Wire::new(TcpStream::connect(self.world.address).await?),
        };
        wire.write(text.as_bytes()).await?;
        let head = timeout(PATIENCE, wire.head()).await??;
        let head = head.ok_or(io::ErrorKind::UnexpectedEof)?;
        if head.status() == 502 {
            self.wire = Some(wire);
            return Err(io::Error::other("502"));
        }
        let body = head.response_body();
        Ok(Response { wire, head, body, unread: String::new(), is_over: false })
    }

    /// The connection is used again, if the response came to its end.
    pub(crate) fn done(&mut self, response: Response) {
        if response.is_over || response.body == Body::Length(0) {
            self.wire = Some(response.wire);
        }
    }

    /// Calls a tool once. Nothing is taken up again.
    pub(crate) async fn call(&mut self, name: &str, arguments: &Value) -> Answer {
        self.call_with(name, json!({ "name": name, "arguments": arguments })).await
    }

    /// The same, with more than its arguments.
    pub(crate) async fn call_with(&mut self, name: &str, params: Value) -> Answer {
        let world = self.world.clone();
        let (id, message) = self.request("tools/call", params);
        let mut call = world.ledger.calls.begin(format!("{name} {id} of {}", self.revision));
        let mut answer = Answer::Broken;
        if let Ok(mut response) = self.post(&message, Some(name)).await {
            while let Ok(Some(event)) = response.next().await {
                let Some(mut message) = event.message.filter(|it| it["id"] == id) else { continue };
                answer = Answer::of(&mut message);
                if let Answer::Error(error) = &answer {
                    world.ledger.calls.error(error);
                }
                call.end(answer.end());
            }
            self.done(response);
        }
        if answer == Answer::Broken {
            call.end(End::Broken);
        }
        answer
    }

    /// Calls a tool until it has a result that is none of an error: what it says.
    pub(crate) async fn insist(&mut self, name: &str, arguments: &Value) -> Value {
        loop {
            match self.call(name, arguments).await {
                Answer::Result(result) if result["isError"] != json!(true) => return result,
                _ => breathe().await,
            }
        }
    }
}

impl Response {
    pub(crate) fn status(&self) -> u16 {
        self.head.status()
    }

    /// The next event; `None` at the end.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Event>> {
        if self.is_over {
            return Ok(None);
        }
        if !self.head.is_event_stream() {
            let body = timeout(PATIENCE, self.wire.body(self.body)).await??;
            self.is_over = true;
            if body.is_empty() {
                return Ok(None);
            }
            let message = serde_json::from_slice(&body).map_err(io::Error::other)?;
            return Ok(Some(Event { id: None, message: Some(message) }));
        }
        loop {
            if let Some((event, rest)) = self.unread.split_once("\n\n") {
                let event = Event::parse(event)?;
                self.unread = rest.to_owned();
                match event {
                    Some(event) => return Ok(Some(event)),
                    None => continue,
                }
            }
            match timeout(PATIENCE, self.wire.piece(&mut self.body)).await?? {
                Some(piece) => self.unread += &String::from_utf8_lossy(&piece).replace('\r', ""),
                None => {
                    self.is_over = true;
                    return Ok(None);
                }
            }
        }
    }
}

impl Event {
    /// `None` for a comment.
    fn parse(text: &str) -> io::Result<Option<Self>> {
        let field = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(':'));
            lines.find(|(own, _)| *own == name).map(|(_, value)| value.trim_start())
        };
        let (id, data) = (field("id").map(str::to_owned), field("data").unwrap_or_default());
        let message = match data {
            "" => None,
            // HTTP+SSE tells a path first.
            path if path.starts_with('/') => Some(path.into()),
            data => Some(serde_json::from_str(data).map_err(io::Error::other)?),
        };
        Ok((id.is_some() || message.is_some()).then_some(Self { id, message }))
    }
}
