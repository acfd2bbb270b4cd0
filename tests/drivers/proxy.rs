//! Clients behind proxies.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use mcp_proto::service::client::{Client, ClientError, Proxy, Ran, Tls};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

use crate::client::{adds, run};
use crate::for_both_clients;
use crate::running::{Tested, runtime, said_by, stop};
use crate::tls::{Authority, Secure, serve, server_config};

for_both_clients! {
    a_proxy_passes_on_requests_that_name_the_whole_url
    a_proxy_makes_a_tunnel_for_tls_and_sees_nothing_of_it
    a_proxy_may_be_reached_over_tls_itself
    a_proxy_that_refuses_is_told_from_the_server
    the_environment_names_the_proxy
    what_is_on_this_machine_is_reached_directly
}

/// A proxy that leads to one server, whatever host is named.
struct Through {
    address: SocketAddr,
    /// All that clients said to it.
    heard: Heard,
    runtime: Option<Runtime>,
}

type Heard = Arc<Mutex<String>>;

/// `somebody:hush`
const CREDENTIALS: &str = "Basic c29tZWJvZHk6aHVzaA==";

impl Through {
    /// Leads to what is at an address, or to a server of its own.
    fn to(server: Option<SocketAddr>, wants_credentials: bool) -> Self {
        let runtime = runtime();
        let heard = Heard::default();
        let log = heard.clone();
        let address = runtime.block_on(async {
            let server = match server {
                Some(address) => address,
                None => serve().await,
            };
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_addr().expect("an address");
            tokio::spawn(async move {
                while let Ok((client, _)) = listener.accept().await {
                    tokio::spawn(pass(client, server, wants_credentials, log.clone()));
                }
            });
            address
        });
        Self { address, heard, runtime: Some(runtime) }
    }

    fn proxy(&self, user: &str) -> Proxy {
        format!("http://{user}{}", self.address).parse().expect("a proxy")
    }

    fn heard(&self) -> String {
        self.heard.lock().expect("no panic").clone()
    }
}

impl Drop for Through {
    fn drop(&mut self) {
        stop(&mut self.runtime);
    }
}

async fn pass(mut client: TcpStream, server: SocketAddr, wants_credentials: bool, heard: Heard) {
    let log = |bytes: &[u8]| {
        heard.lock().expect("no panic").push_str(&String::from_utf8_lossy(bytes));
    };
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let Ok(byte) = client.read_u8().await else { return };
        head.push(byte);
    }
    log(&head);
    let text = String::from_utf8_lossy(&head);
    if wants_credentials && !text.contains(CREDENTIALS) {
        let refusal = b"HTTP/1.1 407 Who Are You\r\nContent-Length: 0\r\n\r\n";
        let _ = client.write_all(refusal).await;
        return;
    }
    let mut server = TcpStream::connect(server).await.expect("the server");
    if text.starts_with("CONNECT ") {
        client.write_all(b"HTTP/1.1 200 Go On\r\n\r\n").await.expect("the client");
        let _ = copy_bidirectional(&mut client, &mut server).await;
        return;
    }
    server.write_all(&head).await.expect("the server");
    let (mut from_server, mut to_server) = server.into_split();
    let (mut from_client, mut to_client) = client.into_split();
    let back = tokio::spawn(async move { copy(&mut from_server, &mut to_client).await });
    let mut more = [0; 4_096];
    while let Ok(read @ 1..) = from_client.read(&mut more).await {
        log(&more[..read]);
        to_server.write_all(&more[..read]).await.expect("the server");
    }
    back.abort();
}

/// Makes a call through a proxy.
async fn call<D: Tested>(url: &str, proxy: Proxy, tls: Tls) -> Result<(), ClientError> {
    let client = Client::<D>::http(url).proxy(proxy).tls(tls).connect().await?;
    adds(&client).await;
    client.close().await;
    Ok(())
}

fn a_proxy_passes_on_requests_that_name_the_whole_url<D: Tested>() {
    let through = Through::to(None, true);
    let proxy = through.proxy("somebody:hush@");
    run::<D, _>(call::<D>("http://mcp.example/mcp?x=1", proxy, Tls::platform())).expect("a call");
    let heard = through.heard();
    let requests = heard.matches("POST http://mcp.example/mcp?x=1 HTTP/1.1\r\n").count();
    assert!(requests >= 2, "{heard}");
    assert_eq!(heard.matches(" HTTP/1.1\r\n").count(), requests, "{heard}");
    assert_eq!(heard.matches("Host: mcp.example\r\n").count(), requests, "{heard}");
    assert_eq!(heard.to_lowercase().matches("proxy-authorization: ").count(), requests, "{heard}");
}

fn a_proxy_makes_a_tunnel_for_tls_and_sees_nothing_of_it<D: Tested>() {
    let authority = Authority::new("ours");
    // What comes out of the tunnel and of TLS is another proxy, for it writes down what it hears.
    let server = Through::to(None, false);
    let config = server_config(authority.vouch("mcp.example"), None);
    let secure = Secure::before(Some(server.address), config);
    let through = Through::to(Some(secure.address), true);
    let proxy = through.proxy("somebody:hush@");
    let call = call::<D>("https://mcp.example/mcp", proxy, authority.trusted(None));
    run::<D, _>(call).expect("a call");
    for head in through.heard().split_inclusive("\r\n\r\n") {
        let rest = head.strip_prefix("CONNECT mcp.example:443 HTTP/1.1\r\n").expect("a tunnel");
        assert!(rest.contains("Host: mcp.example:443\r\n") && rest.contains(CREDENTIALS), "{rest}");
    }
    let heard = server.heard();
    assert!(heard.starts_with("POST /mcp HTTP/1.1\r\nHost: mcp.example\r\n"), "{heard}");
    assert!(!heard.to_lowercase().contains("proxy-authorization"), "{heard}");
}

fn a_proxy_may_be_reached_over_tls_itself<D: Tested>() {
    let authority = Authority::new("ours");
    let config = |name| server_config(authority.vouch(name), None);
    let secure = Secure::before(None, config("mcp.example"));
    let through = Through::to(Some(secure.address), false);
    let before = Secure::before(Some(through.address), config("localhost"));
    let proxy = format!("https://localhost:{}", before.address.port()).parse().expect("a proxy");
    let call = call::<D>("https://mcp.example/mcp", proxy, authority.trusted(None));
    run::<D, _>(call).expect("a call");
    assert!(through.heard().starts_with("CONNECT mcp.example:443 "));
}

fn a_proxy_that_refuses_is_told_from_the_server<D: Tested>() {
    let through = Through::to(None, true);
    for url in ["http://mcp.example/mcp", "https://mcp.example/mcp"] {
        let call = call::<D>(url, through.proxy("somebody:wrong@"), Tls::webpki_roots());
        let error = run::<D, _>(call).expect_err("it is refused");
        let text = error.to_string();
        let says = format!("the proxy http://{}: it wants (other) credentials", through.address);
        assert!(text.starts_with(&says), "{text}");
        assert_eq!(error.ran, Ran::Never, "{url}");
    }
}

fn the_environment_names_the_proxy<D: Tested>() {
    let authority = Authority::new("ours");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("authorities.pem");
    std::fs::write(&file, &authority.pem).expect("written");
    let file = file.to_str().expect("UTF-8");
    let config = server_config(authority.vouch("mcp.example"), None);
    let secure = Secure::before(None, config);
    let (plain, tunnel) = (Through::to(None, true), Through::to(Some(secure.address), true));
    let url = |through: &Through| format!("http://somebody:hush@{}", through.address);
    let environment =
        [("http_proxy", &*url(&plain)), ("HTTPS_PROXY", &*url(&tunnel)), ("SSL_CERT_FILE", file)];
    for url in ["http://mcp.example/mcp", "https://mcp.example/mcp"] {
        assert_eq!(said_by::<D>(url, &environment), r#"{"total":42}"#, "{url}");
    }
    assert!(plain.heard().starts_with("POST http://mcp.example/mcp "));
    assert!(tunnel.heard().starts_with("CONNECT mcp.example:443 "));
}

fn what_is_on_this_machine_is_reached_directly<D: Tested>() {
    let through = Through::to(None, false);
    let runtime = runtime();
    let server = runtime.block_on(serve());
    let environment = [("all_proxy", &*format!("http://{}", through.address))];
    let url = format!("http://localhost:{}/mcp", server.port());
    assert_eq!(said_by::<D>(&url, &environment), r#"{"total":42}"#);
    assert_eq!(through.heard(), "");
    stop(&mut Some(runtime));
}
