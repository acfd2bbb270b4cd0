//! Bytes on their way from the task that makes them to a body that somebody else reads.

use core::task::{Context, Poll, Waker};
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

/// How many bytes may wait for the reader before no more are taken.
const ROOM: usize = 64 * 1024;

/// The end that bytes go into. Where it is dropped before its [`end`](Self::end), the reader is
/// told that something is missing.
pub(crate) struct Writer(Shared);

/// The end that bytes come out of.
pub(crate) struct Reader(Shared);

type Shared = Arc<Mutex<Pipe>>;

#[derive(Default)]
struct Pipe {
    bytes: Vec<u8>,
    stage: Stage,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Open,
    /// Everything was written.
    Ended,
    /// The writer is gone, and there should have been more.
    Broken,
    /// The reader is gone.
    Unread,
}

/// What a writer finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// More is taken.
    Some,
    /// The reader has to read first.
    None,
    /// Nobody reads any more.
    Gone,
}

/// A pipe with nothing in it.
pub(crate) fn pipe() -> (Writer, Reader) {
    let shared = Shared::default();
    (Writer(Arc::clone(&shared)), Reader(shared))
}

impl Writer {
    /// Whether more is taken. Wakes when that changes.
    pub(crate) fn room(&self, cx: &Context<'_>) -> Room {
        let mut pipe = lock(&self.0);
        if pipe.stage == Stage::Unread {
            return Room::Gone;
        }
        if !pipe.writer.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            pipe.writer = Some(cx.waker().clone());
        }
        if pipe.bytes.len() < ROOM { Room::Some } else { Room::None }
    }

    /// Hands on what `write` appends; false where that is nothing.
    pub(crate) fn write(&self, write: impl FnOnce(&mut Vec<u8>)) -> bool {
        let mut pipe = lock(&self.0);
        let before = pipe.bytes.len();
        write(&mut pipe.bytes);
        let wrote = pipe.bytes.len() > before;
        let reader = if wrote { pipe.reader.take() } else { None };
        drop(pipe);
        reader.into_iter().for_each(Waker::wake);
        wrote
    }

    /// That was all.
    pub(crate) fn end(self) {
        finish(&self.0, Stage::Ended);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        finish(&self.0, Stage::Broken);
    }
}

impl Reader {
    /// The next bytes; `None` after the last.
    pub(crate) fn poll_read(&self, cx: &Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        let mut pipe = lock(&self.0);
        if pipe.bytes.is_empty() {
            return match pipe.stage {
                Stage::Ended | Stage::Unread => Poll::Ready(None),
                Stage::Broken => {
                    pipe.stage = Stage::Ended;
                    Poll::Ready(Some(Err(ErrorKind::ConnectionAborted.into())))
                }
                Stage::Open => {
                    pipe.reader = Some(cx.waker().clone());
                    Poll::Pending
                }
            };
        }
        let bytes = core::mem::take(&mut pipe.bytes);
        let writer = if bytes.len() < ROOM { None } else { pipe.writer.take() };
        drop(pipe);
        writer.into_iter().for_each(Waker::wake);
        Poll::Ready(Some(Ok(bytes.into())))
    }

    /// Nothing comes any more, and nothing is missing.
    pub(crate) fn is_over(&self) -> bool {
        let pipe = lock(&self.0);
        pipe.bytes.is_empty() && pipe.stage == Stage::Ended
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut pipe = lock(&self.0);
        pipe.stage = Stage::Unread;
        pipe.bytes = Vec::new();
        let writer = pipe.writer.take();
        drop(pipe);
        writer.into_iter().for_each(Waker::wake);
    }
}

/// The writer leaves; only the first time counts.
fn finish(shared: &Shared, stage: Stage) {
    let mut pipe = lock(shared);
    if pipe.stage == Stage::Open {
        pipe.stage = stage;
    }
    let reader = pipe.reader.take();
    drop(pipe);
    reader.into_iter().for_each(Waker::wake);
}

fn lock(shared: &Shared) -> MutexGuard<'_, Pipe> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cx() -> Context<'static> {
        Context::from_waker(Waker::noop())
    }

    #[test]
    fn what_is_written_is_read_in_order_and_then_it_is_over() {
        let (writer, reader) = pipe();
        assert!(reader.poll_read(&cx()).is_pending());
        assert!(writer.write(|out| out.extend_from_slice(b"one ")));
        assert!(writer.write(|out| out.extend_from_slice(b"two")));
        assert!(!writer.write(|_| {}));
        writer.end();
        assert!(!reader.is_over());
        let Poll::Ready(Some(Ok(bytes))) = reader.poll_read(&cx()) else { panic!("bytes") };
        assert_eq!(bytes, "one two");
        assert!(reader.is_over());
        assert!(matches!(reader.poll_read(&cx()), Poll::Ready(None)));
    }

    #[test]
    fn a_reader_that_stalls_leaves_no_room_until_it_reads() {
        let (writer, reader) = pipe();
        writer.write(|out| out.resize(ROOM, 0));
        assert_eq!(writer.room(&cx()), Room::None);
        assert!(matches!(reader.poll_read(&cx()), Poll::Ready(Some(Ok(_)))));
        assert_eq!(writer.room(&cx()), Room::Some);
        drop(reader);
        assert_eq!(writer.room(&cx()), Room::Gone);
    }

    #[test]
    fn a_writer_that_is_gone_before_its_end_is_an_error() {
        let (writer, reader) = pipe();
        writer.write(|out| out.push(1));
        drop(writer);
        assert!(matches!(reader.poll_read(&cx()), Poll::Ready(Some(Ok(_)))));
        assert!(matches!(reader.poll_read(&cx()), Poll::Ready(Some(Err(_)))));
        assert!(matches!(reader.poll_read(&cx()), Poll::Ready(None)));
    }
}
