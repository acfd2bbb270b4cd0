//! The examples that serve, as processes that are called: by our client, and by plain HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use mcp_driver_tokio::{Client, Tokio};
use mcp_proto::revision::Revision;
use serde_json::{Value, json};

use crate::client::run;
use crate::process::{PATIENCE, Server, call};

/// Every server of one tool or more at `/mcp`, and how it is told to listen on any free port.
const SERVERS: [(&str, &[&str]); 6] = [
    ("everything", &["--listen", "127.0.0.1:0"]),
    ("everything-async-std", &["--listen", "127.0.0.1:0"]),
    ("own_store", &["127.0.0.1:0"]),
    ("std_net", &["127.0.0.1:0"]),
    ("with_hyper", &["127.0.0.1:0"]),
    ("with_smol", &["127.0.0.1:0"]),
];

#[test]
fn every_example_answers_our_client_and_a_plain_request() {
    for (name, arguments) in SERVERS {
        let (_server, listening) = Server::example(name, arguments);
        let url = &listening.address;
        run::<Tokio, _>(async {
            for revision in [Revision::V2025_06_18, Revision::V2025_11_25, Revision::V2026_07_28] {
                let client = Client::http(&**url).revision(revision).connect().await;
                let client = client.unwrap_or_else(|error| panic!("{name}: {error}"));
                let tools = client.list_tools().await.expect("a list");
                if tools.iter().any(|tool| tool.name == "add") {
                    let reply = client.call_tool("add", &json!({ "a": 2, "b": 40 })).await;
                    let text = reply.expect("it adds").text();
                    assert!(text.contains("42"), "{name}: {text}");
                } else {
                    assert_eq!(tools.len(), 1, "{name}");
                }
                client.close().await;
            }
        });
        let list = r#"{"jsonrpc":"2.0","id":"plain","method":"tools/list"}"#;
        let reply = post(url, "", list);
        assert!(reply.starts_with("HTTP/1.1 200 "), "{name}: {reply}");
        assert!(reply.contains(r#""id":"plain""#) && reply.contains(r#""tools":["#), "{reply}");
    }
}

#[test]
fn a_store_of_an_applications_own_remembers_from_call_to_call() {
    let (_server, listening) = Server::example("own_store", &["127.0.0.1:0"]);
    run::<Tokio, _>(async {
        let url = &*listening.address;
        let client = Client::http(url).revision(Revision::V2025_11_25).connect().await;
        let client = client.expect("connects");
        for visit in 1..=3 {
            let reply = client.call_tool("visits", &json!({})).await.expect("it counts");
            assert_eq!(reply.text(), format!("visit {visit}"));
        }
        client.close().await;
    });
}

/// Extensions of the application's own layers, the metadata at its root, and the prefix in what
/// clients are told (R2506-AUTH-13, R24-SSE-02).
#[test]
fn on_axum_a_service_is_below_its_prefix_and_behind_the_applications_layers() {
    let (_server, listening) = Server::example("with_axum", &["127.0.0.1:0"]);
    let url = &*listening.address;
    assert!(url.ends_with("/reports/mcp"), "{url}");
    run::<Tokio, _>(async {
        for revision in Revision::ALL {
            let client = Client::http(url).bearer("an-example-token".to_owned()).revision(revision);
            let client = client.connect().await.expect("connects");
            let title = client.call_tool("title", &json!({})).await.expect("it has one");
            assert_eq!(title.text(), "The report of nobody, for sub:ada");
            client.close().await;
        }
    });
    let token = "Authorization: Bearer an-example-token\r\n";
    let title = call(1, "title", "{}");
    let modern =
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: title\r\n";
    for at in [url.to_owned(), format!("{url}/")] {
        let reply = post(&at, &format!("{token}{modern}X-Tenant: blue\r\n"), &title);
        assert!(reply.contains("The report of blue, for sub:ada"), "{reply}");
    }

    let refused = post(url, modern, &title);
    assert!(refused.starts_with("HTTP/1.1 401 "), "{refused}");
    let (_, named) = refused.split_once("resource_metadata=\"").expect("a challenge");
    let (metadata, _) = named.split_once('"').expect("a URL");
    let metadata = get(metadata, "");
    let (head, document) = metadata.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let document: Value = serde_json::from_str(document).expect("JSON");
    assert_eq!(document["resource"], url);

    let root = url.strip_suffix("/reports/mcp").expect("a prefix");
    assert!(get(&format!("{root}/health"), "").ends_with("well"));
    assert!(get(&format!("{root}/mcp"), "").starts_with("HTTP/1.1 404 "));

    let mut stream = send("GET", &format!("{url}/sse"), token, "");
    let mut events = String::new();
    while !events.contains("data: ") {
        assert!(stream.read_line(&mut events).expect("an event") > 0, "{events}");
    }
    let (_, endpoint) = events.split_once("data: ").expect("an address");
    assert!(endpoint.starts_with("/reports/mcp/messages?session_id="), "{endpoint}");
    let accepted = post(&format!("{root}{}", endpoint.trim()), token, HELLO);
    assert!(accepted.starts_with("HTTP/1.1 202 "), "{accepted}");
    while !events.contains("serverInfo") {
        assert!(stream.read_line(&mut events).expect("an event") > 0, "{events}");
    }
}

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;

/// A response to a POST of JSON, with its head.
fn post(url: &str, headers: &str, body: &str) -> String {
    let headers = format!(
        "{headers}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Content-Length: {}\r\n",
        body.len()
    );
    whole(send("POST", url, &headers, body))
}

fn get(url: &str, headers: &str) -> String {
    whole(send("GET", url, headers, ""))
}

fn whole(mut response: impl Read) -> String {
    let mut text = String::new();
    response.read_to_string(&mut text).expect("UTF-8");
    text
}

/// Sends a request, after whose response the server closes.
pub(crate) fn send(method: &str, url: &str, headers: &str, body: &str) -> BufReader<TcpStream> {
    let (authority, path) =
        url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).expect("a URL");
    let mut stream = TcpStream::connect(authority).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let request = format!(
        "{method} /{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n{headers}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).expect("it reads");
    BufReader::new(stream)
}
