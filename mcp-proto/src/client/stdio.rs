//! One server behind a pair of byte streams.

use super::core::{Broken, Core, Outgoing, Place};
use super::machine::sealed::Carrier;
use super::{Carriage, Carry, ClientError, Config, ErrorKind, Machine};
use crate::frame::lines::LineDecoder;
use crate::time::Instant;

/// A client on a pair of byte streams with one message per line (R24-STDIO-02): the pipes of a
/// child process, a socket. See [`Machine`] for the application's side.
///
/// - in: [`handle_input`](Self::handle_input), [`handle_eof`](Self::handle_eof) or
///   [`handle_exit`](Self::handle_exit), [`handle_closed`](Self::handle_closed),
///   [`handle_respawned`](Self::handle_respawned)
/// - out: [`transmit`](Self::transmit), and [`Carry::Respawn`] among the outputs
///
/// Some servers of old end on a first message that they do not know (C22). Then the machine asks
/// once to have the process started again, and begins with a handshake. A server that ends later is
/// started again when there is a call for it (R26-STDIO-18); the calls that it had have failed.
#[derive(Debug)]
pub struct Stdio {
    core: Core,
    lines: LineDecoder,
    out: Vec<u8>,
    /// Bytes among them that answer the server's requests.
    unsent: usize,
    /// The process is gone.
    gone: bool,
    /// A new process is about to be started, and what is to be written is for that one.
    respawning: bool,
}

impl Stdio {
    /// A client that begins at `now`.
    pub fn new(config: Config, now: Instant) -> Self {
        let lines = LineDecoder::new(config.limits.message);
        let core = Core::new(config, Carriage::Stdio, now);
        let (out, unsent) = (Vec::new(), 0);
        let mut client = Self { core, lines, out, unsent, gone: false, respawning: false };
        client.connect(now);
        client
    }

    /// Takes bytes that arrived and says how many it took: all of them while
    /// [`wants_input`](Self::wants_input).
    pub fn handle_input(&mut self, now: Instant, input: &[u8]) -> usize {
        self.core.advance(now);
        let mut rest = input;
        while self.wants_input() {
            match self.lines.next(&mut rest) {
                None => break,
                Some(Ok(line)) => {
                    self.core.hear(line, Place::Stream);
                    self.pump();
                }
                Some(Err(too_long)) => {
                    self.core.overlong(&too_long.outline, "bytes of a line");
                    self.pump();
                }
            }
        }
        match self.wants_input() {
            true => input.len(),
            false => input.len() - rest.len(),
        }
    }

    /// The server ended its side of the stream: it is done, or it crashed.
    pub fn handle_eof(&mut self, now: Instant) {
        self.handle_exit(now, "the server ended");
    }

    /// The same, and `why` says to a person how it ended.
    pub fn handle_exit(&mut self, now: Instant, why: &str) {
        self.core.advance(now);
        if self.gone {
            return;
        }
        match self.lines.finish() {
            Some(Ok(line)) => self.core.hear(line, Place::Stream),
            Some(Err(too_long)) => self.core.overlong(&too_long.outline, "bytes of a line"),
            None => {}
        }
        self.lose(why);
    }

    /// The stream is gone: it was reset, or a write failed.
    pub fn handle_closed(&mut self, now: Instant) {
        self.core.advance(now);
        if !self.gone {
            self.lose("the connection to the server broke");
        }
    }

    /// The server's process was started again; its streams are new.
    pub fn handle_respawned(&mut self, now: Instant) {
        self.core.advance(now);
        (self.gone, self.respawning) = (false, false);
    }

    /// The server's process could not be started; `why` is for a person.
    pub fn handle_unstarted(&mut self, now: Instant, why: &str) {
        self.core.advance(now);
        self.core.shut(ClientError::never(ErrorKind::Connection(why.to_owned())));
        self.pump();
    }

    /// Appends what is to be written to `out`. Nothing, while there is no process.
    pub fn transmit(&mut self, out: &mut Vec<u8>) {
        if !self.gone {
            out.append(&mut self.out);
            self.unsent = 0;
        }
    }

    /// Whether [`handle_input`](Self::handle_input) takes anything now. It does not while the
    /// server leaves too many answers to its own requests unread ([`Limits::unsent`]): what it
    /// asks more could only pile up. Calls that wait to be written hold up nothing.
    ///
    /// [`Limits::unsent`]: super::Limits::unsent
    pub fn wants_input(&self) -> bool {
        let takes_answers = self.unsent < self.core.config.limits.unsent;
        takes_answers && self.core.has_room() && !self.core.is_closed()
    }

    fn discard(&mut self) {
        self.out.clear();
        self.unsent = 0;
    }

    fn lose(&mut self, why: &str) {
        self.gone = true;
        self.discard();
        let error = ClientError::maybe(ErrorKind::Connection(why.to_owned()));
        self.core.disconnected(Broken::Gone(error));
        self.pump();
    }

    fn respawn(&mut self) {
        (self.gone, self.respawning) = (true, true);
        self.discard();
        self.lines = LineDecoder::new(self.core.config.limits.message);
        self.core.carry(Carry::Respawn);
    }
}

impl Carrier for Stdio {
    fn core(&self) -> &Core {
        &self.core
    }

    fn core_mut(&mut self) -> &mut Core {
        &mut self.core
    }

    fn pump(&mut self) {
        while let Some(outgoing) = self.core.next_outgoing() {
            match outgoing {
                Outgoing::Request { body, .. } => {
                    if self.gone && !self.respawning {
                        self.respawn();
                    }
                    self.line(&body);
                }
                Outgoing::Answer(body) => {
                    let before = self.out.len();
                    self.line(&body);
                    self.unsent += self.out.len() - before;
                }
                Outgoing::Forget { body: Some(body), .. } => self.line(&body),
                Outgoing::Initialized(body) => {
                    self.line(&body);
                    self.core.confirmed();
                }
                Outgoing::Respawn => self.respawn(),
                Outgoing::Forget { body: None, .. }
                | Outgoing::Seek
                | Outgoing::Begun
                | Outgoing::Stream(_) => {}
            }
        }
    }

    fn carrier_timeout(&self) -> Option<Instant> {
        None
    }

    fn carrier_expired(&mut self, _: Instant) {}

    fn carrier_close(&mut self) {}
}

impl Machine for Stdio {}

impl Stdio {
    /// Nothing is left for a process that is gone.
    fn line(&mut self, message: &[u8]) {
        if self.gone && !self.respawning {
            return;
        }
        self.out.extend_from_slice(message);
        self.out.push(b'\n');
    }
}

#[cfg(test)]
mod tests;
