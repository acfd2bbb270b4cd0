//! Child processes.

use std::future::Future;
use std::io;
use std::process::ExitStatus;

use async_process::{ChildStderr, ChildStdin, ChildStdout, Command};
use mcp_proto::service::client::{Child, Pipes, Process, StartProcess};

use crate::runtime::AsyncStd;

/// A child process of async-process's.
#[derive(Debug)]
pub struct AsyncStdChild(async_process::Child);

impl StartProcess for AsyncStd {
    type Child = AsyncStdChild;

    fn spawn(&self, process: &Process) -> io::Result<AsyncStdChild> {
        // Whatever streams a command had before it became one of these are forgotten.
        let [stdin, stdout, stderr] = process.stdio();
        let mut command = Command::from(process.command());
        command.stdin(stdin).stdout(stdout).stderr(stderr);
        command.kill_on_drop(true).spawn().map(AsyncStdChild)
    }
}

impl Child for AsyncStdChild {
    type Stdin = ChildStdin;
    type Stdout = ChildStdout;
    type Stderr = ChildStderr;

    fn pipes(&mut self) -> io::Result<Pipes<ChildStdin, ChildStdout, ChildStderr>> {
        match (self.0.stdin.take(), self.0.stdout.take()) {
            (Some(stdin), Some(stdout)) => {
                Ok(Pipes { stdin, stdout, stderr: self.0.stderr.take() })
            }
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn id(&self) -> Option<u32> {
        Some(self.0.id())
    }

    fn ended(&mut self) -> impl Future<Output = io::Result<ExitStatus>> + Send {
        self.0.status()
    }

    fn kill(&mut self) {
        // Where it has ended already, that is what was wanted.
        let _ = self.0.kill();
    }
}
