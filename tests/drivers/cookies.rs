//! Clients of a server whose balancer tells its workers apart by a cookie.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use mcp_driver_tokio::client::Client;
use mcp_proto::revision::Revision;
use serde_json::{Value, json};

use crate::client::{Runs, run};

crate::for_both_clients! {
    an_affinity_cookie_comes_back_where_that_is_wanted
}

/// A server that gives each client a cookie, and writes down those that it is sent.
struct Balanced {
    url: String,
    heard: Arc<Mutex<Vec<Option<String>>>>,
}

impl Balanced {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let heard = Arc::<Mutex<Vec<Option<String>>>>::default();
        let log = heard.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let log = log.clone();
                std::thread::spawn(move || serve(&connection, &log));
            }
        });
        Self { url, heard }
    }
}

/// Answers the requests of a connection, one after the other, until it ends.
fn serve(connection: &TcpStream, log: &Mutex<Vec<Option<String>>>) -> Option<()> {
    let (mut reader, mut writer) = (BufReader::new(connection), connection);
    loop {
        let (mut length, mut cookie) = (0, None);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let Some((name, value)) = line.trim().split_once(": ") else {
                match line.trim().is_empty() {
                    true => break,
                    false => continue,
                }
            };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().ok()?,
                "cookie" => cookie = Some(value.to_owned()),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        log.lock().expect("no panic").push(cookie);
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let result = match body["method"].as_str() {
            Some("server/discover") => {
                json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {} })
            }
            Some("initialize") => {
                json!({ "protocolVersion": body["params"]["protocolVersion"], "capabilities": {} })
            }
            _ => json!({ "resultType": "complete", "content": [] }),
        };
        let (status, answer) = match body["id"].is_null() {
            true if body["method"].is_null() => ("405 Method Not Allowed", String::new()),
            true => ("202 Accepted", String::new()),
            false => {
                let answer = json!({ "jsonrpc": "2.0", "id": body["id"], "result": result });
                ("200 OK", answer.to_string())
            }
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Set-Cookie: SERVERID=w1; Path=/; HttpOnly\r\n\r\n{answer}",
            answer.len()
        );
        writer.write_all(head.as_bytes()).ok()?;
    }
}

fn an_affinity_cookie_comes_back_where_that_is_wanted<D: Runs>() {
    for revision in Revision::ALL {
        for keeps in [true, false] {
            let server = Balanced::new();
            run::<D, _>(async {
                let client = Client::<D>::http(&*server.url).revision(revision).cookies(keeps);
                let client = client.connect().await.expect("connects");
                for _ in 0..3 {
                    client.call_tool("any", &()).await.expect("it answers");
                }
                client.close().await;
            });
            let heard = server.heard.lock().expect("no panic");
            let (first, others) = heard.split_first().expect("it was asked");
            assert_eq!(*first, None);
            let sent = others.iter().filter(|it| it.as_deref() == Some("SERVERID=w1")).count();
            assert_eq!(sent, if keeps { others.len() } else { 0 }, "{revision} {heard:?}");
            assert!(others.len() >= 3);
        }
    }
}
