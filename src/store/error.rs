//! What can go wrong in the store: one variant for each thing that a caller can do something about (S10).

use crate::arena::ArenaError;
use crate::code::ErrorCode;
use crate::reference::{DataKind, ReferenceError, ReferenceId};

/// Why the store did not do what was asked. [`StoreError::code`] and [`StoreError::hint`] tell what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The text names nothing, or a description is longer than a reference may carry.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// Never issued, or released.
    #[error("{id} is unknown: it was never issued or has been released")]
    Unknown {
        /// What was asked for.
        id: ReferenceId,
    },
    /// Not used for longer than references live.
    #[error("{id} has expired")]
    Expired {
        /// What was asked for.
        id: ReferenceId,
    },
    /// It names another kind of data.
    #[error("{id} is a reference of kind {found}, expected {}", list(expected))]
    WrongKind {
        /// What was asked for.
        id: ReferenceId,
        /// Its kind.
        found: DataKind,
        /// The kinds that would do.
        expected: Vec<DataKind>,
    },
    /// The payload breaks a rule of its kind.
    #[error("{what}")]
    InvalidPayload {
        /// Which rule, with the values that break it.
        what: String,
    },
    /// A limit of the store or of the system is reached; nothing that lives was dropped to make room.
    #[error("{what}")]
    Limit {
        /// Which limit, its value and what is taken.
        what: String,
    },
    /// The run has no spectrum at this position.
    #[error("{run} has no spectrum {spectrum_index}: it has {spectrum_count}, counted from 0")]
    SpectrumNotFound {
        /// The run.
        run: ReferenceId,
        /// What was asked for.
        spectrum_index: u32,
        /// How many it has.
        spectrum_count: u64,
    },
    /// The spectrum has another axis than m/z, such as wavelength.
    #[error("spectrum {spectrum_index} of {run} is not a mass spectrum")]
    NotAMassSpectrum {
        /// The run.
        run: ReferenceId,
        /// What was asked for.
        spectrum_index: u32,
    },
    /// A page was asked for with a cursor that no page gave.
    #[error("{cursor:?} is not a cursor of this store")]
    Cursor {
        /// The beginning of the text.
        cursor: String,
    },
    /// A setting cannot be used.
    #[error("{name} is {value:?}: expected {expected}")]
    Configuration {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        value: String,
        /// What would do.
        expected: &'static str,
    },
    /// The arena could not be made.
    #[error(transparent)]
    Arena(ArenaError),
}

impl StoreError {
    /// The stable code of this error.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Reference(error) => error.code(),
            Self::Unknown { .. } => ErrorCode::UnknownReference,
            Self::Expired { .. } => ErrorCode::ExpiredReference,
            Self::WrongKind { .. } => ErrorCode::WrongKind,
            Self::InvalidPayload { .. } => ErrorCode::InvalidPayload,
            Self::Limit { .. } => ErrorCode::StoreLimit,
            Self::SpectrumNotFound { .. } => ErrorCode::SpectrumNotFound,
            Self::NotAMassSpectrum { .. } => ErrorCode::NotAMassSpectrum,
            Self::Cursor { .. } => ErrorCode::InvalidArgument,
            Self::Configuration { .. } => ErrorCode::InvalidConfiguration,
            Self::Arena(error) => error.code(),
        }
    }

    /// What to do next.
    pub fn hint(&self) -> &'static str {
        self.code().hint()
    }

    pub(super) fn invalid(what: impl Into<String>) -> Self {
        Self::InvalidPayload { what: what.into() }
    }
}

impl From<ArenaError> for StoreError {
    fn from(error: ArenaError) -> Self {
        match error {
            ArenaError::InvalidPayload { what } => Self::InvalidPayload { what },
            ArenaError::Limit { what } => Self::Limit { what },
            ArenaError::Io { action, source, .. } if is_system_limit(action, &source) => Self::Limit {
                what: format!("the system's limit is reached: cannot {action} an arena: {source}"),
            },
            other => Self::Arena(other),
        }
    }
}

/// Too many descriptors, or too many mappings: the system says no before the store's own count did.
#[cfg(unix)]
fn is_system_limit(action: &str, error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::MFILE | Errno::NFILE) => true,
        Some(Errno::NOMEM) => action == "map",
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_system_limit(_action: &str, _error: &std::io::Error) -> bool {
    false
}

fn list(kinds: &[DataKind]) -> String {
    let texts: Vec<_> = kinds.iter().map(|kind| kind.as_str()).collect();
    texts.join(" or ")
}
