//! The messages of one call, wherever they come from: its stream is taken up again where it breaks,
//! on another worker, until the call has ended.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_proto::revision::Revision;
use serde_json::{Value, json};

use super::raw::{Caller, Response};
use super::{World, breathe};
use crate::ledger::{Call, End};

/// How long a stream may be taken up again and again without saying how its call ended.
const PATIENCE: Duration = Duration::from_secs(45);

/// One call.
pub(crate) struct Following<'a> {
    caller: &'a mut Caller,
    id: Value,
    response: Option<Response>,
    /// The last event that came.
    from: Option<String>,
    call: Call<'a>,
    since: Instant,
}

/// The next of a call.
pub(crate) enum Heard {
    /// A message before its end.
    Message(Value),
    /// Its result.
    Result(Value),
    /// It has ended without one.
    Over,
}

impl<'a> Following<'a> {
    /// Calls a tool. Progress is asked for.
    pub(crate) async fn begin(
        world: &'a Arc<World>,
        caller: &'a mut Caller,
        tool: &str,
        arguments: &Value,
    ) -> Self {
        let params = json!({
            "name": tool, "arguments": arguments, "_meta": { "progressToken": "p" },
        });
        let (id, message) = caller.request("tools/call", params);
        let call = world.ledger.calls.begin(format!("{tool} {id} of {}", caller.revision));
        let response = caller.post(&message, Some(tool)).await.ok();
        Self { caller, id, response, from: None, call, since: Instant::now() }
    }

    /// The id of the request.
    pub(crate) fn id(&self) -> &Value {
        &self.id
    }

    pub(crate) async fn next(&mut self) -> Heard {
        loop {
            let event = match &mut self.response {
                Some(response) => response.next().await.ok().flatten(),
                None => None,
            };
            let Some(event) = event else {
                if let Some(response) = self.response.take() {
                    self.caller.done(response);
                }
                if !self.resume().await {
                    return Heard::Over;
                }
                continue;
            };
            self.since = Instant::now();
            self.from = event.id.or(self.from.take());
            let Some(message) = event.message else { continue };
            if message["id"] != self.id || message.get("method").is_some() {
                return Heard::Message(message);
            }
            let result = message.get("result").cloned();
            self.call.end(if result.is_some() { End::Result } else { End::Error });
            if result.is_none() {
                self.caller.world.ledger.calls.error(&message["error"]);
            }
            return result.map_or(Heard::Over, Heard::Result);
        }
    }

    /// Comes back for the rest; false where there is nothing to come back for.
    async fn resume(&mut self) -> bool {
        let Some(from) = self.from.clone().filter(|_| resumes(self.caller.revision)) else {
            self.call.end(End::Broken);
            return false;
        };
        if self.since.elapsed() > PATIENCE {
            self.caller.world.ledger.calls.fault(format!(
                "{} of {} never ended, though its stream was taken up from {from}",
                self.id, self.caller.revision
            ));
            self.call.end(End::Broken);
            return false;
        }
        breathe().await;
        self.response = self.caller.get(Some(&from)).await.ok();
        if self.response.is_some() {
            self.caller.world.ledger.calls.resumed();
        }
        true
    }

    /// Waits until its stream ends, on which nothing may come any more: it was cancelled. Only if its
    /// worker was lost before that may its client be told.
    pub(crate) async fn silence(&mut self) {
        while let Some(response) = &mut self.response {
            match response.next().await {
                Ok(Some(event)) => {
                    let message = event.message.unwrap_or_default();
                    if !message.is_null() && message.get("error").is_none() {
                        let fault = format!("{} was cancelled, and went on: {message}", self.id);
                        self.caller.world.ledger.calls.fault(fault);
                    }
                }
                Ok(None) | Err(_) => self.response = None,
            }
        }
    }

    /// It was cancelled.
    pub(crate) fn cancelled(mut self) {
        self.call.end(End::Cancelled);
    }
}

/// Where streams can be taken up again.
fn resumes(revision: Revision) -> bool {
    !matches!(revision, Revision::V2024_11_05 | Revision::V2026_07_28)
}
