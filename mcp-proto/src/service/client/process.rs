//! What a server's process is started with.

use core::fmt;
use core::time::Duration;
use std::borrow::Cow;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
pub(super) use std::process::ExitStatus;
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};

use crate::service::Diagnostics;

/// A program to be started, without a shell, in an environment that is made for it.
#[derive(Clone, Debug)]
pub struct Process {
    words: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    inherits: Inherits,
    directory: Option<PathBuf>,
    stderr: Stderr,
    grace: Duration,
}

/// What of this process's environment another one gets.
#[derive(Clone, Copy, Debug)]
enum Inherits {
    Safe,
    All,
}

/// Gets what a process says on stderr.
pub type Drain = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// Where a process's stderr goes, which is for people (R26-STDIO-12).
///
/// Where this process reads it, an error says what came last: the last 8 lines, of 4 KiB at most.
#[derive(Clone, Default)]
pub enum Stderr {
    /// Through this process to its own stderr, as it comes. Nothing waits for that: what nobody
    /// reads in time is left out, and this is said in its place.
    #[default]
    Forward,
    /// Where this process's own goes, by the very same descriptor. No error tells of it.
    Inherit,
    /// Nowhere, and no error tells of it.
    Discard,
    /// To a function, as it comes. It must not wait: the process may wait for it.
    Drain(Drain),
}

impl Stderr {
    /// To a function, as it comes.
    pub fn drain(to: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        Self::Drain(Arc::new(to))
    }
}

impl fmt::Debug for Stderr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Forward => "Forward",
            Self::Inherit => "Inherit",
            Self::Discard => "Discard",
            Self::Drain(_) => "Drain",
        })
    }
}

/// What a program needs to run at all, and no secret is kept in.
#[cfg(not(windows))]
const SAFE: &[&str] = &["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];
#[cfg(windows)]
const SAFE: &[&str] = &[
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "USERNAME",
    "USERPROFILE",
];

impl Process {
    /// A program and its arguments. Of the environment it gets what any program needs, such as
    /// `PATH` and `HOME`.
    pub fn new<W: Into<OsString>>(command: impl IntoIterator<Item = W>) -> Self {
        Self {
            words: command.into_iter().map(Into::into).collect(),
            variables: Vec::new(),
            inherits: Inherits::Safe,
            directory: None,
            stderr: Stderr::default(),
            grace: Duration::from_secs(2),
        }
    }

    /// Sets a variable of its environment.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Gives it the whole environment of this process, with whatever secrets are in it.
    pub fn inherit_env(mut self) -> Self {
        self.inherits = Inherits::All;
        self
    }

    /// Starts it in this directory.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sends its stderr there.
    pub fn stderr(mut self, stderr: Stderr) -> Self {
        self.stderr = stderr;
        self
    }

    /// Waits so long for it to end once its stdin is closed, and as long again once it was told to
    /// terminate, before it is killed. Two seconds at first.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// How long it has to end; see [`grace`](Self::grace).
    pub fn grace_time(&self) -> Duration {
        self.grace
    }

    /// Who gets its stderr, where this process reads it.
    pub fn drain(&self) -> Option<Drain> {
        match &self.stderr {
            Stderr::Forward => Some(forward()),
            Stderr::Drain(to) => Some(to.clone()),
            Stderr::Inherit | Stderr::Discard => None,
        }
    }

    /// The program, for people. Its arguments may hold secrets.
    pub(super) fn program(&self) -> Cow<'_, str> {
        self.words.first().map_or(Cow::Borrowed(""), |program| program.to_string_lossy())
    }

    /// Why it could not be started, for people.
    pub(super) fn unstarted(&self, error: &io::Error) -> io::Error {
        let program = self.program();
        let no_place = self.directory.as_deref().filter(|directory| !directory.is_dir());
        let why = match (no_place, error.kind()) {
            (Some(place), _) => format!("there is no directory {}", place.display()),
            (None, io::ErrorKind::NotFound) => {
                "no such program; install it, or give its whole path".to_owned()
            }
            _ => error.to_string(),
        };
        io::Error::new(error.kind(), format!("cannot start the server `{program}`: {why}"))
    }

    /// The command that a driver spawns: its stdin and stdout are pipes, and it leads a process
    /// group of its own, so that what it starts can be ended with it.
    pub fn command(&self) -> Command {
        let (program, arguments) = match self.words.split_first() {
            Some((program, arguments)) => (program.as_os_str(), arguments),
            None => (OsStr::new(""), self.words.as_slice()),
        };
        let mut command = Command::new(program);
        command.args(arguments);
        if let Inherits::Safe = self.inherits {
            command.env_clear();
            // A shell function in a variable's value is code (as the official SDKs have it).
            let safe = SAFE.iter().filter_map(|name| Some((name, env::var_os(name)?)));
            let safe = safe.filter(|(_, value)| !value.as_encoded_bytes().starts_with(b"()"));
            command.envs(safe);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        let [stdin, stdout, stderr] = self.stdio();
        command.stdin(stdin).stdout(stdout).stderr(stderr);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }

    /// The command's stdin, stdout and stderr, for drivers whose own commands forget them.
    pub fn stdio(&self) -> [Stdio; 3] {
        let stderr = match self.stderr {
            Stderr::Inherit => Stdio::inherit(),
            Stderr::Discard => Stdio::null(),
            Stderr::Forward | Stderr::Drain(_) => Stdio::piped(),
        };
        [Stdio::piped(), Stdio::piped(), stderr]
    }
}

/// To this process's stderr, for which one thread waits on behalf of all.
fn forward() -> Drain {
    static STDERR: OnceLock<Diagnostics> = OnceLock::new();
    let to = STDERR.get_or_init(Diagnostics::stderr).clone();
    Arc::new(move |bytes| to.piece(bytes))
}
