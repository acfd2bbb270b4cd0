//! What a handler knows of the call that it runs for, and what it can say before it is done.

use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Poll, Waker};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use futures_util::future::poll_fn;
use serde::Serialize;

use super::asking::Asked;
use super::line::Line;
use super::outbox::{Command, Outbox};
use super::parts::Parts;
use super::{Session, Sessions};
use crate::auth::Principal;
use crate::model::{
    Call, Change, ClientProfile, Implementation, Json, LogLevel, LogMessage, Progress,
    TraceContext, Values,
};
use crate::server::CallId;

/// One call, as its handler sees it. Cloning shares it; it may be sent anywhere, and does nothing
/// any more once the call is over.
///
/// ```
/// use mcp_proto::model::LogLevel;
/// use mcp_proto::service::Exchange;
///
/// async fn count(ex: Exchange) -> String {
///     for step in 1..=3 {
///         ex.log(LogLevel::Debug, "counting").logger("abacus");
///         ex.progress(step, 3).message(format!("at {step}"));
///     }
///     "3".into()
/// }
/// ```
#[derive(Clone)]
pub struct Exchange(Arc<Cell>);

struct Cell {
    id: CallId,
    call: Call,
    parts: Option<Parts>,
    outbox: Outbox,
    asked: Asked,
    session: OnceLock<Option<Session>>,
    /// Nobody waits for the call any more; set once, before the wakers are woken.
    over: AtomicBool,
    cancelled: AtomicBool,
    waiting: Mutex<Vec<Waker>>,
}

impl Exchange {
    /// The exchange of one call, whose commands go into `outbox`.
    pub(crate) fn new(id: CallId, call: Call, parts: Option<Parts>, outbox: Outbox) -> Self {
        Self(Arc::new(Cell {
            id,
            call,
            parts,
            outbox,
            asked: Asked::default(),
            session: OnceLock::new(),
            over: AtomicBool::new(false),
            cancelled: AtomicBool::new(false),
            waiting: Mutex::default(),
        }))
    }

    /// The call as it was decoded.
    pub fn call(&self) -> &Call {
        &self.0.call
    }

    /// Which call of its connection this is.
    pub fn id(&self) -> CallId {
        self.0.id
    }

    /// Who is calling, and what they said they can do.
    pub fn client(&self) -> &ClientProfile {
        self.0.call.client()
    }

    /// The client's name and version, for display only (R26-META-13).
    pub fn client_info(&self) -> Option<Implementation> {
        self.client().implementation()
    }

    /// The trace that the call is part of, where its client said (R26-META-15).
    pub fn trace(&self) -> Option<TraceContext> {
        self.0.call.trace()
    }

    /// The HTTP request that carried the call; `None` on stdio.
    pub fn parts(&self) -> Option<&Parts> {
        self.0.parts.as_ref()
    }

    /// Who calls; `None` where nobody asks.
    pub fn principal(&self) -> Option<&Principal> {
        self.0.call.principal().map(|principal| &**principal)
    }

    /// The client's session; `None` where the call belongs to none: on revisions without sessions,
    /// on stdio, and where the client did not name one. See [`sessions`](Self::sessions) for those.
    pub fn session(&self) -> Option<&Session> {
        let session = self.0.session.get_or_init(|| {
            let session = self.0.call.session()?;
            let values = Values::of(session.values());
            Some(Session::new(self.line(), session.key().to_owned(), None, values))
        });
        session.as_ref()
    }

    /// Sessions that are opened by hand, whatever the revision and the transport.
    pub fn sessions(&self) -> Sessions<'_> {
        Sessions::new(self)
    }

    /// Tells every client that listens that something changed: once, however often it is said at
    /// once. The call's answer does not wait for the hub to have it: where it must,
    /// [`Announcer`](super::Announcer) tells when it has, also from outside of a handler.
    pub fn announce(&self, change: Change) {
        let namespace = self.0.call.keeping.namespace.clone();
        self.send(Command::Announce { namespace, change });
    }

    /// Closes the client's stream while the call goes on, where it can come back for the rest
    /// (R2511-HTTP-19); elsewhere this does nothing.
    pub fn close_stream(&self) {
        self.send(Command::CloseStream);
    }

    /// The way to the world.
    pub(crate) fn line(&self) -> Line {
        Line::new(self.0.id, self.0.outbox.clone(), self.0.call.keeping.clone())
    }

    /// Whether a log message of `level` would reach this client.
    pub fn logs(&self, level: LogLevel) -> bool {
        self.0.call.log_level().is_some_and(|least| level >= least) && !self.is_over()
    }

    /// Logs to the client, when the returned value is dropped: at the semicolon. What the client
    /// does not want to read is not even serialized, and without a stream nothing happens.
    ///
    /// `data` must hold no secrets (R24-LOG-07); what cannot be JSON is left out.
    pub fn log(&self, level: LogLevel, data: impl Serialize) -> Log<'_> {
        let message = if self.logs(level) { Json::of(&data).ok() } else { None };
        Log { exchange: self, message: message.map(|data| LogMessage::new(level, data)) }
    }

    /// Reports progress, when the returned value is dropped: at the semicolon. `total` is a number,
    /// or `None` where nobody knows. Nothing is sent where the client did not ask for progress, and
    /// of reports that do not exceed the last one (R24-PROG-01, R24-PROG-02).
    pub fn progress(&self, done: impl Amount, total: impl Total) -> ProgressReport<'_> {
        let wanted = self.0.call.progress_token().is_some() && !self.is_over();
        let report = wanted.then(|| {
            let mut report = Progress::new(done.amount());
            report.total = total.total();
            report
        });
        ProgressReport { exchange: self, report }
    }

    /// Cancels the call: its handler is dropped where it waits, and the client reads an error.
    pub fn cancel(&self) {
        self.send(Command::Cancel);
    }

    /// Whether the call was cancelled: by its client, by [`cancel`](Self::cancel), or because its
    /// connection ended.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Acquire)
    }

    /// Waits until nobody waits for the call any more: it was
    /// [cancelled](Self::is_cancelled), or it was answered.
    ///
    /// A handler need not watch this, since cancelling drops it where it waits. It is for what a
    /// handler started elsewhere.
    pub async fn cancelled(&self) {
        poll_fn(|cx| {
            let mut waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if self.is_over() {
                return Poll::Ready(());
            }
            if !waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
                waiting.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }

    /// Whether nobody waits for the call any more.
    pub(crate) fn is_over(&self) -> bool {
        self.0.over.load(Ordering::Acquire)
    }

    /// The call was answered, or cancelled. Only the first time counts.
    pub(crate) fn end(&self, cancelled: bool) {
        let mut waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_over() {
            return;
        }
        self.0.cancelled.store(cancelled, Ordering::Release);
        self.0.over.store(true, Ordering::Release);
        let waiting = core::mem::take(&mut *waiting);
        for waker in waiting {
            waker.wake();
        }
    }

    /// What was asked on this call, and told.
    pub(crate) fn asked(&self) -> &Asked {
        &self.0.asked
    }

    /// The same call, to be run again with what `call` knows by now.
    pub(crate) fn again(&self, call: Call) -> Self {
        Self::new(self.0.id, call, self.0.parts.clone(), self.0.outbox.clone())
    }

    /// Has something done, unless the call is over.
    pub(crate) fn send(&self, command: Command) {
        if !self.is_over() {
            self.0.outbox.send(self.0.id, command);
        }
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exchange({}, {})", self.0.id, self.0.call.operation())
    }
}

/// A log message on its way; it goes when this is dropped.
#[derive(Debug)]
pub struct Log<'a> {
    exchange: &'a Exchange,
    message: Option<LogMessage>,
}

impl Log<'_> {
    /// Says who logs.
    pub fn logger(mut self, name: impl Into<String>) -> Self {
        if let Some(message) = &mut self.message {
            message.logger = Some(name.into());
        }
        self
    }
}

impl Drop for Log<'_> {
    fn drop(&mut self) {
        if let Some(message) = self.message.take() {
            self.exchange.send(Command::Log(message));
        }
    }
}

/// A report of progress on its way; it goes when this is dropped.
#[derive(Debug)]
pub struct ProgressReport<'a> {
    exchange: &'a Exchange,
    report: Option<Progress>,
}

impl ProgressReport<'_> {
    /// Says what is being done. Revisions without messages leave it out.
    pub fn message(mut self, text: impl Into<String>) -> Self {
        if let Some(report) = &mut self.report {
            report.message = Some(text.into());
        }
        self
    }
}

impl Drop for ProgressReport<'_> {
    fn drop(&mut self) {
        if let Some(report) = self.report.take() {
            self.exchange.send(Command::Progress(report));
        }
    }
}

/// A number of any primitive type, for [`Exchange::progress`].
pub trait Amount {
    /// The number; what a double cannot hold exactly is rounded.
    fn amount(self) -> f64;
}

/// How much there is to do, if anybody knows: an [`Amount`] or `None`.
pub trait Total {
    /// The number, if there is one.
    fn total(self) -> Option<f64>;
}

macro_rules! amounts {
    ($($number:ty)*) => {$(
        impl Amount for $number {
            fn amount(self) -> f64 {
                self as f64
            }
        }

        impl Total for $number {
            fn total(self) -> Option<f64> {
                Some(self as f64)
            }
        }
    )*};
}

amounts!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64);

impl Total for Option<f64> {
    fn total(self) -> Option<f64> {
        self
    }
}
