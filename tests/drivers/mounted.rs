//! A service mounted in web frameworks, over real sockets.

use std::io::{BufReader, Write};

use ::tokio::net::{TcpListener, TcpStream};
use ::tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use ::tokio::sync::{Semaphore, oneshot};
use ::tokio::time::timeout;
use axum::Router;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::handshake;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use mcp_driver_tokio::tower::HttpService;
use mcp_driver_tokio::{Registry, State, Tokio, http as serve, tool};
use std::sync::Arc;

use crate::http::{assert_each_ends_in_its_way, connect, listeners, post, response};
use crate::process::{PATIENCE, call};
use crate::running::runtime;

/// What the tool `wait` goes by: it tells when it begins and when it is over, and ends once it is
/// let go.
#[derive(Clone)]
struct Waiting {
    tells: UnboundedSender<&'static str>,
    go: Arc<Semaphore>,
}

/// Tells how a call ended, also where it is dropped while it waits.
struct Ending(UnboundedSender<&'static str>, &'static str);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.send(self.1);
    }
}

async fn wait(State(Waiting { tells, go }): State<Waiting>) -> &'static str {
    let mut ending = Ending(tells.clone(), "cancelled");
    let _ = tells.send("begun");
    let _ = go.acquire().await;
    ending.1 = "ended";
    "waited"
}

fn mounted() -> (HttpService<Tokio>, UnboundedReceiver<&'static str>, Arc<Semaphore>) {
    let (tells, told) = unbounded_channel();
    let go = Arc::new(Semaphore::new(0));
    let service = Registry::new("mounted", "1")
        .state(Waiting { tells, go: Arc::clone(&go) })
        .tool(tool("wait", wait))
        .tool(tool("quick", || async { "quick" }))
        .build()
        .expect("valid");
    let http = serve(service).path("/mcp").http_sse("/sse", "/messages");
    (http.mount().expect("it fits"), told, go)
}

async fn next(told: &mut UnboundedReceiver<&'static str>) -> &'static str {
    timeout(PATIENCE, told.recv()).await.expect("it hangs").expect("somebody tells")
}

/// R26-HTTP-16.
#[test]
fn over_http_2_calls_share_a_connection_and_one_that_is_reset_is_cancelled() {
    runtime().block_on(async {
        let (mcp, mut told, go) = mounted();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        ::tokio::spawn(async move {
            let (stream, _) = listener.accept().await.expect("a client");
            let server = Builder::new(TokioExecutor::new()).http2_only();
            let _ =
                server.serve_connection(TokioIo::new(stream), TowerToHyperService::new(mcp)).await;
        });
        let stream = TcpStream::connect(address).await.expect("it listens");
        let (mut client, connection) =
            handshake(TokioExecutor::new(), TokioIo::new(stream)).await.expect("it speaks HTTP/2");
        ::tokio::spawn(connection);

        let given_up = ::tokio::spawn(client.send_request(modern("wait")));
        assert_eq!(next(&mut told).await, "begun");
        let waits = ::tokio::spawn(client.send_request(modern("wait")));
        assert_eq!(next(&mut told).await, "begun");
        assert!(text(client.send_request(modern("quick")).await).await.contains("quick"));

        given_up.abort();
        assert_eq!(next(&mut told).await, "cancelled");
        go.add_permits(1);
        assert!(text(waits.await.expect("it was not given up")).await.contains("waited"));
        assert_eq!(next(&mut told).await, "ended");
    });
}

#[test]
fn on_axum_a_shutdown_ends_streams_and_lets_calls_end() {
    let runtime = runtime();
    let (mcp, mut told, go) = mounted();
    let (stop, stopped) = oneshot::channel::<()>();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let app = Router::new().fallback_service(mcp.clone());
    let server = runtime.spawn(async move {
        let ending = async move {
            let _ = stopped.await;
            ::tokio::spawn(async move { mcp.shutdown().await });
        };
        axum::serve(listener, app).with_graceful_shutdown(ending).await
    });
    let streams = listeners(&address);
    let mut caller = connect(&address);
    caller.write_all(post("", "wait", &call(1, "wait", "{}")).as_bytes()).expect("it reads");
    assert_eq!(runtime.block_on(next(&mut told)), "begun");

    stop.send(()).expect("it waits for that");
    assert_each_ends_in_its_way(streams);
    go.add_permits(1);
    assert!(response(&mut BufReader::new(caller)).1.contains("waited"));
    let served = runtime.block_on(async { timeout(PATIENCE, server).await });
    served.expect("it hangs").expect("it runs").expect("it served");
}

/// A call of 2026-07-28.
fn modern(name: &str) -> Request<Full<Bytes>> {
    Request::post("http://localhost/mcp")
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", name)
        .body(Full::new(call(1, name, "{}").into()))
        .expect("a request")
}

async fn text(response: hyper::Result<Response<Incoming>>) -> String {
    let body = response.expect("a response").into_body().collect().await.expect("a whole body");
    String::from_utf8(body.to_bytes().into()).expect("UTF-8")
}
