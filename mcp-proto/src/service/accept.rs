//! Accepts connections, until it is told to stop, and sees them to their ends.

use core::future::{Future, poll_fn};
use core::net::{IpAddr, Ipv6Addr, SocketAddr};
use core::pin::{Pin, pin};
use core::task::{Context, Poll};
use core::time::Duration;
use std::io::{self, ErrorKind};

use super::crowd::{Crowd, Member};
use super::notices::Notices;
use super::{Listener, Runtime, Threading, Timer};
use crate::server::{Bound, Notice};

/// How long to wait after an error that will come again at once, such as too many open files;
/// doubles up to [`LONGEST_PAUSE`].
const PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// How many connections one poll accepts before other tasks get their turn.
const AT_ONCE: usize = 64;

/// On what terms requests come and go.
#[derive(Clone)]
pub(crate) struct Terms {
    /// How many connections, or exchanges under a web framework, there are at once.
    pub(crate) most: usize,
    /// How many connections there are at once from one network; `None` for as many as there may be.
    pub(crate) most_per_peer: Option<usize>,
    /// How long calls may run on at the end.
    pub(crate) grace: Duration,
    pub(crate) notices: Notices,
}

/// How connections are accepted and ended.
pub(crate) struct Acceptor<'a, R> {
    pub(crate) runtime: &'a R,
    /// Further connections than these allow wait in the system's queue.
    pub(crate) terms: Terms,
}

impl<R> Acceptor<'_, R> {
    /// Hands each connection to `serve`, until `until` is done; then waits for those that are
    /// open, and cuts off who stays too long.
    pub(crate) async fn run<L: Listener, M: Threading>(
        &self,
        listener: L,
        until: impl Future<Output = ()>,
        mut serve: impl FnMut(L::Stream, SocketAddr, Member),
    ) where
        R: Runtime<M>,
    {
        let crowd = Crowd::default();
        let mut timer = pin!(self.runtime.timer());
        {
            let mut until = pin!(until);
            let mut listener = listener;
            let mut pause = None;
            poll_fn(|cx| {
                if until.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(());
                }
                for _ in 0..AT_ONCE {
                    match self.poll_accept(&mut listener, &crowd, timer.as_mut(), &mut pause, cx) {
                        Poll::Ready((stream, peer)) => match self.admit::<M>(&crowd, peer) {
                            Some(member) => serve(stream, peer, member),
                            // Closing it is the answer: who has so many knows why.
                            None => drop(stream),
                        },
                        Poll::Pending => return Poll::Pending,
                    }
                }
                cx.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
        }
        timer.as_mut().reset(self.runtime.now() + self.terms.grace);
        if !crowd.drain(timer).await {
            self.terms
                .notices
                .say(|| "connections were cut off: their calls did not end in time".into());
        }
    }

    fn admit<M: Threading>(&self, crowd: &Crowd, peer: SocketAddr) -> Option<Member>
    where
        R: Runtime<M>,
    {
        let Some(most) = self.terms.most_per_peer else { return Some(crowd.enter()) };
        let member = crowd.enter_from(network(peer.ip()), most);
        if member.is_none() {
            self.terms.notices.tell(self.runtime.now(), &Notice::Bound(Bound::PeerConnections));
        }
        member
    }

    fn poll_accept<L: Listener, M: Threading>(
        &self,
        listener: &mut L,
        crowd: &Crowd,
        mut timer: Pin<&mut R::Timer>,
        pause: &mut Option<Duration>,
        cx: &mut Context<'_>,
    ) -> Poll<(L::Stream, SocketAddr)>
    where
        R: Runtime<M>,
    {
        loop {
            if pause.is_some() && timer.as_mut().poll_elapsed(cx).is_pending() {
                return Poll::Pending;
            }
            if crowd.poll_fewer_than(self.terms.most, cx).is_pending() {
                let full = Notice::Bound(Bound::Connections);
                self.terms.notices.tell(self.runtime.now(), &full);
                return Poll::Pending;
            }
            match listener.poll_accept(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(accepted)) => {
                    *pause = None;
                    return Poll::Ready(accepted);
                }
                Poll::Ready(Err(error)) if concerns_one_connection(&error) => {}
                Poll::Ready(Err(error)) => {
                    self.terms
                        .notices
                        .say(|| format!("no connection could be accepted, trying again: {error}"));
                    let next = pause.map_or(PAUSE, |pause| LONGEST_PAUSE.min(2 * pause));
                    timer.as_mut().reset(self.runtime.now() + next);
                    *pause = Some(next);
                }
            }
        }
    }
}

/// What a peer's address stands for: of IPv6, where anyone has 2^64 of them, the first half.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from(u128::from(address) >> 64 << 64).into(),
    }
}

/// The connection was gone before it was accepted.
fn concerns_one_connection(error: &io::Error) -> bool {
    use ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted)
}

#[cfg(test)]
mod tests;
