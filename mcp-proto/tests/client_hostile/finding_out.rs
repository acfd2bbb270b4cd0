//! A server over HTTP of which nothing is known when it is called.

use mcp_proto::client::{Method, Session};
use mcp_proto::revision::Revision;
use mcp_proto::time::Instant;

use super::play::Act::{End, Head, Say};
use super::play::{EVENTS, JSON, NOW, Row, at_once, error, for_ever, is, play, result, row};
use super::scene::judge;
use super::{LATE, SECOND, config};

#[test]
fn no_server_keeps_its_client_guessing() {
    let rows = rows();
    judge(&rows, |_| Session::new(config(Revision::ALL), "http://h/", Instant::ZERO).unwrap());
    println!("hostile servers that are found out: {}", rows.len());
}

/// The probe takes 8 s, and a handshake 30 s.
const FOUND: u64 = 38;

fn rows() -> Vec<Row> {
    let other_credentials = "the server wants other credentials (status 401)";
    vec![
        row("silence", LATE, (0, FOUND), |_, _| play([])),
        row("credentials that are never right", other_credentials, (0, 0), |_, _| {
            at_once([Head(401, JSON), End])
        }),
        row("trouble of its own", "the server answered with status 503", (0, 0), |_, _| {
            at_once([Head(503, JSON), End])
        }),
        row("nothing anywhere", "the server answered with status 404", (4_096, 0), |_, _| {
            at_once([Head(404, "text/html"), Say("<html>".into()), End])
        }),
        row(
            "a page for everything",
            "the server does not keep to the protocol",
            (64, 0),
            |_, _| at_once([Head(200, "text/html"), Say("<html>".into()), End]),
        ),
        row("always another version", "the server speaks only", (4_096, 0), |open, nth| {
            let version = ["2025-11-25", "2025-06-18", "2026-07-28"][nth % 3];
            let data = format!(r#"{{"supported":["{version}"],"requested":"x"}}"#);
            at_once([Head(400, JSON), Say(error(open, -32022, &data)), End])
        }),
        row(
            "a version that nobody knows",
            "the server speaks only 2099-01-01",
            (4_096, 0),
            |open, _| match is(open, "initialize") {
                true => {
                    let hello = r#"{"protocolVersion":"2099-01-01","capabilities":{}}"#;
                    at_once([Head(200, JSON), Say(result(open, hello)), End])
                }
                false => at_once([Head(400, JSON), Say(error(open, -32601, "{}")), End]),
            },
        ),
        row(
            "descriptions that describe nothing",
            "the result has no valid `protocolVersion`",
            (4_096, 0),
            |open, _| at_once([Head(200, JSON), Say(result(open, "{}")), End]),
        ),
        row(
            "a stream without an endpoint",
            "the server answered with status 405",
            (1 << 20, FOUND),
            |open, _| match open.method {
                Method::Get => {
                    for_ever([(NOW, Head(200, EVENTS)), (SECOND / 10, Say(": on\n\n".into()))])
                }
                _ => at_once([Head(405, JSON), End]),
            },
        ),
        row(
            "an endpoint of another origin",
            "the server answered with status 405",
            (4_096, 0),
            |open, _| match open.method {
                Method::Get => {
                    let told = "event: endpoint\ndata: http://evil.example/\n\n";
                    at_once([Head(200, EVENTS), Say(told.into())])
                }
                _ => at_once([Head(405, JSON), End]),
            },
        ),
        row("endpoints without end", LATE, (1 << 20, FOUND), |open, _| match open.method {
            Method::Get => {
                let told = "event: endpoint\ndata: /messages\n\n";
                for_ever([(NOW, Head(200, EVENTS)), (SECOND / 10, Say(told.into()))])
            }
            _ if open.target == "/messages" => at_once([Head(202, JSON), End]),
            _ => at_once([Head(405, JSON), End]),
        }),
    ]
}
