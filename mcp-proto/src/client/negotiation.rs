//! Which revision a server speaks, and how messages reach it.

use core::fmt;
use core::str::FromStr;

use super::{ClientError, ErrorKind, Server};
use crate::model::{Description, FailureKind, Json};
use crate::revision::{Adapter, AdapterSet, BadReply, ServerError, offered_versions};

#[cfg(test)]
mod tests;

/// How messages reach a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Carriage {
    /// By a pair of byte streams, a message a line.
    Stdio,
    /// Each by an HTTP request of its own.
    Http,
    /// By HTTP requests to an endpoint that an event stream told, on which the answers come.
    HttpSse,
}

impl Carriage {
    const NAMES: [(Self, &'static str); 3] =
        [(Self::Stdio, "stdio"), (Self::Http, "http"), (Self::HttpSse, "http+sse")];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        Self::NAMES.iter().find(|(carriage, _)| *carriage == self).map_or("", |(_, name)| name)
    }
}

/// What was learned of a server, to be kept for the next time. Its text, such as
/// `2025-11-25 http+sse`, reads back.
///
/// It is a guess only: where it no longer holds, the client finds out anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Learned {
    version: String,
    carriage: Carriage,
}

impl Learned {
    pub(super) fn of(server: &Server) -> Self {
        Self { version: server.adapter.version.to_owned(), carriage: server.carriage }
    }

    /// The version of the protocol that the server speaks.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// How messages reach it.
    pub fn carriage(&self) -> Carriage {
        self.carriage
    }
}

impl fmt::Display for Learned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.version, self.carriage.as_str())
    }
}

/// The text is not that of a [`Learned`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseLearnedError;

impl fmt::Display for ParseLearnedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a version of the protocol, a space, and a carriage such as `http`")
    }
}

impl core::error::Error for ParseLearnedError {}

impl FromStr for Learned {
    type Err = ParseLearnedError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (version, name) = text.split_once(' ').ok_or(ParseLearnedError)?;
        let named = Carriage::NAMES.iter().find(|(_, known)| *known == name);
        let (carriage, _) = named.ok_or(ParseLearnedError)?;
        Ok(Self { version: version.to_owned(), carriage: *carriage })
    }
}

/// A negotiation under way. Each state is consumed by the evidence that ends it.
#[derive(Clone, Debug)]
pub(super) enum Negotiation {
    /// A server without handshake would describe itself now.
    Probe(Adapter, Memory),
    /// A server with a handshake would answer it now.
    Greet(Adapter, Memory),
    /// An old server would tell its endpoint on a stream now; else it is this error.
    Seek(Adapter, Memory, ClientError),
}

/// What was tried already, so that nothing is tried twice.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    carriage: Carriage,
    tried: Vec<&'static str>,
    respawned: bool,
    /// The first step was one that an earlier client learned.
    guessed: bool,
}

impl Memory {
    /// Whether the server is a process that can be started again: once.
    fn may_respawn(&self) -> bool {
        self.carriage == Carriage::Stdio && !self.respawned
    }
}

/// What a server gave to see.
#[derive(Clone, Debug)]
pub(super) enum Evidence {
    /// A result.
    Result(Json),
    /// An error, with the status that it came with over HTTP.
    Refused(ServerError, Option<u16>),
    /// HTTP failed with a status and no message.
    Status(u16, ClientError),
    /// Nothing, for as long as the client waits.
    Silence,
    /// The connection broke, or never was.
    Gone(ClientError),
    /// Something that is not the protocol.
    Nonsense(ClientError),
    /// The stream told an endpoint.
    Endpoint,
}

/// What to do.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Wait for evidence, after having done this.
    Do(Action, Negotiation),
    /// The server is known.
    Settled(Adapter, Carriage, Box<Description>),
    /// It is not, for this reason. Nothing was learned (C23).
    Failed(ClientError),
}

/// What to do before waiting for evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Ask the server to describe itself.
    Discover,
    /// Begin a handshake.
    Initialize,
    /// Start the server's process again, then begin a handshake.
    Respawn,
    /// Open the stream of an old server.
    Seek,
}

impl Negotiation {
    /// The first step: what was learned, else the newest revision (R26-STDIO-19, R26-VER-05).
    pub(super) fn begin(set: &AdapterSet, carriage: Carriage, learned: Option<&Learned>) -> Step {
        let mut memory = Memory { carriage, tried: Vec::new(), respawned: false, guessed: false };
        let guess = learned
            .and_then(|learned| Some((set.by_version(&learned.version)?, learned.carriage)))
            .filter(|(_, learned)| (*learned == Carriage::Stdio) == (carriage == Carriage::Stdio));
        if let Some((adapter, learned)) = guess {
            memory.guessed = true;
            return match learned {
                Carriage::HttpSse => {
                    let none =
                        ClientError::never(ErrorKind::Protocol("it has no event stream".into()));
                    Step::Do(Action::Seek, Self::Seek(*adapter, memory, none))
                }
                Carriage::Stdio | Carriage::Http => Self::at(*adapter, memory),
            };
        }
        Self::newest(set, memory)
    }

    /// The handshake again, after a session was lost.
    pub(super) fn renew(server: &Server) -> Step {
        let carriage = server.carriage;
        let memory = Memory { carriage, tried: Vec::new(), respawned: true, guessed: false };
        match carriage {
            Carriage::HttpSse => {
                let lost = ClientError::never(ErrorKind::SessionLost);
                Step::Do(Action::Seek, Self::Seek(server.adapter, memory, lost))
            }
            Carriage::Stdio | Carriage::Http => Self::at(server.adapter, memory),
        }
    }

    fn newest(set: &AdapterSet, memory: Memory) -> Step {
        match set.newest_modern().or_else(|| set.newest_handshake()) {
            Some(adapter) => Self::at(*adapter, memory),
            None => Step::Failed(no_common(Vec::new())),
        }
    }

    fn at(adapter: Adapter, mut memory: Memory) -> Step {
        memory.tried.push(adapter.version);
        match adapter.has_handshake {
            true => Step::Do(Action::Initialize, Self::Greet(adapter, memory)),
            false => Step::Do(Action::Discover, Self::Probe(adapter, memory)),
        }
    }

    /// The revision that is being tried.
    pub(super) fn adapter(&self) -> &Adapter {
        match self {
            Self::Probe(adapter, _) | Self::Greet(adapter, _) | Self::Seek(adapter, ..) => adapter,
        }
    }

    /// The step that this evidence asks for.
    pub(super) fn next(self, set: &AdapterSet, evidence: Evidence) -> Step {
        match self {
            Self::Probe(adapter, memory) => Self::probed(set, adapter, memory, evidence),
            Self::Greet(adapter, memory) => Self::greeted(set, adapter, memory, evidence),
            Self::Seek(adapter, memory, error) => match evidence {
                Evidence::Endpoint => {
                    let memory = Memory { carriage: Carriage::HttpSse, ..memory };
                    Step::Do(Action::Initialize, Self::Greet(adapter, memory))
                }
                // Trouble of the server's own says nothing about what it speaks (C23).
                Evidence::Status(status, error) if status >= 400 && !means_legacy(status) => {
                    Step::Failed(error)
                }
                Evidence::Gone(error) => Step::Failed(error),
                _ => Self::unless_guessed(set, memory, error),
            },
        }
    }

    /// R26-STDIO-20, C22, C23.
    fn probed(set: &AdapterSet, adapter: Adapter, memory: Memory, evidence: Evidence) -> Step {
        match evidence {
            Evidence::Result(result) => match adapter.read_description(result.as_bytes()) {
                Some(description) => Self::described(set, adapter, memory, description),
                None => Self::fall_back(set, memory, bad(BadReply::Member("supportedVersions"))),
            },
            Evidence::Refused(error, status) => match adapter.kind_of(error.code) {
                FailureKind::UnsupportedVersion => {
                    let offered = offered_versions(&error).unwrap_or_default();
                    Self::among(set, memory, offered)
                }
                FailureKind::HeaderMismatch | FailureKind::MissingRequiredCapability => {
                    Step::Failed(server(&adapter, error))
                }
                _ if status.is_none_or(means_legacy) || status == Some(200) => {
                    Self::fall_back(set, memory, server(&adapter, error))
                }
                _ => Step::Failed(server(&adapter, error)),
            },
            Evidence::Status(status, error) if means_legacy(status) => {
                Self::fall_back(set, memory, error)
            }
            // A process that was asked before its handshake may be of no more use: some say nothing
            // and end at the next line.
            Evidence::Silence if memory.may_respawn() => Self::afresh(set, memory, timed_out()),
            Evidence::Silence => Self::fall_back(set, memory, timed_out()),
            Evidence::Gone(error) if memory.may_respawn() => Self::afresh(set, memory, error),
            Evidence::Nonsense(error) => Self::fall_back(set, memory, error),
            Evidence::Status(_, error) | Evidence::Gone(error) => Step::Failed(error),
            Evidence::Endpoint => Step::Failed(unexpected()),
        }
    }

    fn described(
        set: &AdapterSet,
        adapter: Adapter,
        memory: Memory,
        description: Description,
    ) -> Step {
        if adapter.is_among(&description.versions) || description.versions.is_empty() {
            return Step::Settled(adapter, memory.carriage, Box::new(description));
        }
        Self::among(set, memory, description.versions)
    }

    /// R24-LIFE-08, C19.
    fn greeted(set: &AdapterSet, adapter: Adapter, memory: Memory, evidence: Evidence) -> Step {
        match evidence {
            Evidence::Result(result) => match adapter.read_description(result.as_bytes()) {
                Some(description) => {
                    let version = description.versions.first().map(String::as_str);
                    let known = version.and_then(|version| set.by_version(version));
                    match known.filter(|known| known.has_handshake) {
                        Some(known) => {
                            Step::Settled(*known, memory.carriage, Box::new(description))
                        }
                        None => Step::Failed(no_common(description.versions)),
                    }
                }
                None => Step::Failed(bad(BadReply::Member("protocolVersion"))),
            },
            Evidence::Refused(error, status) => match offered_versions(&error) {
                Some(offered) => Self::among(set, memory, offered),
                None if status == Some(401) || status == Some(403) => {
                    Step::Failed(server(&adapter, error))
                }
                // Some servers, ours among them, word even this as an error (R26-COMPAT-02).
                None if status.is_some_and(|it| matches!(it, 400 | 404 | 405))
                    && memory.carriage == Carriage::Http =>
                {
                    Step::Do(Action::Seek, Self::Seek(adapter, memory, server(&adapter, error)))
                }
                None => Self::unless_guessed(set, memory, server(&adapter, error)),
            },
            // R2503-COMPAT-02, R26-COMPAT-02
            Evidence::Status(status, error)
                if means_legacy(status) && memory.carriage == Carriage::Http =>
            {
                Step::Do(Action::Seek, Self::Seek(adapter, memory, error))
            }
            Evidence::Status(_, error) | Evidence::Nonsense(error) => {
                Self::unless_guessed(set, memory, error)
            }
            // It answered the probe, and ended for it all the same.
            Evidence::Gone(_) if memory.may_respawn() && memory.tried.len() > 1 => {
                let memory = Memory { respawned: true, ..memory };
                Step::Do(Action::Respawn, Self::Greet(adapter, memory))
            }
            Evidence::Gone(error) => Step::Failed(error),
            Evidence::Silence => Self::unless_guessed(set, memory, timed_out()),
            Evidence::Endpoint => Step::Failed(unexpected()),
        }
    }

    /// To a handshake, with the server's process started again; else it is this error.
    fn afresh(set: &AdapterSet, mut memory: Memory, error: ClientError) -> Step {
        let Some(handshake) = set.newest_handshake() else { return Step::Failed(error) };
        memory.respawned = true;
        memory.tried.push(handshake.version);
        Step::Do(Action::Respawn, Self::Greet(*handshake, memory))
    }

    /// To the newest of these that is spoken and was not tried (R26-VER-02, R26-VER-10). Who
    /// refuses a version and offers that very version is asked for it once more.
    fn among(set: &AdapterSet, memory: Memory, offered: Vec<String>) -> Step {
        let tried = &memory.tried;
        let times = |version| tried.iter().filter(|tried| *tried == version).count();
        let twice: Vec<_> = tried.iter().filter(|version| times(*version) > 1).copied().collect();
        let untried = set.newest_among(&offered, tried);
        match untried.or_else(|| set.newest_among(&offered, &twice)) {
            Some(adapter) => Self::at(*adapter, memory),
            None => Step::Failed(no_common(offered)),
        }
    }

    /// To a handshake, where one is spoken; else it is this error.
    fn fall_back(set: &AdapterSet, memory: Memory, error: ClientError) -> Step {
        match set.newest_handshake() {
            Some(adapter) => Self::at(*adapter, memory),
            None => Step::Failed(error),
        }
    }

    /// From the beginning, where the first step was a guess; else it is this error.
    fn unless_guessed(set: &AdapterSet, memory: Memory, error: ClientError) -> Step {
        if !memory.guessed {
            return Step::Failed(error);
        }
        let carriage = match memory.carriage {
            Carriage::Stdio => Carriage::Stdio,
            Carriage::Http | Carriage::HttpSse => Carriage::Http,
        };
        let memory =
            Memory { carriage, tried: Vec::new(), respawned: memory.respawned, guessed: false };
        Self::newest(set, memory)
    }
}

/// A refusal that an old server gives to what it does not know. Not the ones that speak of
/// credentials, of timing, or of the server's own trouble (C23).
fn means_legacy(status: u16) -> bool {
    const OTHERWISE: [u16; 7] = [401, 402, 403, 407, 408, 425, 429];
    (400..500).contains(&status) && !OTHERWISE.contains(&status)
}

fn server(adapter: &Adapter, error: ServerError) -> ClientError {
    let meaning = adapter.kind_of(error.code);
    ClientError::never(ErrorKind::Server { error, meaning })
}

fn timed_out() -> ClientError {
    ClientError::never(ErrorKind::TimedOut)
}

fn bad(bad: BadReply) -> ClientError {
    ClientError::never(ErrorKind::BadReply(bad))
}

fn no_common(offered: Vec<String>) -> ClientError {
    ClientError::never(ErrorKind::NoCommonVersion { offered })
}

fn unexpected() -> ClientError {
    ClientError::never(ErrorKind::Protocol("an endpoint that nobody asked for".into()))
}
