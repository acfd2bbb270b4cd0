//! HTTP/1.1 messages off a socket, for the forwarder and for clients that see every byte: written
//! for this test alone, so that it does not believe the library.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// A connection, and what was read of it and not asked for yet.
pub(crate) struct Wire {
    reading: OwnedReadHalf,
    writing: OwnedWriteHalf,
    buffer: Vec<u8>,
}

/// The start line and the headers of a message.
pub(crate) struct Head {
    pub(crate) start: String,
    headers: Vec<(String, String)>,
    /// As they came.
    pub(crate) bytes: Vec<u8>,
}

/// How much of a body is still to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Length(usize),
    Chunked,
    UntilEnd,
}

impl Wire {
    pub(crate) fn new(stream: TcpStream) -> Self {
        // A message is written at once; waiting for more would only cost time.
        let _ = stream.set_nodelay(true);
        let (reading, writing) = stream.into_split();
        Self { reading, writing, buffer: Vec::new() }
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writing.write_all(bytes).await
    }

    /// The next message's head; `None` where the peer is done.
    pub(crate) async fn head(&mut self) -> io::Result<Option<Head>> {
        loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                let bytes: Vec<u8> = self.buffer.drain(..end + 4).collect();
                return Head::parse(bytes).map(Some);
            }
            if !self.fill().await? {
                return if self.buffer.is_empty() { Ok(None) } else { Err(cut()) };
            }
        }
    }

    /// The next piece of the body; `None` after the last.
    pub(crate) async fn piece(&mut self, body: &mut Body) -> io::Result<Option<Vec<u8>>> {
        match body {
            Body::Length(0) => Ok(None),
            Body::Length(left) => {
                if self.buffer.is_empty() && !self.fill().await? {
                    return Err(cut());
                }
                let taken = self.buffer.len().min(*left);
                *left -= taken;
                Ok(Some(self.buffer.drain(..taken).collect()))
            }
            Body::UntilEnd => {
                if self.buffer.is_empty() && !self.fill().await? {
                    return Ok(None);
                }
                Ok(Some(std::mem::take(&mut self.buffer)))
            }
            Body::Chunked => {
                let size = self.line().await?;
                let size = usize::from_str_radix(size.trim(), 16).map_err(|_| cut())?;
                while self.buffer.len() < size + 2 {
                    if !self.fill().await? {
                        return Err(cut());
                    }
                }
                let piece: Vec<u8> = self.buffer.drain(..size).collect();
                self.buffer.drain(..2);
                if size == 0 {
                    *body = Body::Length(0);
                    return Ok(None);
                }
                Ok(Some(piece))
            }
        }
    }

    /// The whole body.
    pub(crate) async fn body(&mut self, mut body: Body) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        while let Some(piece) = self.piece(&mut body).await? {
            all.extend_from_slice(&piece);
        }
        Ok(all)
    }

    /// Waits until the peer is gone. What it says meanwhile is kept.
    pub(crate) async fn gone(&mut self) {
        while self.fill().await.unwrap_or(false) {}
    }

    async fn line(&mut self) -> io::Result<String> {
        loop {
            if let Some(end) = find(&self.buffer, b"\r\n") {
                let line: Vec<u8> = self.buffer.drain(..end + 2).collect();
                return Ok(String::from_utf8_lossy(&line).into_owned());
            }
            if !self.fill().await? {
                return Err(cut());
            }
        }
    }

    async fn fill(&mut self) -> io::Result<bool> {
        self.buffer.reserve(8 << 10);
        Ok(self.reading.read_buf(&mut self.buffer).await? > 0)
    }
}

impl Head {
    fn parse(bytes: Vec<u8>) -> io::Result<Self> {
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.split("\r\n");
        let start = lines.next().unwrap_or_default().to_owned();
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        };
        let headers = lines.take_while(|line| !line.is_empty()).map(header).collect();
        let headers: Option<Vec<_>> = headers;
        Ok(Self { start, headers: headers.ok_or_else(cut)?, bytes })
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn status(&self) -> u16 {
        let status = self.start.split(' ').nth(1).and_then(|status| status.parse().ok());
        status.unwrap_or_default()
    }

    /// The body of a request.
    pub(crate) fn request_body(&self) -> Body {
        self.framing().unwrap_or(Body::Length(0))
    }

    /// The body of a response.
    pub(crate) fn response_body(&self) -> Body {
        match self.status() {
            100..200 | 204 | 304 => Body::Length(0),
            _ => self.framing().unwrap_or(Body::UntilEnd),
        }
    }

    pub(crate) fn is_event_stream(&self) -> bool {
        self.get("content-type").is_some_and(|it| it.starts_with("text/event-stream"))
    }

    fn framing(&self) -> Option<Body> {
        if self.get("transfer-encoding").is_some_and(|it| it.eq_ignore_ascii_case("chunked")) {
            return Some(Body::Chunked);
        }
        self.get("content-length")?.parse().ok().map(Body::Length)
    }
}

impl Body {
    /// A piece as it travels in this body; an empty one is the end.
    pub(crate) fn frame(self, piece: &[u8]) -> Vec<u8> {
        match self {
            Self::Chunked => {
                let size = format!("{:x}\r\n", piece.len());
                [size.as_bytes(), piece, b"\r\n"].concat()
            }
            Self::Length(_) | Self::UntilEnd => piece.to_vec(),
        }
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn cut() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}
