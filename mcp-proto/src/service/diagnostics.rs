//! Lines for the operator that never hold up a server.

use core::fmt;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Lines that wait for their reader.
const LINES: usize = 256;

/// Bytes of one line; the rest is left out.
const LINE: usize = 4 * 1024;

/// Writes lines to standard error, or elsewhere, and never blocks.
///
/// A parent that starts a server on stdio may leave its stderr unread. Once that pipe is full,
/// `eprintln!` waits for ever, and the server with it. Here a thread waits in its place: up to 256
/// lines of 4 KiB wait with it, further ones are dropped, and how many is said in their place.
/// Clones share one queue. What still waits when the process ends is lost.
///
/// ```
/// use mcp_proto::service::{Diagnostics, Registry};
///
/// let log = Diagnostics::stderr();
/// let registry = Registry::new("demo", "1.0.0")
///     .on_error(move |report| log.line(format_args!("{}: {}", report.operation, report.error)));
/// # let _ = registry;
/// ```
#[derive(Clone)]
pub struct Diagnostics {
    /// `None` where no thread could be had: everything is dropped then.
    lines: Option<SyncSender<Vec<u8>>>,
    dropped: Arc<AtomicU64>,
}

impl Diagnostics {
    /// Writes to standard error.
    pub fn stderr() -> Self {
        Self::to(io::stderr())
    }

    /// Writes to `writer`, on a thread that may wait for it as long as it likes.
    pub fn to(writer: impl Write + Send + 'static) -> Self {
        let (send, lines) = sync_channel(LINES);
        let dropped = Arc::new(AtomicU64::new(0));
        let untold = Arc::clone(&dropped);
        let thread = thread::Builder::new().name("mcp-diagnostics".into());
        let started = thread.spawn(move || write(&lines, &untold, writer));
        Self { lines: started.is_ok().then_some(send), dropped }
    }

    /// Writes `line` and its end, or drops it.
    pub fn line(&self, line: impl fmt::Display) {
        let mut text = line.to_string().into_bytes();
        text.truncate(LINE);
        text.push(b'\n');
        self.send(text, 1);
    }

    /// Writes some bytes of lines as they are, in pieces of which each may be dropped.
    pub(crate) fn piece(&self, bytes: &[u8]) {
        for piece in bytes.chunks(LINE) {
            let lines = piece.iter().filter(|byte| **byte == b'\n').count();
            self.send(piece.to_vec(), u64::try_from(lines.max(1)).unwrap_or(u64::MAX));
        }
    }

    fn send(&self, bytes: Vec<u8>, lines: u64) {
        let sent = self.lines.as_ref().is_some_and(|lines| lines.try_send(bytes).is_ok());
        if !sent {
            self.dropped.fetch_add(lines, Ordering::Relaxed);
        }
    }
}

fn write(lines: &Receiver<Vec<u8>>, dropped: &AtomicU64, mut writer: impl Write) {
    for line in lines {
        let missing = dropped.swap(0, Ordering::Relaxed);
        let note = match missing {
            0 => Ok(()),
            _ => writeln!(writer, "({missing} lines were dropped: nobody read them in time)"),
        };
        if note.and_then(|()| writer.write_all(&line)).and_then(|()| writer.flush()).is_err() {
            return;
        }
    }
}

impl fmt::Debug for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Diagnostics").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use super::*;

    /// Says that it is written to, and goes on once it is told to.
    struct Reluctant(Sender<Vec<u8>>, Receiver<()>);

    impl Write for Reluctant {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.send(bytes.to_vec());
            self.1.recv().map_err(|_| io::ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_that_nobody_reads_are_dropped_and_counted() {
        let ((said, heard), (go, wait)) = (channel(), channel());
        let log = Diagnostics::to(Reluctant(said, wait));
        log.line("first");
        assert_eq!(heard.recv().unwrap(), b"first\n");
        for number in 0..3_000 {
            log.line(format_args!("{number}: {}", "x".repeat(2 * LINE)));
        }
        let dropped = log.dropped.load(Ordering::Relaxed);
        assert_eq!(dropped, 3_000 - LINES as u64);
        (0..10_000).for_each(|_| go.send(()).unwrap());
        let note = String::from_utf8(heard.recv().unwrap()).unwrap();
        assert!(note.starts_with('('), "{note}");
        drop(log);
        let rest: Vec<u8> = heard.into_iter().flatten().collect();
        let lines: Vec<_> = rest.split(|byte| *byte == b'\n').collect();
        assert!(lines.iter().all(|line| line.len() <= LINE));
        assert!(lines.iter().any(|line| line.starts_with(b"255: ")));
        assert!(!lines.iter().any(|line| line.starts_with(b"256: ")));
    }
}
