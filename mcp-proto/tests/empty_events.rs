//! Some clients of revisions that know no events without data take one for a message, and fail.

mod fixture;

use core::time::Duration;

use fixture::{Peer, Wire, builder};
use mcp_proto::model::{Call, Progress, ToolResult};
use mcp_proto::revision::{Resumption, Revision};
use mcp_proto::server::Connection;
use mcp_proto::testing::{Received, Script, World};
use mcp_proto::time::Instant;

const MINUTE: Duration = Duration::from_secs(60);

type Application = fn(&Call) -> Script;

/// Says something, and then nothing for as long as heartbeats take.
fn slow(_: &Call) -> Script {
    let progress = Progress::new(1.0);
    Script::silent().progress(progress).wait(MINUTE).respond(ToolResult::text("done"))
}

fn world() -> World<Connection, Application> {
    let builder = builder().http_sse("/sse", "/messages");
    World::new(Connection::new(builder.build(), Instant::ZERO), slow as Application)
}

/// The events without data, as a reader sees them that ends one at each empty line unless nothing
/// is known of it, and that knows the last id for ever.
fn empty_events(body: &str) -> usize {
    let (mut empty, mut has_data, mut is_known, mut has_id) = (0, false, false, false);
    for line in body.lines() {
        let field = line.split(':').next().unwrap_or_default();
        match field {
            "" if line.is_empty() => {
                empty += usize::from((is_known || has_id) && !has_data);
                (has_data, is_known) = (false, false);
            }
            "" => {}
            "data" => (has_data, is_known) = (line.trim_end() != "data:", true),
            "id" => (has_id, is_known) = (true, true),
            _ => is_known = true,
        }
    }
    empty
}

fn assert_none_is_empty(
    world: &mut World<Connection, Application>,
    revision: Revision,
    what: &str,
) {
    let responses = Received::read(&world.take_sent());
    let response = responses.last().expect("a response");
    let body = String::from_utf8_lossy(&response.body);
    assert!(response.is_stream() && response.is_complete, "{revision} {what}: {response:?}");
    assert!(body.contains(":\n"), "{revision} {what}: {body}");
    let primed = revision.adapter().resumption == Resumption::Primed;
    assert_eq!(empty_events(&body) > 0, primed, "{revision} {what}: {body}");
    assert_eq!(body.contains("retry:"), primed, "{revision} {what}: {body}");
}

/// A world whose client has begun, with a session if the revision has those.
fn begun(revision: Revision) -> (World<Connection, Application>, Peer) {
    let (mut world, mut peer) = (world(), Peer::new(revision, Wire::Http));
    if revision.adapter().has_handshake {
        let hello = peer.hello();
        world.send(&peer.frame(&hello));
        world.run();
        let answer = Received::read(&world.take_sent()).pop().expect("an answer");
        peer.session = answer.header("mcp-session-id").map(str::to_owned);
        assert!(peer.session.is_some());
    }
    (world, peer)
}

fn get(peer: &Peer, path: &str) -> Vec<u8> {
    let session = peer.session.iter().map(|id| format!("Mcp-Session-Id: {id}\r\n"));
    let session = session.collect::<String>();
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n{session}\r\n")
        .into_bytes()
}

#[test]
fn a_stream_that_is_ended_early_has_none() {
    // R2503-HTTP-24, R2511-HTTP-20
    for revision in Revision::ALL.into_iter().filter(|it| it.adapter().has_handshake) {
        for path in ["/mcp", "/sse"] {
            if path == "/sse" && revision.adapter().resumption == Resumption::Primed {
                continue; // It is of the oldest revision, whoever uses it.
            }
            for pause in [Duration::from_secs(1), MINUTE] {
                let (mut world, peer) = begun(revision);
                world.send(&get(&peer, path));
                world.run_for(pause);
                world.close();
                world.run();
                assert_none_is_empty(&mut world, revision, path);
            }
        }
    }
}

#[test]
fn heartbeats_after_a_message_are_none() {
    // R26-HTTP-35
    for revision in Revision::ALL {
        let (mut world, mut peer) = begun(revision);
        let call = peer.request_with("tools/call", "\"name\":\"hang\"", "\"progressToken\":1");
        world.send(&peer.frame(&call));
        world.run_for(2 * MINUTE);
        let responses = Received::read(&world.take_sent());
        let body = String::from_utf8_lossy(&responses.last().expect("a response").body);
        let (_, after) = body.split_once("\"progress\":1").expect("progress");
        assert!(after.matches("\n:\n").count() >= 2, "{revision}: {body}");
        let primed = revision.adapter().resumption == Resumption::Primed;
        assert_eq!(empty_events(&body), usize::from(primed), "{revision}: {body}");
        assert!(after.contains("done"), "{revision}: {body}");
    }
}
