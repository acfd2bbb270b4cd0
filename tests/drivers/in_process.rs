//! A client and its server in one process, on each driver's runtime.

use std::time::Duration;

use mcp_driver_tokio::client::{Client, StartProcess};
use mcp_proto::revision::Revision;
use mcp_proto::service::{Exchange, Registry, Service, tool};
use serde_json::json;

use crate::for_both_clients;
use crate::running::Tested;

for_both_clients! {
    a_handler_may_use_the_runtime_and_a_client_sees_all_of_it
}

fn service<D: StartProcess>() -> Service {
    let nap = |ex: Exchange| async move {
        ex.progress(1, 2);
        D::default().sleep(Duration::from_millis(20)).await;
        ex.progress(2, 2);
        "slept"
    };
    Registry::new("here", "1").tool(tool("nap", nap)).build().expect("valid")
}

fn a_handler_may_use_the_runtime_and_a_client_sees_all_of_it<D: Tested>() {
    D::block_on(async {
        for revision in Revision::ALL {
            let client = Client::<D>::in_process(service::<D>()).revision(revision);
            let client = client.connect().await.expect("connected");
            let naps = (0..20).map(|_| client.call_tool("nap", &json!({})).into_future());
            for nap in futures_util::future::join_all(naps).await {
                assert_eq!(nap.expect("an answer").text(), "slept", "{revision}");
            }
            assert!(client.call_tool("none", &json!({})).await.is_err());
            client.close().await;
        }
    });
}
