//! Requests by reqwest.

use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use http::{Request, Response};
use http_body::Body as _;
use mcp_proto::service::client::{CarryError, HttpCarrier};
use reqwest::{Body, ClientBuilder, redirect};

/// A carrier over reqwest, with the TLS, HTTP/2, proxies and resolvers that it was built with.
///
/// ```no_run
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_driver_tokio::{Client, Reqwest, reqwest};
///
/// let carrier = Reqwest::new(reqwest::Client::builder().tcp_nodelay(true))?;
/// let client = Client::http("http://127.0.0.1:8080/mcp").connect_by(carrier).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Reqwest(reqwest::Client);

impl Reqwest {
    /// A carrier over what `builder` gives. It is made to follow no redirects: whether one is
    /// followed depends on what the request is, which the client knows.
    ///
    /// # Errors
    /// Where reqwest cannot be set up so.
    pub fn new(builder: ClientBuilder) -> reqwest::Result<Self> {
        builder.redirect(redirect::Policy::none()).build().map(Self)
    }
}

impl HttpCarrier for Reqwest {
    type Body = ReqwestBody;

    fn send(
        &self,
        request: Request<Bytes>,
    ) -> impl Future<Output = Result<Response<ReqwestBody>, CarryError>> + Send + 'static {
        let client = self.0.clone();
        async move {
            let request = request.try_into().map_err(failed)?;
            let response = Response::<Body>::from(client.execute(request).await.map_err(failed)?);
            Ok(response.map(|body| ReqwestBody(Box::pin(body))))
        }
    }
}

/// The body of a response.
#[derive(Debug)]
pub struct ReqwestBody(Pin<Box<Body>>);

impl Stream for ReqwestBody {
    type Item = Result<Bytes, CarryError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match ready!(self.0.as_mut().poll_frame(cx)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(failed(error)))),
                // Trailers mean nothing here.
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => return Poll::Ready(Some(Ok(bytes))),
                    Err(_) => continue,
                },
            }
        }
    }
}

/// Without the URL, which may hold a secret, and with what lies beneath.
fn failed(error: reqwest::Error) -> CarryError {
    let unsent = error.is_connect() || error.is_builder();
    let error = error.without_url();
    let mut why = error.to_string();
    let mut beneath = error.source();
    while let Some(error) = beneath {
        why.push_str(": ");
        why.push_str(&error.to_string());
        beneath = error.source();
    }
    CarryError { sent: !unsent, why }
}
