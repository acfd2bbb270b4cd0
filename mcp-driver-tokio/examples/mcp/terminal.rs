//! The terminal, which a progress bar, lines and questions share. All of them go to stderr.

use std::io::{IsTerminal, Write, stderr, stdin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressStyle};
use mcp_proto::model::Progress;
use mcp_proto::{Printable, PrintableLines};

/// A handle to the terminal.
#[derive(Clone)]
pub(crate) struct Terminal {
    bar: ProgressBar,
    asks: Arc<AtomicBool>,
    /// Held while a question is put: one at a time.
    asking: Arc<Mutex<()>>,
}

impl Default for Terminal {
    fn default() -> Self {
        let bar = ProgressBar::no_length();
        bar.set_style(style("{spinner} {pos} {msg}"));
        Self { bar, asks: Arc::default(), asking: Arc::default() }
    }
}

impl Terminal {
    /// A line of text.
    pub(crate) fn say(&self, line: &str) {
        self.bar.suspend(|| eprintln!("{}", PrintableLines(line)));
    }

    /// Draws a bar, or a count where nobody knows the end.
    pub(crate) fn draw(&self, update: Progress) {
        if self.asks.load(Ordering::Relaxed) {
            return;
        }
        if let Some(total) = update.total {
            self.bar.set_style(style("{wide_bar} {percent}% {msg}"));
            self.bar.set_length(PARTS);
            self.bar.set_position((update.progress / total * PARTS as f64) as u64);
        } else {
            self.bar.set_position(update.progress.max(0.0) as u64);
        }
        let message = update.message.unwrap_or_default();
        self.bar.set_message(Printable(&message).to_string());
    }

    /// Takes the bar away.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// Takes away what is drawn, and leaves the line of a question that nobody will answer.
    pub(crate) fn leave(&self) {
        if self.asks.load(Ordering::Relaxed) {
            eprintln!();
        }
        self.clear();
    }

    /// Runs what asks something, while nothing is drawn; not at all where nobody is there.
    pub(crate) fn ask<T>(&self, question: impl FnOnce() -> T) -> Option<T> {
        if !stdin().is_terminal() {
            return None;
        }
        let _alone = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        self.asks.store(true, Ordering::Relaxed);
        self.clear();
        let answer = question();
        self.bar.reset();
        self.asks.store(false, Ordering::Relaxed);
        Some(answer)
    }
}

/// A bar has so many: what is told may be fractions.
const PARTS: u64 = 1_000;

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// A line that a person types; none where the terminal is closed.
pub(crate) fn read(prompt: &str) -> Option<String> {
    eprint!("{}", PrintableLines(prompt));
    stderr().flush().ok()?;
    let mut line = String::new();
    let read = stdin().read_line(&mut line).ok()?;
    (read > 0).then(|| line.trim().to_owned())
}
