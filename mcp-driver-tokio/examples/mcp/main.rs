//! A client for the command line:
//!
//! ```text
//! mcp http://127.0.0.1:8080/mcp tools
//! mcp npx -y @modelcontextprotocol/server-everything --revision 2025-11-25 call echo message=hello
//! ```
//!
//! It ends with 0 where all went well, 1 where a tool says that it failed, 2 where the command line
//! is wrong, 3 where the server refused, and 4 where it could not be reached.

mod ask;
mod options;
mod show;

use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};
use mcp_driver_tokio::client::{ClientError, Connect, Erred, Event, Pending, ask_with};
use mcp_driver_tokio::model::Filter;
use mcp_driver_tokio::{Client, Tokio};
use serde_json::{Map, Value};

use options::{Options, Server, Verb};
use show::Show;

#[tokio::main]
async fn main() -> ExitCode {
    let options = match Options::read(std::env::args().skip(1).collect()) {
        Ok(options) => options,
        Err(why) => {
            eprintln!("{why}\n\n{}", options::USAGE);
            return ExitCode::from(2);
        }
    };
    let done = run(&options).await;
    let code = match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("mcp: {error}");
            match error.erred() {
                Erred::Caller => 2,
                Erred::Server => 3,
                Erred::World => 4,
            }
        }
    };
    // A question may still be read from the terminal, which nothing can interrupt.
    std::process::exit(code)
}

async fn run(options: &Options) -> Result<i32, ClientError> {
    let client = connect(options).await?;
    let code = say(&client, options).await;
    client.close().await;
    code
}

async fn connect(options: &Options) -> Result<Client, ClientError> {
    match &options.server {
        Server::Url(url) => {
            let connect = prepared(Client::http(url), options);
            match &options.bearer {
                Some(token) => connect.bearer(token.clone()).connect().await,
                None => connect.connect().await,
            }
        }
        Server::Command(words) => prepared(Client::stdio(words), options).connect().await,
    }
}

fn prepared<W>(connect: Connect<W, Tokio>, options: &Options) -> Connect<W, Tokio> {
    let (quiet, trace) = (options.json, options.trace);
    let connect = connect
        .info("mcp", env!("CARGO_PKG_VERSION"))
        .on_ask(ask_with(ask::what_can_be_asked(), ask::at_the_terminal))
        .on_event(move |event| match event {
            event if trace => eprintln!("{event:?}"),
            Event::Log(_, log) if !quiet => eprintln!("{}: {}", log.level, log.data),
            Event::Warning(what) => eprintln!("warning: {what}"),
            _ => {}
        });
    match options.revision {
        Some(revision) => connect.revision(revision),
        None => connect,
    }
}

async fn say(client: &Client, options: &Options) -> Result<i32, ClientError> {
    let show = Show { json: options.json };
    match &options.verb {
        Verb::Tools => show.tools(&client.list_tools().await?),
        Verb::Call(name, arguments) => {
            let reply = with_progress(client.call_tool(name, arguments)).await?;
            show.tool_reply(&reply);
            return Ok(i32::from(reply.is_error));
        }
        Verb::Read(uri) => show.contents(&with_progress(client.read_resource(uri)).await?),
        Verb::Prompt(name, arguments) => {
            let arguments: Map<String, Value> = arguments.clone();
            show.prompt(&with_progress(client.get_prompt(name, &arguments)).await?);
        }
        Verb::Listen(uris) => return listen(client, uris, &show).await,
        Verb::Ping => {
            client.ping().await?;
            show.pong();
        }
        Verb::Describe => {
            if let Some(server) = client.server() {
                show.server(&server);
            }
        }
    }
    Ok(0)
}

/// Until the server ends it, or the person does.
async fn listen(client: &Client, uris: &[String], show: &Show) -> Result<i32, ClientError> {
    let mut filter = Filter::lists();
    filter.uris = uris.to_vec();
    let mut listening = client.listen(filter);
    loop {
        let event = tokio::select! {
            event = listening.next() => event,
            _ = tokio::signal::ctrl_c() => None,
        };
        match event {
            Some(event) => show.heard(&event?),
            None => return Ok(0),
        }
    }
}

/// A bar, once there is something to show. It is drawn on stderr, where that is a terminal.
async fn with_progress<T: 'static>(call: Pending<T>) -> Result<T, ClientError> {
    let call = call.start();
    let mut updates = call.progress();
    let bar = ProgressBar::no_length();
    let drawn = async {
        while let Some(update) = updates.next().await {
            if let Some(total) = update.total {
                bar.set_style(ProgressStyle::default_bar());
                bar.set_length(total.max(0.0) as u64);
            }
            bar.set_position(update.progress.max(0.0) as u64);
            bar.set_message(update.message.unwrap_or_default());
        }
    };
    let (result, ()) = tokio::join!(call, drawn);
    bar.finish_and_clear();
    result
}
