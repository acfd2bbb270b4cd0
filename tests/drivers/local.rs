//! Services whose handlers are not `Send`.

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::rc::Rc;
use std::thread;

use futures_channel::oneshot;
use mcp_driver_async_std::AsyncStd;
use mcp_driver_tokio::Tokio;
use mcp_proto::service::{Driver, HttpBuilder, Local, Registry, Service, tool};

use crate::http::post;
use crate::process::call;

#[test]
fn stay_on_their_thread_on_tokio() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(serve(Tokio::new()));
}

#[test]
fn stay_on_their_thread_on_async_std() {
    async_std::task::block_on(serve(AsyncStd::new()));
}

async fn serve(driver: impl Driver<Local>) {
    let server = HttpBuilder::new(driver, counter()).bind("127.0.0.1:0").await.unwrap();
    let address = server.local_addr();
    let (done, over) = oneshot::channel::<()>();
    let client = thread::spawn(move || {
        let replies = [ask(address), ask(address)];
        drop(done);
        replies
    });
    let over = async {
        let _ = over.await;
    };
    server.serve_with_shutdown(over).await.unwrap();
    let [first, second] = client.join().unwrap();
    assert!(first.contains("once") && second.contains("2 times"), "{first}\n{second}");
}

/// Counts in a cell that no other thread could touch.
fn counter() -> Service<Local> {
    let count = Rc::new(Cell::new(0));
    let handler = move || {
        let count = Rc::clone(&count);
        async move {
            count.set(count.get() + 1);
            match count.get() {
                1 => "once".to_owned(),
                times => format!("{times} times"),
            }
        }
    };
    Registry::local("tested", "1.0.0").tool(tool("count", handler)).build().unwrap()
}

fn ask(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = post("Connection: close\r\n", "count", &call(1, "count", "{}"));
    stream.write_all(request.as_bytes()).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}
