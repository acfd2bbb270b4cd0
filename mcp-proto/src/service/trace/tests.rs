use core::fmt;
use core::task::{Context, Poll, Waker};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Metadata, Subscriber};

use super::super::support::call;
use super::super::{Dispatched, Error, Outbox, Registry, Service, tool};
use super::*;
use crate::effect::{EffectError, Reply};
use crate::model::{Json, Operation};
use crate::server::CallId;

/// What was recorded: spans and events, with their fields.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<Fields>>>);

type Fields = BTreeMap<String, String>;

struct Into<'a>(&'a mut Fields);

impl Visit for Into<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "mcp"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut all = self.0.lock().unwrap();
        all.push(Fields::from([("is".into(), span.metadata().name().into())]));
        span.record(&mut Into(all.last_mut().unwrap()));
        Id::from_u64(all.len() as u64)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let at = usize::try_from(span.into_u64()).unwrap() - 1;
        values.record(&mut Into(&mut self.0.lock().unwrap()[at]));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::from([("is".into(), event.metadata().level().to_string())]);
        event.record(&mut Into(&mut fields));
        self.0.lock().unwrap().push(fields);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn recorded(work: impl FnOnce()) -> Vec<Fields> {
    // While there is but one subscriber, a span that another test's thread is the first to reach is
    // asked of that thread, which has none, and is off for all of them. So there are more.
    static OTHERS: OnceLock<[Dispatch; 2]> = OnceLock::new();
    OTHERS.get_or_init(|| [(); 2].map(|()| Dispatch::new(Recorder::default())));
    let recorder = Recorder::default();
    tracing::subscriber::with_default(recorder.clone(), work);
    let all = recorder.0.lock().unwrap();
    all.clone()
}

fn service() -> Service {
    async fn fails() -> Result<String, Error> {
        Err(Error::tool("a secret of the tool"))
    }
    async fn says() -> &'static str {
        tracing::info!(target: "mcp", "from the handler");
        "a secret of the result"
    }
    Registry::new("traced", "1")
        .tool(tool("says", says))
        .tool(tool("fails", fails))
        .tool(tool("waits", std::future::pending::<String>))
        .build()
        .expect("valid")
}

/// Begins a call of a tool, and polls it once.
fn run(target: &str, change: impl FnOnce(&mut Call)) {
    let mut call = call(Operation::CallTool, target, r#"{"password":"hunter2"}"#);
    change(&mut call);
    let dispatched = service().dispatch(CallId(1), call, || None, &Outbox::new());
    if let Dispatched::Running(mut running) = dispatched {
        let _ = Pin::new(&mut running).poll(&mut Context::from_waker(Waker::noop()));
    }
}

#[test]
fn each_call_is_a_span_with_what_was_called_and_what_came_of_it() {
    for (target, outcome) in [
        ("says", "ok"),
        ("fails", "tool_error"),
        ("waits", "cancelled"),
        ("nothing", "unknown_target"),
    ] {
        let all = recorded(|| run(target, |_| {}));
        let span = &all[0];
        for (name, value) in [
            ("is", "call"),
            ("operation", "call_tool"),
            ("target", target),
            ("revision", "a-revision"),
            ("request_id", "1"),
            ("outcome", outcome),
        ] {
            assert_eq!(span.get(name).map(String::as_str), Some(value), "{target}: {span:?}");
        }
        let text = format!("{all:?}");
        assert!(!text.contains("hunter2") && !text.contains("secret"), "{text}");
        assert_eq!(all.len(), if target == "says" { 2 } else { 1 });
    }
}

/// R26-META-15.
#[test]
fn a_span_names_the_trace_that_the_client_sent_and_keeps_its_baggage_out() {
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let params = format!(
        r#"{{"_meta":{{"traceparent":"{parent}","tracestate":"a=1","baggage":"user=ada"}}}}"#
    );
    let all = recorded(|| run("says", |call| call.params = Some(Json::scanned(params.into()))));
    assert_eq!(all[0]["traceparent"], parent);
    assert_eq!(all[0]["tracestate"], "a=1");
    assert!(!format!("{all:?}").contains("ada"));
}

#[test]
fn what_fails_to_do_an_effect_is_told_with_its_reason() {
    let down = || Err(EffectError::Unavailable("redis://cache is not reachable".into()));
    let all = recorded(|| {
        let _ = watch("hub", Execution::Done(down()));
        if let Execution::Later(mut reply) =
            watch("session store", Execution::Later(Box::pin(async move { down() })))
        {
            let cx = &mut Context::from_waker(Waker::noop());
            assert!(matches!(reply.as_mut().poll(cx), Poll::Ready(Err(_))));
        }
        let _ = watch("hub", Execution::Done(Ok(Reply::Deleted)));
    });
    let told: Vec<_> = all.iter().map(|event| (&*event["is"], &*event["doer"])).collect();
    assert_eq!(told, [("WARN", "hub"), ("WARN", "session store")]);
    assert!(all.iter().all(|event| event["error"] == "redis://cache is not reachable"));
}
