//! Connections over pipes in memory, in virtual time.

use core::cell::RefCell;
use std::sync::Mutex;

use futures_util::future::{join, join_all, pending};
use futures_util::{FutureExt, StreamExt};

use super::*;
use crate::service::world::{Dialer, End, VirtualTime, pair};

/// The servers' ends of connections, and whom they were made to, in the order of dialing.
#[derive(Clone, Default)]
struct Net(Arc<Mutex<Vec<(End, String, u16)>>>);

impl Net {
    fn pool(&self, time: &VirtualTime, limits: PoolLimits) -> Pool<impl Dial> {
        self.build(time, PoolBuilder::new().limits(limits))
    }

    fn build(&self, time: &VirtualTime, builder: PoolBuilder) -> Pool<impl Dial> {
        let net = self.clone();
        let dial = move |host, port| {
            let (ours, theirs) = pair(1 << 16);
            net.0.lock().unwrap().push((theirs, host, port));
            core::future::ready(Ok(ours))
        };
        builder.build(Dialer::new(time.clone(), dial))
    }

    fn host(&self, nth: usize) -> (String, u16) {
        let (_, host, port) = &self.0.lock().unwrap()[nth];
        (host.clone(), *port)
    }

    fn dialed(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// The end of the connection that was made as the `nth`.
    fn end(&self, nth: usize) -> End {
        let (unused, _) = pair(0);
        core::mem::replace(&mut self.0.lock().unwrap()[nth].0, unused)
    }
}

fn request(method: Method) -> Request<Bytes> {
    let body = if method == Method::POST { "{}" } else { "" };
    Request::builder().method(method).uri("http://h/mcp").body(body.into()).unwrap()
}

const REPLY: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Reads a request.
async fn hear(end: &mut End) -> String {
    end.receive_until(|text| text.ends_with("\r\n\r\n") || text.ends_with("{}")).await
}

/// Serves one request.
async fn serve(end: &mut End) {
    assert!(!hear(end).await.is_empty(), "the client left");
    end.send(REPLY).await;
}

async fn all(response: Result<Response<PoolBody<impl Dial>>, CarryError>) -> String {
    let mut body = response.expect("a response").into_body();
    let mut text = Vec::new();
    while let Some(bytes) = body.next().await {
        text.extend_from_slice(&bytes.expect("a body"));
    }
    String::from_utf8(text).unwrap()
}

fn limits(change: impl FnOnce(&mut PoolLimits)) -> PoolLimits {
    let mut limits = PoolLimits::default();
    change(&mut limits);
    limits
}

#[test]
fn an_idle_connection_is_closed_when_its_time_is_over() {
    let (time, net) = (VirtualTime::default(), Net::default());
    let pool = net.pool(&time, PoolLimits::default());
    let client = async { all(pool.send(request(Method::POST)).await).await };
    let server = async {
        let mut end = net.end(0);
        serve(&mut end).await;
        end.receive_all().await;
        time.time()
    };
    let (text, closed) = time.run(client, server);
    assert_eq!(text, "ok");
    assert_eq!(closed.as_micros(), 30_000_000, "nobody asks for another connection");
    assert_eq!(pool.idle(), 0);
}

#[test]
fn a_connection_that_its_server_closes_is_not_kept() {
    let (time, net) = (VirtualTime::default(), Net::default());
    let pool = net.pool(&time, PoolLimits::default());
    let client = async { all(pool.send(request(Method::POST)).await).await };
    let server = async {
        let mut end = net.end(0);
        serve(&mut end).await;
        while pool.idle() == 0 {
            time.sleep(Duration::from_millis(1)).await;
        }
        end.end();
        end.receive_all().await;
        time.time()
    };
    let (_, closed) = time.run(client, server);
    assert!(closed.as_micros() < 1_000_000, "at once, not when its time is over");
    assert_eq!(pool.idle(), 0);
}

#[test]
fn a_pool_that_is_dropped_leaves_nothing_behind() {
    let (time, net) = (VirtualTime::default(), Net::default());
    let pool = net.pool(&time, PoolLimits::default());
    let client = async move {
        let sent = pool.send(request(Method::POST));
        all(sent.await).await;
        drop(pool);
    };
    let server = async {
        let mut end = net.end(0);
        serve(&mut end).await;
        end.receive_all().await;
        time.time()
    };
    assert_eq!(time.run(client, server).1.as_micros(), 0);
}

#[test]
fn so_many_connections_are_kept_and_no_more() {
    let (time, net) = (VirtualTime::default(), Net::default());
    let pool = net.pool(&time, limits(|it| it.idle = 2));
    let client =
        join_all((0..5).map(|_| async { all(pool.send(request(Method::POST)).await).await }));
    let server = async {
        while net.dialed() < 5 {
            time.sleep(Duration::from_millis(1)).await;
        }
        let mut ends: Vec<_> = (0..5).map(|nth| net.end(nth)).collect();
        join_all(ends.iter_mut().map(serve)).await;
        ends
    };
    let (texts, _ends) = time.run(client, server);
    assert_eq!(texts, ["ok"; 5]);
    assert_eq!(pool.idle(), 2);
}

#[test]
fn requests_beyond_the_limit_wait_in_the_order_of_coming() {
    let (time, net) = (VirtualTime::default(), Net::default());
    let pool = net.pool(&time, limits(|it| it.connections = 1));
    let order = RefCell::new(Vec::new());
    let wanted = async |nth: usize| {
        time.sleep(Duration::from_millis(nth as u64)).await;
        all(pool.send(request(Method::POST)).await).await;
        order.borrow_mut().push(nth);
    };
    // One that waits and gives up does not hold up those behind it.
    let gives_up = async {
        time.sleep(Duration::from_micros(1_500)).await;
        let sent = pool.send(request(Method::POST));
        assert!(sent.now_or_never().is_none());
    };
    let client = join(join_all((0..4).map(wanted)), gives_up);
    let server = async {
        let mut end = net.end(0);
        time.sleep(Duration::from_millis(10)).await;
        for _ in 0..4 {
            serve(&mut end).await;
        }
        end
    };
    time.run(client, server);
    assert_eq!(order.into_inner(), [0, 1, 2, 3]);
    assert_eq!(net.dialed(), 1);
}

#[test]
fn who_waits_gets_the_place_of_a_connection_that_broke() {
    let (time, net) = (VirtualTime::default(), Net::default());
    let pool = net.pool(&time, limits(|it| it.connections = 1));
    let client = join(async { pool.send(request(Method::POST)).await.map(drop) }, async {
        all(pool.send(request(Method::POST)).await).await
    });
    let server = async {
        let mut end = net.end(0);
        hear(&mut end).await;
        drop(end);
        while net.dialed() < 2 {
            time.sleep(Duration::from_millis(1)).await;
        }
        serve(&mut net.end(1)).await;
    };
    let ((broken, text), ()) = time.run(client, server);
    assert!(broken.unwrap_err().sent);
    assert_eq!(text, "ok");
}

#[test]
fn connecting_has_its_time() {
    let time = VirtualTime::default();
    let dial = |_, _| pending::<io::Result<End>>();
    let pool = Pool::new(Dialer::new(time.clone(), dial));
    let (result, ()) = time.run(pool.send(request(Method::POST)), async {});
    let error = result.err().expect("no connection");
    assert_eq!((error.sent, error.why.as_str()), (false, "no connection within 10s"));
    assert_eq!(time.time().as_micros(), 10_000_000);
}

/// What becomes of a request whose kept connection ends once it was written, or before.
fn on_a_connection_that_ends(method: Method, hears: bool) -> (Result<String, CarryError>, usize) {
    let (time, net) = (VirtualTime::default(), Net::default());
    let pool = net.pool(&time, PoolLimits::default());
    let client = async {
        all(pool.send(request(Method::POST)).await).await;
        match pool.send(request(method)).await {
            Ok(response) => Ok(all(Ok(response)).await),
            Err(error) => Err(error),
        }
    };
    let server = async {
        let mut end = net.end(0);
        serve(&mut end).await;
        if hears {
            hear(&mut end).await;
        }
        drop(end);
        // Another connection, if it comes to that.
        time.sleep(Duration::from_secs(1)).await;
        if net.dialed() == 2 {
            serve(&mut net.end(1)).await;
        }
    };
    let (result, ()) = time.run(client, server);
    (result, net.dialed())
}

#[test]
fn a_request_that_may_have_run_is_not_repeated() {
    // RFC 9112, section 9.3.1; RFC 9110, section 9.2.2.
    let (result, dialed) = on_a_connection_that_ends(Method::POST, true);
    assert!(result.unwrap_err().sent);
    assert_eq!(dialed, 1);
}

#[test]
fn a_request_that_is_safe_to_repeat_gets_another_connection() {
    for (method, hears) in [(Method::GET, true), (Method::DELETE, true), (Method::POST, false)] {
        let (result, dialed) = on_a_connection_that_ends(method.clone(), hears);
        assert_eq!((result.as_deref(), dialed), (Ok("ok"), 2), "{method}");
    }
}

#[cfg(not(feature = "tls"))]
#[test]
fn without_tls_the_error_says_what_to_switch_on() {
    let (time, net) = (VirtualTime::default(), Net::default());
    let pool = net.pool(&time, PoolLimits::default());
    let request = Request::get("https://h/mcp").body(Bytes::new()).unwrap();
    let error = pool.send(request).now_or_never().expect("at once").err().expect("refused");
    assert!(!error.sent && error.why.contains("feature `tls`"), "{error}");
    assert_eq!(net.dialed(), 0);
}

#[test]
fn hosts_are_names_and_addresses() {
    for (url, host, port, field) in [
        ("http://h/mcp", "h", 80, "h"),
        ("http://h:81/mcp", "h", 81, "h:81"),
        ("http://10.0.0.1/mcp", "10.0.0.1", 80, "10.0.0.1"),
        ("http://[fd00::1]:81/mcp", "fd00::1", 81, "[fd00::1]:81"),
    ] {
        let (time, net) = (VirtualTime::default(), Net::default());
        let pool = net.pool(&time, PoolLimits::default());
        let request = Request::get(url).body(Bytes::new()).unwrap();
        let client = async { all(pool.send(request).await).await };
        let server = async {
            let mut end = net.end(0);
            let heard = hear(&mut end).await;
            end.send(REPLY).await;
            heard
        };
        let (_, heard) = time.run(client, server);
        assert_eq!(net.host(0), (host.to_owned(), port));
        assert!(heard.starts_with(&format!("GET /mcp HTTP/1.1\r\nHost: {field}\r\n")), "{heard}");
    }
}

#[cfg(feature = "webpki-roots")]
#[test]
fn a_proxy_that_makes_no_tunnel_is_told_from_the_server() {
    for (answer, why) in [
        ("HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n", "no way to h:443: status 502"),
        ("HTTP/1.1 407 No\r\n\r\n", "it wants (other) credentials (status 407)"),
        ("HTTP/1.1 200 OK\r\n\r\nmore", "it speaks before the tunnel is there"),
        ("nonsense\r\n\r\n", ""),
        ("", "the server closed the connection without a response"),
    ] {
        let (time, net) = (VirtualTime::default(), Net::default());
        let builder = PoolBuilder::new().proxy("p:3128".parse().unwrap());
        let pool = net.build(&time, builder.tls(Tls::webpki_roots()));
        let request = Request::get("https://h/mcp").body(Bytes::new()).unwrap();
        let server = async {
            let mut end = net.end(0);
            let heard = hear(&mut end).await;
            end.send(answer.as_bytes()).await;
            heard
        };
        let (result, heard) = time.run(pool.send(request), server);
        assert_eq!(heard, "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n");
        assert_eq!(net.host(0), ("p".to_owned(), 3128));
        let error = result.err().expect("no tunnel");
        let says = format!("the proxy http://p:3128: {why}");
        assert!(!error.sent && error.why.starts_with(&says), "{answer:?}: {error}");
    }
}
