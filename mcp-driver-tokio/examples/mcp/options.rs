//! The command line.

use mcp_driver_tokio::mcp_proto::revision::Revision;
use serde_json::{Map, Value};

pub(crate) const USAGE: &str = "\
usage: mcp [OPTION...] SERVER... [OPTION...] [--] VERB

SERVER is a URL, or a command and its arguments.

  tools                       list the tools
  call NAME [KEY=VALUE...]    call a tool; a value is JSON, or else text
  read URI                    read a resource
  prompt NAME [KEY=VALUE...]  get a prompt
  listen [URI...]             tell of changes, until interrupted
  ping                        ask for a sign of life
  describe                    say what the server is

  --revision R                speak this revision of the protocol only
  --bearer TOKEN              send this token; MCP_BEARER in the environment keeps it off the screen
  --json                      print JSON, one value a line
  --trace                     tell on stderr what happens, in which no credentials occur";

pub(crate) struct Options {
    pub(crate) server: Server,
    pub(crate) verb: Verb,
    pub(crate) revision: Option<Revision>,
    pub(crate) bearer: Option<String>,
    pub(crate) json: bool,
    pub(crate) trace: bool,
}

pub(crate) enum Server {
    Url(String),
    Command(Vec<String>),
}

pub(crate) enum Verb {
    Tools,
    Call(String, Map<String, Value>),
    Read(String),
    Prompt(String, Map<String, Value>),
    Listen(Vec<String>),
    Ping,
    Describe,
}

const VERBS: [&str; 7] = ["tools", "call", "read", "prompt", "listen", "ping", "describe"];
const OPTIONS: [&str; 4] = ["--revision", "--bearer", "--json", "--trace"];

impl Options {
    /// Reads the words. The server's end at the first one that is a verb, an option of this
    /// program, or `--`.
    pub(crate) fn read(words: Vec<String>) -> Result<Self, String> {
        let mut words = words.into_iter().peekable();
        let (mut revision, mut json, mut trace) = (None, false, false);
        let mut bearer = std::env::var("MCP_BEARER").ok();
        let (mut server, mut rest) = (Vec::new(), Vec::new());
        while let Some(word) = words.next() {
            match word.as_str() {
                "--json" => json = true,
                "--trace" => trace = true,
                "--bearer" => bearer = Some(words.next().ok_or("--bearer needs a token")?),
                "--revision" => {
                    let version = words.next().ok_or("--revision needs a version")?;
                    let parsed = version.parse::<Revision>();
                    revision = Some(parsed.map_err(|_| format!("{version} is no revision"))?);
                }
                "--" if rest.is_empty() => rest.extend(words.next()),
                verb if rest.is_empty() && !server.is_empty() && VERBS.contains(&verb) => {
                    rest.push(word);
                }
                _ if rest.is_empty() => {
                    server.push(word);
                    let ends = |next: &String| {
                        let next = next.as_str();
                        VERBS.contains(&next) || OPTIONS.contains(&next) || next == "--"
                    };
                    while let Some(word) = words.next_if(|next| !ends(next)) {
                        server.push(word);
                    }
                }
                _ => rest.push(word),
            }
        }
        let server = match server.as_slice() {
            [] => return Err("which server?".into()),
            [url] if url.contains("://") => Server::Url(url.clone()),
            _ => Server::Command(server),
        };
        Ok(Self { server, verb: verb(rest)?, revision, bearer, json, trace })
    }
}

fn verb(words: Vec<String>) -> Result<Verb, String> {
    let mut words = words.into_iter();
    let verb = words.next().ok_or("and what of it?")?;
    let rest: Vec<String> = words.collect();
    let mut named = rest.iter().cloned();
    match (verb.as_str(), rest.len()) {
        ("tools", 0) => Ok(Verb::Tools),
        ("ping", 0) => Ok(Verb::Ping),
        ("describe", 0) => Ok(Verb::Describe),
        ("listen", _) => Ok(Verb::Listen(rest)),
        ("read", 1) => Ok(Verb::Read(named.next().unwrap_or_default())),
        ("call", 1..) => {
            let name = named.next().unwrap_or_default();
            let value = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| text.into());
            Ok(Verb::Call(name, arguments(named, value)?))
        }
        ("prompt", 1..) => {
            let name = named.next().unwrap_or_default();
            Ok(Verb::Prompt(name, arguments(named, |text| text.into())?))
        }
        _ => Err(format!("`{verb}` is no verb, or has too few words, or too many")),
    }
}

fn arguments(
    words: impl Iterator<Item = String>,
    value: impl Fn(&str) -> Value,
) -> Result<Map<String, Value>, String> {
    let argument = |word: String| match word.split_once('=') {
        Some((name, text)) => Ok((name.to_owned(), value(text))),
        None => Err(format!("`{word}` is not KEY=VALUE")),
    };
    words.map(argument).collect()
}
