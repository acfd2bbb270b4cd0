//! Both drivers' clients against both drivers' servers, on real sockets and processes.

use std::pin::pin;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ::tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use futures_util::future::{Either, select};
use mcp_driver_async_std::AsyncStd;
use mcp_driver_tokio::Tokio;
use mcp_driver_tokio::client::{Client, ErrorKind, Process, StartProcess, Stderr, Wire};
use mcp_proto::revision::Revision;
use serde_json::{Value, json};

use crate::process::{PATIENCE, Server};

/// A driver, and how its runtime runs.
pub(crate) trait Runs: StartProcess {
    fn block_on<T>(work: impl Future<Output = T>) -> T;
}

impl Runs for Tokio {
    fn block_on<T>(work: impl Future<Output = T>) -> T {
        let runtime = ::tokio::runtime::Builder::new_multi_thread().enable_all().build();
        runtime.expect("runs").block_on(work)
    }
}

impl Runs for AsyncStd {
    fn block_on<T>(work: impl Future<Output = T>) -> T {
        ::async_std::task::block_on(work)
    }
}

/// Runs each scenario, a function of a client's driver and of one driver's server program, with
/// each client and each server.
macro_rules! between_all_drivers {
    ($($scenario:ident)*) => {
        mod tokio {
            between_all_drivers! { ::mcp_driver_tokio::Tokio: $($scenario)* }
        }
        mod async_std {
            between_all_drivers! { ::mcp_driver_async_std::AsyncStd: $($scenario)* }
        }
    };
    ($client:ty: $($scenario:ident)*) => {
        mod to_tokio {
            $(#[test] fn $scenario() {
                super::super::$scenario::<$client>(env!("CARGO_BIN_EXE_server-tokio"));
            })*
        }
        mod to_async_std {
            $(#[test] fn $scenario() {
                super::super::$scenario::<$client>(env!("CARGO_BIN_EXE_server-async-std"));
            })*
        }
    };
}

between_all_drivers! {
    a_client_calls_over_http_at_every_revision
    a_client_calls_a_process_at_every_revision
    calls_of_one_client_run_side_by_side
    no_report_comes_too_early_for_its_call
    a_server_that_was_killed_is_started_again
    a_process_gets_the_environment_that_it_is_given_and_no_other
    a_command_is_read_by_no_shell
    a_process_that_ends_in_time_is_not_told_to
    a_process_that_does_not_end_with_its_input_is_told_to
    a_process_that_will_not_end_is_killed_with_all_that_it_started
    a_process_that_has_ended_is_reaped
    a_process_ends_with_its_client
    what_goes_over_the_wire_is_told_with_secrets_marked
    what_goes_to_a_process_and_comes_from_it_is_told
}

pub(crate) fn run<D: Runs, T>(work: impl Future<Output = T>) -> T {
    D::block_on(async {
        match select(pin!(work), D::default().sleep(PATIENCE)).await {
            Either::Left((done, _)) => done,
            Either::Right(_) => panic!("it hangs"),
        }
    })
}

pub(crate) async fn adds<D>(client: &Client<D>) {
    let reply = client.call_tool("add", &json!({ "a": 2, "b": 40 })).await.expect("it adds");
    assert_eq!(reply.structured::<Value>().expect("JSON"), json!({ "total": 42 }));
}

fn a_client_calls_over_http_at_every_revision<D: Runs>(program: &str) {
    let (_server, listening) = Server::on_http(program, &[]);
    let url = format!("http://{}/mcp", listening.address);
    run::<D, _>(async {
        for revision in Revision::ALL {
            let client = Client::<D>::http(&*url).revision(revision).connect().await;
            let client = client.expect("connects");
            adds(&client).await;
            assert_eq!(client.revision(), Some(revision.as_str()));
            client.close().await;
        }
    });
}

fn a_client_calls_a_process_at_every_revision<D: Runs>(program: &str) {
    run::<D, _>(async {
        for revision in Revision::ALL {
            let client = Client::<D>::stdio([program, "--stdio"]).revision(revision);
            let client = client.connect().await.expect("connects");
            adds(&client).await;
            assert_eq!(client.revision(), Some(revision.as_str()));
            client.close().await;
        }
    });
}

fn calls_of_one_client_run_side_by_side<D: Runs>(program: &str) {
    let (_server, listening) = Server::on_http(program, &[]);
    let url = format!("http://{}/mcp", listening.address);
    run::<D, _>(async {
        let client = Client::<D>::http(url).connect().await.expect("connects");
        let slow = client.call_tool("sleep", &json!({ "ms": 600_000 })).start();
        adds(&client).await;
        slow.cancel();
        assert_eq!(slow.await.expect_err("it was cancelled").kind, ErrorKind::Cancelled);
    });
}

fn no_report_comes_too_early_for_its_call<D: Runs>(program: &str) {
    run::<D, _>(async {
        let client = Client::<D>::stdio([program, "--stdio"]).connect().await.expect("connects");
        for _ in 0..200 {
            let call = client.call_tool("talk", &()).start();
            let report = call.progress().next().await.expect("it reports");
            assert_eq!((report.progress, report.total), (1.0, Some(2.0)));
            assert_eq!(call.await.expect("it talks").text(), "talked");
        }
        client.close().await;
    });
}

/// What processes say on stderr: nothing more once all that have it are gone.
type Said = UnboundedReceiver<String>;

/// A client whose server `command` starts, changed by `change`.
async fn started<D: Runs>(
    command: &[&str],
    change: impl FnOnce(Process) -> Process,
) -> (Client<D>, Said) {
    let (say, said) = unbounded_channel();
    let stderr = Stderr::drain(move |bytes| {
        for line in String::from_utf8_lossy(bytes).lines() {
            let _ = say.send(line.to_owned());
        }
    });
    let client = Client::<D>::stdio(command).process(|process| change(process.stderr(stderr)));
    (client.connect().await.expect("connects"), said)
}

/// A client whose server a script starts as `$0`, and that has little patience.
async fn scripted<D: Runs>(script: &str, program: &str) -> (Client<D>, Said) {
    let little = |process: Process| process.grace(Duration::from_millis(20));
    started(&["sh", "-c", script, program], little).await
}

/// All that is said until nobody is left to say something.
async fn all(mut said: Said) -> Vec<String> {
    let mut lines = Vec::new();
    while let Some(line) = said.recv().await {
        lines.push(line);
    }
    lines
}

/// R26-STDIO-15.
fn a_server_that_was_killed_is_started_again<D: Runs>(program: &str) {
    run::<D, _>(async {
        let (client, mut said) = scripted::<D>("echo $$ >&2; exec \"$0\" --stdio", program).await;
        adds(&client).await;
        let first = said.recv().await.expect("it says its id");
        assert!(signalled("-9", &first));
        // A call that meets the end may have run; one after it starts the server again.
        while client.call_tool("add", &json!({ "a": 1, "b": 1 })).await.is_err() {}
        assert_ne!(said.recv().await.expect("it says its id"), first);
    });
}

/// Sends a signal; says whether there was a process.
fn signalled(signal: &str, id: &str) -> bool {
    let kill = format!("kill {signal} {id} 2>&1");
    Command::new("sh").args(["-c", &kill]).output().expect("runs").status.success()
}

fn a_process_gets_the_environment_that_it_is_given_and_no_other<D: Runs>(program: &str) {
    let unsafe_one = "CARGO_MANIFEST_DIR";
    assert!(std::env::var_os(unsafe_one).is_some(), "cargo runs the tests");
    run::<D, _>(async {
        let script = "env >&2; echo end >&2; exec \"$0\" --stdio";
        for inherits in [false, true] {
            let change = |process: Process| {
                let process = process.env("GIVEN", "$HOME");
                if inherits { process.inherit_env() } else { process }
            };
            let (client, mut said) = started::<D>(&["sh", "-c", script, program], change).await;
            client.close().await;
            let mut variables = Vec::new();
            while let Some(line) = said.recv().await.filter(|line| line != "end") {
                variables.push(line);
            }
            let has = |name: &str| variables.iter().any(|it| it.starts_with(&format!("{name}=")));
            assert!(has("PATH") && variables.contains(&"GIVEN=$HOME".into()), "{variables:?}");
            assert_eq!(has(unsafe_one), inherits, "{variables:?}");
        }
    });
}

fn a_command_is_read_by_no_shell<D: Runs>(program: &str) {
    run::<D, _>(async {
        let script = "echo \"$1\" >&2; exec \"$0\" --stdio";
        let words = "$HOME; `exit 7` \"two  words\"";
        let command = ["sh", "-c", script, program, words];
        let (client, said) = started::<D>(&command, |process| process).await;
        client.close().await;
        assert_eq!(all(said).await, [words]);
    });
}

/// R26-STDIO-15.
fn a_process_that_ends_in_time_is_not_told_to<D: Runs>(program: &str) {
    run::<D, _>(async {
        let script = "trap 'echo told >&2' TERM; \"$0\" --stdio; echo ended >&2";
        let patient = |process: Process| process.grace(PATIENCE);
        let (client, said) = started::<D>(&["sh", "-c", script, program], patient).await;
        adds(&client).await;
        client.close().await;
        assert_eq!(all(said).await, ["ended"]);
    });
}

/// R26-STDIO-15.
fn a_process_that_does_not_end_with_its_input_is_told_to<D: Runs>(program: &str) {
    run::<D, _>(async {
        let script = "trap 'echo told >&2; exit' TERM; \"$0\" --stdio; sleep 1000 & wait";
        let (client, said) = scripted::<D>(script, program).await;
        adds(&client).await;
        client.close().await;
        assert_eq!(all(said).await, ["told"]);
    });
}

/// R26-STDIO-15.
fn a_process_that_will_not_end_is_killed_with_all_that_it_started<D: Runs>(program: &str) {
    run::<D, _>(async {
        let script = "trap '' TERM; \"$0\" --stdio; sleep 1000 <&- >&- & wait; sleep 1000";
        let (client, said) = scripted::<D>(script, program).await;
        adds(&client).await;
        client.close().await;
        assert_eq!(all(said).await, [""; 0]);
    });
}

/// R26-STDIO-15.
fn a_process_that_has_ended_is_reaped<D: Runs>(program: &str) {
    run::<D, _>(async {
        let (client, mut said) = scripted::<D>("echo $$ >&2; exec \"$0\" --stdio", program).await;
        let id = said.recv().await.expect("it says its id");
        assert!(signalled("-0", &id));
        client.close().await;
        assert!(!signalled("-0", &id), "what was not reaped can be signalled");
    });
}

/// R26-STDIO-15.
fn a_process_ends_with_its_client<D: Runs>(program: &str) {
    run::<D, _>(async {
        let script = "trap '' TERM; \"$0\" --stdio; sleep 1000";
        let (client, said) = scripted::<D>(script, program).await;
        adds(&client).await;
        drop(client);
        assert_eq!(all(said).await, [""; 0]);
    });
}

/// What a tap is told, as text.
type Told = Arc<Mutex<Vec<(&'static str, u64, String)>>>;

fn tap(told: &Told) -> impl Fn(&Wire<'_>) + Send + Sync + 'static {
    let told = told.clone();
    move |wire| {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("all is ASCII here");
        told.lock().expect("no panic").push(match wire {
            Wire::Request(id, request) => {
                let head = format!("{} {:?} ", request.method(), request.headers());
                ("request", *id, head + &text(request.body()))
            }
            Wire::Response(id, response) => ("response", *id, format!("{:?}", response.headers())),
            Wire::Body(id, bytes) => ("body", *id, text(bytes)),
            Wire::Over(id) => ("over", *id, String::new()),
            Wire::Written(bytes) => ("written", 0, text(bytes)),
            Wire::Read(bytes) => ("read", 0, text(bytes)),
            other => panic!("{other:?}"),
        });
    }
}

fn what_goes_over_the_wire_is_told_with_secrets_marked<D: Runs>(program: &str) {
    let (_server, listening) = Server::on_http(program, &[]);
    let url = format!("http://{}/mcp", listening.address);
    run::<D, _>(async {
        let mut told_ids = 0;
        for revision in Revision::ALL {
            let told = Told::default();
            let client = Client::<D>::http(&*url).bearer("a-secret".to_owned());
            let client = client.revision(revision).on_wire(tap(&told)).connect().await;
            let client = client.expect("connects");
            adds(&client).await;
            client.close().await;
            drop(client);
            let told = told.lock().expect("no panic");
            let all = |what: &str, id: u64| -> String {
                told.iter().filter(|it| it.0 == what && it.1 == id).map(|it| &*it.2).collect()
            };
            let called = told.iter().find(|it| it.2.contains("tools/call")).expect("it is told");
            let (what, id, request) = called;
            assert_eq!(*what, "request");
            assert!(
                request.starts_with("POST ") && request.contains("\"authorization\": Sensitive")
            );
            assert!(all("response", *id).contains("content-type"));
            assert!(all("body", *id).contains("42"));
            let text: String = told.iter().map(|it| it.2.as_str()).collect();
            assert!(!text.contains("a-secret"), "{text}");
            let ids = text.matches("\"mcp-session-id\": ").count();
            assert_eq!(ids, text.matches("\"mcp-session-id\": Sensitive").count(), "{text}");
            told_ids += ids;
            for (_, id, _) in told.iter() {
                let over = told.iter().filter(|it| it.0 == "over" && it.1 == *id).count();
                assert_eq!(over, 1, "exchange {id} of {told:?}");
            }
        }
        assert!(told_ids > 0, "some revisions have sessions");
    });
}

fn what_goes_to_a_process_and_comes_from_it_is_told<D: Runs>(program: &str) {
    run::<D, _>(async {
        let told = Told::default();
        let client = Client::<D>::stdio([program, "--stdio"]).on_wire(tap(&told));
        let client = client.connect().await.expect("connects");
        adds(&client).await;
        client.close().await;
        let told = told.lock().expect("no panic");
        for (what, holds) in [("written", "tools/call"), ("read", r#""total":42"#)] {
            let all: String = told.iter().filter(|it| it.0 == what).map(|it| &*it.2).collect();
            assert!(all.ends_with('\n') && all.contains(holds), "{all}");
            for line in all.lines() {
                serde_json::from_str::<Value>(line).expect("a message a line");
            }
        }
    });
}
