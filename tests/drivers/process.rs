//! Servers as processes, and requests to them.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{
    Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Output, Stdio,
};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// How long anything may take before it counts as hanging.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A running server, killed when this is dropped, or when a test hangs.
pub(crate) struct Server {
    child: Child,
    _watchdog: Sender<()>,
}

impl Server {
    /// Starts `program` on stdio; `stdin` and `stdout` say what these are.
    pub(crate) fn on_stdio(
        program: &str,
        arguments: &[&str],
        stdin: impl Into<Stdio>,
        stdout: impl Into<Stdio>,
    ) -> Self {
        let mut command = Command::new(program);
        Self::start(command.arg("--stdio").args(arguments).stdin(stdin).stdout(stdout))
    }

    /// Starts `program` on stdio with pipes, and with its log in `log`.
    pub(crate) fn with_log(program: &str, log: impl Into<Stdio>) -> Self {
        let mut command = Command::new(program);
        Self::start(command.arg("--stdio").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log))
    }

    /// Starts `program` on HTTP; it ends when [`Listening::shut_down`] says so.
    pub(crate) fn on_http(program: &str, arguments: &[&str]) -> (Self, Listening) {
        Self::on_http_with(program, arguments, &[])
    }

    /// The same, with these variables of the environment.
    pub(crate) fn on_http_with(
        program: &str,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> (Self, Listening) {
        let mut command = Command::new(program);
        command.args(arguments).arg("--listen").envs(environment.iter().copied());
        Self::listen(&mut command)
    }

    /// Starts the example `name` on HTTP. Its address is the URL that it names.
    pub(crate) fn example(name: &str, arguments: &[&str]) -> (Self, Listening) {
        let (server, mut listening) = Self::listen(Command::new(example(name)).args(arguments));
        let said = listening.address.strip_prefix("listening on ").expect("where it listens");
        let url = said.split(": ").next().unwrap_or_default();
        listening.address = url.to_owned();
        (server, listening)
    }

    /// The same, and it may open only so many files.
    pub(crate) fn with_files(program: &str, most: usize) -> (Self, Listening) {
        let script = format!("ulimit -n {most}; exec \"$0\" \"$@\"");
        Self::listen(Command::new("sh").args(["-c", &script, program, "--listen"]))
    }

    fn listen(command: &mut Command) -> (Self, Listening) {
        command.stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut server = Self::start(command);
        let stdin = server.child.stdin.take();
        let mut log = BufReader::new(server.child.stderr.take().expect("piped"));
        let mut address = String::new();
        log.read_line(&mut address).expect("a line");
        (server, Listening { address: address.trim().to_owned(), stdin, log })
    }

    /// Starts what was set up elsewhere.
    pub(crate) fn start(command: &mut Command) -> Self {
        let child = command.spawn().expect("the program was built");
        let id = child.id().to_string();
        let (watchdog, ended) = channel();
        thread::spawn(move || {
            if ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let _ = Command::new("kill").args(["-9", &id]).status();
            }
        });
        Self { child, _watchdog: watchdog }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn stdin(&mut self) -> ChildStdin {
        self.child.stdin.take().expect("piped")
    }

    pub(crate) fn stdout(&mut self) -> BufReader<ChildStdout> {
        BufReader::new(self.child.stdout.take().expect("piped"))
    }

    /// Sends it a signal, such as `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let (signal, id) = (format!("-{name}"), self.child.id().to_string());
        assert!(Command::new("kill").args([signal, id]).status().is_ok_and(|it| it.success()));
    }

    pub(crate) fn stderr(&mut self) -> ChildStderr {
        self.child.stderr.take().expect("piped")
    }

    /// Waits for the end.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.wait().expect("an exit status")
    }
}

/// The program of the example `name`.
///
/// Examples are built with the tests of the workspace, or by `tests/run examples`.
pub(crate) fn example(name: &str) -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_server-tokio")).with_file_name("examples");
    let program = built.join(name);
    assert!(program.exists(), "{name} is not built: `tests/run examples` builds it");
    program
}

/// Runs a program to its end, which it has only so long to come to.
pub(crate) fn bounded(command: &mut Command) -> Output {
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Server { child, _watchdog } = &mut Server::start(command);
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let (mut out, mut err) = (child.stdout.take().expect("piped"), child.stderr.take());
    thread::scope(|scope| {
        scope.spawn(|| err.as_mut().map(|err| err.read_to_end(&mut stderr)));
        out.read_to_end(&mut stdout).expect("read");
    });
    Output { status: child.wait().expect("an exit status"), stdout, stderr }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server on HTTP: where it listens, and its log.
pub(crate) struct Listening {
    pub(crate) address: String,
    stdin: Option<ChildStdin>,
    log: BufReader<ChildStderr>,
}

impl Listening {
    /// Has it shut down.
    pub(crate) fn shut_down(&mut self) {
        self.stdin = None;
    }

    /// The next line of the log.
    pub(crate) fn log_line(&mut self) -> String {
        let mut line = String::new();
        self.log.read_line(&mut line).expect("UTF-8");
        line
    }

    /// The log, to its end.
    pub(crate) fn log(&mut self) -> String {
        let mut text = String::new();
        self.log.read_to_string(&mut text).expect("UTF-8");
        text
    }
}

/// A call of a tool, with an id.
pub(crate) fn call(id: usize, tool: &str, arguments: &str) -> String {
    let params = format!(r#"{{"name":"{tool}","arguments":{arguments},"_meta":{{{META}}}}}"#);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
}

const META: &str = concat!(
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{},"progressToken":"t""#,
);
