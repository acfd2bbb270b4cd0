//! One request on its way to a response.

use core::convert::Infallible;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use bytes::Buf;
use http::{HeaderName, HeaderValue, Response, StatusCode};
use http_body::Body;

use super::pipe::pipe;
use super::{HttpBody, Ongoing};
use crate::frame::http1::{BodyLength, Refusal};
use crate::pace::Pace;
use crate::server::{Bound, Notice};
use crate::server::{HttpExchange, HttpRefusal, Machine, ResponseHead};
use crate::service::drive::Carried;
use crate::service::{Later, Parts, Runtime, Threading};
use crate::time::Instant;

/// One request on its way to a response. Where it is dropped before that, the client is gone.
#[must_use = "nothing is answered unless this is polled"]
pub struct Answer<B, R: Runtime<M>, M: Threading> {
    /// `None` once it was answered, and where it is refused.
    ongoing: Option<Ongoing<R, M>>,
    /// The request's body, while it is read.
    body: Option<Pin<Box<B>>>,
    /// When the next piece of the body must be there.
    /// How the body comes, once it was waited for.
    pace: Option<Pace>,
    detach: fn(Ongoing<R, M>),
}

impl<B: Body, R: Runtime<M>, M: Threading> Answer<B, R, M>
where
    Ongoing<R, M>: Later<'static, M, ()>,
{
    pub(super) fn new(ongoing: Ongoing<R, M>, body: B) -> Self {
        let detach = |ongoing: Ongoing<R, M>| {
            let host = ongoing.host().clone();
            host.runtime().detach(ongoing.boxed());
        };
        Self { ongoing: Some(ongoing), body: Some(Box::pin(body)), pace: None, detach }
    }

    /// The refusal of what is too much.
    pub(super) fn busy() -> Self {
        Self { ongoing: None, body: None, pace: None, detach: |_| {} }
    }
}

impl<B, R: Runtime<M>, M: Threading> Unpin for Answer<B, R, M> {}

impl<B: Body, R: Runtime<M>, M: Threading> Future for Answer<B, R, M> {
    type Output = Result<Response<HttpBody>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Some(ongoing) = &mut this.ongoing else {
            return Poll::Ready(Ok(refuse(&HttpRefusal::Busy)));
        };
        if ongoing.drive.work.is_given_up() {
            ongoing.drive.work.tell(&Notice::Bound(Bound::Held));
            this.ongoing = None;
            return Poll::Ready(Ok(refuse(&HttpRefusal::Busy)));
        }
        if ongoing.is_over(cx) {
            this.ongoing = None;
            return Poll::Ready(Ok(refuse(&HttpRefusal::Busy)));
        }
        let (body, pace) = (&mut this.body, &mut this.pace);
        let head = ready!(ongoing.drive.poll(cx, |drive, now, cx| {
            match drive.machine.poll_head() {
                Some(head) => Carried::Done(head),
                None => read(&mut drive.machine, body, pace, now, cx),
            }
        }));
        this.body = None;
        Poll::Ready(Ok(match this.ongoing.take() {
            Some(ongoing) => respond(head, ongoing, this.detach),
            None => refuse(&HttpRefusal::Busy),
        }))
    }
}

impl<B, R: Runtime<M>, M: Threading> Drop for Answer<B, R, M> {
    /// The client is gone; what it can come back for goes on.
    fn drop(&mut self) {
        let Some(mut ongoing) = self.ongoing.take() else { return };
        ongoing.drive.machine.handle_closed(ongoing.drive.work.now());
        if !ongoing.drive.machine.is_idle() {
            (self.detach)(ongoing.unheard());
        }
    }
}

/// Reads the request's body, piece by piece, as long as it is of any use.
fn read<B: Body>(
    machine: &mut HttpExchange<Parts>,
    body: &mut Option<Pin<Box<B>>>,
    pace: &mut Option<Pace>,
    now: Instant,
    cx: &mut Context<'_>,
) -> Carried<ResponseHead> {
    let Some(reading) = body.as_mut().filter(|_| machine.wants_input()) else {
        return Carried::Nothing(None);
    };
    match reading.as_mut().poll_frame(cx) {
        Poll::Ready(Some(Ok(frame))) => {
            // Trailers say nothing here.
            if let Ok(mut data) = frame.into_data() {
                pace.get_or_insert(Pace::begin(now)).moved(now, data.remaining());
                machine.handle_body(now, data.copy_to_bytes(data.remaining()));
            }
        }
        Poll::Ready(Some(Err(_))) => {
            machine.handle_refused(Refusal::Malformed("the request body could not be read"));
        }
        Poll::Ready(None) => {
            *body = None;
            machine.handle_eof(now);
        }
        Poll::Pending => {
            let until = machine.body_deadline(pace.get_or_insert(Pace::begin(now)));
            if now < until {
                return Carried::Nothing(Some(until));
            }
            machine.handle_refused(Refusal::Timeout);
        }
    }
    Carried::Some
}

/// The response: whole, where it is, else a stream that goes on by itself.
fn respond<R: Runtime<M>, M: Threading>(
    head: ResponseHead,
    mut ongoing: Ongoing<R, M>,
    detach: fn(Ongoing<R, M>),
) -> Response<HttpBody> {
    let mut bytes = Vec::new();
    let machine = &mut ongoing.drive.machine;
    machine.transmit(&mut bytes);
    let headless = machine.head().method() == "HEAD";
    if !machine.is_complete() {
        let (writer, reader) = pipe();
        writer.write(|out| *out = bytes);
        detach(ongoing.into_pipe(writer));
        return response(head, HttpBody::stream(reader));
    }
    if !ongoing.drive.is_idle() {
        detach(ongoing.unheard());
    }
    response(head, HttpBody::whole(if headless { Vec::new() } else { bytes }))
}

fn refuse(refusal: &HttpRefusal) -> Response<HttpBody> {
    let (head, body) = refusal.response();
    response(head, HttpBody::whole(body))
}

/// A response of `http`. Whoever carries it adds what framing needs.
fn response(head: ResponseHead, body: HttpBody) -> Response<HttpBody> {
    let mut response = Response::new(body);
    *response.status_mut() =
        StatusCode::from_u16(head.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    for (name, value) in &head.headers {
        // All of them are ours, and well-formed.
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
        {
            headers.append(name, value);
        }
    }
    if let BodyLength::Sized(length) = head.length {
        headers.insert(http::header::CONTENT_LENGTH, length.into());
    }
    response
}

impl<B, R: Runtime<M>, M: Threading> fmt::Debug for Answer<B, R, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answer")
    }
}
