//! What the tests of this layer share: calls out of nothing, and an executor of ten lines.

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};

use bytes::Bytes;

use super::{Command, Dispatched, Outbox, Parts, Service, Threading};
use crate::frame::envelope::{ProgressToken, RequestId};
use crate::model::{
    Asking, Call, ClientProfile, Completing, Detail, Failure, Json, Keeping, LogLevel, Operation,
    Outcome, ToolResult, Value,
};
use crate::server::CallId;

pub(crate) fn call(operation: Operation, target: &str, arguments: &str) -> Call {
    Call {
        operation,
        revision: "a-revision",
        id: Some(RequestId::from(1)),
        method: operation.as_str().into(),
        target: Some(target.to_owned().into()),
        arguments: Some(Json::parse(Bytes::from(arguments.to_owned())).expect("JSON")),
        params: None,
        detail: Detail::None,
        client: ClientProfile::default(),
        progress_token: Some(ProgressToken::from(7)),
        log_level: Some(LogLevel::Info),
        raw: Json::scanned("{}".into()),
        asking: Asking::default(),
        answers: Vec::new(),
        state_id: None,
        round: None,
        session: None,
        principal: None,
        keeping: Keeping::default(),
    }
}

pub(crate) fn completing(completing: Completing) -> Call {
    let detail = Detail::Completing(Box::new(completing));
    Call { detail, ..call(Operation::Complete, "", "{}") }
}

/// Runs a call to its outcome, as if nothing else happened.
pub(crate) fn outcome<M: Threading>(service: &Service<M>, call: Call) -> Outcome {
    said(service, call, None).0
}

/// Runs a call; its outcome, and what it said before.
pub(crate) fn said<M: Threading>(
    service: &Service<M>,
    call: Call,
    parts: Option<Parts>,
) -> (Outcome, Vec<Command>) {
    let outbox = Outbox::new();
    let outcome = match service.dispatch(CallId(1), call, || parts, &outbox) {
        Dispatched::Done(outcome) => outcome,
        Dispatched::Running(running) => block_on(running).1.expect("it was not cancelled"),
    };
    let commands = core::iter::from_fn(|| outbox.pop()).map(|(_, command)| command).collect();
    (outcome, commands)
}

/// The result of a tool.
pub(crate) fn tool<M: Threading>(service: &Service<M>, name: &str, arguments: &str) -> ToolResult {
    match outcome(service, call(Operation::CallTool, name, arguments)) {
        Outcome::Value(Value::Tool(result)) => result,
        other => panic!("no tool result: {other:?}"),
    }
}

pub(crate) fn failure(outcome: Outcome) -> Failure {
    match outcome {
        Outcome::Failure(failure) => failure,
        other => panic!("no failure: {other:?}"),
    }
}

/// Polls a future that nothing outside of it wakes.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..100_000 {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
    }
    panic!("the future waits for something that does not come");
}
