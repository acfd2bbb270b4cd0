//! An exchange that goes on: at first within the framework's call, then by itself.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

use http::Extensions;

use super::pipe::{Room, Writer};
use crate::server::{Bound, Endpoint, HttpExchange, Machine, Notice};
use crate::service::crowd::{Member, Stage};
use crate::service::drive::{Carried, Drive};
use crate::service::host::Carrier;
use crate::service::work::Work;
use crate::service::{Host, Parts, Runtime, Threading};
use crate::time::Instant;

/// An exchange whose reply is a stream, or whose client is gone while its calls go on. Its reader
/// holds up neither handlers nor timers, so it is [detached](Runtime::detach); that it can be is
/// why it has a name.
pub struct Ongoing<R: Runtime<M>, M: Threading> {
    pub(super) drive: Drive<HttpExchange<Parts>, R, M>,
    runtime: Host<R, M>,
    /// Where the stream goes; `None` while there is none, and once nobody reads it any more.
    pipe: Option<Writer>,
    /// Its place among those that a shutdown waits for.
    member: Option<Member>,
    woken: Option<Waker>,
    stopping: bool,
    /// Since when the reader takes nothing.
    stalled: Option<Instant>,
}

impl<R: Runtime<M>, M: Threading> Ongoing<R, M> {
    pub(super) fn new(host: &Host<R, M>, endpoint: &Endpoint, head: Parts, member: Member) -> Self {
        let runtime = host.runtime();
        let machine = HttpExchange::new(endpoint, runtime.now(), head);
        let work = Work::new(host.clone(), Extensions::new());
        Self {
            drive: Drive::new(machine, work, runtime.timer()),
            runtime: host.clone(),
            pipe: None,
            member: Some(member),
            woken: None,
            stopping: false,
            stalled: None,
        }
    }

    pub(super) fn host(&self) -> &Host<R, M> {
        &self.runtime
    }

    /// What it says from now on goes there.
    pub(super) fn into_pipe(mut self, pipe: Writer) -> Self {
        self.pipe = Some(pipe);
        self
    }

    /// Nobody hears what it says from now on, and no shutdown waits for it.
    pub(super) fn unheard(mut self) -> Self {
        self.pipe = None;
        self.member = None;
        self
    }

    /// Learns of a shutdown: nothing waits any more, calls go on. Whether its time is over.
    pub(super) fn is_over(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(member) = &self.member else { return false };
        if !self.stopping && member.poll_until(Stage::Draining, &mut self.woken, cx).is_ready() {
            self.stopping = true;
            self.drive.machine.close();
        }
        member.poll_until(Stage::Over, &mut self.woken, cx).is_ready()
    }
}

impl<R: Runtime<M>, M: Threading> Unpin for Ongoing<R, M> {}

impl<R: Runtime<M>, M: Threading> Future for Ongoing<R, M> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if this.is_over(cx) {
            return Poll::Ready(());
        }
        if this.drive.work.is_given_up() {
            this.drive.work.tell(&Notice::Bound(Bound::Held));
            return Poll::Ready(());
        }
        let (pipe, member, stalled) = (&mut this.pipe, &mut this.member, &mut this.stalled);
        this.drive.poll(cx, |drive, now, cx| {
            let carried = match pipe {
                Some(writer) => carry(&mut drive.machine, writer, stalled, now, cx),
                None => {
                    drive.machine.transmit(&mut Vec::new());
                    return match drive.is_idle() {
                        true => Carried::Done(()),
                        false => Carried::Nothing(None),
                    };
                }
            };
            if let Carried::Done(end) = carried {
                match (pipe.take(), end) {
                    (Some(writer), End::Complete) => writer.end(),
                    (_, End::Stalled) => {
                        drive.work.tell(&Notice::Bound(Bound::Unread));
                        drive.machine.handle_closed(now);
                    }
                    _ => drive.machine.handle_closed(now),
                }
                *member = None;
                return Carried::Some;
            }
            match carried {
                Carried::Nothing(until) => Carried::Nothing(until),
                _ => Carried::Some,
            }
        })
    }
}

/// How a stream ends.
enum End {
    /// Everything was said.
    Complete,
    /// The reader is gone.
    Lost,
    /// The reader has read nothing for too long.
    Stalled,
}

/// Moves what the machine says into the pipe.
fn carry(
    machine: &mut HttpExchange<Parts>,
    pipe: &Writer,
    stalled: &mut Option<Instant>,
    now: Instant,
    cx: &Context<'_>,
) -> Carried<End> {
    match pipe.room(cx) {
        Room::Gone => Carried::Done(End::Lost),
        Room::None => {
            let since = *stalled.get_or_insert(now);
            match machine.patience().map(|patience| since + patience) {
                Some(until) if until <= now => Carried::Done(End::Stalled),
                until => Carried::Nothing(until),
            }
        }
        Room::Some => {
            *stalled = None;
            let wrote = pipe.write(|out| machine.transmit(out));
            match (machine.is_complete(), wrote) {
                (true, _) => Carried::Done(End::Complete),
                (false, true) => Carried::Some,
                (false, false) => Carried::Nothing(None),
            }
        }
    }
}

impl<R: Runtime<M>, M: Threading> fmt::Debug for Ongoing<R, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ongoing")
    }
}
