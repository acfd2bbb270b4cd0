//! A session in use is held: while something of it goes on, its record's life is renewed by a timer,
//! whether or not requests or news come.

use core::time::Duration;

use super::core::Core;
use super::pending::Waiting;
use crate::effect::Effect;
use crate::store::SessionOp;
use crate::time::Instant;

/// When a session is to be renewed next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hold(Instant);

impl Hold {
    /// Of a session that was renewed just now.
    pub(crate) fn new(core: &Core) -> Self {
        // Two renewals may fail before the session is lost.
        let pause = core.endpoint.limits().session_ttl / 3;
        Self(core.now + pause.max(Duration::from_millis(1)))
    }

    pub(crate) fn poll_timeout(self) -> Instant {
        self.0
    }

    /// Renews the session of that id, if it is time.
    pub(crate) fn handle_timeout(&mut self, core: &mut Core, session: &str) {
        if self.0 > core.now {
            return;
        }
        *self = Self::new(core);
        if !core.is_waiting(Waiting::Hold) {
            let renew = Some(core.endpoint.limits().session_ttl);
            let get = SessionOp::Get { id: core.scope.key("session", session), renew };
            core.emit(Effect::Session(get), Waiting::Hold);
        }
    }
}
