//! What a client machine has to say, and how much of it there is.

use std::collections::VecDeque;

use crate::client::machine::{Event, Output};
use crate::model::{Change, Json};

/// Outputs that wait to be fetched, in order, with the bytes that they hold.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    queue: VecDeque<(Output, usize)>,
    bytes: usize,
}

impl Outputs {
    pub(super) fn push(&mut self, output: Output) {
        let bytes = match &output {
            Output::Event(event) => size(event),
            Output::Carry(_) | Output::Effect(..) | Output::Abandon(_) => 0,
        };
        self.bytes += bytes;
        self.queue.push_back((output, bytes));
    }

    pub(super) fn pop(&mut self) -> Option<Output> {
        let (output, bytes) = self.queue.pop_front()?;
        self.bytes -= bytes;
        Some(output)
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Bytes of a server's that the outputs hold.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// What a server had to say in an event, in bytes.
fn size(event: &Event) -> usize {
    let json = |json: Option<&Json>| json.map_or(0, |json| json.as_bytes().len());
    match event {
        Event::Progress(_, progress) => progress.message.as_ref().map_or(0, String::len),
        Event::Ended(_, Ok(reply)) => reply.raw.as_bytes().len(),
        Event::Ask(_, question) => json(question.params.as_ref()),
        Event::Log(_, log) => {
            log.data.as_bytes().len() + log.logger.as_ref().map_or(0, String::len)
        }
        Event::Changed(_, Change::Updated(uri)) => uri.len(),
        Event::Notification { method, params } => method.len() + json(params.as_ref()),
        Event::Warning(text) => text.len(),
        Event::Listening(_, filter) => filter.uris.iter().map(String::len).sum(),
        Event::Connected(_)
        | Event::Unavailable(_)
        | Event::Ended(_, Err(_))
        | Event::Withdrawn(_)
        | Event::Changed(..)
        | Event::Missed(_)
        | Event::Unlistened(..)
        | Event::Closed => 0,
    }
}
