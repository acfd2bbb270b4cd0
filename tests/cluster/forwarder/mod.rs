//! A balancer: it hands every request to the next worker in turn, whatever connection it came on,
//! and passes streams of responses through as they come.

mod upstream;

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use mcp_proto::testing::Random;
use tokio::net::{TcpListener, TcpStream};

use crate::wire::{Body, Head, Wire};
use upstream::Upstream;

/// One in so many pieces of a stream of events is its last, for the client.
const CUT: u64 = 100;

/// Where the requests go.
pub(crate) struct Forwarder {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    upstream: Upstream,
    requests: AtomicU64,
    replies: AtomicU64,
    refused: AtomicU64,
    broken: AtomicU64,
    cuts: Mutex<Random>,
}

/// What passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traffic {
    /// Requests that reached a worker.
    pub(crate) requests: u64,
    /// Messages that came back: bodies of JSON, and events with data.
    pub(crate) replies: u64,
    /// Requests that found nobody: 502.
    pub(crate) refused: u64,
    /// Responses that broke off.
    pub(crate) broken: u64,
}

impl Traffic {
    pub(crate) fn messages(self) -> u64 {
        self.requests + self.replies
    }
}

impl Forwarder {
    /// Listens, in front of so many workers, of which none is there yet.
    pub(crate) async fn start(workers: usize, seed: u64) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            upstream: Upstream::new(workers),
            requests: AtomicU64::new(0),
            replies: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            broken: AtomicU64::new(0),
            cuts: Mutex::new(Random::new(seed)),
        });
        let serving = shared.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(serving.clone(), stream));
            }
        });
        Ok(Self { address, shared })
    }

    /// A worker is there, or is gone.
    pub(crate) fn set(&self, worker: usize, address: Option<SocketAddr>) {
        self.shared.upstream.set(worker, address);
    }

    pub(crate) fn traffic(&self) -> Traffic {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Traffic {
            requests: read(&self.shared.requests),
            replies: read(&self.shared.replies),
            refused: read(&self.shared.refused),
            broken: read(&self.shared.broken),
        }
    }
}

/// One client's connection.
async fn serve(shared: Arc<Shared>, stream: TcpStream) {
    let mut client = Wire::new(stream);
    let mut last = None;
    while let Ok(Some(head)) = client.head().await {
        let Ok(body) = client.body(head.request_body()).await else { return };
        let (worker, address) = shared.upstream.next(last);
        last = Some(worker);
        let Some((address, mut server, response)) = shared.ask(address, &head, &body).await else {
            shared.refused.fetch_add(1, Ordering::Relaxed);
            let refusal = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n";
            match client.write(refusal).await {
                Ok(()) => continue,
                Err(_) => return,
            }
        };
        shared.requests.fetch_add(1, Ordering::Relaxed);
        match shared.pass(&mut client, &mut server, &response).await {
            Ok(()) if response.response_body() == Body::UntilEnd => return,
            Ok(()) => shared.upstream.keep(address, server),
            Err(_) => {
                shared.broken.fetch_add(1, Ordering::Relaxed);
                return;
            }
        }
    }
}

impl Shared {
    /// The head of the worker's response, if there is one.
    async fn ask(
        &self,
        address: Option<SocketAddr>,
        head: &Head,
        body: &[u8],
    ) -> Option<(SocketAddr, Wire, Head)> {
        let address = address?;
        let mut server = self.upstream.connect(address).await.ok()?;
        server.write(&[&head.bytes, body].concat()).await.ok()?;
        let response = server.head().await.ok()??;
        Some((address, server, response))
    }

    /// Passes a response on, until either side is gone.
    async fn pass(&self, client: &mut Wire, server: &mut Wire, head: &Head) -> io::Result<()> {
        client.write(&head.bytes).await?;
        let mut body = head.response_body();
        let framing = body;
        let is_stream = head.is_event_stream();
        let mut bytes = 0;
        loop {
            // A client that goes away takes its request with it.
            let piece = tokio::select! {
                piece = server.piece(&mut body) => piece?,
                () = client.gone() => return Err(io::ErrorKind::ConnectionAborted.into()),
            };
            let Some(piece) = piece else { break };
            bytes += piece.len();
            if is_stream {
                let events = piece.windows(6).filter(|it| it == b"\ndata:").count();
                self.replies.fetch_add(events as u64, Ordering::Relaxed);
            }
            client.write(&framing.frame(&piece)).await?;
            if is_stream && self.cuts.lock().expect("no panic").one_in(CUT) {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
        }
        if !is_stream && bytes > 0 {
            self.replies.fetch_add(1, Ordering::Relaxed);
        }
        match framing {
            Body::Chunked => client.write(&framing.frame(&[])).await,
            _ => Ok(()),
        }
    }
}
