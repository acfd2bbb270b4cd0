//! Child processes.

use std::io;
use std::process::ExitStatus;

use mcp_proto::service::client::{Child, Pipes, Process, StartProcess};
use tokio::process::{self, ChildStderr, ChildStdin, ChildStdout, Command};

use crate::runtime::Tokio;
use crate::tokio_stream::TokioStream;

/// A child process of tokio's.
#[derive(Debug)]
pub struct TokioChild(process::Child);

impl StartProcess for Tokio {
    type Child = TokioChild;

    fn spawn(&self, process: &Process) -> io::Result<TokioChild> {
        Command::from(process.command()).kill_on_drop(true).spawn().map(TokioChild)
    }
}

impl Child for TokioChild {
    type Stdin = TokioStream<ChildStdin>;
    type Stdout = TokioStream<ChildStdout>;
    type Stderr = TokioStream<ChildStderr>;

    fn pipes(&mut self) -> io::Result<Pipes<Self::Stdin, Self::Stdout, Self::Stderr>> {
        match (self.0.stdin.take(), self.0.stdout.take()) {
            (Some(stdin), Some(stdout)) => Ok(Pipes {
                stdin: TokioStream::new(stdin),
                stdout: TokioStream::new(stdout),
                stderr: self.0.stderr.take().map(TokioStream::new),
            }),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn id(&self) -> Option<u32> {
        self.0.id()
    }

    async fn ended(&mut self) -> io::Result<ExitStatus> {
        self.0.wait().await
    }

    fn kill(&mut self) {
        // Where it has ended already, that is what was wanted.
        let _ = self.0.start_kill();
    }
}
