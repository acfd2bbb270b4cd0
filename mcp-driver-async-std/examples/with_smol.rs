//! A server on smol. Sockets and timers of this driver are those of `async-io`, which is smol's
//! too; only tasks are spawned elsewhere, and that is one function of a driver:
//!
//! ```text
//! cargo run -p mcp-driver-async-std --example with_smol
//! ```

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use mcp_driver_async_std::mcp_proto::effect::EffectError;
use mcp_driver_async_std::mcp_proto::time::Instant;
use mcp_driver_async_std::{
    Args, AsyncStd, Driver, Error, HttpBuilder, Json, Registry, Runtime, Shared, StandardStreams,
    TcpConnections, schemars, shutdown_signal, tool,
};

/// smol, as what machines and handlers run on.
#[derive(Clone, Copy)]
struct Smol(AsyncStd);

impl Runtime for Smol {
    type Timer = <AsyncStd as Runtime>::Timer;

    fn now(&self) -> Instant {
        Runtime::<Shared>::now(&self.0)
    }

    fn timer(&self) -> Self::Timer {
        Runtime::<Shared>::timer(&self.0)
    }

    fn wall(&self) -> Duration {
        Runtime::<Shared>::wall(&self.0)
    }

    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), EffectError> {
        Runtime::<Shared>::fill_random(&self.0, bytes)
    }

    fn detach<T: 'static>(&self, work: Pin<Box<dyn Future<Output = T> + Send>>) {
        let task = smol::spawn(async {
            work.await;
        });
        task.detach();
    }
}

impl Driver for Smol {
    type Listener = TcpConnections;
    type Stdio = StandardStreams;

    async fn bind(&self, address: String) -> io::Result<TcpConnections> {
        Driver::<Shared>::bind(&self.0, address).await
    }

    fn stdio(&self, private: bool) -> io::Result<StandardStreams> {
        Driver::<Shared>::stdio(&self.0, private)
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Sum {
    total: i64,
}

/// Waits on smol, as any handler may.
async fn add(Args(Add { a, b }): Args<Add>) -> Json<Sum> {
    smol::Timer::after(Duration::from_millis(1)).await;
    Json(Sum { total: a + b })
}

fn main() -> Result<(), Error> {
    smol::block_on(async {
        let told_to_end = shutdown_signal();
        let service = Registry::new("with_smol", env!("CARGO_PKG_VERSION"))
            .tool(tool("add", add).description("Add two integers."))
            .build()?;
        let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".into());
        let server = HttpBuilder::new(Smol(AsyncStd::new()), service).bind(address).await?;
        eprintln!("{server}");
        server.serve_with_shutdown(told_to_end).await
    })
}
