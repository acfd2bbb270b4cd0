//! The golden conversations over real sockets: both drivers say the same, byte for byte, and what
//! is written.
//!
//! Random bytes follow from a seed, and time stands still but for the pauses of handlers.

mod fixed;
#[path = "../../mcp-proto/tests/fixture/mod.rs"]
mod fixture;
#[allow(dead_code, reason = "what each is about is read elsewhere")]
#[path = "../../mcp-proto/tests/golden/scenarios.rs"]
mod scenarios;
mod service;
mod talk;

use std::net::SocketAddr;
use std::path::Path;

use fixed::{Fixed, World};
use fixture::{Peer, Wire};
use mcp_driver_async_std::AsyncStd;
use mcp_driver_tokio::Tokio;
use mcp_proto::revision::Revision;
use mcp_proto::service::HttpBuilder;
use scenarios::SCENARIOS;
use talk::Talk;

#[test]
fn both_drivers_say_the_same_byte_for_byte_and_what_is_written() {
    let tokio = tokio::runtime::Runtime::new().expect("a runtime");
    let on_tokio = |world: &World| tokio.block_on(serve_on_tokio(world.clone()));
    let on_async_std = |world: &World| async_std::task::block_on(serve_on_async_std(world.clone()));
    let (mut held, mut differences) = (0, Vec::new());
    for revision in Revision::ALL {
        for scenario in SCENARIOS.iter().filter(|it| (it.applies)(revision, Wire::Http)) {
            let run = |serve: &dyn Fn(&World) -> SocketAddr| {
                let world = World::default();
                let address = serve(&world);
                let mut talk = Talk::new(Peer::new(revision, Wire::Http), address, world.clone());
                (scenario.run)(&mut talk);
                world.end();
                talk
            };
            let (one, other) = (run(&on_tokio), run(&on_async_std));
            let name = format!("{revision} {}", scenario.name);
            assert!(!one.heard().is_empty(), "{name}: nothing was said");
            assert!(
                one.heard() == other.heard(),
                "{name}: on tokio\n{}\non async-std\n{}",
                one.transcript(),
                other.transcript()
            );
            held += 1;
            if !one.transcript().lines().eq(written(revision, scenario.name).lines()) {
                differences.push(format!("{name} is now:\n{}", one.transcript()));
            }
        }
    }
    println!("{held} conversations");
    assert!(differences.is_empty(), "{} differ: {}", differences.len(), differences.join("\n"));
}

async fn serve_on_tokio(world: World) -> SocketAddr {
    let driver = Fixed::new(Tokio::new(), world.clone());
    let server = endpoint(HttpBuilder::new(driver, service::service(&world))).bind("127.0.0.1:0");
    let server = server.await.expect("bound");
    let address = server.local_addr();
    let ended = world.ended();
    tokio::spawn(async move { server.serve_with_shutdown(ended).await });
    address
}

async fn serve_on_async_std(world: World) -> SocketAddr {
    let driver = Fixed::new(AsyncStd::new(), world.clone());
    let server = endpoint(HttpBuilder::new(driver, service::service(&world))).bind("127.0.0.1:0");
    let server = server.await.expect("bound");
    let address = server.local_addr();
    let ended = world.ended();
    async_std::task::spawn(async move { server.serve_with_shutdown(ended).await });
    address
}

fn endpoint<D: mcp_proto::service::Driver>(server: HttpBuilder<D>) -> HttpBuilder<D> {
    server.allow_delete(true)
}

/// The transcript that is written of a conversation, but for the times and what only the machine
/// knows.
fn written(revision: Revision, scenario: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mcp-proto/tests/golden");
    let path = folder.join(revision.as_str()).join(format!("{scenario}.http.txt"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("{}", path.display()));
    talk::timeless(&text)
}
