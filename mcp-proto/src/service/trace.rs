//! What happens, for who follows it with the crate `tracing` (feature `tracing`). Without it all of
//! this is nothing.
//!
//! Each call is a span `call` of target `mcp`, for as long as its handler lives. A store, a hub, a
//! verifier or a source of randomness that fails is an event of level `WARN`. Neither holds
//! arguments, results, tokens, ids of sessions or baggage.

#[cfg(feature = "tracing")]
use tracing::field::Empty;

use super::Execution;
use crate::effect::Effect;
use crate::model::{Call, Outcome};

/// The span of one call.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallSpan {
    #[cfg(feature = "tracing")]
    span: Option<tracing::Span>,
}

#[cfg(feature = "tracing")]
impl CallSpan {
    /// Begins with what the call says of itself. Its parent is the span that is current here.
    pub(crate) fn new(call: &Call) -> Self {
        let span = tracing::info_span!(
            target: "mcp",
            "call",
            operation = call.operation().as_str(),
            target = call.target(),
            revision = call.revision(),
            request_id = call.id().map(|id| display(String::from_utf8_lossy(id.as_json()))),
            outcome = Empty,
            traceparent = Empty,
            tracestate = Empty,
        );
        // It is parsed only for who reads it.
        if !span.is_disabled()
            && let Some(trace) = call.trace()
        {
            span.record("traceparent", trace.traceparent());
            span.record("tracestate", trace.tracestate());
        }
        Self { span: Some(span) }
    }

    /// Does `work` within the span.
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.span {
            Some(span) => span.in_scope(work),
            None => work(),
        }
    }

    /// What came of the call; `None` where it was cancelled.
    pub(crate) fn end(&self, outcome: Option<&Outcome>) {
        if let Some(span) = &self.span {
            span.record("outcome", name(outcome));
        }
    }
}

#[cfg(not(feature = "tracing"))]
impl CallSpan {
    pub(crate) fn new(_: &Call) -> Self {
        Self::default()
    }

    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }

    pub(crate) fn end(&self, _: Option<&Outcome>) {}
}

#[cfg(feature = "tracing")]
fn name(outcome: Option<&Outcome>) -> &'static str {
    use crate::model::Value;
    match outcome {
        None => "cancelled",
        Some(Outcome::Value(Value::Tool(result))) if result.is_error => "tool_error",
        Some(Outcome::Value(_)) => "ok",
        Some(Outcome::NeedsInput(_)) => "needs_input",
        Some(Outcome::Failure(failure)) => failure.kind.as_str(),
    }
}

/// Who does an effect.
pub(crate) fn doer(effect: &Effect) -> &'static str {
    match effect {
        Effect::Random => "source of randomness",
        Effect::Wall => "clock",
        Effect::Verify(_) => "token verifier",
        Effect::Session(_) => "session store",
        Effect::Hub(_) => "hub",
    }
}

/// Tells where `execution` fails, and what with.
#[cfg(feature = "tracing")]
pub(crate) fn watch(doer: &'static str, execution: Execution) -> Execution {
    fn tell<T>(doer: &'static str, reply: &Result<T, crate::effect::EffectError>) {
        if let Err(error) = reply {
            tracing::warn!(target: "mcp", doer, %error, "no answer of the {doer}");
        }
    }
    match execution {
        Execution::Done(reply) => {
            tell(doer, &reply);
            Execution::Done(reply)
        }
        Execution::Later(reply) => Execution::Later(Box::pin(async move {
            let reply = reply.await;
            tell(doer, &reply);
            reply
        })),
    }
}

#[cfg(not(feature = "tracing"))]
pub(crate) fn watch(_: &'static str, execution: Execution) -> Execution {
    execution
}

#[cfg(all(test, feature = "tracing"))]
mod tests;
