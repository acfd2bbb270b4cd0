//! Who calls: without a runtime, and with requests that were written before.

use std::io::{self, Read, Write};
use std::net::TcpStream;
#[cfg(unix)]
use std::sync::mpsc::{Sender, channel};

use super::server::Server;

/// A client that sends the same again and again.
pub(crate) struct Caller {
    link: Link,
    reply: Vec<u8>,
}

enum Link {
    /// All are written to, then all are read.
    Sockets { sockets: Vec<TcpStream>, request: Vec<u8> },
    /// A thread writes so many at once, whenever it is told to.
    #[cfg(unix)]
    Pipe { begin: Sender<()>, replies: io::PipeReader, at_once: usize, buffer: Vec<u8> },
}

/// Both ends of a server on pipes.
#[cfg(unix)]
pub(crate) struct Pipe {
    pub(crate) requests: io::PipeWriter,
    pub(crate) replies: io::PipeReader,
}

impl Caller {
    pub(crate) fn http(server: &Server, connections: usize, session: bool) -> io::Result<Self> {
        let connect = || {
            let socket = TcpStream::connect(server.address())?;
            socket.set_nodelay(true)?;
            Ok(socket)
        };
        let sockets = (0..connections).map(|_| connect()).collect::<io::Result<Vec<_>>>()?;
        let mut first = &sockets[0];
        let request = match session {
            false => post(
                "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: add\r\n",
                r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"peer","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#,
            ),
            true => {
                first.write_all(&post("", INITIALIZE))?;
                let reply = String::from_utf8_lossy(&http_reply(first)?).into_owned();
                let lines = reply.lines().find_map(|line| line.strip_prefix("Mcp-Session-Id: "));
                let id = lines.unwrap_or("none");
                let headers =
                    format!("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {id}\r\n");
                post(&headers, &call(0))
            }
        };
        first.write_all(&request)?;
        let reply = http_reply(first)?;
        assert!(String::from_utf8_lossy(&reply).contains("200 OK"), "a call is answered");
        Ok(Self { link: Link::Sockets { sockets, request }, reply })
    }

    #[cfg(unix)]
    pub(crate) fn pipe(mut pipe: Pipe, at_once: usize) -> io::Result<Self> {
        pipe.requests.write_all(format!("{INITIALIZE}\n").as_bytes())?;
        line(&mut pipe.replies)?;
        pipe.requests.write_all(format!("{}\n", call(0)).as_bytes())?;
        let reply = line(&mut pipe.replies)?;
        let block: String = (0..at_once).map(|number| call(number) + "\n").collect();
        let (begin, begins) = channel();
        let Pipe { mut requests, replies } = pipe;
        std::thread::spawn(move || {
            while begins.recv().is_ok() && requests.write_all(block.as_bytes()).is_ok() {}
        });
        let buffer = vec![0; 64 * 1024];
        Ok(Self { link: Link::Pipe { begin, replies, at_once, buffer }, reply })
    }

    /// What a call is answered with.
    pub(crate) fn reply(&self) -> &[u8] {
        &self.reply
    }

    /// Calls, waits for all answers, and tells how many there were.
    pub(crate) fn call(&mut self) -> io::Result<usize> {
        match &mut self.link {
            Link::Sockets { sockets, request } => {
                for socket in &mut *sockets {
                    socket.write_all(request)?;
                }
                for socket in &mut *sockets {
                    socket.read_exact(&mut self.reply)?;
                }
                Ok(sockets.len())
            }
            #[cfg(unix)]
            Link::Pipe { begin, replies, at_once, buffer } => {
                begin.send(()).map_err(io::Error::other)?;
                let mut left = self.reply.len() * *at_once;
                while left > 0 {
                    let room = left.min(buffer.len());
                    let read = replies.read(&mut buffer[..room])?;
                    if read == 0 {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                    left -= read;
                }
                Ok(*at_once)
            }
        }
    }
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"peer","version":"1.0.0"}}}"#;

/// One of many: ids of calls that run at once differ, and are equally long.
fn call(number: usize) -> String {
    let id = 10_000 + number;
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"add","arguments":{{"a":2,"b":3}}}}}}"#
    )
}

fn post(headers: &str, body: &str) -> Vec<u8> {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn http_reply(mut stream: impl Read) -> io::Result<Vec<u8>> {
    let mut reply = Vec::new();
    while !reply.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        reply.extend(byte);
    }
    let head = String::from_utf8_lossy(&reply).into_owned();
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    let mut body = vec![0; length.and_then(|length| length.parse().ok()).unwrap_or(0)];
    stream.read_exact(&mut body)?;
    reply.append(&mut body);
    Ok(reply)
}

#[cfg(unix)]
fn line(mut stream: impl Read) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    while !line.ends_with(b"\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        line.extend(byte);
    }
    Ok(line)
}
