//! A client that takes a server through some steps and reports, for scripts that judge the report.

use std::collections::BTreeSet;
use std::env::{args, current_dir};
use std::error::Error;
use std::time::Duration;

use mcp_proto::model::{
    Answer, Body, Change, ClientCapabilities, Content, Filter, InputRequest, elicit_accept,
};
use mcp_proto::revision::Revision;
use mcp_proto::service::client::{
    Asked, Client, ClientError, Connect, Declined, ErrorKind, ListenEvent, Listening, StartProcess,
    ask_with,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Whatever went wrong.
type Failed = Box<dyn Error + Send + Sync>;

/// One thing to do. What is called is known to the script only.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Step {
    /// Lists names of tools.
    Tools {},
    /// Lists URIs of resources.
    Resources {},
    /// Lists names of prompts.
    Prompts {},
    /// Calls a tool: its text, and its value for programs.
    Call(Call),
    /// Calls a tool: how far it said to have come.
    Progress(Call),
    /// Reads a resource: its text.
    Read { uri: String },
    /// Gets a prompt: its text, message by message.
    Prompt(Call),
    /// Listens, makes the calls of `cause`, and waits until all of `until` was heard: what of it
    /// was heard.
    Listen { uris: Vec<String>, cause: Vec<Call>, until: BTreeSet<String> },
    /// Calls `call`, cancels it once it says how far it has come, then calls `then` until its text
    /// is `until`: how the call ended, and that text.
    Cancel { call: Call, then: Call, until: String },
    /// Calls `call`, and `then` once it says how far it has come: what came, in order.
    During { call: Call, then: Call },
    /// Listens, makes the calls `before`, `during` and `after`, and wishes for a restart of the server
    /// once `during` says how far it has come: what was heard after the first and the last, and the
    /// text of the second between them.
    Restart { before: Call, during: Call, after: Call, uris: Vec<String> },
}

#[derive(Deserialize)]
struct Call {
    name: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// Runs with the command line `REVISION STEPS URL` or `REVISION STEPS COMMAND...`; the steps are
/// JSON, and where the revision is `any` it is found out. Prints `{"revision": .., "results": [..]}`.
///
/// # Errors
/// What went wrong; the process then fails.
pub async fn exercise<D: StartProcess>() -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut words = args().skip(1);
    let (revision, steps) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let revision = if revision == "any" { None } else { Some(revision.parse()?) };
    let steps: Vec<Step> = serde_json::from_str(&steps)?;
    let place: Vec<String> = words.collect();
    let client = match place.as_slice() {
        [url] if url.contains("://") => {
            prepared(Client::<D>::http(url), revision).connect().await?
        }
        command => {
            // Some servers end only when they are told to.
            let client = prepared(Client::<D>::stdio(command), revision);
            client.process(|process| process.grace(PAUSE)).connect().await?
        }
    };
    let mut results = Vec::new();
    for step in &steps {
        results.push(take(&client, step).await?);
    }
    println!("{}", json!({ "revision": client.revision(), "results": results }));
    client.close().await;
    Ok(())
}

fn prepared<W, D>(connect: Connect<W, D>, revision: Option<Revision>) -> Connect<W, D> {
    let mut can = ClientCapabilities::default();
    (can.elicitation_form, can.sampling, can.roots) = (true, true, true);
    let connect = connect.info("exercise", "1.0.0").on_ask(ask_with(can, answer));
    match revision {
        Some(revision) => connect.revision(revision),
        None => connect,
    }
}

/// A form is filled in as far as it is known how; the rest has defaults.
async fn answer(asked: Asked) -> Result<Answer, Declined> {
    let answer = match asked.question {
        InputRequest::Elicit(form) => {
            let known = [("username", "Ada"), ("name", "Ada"), ("email", "ada@example.com")];
            let is_asked = |name: &str| form.schema.fields().iter().any(|it| it.name == name);
            let filled = known.into_iter().filter(|(name, _)| is_asked(name));
            elicit_accept(&filled.collect::<std::collections::BTreeMap<_, _>>())
        }
        InputRequest::Sample(_) => {
            let content = json!({ "type": "text", "text": "Paris" });
            elicit_accept(&json!({ "role": "assistant", "model": "none", "content": content }))
        }
        InputRequest::ListRoots => {
            let here = current_dir().unwrap_or_default();
            elicit_accept(&json!({ "roots": [{ "uri": format!("file://{}", here.display()) }] }))
        }
        _ => return Err(Declined::failed("this client was not told to be asked that")),
    };
    answer.map_err(|error| Declined::failed(error.to_string()))
}

async fn take<D: StartProcess>(client: &Client<D>, step: &Step) -> Result<Value, Failed> {
    Ok(match step {
        Step::Tools {} => {
            client.list_tools().await?.into_iter().map(|tool| tool.name).collect::<Value>()
        }
        Step::Resources {} => {
            client.list_resources().await?.into_iter().map(|resource| resource.uri).collect()
        }
        Step::Prompts {} => {
            client.list_prompts().await?.into_iter().map(|prompt| prompt.name).collect()
        }
        Step::Call(call) => called(client, call).await?,
        Step::Progress(call) => reports(client, call).await?,
        Step::Read { uri } => {
            let result = client.read_resource(uri).await?;
            result.contents.into_iter().map(|contents| body(contents.body)).collect()
        }
        Step::Prompt(Call { name, arguments }) => {
            let result = client.get_prompt(name, arguments).await?;
            let messages = result.messages.into_iter();
            messages.map(|it| format!("{}: {}", it.role.as_str(), text(it.content))).collect()
        }
        Step::Listen { uris, cause, until } => listened::<D>(client, uris, cause, until).await?,
        Step::Cancel { call, then, until } => cancelled::<D>(client, call, then, until).await?,
        Step::During { call, then } => meanwhile(client, call, then).await?,
        Step::Restart { before, during, after, uris } => {
            restarted(client, [before, during, after], uris).await?
        }
    })
}

async fn called<D>(client: &Client<D>, call: &Call) -> Result<Value, ClientError> {
    let reply = client.call_tool(&call.name, &call.arguments).await?;
    let mut result = json!({ "text": reply.text() });
    if let Some(structured) = &reply.structured {
        result["structured"] = structured.decode().unwrap_or_default();
    }
    if reply.is_error {
        result["is_error"] = true.into();
    }
    Ok(result)
}

async fn reports<D>(client: &Client<D>, call: &Call) -> Result<Value, ClientError> {
    let call = client.call_tool(&call.name, &call.arguments).start();
    let mut updates = call.progress();
    let mut reports = Vec::new();
    while let Some(update) = updates.next().await {
        reports.push(json!([update.progress, update.total]));
    }
    call.await?;
    Ok(reports.into())
}

fn body(body: Body) -> String {
    match body {
        Body::Text(text) => text,
        Body::Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}

fn text(content: Content) -> String {
    match content {
        Content::Text { text, .. } => text,
        other => format!("{other:?}"),
    }
}

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(50);

async fn listened<D: StartProcess>(
    client: &Client<D>,
    uris: &[String],
    cause: &[Call],
    until: &BTreeSet<String>,
) -> Result<Value, Failed> {
    let mut filter = Filter::lists();
    filter.uris = uris.to_vec();
    let mut listening = client.listen(filter);
    let mut heard = BTreeSet::new();
    while !heard.is_superset(until) {
        match listening.next().await.ok_or("listening ended")?? {
            ListenEvent::Listening(_) => {
                for Call { name, arguments } in cause {
                    client.call_tool(name, arguments).await?;
                }
            }
            ListenEvent::Changed(change) => drop(heard.insert(named(change))),
            _ => {}
        }
    }
    Ok(heard.intersection(until).cloned().collect())
}

fn named(change: Change) -> String {
    match change {
        Change::Tools => "tools".into(),
        Change::Prompts => "prompts".into(),
        Change::Resources => "resources".into(),
        Change::Updated(uri) => uri,
        other => format!("{other:?}"),
    }
}

async fn cancelled<D: StartProcess>(
    client: &Client<D>,
    call: &Call,
    then: &Call,
    until: &str,
) -> Result<Value, Failed> {
    let running = client.call_tool(&call.name, &call.arguments).start();
    running.progress().next().await.ok_or("it ended without a word")?;
    running.cancel();
    let ended = match running.await {
        Err(ClientError { kind: ErrorKind::Cancelled, .. }) => "cancelled".to_owned(),
        Err(error) => error.to_string(),
        Ok(reply) => reply.text(),
    };
    loop {
        let said = client.call_tool(&then.name, &then.arguments).await?.text();
        if said == until {
            return Ok(json!([ended, said]));
        }
        D::default().sleep(PAUSE).await;
    }
}

async fn meanwhile<D>(client: &Client<D>, call: &Call, then: &Call) -> Result<Value, Failed> {
    let running = client.call_tool(&call.name, &call.arguments).start();
    let mut updates = running.progress();
    let mut came = Vec::new();
    while let Some(update) = updates.next().await {
        came.push(format!("progress {}", update.progress));
        if came.len() == 1 {
            client.call_tool(&then.name, &then.arguments).await?;
            came.push("meanwhile".to_owned());
        }
    }
    came.push(running.await?.text());
    Ok(json!(came))
}

async fn restarted<D>(
    client: &Client<D>,
    [before, during, after]: [&Call; 3],
    uris: &[String],
) -> Result<Value, Failed> {
    let mut filter = Filter::default();
    filter.uris = uris.to_vec();
    let mut listening = client.listen(filter.clone());
    let first = heard_of(client, &mut listening, &filter, before).await?;
    let running = client.call_tool(&during.name, &during.arguments).start();
    running.progress().next().await.ok_or("it ended without a word")?;
    wish("restart").await?;
    let said = running.await?.text();
    let last = heard_of(client, &mut listening, &filter, after).await?;
    Ok(json!([first, said, last]))
}

/// What is heard after `cause`, which is called again whenever listening begins anew.
async fn heard_of<D>(
    client: &Client<D>,
    listening: &mut Listening,
    filter: &Filter,
    cause: &Call,
) -> Result<String, Failed> {
    client.call_tool(&cause.name, &cause.arguments).await?;
    loop {
        match listening.next().await.transpose()? {
            Some(ListenEvent::Changed(change)) => return Ok(named(change)),
            Some(_) => drop(client.call_tool(&cause.name, &cause.arguments).await?),
            // A server that stops ends it in good order.
            None => *listening = client.listen(filter.clone()),
        }
    }
}

/// Tells the script what to do, and waits until it was done.
async fn wish(what: &str) -> Result<(), Failed> {
    println!("{what}");
    let (done, is_done) = futures_channel::oneshot::channel();
    std::thread::spawn(move || done.send(std::io::stdin().read_line(&mut String::new())));
    is_done.await??;
    Ok(())
}
