//! A client whose requests reqwest makes, against both drivers' servers.

use std::net::TcpListener;

use mcp_driver_tokio::client::{ClientError, ErrorKind, Ran};
use mcp_driver_tokio::{Client, Reqwest, Tokio, reqwest};
use mcp_proto::revision::Revision;
use serde_json::json;

use crate::client::{adds, run};
use crate::on_both_drivers;
use crate::process::Server;

on_both_drivers! {
    reqwest_carries_every_revision
    reqwest_carries_streams_as_they_come
    a_call_over_reqwest_is_cancelled_and_others_go_on
}

async fn connect(url: String, revision: Revision) -> Result<Client, ClientError> {
    let carrier = Reqwest::new(reqwest::Client::builder()).expect("it is set up");
    Client::http(url).revision(revision).connect_by(carrier).await
}

fn reqwest_carries_every_revision(program: &str) {
    let (_server, listening) = Server::on_http(program, &[]);
    run::<Tokio, _>(async {
        for revision in Revision::ALL {
            let has_sse = revision.adapter().has_handshake.then_some("sse");
            for path in ["mcp"].into_iter().chain(has_sse) {
                let url = format!("http://{}/{path}", listening.address);
                let client = connect(url, revision).await.expect("connects");
                adds(&client).await;
                assert_eq!(client.revision(), Some(revision.as_str()));
                client.close().await;
            }
        }
    });
}

fn reqwest_carries_streams_as_they_come(program: &str) {
    let (_server, listening) = Server::on_http(program, &[]);
    let url = format!("http://{}/mcp", listening.address);
    run::<Tokio, _>(async {
        let client = connect(url, Revision::V2026_07_28).await.expect("connects");
        let call = client.call_tool("talk", &()).start();
        let update = call.progress().next().await.expect("it reports");
        assert_eq!((update.progress, update.total), (1.0, Some(2.0)));
        assert_eq!(call.await.expect("it talks").text(), "talked");
        let big = client.call_tool("big", &json!({ "bytes": 1 << 20 })).await.expect("it is big");
        assert_eq!(big.text().len(), 1 << 20);
    });
}

fn a_call_over_reqwest_is_cancelled_and_others_go_on(program: &str) {
    let (_server, listening) = Server::on_http(program, &[]);
    let url = format!("http://{}/mcp", listening.address);
    run::<Tokio, _>(async {
        let client = connect(url, Revision::V2026_07_28).await.expect("connects");
        let slow = client.call_tool("sleep", &json!({ "ms": 600_000 })).start();
        adds(&client).await;
        slow.cancel();
        assert_eq!(slow.await.expect_err("it was cancelled").kind, ErrorKind::Cancelled);
        adds(&client).await;
        client.close().await;
    });
}

#[test]
fn where_nobody_listens_nothing_ran_and_the_query_is_not_shown() {
    let closed =
        TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let url = format!("http://{closed}/mcp?key=hush");
    let error = run::<Tokio, _>(connect(url, Revision::V2026_07_28)).err().expect("refused");
    assert_eq!(error.ran, Ran::Never);
    let text = error.to_string();
    assert!(text.contains("refused") && !text.contains("hush"), "{text}");
}
