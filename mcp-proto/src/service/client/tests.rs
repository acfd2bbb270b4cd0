//! The handle over real machines, pipes in memory and virtual time.

mod balanced;
mod retrying;

use core::future::{Future, IntoFuture};
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::future::pending;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};

use super::*;
use crate::effect::EffectError;
use crate::model::{
    Change, ClientCapabilities, Filter, InputRequest, LogLevel, Resource, elicit_accept,
};
use crate::revision::{AdapterSet, Revision};
use crate::server::{Connection, Endpoint, Stdio};
use crate::service::world::{Dialer, End, VirtualTime, VirtualTimer, pair};
use crate::service::{
    Args, Exchange, Extensions, Host, Hub as _, MemoryHub, MemorySessionStore, Registry, Runtime,
    Service, Shared, tool,
};
use crate::store::{self, HubOp};
use crate::time::Instant;

#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Sum {
    total: i64,
}

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Virtual time, with tasks that run beside everything else.
#[derive(Clone, Default)]
struct World {
    time: VirtualTime,
    spawned: Arc<Mutex<Vec<Task>>>,
}

impl Runtime<Shared> for World {
    type Timer = VirtualTimer;

    fn now(&self) -> Instant {
        self.time.time()
    }

    fn timer(&self) -> VirtualTimer {
        Runtime::<Shared>::timer(&self.time)
    }

    fn wall(&self) -> Duration {
        Duration::ZERO
    }

    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), EffectError> {
        bytes.fill(7);
        Ok(())
    }

    fn detach<T: 'static>(&self, work: <Shared as crate::service::Threading>::Boxed<'static, T>) {
        self.spawned.lock().unwrap().push(Box::pin(work.map(drop)));
    }
}

impl World {
    /// Runs `client` to its end, with everything that is detached meanwhile.
    fn run<C: Future>(&self, client: C) -> C::Output {
        let spawned = self.spawned.clone();
        let mut running = FuturesUnordered::<Task>::new();
        let is_done = AtomicBool::new(false);
        let background = core::future::poll_fn(|cx: &mut Context<'_>| {
            loop {
                running.extend(spawned.lock().unwrap().drain(..));
                match running.poll_next_unpin(cx) {
                    _ if is_done.load(Ordering::SeqCst) => return Poll::Ready(()),
                    Poll::Ready(Some(())) => {}
                    // What was polled may have begun something.
                    _ if !spawned.lock().unwrap().is_empty() => {}
                    Poll::Ready(None) | Poll::Pending => return Poll::Pending,
                }
            }
        });
        let client = async {
            let output = client.await;
            is_done.store(true, Ordering::SeqCst);
            output
        };
        self.time.run(client, background).0
    }
}

fn service(time: &VirtualTime) -> Service {
    let time = time.clone();
    Registry::new("demo", "1.0.0")
        .tool(
            tool("add", |Args(Add { a, b }): Args<Add>| async move {
                crate::service::Json(Sum { total: a + b })
            })
            .description("Adds."),
        )
        .tool(tool("slow", move |ex: Exchange| {
            let time = time.clone();
            async move {
                for step in 1..=3 {
                    ex.progress(step, 3);
                    time.sleep(Duration::from_secs(1)).await;
                }
                "slept"
            }
        }))
        .tool(tool("who", |ex: Exchange| async move {
            let info = ex.client_info().expect("a client that says who it is");
            let is_asked = ex.client().capabilities.sampling;
            format!("{} {}, asked: {is_asked}", info.name, info.version)
        }))
        .tool(tool("report", |ex: Exchange| async move {
            for level in [LogLevel::Info, LogLevel::Warning, LogLevel::Error] {
                ex.log(level, level.as_str());
            }
            "reported"
        }))
        .build()
        .expect("valid")
}

fn endpoint(service: &Service, revision: Revision) -> Endpoint {
    let set = AdapterSet::of([revision]).unwrap();
    let mut catalog = (**service.catalog()).clone();
    catalog.features.list_changed = true;
    catalog.features.subscribe = true;
    catalog.insert_resource(Resource::new("a://b", "b"));
    Endpoint::builder(Arc::new(catalog))
        .adapters(set)
        .path("/mcp")
        .http_sse("/old/sse", "/old/messages")
        .build()
}

/// How a client reaches its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Streams,
    Http,
    HttpSse,
}

/// Every revision by every way that carries it.
fn everything() -> impl Iterator<Item = (Revision, Way)> {
    let ways = |revision: Revision| {
        let old = revision.adapter().has_handshake.then_some(Way::HttpSse);
        [Way::Streams, Way::Http].into_iter().chain(old).map(move |way| (revision, way))
    };
    Revision::ALL.into_iter().flat_map(ways)
}

/// A server that begins whenever somebody asks for it.
struct InProcess {
    world: World,
    revision: Revision,
    sessions: Arc<MemorySessionStore>,
    hub: Arc<MemoryHub>,
}

impl InProcess {
    fn connect(&self, http: bool) -> End {
        let service = service(&self.world.time);
        let endpoint = endpoint(&service, self.revision);
        let (ours, theirs) = pair(512);
        let host = Host::<_, Shared>::with_stores(
            service,
            self.world.time.clone(),
            self.sessions.clone(),
            self.hub.clone(),
        );
        let work: Task = match http {
            true => {
                let machine = Connection::new(endpoint, self.world.now());
                Box::pin(async move {
                    let _ = host.run(machine, ours, Extensions::new(), pending()).await;
                })
            }
            false => {
                let machine = Stdio::new(endpoint, self.world.now());
                Box::pin(async move {
                    let _ = host.run(machine, ours, Extensions::new(), pending()).await;
                })
            }
        };
        self.world.spawned.lock().unwrap().push(work);
        theirs
    }
}

impl Respawn for InProcess {
    type Stream = End;

    fn start(&mut self) -> impl Future<Output = io::Result<End>> + Send + 'static {
        core::future::ready(Ok(self.connect(false)))
    }
}

impl InProcess {
    fn dialer(self) -> impl Dial {
        let (world, server) = (self.world.clone(), Arc::new(self));
        Dialer::new(world, move |_, _| core::future::ready(Ok(server.connect(true))))
    }
}

fn client(world: &World, revision: Revision, way: Way) -> Client {
    client_and_hub(world, revision, way).0
}

fn client_and_hub(world: &World, revision: Revision, way: Way) -> (Client, Arc<MemoryHub>) {
    built(world, revision, way, Client::builder("client", "1"))
}

fn built(
    world: &World,
    revision: Revision,
    way: Way,
    builder: ClientBuilder,
) -> (Client, Arc<MemoryHub>) {
    let sessions = Arc::new(MemorySessionStore::new());
    let hub = Arc::new(MemoryHub::new());
    let server = InProcess { world: world.clone(), revision, sessions, hub: hub.clone() };
    let url = match way {
        Way::Http => "http://localhost/mcp",
        Way::HttpSse => "http://localhost/old/sse",
        Way::Streams => return (builder.streams(world.clone(), server), hub),
    };
    let client = builder.http(world.clone(), Pool::new(server.dialer()), url).unwrap();
    (client, hub)
}

#[test]
fn the_calling_code_is_the_same_everywhere() {
    for (revision, way) in everything() {
        {
            let world = World::default();
            let client = client(&world, revision, way);
            world.run(async move {
                let server = client.ready().await.unwrap();
                assert_eq!(client.revision(), Some(revision.adapter().version));
                assert_eq!(server.description.server.as_ref().unwrap().name, "demo");
                let tools = client.list_tools().await.unwrap();
                assert_eq!(tools.len(), 4);
                let reply = client.call_tool("add", &Add { a: 2, b: 40 }).await.unwrap();
                assert_eq!(reply.structured::<Sum>().unwrap().total, 42, "{reply:?}");
                let slow = client.call_tool("slow", &()).start();
                let mut progress = slow.progress();
                let mut steps = 0;
                while progress.next().await.is_some() {
                    steps += 1;
                }
                assert_eq!(steps, 3, "{revision:?} {way:?}");
                assert_eq!(slow.await.unwrap().text(), "slept");
                client.ping().await.unwrap();
                let none = client.call_tool("none", &()).await.unwrap_err();
                assert_eq!(none.server().unwrap().code, -32602);
                client.close().await;
                let late = client.ping().await.unwrap_err();
                assert_eq!(late.kind, ErrorKind::Closed);
            });
        }
    }
}

fn asked_in_vain() -> impl Ask {
    let can = ClientCapabilities { sampling: true, ..Default::default() };
    ask_with(can, |_: Asked| async { Err(Declined::failed("no")) })
}

#[test]
fn a_server_is_told_who_the_client_is_and_whether_it_can_be_asked() {
    // R24-LIFE-01, R26-META-07, R26-CAP-01
    let silent = || ClientBuilder::new(super::builder::library());
    let library = concat!("mcp-proto ", env!("CARGO_PKG_VERSION"));
    for (revision, way) in everything() {
        for (builder, told) in [
            (Client::builder("me", "7"), "me 7, asked: false".to_owned()),
            (Client::builder("me", "7").on_ask(asked_in_vain()), "me 7, asked: true".to_owned()),
            (silent(), format!("{library}, asked: false")),
            (silent().info("you", "8"), "you 8, asked: false".to_owned()),
        ] {
            let world = World::default();
            let (client, _) = built(&world, revision, way, builder);
            world.run(async move {
                let reply = client.call_tool("who", &()).await.unwrap();
                assert_eq!(reply.text(), told, "{revision} {way:?}");
            });
        }
    }
}

/// Whoever is polled first: what came before the result is told.
#[test]
fn progress_that_came_before_the_result_is_told_after_it() {
    for (revision, way) in everything() {
        let world = World::default();
        let client = client(&world, revision, way);
        world.run(async move {
            client.ready().await.unwrap();
            for result_first in [true, false] {
                let slow = client.call_tool("slow", &()).start();
                let mut progress = slow.progress();
                let follow = async {
                    let mut steps = Vec::new();
                    while let Some(update) = progress.next().await {
                        steps.push(update.progress);
                    }
                    steps
                };
                let (text, steps) = match result_first {
                    true => {
                        let text = slow.await.unwrap().text();
                        (text, follow.await)
                    }
                    false => {
                        let (steps, reply) = futures_util::future::join(follow, slow).await;
                        (reply.unwrap().text(), steps)
                    }
                };
                assert_eq!(text, "slept");
                assert_eq!(steps, [1.0, 2.0, 3.0], "{revision:?} {way:?} {result_first}");
            }
            let unheard = client.call_tool("slow", &()).start();
            unheard.await.unwrap();
            client.close().await;
        });
    }
}

#[test]
fn a_hook_hears_the_logs_of_the_level_that_was_asked_for() {
    for revision in Revision::ALL {
        let world = World::default();
        let (sessions, hub) = (Arc::new(MemorySessionStore::new()), Arc::new(MemoryHub::new()));
        let server = InProcess { world: world.clone(), revision, sessions, hub };
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hook = heard.clone();
        let client = Client::builder("client", "1")
            .log_level(LogLevel::Warning)
            .on_event(move |event| {
                if let crate::client::Event::Log(_, message) = event {
                    hook.lock().unwrap().push(message.level);
                }
            })
            .streams(world.clone(), server);
        world.run(async move {
            client.call_tool("report", &()).await.unwrap();
            let warned = std::mem::take(&mut *heard.lock().unwrap());
            assert_eq!(warned, [LogLevel::Warning, LogLevel::Error], "{revision:?}");
            client.set_log_level(LogLevel::Error).await.unwrap();
            client.call_tool("report", &()).await.unwrap();
            assert_eq!(*heard.lock().unwrap(), [LogLevel::Error], "{revision:?}");
        });
    }
}

#[test]
fn dropping_a_call_cancels_it_and_the_client_goes_on() {
    for (revision, way) in everything() {
        {
            let world = World::default();
            let client = client(&world, revision, way);
            let time = world.time.clone();
            world.run(async move {
                client.ready().await.unwrap();
                let started = time.time();
                let slow = client.call_tool("slow", &()).start();
                assert!(slow.progress().next().await.is_some());
                drop(slow);
                let reply = client.call_tool("add", &Add { a: 1, b: 2 }).await.unwrap();
                assert_eq!(reply.structured::<Sum>().unwrap().total, 3);
                let passed = time.time().saturating_since(started);
                assert!(passed < Duration::from_secs(1), "{revision:?} {way:?} {passed:?}");
            });
        }
    }
}

#[test]
fn the_last_handle_ends_the_loop_and_nobody_waits_for_ever() {
    let world = World::default();
    let client = client(&world, Revision::V2025_11_25, Way::Streams);
    world.run(async move {
        client.ready().await.unwrap();
        let other = client.clone();
        let slow = other.call_tool("slow", &()).start();
        drop((client, other));
        let ended = slow.await.unwrap_err();
        assert_eq!(ended.kind, ErrorKind::Closed);
        assert_eq!(ended.ran, Ran::Maybe);
    });
}

#[test]
fn a_client_that_can_be_asked_declares_it() {
    let can = ClientCapabilities { elicitation_form: true, ..Default::default() };
    let asker = Asker::new(ask_with(can, |asked: Asked| async move {
        assert!(matches!(asked.question, InputRequest::Elicit(_)));
        Ok(elicit_accept(&serde_json::json!({ "sure": true })).unwrap())
    }));
    assert_eq!(asker.can(), can);
    let question = crate::client::Question::new(
        "elicitation/create",
        r#"{"message":"?","requestedSchema":{"type":"object","properties":{"sure":{"type":"boolean"}}}}"#,
    );
    let answer = asker.answer(question).now_or_never().unwrap().unwrap();
    assert_eq!(answer.as_str(), r#"{"action":"accept","content":{"sure":true}}"#);
    let bad = asker.answer(crate::client::Question::new("x/y", "{}")).now_or_never().unwrap();
    assert_eq!(bad.unwrap_err().code, -32602);
}

#[test]
fn a_server_that_cannot_be_started_is_an_error_that_says_so() {
    struct Nothing;
    impl Respawn for Nothing {
        type Stream = End;
        fn start(&mut self) -> impl Future<Output = io::Result<End>> + Send + 'static {
            core::future::ready(Err(io::Error::other("no such program")))
        }
    }
    let world = World::default();
    let client = Client::builder("client", "1").streams(world.clone(), Nothing);
    world.run(async move {
        let error = client.ready().await.unwrap_err();
        assert_eq!(error.to_string(), "no such program");
        let mut listening = client.listen(Filter::lists());
        assert!(listening.next().await.unwrap().is_err());
        assert!(listening.next().await.is_none());
    });
}

#[test]
fn changes_are_told_alike_everywhere() {
    for (revision, way) in everything() {
        let world = World::default();
        let (client, hub) = client_and_hub(&world, revision, way);
        let time = world.time.clone();
        world.run(async move {
            let mut filter = Filter::lists();
            filter.uris.push("a://b".into());
            let mut listening = client.listen(filter);
            let what = format!("{revision:?} {way:?}");
            let first =
                listening.next().await.unwrap().unwrap_or_else(|error| panic!("{what}: {error}"));
            let ListenEvent::Listening(accepted) = first else { panic!("{what}: {first:?}") };
            assert!(accepted.tools && accepted.uris == ["a://b"], "{what}: {accepted:?}");
            // What subscribes, and opens streams, has arrived by then.
            client.ping().await.unwrap();
            time.sleep(Duration::from_secs(2)).await;
            for change in [Change::Tools, Change::Updated("a://b".into())] {
                let op = HubOp::Publish {
                    topic: store::topic("", "changes", None),
                    message: change.encode(),
                    ttl: Duration::from_secs(60),
                    keep: 10,
                };
                drop(hub.execute(time.time(), op));
                let told = listening.next().await.unwrap().unwrap();
                assert_eq!(told, ListenEvent::Changed(change), "{what}");
            }
            client.close().await;
            assert!(listening.next().await.unwrap().is_err());
            assert!(listening.next().await.is_none());
        });
    }
}

/// A carrier that answers with statuses of its own, and tells what it was asked.
#[derive(Clone, Default)]
struct Scripted {
    statuses: Arc<Mutex<Vec<u16>>>,
    tokens: Arc<Mutex<Vec<Option<String>>>>,
}

impl HttpCarrier for Scripted {
    type Body = futures_util::stream::Empty<Result<bytes::Bytes, CarryError>>;

    fn send(
        &self,
        request: http::Request<bytes::Bytes>,
    ) -> impl Future<Output = Result<http::Response<Self::Body>, CarryError>> + Send + 'static {
        let token =
            request.headers().get("authorization").map(|it| it.to_str().unwrap().to_owned());
        self.tokens.lock().unwrap().push(token);
        let status = self.statuses.lock().unwrap().remove(0);
        let response =
            http::Response::builder().status(status).header("www-authenticate", "Bearer");
        core::future::ready(Ok(response.body(futures_util::stream::empty()).unwrap()))
    }
}

struct Tokens(Mutex<Vec<&'static str>>);

impl TokenSource for Tokens {
    async fn token(&self, challenge: Option<Vec<String>>) -> Result<Option<String>, CarryError> {
        assert_eq!(challenge.is_some(), self.0.lock().unwrap().len() == 1);
        assert!(challenge.is_none_or(|challenge| challenge == ["Bearer"]));
        Ok(Some(self.0.lock().unwrap().remove(0).to_owned()))
    }
}

#[test]
fn a_token_that_is_refused_is_replaced_once() {
    // C70, R26-ATOK-01
    for (statuses, tokens, ends) in [
        (vec![200], vec!["a", "b"], 200),
        (vec![401, 200], vec!["a", "b"], 200),
        (vec![401, 401], vec!["a", "b"], 401),
        (vec![401], vec!["a", "a"], 401),
        (vec![403], vec!["a", "b"], 403),
    ] {
        let carrier = Scripted::default();
        *carrier.statuses.lock().unwrap() = statuses.clone();
        let bearer = Bearer::new(carrier.clone(), Tokens(Mutex::new(tokens.clone())));
        let request = http::Request::post("http://h/").body(bytes::Bytes::new()).unwrap();
        let response = bearer.send(request).now_or_never().unwrap().unwrap();
        assert_eq!(response.status().as_u16(), ends);
        let sent = carrier.tokens.lock().unwrap();
        assert_eq!(sent.len(), statuses.len());
        for (sent, token) in sent.iter().zip(&tokens) {
            assert_eq!(sent.as_deref(), Some(format!("Bearer {token}").as_str()));
        }
    }
    let bearer = Bearer::new(Scripted::default(), "bad\ntoken".to_owned());
    let request = http::Request::post("http://h/").body(bytes::Bytes::new()).unwrap();
    assert!(!bearer.send(request).now_or_never().unwrap().unwrap_err().sent);
}

#[test]
fn headers_are_added_and_their_values_not_shown() {
    let scripted = Scripted::default();
    scripted.statuses.lock().unwrap().push(200);
    let value = http::HeaderValue::from_static("hush");
    let carrier = WithHeaders::new(scripted.clone()).header(http::header::AUTHORIZATION, value);
    let request = http::Request::get("http://h/").body(bytes::Bytes::new()).unwrap();
    carrier.send(request).now_or_never().unwrap().unwrap();
    assert_eq!(*scripted.tokens.lock().unwrap(), [Some("hush".to_owned())]);
    let shown = format!("{carrier:?}");
    assert!(shown.contains("authorization") && !shown.contains("hush"), "{shown}");
}

#[test]
fn a_connection_serves_one_call_after_the_other() {
    // C67
    let world = World::default();
    let sessions = Arc::new(MemorySessionStore::new());
    let hub = Arc::new(MemoryHub::new());
    let server = InProcess { world: world.clone(), revision: Revision::V2026_07_28, sessions, hub };
    let pool = Pool::new(server.dialer());
    let client = Client::builder("client", "1");
    let client = client.http(world.clone(), pool.clone(), "http://localhost/mcp").unwrap();
    let time = world.time.clone();
    world.run(async move {
        for _ in 0..50 {
            client.call_tool("add", &Add { a: 1, b: 2 }).await.unwrap();
            assert_eq!(pool.idle(), 1);
        }
        let both = (client.call_tool("slow", &()), client.call_tool("slow", &()));
        let (one, other) =
            futures_util::future::join(both.0.into_future(), both.1.into_future()).await;
        assert!(one.is_ok() && other.is_ok());
        assert_eq!(pool.idle(), 2);
        time.sleep(Duration::from_secs(31)).await;
        assert_eq!(pool.idle(), 0);
        client.ping().await.unwrap();
    });
}

#[cfg(feature = "schema")]
#[test]
fn a_result_is_checked_where_that_is_asked_for() {
    // R2506-TOOL-12, C92
    let world = World::default();
    let client = client(&world, Revision::V2025_11_25, Way::Streams);
    world.run(async move {
        let tools = client.list_tools().await.unwrap();
        let add = tools.iter().find(|tool| tool.name == "add").unwrap();
        let reply = client.call_tool("add", &Add { a: 1, b: 2 }).await.unwrap();
        reply.check(add).unwrap();
        let mut other = add.clone();
        let schema = r#"{"type":"object","required":["more"]}"#;
        other.output_schema = Some(crate::model::Json::parse(schema).unwrap());
        assert!(reply.check(&other).unwrap_err().contains("more"));
        let remote = r#"{"$ref":"http://169.254.169.254/x"}"#;
        other.output_schema = Some(crate::model::Json::parse(remote).unwrap());
        assert!(reply.check(&other).is_err());
    });
}
