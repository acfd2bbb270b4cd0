//! The client's side.

use super::{Pair, Way};
use crate::client::{Carry, Config, ExchangeId, Machine, Open, Session, Stdio};
use crate::service::Threading;
use crate::time::Instant;

/// The client's machine.
#[expect(clippy::large_enum_variant, reason = "there is one of them in a pair")]
pub(super) enum Near {
    Stdio(Stdio),
    Http(Session),
}

impl Near {
    pub(super) fn new(way: Way, config: Config) -> Self {
        let http = |path| {
            let url = format!("http://localhost{path}");
            Session::new(config.clone(), &url, Instant::ZERO).expect("a valid URL")
        };
        let [stream, _] = Pair::<crate::service::Shared>::SSE_PATHS;
        match way {
            Way::Stdio => Self::Stdio(Stdio::new(config, Instant::ZERO)),
            Way::Http => Self::Http(http(Pair::<crate::service::Shared>::PATH)),
            Way::HttpSse => Self::Http(http(stream)),
        }
    }

    pub(super) fn machine(&mut self) -> &mut dyn Machine {
        match self {
            Self::Stdio(client) => client,
            Self::Http(session) => session,
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Stdio(client) => client.poll_timeout(),
            Self::Http(session) => session.poll_timeout(),
        }
    }
}

impl<M: Threading> Pair<M> {
    /// Does for the client what it wants its messages' carrier to do.
    pub(super) fn carry(&mut self, what: Carry) {
        match what {
            Carry::Respawn => {
                for wire in self.wires.keys().copied().collect::<Vec<_>>() {
                    self.drop_wire(wire);
                }
                self.connect();
                let now = self.now();
                if let Near::Stdio(client) = &mut self.near {
                    client.handle_respawned(now);
                }
            }
            Carry::Open(open) => self.open(open),
            Carry::Close(exchange) => self.close_exchange(exchange),
        }
    }

    fn open(&mut self, open: Open) {
        let now = self.now();
        if self.random.one_in(self.repeats) {
            self.repeat(&open);
        }
        let wire = self.idle_wire().unwrap_or_else(|| self.connect());
        let Near::Http(session) = &mut self.near else { return };
        let near = self.wires.get_mut(&wire).and_then(|wire| wire.near.as_mut());
        if near.is_some_and(|near| near.open(session.url(), &open, &[]).is_err()) {
            session.handle_failed(now, open.exchange, false, "cannot be sent");
        }
        self.seen.requests.push(open);
    }

    fn close_exchange(&mut self, exchange: ExchangeId) {
        let now = self.now();
        let found = self.wires.iter_mut().find_map(|(id, wire)| {
            let near = wire.near.as_mut().filter(|near| near.exchange() == Some(exchange))?;
            near.close(now, exchange);
            Some(*id)
        });
        if let Some(wire) = found {
            self.drop_wire(wire);
        }
    }
}
