//! A server's process, and clients of it that write their bytes by hand.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use mcp_proto::effect::EFFECT_DEADLINE;

/// A server's process, killed when this is dropped.
#[derive(Debug)]
pub struct Worker {
    child: Child,
    stdin: Option<ChildStdin>,
    address: String,
    log: Receiver<String>,
}

impl Worker {
    /// Starts `program`, a server under test, on the store at that address.
    ///
    /// # Panics
    /// Where it does not start.
    pub fn start(program: &str, store: &str) -> Self {
        let mut command = Command::new(program);
        command.args(["--listen", "--connections", "10000", "--store", store]);
        command.stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program was built");
        let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
        let mut address = String::new();
        stderr.read_line(&mut address).expect("a line");
        let (said, log) = channel();
        thread::spawn(move || {
            let mut rest = String::new();
            stderr.read_to_string(&mut rest).expect("UTF-8");
            let _ = said.send(rest);
        });
        Self { stdin: child.stdin.take(), child, address: address.trim().to_owned(), log }
    }

    /// Where it listens.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it, and gives what it logged.
    ///
    /// # Panics
    /// Where it has ended before, or fails now.
    pub fn end(&mut self) -> String {
        assert!(self.child.try_wait().expect("its state").is_none(), "the process stays up");
        self.stdin = None;
        assert!(self.child.wait().expect("an end").success());
        self.log.recv().expect("a log")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client on one connection.
#[derive(Debug)]
pub struct Caller {
    stream: BufReader<TcpStream>,
}

impl Caller {
    /// Connects.
    ///
    /// # Panics
    /// Where nobody listens.
    pub fn new(address: &str) -> Self {
        let stream = TcpStream::connect(address).expect("the process listens");
        stream.set_read_timeout(Some(2 * EFFECT_DEADLINE)).expect("a time-out");
        stream.set_nodelay(true).expect("a socket");
        Self { stream: BufReader::new(stream) }
    }

    /// Opens a session: the headers of what is said in it.
    ///
    /// # Panics
    /// Where it is refused.
    pub fn open(&mut self) -> String {
        let client = r#""protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}"#;
        let opened = self.post("", &request(0, "initialize", client));
        let line = opened.lines().find(|line| line.starts_with("Mcp-Session-Id: "));
        let session = format!("{}\r\n{VERSION}", line.expect("a session"));
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let accepted = self.post(&session, initialized);
        assert!(accepted.starts_with("HTTP/1.1 202"), "{accepted}");
        session
    }

    /// Posts a message; the head and body that come back.
    ///
    /// # Panics
    /// Where nothing comes back in time.
    pub fn post(&mut self, headers: &str, message: &str) -> String {
        self.send(headers, message);
        let mut reply = String::new();
        while !reply.ends_with("\r\n\r\n") {
            let read = self.stream.read_line(&mut reply).expect("answered in time");
            assert!(read > 0, "the connection ended: {reply}");
        }
        let length = reply.lines().find_map(|line| line.strip_prefix("Content-Length: "));
        let mut body = vec![0; length.map_or(0, |it| it.parse().expect("a number"))];
        self.stream.read_exact(&mut body).expect("all of it");
        reply + &String::from_utf8(body).expect("UTF-8")
    }

    /// Posts a message that is answered by a stream.
    ///
    /// # Panics
    /// Where the connection is gone.
    pub fn send(&mut self, headers: &str, message: &str) {
        let length = message.len();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n\r\n{message}"
        );
        self.stream.get_mut().write_all(request.as_bytes()).expect("written");
    }

    /// Opens the stream of a session's events.
    ///
    /// # Panics
    /// Where it is refused.
    pub fn listen(&mut self, session: &str) {
        let head = "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n";
        let head = format!("{head}{session}\r\n");
        self.stream.get_mut().write_all(head.as_bytes()).expect("written");
        self.until("text/event-stream");
    }

    /// Reads on until a line has this.
    ///
    /// # Panics
    /// Where none has in time.
    pub fn until(&mut self, wanted: &str) {
        let mut line = String::new();
        while !line.contains(wanted) {
            line.clear();
            let read = self.stream.read_line(&mut line).expect("it comes in time");
            assert!(read > 0, "the stream ended before {wanted}");
        }
    }
}

const VERSION: &str = "MCP-Protocol-Version: 2025-11-25\r\n";

/// A request as JSON.
pub fn request(id: usize, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#)
}
