//! Calls that an application is running.

use super::CallId;
use crate::frame::envelope::{ProgressToken, RequestId};
use crate::model::{Call, LogLevel, LogMessage, Operation, Outcome, Progress, Text};
use crate::revision::{Adapter, Published};

/// One call under way: what its answer and its messages must be written with.
#[derive(Debug)]
pub(crate) struct InFlight {
    pub(crate) call: CallId,
    pub(crate) request: RequestId,
    pub(crate) adapter: Adapter,
    operation: Operation,
    target: Option<Text>,
    progress_token: Option<ProgressToken>,
    progress: Option<f64>,
    log_level: Option<LogLevel>,
}

impl InFlight {
    /// Remembers what is needed of `call`; `None` for a notification, which nothing answers.
    pub(crate) fn new(id: CallId, adapter: Adapter, call: &Call) -> Option<Self> {
        Some(Self {
            call: id,
            request: call.id.clone()?,
            adapter,
            operation: call.operation,
            target: call.target.clone(),
            progress_token: call.progress_token.clone(),
            progress: None,
            log_level: call.log_level,
        })
    }

    /// Appends the response, and returns its HTTP status.
    pub(crate) fn write(&self, published: &Published, outcome: &Outcome, out: &mut Vec<u8>) -> u16 {
        let tool = match self.operation {
            Operation::CallTool => {
                self.target.as_deref().and_then(|name| published.tool(&self.adapter, name))
            }
            _ => None,
        };
        self.adapter.write_outcome(out, published, &self.request, self.operation, tool, outcome)
    }

    /// Whether `progress` is to be sent: the client asked for it, and it exceeds what was sent
    /// (R24-PROG-01, R24-PROG-02).
    pub(crate) fn admit(&mut self, progress: &Progress) -> Option<&ProgressToken> {
        let token = self.progress_token.as_ref()?;
        let rises = self.progress.is_none_or(|last| progress.progress > last);
        if !rises || !progress.progress.is_finite() {
            return None;
        }
        self.progress = Some(progress.progress);
        Some(token)
    }

    /// Whether the client wants `message` for this call (R26-LOG-04).
    pub(crate) fn wants(&self, message: &LogMessage) -> bool {
        self.log_level.is_some_and(|least| message.level >= least)
    }
}
