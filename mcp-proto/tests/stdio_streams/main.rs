//! The server's side of a pair of byte streams: what is answered, what is skipped, and what the
//! handshake settles.

#[path = "../fixture/mod.rs"]
mod fixture;

mod handshake;
mod naming;
mod unreadable;

use fixture::{Peer, Wire, application, builder};
use mcp_proto::model::Call;
use mcp_proto::revision::Revision;
use mcp_proto::server::{Connection, Endpoint, Limits, Machine, Stdio};
use mcp_proto::testing::{Script, World};
use mcp_proto::time::Instant;
use serde_json::Value;

/// A server, and a client that talks to it.
struct Talk<M: Machine = Stdio> {
    peer: Peer,
    world: World<M, fn(&Call) -> Script>,
}

impl Talk {
    /// Before any handshake.
    fn new(revision: Revision, endpoint: Endpoint) -> Self {
        let machine = Stdio::new(endpoint, Instant::ZERO);
        Self { peer: Peer::new(revision, Wire::Stdio), world: world(machine) }
    }

    /// After a handshake, where the revision has one.
    fn begun(revision: Revision) -> Self {
        let mut talk = Self::new(revision, builder().build());
        talk.begin();
        talk
    }

    fn begin(&mut self) {
        let hello = self.peer.hello();
        assert!(self.says(&hello).contains("\"result\""));
        assert_eq!(self.says(&self.peer.initialized()), "");
    }

    /// What comes back at once.
    fn says(&mut self, line: &str) -> String {
        self.says_bytes(format!("{line}\n").as_bytes())
    }

    fn is_alive(&mut self) -> bool {
        let ping = self.peer.request_as("\"alive\"", "tools/list", "", "");
        self.says(&ping).contains(r#""id":"alive""#)
    }
}

impl Talk<Connection> {
    fn over_http(revision: Revision) -> Self {
        let machine = Connection::new(builder().build(), Instant::ZERO);
        Self { peer: Peer::new(revision, Wire::Http), world: world(machine) }
    }
}

impl<M: Machine> Talk<M> {
    fn says_bytes(&mut self, bytes: &[u8]) -> String {
        self.world.send(bytes);
        self.world.run();
        String::from_utf8(self.world.take_sent()).expect("UTF-8")
    }

    fn posts(&mut self, body: &str) -> String {
        let frame = self.peer.frame(body);
        self.says_bytes(&frame)
    }
}

fn world<M: Machine>(machine: M) -> World<M, fn(&Call) -> Script> {
    World::new(machine, application as fn(&Call) -> Script)
}

/// Servers in every state in which a line may come.
fn everywhere() -> impl Iterator<Item = (String, Talk)> {
    let begun = Revision::ALL.map(|it| (format!("{it}, begun"), Talk::begun(it)));
    let fresh = Revision::ALL.map(|it| (format!("{it}, fresh"), Talk::new(it, builder().build())));
    begun.into_iter().chain(fresh)
}

/// The ids and codes of errors, one a line.
fn errors(said: &str) -> Vec<(Value, i64)> {
    let lines = said.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let errors = lines.flat_map(|line: Value| match line {
        Value::Array(elements) => elements,
        one => vec![one],
    });
    errors.filter_map(|it| Some((it["id"].clone(), it.get("error")?["code"].as_i64()?))).collect()
}

fn small(message: usize) -> Endpoint {
    let mut limits = Limits::default();
    limits.message = message;
    builder().limits(limits).build()
}
