//! Lists the tools of a server that wants a token, which is in a file and may be renewed there:
//! `cargo run --features tls --example https -- https://mcp.example.com/mcp token.txt`

use std::path::PathBuf;

use mcp_driver_tokio::Client;
use mcp_driver_tokio::client::{CarryError, TokenSource};

struct InFile(PathBuf);

impl TokenSource for InFile {
    async fn token(&self, refused: Option<Vec<String>>) -> Result<Option<String>, CarryError> {
        for challenge in refused.iter().flatten() {
            eprintln!("the server wants another token: {challenge}");
        }
        match tokio::fs::read_to_string(&self.0).await {
            Ok(token) => Ok(Some(token.trim().to_owned())),
            Err(error) => Err(CarryError::unsent(format!("{}: {error}", self.0.display()))),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(url), Some(file)) = (words.next(), words.next()) else {
        return Err("usage: https URL FILE".into());
    };
    let client = Client::http(url).bearer(InFile(file.into())).connect().await?;
    for tool in client.list_tools().await? {
        println!("{}: {}", tool.name, tool.description.unwrap_or_default());
    }
    client.close().await;
    Ok(())
}
