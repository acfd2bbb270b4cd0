//! What the command line says, done; on any driver.

use std::pin::pin;

use futures_util::future::{Either, join, select};
use mcp_proto::model::{Filter, Json, ReplyValue, Request, Tool};
use mcp_proto::service::client::{
    Client, ClientError, Connect, Erred, Event, ListenEvent, Pending, StartProcess, ask_with,
};
use serde_json::{Map, Value};

use crate::ask;
use crate::options::{Arguments, Asked, Options, Server, Verb};
use crate::show::{Offers, Show};
use crate::terminal::Terminal;
use crate::trace::Trace;

/// Reads the command line and does what it says, until `interrupted`. Gives the exit code.
pub(crate) async fn run<D: StartProcess>(interrupted: impl Future<Output = ()>) -> i32 {
    let options = match Options::read(std::env::args().skip(1).collect()) {
        Ok(Asked::Help(text)) => {
            println!("{text}");
            return 0;
        }
        Ok(Asked::Run(options)) => *options,
        Err(why) => {
            eprintln!("mcp: {why}; `mcp --help` says what can be");
            return 2;
        }
    };
    let terminal = Terminal::default();
    let mut interrupted = pin!(interrupted);
    let connected = match select(pin!(connect::<D>(&options, &terminal)), &mut interrupted).await {
        Either::Left((connected, _)) => connected,
        Either::Right(_) => return INTERRUPTED,
    };
    let client = match connected {
        Ok(client) => client,
        Err(error) => return failed(&error, &options.server),
    };
    let done = match select(pin!(say(&client, &options, &terminal)), &mut interrupted).await {
        Either::Left((done, _)) => done.unwrap_or_else(|error| failed(&error, &options.server)),
        // Listening goes on until it is interrupted; a call that is dropped is cancelled.
        Either::Right(_) if matches!(options.verb, Verb::Listen(_)) => 0,
        Either::Right(_) => INTERRUPTED,
    };
    terminal.leave();
    client.close().await;
    done
}

/// As shells count the end by a signal.
const INTERRUPTED: i32 = 130;

fn failed(error: &ClientError, server: &Server) -> i32 {
    let (code, about) = match error.erred() {
        Erred::Caller => (2, String::new()),
        Erred::Server => (3, String::new()),
        Erred::World => (4, format!("{server}: ")),
    };
    eprintln!("mcp: {about}{error}");
    code
}

async fn connect<D: StartProcess>(
    options: &Options,
    terminal: &Terminal,
) -> Result<Client<D>, ClientError> {
    match &options.server {
        Server::Url(url) => {
            let mut connect = prepared(Client::<D>::http(url), options, terminal);
            for (name, value) in &options.headers {
                connect = connect.header(name.clone(), value.clone());
            }
            match &options.bearer {
                Some(token) => connect.bearer(token.clone()).connect().await,
                None => connect.connect().await,
            }
        }
        Server::Command(words) => {
            let mut connect = prepared(Client::<D>::stdio(words), options, terminal);
            for (name, value) in &options.variables {
                connect = connect.env(name, value);
            }
            connect.connect().await
        }
    }
}

fn prepared<W, D>(connect: Connect<W, D>, options: &Options, terminal: &Terminal) -> Connect<W, D> {
    let (asked, told) = (terminal.clone(), terminal.clone());
    let quiet = options.json;
    let mut connect = connect
        .info("mcp", env!("CARGO_PKG_VERSION"))
        .on_ask(ask_with(ask::what_can_be_asked(), move |it| ask::at(asked.clone(), it)))
        .on_event(move |event| match event {
            Event::Log(_, log) if !quiet => told.say(&format!("{}: {}", log.level, log.data)),
            Event::Warning(what) => told.say(&format!("warning: {what}")),
            _ => {}
        });
    if options.trace {
        let trace = Trace::new(terminal.clone());
        connect = connect.on_wire(move |wire| trace.tell(wire));
    }
    match options.revision {
        Some(revision) => connect.revision(revision),
        None => connect,
    }
}

async fn say<D>(
    client: &Client<D>,
    options: &Options,
    terminal: &Terminal,
) -> Result<i32, ClientError> {
    let show = Show { json: options.json };
    let request = match &options.verb {
        Verb::Call(name, arguments) => {
            let arguments = typed(arguments, client.list_tools().await.ok(), name);
            Request::call_tool(name, Some(Value::Object(arguments).into()))
        }
        Verb::Read(uri) => Request::read_resource(uri),
        Verb::Prompt(name, arguments) => {
            Request::get_prompt(name, Some(Value::Object(arguments.as_text()).into()))
        }
        Verb::Tools => {
            show.tools(&client.list_tools().await?);
            return Ok(0);
        }
        Verb::Listen(uris) => {
            let mut filter = Filter::lists();
            filter.uris.clone_from(uris);
            listen(client, &filter, &show, terminal).await?;
            return Ok(3);
        }
        Verb::Ping => {
            client.ping().await?;
            show.pong();
            return Ok(0);
        }
        Verb::Describe => {
            describe(client, &show, terminal).await;
            return Ok(0);
        }
    };
    let reply = with_progress(client.call(request), terminal).await?;
    show.reply(&reply);
    Ok(match reply.value {
        ReplyValue::Tool(result) if result.is_error => 1,
        _ => 0,
    })
}

/// The arguments as the tool wants them: what is a string there stays one, though it reads like
/// JSON.
fn typed(arguments: &Arguments, tools: Option<Vec<Tool>>, name: &str) -> Map<String, Value> {
    let tool = tools.into_iter().flatten().find(|tool| tool.name == name);
    let schema: Option<Value> = tool.and_then(|tool| tool.input_schema.decode().ok());
    let is_string = |name: &str| {
        schema.as_ref().is_some_and(|schema| schema["properties"][name]["type"] == "string")
    };
    arguments.as_json(is_string)
}

/// Tells of changes, and listens again where the server ended that, as it does when it is started
/// anew. Gives up once nothing was told between two ends for `TRIES` times.
async fn listen<D>(
    client: &Client<D>,
    filter: &Filter,
    show: &Show,
    terminal: &Terminal,
) -> Result<(), ClientError> {
    const TRIES: u32 = 5;
    let mut in_vain = 0;
    loop {
        let mut listening = client.listen(filter.clone());
        while let Some(event) = listening.next().await {
            let event = event?;
            if !matches!(event, ListenEvent::Listening(_)) {
                in_vain = 0;
            }
            show.heard(&event);
        }
        in_vain += 1;
        if in_vain > TRIES {
            terminal.say("mcp: the server ended the subscription time and again");
            return Ok(());
        }
        terminal.say("mcp: the server ended the subscription; listening again");
        show.heard(&ListenEvent::Missed);
    }
}

/// Shows what the server says of itself. A list that cannot be had hides no other.
async fn describe<D>(client: &Client<D>, show: &Show, terminal: &Terminal) {
    let Some(server) = client.server() else { return };
    let declared: Option<Value> =
        server.description.declared.as_ref().and_then(|it: &Json| it.decode().ok());
    let declares = |what: &str| declared.as_ref().is_some_and(|it| it.get(what).is_some());
    let mut offers = Offers::default();
    if declares("tools") {
        offers.tools = listed("tools", client.list_tools(), terminal).await;
    }
    if declares("resources") {
        offers.resources = listed("resources", client.list_resources(), terminal).await;
        offers.templates =
            listed("resource templates", client.list_resource_templates(), terminal).await;
    }
    if declares("prompts") {
        offers.prompts = listed("prompts", client.list_prompts(), terminal).await;
    }
    show.server(&server, declared.as_ref(), &offers);
}

/// What is in a list; nothing where it cannot be had, with a word on why.
async fn listed<T: 'static>(what: &str, list: Pending<Vec<T>>, terminal: &Terminal) -> Vec<T> {
    list.await.unwrap_or_else(|error| {
        terminal.say(&format!("warning: no list of {what}: {error}"));
        Vec::new()
    })
}

/// The result of a call, and how far it has come until then.
async fn with_progress<T: 'static>(
    call: Pending<T>,
    terminal: &Terminal,
) -> Result<T, ClientError> {
    let call = call.start();
    let mut updates = call.progress();
    let drawn = async {
        while let Some(update) = updates.next().await {
            terminal.draw(update);
        }
    };
    let (result, ()) = join(call, drawn).await;
    terminal.clear();
    result
}
