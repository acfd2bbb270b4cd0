//! Uses of tools and their results in a conversation with a model.

use core::fmt;
use std::collections::BTreeSet;

use super::{Block, SamplingMessage};
use crate::model::Role;

/// Uses and results of tools do not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PairingError {
    /// A result stands beside something else, or is not the user's (R2511-SAMP-13).
    MixedResults {
        /// Which message, from 0.
        message: usize,
    },
    /// The model's side is the only one that uses tools.
    UseByUser {
        /// Which message, from 0.
        message: usize,
    },
    /// The message after a use does not hold exactly the results (R2511-SAMP-14).
    Unbalanced {
        /// The message with the uses or, where results come without any, theirs; from 0.
        message: usize,
    },
}

impl fmt::Display for PairingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (message, what) = match self {
            Self::MixedResults { message } => {
                (message, "tool results stand alone in a message of the user")
            }
            Self::UseByUser { message } => (message, "only the assistant uses tools"),
            Self::Unbalanced { message } => {
                (message, "tool uses are followed by a message with exactly their results, by id")
            }
        };
        write!(f, "message {message}: {what}")
    }
}

impl core::error::Error for PairingError {}

pub(super) fn check(messages: &[SamplingMessage]) -> Result<(), PairingError> {
    // Ids of the uses that the message before made.
    let mut open: BTreeSet<String> = BTreeSet::new();
    for (index, message) in messages.iter().enumerate() {
        let before = index.saturating_sub(1);
        let is = |kind: &'static str| move |block: &&Block| block.kind() == kind;
        let results = message.content.iter().filter(is("tool_result")).count();
        if results > 0 {
            if results != message.content.len() || message.role != Role::User {
                return Err(PairingError::MixedResults { message: index });
            }
            if open.is_empty() {
                return Err(PairingError::Unbalanced { message: index });
            }
            let answers =
                |block: &Block| block.tool_result_for().is_some_and(|id| open.remove(&*id));
            if !message.content.iter().all(answers) {
                return Err(PairingError::Unbalanced { message: before });
            }
        }
        if !open.is_empty() {
            return Err(PairingError::Unbalanced { message: before });
        }
        for block in message.content.iter().filter(is("tool_use")) {
            if message.role != Role::Assistant {
                return Err(PairingError::UseByUser { message: index });
            }
            let id = block.as_tool_use().map(|tool_use| tool_use.id);
            if !id.is_some_and(|id| open.insert(id)) {
                return Err(PairingError::Unbalanced { message: index });
            }
        }
    }
    match open.is_empty() {
        true => Ok(()),
        false => Err(PairingError::Unbalanced { message: messages.len().saturating_sub(1) }),
    }
}
