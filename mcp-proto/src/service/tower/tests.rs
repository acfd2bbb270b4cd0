use core::convert::Infallible;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::future::{join, ready};
use http::{Request, Response, StatusCode};
use http_body::{Body, Frame};
use tower_service::Service as _;

use super::super::world::VirtualTime;
use super::*;
use crate::auth::{Authorization, Principal};
use crate::server::Limits;
use crate::service::{Error, Exchange, Extension, Guard, Registry, Service, StaticTokens, tool};

const SECOND: Duration = Duration::from_secs(1);

/// A request's body: pieces, a failure, or (at its end) silence.
#[derive(Clone, Default)]
struct Pieces {
    pieces: VecDeque<Result<Bytes, Infallible>>,
    ends: Ending,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Ending {
    #[default]
    Well,
    Failing,
    Never,
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        match (self.pieces.pop_front(), self.ends) {
            (Some(Ok(piece)), _) => Poll::Ready(Some(Ok(Frame::data(piece)))),
            (_, Ending::Well) => Poll::Ready(None),
            (_, Ending::Failing) => Poll::Ready(Some(Err("the connection was reset"))),
            (_, Ending::Never) => Poll::Pending,
        }
    }
}

fn whole(text: impl Into<Bytes>) -> Pieces {
    Pieces { pieces: [Ok(text.into())].into(), ends: Ending::Well }
}

fn post(body: Pieces) -> Request<Pieces> {
    let request = Request::post("/").header("Host", "localhost");
    let request = request.header("Content-Type", "application/json");
    request.header("Accept", "application/json, text/event-stream").body(body).unwrap()
}

fn get(path: &str) -> Request<Pieces> {
    let request = Request::get(path).header("Host", "localhost");
    request.header("Accept", "text/event-stream").body(Pieces::default()).unwrap()
}

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{},"progressToken":"t"}"#;

/// A call of 2026-07-28.
fn modern(method: &str, name: &str, params: &str) -> Request<Pieces> {
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}{META}}}}}"#);
    let mut request = post(whole(body));
    let headers = request.headers_mut();
    headers.insert("mcp-protocol-version", "2026-07-28".parse().unwrap());
    headers.insert("mcp-method", method.parse().unwrap());
    if !name.is_empty() {
        headers.insert("mcp-name", name.parse().unwrap());
    }
    request
}

fn call(name: &str) -> Request<Pieces> {
    modern("tools/call", name, &format!(r#""name":"{name}","#))
}

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;

/// A call in a session of 2025-11-25.
fn legacy_call(session: &str, name: &str) -> Request<Pieces> {
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"{name}"}}}}"#);
    let mut request = post(whole(body));
    request.headers_mut().insert("mcp-session-id", session.parse().unwrap());
    request
}

/// Everything of a response's body, and whether it broke off.
async fn text(response: Response<HttpBody>) -> (String, bool) {
    let (mut body, mut text) = (response.into_body(), String::new());
    loop {
        match next(&mut body).await {
            Some(Ok(piece)) => text.push_str(&piece),
            Some(Err(_)) => return (text, true),
            None => return (text, false),
        }
    }
}

async fn next(body: &mut HttpBody) -> Option<Result<String, std::io::Error>> {
    let frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await?;
    Some(frame.map(|frame| String::from_utf8(frame.into_data().unwrap().into()).unwrap()))
}

/// A mounted service in virtual time, and how many of its slow calls came to their end.
struct World {
    time: VirtualTime,
    done: Arc<AtomicUsize>,
    mounted: HttpService<VirtualTime>,
}

impl World {
    fn new(set: impl FnOnce(HttpBuilder<VirtualTime>) -> HttpBuilder<VirtualTime>) -> Self {
        let (time, done) = (VirtualTime::default(), Arc::new(AtomicUsize::new(0)));
        let service = service(&time, &done);
        let mounted = set(HttpBuilder::new(time.clone(), service)).mount().expect("it fits");
        Self { time, done, mounted }
    }

    fn call(&self, request: Request<Pieces>) -> Answer<Pieces, VirtualTime, Shared> {
        self.mounted.clone().call(request)
    }

    async fn answer(&self, request: Request<Pieces>) -> Response<HttpBody> {
        self.call(request).await.unwrap()
    }

    async fn session(&self) -> String {
        let greeted = self.answer(post(whole(HELLO))).await;
        greeted.headers()["mcp-session-id"].to_str().unwrap().to_owned()
    }

    /// Runs `client` and what is left to run on.
    fn run<T>(&self, client: impl Future<Output = T>) -> T {
        self.time.run(ready(()), client).1
    }

    fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }
}

/// Tools that are quick, and that take twenty seconds, silently or talking.
fn service(time: &VirtualTime, done: &Arc<AtomicUsize>) -> Service {
    let slow = |talks: bool| {
        let (time, done) = (time.clone(), Arc::clone(done));
        move |ex: Exchange| {
            let (time, done) = (time.clone(), Arc::clone(&done));
            async move {
                if talks {
                    ex.progress(1, 2);
                }
                time.sleep(20 * SECOND).await;
                done.fetch_add(1, Ordering::Relaxed);
                "slept"
            }
        }
    };
    let clock = time.clone();
    // Says more than waits for any reader, one message at a time.
    let flood = move |ex: Exchange| {
        let time = clock.clone();
        async move {
            for step in 0..100 {
                ex.progress(step, 100).message("x".repeat(10_000));
                time.sleep(SECOND / 100).await;
            }
            "flooded"
        }
    };
    async fn tenant(Extension(tenant): Extension<&'static str>) -> String {
        format!("tenant {tenant}")
    }
    Registry::new("mounted", "1")
        .tool(tool("quick", || async { "quick" }))
        .tool(tool("slow", slow(false)))
        .tool(tool("talk", slow(true)).streaming())
        .tool(tool("tenant", tenant))
        .tool(tool("flood", flood).streaming())
        .resource("config://app", || async { "{}" })
        .build()
        .expect("valid")
}

#[test]
fn a_call_is_one_response_and_a_message_before_its_result_makes_it_a_stream() {
    let world = World::new(|http| http);
    world.run(async {
        let quick = world.answer(call("quick")).await;
        assert_eq!(quick.headers()["content-type"], "application/json");
        let length: usize = quick.headers()["content-length"].to_str().unwrap().parse().unwrap();
        assert_eq!(quick.body().size_hint().exact(), Some(length as u64));
        let (text_of_it, _) = text(quick).await;
        assert!(text_of_it.len() == length && text_of_it.contains("quick"), "{text_of_it}");
        assert_eq!(world.time.detached(), 0);

        let talk = world.answer(call("talk")).await;
        assert_eq!(talk.headers()["content-type"], "text/event-stream");
        let mut body = talk.into_body();
        // The first piece is there with the head.
        assert!(next(&mut body).await.unwrap().unwrap().starts_with(':'));
        let mut rest = String::new();
        while let Some(piece) = next(&mut body).await {
            rest.push_str(&piece.unwrap());
        }
        assert!(rest.contains("slept"), "{rest}");
    });
}

#[test]
fn what_the_framework_attaches_reaches_handlers() {
    let world = World::new(|http| http);
    world.run(async {
        let mut request = call("tenant");
        request.extensions_mut().insert("blue");
        assert!(text(world.answer(request).await).await.0.contains("tenant blue"));
        assert!(!text(world.answer(call("tenant")).await).await.0.contains("blue"));
    });
}

#[test]
fn a_body_in_pieces_is_read_and_one_that_fails_stalls_or_is_too_large_is_refused() {
    let limits = Limits { message: 1_000, ..Limits::default() };
    let world = World::new(|http| http.limits(limits));
    world.run(async {
        let bytes = Bytes::from_static(HELLO.as_bytes());
        let pieces = bytes.chunks(7).map(|piece| Ok(bytes.slice_ref(piece))).collect();
        let answered = world.answer(post(Pieces { pieces, ends: Ending::Well })).await;
        assert_eq!(answered.status(), 200);

        let pieces: VecDeque<_> = [Ok(Bytes::from_static(b"{\"jsonrpc\":"))].into();
        let failing = Pieces { pieces: pieces.clone(), ends: Ending::Failing };
        assert_eq!(world.answer(post(failing)).await.status(), 400);
        let before = world.time.time();
        let stalling = Pieces { pieces, ends: Ending::Never };
        assert_eq!(world.answer(post(stalling)).await.status(), 408);
        assert_eq!(world.time.time(), before + limits.http.body_time);
        assert_eq!(world.answer(post(whole(vec![b' '; 1_001]))).await.status(), 413);
    });
}

/// R26-HTTP-16, R2503-HTTP-16.
#[test]
fn a_call_of_a_session_outlives_its_response_and_others_are_cancelled() {
    for tool in ["slow", "talk"] {
        let world = World::new(|http| http);
        world.run(async {
            let session = world.session().await;
            for request in [call(tool), legacy_call(&session, tool)] {
                let mut answer = world.call(request);
                // Until its handler waits, and a stream begins, where it is to be one.
                let begun = poll_fn(|cx| Poll::Ready(Pin::new(&mut answer).poll(cx))).await;
                assert_eq!(begun.is_ready(), tool == "talk");
                drop((answer, begun));
            }
            world.time.sleep(30 * SECOND).await;
            assert_eq!(world.done(), 1, "{tool}");
        });
    }
}

#[test]
fn a_reader_that_stalls_holds_up_no_handler_and_is_given_up_in_the_end() {
    let log = Arc::new(std::sync::Mutex::new(Vec::new()));
    let notices = Arc::clone(&log);
    let world = World::new(|http| {
        http.on_notice(move |line| notices.lock().unwrap().push(line.to_owned()))
    });
    world.run(async {
        let session = world.session().await;
        let stalled = world.answer(legacy_call(&session, "talk")).await;
        let flooded = world.answer(call("flood")).await;
        world.time.sleep(21 * SECOND).await;
        assert_eq!(world.done(), 1);
        let (all, broken) = text(stalled).await;
        assert!(!broken && all.contains("slept"), "{all}");
        world.time.sleep(40 * SECOND).await;
        let (some, broken) = text(flooded).await;
        assert!(broken && !some.contains("flooded"), "{} bytes", some.len());
        assert!(some.len() < 200_000, "{} bytes", some.len());
        let log = log.lock().unwrap();
        for says in ["does not read", "took nothing"] {
            assert!(log.iter().any(|line| line.contains(says)), "{log:?}");
        }
    });
}

#[test]
fn as_many_exchanges_as_may_are_served_and_further_ones_refused() {
    let log = Arc::new(std::sync::Mutex::new(Vec::new()));
    let notices = Arc::clone(&log);
    let world = World::new(|http| {
        http.connections(2).on_notice(move |line| notices.lock().unwrap().push(line.to_owned()))
    });
    world.run(async {
        let (first, mut second) = (world.answer(call("talk")).await, world.call(call("slow")));
        let pending = poll_fn(|cx| Poll::Ready(Pin::new(&mut second).poll(cx))).await;
        assert!(pending.is_pending());
        let refused = world.answer(call("quick")).await;
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(refused.headers()["retry-after"], "1");
        assert!(log.lock().unwrap()[0].contains("`connections`"), "{log:?}");
        drop((first, second));
        world.time.sleep(SECOND).await;
        assert_eq!(world.answer(call("quick")).await.status(), StatusCode::OK);
    });
}

/// R26-SUBS-10.
#[test]
fn a_shutdown_ends_streams_that_listen_each_in_its_way_and_lets_calls_end() {
    let world = World::new(|http| http.http_sse("/sse", "/messages").shutdown_grace(30 * SECOND));
    world.run(async {
        let session = world.session().await;
        let filter = r#""notifications":{"resourcesListChanged":true},"#;
        let modern = world.answer(modern("subscriptions/listen", "", filter)).await;
        let mut by_session = get("/");
        by_session.headers_mut().insert("mcp-session-id", session.parse().unwrap());
        let by_session = world.answer(by_session).await;
        let sse = world.answer(get("/sse")).await;
        let running = world.answer(call("talk")).await;
        let begun = world.time.time();
        let shut_down = async {
            world.mounted.shutdown().await;
            assert_eq!(world.time.time(), begun + 20 * SECOND, "when the call had ended");
        };
        let read = async {
            let (modern, broken) = text(modern).await;
            assert!(!broken && modern.contains(r#""id":1,"result":"#), "{modern}");
            // Only one of them can be taken up again.
            for (stream, comes_back) in [(by_session, true), (sse, false)] {
                let (stream, broken) = text(stream).await;
                assert!(!broken, "{stream}");
                assert_eq!(stream.contains("retry: 1000"), comes_back, "{stream}");
            }
            // What comes now listens to nothing, and calls are still answered.
            let late = world.answer(get("/sse")).await;
            assert!(!text(late).await.1, "it ends");
            assert_eq!(world.answer(call("quick")).await.status(), StatusCode::OK);
            assert_eq!(world.time.time(), begun);
            assert!(text(running).await.0.contains("slept"));
        };
        join(shut_down, read).await;
        assert_eq!(world.answer(call("quick")).await.status(), StatusCode::SERVICE_UNAVAILABLE);
    });
}

#[test]
fn a_shutdown_cuts_off_what_takes_too_long_and_says_so() {
    let log = Arc::new(std::sync::Mutex::new(Vec::new()));
    let notices = Arc::clone(&log);
    let world = World::new(|http| {
        let http = http.shutdown_grace(SECOND);
        http.on_notice(move |notice| notices.lock().unwrap().push(notice.to_owned()))
    });
    world.run(async {
        let stream = world.answer(call("talk")).await;
        let undecided = world.call(call("slow"));
        let (_, undecided) = join(world.mounted.shutdown(), undecided).await;
        assert_eq!(undecided.unwrap().status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(text(stream).await.1, "it broke off");
        assert_eq!(world.done(), 0);
    });
    assert_eq!(*log.lock().unwrap(), ["calls were cut off: they did not end in time"]);
}

/// R24-SSE-02.
#[test]
fn the_endpoint_event_names_the_path_as_the_client_sees_it() {
    let world = World::new(|http| http.http_sse("/sse", "/messages").prefix("/reports/mcp/"));
    world.run(async {
        let mut stream = world.answer(get("/sse")).await.into_body();
        let mut events = String::new();
        while !events.contains("data: ") {
            events.push_str(&next(&mut stream).await.unwrap().unwrap());
        }
        assert!(events.contains("data: /reports/mcp/messages?session_id="), "{events}");
    });
}

/// R2506-AUTH-13.
#[test]
fn the_metadata_can_be_mounted_apart_from_the_resource() {
    let authorization = Authorization::builder("https://localhost/reports/mcp")
        .authorization_server("https://auth.example")
        .build()
        .unwrap();
    let ann = Principal::subject("ann");
    let tokens = StaticTokens::new().token("open-sesame-open-sesame-open-sesame", ann).unwrap();
    let guard = Guard::new(authorization, tokens);
    for here in [true, false] {
        let world = World::new(|http| http.auth(guard.clone()).metadata(here));
        let paths = world.mounted.metadata_paths();
        let root = "/.well-known/oauth-protected-resource";
        assert_eq!(paths, [format!("{root}/reports/mcp"), root.to_owned()]);
        let metadata = world.mounted.metadata();
        world.run(async {
            for path in &paths {
                assert_eq!(world.answer(get(path)).await.status(), if here { 200 } else { 401 });
            }
            for (request, body) in [(Request::get("/"), true), (Request::head("/"), false)] {
                let request = request.header("Host", "localhost").body(Pieces::default()).unwrap();
                let response = metadata.clone().call(request).await.unwrap();
                assert_eq!(response.status(), 200);
                assert_ne!(response.headers()["content-length"], "0");
                let document = text(response).await.0;
                assert_eq!(
                    document.contains(r#""resource":"https://localhost/reports/mcp""#),
                    body
                );
            }
            let posted = metadata.clone().call(call("quick")).await.unwrap();
            assert_eq!(posted.status(), 405);
        });
    }
}

#[test]
fn a_service_that_wants_to_know_who_calls_is_not_mounted_without_a_guard() {
    async fn whoami(who: Principal) -> String {
        who.identity()
    }
    let service = Registry::new("mounted", "1").tool(tool("whoami", whoami)).build().unwrap();
    let refused: Result<_, Error> = HttpBuilder::new(VirtualTime::default(), service).mount();
    assert!(format!("{:?}", refused.unwrap_err()).contains("whoami"));
}

#[test]
fn what_is_declared_anew_is_served_to_the_next_request() {
    let world = World::new(|http| http);
    world.run(async {
        let lists = || async { text(world.answer(modern("tools/list", "", "")).await).await.0 };
        assert!(!lists().await.contains("another"));
        let service = Registry::new("mounted", "2").tool(tool("another", || async { "" }));
        world.mounted.updater().replace(service.build().unwrap()).await.unwrap();
        assert!(lists().await.contains("another"));
    });
}
