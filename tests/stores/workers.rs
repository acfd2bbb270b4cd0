//! Servers that share a store are one server.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use mcp_driver_tokio::{Service, Storage, http};
use mcp_stores::{PostgresStorage, RedisStorage, SqliteStorage};
use mcp_tests::servers::{Kind, Server};

use crate::runtime::Runtime;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// Posts a message on a connection of its own: the head and body that come back.
fn post(server: SocketAddr, session: Option<&str>, message: &str) -> String {
    let mut stream = TcpStream::connect(server).expect("connected");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
    let session = session.map_or_else(String::new, |id| format!("Mcp-Session-Id: {id}\r\n"));
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{session}\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Content-Length: {}\r\n\r\n{message}",
        message.len()
    )
    .expect("written");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("answered");
    answer
}

fn session(answer: &str) -> &str {
    let lines = answer.lines().filter_map(|line| line.split_once(':'));
    let mut ids = lines.filter(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id"));
    ids.next().map(|(_, id)| id.trim()).unwrap_or_else(|| panic!("no session: {answer}"))
}

/// A session that one worker opened is known to the other, also once the first has gone.
async fn shared<S: Storage>(name: &str, one: S, two: S) {
    let sleep = mcp_driver_tokio::Tokio::new();
    let service: Service = mcp_tests::service(sleep).expect("a service");
    let serve = async |storage: S| {
        let server = http(service.clone()).store(storage).bind("127.0.0.1:0").await.expect("bound");
        (server.local_addr(), tokio::spawn(server.serve()))
    };
    let ((first, running), (second, _)) = (serve(one).await, serve(two).await);
    let ask = async |server, session: Option<String>, message| {
        let asked = tokio::task::spawn_blocking(move || post(server, session.as_deref(), message));
        asked.await.expect("asked")
    };
    let opened = ask(first, None, INITIALIZE).await;
    let id = session(&opened).to_owned();
    let accepted = ask(second, Some(id.clone()), INITIALIZED).await;
    assert!(accepted.starts_with("HTTP/1.1 202"), "{name}: {accepted}");
    running.abort();
    for _ in 0..3 {
        let pong = ask(second, Some(id.clone()), PING).await;
        assert!(pong.starts_with("HTTP/1.1 200"), "{name}: {pong}");
    }
    let unknown = ask(second, Some(format!("{id}x")), PING).await;
    assert!(unknown.starts_with("HTTP/1.1 404"), "{name}: {unknown}");
}

#[test]
fn a_session_is_known_to_every_worker() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("mcp.sqlite");
    let (redis, postgres) = (Server::start(Kind::Redis), Server::start(Kind::Postgres));
    Runtime::Tokio.block_on(async {
        let open = || SqliteStorage::open(&path);
        shared("sqlite", open().await.expect("one"), open().await.expect("two")).await;
        if let Some(url) = redis.as_ref().map(Server::url) {
            let open = || RedisStorage::connect(&url);
            shared("redis", open().await.expect("one"), open().await.expect("two")).await;
        }
        if let Some(url) = postgres.as_ref().map(Server::url) {
            let open = || PostgresStorage::connect(&url);
            shared("postgres", open().await.expect("one"), open().await.expect("two")).await;
        }
    });
}
