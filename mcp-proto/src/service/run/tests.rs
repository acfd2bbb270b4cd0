//! The loop over real machines and pipes in memory, without a runtime.

use core::cell::Cell;
use core::time::Duration;
use std::io::ErrorKind;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use futures_util::future::pending;

use super::super::world::{End, VirtualTime, pair};
use super::super::*;
use super::*;
use crate::effect::Reply;
use crate::server::{Connection, Endpoint, Stdio};
use crate::store::SessionOp;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Wait {
    ms: u64,
}

const HELLO: &str = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;

/// A line that calls a tool.
fn line(id: u32, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},"_meta":{{"progressToken":{id}}}}}}}"#
    ) + "\n"
}

fn service(time: &VirtualTime) -> Service {
    let time = time.clone();
    Registry::new("test", "1")
        .tool(
            tool("echo", |RawArgs(sent): RawArgs| async move { sent.to_string() })
                .input_schema(serde_json::json!({ "type": "object" }))
                .unchecked(),
        )
        .tool(tool("wait", move |Args(Wait { ms }): Args<Wait>, ex: Exchange| {
            let time = time.clone();
            async move {
                ex.progress(1, 2).message("waiting");
                time.sleep(Duration::from_millis(ms)).await;
                "waited"
            }
        }))
        .tool(tool("give_up", |ex: Exchange| async move {
            ex.cancel();
            pending::<()>().await;
        }))
        .tool(tool("method", |parts: Option<Parts>, peer: Option<Extension<u16>>| async move {
            let parts = parts.map(|parts| format!("{} {}", parts.method(), parts.target()));
            format!("{} {:?}", parts.unwrap_or_default(), peer.map(|Extension(port)| port))
        }))
        .build()
        .expect("valid")
}

fn endpoint<M: Threading>(service: &Service<M>) -> Endpoint {
    Endpoint::builder(Arc::clone(service.catalog())).build()
}

fn stdio<M: Threading>(service: &Service<M>) -> Stdio {
    Stdio::new(endpoint(service), Instant::ZERO)
}

/// Serves a client over stdio to the end.
fn serve<C: Future>(
    time: &VirtualTime,
    service: Service,
    capacity: usize,
    client: impl FnOnce(End) -> C,
) -> (io::Result<()>, C::Output) {
    let (ours, theirs) = pair(capacity);
    let machine = stdio(&service);
    let host = Host::<_, Shared>::new(service, time.clone());
    time.run(host.run(machine, ours, Extensions::new(), pending()), client(theirs))
}

#[test]
fn a_peer_that_writes_everything_before_it_reads_gets_every_answer() {
    // Eight bytes fit into the pipe: whoever awaits a write here waits for ever.
    let time = VirtualTime::default();
    let (ended, answers) = serve(&time, service(&time), 8, |mut end| async move {
        end.send(format!("{HELLO}\n").as_bytes()).await;
        for id in 0..200 {
            end.send(line(id, "echo", "{}").as_bytes()).await;
        }
        end.end();
        end.receive_all().await
    });
    ended.expect("it ended by itself");
    assert_eq!(answers.lines().count(), 201);
    for (id, answer) in answers.lines().skip(1).enumerate() {
        assert!(answer.contains(&format!(r#""id":{id},"#)), "{answer}");
    }
}

#[test]
fn a_peer_that_never_reads_cannot_write_without_end() {
    let time = VirtualTime::default();
    let service = service(&time);
    let (ours, mut theirs) = pair(1 << 14);
    let machine = stdio(&service);
    let host = Host::<_, Shared>::new(service, time);
    let mut run = core::pin::pin!(host.run(machine, ours, Extensions::new(), pending()));
    let mut cx = Context::from_waker(std::task::Waker::noop());
    let lines: String = (0..100).map(|id| line(id, "echo", "{}")).collect();
    let sent = Cell::new(0);
    let mut flood = core::pin::pin!(async {
        theirs.send(format!("{HELLO}\n").as_bytes()).await;
        loop {
            theirs.send(lines.as_bytes()).await;
            sent.set(sent.get() + lines.len());
        }
    });
    for _ in 0..2_000 {
        assert!(run.as_mut().poll(&mut cx).is_pending());
        let _: Poll<()> = flood.as_mut().poll(&mut cx);
    }
    let sent = sent.get();
    assert!(sent > 1 << 20, "what is read is answered: {sent}");
    assert!(sent < 8 << 20, "it read on and on: {sent}");
}

#[test]
fn answers_of_one_batch_of_input_leave_in_one_write() {
    let time = VirtualTime::default();
    let (ended, writes) = serve(&time, service(&time), 1 << 16, |mut end| async move {
        let mut input = format!("{HELLO}\n");
        (0..20).for_each(|id| input.push_str(&line(id, "echo", "{}")));
        end.send(input.as_bytes()).await;
        let answers = end.receive_until(|text| text.lines().count() == 21).await;
        assert_eq!(answers.lines().count(), 21);
        end.writes()
    });
    ended.expect("it ended by itself");
    assert_eq!(writes, 1);
}

#[test]
fn calls_run_at_once_and_say_what_they_say_before_their_result() {
    let time = VirtualTime::default();
    let (ended, answers) = serve(&time, service(&time), 1 << 16, |mut end| async move {
        end.send(format!("{HELLO}\n").as_bytes()).await;
        end.send(line(1, "wait", r#"{"ms":3000}"#).as_bytes()).await;
        end.send(line(2, "wait", r#"{"ms":1000}"#).as_bytes()).await;
        end.send(line(3, "echo", "{}").as_bytes()).await;
        let answers = end.receive_until(|text| text.lines().count() == 6).await;
        end.end();
        answers
    });
    ended.expect("it ended by itself");
    let order: Vec<_> = answers
        .lines()
        .skip(1)
        .map(|line| {
            ["\"progressToken\":1", "\"progressToken\":2", "\"id\":1", "\"id\":2", "\"id\":3"]
                .into_iter()
                .position(|mark| line.contains(mark))
        })
        .collect();
    assert_eq!(order, [Some(0), Some(1), Some(4), Some(3), Some(2)], "{answers}");
    assert_eq!(time.time(), Instant::from_millis(3_000));
}

#[test]
fn the_end_of_input_gives_calls_a_grace_and_no_more() {
    // R26-STDIO-16
    let time = VirtualTime::default();
    let (ended, answers) = serve(&time, service(&time), 1 << 16, |mut end| async move {
        end.send(format!("{HELLO}\n").as_bytes()).await;
        end.send(line(1, "wait", r#"{"ms":4000}"#).as_bytes()).await;
        end.send(line(2, "wait", r#"{"ms":9000}"#).as_bytes()).await;
        end.end();
        end.receive_all().await
    });
    ended.expect("it ended by itself");
    assert!(answers.contains("\"id\":1,") && !answers.contains("\"id\":2,"), "{answers}");
    assert_eq!(time.time(), Instant::from_millis(5_000));
    assert_eq!(time.detached(), 0, "cancelled calls do not run on");
}

#[test]
fn cancelling_drops_the_handler_where_it_waits() {
    struct Bell(Arc<Mutex<Vec<Instant>>>, VirtualTime);
    impl Drop for Bell {
        fn drop(&mut self) {
            self.0.lock().unwrap().push(self.1.time());
        }
    }
    let time = VirtualTime::default();
    let rung = Arc::new(Mutex::new(Vec::new()));
    let (ringing, clock) = (Arc::clone(&rung), time.clone());
    let service = Registry::new("test", "1")
        .tool(tool("hang", move || {
            let bell = Bell(Arc::clone(&ringing), clock.clone());
            async move {
                pending::<()>().await;
                drop(bell);
            }
        }))
        .build()
        .expect("valid");
    let waiting = time.clone();
    let (ended, answers) = serve(&time, service, 1 << 16, |mut end| async move {
        end.send(format!("{HELLO}\n").as_bytes()).await;
        end.send(line(1, "hang", "{}").as_bytes()).await;
        waiting.sleep(Duration::from_millis(700)).await;
        let cancel =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        end.send(format!("{cancel}\n").as_bytes()).await;
        waiting.sleep(Duration::from_millis(100)).await;
        end.end();
        end.receive_all().await
    });
    ended.expect("it ended by itself");
    assert_eq!(*rung.lock().unwrap(), [Instant::from_millis(700)]);
    assert_eq!(answers.lines().count(), 1, "nothing is sent for a cancelled call: {answers}");
}

#[test]
fn a_call_that_its_own_server_cancels_is_answered() {
    let time = VirtualTime::default();
    let (ended, answers) = serve(&time, service(&time), 1 << 16, |mut end| async move {
        end.send(format!("{HELLO}\n{}", line(1, "give_up", "{}")).as_bytes()).await;
        let answers = end.receive_until(|text| text.lines().count() == 2).await;
        end.end();
        answers
    });
    ended.expect("it ended by itself");
    assert!(answers.contains("the server cancelled the call"), "{answers}");
}

#[test]
fn a_stream_that_breaks_is_an_error_and_ends_its_calls() {
    let time = VirtualTime::default();
    let (ended, ()) = serve(&time, service(&time), 16, |mut end| async move {
        end.send(format!("{HELLO}\n{}", line(1, "wait", r#"{"ms":60000}"#)).as_bytes()).await;
    });
    assert_eq!(ended.expect_err("nobody reads").kind(), ErrorKind::BrokenPipe);
    assert_eq!(time.time(), Instant::ZERO);
}

#[test]
fn a_server_that_is_told_to_stop_finishes_what_runs() {
    let time = VirtualTime::default();
    let service = service(&time);
    let (ours, mut theirs) = pair(1 << 16);
    let machine = stdio(&service);
    let host = Host::<_, Shared>::new(service, time.clone());
    let stop = time.sleep(Duration::from_millis(500));
    let (ended, answers) = time.run(host.run(machine, ours, Extensions::new(), stop), async {
        theirs.send(format!("{HELLO}\n{}", line(1, "wait", r#"{"ms":900}"#)).as_bytes()).await;
        theirs.receive_all().await
    });
    ended.expect("it ended by itself");
    assert!(answers.contains("waited"), "{answers}");
    assert_eq!(time.time(), Instant::from_millis(900));
}

#[test]
fn local_handlers_run_in_the_same_loop() {
    let time = VirtualTime::default();
    let count = Rc::new(Cell::new(0));
    let counting = Rc::clone(&count);
    let service = Registry::local("test", "1")
        .tool(tool("count", move || {
            let count = Rc::clone(&counting);
            async move { count.set(count.get() + 1) }
        }))
        .build()
        .expect("valid");
    let (ours, mut theirs) = pair(1 << 16);
    let machine = stdio(&service);
    let host = Host::<_, Local>::new(service, time.clone());
    let (ended, _) = time.run(host.run(machine, ours, Extensions::new(), pending()), async {
        theirs.send(format!("{HELLO}\n{}", line(1, "count", "{}")).as_bytes()).await;
        theirs.end();
        theirs.receive_all().await
    });
    ended.expect("it ended by itself");
    assert_eq!(count.get(), 1);
}

/// A request of 2025-03-26 without a session.
fn post(tool: &str, more: &str) -> String {
    let body = line(1, tool, "{}");
    format!(
        "POST /mcp?x=y HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{more}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Serves a client over HTTP to the end.
fn serve_http<C: Future>(
    time: &VirtualTime,
    service: Service,
    sessions: Arc<dyn SessionStore>,
    client: impl FnOnce(End) -> C,
) -> (io::Result<()>, C::Output) {
    let (ours, theirs) = pair(1 << 16);
    let machine = Connection::new(endpoint(&service), Instant::ZERO);
    let host = Host::<_, Shared>::with_sessions(service, time.clone(), sessions);
    let mut extensions = Extensions::new();
    extensions.insert(4711_u16);
    time.run(host.run(machine, ours, extensions, pending()), client(theirs))
}

#[test]
fn http_requests_reach_handlers_with_their_parts_and_the_streams_extensions() {
    let time = VirtualTime::default();
    let store = Arc::new(MemorySessionStore::new());
    let (ended, answers) = serve_http(&time, service(&time), store, |mut end| async move {
        end.send(post("method", "").as_bytes()).await;
        let first = end.receive_until(|text| text.contains("4711")).await;
        end.send(post("method", "Connection: close\r\n").as_bytes()).await;
        first + &end.receive_all().await
    });
    ended.expect("it ended by itself");
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 2, "{answers}");
    assert_eq!(answers.matches("POST /mcp?x=y Some(4711)").count(), 2, "{answers}");
}

#[test]
fn an_http_client_that_falls_asleep_or_drips_is_given_up_and_one_that_is_slow_is_not() {
    for (pauses, served) in
        [([20, 20, 19, 0], true), ([50, 50, 50, 50], false), ([10, 61, 0, 0], false)]
    {
        let time = VirtualTime::default();
        let service = service(&time);
        let (ours, mut theirs) = pair(16);
        let machine = Connection::new(endpoint(&service), Instant::ZERO);
        let host = Host::<_, Shared>::new(service, time.clone());
        let clock = time.clone();
        let client = async move {
            theirs.send(post("echo", "Connection: close\r\n").as_bytes()).await;
            let mut answer = 0;
            for pause in pauses {
                clock.sleep(Duration::from_secs(pause)).await;
                answer += theirs.receive().await.len();
            }
            theirs.receive_all().await.len() + answer
        };
        let run = host.run(machine, ours, Extensions::new(), pending());
        let (ended, _) = time.run(run, client);
        assert_eq!(ended.is_ok(), served, "{ended:?}");
    }
}

#[test]
fn a_store_that_takes_its_time_holds_up_nothing_and_is_given_up_at_the_deadline() {
    struct Slow(VirtualTime, Duration);
    impl SessionStore for Slow {
        fn execute(&self, _: Instant, _: SessionOp) -> Execution {
            let (time, wait) = (self.0.clone(), self.1);
            Execution::Later(Box::pin(async move {
                time.sleep(wait).await;
                Ok(Reply::Created(true))
            }))
        }
    }
    let hello = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{HELLO}",
        HELLO.len()
    );
    for (wait, wanted) in [(3, "mcp-session-id: "), (60, "\"error\"")] {
        let time = VirtualTime::default();
        let store = Arc::new(Slow(time.clone(), Duration::from_secs(wait)));
        let hello = hello.clone();
        let (ended, answer) = serve_http(&time, service(&time), store, |mut end| async move {
            end.send(hello.as_bytes()).await;
            end.receive_all().await
        });
        ended.expect("it ended by itself");
        assert!(answer.to_lowercase().contains(wanted), "{answer}");
        let until = Duration::from_secs(wait).min(crate::effect::EFFECT_DEADLINE);
        assert_eq!(time.time(), Instant::ZERO + until);
    }
}

#[test]
fn the_future_of_a_shared_service_can_be_sent_between_threads() {
    fn assert_send<T: Send>(value: T) -> T {
        value
    }
    let time = VirtualTime::default();
    let service = service(&time);
    let machine = Connection::new(endpoint(&service), Instant::ZERO);
    let host = Host::<_, Shared>::new(service, time);
    let (ours, _theirs) = pair(1);
    let future = assert_send(host.run(machine, ours, Extensions::new(), pending()));
    let of_machine = size_of::<Connection>();
    println!(
        "one HTTP connection takes {} bytes, {of_machine} in its machine",
        size_of_val(&future)
    );
}
