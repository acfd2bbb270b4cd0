//! Clients over TLS, with authorities that are made for it.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use ::http::{Request, Uri};
use bytes::Bytes;
use futures_rustls::TlsAcceptor;
use futures_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use futures_rustls::rustls::server::WebPkiClientVerifier;
use futures_rustls::rustls::{RootCertStore, ServerConfig};
use futures_util::{AsyncReadExt as _, AsyncWriteExt as _, StreamExt as _};
use mcp_driver_tokio::{Tokio, TokioStream, http};
use mcp_proto::server::Gate;
use mcp_proto::service::client::{
    Client, ClientError, HttpCarrier as _, PoolBuilder, Ran, Tls, rustls,
};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::client::{adds, run};
use crate::for_both_clients;
use crate::running::{Tested, runtime, said_by, stop};

for_both_clients! {
    a_server_that_an_own_authority_vouches_for_is_called
    a_server_is_known_by_its_address
    a_server_of_another_name_is_refused
    a_server_of_an_unknown_authority_is_refused
    a_server_that_wants_to_know_the_client_does
    the_authorities_of_the_platform_are_trusted_by_default
    a_body_that_is_cut_is_told_from_one_that_ends
}

/// Somebody who vouches for names.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
    pub(crate) pem: String,
}

/// A certificate and its key.
pub(crate) type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).expect("a certificate");
        let (der, pem) = (certificate.der().clone(), certificate.pem());
        Self { issuer: Issuer::new(params, key), certificate: der, pem }
    }

    /// Vouches for a name, or an address.
    pub(crate) fn vouch(&self, name: &str) -> Identity {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(vec![name.to_owned()]).expect("a name");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
        (vec![certificate.der().clone()], key)
    }

    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).expect("an authority");
        roots
    }

    /// A client that trusts this authority alone, and may show who it is.
    pub(crate) fn trusted(&self, identity: Option<Identity>) -> Tls {
        let config = rustls::ClientConfig::builder_with_provider(provider());
        let config = config.with_safe_default_protocol_versions().expect("versions");
        let config = config.with_root_certificates(self.roots());
        Tls::new(match identity {
            Some((chain, key)) => config.with_client_auth_cert(chain, key).expect("a key"),
            None => config.with_no_client_auth(),
        })
    }
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

pub(crate) fn server_config((chain, key): Identity, clients: Option<&Authority>) -> ServerConfig {
    let config = ServerConfig::builder_with_provider(provider());
    let config = config.with_safe_default_protocol_versions().expect("versions");
    let config = match clients {
        Some(authority) => {
            let roots = Arc::new(authority.roots());
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider());
            config.with_client_cert_verifier(verifier.build().expect("an authority"))
        }
        None => config.with_no_client_auth(),
    };
    let mut config = config.with_single_cert(chain, key).expect("a key");
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}

/// What a server saw of a connection: the name that was asked for, the protocol that was agreed
/// on, and whether it ended with a goodbye.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    name: Option<String>,
    protocol: Option<Vec<u8>>,
    goodbye: bool,
}

/// A server behind TLS.
pub(crate) struct Secure {
    pub(crate) address: SocketAddr,
    seen: Mutex<UnboundedReceiver<Seen>>,
    accepted: Arc<AtomicUsize>,
    runtime: Option<Runtime>,
}

impl Secure {
    fn new(config: ServerConfig) -> Self {
        Self::before(None, config)
    }

    /// TLS in front of what is at an address, or of a server of its own.
    pub(crate) fn before(behind: Option<SocketAddr>, config: ServerConfig) -> Self {
        let runtime = runtime();
        let (tell, seen) = unbounded_channel();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let accepted = Arc::<AtomicUsize>::default();
        let count = accepted.clone();
        let address = runtime.block_on(async {
            let behind = match behind {
                Some(address) => address,
                None => serve().await,
            };
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_addr().expect("an address");
            tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    count.fetch_add(1, Ordering::SeqCst);
                    tokio::spawn(tunnel(acceptor.clone(), stream, behind, tell.clone()));
                }
            });
            address
        });
        Self { address, seen: Mutex::new(seen), accepted, runtime: Some(runtime) }
    }

    pub(crate) fn url(&self, host: &str) -> String {
        format!("https://{host}:{}/mcp", self.address.port())
    }

    fn seen(&self) -> Option<Seen> {
        self.seen.lock().expect("one thread").blocking_recv()
    }
}

impl Drop for Secure {
    fn drop(&mut self) {
        stop(&mut self.runtime);
    }
}

/// A server of any name, in the background.
pub(crate) async fn serve() -> SocketAddr {
    let server = http(mcp_tests::service(Tokio::new()).expect("valid"));
    let server = server.gate(Gate::default().any_host()).bind("127.0.0.1:0").await;
    let server = server.expect("a port");
    let address = server.local_addr();
    tokio::spawn(server.serve());
    address
}

/// Takes TLS off a connection.
async fn tunnel(
    acceptor: TlsAcceptor,
    stream: TcpStream,
    behind: SocketAddr,
    tell: UnboundedSender<Seen>,
) {
    let Ok(stream) = acceptor.accept(TokioStream::new(stream)).await else { return };
    let (_, connection) = stream.get_ref();
    let name = connection.server_name().map(str::to_owned);
    let protocol = connection.alpn_protocol().map(<[u8]>::to_vec);
    let behind = TokioStream::new(TcpStream::connect(behind).await.expect("the server"));
    let (from_client, mut to_client) = stream.split();
    let (from_server, mut to_server) = behind.split();
    let back = tokio::spawn(async move {
        let _ = futures_util::io::copy(from_server, &mut to_client).await;
    });
    let goodbye = futures_util::io::copy(from_client, &mut to_server).await.is_ok();
    back.abort();
    let _ = tell.send(Seen { name, protocol, goodbye });
}

/// Connects, and makes a call.
async fn call<D: Tested>(url: &str, tls: Tls) -> Result<(), ClientError> {
    let client = Client::<D>::http(url).tls(tls).connect().await?;
    adds(&client).await;
    // More than fits into what lies between.
    let much = json!({ "a": 2, "b": 40, "more": "x".repeat(2 << 20) });
    client.call_tool("add", &much).await?;
    client.close().await;
    Ok(())
}

fn a_server_that_an_own_authority_vouches_for_is_called<D: Tested>() {
    let authority = Authority::new("ours");
    let server = Secure::new(server_config(authority.vouch("localhost"), None));
    run::<D, _>(call::<D>(&server.url("localhost"), authority.trusted(None)))
        .expect("it is trusted");
    let seen = Seen {
        name: Some("localhost".to_owned()),
        protocol: Some(b"http/1.1".to_vec()),
        goodbye: true,
    };
    assert_eq!(server.seen(), Some(seen));
    let accepted = server.accepted.load(Ordering::SeqCst);
    assert_eq!(accepted, 1, "one connection serves one request after the other");
}

fn a_server_is_known_by_its_address<D: Tested>() {
    let authority = Authority::new("ours");
    let server = Secure::new(server_config(authority.vouch("127.0.0.1"), None));
    run::<D, _>(call::<D>(&server.url("127.0.0.1"), authority.trusted(None)))
        .expect("it is trusted");
    assert_eq!(server.seen().expect("a connection").name, None);
}

fn a_server_of_another_name_is_refused<D: Tested>() {
    let authority = Authority::new("ours");
    let server = Secure::new(server_config(authority.vouch("mcp.example"), None));
    let error = run::<D, _>(call::<D>(&server.url("localhost"), authority.trusted(None)));
    let error = error.expect_err("it is another");
    let text = error.to_string();
    assert!(text.contains("not valid for name") && text.contains("localhost"), "{text}");
    assert_eq!(error.ran, Ran::Never);
}

fn a_server_of_an_unknown_authority_is_refused<D: Tested>() {
    let server = Secure::new(server_config(Authority::new("unknown").vouch("localhost"), None));
    for tls in [Authority::new("known").trusted(None), Tls::webpki_roots()] {
        let error =
            run::<D, _>(call::<D>(&server.url("localhost"), tls)).expect_err("it is unknown");
        assert!(error.to_string().contains("UnknownIssuer"), "{error}");
        assert_eq!(error.ran, Ran::Never);
    }
}

fn a_server_that_wants_to_know_the_client_does<D: Tested>() {
    let (servers, clients) = (Authority::new("for servers"), Authority::new("for clients"));
    let server = Secure::new(server_config(servers.vouch("localhost"), Some(&clients)));
    let known = servers.trusted(Some(clients.vouch("somebody")));
    run::<D, _>(call::<D>(&server.url("localhost"), known)).expect("it is known");
    let error = run::<D, _>(call::<D>(&server.url("localhost"), servers.trusted(None)));
    error.expect_err("it shows nothing");
}

fn the_authorities_of_the_platform_are_trusted_by_default<D: Tested>() {
    let authority = Authority::new("ours");
    let server = Secure::new(server_config(authority.vouch("localhost"), None));
    let folder = tempfile::tempdir().expect("a folder");
    let said_where = |pem: &str| {
        let file = folder.path().join("authorities.pem");
        std::fs::write(&file, pem).expect("written");
        let file = file.to_str().expect("UTF-8");
        said_by::<D>(&server.url("localhost"), &[("SSL_CERT_FILE", file)])
    };
    assert_eq!(said_where(&authority.pem), r#"{"total":42}"#);
    let refused = said_where(&Authority::new("another").pem);
    assert!(refused.contains("UnknownIssuer"), "{refused}");
    let none = said_where("");
    assert!(none.contains("TLS cannot be set up"), "{none}");
}

/// A body without a length ends where its connection does: with a goodbye.
fn a_body_that_is_cut_is_told_from_one_that_ends<D: Tested>() {
    let authority = Authority::new("ours");
    let acceptor = TlsAcceptor::from(Arc::new(server_config(authority.vouch("localhost"), None)));
    for goodbye in [true, false] {
        let mut runtime = Some(runtime());
        let listener =
            runtime.as_ref().expect("it runs").block_on(TcpListener::bind("127.0.0.1:0"));
        let listener = listener.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let acceptor = acceptor.clone();
        runtime.as_ref().expect("it runs").spawn(async move {
            let (stream, _) = listener.accept().await.expect("a client");
            let mut stream = acceptor.accept(TokioStream::new(stream)).await.expect("TLS");
            let mut request = [0; 4_096];
            assert!(stream.read(&mut request).await.expect("a request") > 0);
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\npart").await.expect("written");
            stream.flush().await.expect("written");
            if goodbye {
                stream.close().await.expect("a goodbye");
            }
        });
        let uri: Uri = format!("https://localhost:{port}/").parse().expect("a URL");
        let request = Request::get(uri).body(Bytes::new()).expect("a request");
        let whole = run::<D, _>(async {
            let pool = PoolBuilder::new().tls(authority.trusted(None)).build(D::default());
            let mut body = pool.send(request).await.expect("a response").into_body();
            let mut whole = true;
            while let Some(bytes) = body.next().await {
                whole &= bytes.is_ok();
            }
            whole
        });
        assert_eq!(whole, goodbye);
        stop(&mut runtime);
    }
}
