//! Redirects: followed within the server's origin, so that nothing that a request holds leaves it.

use super::exchange::{Exchange, For, Reading, Sent};
use super::streams::State;
use super::{ExchangeId, Session, Timer};
use crate::client::{ClientError, ErrorKind, Method, Ran, Unfollowed, Url};
use crate::frame::http1::Headers;

/// A head that sends its request elsewhere.
pub(super) enum Redirect {
    Followed(Url),
    Refused(ClientError),
}

impl Redirect {
    /// What the head of the exchange's response says, if it redirects (RFC 9110, section 15.4).
    pub(super) fn of<H: Headers + ?Sized>(
        exchange: &Exchange,
        status: u16,
        headers: &H,
        most: u32,
    ) -> Option<Self> {
        let Reading::Head(sent) = &exchange.reading else { return None };
        // 303 is the answer to what was done; the others were not.
        let (keeps_method, ran) = match status {
            307 | 308 => (true, Ran::Never),
            301 | 302 => (false, Ran::Never),
            303 => (false, Ran::Maybe),
            _ => return None,
        };
        let place = headers.get("location").and_then(|value| core::str::from_utf8(value).ok());
        let place = place.and_then(|place| exchange.url.resolve(place).ok());
        let to = place.as_ref().map(Url::without_query).unwrap_or_default();
        let why = match place {
            None => Unfollowed::Nowhere,
            Some(place) if !place.is_same_origin(&exchange.url) => Unfollowed::Elsewhere,
            Some(_) if !keeps_method && sent.method != Method::Get => Unfollowed::Method,
            Some(_) if sent.redirects >= most => Unfollowed::TooOften,
            Some(place) => return Some(Self::Followed(place)),
        };
        let ran = if sent.method == Method::Get { Ran::Never } else { ran };
        Some(Self::Refused(ClientError { kind: ErrorKind::Redirected { status, to, why }, ran }))
    }
}

impl Session {
    /// Makes the exchange's request once more, elsewhere, as it was.
    pub(super) fn follow(&mut self, exchange: ExchangeId, url: Url) {
        let timer = Timer::Enough(exchange);
        let until = self.timers.get(timer);
        let Some(Exchange { purpose, reading: Reading::Head(sent), .. }) = self.spend(exchange)
        else {
            return;
        };
        let next = self.begin(purpose, url, Sent { redirects: sent.redirects + 1, ..*sent });
        if let Some(until) = until {
            self.timers.set(Timer::Enough(next), until);
        }
        match purpose {
            For::Request(id) | For::Resume(id) | For::Post(Some(id), _) => {
                self.of_request.insert(id, next);
            }
            For::Standing => self.standing.state = State::Open(next),
            For::Note { .. }
            | For::Answer(_)
            | For::Post(None, _)
            | For::Everything
            | For::Goodbye
            | For::Spent => {}
        }
    }
}
