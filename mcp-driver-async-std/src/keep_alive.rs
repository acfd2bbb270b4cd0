//! Finding out that the other end is gone, though nobody says so.

use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};

/// After so much silence the system asks whether the other end is still there, and again so often.
const IDLE: Duration = Duration::from_secs(60);
const AGAIN: Duration = Duration::from_secs(15);

/// Has the system watch over a connection: a middlebox or a machine that went away says nothing, and
/// a stream that only waits would wait for ever.
pub(crate) fn keep_alive<S>(stream: &S)
where
    for<'a> SockRef<'a>: From<&'a S>,
{
    let alive = TcpKeepalive::new().with_time(IDLE).with_interval(AGAIN);
    // Only a socket that is gone already refuses, and reading from it will tell.
    let _ = SockRef::from(stream).set_tcp_keepalive(&alive);
}
