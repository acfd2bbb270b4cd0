//! Exchanges over somebody's HTTP client.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::collections::BTreeMap;

use bytes::Bytes;
use futures_util::stream::{self, AbortHandle, Abortable, SelectAll};
use futures_util::{Stream, StreamExt};
use http::response::Parts;
use http::{HeaderMap, Request, Response};

use super::drive::Link;
use super::inner::Carried;
use crate::client::{Carry, ExchangeId, Open, Session, Url};
use crate::frame::http1::Headers;
use crate::time::Instant;

/// Makes HTTP requests: a pool of connections, or another library's client.
///
/// A request's URI is absolute, and its headers are complete but for `Host`, framing and
/// credentials. It follows no redirects: the client does, within the server's origin.
pub trait HttpCarrier: Send + Sync + 'static {
    /// A response's body, piece by piece. Dropping it ends the exchange.
    type Body: Stream<Item = Result<Bytes, CarryError>> + Send + 'static;

    /// Makes a request. Dropping the future ends the exchange.
    fn send(
        &self,
        request: Request<Bytes>,
    ) -> impl Future<Output = Result<Response<Self::Body>, CarryError>> + Send + 'static;
}

/// An exchange that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarryError {
    /// Some of the request may have reached the server, so that it may have run.
    pub sent: bool,
    /// What went wrong, for a person.
    pub why: String,
}

impl CarryError {
    /// Nothing reached the server.
    pub fn unsent(why: impl Into<String>) -> Self {
        Self { sent: false, why: why.into() }
    }

    /// The server may have got the request.
    pub fn sent(why: impl Into<String>) -> Self {
        Self { sent: true, why: why.into() }
    }
}

impl core::fmt::Display for CarryError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.why)
    }
}

impl core::error::Error for CarryError {}

/// The exchanges under way. Only those that something happened to are looked at.
pub(super) struct HttpLink<C: HttpCarrier> {
    carrier: C,
    url: Url,
    exchanges: SelectAll<Abortable<Exchange<C::Body>>>,
    ends: BTreeMap<ExchangeId, AbortHandle>,
}

/// One exchange: a stream of what happens in it.
struct Exchange<B> {
    id: ExchangeId,
    stage: Stage<B>,
}

type Sending<B> = Pin<Box<dyn Future<Output = Result<Response<B>, CarryError>> + Send>>;

enum Stage<B> {
    Sending(Sending<B>),
    Receiving(Pin<Box<B>>),
    Over,
}

/// What happens in an exchange.
enum Happened {
    Head(Parts),
    Body(Bytes),
    End,
    Failed(CarryError),
}

impl<B: Stream<Item = Result<Bytes, CarryError>>> Stream for Exchange<B> {
    type Item = (ExchangeId, Happened);

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let happened = match &mut self.stage {
            Stage::Sending(sending) => match ready!(sending.as_mut().poll(cx)) {
                Ok(response) => {
                    let (head, body) = response.into_parts();
                    self.stage = Stage::Receiving(Box::pin(body));
                    Happened::Head(head)
                }
                Err(error) => Happened::Failed(error),
            },
            Stage::Receiving(body) => match ready!(body.as_mut().poll_next(cx)) {
                Some(Ok(bytes)) => Happened::Body(bytes),
                Some(Err(error)) => Happened::Failed(CarryError { sent: true, ..error }),
                None => Happened::End,
            },
            Stage::Over => return Poll::Ready(None),
        };
        if matches!(happened, Happened::End | Happened::Failed(_)) {
            self.stage = Stage::Over;
        }
        Poll::Ready(Some((self.id, happened)))
    }
}

impl<B> Unpin for Exchange<B> {}

impl<C: HttpCarrier> HttpLink<C> {
    pub(super) fn new(carrier: C, url: Url) -> Self {
        Self { carrier, url, exchanges: SelectAll::new(), ends: BTreeMap::new() }
    }

    fn open(&mut self, session: &mut Session, now: Instant, open: Open) {
        let id = open.exchange;
        match request(&self.url, open) {
            Ok(request) => {
                let stage = Stage::Sending(Box::pin(self.carrier.send(request)));
                let (exchange, end) = stream::abortable(Exchange { id, stage });
                self.exchanges.push(exchange);
                self.ends.insert(id, end);
            }
            Err(error) => session.handle_failed(now, id, false, &error.to_string()),
        }
    }
}

impl<C: HttpCarrier> Link for HttpLink<C> {
    fn carry(&mut self, carried: &mut Carried, now: Instant, what: Carry) {
        let Carried::Http(session) = carried else { return };
        match what {
            Carry::Open(open) => self.open(session, now, open),
            Carry::Close(exchange) => {
                if let Some(end) = self.ends.remove(&exchange) {
                    end.abort();
                }
            }
            Carry::Respawn => {}
        }
    }

    fn poll(&mut self, carried: &mut Carried, now: Instant, cx: &mut Context<'_>) -> bool {
        let Carried::Http(session) = carried else { return false };
        if !session.wants_input() {
            return false;
        }
        let Poll::Ready(Some((id, happened))) = self.exchanges.poll_next_unpin(cx) else {
            return false;
        };
        match happened {
            Happened::Head(head) => {
                session.handle_head(now, id, head.status.as_u16(), &Fields(&head.headers));
            }
            Happened::Body(bytes) => session.handle_body(now, id, &bytes),
            Happened::End => {
                self.ends.remove(&id);
                session.handle_end(now, id);
            }
            Happened::Failed(error) => {
                self.ends.remove(&id);
                session.handle_failed(now, id, error.sent, &error.why);
            }
        }
        true
    }

    fn poll_end(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}

impl<C: HttpCarrier> Unpin for HttpLink<C> {}

fn request(url: &Url, open: Open) -> Result<Request<Bytes>, http::Error> {
    let scheme = if url.is_secure() { "https" } else { "http" };
    let mut request = Request::builder().method(open.method.as_str()).uri(format!(
        "{scheme}://{}{}",
        url.authority(),
        open.target
    ));
    for (name, value) in open.headers {
        request = request.header(name, value);
    }
    request.body(open.body)
}

struct Fields<'a>(&'a HeaderMap);

impl Headers for Fields<'_> {
    fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.0.get_all(name).iter().map(http::HeaderValue::as_bytes)
    }
}
