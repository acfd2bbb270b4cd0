//! Workers that share nothing, behind a balancer that tells them apart by a cookie.

use std::sync::atomic::AtomicUsize;

use bytes::Bytes;
use http::header::{COOKIE, SET_COOKIE};
use http::{Request, Response};

use super::*;

/// A balancer: requests with its cookie go to that worker, others to one after the other.
struct Balancer<D: Dial> {
    workers: Vec<Pool<D>>,
    next: AtomicUsize,
    /// The name of the cookie, and what follows its value.
    cookie: (&'static str, &'static str),
}

impl<D: Dial> HttpCarrier for Balancer<D> {
    type Body = PoolBody<D>;

    fn send(
        &self,
        request: Request<Bytes>,
    ) -> impl Future<Output = Result<Response<Self::Body>, CarryError>> + Send + 'static {
        let (name, rest) = self.cookie;
        let cookies = request.headers().get(COOKIE).and_then(|value| value.to_str().ok());
        let named = cookies.into_iter().flat_map(|all| all.split("; ")).find_map(|cookie| {
            cookie.strip_prefix(name)?.strip_prefix("=w")?.parse::<usize>().ok()
        });
        let others = || self.next.fetch_add(1, Ordering::SeqCst) % self.workers.len();
        let worker = named.unwrap_or_else(others);
        let sent = self.workers[worker].send(request);
        async move {
            let mut response = sent.await?;
            let value = format!("{name}=w{worker}{rest}").parse().expect("a value");
            response.headers_mut().append(SET_COOKIE, value);
            Ok(response)
        }
    }
}

fn balancer(
    world: &World,
    revision: Revision,
    cookie: (&'static str, &'static str),
) -> Balancer<impl Dial> {
    let worker = || {
        let (sessions, hub) = (Arc::new(MemorySessionStore::new()), Arc::new(MemoryHub::new()));
        InProcess { world: world.clone(), revision, sessions, hub }
    };
    let workers = (0..3).map(|_| Pool::new(worker().dialer())).collect();
    Balancer { workers, next: AtomicUsize::new(0), cookie }
}

#[test]
fn a_session_stays_with_its_worker_where_the_balancer_s_cookie_is_kept() {
    let cookies = [
        // Application load balancers, ingress controllers, HAProxy, Envoy, Traefik, Azure, F5.
        ("AWSALB", "; Expires=Wed, 09 Jun 2100 10:18:14 GMT; Path=/"),
        (
            "INGRESSCOOKIE",
            "; Expires=Thu, 01-Jan-70 00:00:10 GMT; Max-Age=172800; Path=/; HttpOnly",
        ),
        ("SERVERID", "; path=/"),
        ("GCLB", "; Max-Age=86400; Path=/; HttpOnly"),
        ("_traefik", "; Path=/; HttpOnly; SameSite=Lax"),
        ("ARRAffinity", ";Path=/;HttpOnly;Domain=localhost"),
        ("BIGipServer~pool", ""),
    ];
    for revision in Revision::ALL.into_iter().filter(|it| it.adapter().has_handshake) {
        for cookie in cookies {
            for keeps in [true, false] {
                let world = World::default();
                let url = crate::client::Url::parse("http://localhost/mcp").unwrap();
                let balancer = balancer(&world, revision, cookie);
                let carrier = match keeps {
                    true => Cookies::new(balancer, &url, || Duration::from_secs(100)),
                    false => Cookies::none(balancer),
                };
                let builder = Client::builder("client", "1");
                let client = builder.http(world.clone(), carrier, "http://localhost/mcp").unwrap();
                let handshakes = Arc::new(AtomicUsize::new(0));
                world.run(async move {
                    client.ready().await.unwrap();
                    for _ in 0..4 {
                        let result = client.call_tool("add", &Add { a: 2, b: 40 }).await;
                        if !keeps && result.is_err() {
                            handshakes.fetch_add(1, Ordering::SeqCst);
                        }
                        assert!(!keeps || result.is_ok(), "{revision:?} {cookie:?} {result:?}");
                    }
                    // Without it the sessions are lost.
                    let lost = handshakes.load(Ordering::SeqCst);
                    assert_eq!(lost > 0, !keeps, "{revision:?} {cookie:?} {lost}");
                });
            }
        }
    }
}
