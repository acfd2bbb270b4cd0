//! Credentials for every request.

use core::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{HeaderValue, Request, Response};

use super::{CarryError, HttpCarrier};

/// Gives bearer tokens.
pub trait TokenSource: Send + Sync + 'static {
    /// The token for the next request; none sends none. `challenge` is what the server said to the
    /// one before, if it refused it; asked for once in a request (C70).
    fn token(
        &self,
        challenge: Option<Vec<String>>,
    ) -> impl Future<Output = Result<Option<String>, CarryError>> + Send;
}

/// Always the same token.
impl TokenSource for String {
    async fn token(&self, _: Option<Vec<String>>) -> Result<Option<String>, CarryError> {
        Ok(Some(self.clone()))
    }
}

/// No token at all.
impl TokenSource for () {
    async fn token(&self, _: Option<Vec<String>>) -> Result<Option<String>, CarryError> {
        Ok(None)
    }
}

/// A carrier that adds a bearer token to every request (R26-ATOK-01), and tries once more with
/// another one where the server refuses it: what was refused did not run.
#[derive(Clone, Debug)]
pub struct Bearer<C, T> {
    carrier: Arc<C>,
    source: Arc<T>,
}

impl<C: HttpCarrier, T: TokenSource> Bearer<C, T> {
    /// `carrier` with tokens from `source`.
    pub fn new(carrier: C, source: T) -> Self {
        Self { carrier: Arc::new(carrier), source: Arc::new(source) }
    }
}

impl<C: HttpCarrier, T: TokenSource> HttpCarrier for Bearer<C, T> {
    type Body = C::Body;

    fn send(
        &self,
        request: Request<Bytes>,
    ) -> impl Future<Output = Result<Response<C::Body>, CarryError>> + Send + 'static {
        let (carrier, source) = (self.carrier.clone(), self.source.clone());
        async move {
            let token = source.token(None).await?;
            let response = carrier.send(authorized(&request, token.as_deref())?).await?;
            if response.status().as_u16() != 401 {
                return Ok(response);
            }
            let challenges = response.headers().get_all(http::header::WWW_AUTHENTICATE).iter();
            let challenges = challenges.map(|it| String::from_utf8_lossy(it.as_bytes()).into());
            let other = source.token(Some(challenges.collect())).await?;
            if other == token || other.is_none() {
                return Ok(response);
            }
            drop(response);
            carrier.send(authorized(&request, other.as_deref())?).await
        }
    }
}

fn authorized(request: &Request<Bytes>, token: Option<&str>) -> Result<Request<Bytes>, CarryError> {
    let mut request = request.clone();
    if let Some(token) = token {
        let value = HeaderValue::try_from(format!("Bearer {token}"));
        let mut value = value.map_err(|_| CarryError::unsent("the token is no header value"))?;
        value.set_sensitive(true);
        request.headers_mut().insert(AUTHORIZATION, value);
    }
    Ok(request)
}
