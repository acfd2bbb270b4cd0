//! A conversation on a socket that is written down as it goes.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fixed::World;
use crate::fixture::Peer;

/// How long an answer may take before it counts as missing.
const PATIENCE: Duration = Duration::from_secs(20);

/// One conversation and its transcript.
pub(crate) struct Talk {
    pub(crate) peer: Peer,
    stream: TcpStream,
    world: World,
    /// Everything that the server sent.
    heard: Vec<u8>,
    transcript: String,
    is_muted: bool,
    is_over: bool,
}

impl Talk {
    pub(crate) fn new(peer: Peer, address: SocketAddr, world: World) -> Self {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_millis(5))).expect("a time-out");
        let (heard, transcript) = (Vec::new(), String::new());
        Self { peer, stream, world, heard, transcript, is_muted: false, is_over: false }
    }

    pub(crate) fn heard(&self) -> &[u8] {
        &self.heard
    }

    /// What was said, as [`timeless`] has it.
    pub(crate) fn transcript(&self) -> String {
        timeless(&self.transcript)
    }

    /// Opens the conversation. A handshake is written down in one scenario only.
    pub(crate) fn open(&mut self) {
        if self.peer.adapter().has_handshake {
            self.is_muted = true;
            self.greet();
            self.is_muted = false;
        }
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

    /// Sends one request, and reads its response if there ever is one.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> String {
        self.note("client", bytes);
        // A server that has closed takes no more.
        let _ = self.stream.write_all(bytes);
        let headless = bytes.starts_with(b"HEAD ");
        let heard = self.read(|heard| is_whole(heard, headless));
        self.note("server", &heard);
        readable(&heard)
    }

    /// Lets time pass.
    pub(crate) fn wait(&mut self, duration: Duration) {
        self.world.pass(duration);
    }

    /// The client goes away.
    pub(crate) fn leave(&mut self) {
        self.stream.shutdown(Shutdown::Write).expect("still open");
        let heard = self.read(|_| false);
        assert!(self.is_over, "the server closes too");
        self.note("server", &heard);
    }

    /// Reads until there is enough, the end came, or a handler hangs.
    fn read(&mut self, is_enough: impl Fn(&[u8]) -> bool) -> Vec<u8> {
        let (mut heard, began) = (Vec::new(), Instant::now());
        let mut chunk = [0; 8192];
        while !self.is_over && !is_enough(&heard) {
            match self.stream.read(&mut chunk) {
                Ok(0) => self.is_over = true,
                Ok(read) => heard.extend_from_slice(&chunk[..read]),
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    if self.world.hangs() {
                        break;
                    }
                }
                Err(error) if error.kind() == ErrorKind::ConnectionReset => self.is_over = true,
                Err(error) => panic!("{error}"),
            }
            assert!(began.elapsed() < PATIENCE, "no end after {}", readable(&heard));
        }
        self.heard.extend_from_slice(&heard);
        heard
    }

    fn note(&mut self, who: &str, bytes: &[u8]) {
        if !self.is_muted && !bytes.is_empty() {
            self.transcript += &format!("\n-- {who} 0ms --\n{}", readable(bytes));
        }
    }
}

/// Whether these bytes are a whole response.
fn is_whole(heard: &[u8], headless: bool) -> bool {
    let text = String::from_utf8_lossy(heard);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    if head.contains("Transfer-Encoding: chunked") {
        return body.ends_with("0\r\n\r\n");
    }
    let length = between(&format!("{head}\r\n"), "Content-Length: ", "\r\n");
    let length = length.map_or(0, |it| it.parse().expect("a number"));
    headless || body.len() >= length
}

/// A transcript without what may differ from one hub, or one order of drawing, to another: times,
/// places, the sizes of chunks, the order of members. Random names are numbered.
pub(crate) fn timeless(text: &str) -> String {
    let (mut speaker, mut out, mut names) = ("", String::new(), Vec::new());
    for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        let heading = line.strip_prefix("-- ").and_then(|line| line.strip_suffix(" --"));
        match heading.and_then(|heading| heading.split_once(' ')) {
            Some((who @ ("client" | "server"), time)) if time.ends_with("ms") => {
                if who != speaker {
                    out += &format!("-- {who} --\n");
                }
                speaker = who;
            }
            Some(("the" | "call", _)) if heading.is_some() => speaker = "",
            _ if speaker.is_empty() => {} // what the conversation is about
            _ if line != "0" && line.bytes().all(|byte| byte.is_ascii_hexdigit()) => {}
            _ => out += &plain(line, &mut names),
        }
    }
    out
}

fn plain(line: &str, names: &mut Vec<String>) -> String {
    let mut numbered = |prefix: &str, name: &str| {
        let known = names.iter().position(|it| it == name);
        let number = known.unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        });
        format!("{prefix}#{number}\n")
    };
    if let Some(name) = line.strip_prefix("Mcp-Session-Id: ") {
        return numbered("Mcp-Session-Id: ", name);
    }
    if let Some((name, _)) = line.strip_prefix("id: ").and_then(|id| id.split_once('.')) {
        return numbered("id: ", name);
    }
    let (prefix, json) = line.split_at(line.find('{').unwrap_or(line.len()));
    match serde_json::from_str(json) {
        Ok(json) => format!("{prefix}{}\n", sorted(json)),
        Err(_) => format!("{line}\n"),
    }
}

fn sorted(json: Value) -> Value {
    match json {
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        Value::Object(members) => {
            let members: BTreeMap<_, _> = members.into_iter().collect();
            members.into_iter().map(|(name, value)| (name, sorted(value))).collect()
        }
        json => json,
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
