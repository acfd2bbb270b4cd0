//! A client and one's own server in virtual time.

mod asked;
mod client;
mod server;
mod settings;
mod time;
mod wires;

use core::fmt;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::Serialize;

use self::client::Near;
use self::server::{Server, Woken};
use self::time::Due;
use self::wires::Wire;
use super::{Link, Random};
use crate::client::{
    AskId, CallId, ClientError, Config, Event, ListenId, Machine, Open, Output, Question,
};
use crate::model::{Change, Filter, Implementation, Json, Progress, Reply, Request};
use crate::service::client::ToolReply;
use crate::service::virtual_time::VirtualTime;
use crate::service::{Service, Shared, Threading};
use crate::time::Instant;

/// Which way a pair talks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Way {
    /// Over a pair of byte streams.
    Stdio,
    /// By Streamable HTTP, over HTTP/1.1 connections.
    Http,
    /// By the HTTP transport of 2024-11-05: requests, and one stream for all that the server says.
    HttpSse,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Stdio, Self::Http, Self::HttpSse];
}

/// A client's machine and a server of one's own, joined by links that may cut up, delay, stall or
/// break what they carry. No socket, no runtime, and no time passes but the pair's own; the same
/// seed gives the same run.
///
/// Handlers have no other runtime here either: one that sleeps by a runtime's timer, or asks a
/// database, panics for want of that runtime, or waits for what never comes while virtual time
/// passes, until its call times out. Give such handlers a [`Sleep`](crate::service::Sleep) or what
/// stands for the database, or test them by
/// [`Client::in_process`](crate::service::client::Client::in_process), in real time.
///
/// What the client does happens in the next run. A run ends when every call has ended, or somebody
/// has to answer a question first.
///
/// ```
/// use core::time::Duration;
/// use mcp_proto::model::elicit;
/// use mcp_proto::revision::Revision;
/// use mcp_proto::service::{Args, Error, Exchange, Registry, schemars, tool};
/// use mcp_proto::testing::{Link, Pair};
/// use serde_json::json;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Deploy { service: String }
///
/// async fn deploy(Args(Deploy { service }): Args<Deploy>, ex: Exchange) -> Result<String, Error> {
///     let sure = ex.ask("sure", elicit(format!("Deploy {service}?"))).await?;
///     Ok(if sure.accepted() { format!("deployed {service}") } else { "stopped".into() })
/// }
///
/// for revision in Revision::ALL {
///     let service = Registry::new("demo", "1.0.0").tool(tool("deploy", deploy).asks()).build()?;
///     let slow = Link::direct().pieces(40).delay(Duration::from_millis(20));
///     let mut pair = Pair::new(service).revision(revision).link(slow).seed(7);
///
///     let call = pair.call_tool("deploy", &json!({ "service": "web" }));
///     pair.run();
///     assert_eq!(pair.asked(), ["Deploy web?"]);
///     pair.accept(&json!({}));
///     pair.run();
///     assert_eq!(pair.result(call)?.text(), "deployed web");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A handler that waits for time to pass does so on a [`VirtualTime`], which the pair is
/// [given](Self::time).
pub struct Pair<M: Threading = Shared> {
    way: Way,
    config: Config,
    near: Near,
    server: Server<M>,
    time: VirtualTime,
    link: Link,
    random: Random,
    repeats: u64,
    wires: BTreeMap<u64, Wire<M>>,
    next_wire: u64,
    agenda: BTreeMap<(Instant, u64), Due>,
    arranged: u64,
    woken: Arc<Woken>,
    seen: Seen,
}

/// What the client said.
#[derive(Debug, Default)]
struct Seen {
    events: Vec<Event>,
    requests: Vec<Open>,
    questions: VecDeque<(AskId, Question)>,
    /// Calls, and what they ended with.
    calls: BTreeMap<CallId, Option<Result<Reply, ClientError>>>,
}

impl Pair<Shared> {
    /// The name and version of the client.
    fn info() -> Implementation {
        Implementation::new("pair", env!("CARGO_PKG_VERSION"))
    }
}

impl<M: Threading> Pair<M> {
    /// A client, and a server of this service. They talk by Streamable HTTP over perfect links, in
    /// the newest revision, and the client can be asked everything.
    pub fn new(service: Service<M>) -> Self {
        let mut config = Config::new(Pair::info());
        let can = &mut config.capabilities;
        (can.elicitation_form, can.elicitation_url) = (true, true);
        (can.sampling, can.sampling_tools, can.roots) = (true, true, true);
        let (way, time) = (Way::Http, VirtualTime::new());
        Self {
            way,
            near: Near::new(way, config.clone()),
            config,
            server: Server::new(service, time.clone()),
            time,
            link: Link::direct(),
            random: Random::new(0),
            repeats: 0,
            wires: BTreeMap::new(),
            next_wire: 0,
            agenda: BTreeMap::new(),
            arranged: 0,
            woken: Arc::default(),
            seen: Seen::default(),
        }
    }

    // ---- what the client does ----

    /// The client's machine, for all of its commands.
    pub fn client(&mut self) -> &mut dyn Machine {
        self.near.machine()
    }

    /// Makes a call.
    pub fn call(&mut self, request: Request) -> CallId {
        let now = self.now();
        let call = self.client().call(now, request);
        self.seen.calls.insert(call, None);
        call
    }

    /// Calls a tool with arguments that serialize to an object.
    ///
    /// # Panics
    /// Where they do not serialize.
    pub fn call_tool<T: Serialize + ?Sized>(&mut self, name: &str, arguments: &T) -> CallId {
        let arguments = Json::of(arguments).expect("arguments serialize");
        self.call(Request::call_tool(name.to_owned(), Some(arguments)).with_progress())
    }

    /// Cancels a call.
    pub fn cancel(&mut self, call: CallId) {
        let now = self.now();
        self.client().cancel(now, call);
    }

    /// Listens to changes.
    pub fn listen(&mut self, filter: Filter) -> ListenId {
        let now = self.now();
        self.client().listen(now, filter)
    }

    /// Ends the client.
    pub fn close(&mut self) {
        let now = self.now();
        self.client().close(now);
    }

    // ---- what happens to them ----

    /// The server announces a change, to whoever listens.
    pub fn announce(&mut self, change: &Change) {
        self.server.announce(change);
    }

    /// Every connection breaks.
    pub fn cut(&mut self) {
        self.cut_all();
    }

    /// The server dies with all that it held, its sessions included, and a new one takes its place.
    pub fn restart(&mut self) {
        self.server.restart();
        for wire in self.wires.values_mut() {
            wire.served = None;
        }
        self.cut_all();
    }

    // ---- what is seen ----

    /// What a call ended with.
    ///
    /// # Errors
    /// Why it has no result.
    ///
    /// # Panics
    /// Where it has not ended.
    pub fn reply(&self, call: CallId) -> Result<Reply, ClientError> {
        let found = self.seen.calls.get(&call).and_then(Option::as_ref);
        found.unwrap_or_else(|| panic!("{call} has not ended")).clone()
    }

    /// What a call of a tool ended with.
    ///
    /// # Errors
    /// Why it has no result.
    ///
    /// # Panics
    /// Where it has not ended.
    pub fn result(&self, call: CallId) -> Result<ToolReply, ClientError> {
        ToolReply::of(self.reply(call)?)
    }

    /// Whether a call has ended.
    pub fn has_ended(&self, call: CallId) -> bool {
        matches!(self.seen.calls.get(&call), Some(Some(_)))
    }

    /// How far a call said that it has come, in order.
    pub fn progress(&self, call: CallId) -> impl Iterator<Item = &Progress> {
        self.seen.events.iter().filter_map(move |event| match event {
            Event::Progress(own, progress) if *own == call => Some(progress),
            _ => None,
        })
    }

    /// Everything that the client said.
    pub fn events(&self) -> &[Event] {
        &self.seen.events
    }

    /// Every HTTP request that the client made.
    pub fn requests(&self) -> &[Open] {
        &self.seen.requests
    }

    /// What time it is.
    pub fn now(&self) -> Instant {
        self.time.now()
    }

    /// How many connections the client holds.
    pub fn connections(&self) -> usize {
        self.wires.values().filter(|wire| !wire.is_dropped).count()
    }

    /// How many connections the server still does something for.
    pub fn served(&self) -> usize {
        self.wires.values().filter(|wire| wire.served.is_some()).count()
    }

    /// Keeps in mind what the client said.
    fn notice(&mut self, event: Event) {
        match &event {
            Event::Ask(ask, question) => self.seen.questions.push_back((*ask, question.clone())),
            Event::Withdrawn(gone) => self.seen.questions.retain(|(ask, _)| ask != gone),
            Event::Ended(call, result) => {
                let result = result.as_ref().map(|reply| (**reply).clone()).map_err(Clone::clone);
                self.seen.calls.insert(*call, Some(result));
            }
            _ => {}
        }
        self.seen.events.push(event);
    }

    /// Fetches what the client has to say; false where that is nothing.
    fn drain_client(&mut self) -> bool {
        let mut moved = false;
        while let Some(output) = self.client().poll_output() {
            moved = true;
            match output {
                Output::Event(event) => self.notice(event),
                Output::Effect(id, _) => {
                    let (now, bytes) = (self.now(), self.random.bytes());
                    self.client().handle_reply(now, id, Ok(crate::effect::Reply::Random(bytes)));
                }
                Output::Abandon(_) => {}
                Output::Carry(what) => self.carry(what),
            }
        }
        moved
    }
}

impl<M: Threading> fmt::Debug for Pair<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pair")
            .field("way", &self.way)
            .field("now", &self.now())
            .field("connections", &self.connections())
            .finish_non_exhaustive()
    }
}
