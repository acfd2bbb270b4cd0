//! A conversation that is written down as it goes.

use core::time::Duration;
use std::fmt::Write as _;

use mcp_proto::model::Call;
use mcp_proto::server::{Connection, Endpoint, Stdio};
use mcp_proto::testing::{Link, Script, World};
use mcp_proto::time::Instant;

use crate::fixture::{Peer, Wire, application, catalog};

type Application = fn(&Call) -> Script;

/// A world of either machine.
enum Stage {
    Http(Box<World<Connection, Application>>),
    Stdio(Box<World<Stdio, Application>>),
}

macro_rules! on_stage {
    ($stage:expr, $world:ident => $act:expr) => {
        match $stage {
            Stage::Http($world) => $act,
            Stage::Stdio($world) => $act,
        }
    };
}

/// One conversation and its transcript.
pub(crate) struct Talk {
    pub(crate) peer: Peer,
    stage: Stage,
    transcript: String,
    /// Who spoke last, and when; they go on in the same block.
    speaker: Option<(&'static str, Instant)>,
    is_muted: bool,
    cancelled: usize,
}

impl Talk {
    pub(crate) fn new(peer: Peer, link: Link, about: &str) -> Self {
        let endpoint = Endpoint::builder(catalog(2).into()).path("/mcp").allow_delete(true);
        let stage = stage(peer.wire, endpoint.build(), link);
        let transcript = format!("{about}\n");
        Self { peer, stage, transcript, speaker: None, is_muted: false, cancelled: 0 }
    }

    pub(crate) fn into_transcript(mut self) -> String {
        if on_stage!(&self.stage, world => world.is_closed()) {
            self.heading("the server closes");
        }
        self.transcript.trim_end().to_owned() + "\n"
    }

    /// Opens the conversation. A handshake is written down in one scenario only.
    pub(crate) fn open(&mut self) {
        if !self.peer.adapter().has_handshake {
            return;
        }
        self.is_muted = true;
        self.greet();
        self.is_muted = false;
        self.speaker = None;
    }

    /// The handshake, or the discovery.
    pub(crate) fn greet(&mut self) {
        let hello = self.peer.hello();
        let reply = self.say(&hello);
        if self.peer.adapter().has_handshake {
            self.peer.session = between(&reply, "Mcp-Session-Id: ", "\n");
            let initialized = self.peer.initialized();
            self.say(&initialized);
        }
    }

    /// Sends a request and returns what came back.
    pub(crate) fn ask(&mut self, method: &str, params: &str) -> String {
        let request = self.peer.request(method, params);
        self.say(&request)
    }

    /// The same with members of `_meta`.
    pub(crate) fn ask_with(&mut self, method: &str, params: &str, meta: &str) -> String {
        let request = self.peer.request_with(method, params, meta);
        self.say(&request)
    }

    /// Sends a message as the revision wants it sent.
    pub(crate) fn say(&mut self, message: &str) -> String {
        let frame = self.peer.frame(message);
        self.send(&frame)
    }

    /// Sends bytes as they are.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> String {
        self.note("client", bytes);
        on_stage!(&mut self.stage, world => world.send(bytes));
        let mut heard = String::new();
        while let Some(sent) = on_stage!(&mut self.stage, world => world.next_sent()) {
            self.note("server", &sent);
            heard.push_str(&readable(&sent));
        }
        self.note_cancelled();
        heard
    }

    /// Lets time pass.
    pub(crate) fn wait(&mut self, duration: Duration) {
        let until = self.now() + duration;
        loop {
            let rest = until.saturating_since(self.now());
            on_stage!(&mut self.stage, world => world.run_until_sent(rest));
            let sent = on_stage!(&mut self.stage, world => world.take_sent());
            if sent.is_empty() {
                return self.note_cancelled();
            }
            self.note("server", &sent);
        }
    }

    /// The client goes away.
    pub(crate) fn leave(&mut self) {
        self.heading(&format!("the client leaves {}", self.now()));
        on_stage!(&mut self.stage, world => {
            world.send_eof();
            world.run();
        });
        let sent = on_stage!(&mut self.stage, world => world.take_sent());
        self.note("server", &sent);
        self.note_cancelled();
    }

    fn now(&self) -> Instant {
        on_stage!(&self.stage, world => world.now())
    }

    fn note(&mut self, who: &'static str, bytes: &[u8]) {
        if self.is_muted || bytes.is_empty() {
            return;
        }
        let at = self.now();
        if self.speaker != Some((who, at)) {
            self.heading(&format!("{who} {at}"));
            self.speaker = Some((who, at));
        }
        self.transcript.push_str(&readable(bytes));
    }

    fn heading(&mut self, text: &str) {
        // The blank lines that HTTP ends in say nothing.
        let length = self.transcript.trim_end().len();
        self.transcript.truncate(length);
        let _ = writeln!(self.transcript, "\n\n-- {text} --");
        self.speaker = None;
    }

    fn note_cancelled(&mut self) {
        let cancelled: Vec<_> = on_stage!(&self.stage, world => world.cancelled().collect());
        for call in cancelled.iter().skip(self.cancelled) {
            self.heading(&format!("call {call} is cancelled {}", self.now()));
        }
        self.cancelled = cancelled.len();
    }
}

fn stage(wire: Wire, endpoint: Endpoint, link: Link) -> Stage {
    let (now, application) = (Instant::ZERO, application as Application);
    match wire {
        Wire::Http => {
            let world = World::new(Connection::new(endpoint, now), application);
            Stage::Http(Box::new(world.with_link(link)))
        }
        Wire::Stdio => {
            let world = World::new(Stdio::new(endpoint, now), application);
            Stage::Stdio(Box::new(world.with_link(link)))
        }
    }
}

/// Line ends as a text file has them.
fn readable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace("\r\n", "\n")
}

pub(crate) fn between(text: &str, before: &str, after: &str) -> Option<String> {
    let (_, rest) = text.split_once(before)?;
    Some(rest.split_once(after)?.0.to_owned())
}
