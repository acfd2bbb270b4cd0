//! The tokio driver's client against both drivers' servers, on real sockets and processes.

use std::process::Command;
use std::time::Duration;

use ::tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use ::tokio::time::timeout;
use mcp_driver_tokio::Client;
use mcp_driver_tokio::client::{ErrorKind, Process, Stderr};
use mcp_proto::revision::Revision;
use serde_json::{Value, json};

use crate::on_both_drivers;
use crate::process::{PATIENCE, Server};

on_both_drivers! {
    a_client_calls_over_http_at_every_revision
    a_client_on_async_std_calls_over_http
    a_client_calls_a_process_at_every_revision
    calls_of_one_client_run_side_by_side
    a_server_that_was_killed_is_started_again
    a_process_that_will_not_end_is_killed_with_all_that_it_started
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = ::tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("runs");
    runtime.block_on(async { timeout(PATIENCE, work).await.expect("it hangs") })
}

async fn adds(client: &Client) {
    let reply = client.call_tool("add", &json!({ "a": 2, "b": 40 })).await.expect("it adds");
    assert_eq!(reply.structured::<Value>().expect("JSON"), json!({ "total": 42 }));
}

fn a_client_calls_over_http_at_every_revision(program: &str) {
    let (_server, listening) = Server::on_http(program, &[]);
    let url = format!("http://{}/mcp", listening.address);
    run(async {
        for revision in Revision::ALL {
            let client = Client::http(&*url).revision(revision).connect().await.expect("connects");
            adds(&client).await;
            assert_eq!(client.revision(), Some(revision.as_str()));
            client.close().await;
        }
    });
}

fn a_client_on_async_std_calls_over_http(program: &str) {
    let (_server, listening) = Server::on_http(program, &[]);
    let url = format!("http://{}/mcp", listening.address);
    ::async_std::task::block_on(async {
        let client = mcp_driver_async_std::Client::http(url).connect().await.expect("connects");
        let reply = client.call_tool("add", &json!({ "a": 2, "b": 40 })).await.expect("it adds");
        assert_eq!(reply.structured::<Value>().expect("JSON"), json!({ "total": 42 }));
        client.close().await;
    });
}

fn a_client_calls_a_process_at_every_revision(program: &str) {
    run(async {
        for revision in Revision::ALL {
            let client = Client::stdio([program, "--stdio"]).revision(revision);
            let client = client.connect().await.expect("connects");
            adds(&client).await;
            assert_eq!(client.revision(), Some(revision.as_str()));
            client.close().await;
        }
    });
}

fn calls_of_one_client_run_side_by_side(program: &str) {
    let (_server, listening) = Server::on_http(program, &[]);
    let url = format!("http://{}/mcp", listening.address);
    run(async {
        let client = Client::http(url).connect().await.expect("connects");
        let slow = client.call_tool("sleep", &json!({ "ms": 600_000 })).start();
        adds(&client).await;
        slow.cancel();
        assert_eq!(slow.await.expect_err("it was cancelled").kind, ErrorKind::Cancelled);
    });
}

/// A client whose server `script` starts as `$0`, and what the script says on stderr: nothing more
/// once all processes that have it are gone.
async fn scripted(script: &str, program: &str) -> (Client, UnboundedReceiver<String>) {
    let (say, said) = unbounded_channel();
    let stderr = Stderr::drain(move |bytes| {
        let _ = say.send(String::from_utf8_lossy(bytes).trim().to_owned());
    });
    let change = |process: Process| process.stderr(stderr).grace(Duration::from_millis(20));
    let client = Client::stdio(["sh", "-c", script, program]).process(change);
    (client.connect().await.expect("connects"), said)
}

/// R26-STDIO-15.
fn a_server_that_was_killed_is_started_again(program: &str) {
    run(async {
        let (client, mut said) = scripted("echo $$ >&2; exec \"$0\" --stdio", program).await;
        adds(&client).await;
        let first = said.recv().await.expect("it says its id");
        let killed = Command::new("kill").args(["-9", &first]).status().expect("runs");
        assert!(killed.success());
        // A call that meets the end may have run; one after it starts the server again.
        while client.call_tool("add", &json!({ "a": 1, "b": 1 })).await.is_err() {}
        assert_ne!(said.recv().await.expect("it says its id"), first);
    });
}

/// R26-STDIO-15.
fn a_process_that_will_not_end_is_killed_with_all_that_it_started(program: &str) {
    run(async {
        let script = "trap '' TERM; \"$0\" --stdio; sleep 1000 <&- >&- & wait; sleep 1000";
        let (client, mut said) = scripted(script, program).await;
        adds(&client).await;
        client.close().await;
        assert_eq!(said.recv().await, None);
    });
}
