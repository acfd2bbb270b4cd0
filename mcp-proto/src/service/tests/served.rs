//! A service behind its HTTP listener, end to end in virtual time: no socket and no runtime.

use core::future::Future;
use core::time::Duration;

use serde_json::{Value, json};

use super::super::world::{End, Port, VirtualTime};
use super::super::*;
use crate::auth::{Authorization, Principal};
use crate::model::elicit;
use crate::server::Limits;

const SECOND: Duration = Duration::from_secs(1);

fn builder(time: &VirtualTime) -> HttpBuilder<VirtualTime> {
    let (clock, long) = (time.clone(), time.clone());
    let service = Registry::new("test", "1")
        .tool(tool("sure", |ex: Exchange| async move {
            let answer = ex.ask("sure", elicit("Sure?")).await?;
            Ok::<_, Error>(format!("said {}", answer.action()))
        }))
        .tool(tool("away", move |ex: Exchange| {
            let time = clock.clone();
            async move {
                ex.close_stream();
                time.sleep(2 * SECOND).await;
                "fetched"
            }
        }))
        .tool(tool("long", move |_: Exchange| {
            let time = long.clone();
            async move {
                time.sleep(300 * SECOND).await;
                "at last"
            }
        }))
        .build()
        .expect("valid");
    HttpBuilder::new(time.clone(), service)
}

/// Serves until the client is done.
fn serve<C: Future>(
    time: &VirtualTime,
    builder: HttpBuilder<VirtualTime>,
    client: impl FnOnce(Client) -> C,
) -> C::Output {
    let port = Port::default();
    let server = builder.shutdown_grace(SECOND).listen(port.clone()).expect("a port");
    let client = client(Client { port, session: None, token: None });
    let done = time.sleep(1_000 * SECOND);
    let (served, output) = time.run(server.serve_with_shutdown(done), client);
    served.expect("it ended by itself");
    output
}

struct Client {
    port: Port,
    session: Option<String>,
    token: Option<&'static str>,
}

impl Client {
    /// A request on a connection of its own.
    async fn request(&self, method: &str, target: &str, headers: &str, body: &str) -> End {
        let mut end = self.port.connect();
        let mut head = format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\n{headers}");
        for (name, value) in
            [("Mcp-Session-Id: ", self.session.as_deref()), ("Authorization: Bearer ", self.token)]
        {
            head += &value.map(|value| format!("{name}{value}\r\n")).unwrap_or_default();
        }
        if method == "POST" {
            head += "Content-Type: application/json\r\n";
            head += "Accept: application/json, text/event-stream\r\n";
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        end.send(format!("{head}\r\n{body}").as_bytes()).await;
        end
    }

    async fn post(&self, target: &str, message: &Value) -> End {
        self.request("POST", target, "", &message.to_string()).await
    }

    /// Posts what is answered elsewhere.
    async fn deliver(&self, target: &str, message: &Value) {
        let mut end = self.post(target, message).await;
        let taken = end.receive_until(|text| text.contains("\r\n\r\n")).await;
        assert!(taken.starts_with("HTTP/1.1 202 "), "{taken}");
    }

    /// Shakes hands, as a client that answers questions.
    async fn open(&mut self) {
        let mut end = self.post("/mcp", &hello("2025-11-25")).await;
        let reply = end.receive_until(|text| text.contains("serverInfo")).await;
        let id = |line: &str| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("mcp-session-id").then(|| value.to_owned())
        };
        self.session = reply.lines().find_map(id);
        assert!(self.session.is_some(), "{reply}");
    }
}

fn hello(version: &str) -> Value {
    json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": version, "capabilities": { "elicitation": {} },
            "clientInfo": { "name": "c", "version": "1" },
        },
    })
}

fn call(tool: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool } })
}

/// The first message in these events that has `what`.
fn message(events: &str, what: &str) -> Value {
    let data = events.lines().filter_map(|line| line.strip_prefix("data: "));
    let data = { data }.find(|data| data.contains(what)).expect("a message");
    serde_json::from_str(data).expect("JSON")
}

fn accepted(question: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept", "content": {} } })
}

#[test]
fn a_handler_asks_over_http_and_the_answer_comes_on_another_connection() {
    let time = VirtualTime::default();
    serve(&time, builder(&time), |mut client| async move {
        client.open().await;
        let mut stream = client.post("/mcp", &call("sure")).await;
        let asked = stream.receive_until(|text| text.contains("elicitation/create")).await;
        assert!(asked.contains("text/event-stream"), "{asked}");
        let answer = accepted(&message(&asked, "elicitation/create"));
        client.deliver("/mcp", &answer).await;
        let rest = stream.receive_until(|text| text.contains("\"result\"")).await;
        assert!(rest.contains("said accept"), "{rest}");
    });
}

#[test]
fn a_handler_asks_over_http_sse_and_is_answered_by_a_post() {
    let time = VirtualTime::default();
    let builder = builder(&time).http_sse("/sse", "/messages");
    serve(&time, builder, |client| async move {
        let accept = "Accept: text/event-stream\r\n";
        let mut stream = client.request("GET", "/sse", accept, "").await;
        let opened = stream.receive_until(|text| text.contains("session_id=")).await;
        let address = opened.lines().find_map(|line| line.strip_prefix("data: "));
        let address = address.expect("an address").to_owned();
        client.deliver(&address, &hello("2025-06-18")).await;
        stream.receive_until(|text| text.contains("serverInfo")).await;
        client.deliver(&address, &call("sure")).await;
        let asked = stream.receive_until(|text| text.contains("elicitation/create")).await;
        client.deliver(&address, &accepted(&message(&asked, "elicitation/create"))).await;
        let rest = stream.receive_until(|text| text.contains("\"result\"")).await;
        assert!(rest.contains("said accept"), "{rest}");
    });
}

#[test]
fn a_handler_sends_its_client_away_and_the_result_is_fetched_later() {
    // R2511-HTTP-19
    let time = VirtualTime::default();
    let retry = Limits::default().retry.as_millis();
    serve(&time, builder(&time), |mut client| async move {
        client.open().await;
        let mut first = client.post("/mcp", &call("away")).await;
        let sent_away = first.receive_until(|text| text.contains("\r\n0\r\n\r\n")).await;
        assert!(!sent_away.contains("fetched"), "{sent_away}");
        assert!(sent_away.contains(&format!("retry: {retry}")), "{sent_away}");
        let mut ids = sent_away.lines().filter_map(|line| line.strip_prefix("id: "));
        let last = ids.next_back().expect("an event id");
        let headers = format!("Accept: text/event-stream\r\nLast-Event-ID: {last}\r\n");
        let mut second = client.request("GET", "/mcp", &headers, "").await;
        let rest = second.receive_until(|text| text.contains("\r\n0\r\n\r\n")).await;
        assert!(rest.contains("fetched"), "{rest}");
    });
}

#[test]
fn who_is_admitted_reaches_the_handler_and_others_get_a_challenge() {
    async fn verify(token: String) -> Result<Principal, VerifyError> {
        match &*token {
            "ada" => Ok(Principal::subject("ada").issued_by("https://login.example")),
            "later" => Err(VerifyError::Unavailable("down".into())),
            _ => Err(VerifyError::Invalid),
        }
    }
    let time = VirtualTime::default();
    let service = Registry::new("test", "1")
        .tool(tool("who", |principal: Principal| async move {
            format!("you are {}", principal.subject_id().unwrap_or_default())
        }))
        .build()
        .expect("valid");
    let authorization = Authorization::builder("http://localhost/mcp")
        .authorization_server("https://login.example")
        .build()
        .expect("settings");
    let builder = || HttpBuilder::new(time.clone(), service.clone());
    assert!(builder().listen(Port::default()).is_err(), "nobody would say who calls");
    serve(&time, builder().auth(Guard::new(authorization, verify)), |mut client| async move {
        for (token, status, says) in [
            (Some("ada"), "200", "you are ada"),
            (None, "401", "resource_metadata="),
            (Some("eve"), "401", "error=\"invalid_token\""),
            (Some("later"), "503", "HTTP/1.1"),
        ] {
            client.token = token;
            let mut end = client.post("/mcp", &call("who")).await;
            let reply = end.receive_until(|text| text.contains("\r\n\r\n")).await;
            assert!(reply.starts_with(&format!("HTTP/1.1 {status} ")), "{token:?}: {reply}");
            assert!(reply.contains(says), "{token:?}: {reply}");
        }
        client.token = None;
        let path = "/.well-known/oauth-protected-resource/mcp";
        let mut end = client.request("GET", path, "", "").await;
        let metadata = end.receive_until(|text| text.contains("login.example")).await;
        assert!(metadata.starts_with("HTTP/1.1 200 "), "{metadata}");
    });
}

/// What waits for news on a stream waits on when none came for a while.
#[test]
fn a_call_that_takes_minutes_is_answered_on_its_stream() {
    let time = VirtualTime::default();
    let heard = serve(&time, builder(&time), |mut client| async move {
        client.open().await;
        let mut end = client.post("/mcp", &call("long")).await;
        end.receive_until(|text| text.contains("at last")).await
    });
    assert!(heard.contains("text/event-stream") && heard.contains("at last"), "{heard}");
}
