//! A peer that writes 200 requests before it reads, over a pipe that holds 8 bytes: writing must
//! never hold up reading.

use std::future::pending;

use mcp_driver_async_std::AsyncStd;
use mcp_driver_tokio::{Tokio, TokioStream};
use mcp_proto::service::{Driver, Sleep, StdioServer};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

use crate::process::call;

#[tokio::test]
async fn on_tokio() {
    converse(Tokio::new()).await;
}

#[async_std::test]
async fn on_async_std() {
    converse(AsyncStd::new()).await;
}

async fn converse<D: Driver + Sleep>(driver: D) {
    let (ours, theirs) = duplex(8);
    let service = mcp_tests::service(driver.clone()).unwrap();
    let server = StdioServer::new(driver, service).serve_on(TokioStream::new(theirs), pending());
    let client = async {
        let (mut reader, mut writer) = tokio::io::split(ours);
        let requests: String =
            (0..200).map(|id| call(id, "add", r#"{"a":2,"b":40}"#) + "\n").collect();
        writer.write_all(requests.as_bytes()).await.unwrap();
        writer.shutdown().await.unwrap();
        let mut replies = String::new();
        reader.read_to_string(&mut replies).await.unwrap();
        replies
    };
    let (served, replies) = tokio::join!(server, client);
    served.unwrap();
    assert_eq!(replies.lines().count(), 200);
}
