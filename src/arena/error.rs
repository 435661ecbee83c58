//! What can go wrong while an arena is made or opened.

use crate::code::ErrorCode;
use std::io;
use std::path::PathBuf;

/// Why an arena could not be made or opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArenaError {
    /// The payload breaks a rule of its kind.
    #[error("{what}")]
    InvalidPayload {
        /// Which rule, with the values that break it.
        what: String,
    },
    /// The owner of the budget refused to let the arena grow.
    #[error("{what}")]
    Limit {
        /// Which limit, its value and what was asked for.
        what: String,
    },
    /// The disk or its quota is full.
    #[error("the arena folder {} is full after {written} bytes", folder.display())]
    Full {
        /// Folder that holds the unnamed file.
        folder: PathBuf,
        /// Bytes written before.
        written: u64,
        /// What the system said.
        source: io::Error,
    },
    /// Any other failure of the unnamed file.
    #[error("cannot {action} an arena in {}: {source}", folder.display())]
    Io {
        /// `create`, `write`, `reopen`, `map`.
        action: &'static str,
        /// Folder that holds the unnamed file.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The bytes are not those of a sound arena.
    #[error("the arena is damaged: {what}")]
    Damaged {
        /// Which check failed, with the values.
        what: String,
    },
}

impl ArenaError {
    /// The stable code of this error.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::InvalidPayload { .. } => ErrorCode::InvalidPayload,
            Self::Limit { .. } => ErrorCode::StoreLimit,
            Self::Full { .. } => ErrorCode::StorageFull,
            Self::Io { .. } => ErrorCode::StorageFailed,
            Self::Damaged { .. } => ErrorCode::Internal,
        }
    }

    pub(crate) fn invalid(what: impl Into<String>) -> Self {
        Self::InvalidPayload { what: what.into() }
    }

    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged { what: what.into() }
    }
}
