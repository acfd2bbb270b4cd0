//! What a call may tell its client before its result.

use core::fmt;

use super::{Json, LogLevel};

/// How far a call has come (R24-PROG-02).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// How much is done; reports that do not exceed the last one are not sent.
    pub progress: f64,
    /// How much there is to do, where that is known.
    pub total: Option<f64>,
    /// What is being done. Revisions without it leave it out.
    pub message: Option<String>,
}

/// `2 of 3`, with what is being done where that is told: `2 of 3: rolling out`.
impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.progress)?;
        if let Some(total) = self.total {
            write!(f, " of {total}")?;
        }
        match &self.message {
            Some(message) => write!(f, ": {message}"),
            None => Ok(()),
        }
    }
}

impl Progress {
    /// `progress` is done.
    pub fn new(progress: f64) -> Self {
        Self { progress, total: None, message: None }
    }
}

/// A log message for the client (R24-LOG-09). It must hold no secrets (R24-LOG-07).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LogMessage {
    /// How severe it is.
    pub level: LogLevel,
    /// Who logs.
    pub logger: Option<String>,
    /// What is logged: any JSON value.
    pub data: Json,
}

impl LogMessage {
    /// `data` at `level`, from nobody in particular.
    pub fn new(level: LogLevel, data: Json) -> Self {
        Self { level, logger: None, data }
    }
}
