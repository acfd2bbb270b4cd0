//! TCP's own probes: who forgot an idle connection is noticed, and who would forget it is kept from it.

use core::time::Duration;

use socket2::{SockRef, TcpKeepalive};

/// How long a connection idles before it is probed, and then between probes: below the time after which
/// common routers and balancers forget one, which is minutes.
const IDLE: Duration = Duration::from_secs(60);
const INTERVAL: Duration = Duration::from_secs(15);

/// Has the system probe the other end while the connection idles.
pub(crate) fn keep_alive<'a>(stream: impl Into<SockRef<'a>>) {
    let probes = TcpKeepalive::new().with_time(IDLE).with_interval(INTERVAL);
    // Only a socket that is gone already refuses, and reading from it will tell.
    let _ = stream.into().set_tcp_keepalive(&probes);
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::io;

    use mcp_proto::service::Listener;
    use mcp_proto::service::client::Dial;

    use super::*;

    fn is_probed<'a>(stream: impl Into<SockRef<'a>>) -> io::Result<bool> {
        let stream = stream.into();
        Ok(stream.keepalive()?
            && stream.tcp_keepalive_time()? == IDLE
            && stream.tcp_keepalive_interval()? == INTERVAL)
    }

    #[tokio::test]
    async fn connections_are_probed_at_both_ends() -> io::Result<()> {
        for address in ["127.0.0.1:0", "localhost:0"] {
            let mut listener = crate::TcpConnections::bind(address).await?;
            let at = listener.local_addr()?;
            let dialled = crate::Tokio::default().dial(at.ip().to_string(), at.port()).await?;
            let (accepted, _) = poll_fn(|cx| listener.poll_accept(cx)).await?;
            assert!(is_probed(dialled.get_ref())?);
            assert!(is_probed(accepted.get_ref())?);
        }
        Ok(())
    }
}
