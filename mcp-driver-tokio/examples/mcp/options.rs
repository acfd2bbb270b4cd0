//! The command line.

use std::fmt;

use http::{HeaderName, HeaderValue};
use mcp_proto::revision::Revision;
use serde_json::{Map, Value};

const HELP: &str = "\
usage: mcp [OPTION...] SERVER... [OPTION...] [--] VERB...

SERVER is a URL, or a command and its arguments. It ends at the first word that is a verb, an
option of these, or `--`.

verbs:
  tools                         list the tools
  call NAME [KEY=VALUE...]      call a tool; a value is JSON or else text, and `{...}` all arguments
  read URI                      read a resource
  prompt NAME [KEY=VALUE...]    get a prompt
  listen [URI...]               tell of changes, until interrupted
  ping                          ask for a sign of life
  describe                      say what the server is, and what it offers

options:
  --revision R                  speak this revision of the protocol only
  --json                        print JSON, one value a line
  --trace                       tell on stderr what goes over the wire, with secrets hidden
  --bearer TOKEN                send this token to a URL; MCP_BEARER in the environment keeps it
                                off the screen
  --header 'NAME: VALUE'        send this header to a URL
  --env NAME[=VALUE]            give a command this variable, or the one that is here; otherwise it
                                gets PATH, HOME and the like
  --help                        say this

It ends with
  0    all went well
  1    the tool says that it failed
  2    the command line is wrong, or something was asked that nobody answers
  3    the server refused, or does not keep to the protocol
  4    the server could not be reached, or did not answer in time
  130  it was interrupted; the call was cancelled";

/// What the command line asks for.
pub(crate) enum Asked {
    Help(&'static str),
    Run(Box<Options>),
}

pub(crate) struct Options {
    pub(crate) server: Server,
    pub(crate) verb: Verb,
    pub(crate) revision: Option<Revision>,
    pub(crate) bearer: Option<String>,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) json: bool,
    pub(crate) trace: bool,
}

pub(crate) enum Server {
    Url(String),
    Command(Vec<String>),
}

/// Without a URL's query, which may hold secrets.
impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => f.write_str(url.split('?').next().unwrap_or_default()),
            Self::Command(words) => f.write_str(&words.join(" ")),
        }
    }
}

pub(crate) enum Verb {
    Tools,
    Call(String, Arguments),
    Read(String),
    Prompt(String, Arguments),
    Listen(Vec<String>),
    Ping,
    Describe,
}

const VERBS: [&str; 7] = ["tools", "call", "read", "prompt", "listen", "ping", "describe"];
const OPTIONS: [&str; 7] =
    ["--revision", "--bearer", "--header", "--env", "--json", "--trace", "--help"];

impl Options {
    /// Reads the words.
    pub(crate) fn read(words: Vec<String>) -> Result<Asked, String> {
        let mut words = words.into_iter().peekable();
        let (mut revision, mut json, mut trace) = (None, false, false);
        let (mut headers, mut variables) = (Vec::new(), Vec::new());
        let mut bearer = std::env::var("MCP_BEARER").ok();
        let (mut server, mut rest) = (Vec::new(), Vec::new());
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--help" | "-h" => return Ok(Asked::Help(HELP)),
                "--json" => json = true,
                "--trace" => trace = true,
                "--bearer" => bearer = Some(value()?),
                "--header" => headers.push(header(&value()?)?),
                "--env" => variables.push(variable(&value()?)?),
                "--revision" => revision = Some(revision_of(&value()?)?),
                "--" if rest.is_empty() => rest.extend(words.next()),
                verb if rest.is_empty() && !server.is_empty() && VERBS.contains(&verb) => {
                    rest.push(word);
                }
                option if server.is_empty() && option.starts_with('-') => {
                    return Err(format!("there is no option {option}"));
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
            [url, word, ..] if url.contains("://") => {
                return Err(format!("`{word}` is no verb; they are {}", VERBS.join(", ")));
            }
            _ => Server::Command(server),
        };
        let verb = verb(rest)?;
        let options = Self { server, verb, revision, bearer, headers, variables, json, trace };
        Ok(Asked::Run(Box::new(options)))
    }
}

fn revision_of(version: &str) -> Result<Revision, String> {
    version.parse().map_err(|_| {
        let known = Revision::ALL.map(|it| it.to_string()).join(", ");
        format!("{version} is no revision; they are {known}")
    })
}

fn header(line: &str) -> Result<(HeaderName, HeaderValue), String> {
    let read =
        |(name, value): (&str, &str)| Some((name.trim().parse().ok()?, value.trim().parse().ok()?));
    line.split_once(':').and_then(read).ok_or(format!("`{line}` is not `NAME: VALUE`"))
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => {
            let value = std::env::var(text).map_err(|_| format!("there is no variable {text}"))?;
            Ok((text.to_owned(), value))
        }
    }
}

fn verb(words: Vec<String>) -> Result<Verb, String> {
    let mut words = words.into_iter();
    let verb = words.next().ok_or(format!("what of it? {}", VERBS.join(", ")))?;
    let mut rest: Vec<String> = words.collect();
    match (verb.as_str(), rest.len()) {
        ("tools", 0) => Ok(Verb::Tools),
        ("ping", 0) => Ok(Verb::Ping),
        ("describe", 0) => Ok(Verb::Describe),
        ("listen", _) => Ok(Verb::Listen(rest)),
        ("read", 1) => Ok(Verb::Read(rest.remove(0))),
        ("call", 1..) => Ok(Verb::Call(rest.remove(0), Arguments::read(rest)?)),
        ("prompt", 1..) => Ok(Verb::Prompt(rest.remove(0), Arguments::read(rest)?)),
        (verb, _) if VERBS.contains(&verb) => Err(format!("too few words after `{verb}`, or many")),
        (verb, _) => Err(format!("`{verb}` is no verb; they are {}", VERBS.join(", "))),
    }
}

/// The arguments of a tool or prompt, as they were typed.
pub(crate) enum Arguments {
    /// All of them as JSON.
    Whole(Map<String, Value>),
    /// Name and text.
    Words(Vec<(String, String)>),
}

impl Arguments {
    fn read(words: Vec<String>) -> Result<Self, String> {
        if let [whole] = words.as_slice()
            && whole.starts_with('{')
        {
            let whole = serde_json::from_str(whole);
            return whole.map(Self::Whole).map_err(|why| format!("the arguments: {why}"));
        }
        let pair = |word: String| match word.split_once('=') {
            Some((name, text)) => Ok((name.to_owned(), text.to_owned())),
            None => Err(format!("`{word}` is not KEY=VALUE")),
        };
        words.into_iter().map(pair).collect::<Result<_, _>>().map(Self::Words)
    }

    /// What reads as JSON is JSON, unless the argument of that name is a string.
    pub(crate) fn as_json(&self, is_string: impl Fn(&str) -> bool) -> Map<String, Value> {
        self.all(|name, text| match is_string(name) {
            true => text.into(),
            false => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        })
    }

    /// Every argument is text.
    pub(crate) fn as_text(&self) -> Map<String, Value> {
        self.all(|_, text| text.into())
    }

    fn all(&self, value: impl Fn(&str, &str) -> Value) -> Map<String, Value> {
        match self {
            Self::Whole(whole) => whole.clone(),
            Self::Words(words) => {
                words.iter().map(|(name, text)| (name.clone(), value(name, text))).collect()
            }
        }
    }
}
