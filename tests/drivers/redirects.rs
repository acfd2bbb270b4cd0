//! Clients whose server sends them elsewhere, whoever makes their requests.

use std::sync::{Arc, Mutex};

use mcp_driver_async_std::AsyncStd;
use mcp_driver_tokio::client::{ClientError, ErrorKind, Unfollowed};
use mcp_driver_tokio::{Client, Reqwest, Tokio, reqwest};
use mcp_proto::revision::Revision;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, copy_bidirectional, sink};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

use crate::client::{adds, run};
use crate::running::{runtime, stop};
use crate::tls::serve;

/// What makes the requests.
#[derive(Clone, Copy, Debug)]
enum By {
    Tokio,
    AsyncStd,
    Reqwest,
}

const ALL: [By; 3] = [By::Tokio, By::AsyncStd, By::Reqwest];

impl By {
    /// Connects with a token, and makes a call.
    fn call(self, url: String, revision: Revision) -> Result<(), ClientError> {
        let token = || "hush".to_owned();
        match self {
            Self::Tokio => run::<Tokio, _>(async {
                let client = Client::http(url).revision(revision).bearer(token());
                adds(&client.connect().await?).await;
                Ok(())
            }),
            Self::AsyncStd => run::<AsyncStd, _>(async {
                let client = mcp_driver_async_std::Client::http(url).revision(revision);
                adds(&client.bearer(token()).connect().await?).await;
                Ok(())
            }),
            Self::Reqwest => run::<Tokio, _>(async {
                let carrier = Reqwest::new(reqwest::Client::builder()).expect("it is set up");
                let client = Client::http(url).revision(revision).bearer(token());
                adds(&client.connect_by(carrier).await?).await;
                Ok(())
            }),
        }
    }
}

/// A server that sends requests elsewhere, and writes down what it hears.
struct Signpost {
    url: String,
    heard: Arc<Mutex<String>>,
    runtime: Option<Runtime>,
}

impl Signpost {
    /// `redirect` gives the first lines of the response to a target's requests. Where there are
    /// none, the request is answered by a server.
    fn new(redirect: impl Fn(&str) -> String + Send + 'static) -> Self {
        let runtime = runtime();
        let heard = Arc::<Mutex<String>>::default();
        let log = heard.clone();
        let address = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_addr().expect("an address");
            let server = serve().await;
            tokio::spawn(async move {
                while let Ok((mut client, _)) = listener.accept().await {
                    let mut head = Vec::new();
                    while !head.ends_with(b"\r\n\r\n") {
                        let Ok(byte) = client.read_u8().await else { return };
                        head.push(byte);
                    }
                    let text = String::from_utf8_lossy(&head);
                    let redirect = redirect(text.split(' ').nth(1).expect("a target"));
                    log.lock().expect("no panic").push_str(&text);
                    if redirect.is_empty() {
                        // Each connection serves one request, for the next may go elsewhere.
                        head.truncate(head.len() - 2);
                        head.extend_from_slice(b"Connection: close\r\n\r\n");
                        tokio::spawn(async move {
                            let mut server = TcpStream::connect(server).await.expect("it is there");
                            server.write_all(&head).await.expect("it listens");
                            let _ = copy_bidirectional(&mut client, &mut server).await;
                        });
                        continue;
                    }
                    let head = format!(
                        "HTTP/1.1 {redirect}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                    );
                    // What the request has beside its head is read, so that nothing is reset.
                    tokio::spawn(async move {
                        let _ = client.write_all(head.as_bytes()).await;
                        let _ = client.shutdown().await;
                        let _ = copy(&mut client, &mut sink()).await;
                    });
                }
            });
            address
        });
        Self { url: format!("http://{address}/old"), heard, runtime: Some(runtime) }
    }

    fn heard(&self) -> String {
        self.heard.lock().expect("no panic").clone()
    }
}

impl Drop for Signpost {
    fn drop(&mut self) {
        stop(&mut self.runtime);
    }
}

#[test]
fn a_server_may_send_its_clients_elsewhere_within_its_origin() {
    for by in ALL {
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            let signpost = Signpost::new(|target| match target {
                "/old" => "307 There\r\nLocation: /mcp/".to_owned(),
                "/mcp/" => "308 There\r\nLocation: /mcp".to_owned(),
                _ => String::new(),
            });
            by.call(signpost.url.clone(), revision).expect("it is followed");
            let heard = signpost.heard();
            for target in ["/old", "/mcp/", "/mcp"] {
                let line = format!("POST {target} HTTP/1.1\r\n");
                assert!(heard.contains(&line), "{by:?} {revision:?}: {heard}");
            }
        }
    }
}

#[test]
fn nothing_is_told_to_another_origin() {
    for by in ALL {
        let other = Signpost::new(|_| String::new());
        let place = other.url.clone();
        let signpost = Signpost::new(move |_| format!("307 There\r\nLocation: {place}?secret"));
        let error = by.call(signpost.url.clone(), Revision::V2026_07_28).expect_err("it stays");
        let why = Unfollowed::Elsewhere;
        let kind = ErrorKind::Redirected { status: 307, to: other.url.clone(), why };
        assert_eq!(error.kind, kind, "{by:?}");
        assert!(signpost.heard().contains("Bearer hush"));
        assert_eq!(other.heard(), "", "{by:?}");
    }
}

#[test]
fn a_server_that_sends_its_clients_around_is_left() {
    for by in ALL {
        let signpost = Signpost::new(|_| "307 There\r\nLocation: /old".to_owned());
        let error = by.call(signpost.url.clone(), Revision::V2026_07_28).expect_err("it ends");
        let why = Unfollowed::TooOften;
        let to = signpost.url.clone();
        assert_eq!(error.kind, ErrorKind::Redirected { status: 307, to, why }, "{by:?}");
        assert_eq!(signpost.heard().matches("POST /old ").count(), 6, "{by:?}");
    }
}
