//! Cancellations of a call that reach another worker than the one that runs it.

use super::CallId;
use super::calls::InFlight;
use super::core::Core;
use super::pending::Waiting;
use crate::effect::{Effect, Reply};
use crate::frame::envelope::RequestId;
use crate::model::Digest;
use crate::store::{Cursor, HubOp, Read};
use bytes::Bytes;
use core::time::Duration;

/// How long a cancellation waits for the worker that runs the call.
const CANCEL_TTL: Duration = Duration::from_secs(60);

/// Watches for a cancellation that reaches another worker.
#[derive(Debug)]
pub(crate) struct Watch {
    topic: String,
    cursor: Option<Cursor>,
}

impl Watch {
    /// Begins to watch for cancellations of a session's call.
    pub(crate) fn begin(core: &mut Core, session: &str, call: &InFlight) -> Self {
        let topic = topic(core, session, &call.request);
        core.emit(Effect::Hub(HubOp::Position { topic: topic.clone() }), Waiting::Watch(call.call));
        Self { topic, cursor: None }
    }

    /// The answer to the effect under way: whether the call was cancelled.
    pub(crate) fn settle(&mut self, core: &mut Core, call: CallId, reply: Option<Reply>) -> bool {
        match reply {
            Some(Reply::Position(cursor)) => self.cursor = Some(cursor),
            Some(Reply::Polled(polled)) => {
                if polled.iter().any(|it| matches!(it.read, Read::Messages { .. })) {
                    return true;
                }
                if !polled.is_empty() {
                    // The hub has forgotten the place.
                    self.cursor = None;
                }
            }
            // The hub failed: the call cannot be cancelled from elsewhere any more.
            _ => return false,
        }
        let Some(cursor) = &self.cursor else {
            let position = HubOp::Position { topic: self.topic.clone() };
            core.emit(Effect::Hub(position), Waiting::Watch(call));
            return false;
        };
        core.poll(vec![(self.topic.clone(), cursor.clone())], Waiting::Watch(call), None);
        false
    }
}

/// The cancellation of a session's call, on its way to the worker that runs it.
pub(crate) fn cancel(core: &Core, session: &str, request: &RequestId) -> HubOp {
    HubOp::Publish {
        topic: topic(core, session, request),
        message: Bytes::from_static(b"{}"),
        ttl: CANCEL_TTL,
        keep: 1,
    }
}

/// The longest id of a request that a topic spells out, in bytes of JSON.
const SPELT_OUT: usize = 64;

fn topic(core: &Core, session: &str, request: &RequestId) -> String {
    let request = match request.as_json() {
        short if short.len() <= SPELT_OUT => String::from_utf8_lossy(short),
        long => Digest::of_text(long).to_text().into(),
    };
    core.scope.key("call", &format!("{session}.{request}"))
}
