//! A service inside an application on axum: under a prefix, behind the application's own layers,
//! for callers with a token, whose metadata are at the application's root.
//!
//! ```text
//! cargo run -p mcp-driver-tokio --features tower --example with_axum
//! curl http://127.0.0.1:8080/reports/mcp -H 'Authorization: Bearer an-example-token' \
//!   -H 'Content-Type: application/json' -H 'Accept: application/json' \
//!   -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"title","arguments":{}}}'
//! ```

use axum::Router;
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::get;
use mcp_driver_tokio::mcp_proto::auth::{Authorization, Principal};
use mcp_driver_tokio::{
    Error, Extension, Guard, Registry, StaticTokens, http, shutdown_signal, tool,
};
use tokio::net::TcpListener;

/// Where the service is, as clients see it.
const MOUNT: &str = "/reports/mcp";

/// Who the application works for. Its own layer finds out.
#[derive(Clone)]
struct Tenant(String);

async fn find_tenant(headers: HeaderMap, mut request: Request, next: Next) -> Response {
    let name = headers.get("x-tenant").and_then(|name| name.to_str().ok());
    request.extensions_mut().insert(Tenant(name.unwrap_or("nobody").to_owned()));
    next.run(request).await
}

async fn title(Extension(Tenant(tenant)): Extension<Tenant>, who: Principal) -> String {
    format!("The report of {tenant}, for {}", who.identity())
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".into());
    let listener = TcpListener::bind(address).await?;
    let origin = format!("http://{}", listener.local_addr()?);

    let service = Registry::new("reports", env!("CARGO_PKG_VERSION"))
        .tool(tool("title", title).description("The title of the report."))
        .build()?;
    let authorization = Authorization::builder(format!("{origin}{MOUNT}"))
        .authorization_server("https://login.example.com")
        .build()
        .map_err(Error::internal)?;
    let tokens = StaticTokens::new()
        .token("an-example-token", Principal::subject("ada"))
        .map_err(Error::internal)?;
    let mcp = http(service)
        .auth(Guard::new(authorization, tokens))
        .prefix(MOUNT)
        .http_sse("/sse", "/messages")
        .metadata(false) // axum leads nothing here but what is below the mount
        .mount()?;

    let mut app =
        Router::new().route("/health", get(|| async { "well" })).nest_service(MOUNT, mcp.clone());
    for path in mcp.metadata_paths() {
        app = app.route_service(&path, mcp.metadata());
    }
    let app = app.layer(from_fn(find_tenant));

    let told = shutdown_signal();
    eprintln!("listening on {origin}{MOUNT}");
    axum::serve(listener, app)
        .with_graceful_shutdown(async move {
            told.await;
            // axum waits for open streams, so they are told to end.
            tokio::spawn(async move { mcp.shutdown().await });
        })
        .await?;
    Ok(())
}
