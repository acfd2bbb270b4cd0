//! What handlers take, return and fail with, called as a machine's driver calls them.

mod extensions;
mod fronts;
mod served;
pub(crate) mod talk;
mod warnings;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use serde_json::json;

use super::support::{block_on, call, completing, failure, outcome, said, tool as call_tool};
use super::*;
use crate::model::{
    Body, Call, Completing, Completion, Content, Contents, FailureKind, LogLevel, Operation,
    Outcome, PromptArgument, PromptMessage, PromptResult, Reference, ResourceResult, Role,
    ToolResult, Value,
};
use crate::server::CallId;

fn registry() -> Registry {
    Registry::new("test", "1")
}

fn read<M: Threading>(service: &Service<M>, uri: &str) -> Outcome {
    outcome(service, call(Operation::ReadResource, uri, "{}"))
}

fn contents<M: Threading>(service: &Service<M>, uri: &str) -> Vec<Contents> {
    match read(service, uri) {
        Outcome::Value(Value::Resource(result)) => result.contents,
        other => panic!("no contents: {other:?}"),
    }
}

#[test]
fn a_tool_returns_what_it_likes() {
    let service = registry()
        .tool(tool("unit", || async {}))
        .tool(tool("str", || async { "a" }))
        .tool(tool("string", || async { String::from("a") }))
        .tool(tool("json", || async { Json(vec![1, 2]) }))
        .tool(tool("block", || async { Content::text("a") }))
        .tool(tool("blocks", || async { vec![Content::text("a"), Content::text("b")] }))
        .tool(tool("result", || async { ToolResult::error("no") }))
        .tool(tool("ok", || async { Ok::<_, Error>("a") }))
        .build()
        .expect("valid");
    let call = |name| call_tool(&service, name, "{}");
    assert_eq!(call("unit"), ToolResult::default());
    for name in ["str", "string", "block", "ok"] {
        assert_eq!(call(name), ToolResult::text("a"), "{name}");
    }
    assert_eq!(call("json").structured.expect("a value").as_str(), "[1,2]");
    assert_eq!(call("blocks").content.len(), 2);
    assert!(call("result").is_error);
}

#[test]
fn a_tool_with_an_output_schema_gives_structured_content_unless_it_failed() {
    // R26-TOOL-11, C92
    let schema = || json!({ "type": "object" });
    let service = registry()
        .tool(tool("forgets", || async { "text" }).output_schema(schema()))
        .tool(tool("fails", || async { ToolResult::error("no") }).output_schema(schema()))
        .tool(tool("gives", || async { Json(json!({})) }).output_schema(schema()))
        .tool(tool("errs", || async { Err::<Json<Vec<u8>>, _>(Error::tool("no")) }))
        .build()
        .expect("valid");
    let forgot = outcome(&service, call(Operation::CallTool, "forgets", "{}"));
    assert_eq!(failure(forgot).kind, FailureKind::Internal);
    for name in ["fails", "errs"] {
        assert_eq!(call_tool(&service, name, "{}"), ToolResult::error("no"));
    }
    assert!(call_tool(&service, "gives", "{}").structured.is_some());
}

#[test]
fn a_validator_refuses_before_the_handler_runs_and_may_panic() {
    let check = |sent: &crate::model::Json| match sent.as_str() {
        "{}" => Err("`a` is missing".to_owned()),
        "[]" => panic!("no"),
        _ => Ok(()),
    };
    let declared = tool("t", |_: RawArgs| async { "ran" }).input_schema(json!({}));
    let service = registry().tool(declared.validator(check)).build().expect("valid");
    let refused = failure(outcome(&service, call(Operation::CallTool, "t", "{}")));
    assert_eq!(refused.kind, FailureKind::InvalidArguments);
    assert!(refused.message.contains("`t`: `a` is missing"), "{refused}");
    let panicked = failure(outcome(&service, call(Operation::CallTool, "t", "[]")));
    assert_eq!((panicked.kind, &*panicked.message), (FailureKind::Internal, "internal error"));
    assert_eq!(call_tool(&service, "t", r#"{"a":1}"#), ToolResult::text("ran"));
}

#[test]
fn a_resource_returns_what_it_likes_under_its_own_uri_and_media_type() {
    // R26-RSRC-04, R26-RSRC-14
    let part = || Contents::text("a:part", "x").with_mime_type("text/x");
    let service = registry()
        .resource("a:text", || async { "t" })
        .resource("a:typed", resource(|| async { String::from("t") }).mime_type("text/t"))
        .resource("a:json", || async { Json(json!({ "n": 1 })) })
        .resource("a:bytes", || async { vec![1_u8, 2] })
        .resource("a:shared", || async { Bytes::from_static(&[1, 2]) })
        .resource("a:parts", resource(move || async move { vec![part(), part()] }).mime_type("m/m"))
        .resource("a:maybe", || async { Some("t") })
        .resource("a:gone", || async { None::<String> })
        .build()
        .expect("valid");
    let one = |uri: &str| match &contents(&service, uri)[..] {
        [one] => (one.uri.clone(), one.mime_type.clone(), one.body.clone()),
        other => panic!("one contents: {other:?}"),
    };
    let text = |text: &str| Body::Text(text.into());
    assert_eq!(one("a:text"), ("a:text".into(), None, text("t")));
    assert_eq!(one("a:typed"), ("a:typed".into(), Some("text/t".into()), text("t")));
    let json = ("a:json".into(), Some("application/json".into()), text(r#"{"n":1}"#));
    assert_eq!(one("a:json"), json);
    for uri in ["a:bytes", "a:shared"] {
        assert_eq!(one(uri).2, Body::Blob(Bytes::from_static(&[1, 2])));
    }
    assert_eq!(one("a:maybe").2, text("t"));
    let parts = contents(&service, "a:parts");
    assert!(parts.len() == 2 && parts[0].mime_type.as_deref() == Some("text/x"));
    let gone = failure(read(&service, "a:gone"));
    assert_eq!(gone.kind, FailureKind::ResourceNotFound);
    assert_eq!(gone, failure(read(&service, "a:gone")));
}

#[test]
fn what_is_not_there_is_answered_by_its_kind() {
    // R26-TOOL-06, R24-PRMT-06, R26-RSRC-11, R26-RSRC-12
    let service = registry().build().expect("empty, and fine");
    let kind = |operation| failure(outcome(&service, call(operation, "x:y", "{}"))).kind;
    assert_eq!(kind(Operation::CallTool), FailureKind::UnknownTarget);
    assert_eq!(kind(Operation::GetPrompt), FailureKind::UnknownTarget);
    assert_eq!(kind(Operation::ReadResource), FailureKind::ResourceNotFound);
    assert_eq!(kind(Operation::Extension), FailureKind::UnknownMethod);
    let data = failure(read(&service, "x:\"y")).data.expect("the URI");
    assert_eq!(data.as_str(), r#"{"uri":"x:\"y"}"#);
}

#[test]
fn templates_hand_in_decoded_variables_and_a_resource_of_that_uri_comes_first() {
    // C95, R26-RSRC-16
    let service = registry()
        .resource("db://t/exact", || async { "exact" })
        .resource_template(
            "db://t/{name}",
            resource(|variables: Variables, Uri(uri): Uri| async move {
                format!("{} of {uri}", variables.get("name").unwrap_or_default())
            })
            .mime_type("text/plain"),
        )
        .build()
        .expect("valid");
    assert_eq!(contents(&service, "db://t/exact")[0].body, Body::Text("exact".into()));
    let read_one = &contents(&service, "db://t/a%20b")[0];
    assert_eq!(read_one.body, Body::Text("a b of db://t/a%20b".into()));
    assert_eq!(read_one.uri, "db://t/a%20b");
    assert_eq!(read_one.mime_type.as_deref(), Some("text/plain"));
    for outside in ["db://t/../x", "db://t/%2e%2e", "dc://t/exact", "", "::"] {
        assert_eq!(failure(read(&service, outside)).kind, FailureKind::ResourceNotFound);
    }
}

#[test]
fn a_prompt_returns_messages_and_needs_its_required_arguments() {
    // R24-PRMT-04, R24-PRMT-06, R24-PRMT-07
    let mut topic = PromptArgument::new("topic");
    topic.required = true;
    let service = registry()
        .prompt(prompt("text", || async { "say hello" }))
        .prompt(prompt("talk", || async {
            vec![PromptMessage::user("hi"), PromptMessage::assistant("hello")]
        }))
        .prompt(
            prompt("raw", |RawArgs(sent): RawArgs| async move { sent.to_string() }).argument(topic),
        )
        .build()
        .expect("valid");
    let get = |name, arguments| outcome(&service, call(Operation::GetPrompt, name, arguments));
    let hello: Outcome = PromptResult::new([PromptMessage::user("say hello")]).into();
    assert_eq!(get("text", "{}"), hello);
    let Outcome::Value(Value::Prompt(talk)) = get("talk", "{}") else { panic!("messages") };
    assert_eq!(talk.messages[1].role, Role::Assistant);
    let missing = failure(get("raw", r#"{"other":"x"}"#));
    assert_eq!(missing.kind, FailureKind::InvalidParams);
    assert!(missing.message.contains("`topic`"), "{missing}");
    let sent: Outcome = PromptResult::new([PromptMessage::user(r#"{"topic":"x"}"#)]).into();
    assert_eq!(get("raw", r#"{"topic":"x"}"#), sent);
}

/// R24-PRMT-03; clients send numbers and booleans as they are.
#[test]
fn scalars_are_taken_for_arguments_of_a_prompt_as_their_text() {
    let mut n = PromptArgument::new("n");
    n.required = true;
    let declare = || {
        registry().prompt(
            prompt("raw", |RawArgs(sent): RawArgs| async move { sent.to_string() })
                .argument(n.clone()),
        )
    };
    let service = declare().build().expect("valid");
    let get = |arguments| outcome(&service, call(Operation::GetPrompt, "raw", arguments));
    for (arguments, sent) in [
        (r#"{"n":5}"#, r#"{"n":"5"}"#),
        (r#"{"n":-1.50e3}"#, r#"{"n":"-1.50e3"}"#),
        (r#"{"n":true,"o":null}"#, r#"{"n":"true"}"#),
        (r#"{"n":"x"}"#, r#"{"n":"x"}"#),
    ] {
        let expected: Outcome = PromptResult::new([PromptMessage::user(sent)]).into();
        assert_eq!(get(arguments), expected, "{arguments}");
    }
}

#[test]
fn completions_are_for_what_exists() {
    // C107, R2503-CMPL-05
    async fn complete(completing: Completing) -> Vec<String> {
        vec![format!("{}={}", completing.argument, completing.value)]
    }
    let declare = || {
        registry().prompt(prompt("p", || async { "" })).resource_template("a:{b}", || async { "" })
    };
    let with = declare().completions(complete).build().expect("valid");
    let without = declare().build().expect("valid");
    let ask = |service: &Service, reference| {
        let completing_ =
            Completing { reference, argument: "b".into(), value: "x".into(), context: Vec::new() };
        outcome(service, completing(completing_))
    };
    let prompt = |name: &str| Reference::Prompt(name.into());
    let resource = |uri: &str| Reference::Resource(uri.into());
    let suggested: Outcome = Completion::new(["b=x"]).into();
    for reference in [prompt("p"), resource("a:{b}"), resource("a:c")] {
        assert_eq!(ask(&with, reference), suggested);
    }
    assert_eq!(ask(&without, prompt("p")), Completion::default().into());
    for reference in [prompt("nope"), resource("b:{c}")] {
        assert_eq!(failure(ask(&with, reference)).kind, FailureKind::InvalidParams);
    }
    let nothing = call(Operation::Complete, "", "{}");
    assert_eq!(failure(outcome(&with, nothing)).kind, FailureKind::InvalidParams);
}

#[test]
fn errors_tell_the_client_what_a_handler_put_there_and_nothing_else() {
    // R26-TOOL-06
    let told = Arc::new(Mutex::new(Vec::new()));
    let telling = Arc::clone(&told);
    let service = registry()
        .tool(tool("tool", || async { Err::<(), _>(Error::tool("bring a towel")) }))
        .tool(tool("code", || async {
            Err::<(), _>(Error::protocol(FailureKind::Custom(-31_999), "no towel"))
        }))
        .tool(tool("foreign", || async { Ok::<_, Error>(String::from_utf8(vec![0xff])?) }))
        .tool(tool("panic", || async {
            let password = "hunter2";
            panic!("{password}");
            #[allow(unreachable_code)]
            ""
        }))
        .on_error(move |report| {
            let target = report.target.unwrap_or_default();
            telling.lock().unwrap().push(format!("{target}: {}", report.error));
        })
        .build()
        .expect("valid");
    assert_eq!(call_tool(&service, "tool", "{}"), ToolResult::error("bring a towel"));
    let fail = |name| failure(outcome(&service, call(Operation::CallTool, name, "{}")));
    assert_eq!(fail("code").kind, FailureKind::Custom(-31_999));
    for name in ["foreign", "panic"] {
        let failure = fail(name);
        assert_eq!((failure.kind, &*failure.message), (FailureKind::Internal, "internal error"));
    }
    let told = told.lock().unwrap();
    assert!(told[0].starts_with("foreign: invalid utf-8"), "{told:?}");
    assert_eq!(told[1], "panic: the handler panicked: hunter2");
    assert_eq!(told.len(), 2);
}

/// Counts how many there are.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[test]
fn what_is_provided_is_made_once_for_a_call_and_gone_when_it_ends() {
    let (made, alive) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (making, living) = (Arc::clone(&made), Arc::clone(&alive));
    let service = registry()
        .provide::<Counted>(move |_: Exchange| {
            making.fetch_add(1, Ordering::SeqCst);
            let counted = Counted::new(&living);
            async move { Ok(counted) }
        })
        .tool(tool("ok", |a: Provided<Counted>, b: Provided<Counted>| async move {
            assert!(Arc::ptr_eq(&a.0, &b.0));
            a.0.load(Ordering::SeqCst).to_string()
        }))
        .tool(tool("fails", |_: Provided<Counted>| async { Err::<(), _>(Error::tool("no")) }))
        .tool(tool("panics", |_: Provided<Counted>| async {
            panic!("no");
            #[allow(unreachable_code)]
            ""
        }))
        .tool(tool("waits", |held: Provided<Counted>| async move {
            std::future::pending::<()>().await;
            drop(held);
        }))
        .build()
        .expect("valid");
    assert_eq!(call_tool(&service, "ok", "{}"), ToolResult::text("1"));
    assert_eq!(made.load(Ordering::SeqCst), 1, "once, though asked for twice");
    for name in ["fails", "panics"] {
        outcome(&service, call(Operation::CallTool, name, "{}"));
        assert_eq!(alive.load(Ordering::SeqCst), 0, "{name}");
    }
    let (mut running, _) = begin(&service, call(Operation::CallTool, "waits", "{}"));
    assert!(poll_once(&mut running).is_none());
    assert_eq!(alive.load(Ordering::SeqCst), 1);
    drop(running);
    assert_eq!(alive.load(Ordering::SeqCst), 0, "cancelling is dropping");
}

fn begin<M: Threading>(service: &Service<M>, call: Call) -> (Running<M>, Outbox) {
    let outbox = Outbox::new();
    match service.dispatch(CallId(1), call, || None, &outbox) {
        Dispatched::Running(running) => (running, outbox),
        Dispatched::Done(outcome) => panic!("answered at once: {outcome:?}"),
    }
}

fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    let mut cx = core::task::Context::from_waker(core::task::Waker::noop());
    match core::pin::Pin::new(future).poll(&mut cx) {
        core::task::Poll::Ready(output) => Some(output),
        core::task::Poll::Pending => None,
    }
}

#[test]
fn instances_can_be_traits_and_states_are_cloned() {
    trait Greet: Send + Sync {
        fn greet(&self) -> String;
    }
    struct English;
    impl Greet for English {
        fn greet(&self) -> String {
            "hello".into()
        }
    }
    async fn greet(
        greeter: Provided<Arc<dyn Greet>>,
        State(times): State<usize>,
        State(name): State<&'static str>,
    ) -> String {
        format!("{} {name}", greeter.greet().repeat(times))
    }
    let service = registry()
        .provide_instance::<Arc<dyn Greet>>(Arc::new(English))
        .state(2_usize)
        .state("you")
        .tool(tool("greet", greet))
        .build()
        .expect("valid");
    assert_eq!(call_tool(&service, "greet", "{}"), ToolResult::text("hellohello you"));
}

#[test]
fn handlers_of_a_local_registry_need_not_be_send() {
    let count = Rc::new(Cell::new(0));
    let counting = Rc::clone(&count);
    async fn shared(ex: Exchange) -> String {
        ex.id().to_string()
    }
    let service = Registry::local("test", "1")
        .state(Rc::clone(&count))
        .provide::<Cell<u8>>(|_: Exchange| async { Ok(Cell::new(5)) })
        .tool(tool("count", move || {
            let count = Rc::clone(&counting);
            async move { count.set(count.get() + 1) }
        }))
        .tool(tool(
            "show",
            |State(count): State<Rc<Cell<i32>>>, cell: Provided<Cell<u8>>| async move {
                format!("{} {}", count.get(), cell.get())
            },
        ))
        .tool(tool("shared", shared)) // what is Send runs here as well
        .build()
        .expect("valid");
    call_tool(&service, "count", "{}");
    call_tool(&service.clone(), "count", "{}");
    assert_eq!(call_tool(&service, "show", "{}"), ToolResult::text("2 5"));
    assert_eq!(call_tool(&service, "shared", "{}"), ToolResult::text("c1"));
}

#[test]
fn a_custom_extractor_draws_on_the_others() {
    struct Tenant(String);
    impl FromExchange for Tenant {
        fn needs(needs: &mut Needs) {
            needs.http_only("Tenant");
            needs.state::<u8>();
        }
        fn from_exchange(scope: &Scope) -> Extraction<'_, Self> {
            Extraction::later(async move {
                let State(number) = State::<u8>::from_exchange(scope).await?;
                let Extension(name) = Extension::<String>::from_exchange(scope).await?;
                let parts = Parts::from_exchange(scope).await?;
                let role = parts.header("X-Role").ok_or_else(|| Error::tool("send `X-Role`"))?;
                Ok(Tenant(format!("{name} {number} {}", String::from_utf8_lossy(role))))
            })
        }
    }
    let declare = || registry().tool(tool("who", |Tenant(name): Tenant| async move { name }));
    let error = declare().build().expect_err("a state is missing");
    assert!(error.to_string().contains("State<u8>"), "{error}");
    let service = declare().state(4_u8).build().expect("valid");
    let parts = |role: &[(&str, &'static str)]| {
        let mut parts = Parts::builder("POST", "/mcp").extensions(http_extensions());
        for (name, value) in role {
            parts = parts.header(*name, *value);
        }
        parts.build()
    };
    let who = |parts| said(&service, call(Operation::CallTool, "who", "{}"), parts).0;
    assert_eq!(who(Some(parts(&[("x-role", "admin")]))), ToolResult::text("jo 4 admin").into());
    assert_eq!(who(Some(parts(&[]))), ToolResult::error("send `X-Role`").into());
    assert_eq!(failure(who(None)).kind, FailureKind::Internal);
}

fn http_extensions() -> http::Extensions {
    let mut extensions = http::Extensions::new();
    extensions.insert(String::from("jo"));
    extensions
}

#[test]
fn an_exchange_says_what_the_client_wants_to_hear() {
    // R24-LOG-04, R24-PROG-01
    async fn talk(ex: Exchange) {
        assert!(ex.logs(LogLevel::Warning) && !ex.logs(LogLevel::Debug));
        ex.log(LogLevel::Debug, "unheard");
        ex.log(LogLevel::Error, json!({ "n": 1 })).logger("db");
        ex.progress(1, 2).message("rolling out");
        ex.progress(1.5, None);
    }
    let service = registry().tool(tool("talk", talk)).build().expect("valid");
    let talk = || call(Operation::CallTool, "talk", "{}");
    let (_, commands) = said(&service, talk(), None);
    let [Command::Log(log), Command::Progress(first), Command::Progress(second)] = &commands[..]
    else {
        panic!("{commands:?}")
    };
    assert_eq!((log.logger.as_deref(), log.data.as_str()), (Some("db"), r#"{"n":1}"#));
    assert_eq!((first.progress, first.total), (1.0, Some(2.0)));
    assert_eq!(first.message.as_deref(), Some("rolling out"));
    assert_eq!((second.progress, second.total), (1.5, None));

    async fn mute(ex: Exchange) {
        assert!(!ex.logs(LogLevel::Emergency));
        ex.log(LogLevel::Emergency, "unheard");
        ex.progress(1, 2);
    }
    let service = registry().tool(tool("talk", mute)).build().expect("valid");
    let quiet = Call { progress_token: None, log_level: None, ..talk() };
    assert!(said(&service, quiet, None).1.is_empty());
}

#[test]
fn an_exchange_outlives_its_call_in_silence() {
    let kept = Arc::new(Mutex::new(None));
    let keeping = Arc::clone(&kept);
    let service = registry()
        .tool(tool("keep", move |ex: Exchange| {
            *keeping.lock().unwrap() = Some(ex);
            std::future::pending::<()>()
        }))
        .build()
        .expect("valid");
    let (mut running, outbox) = begin(&service, call(Operation::CallTool, "keep", "{}"));
    assert!(poll_once(&mut running).is_none());
    let ex = kept.lock().unwrap().take().expect("the handler was polled");
    let mut waiting = Box::pin(ex.cancelled());
    assert!(poll_once(&mut waiting).is_none() && !ex.is_cancelled());
    ex.log(LogLevel::Error, "heard");
    ex.cancel();
    assert!(matches!(outbox.pop(), Some((_, Command::Log(_)))));
    assert!(matches!(outbox.pop(), Some((_, Command::Cancel))));
    running.cancel();
    assert_eq!(block_on(running), (CallId(1), None));
    assert!(poll_once(&mut waiting).is_some() && ex.is_cancelled());
    ex.log(LogLevel::Error, "unheard");
    ex.progress(1, 1);
    ex.cancel();
    assert!(outbox.pop().is_none());
}

#[test]
fn an_outbox_holds_no_more_than_it_says() {
    let service = registry()
        .tool(tool("flood", |ex: Exchange| async move {
            for step in 0..3 * Outbox::MOST {
                ex.progress(step, None);
            }
        }))
        .build()
        .expect("valid");
    let (_, commands) = said(&service, call(Operation::CallTool, "flood", "{}"), None);
    assert_eq!(commands.len(), Outbox::MOST);
}

#[test]
fn a_handler_takes_eight_arguments() {
    type S = State<u8>;
    #[expect(clippy::too_many_arguments, reason = "that many are the point")]
    async fn eight(a: S, b: S, c: S, d: S, e: S, f: S, g: S, h: S) -> String {
        [a, b, c, d, e, f, g, h].iter().map(|State(n)| u32::from(*n)).sum::<u32>().to_string()
    }
    let service = registry().state(2_u8).tool(tool("sum", eight)).build().expect("valid");
    assert_eq!(call_tool(&service, "sum", "{}"), ToolResult::text("16"));
}

#[test]
fn a_resource_result_passes_through() {
    let service = registry()
        .resource("a:b", || async {
            let mut result = ResourceResult::new([Contents::text("a:b", "x")]);
            result.cache.ttl_ms = 5;
            result
        })
        .build()
        .expect("valid");
    let Outcome::Value(Value::Resource(result)) = read(&service, "a:b") else { panic!("a result") };
    assert_eq!(result.cache.ttl_ms, 5);
}
