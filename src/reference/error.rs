//! What can go wrong with an identifier or with what is said about a payload.

use crate::code::ErrorCode;

/// Why an identifier could not be read or made, or a description was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReferenceError {
    /// The text is not of the form `ptr:<kind>:<24 hex digits>`.
    #[error("{text:?} is not a reference: expected ptr:<kind>:<24 lower-case hex digits>")]
    Malformed {
        /// The beginning of the text, at most 96 characters.
        text: String,
    },
    /// The operating system gave no random bits.
    #[error("the operating system gave no random bits for an identifier: {what}")]
    NoRandomness {
        /// What the system said.
        what: String,
    },
    /// A description is longer than a reference may carry.
    #[error("{what} is too long for a reference: {found}, at most {allowed}")]
    TooLong {
        /// Which part.
        what: &'static str,
        /// Its length or count.
        found: usize,
        /// The most that is kept.
        allowed: usize,
    },
    /// A namespace has characters that it must not have.
    #[error("{namespace:?} is not a namespace: expected 1 to 64 letters, digits, '.', '_' or '-'")]
    Namespace {
        /// The beginning of the text, at most 96 characters.
        namespace: String,
    },
}

impl ReferenceError {
    /// The stable code of this error.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Malformed { .. } => ErrorCode::UnknownReference,
            Self::NoRandomness { .. } => ErrorCode::Internal,
            Self::TooLong { .. } | Self::Namespace { .. } => ErrorCode::InvalidArgument,
        }
    }
}
