//! One error over all of the library's: for callers who want `?` everywhere and one code at the end.

use crate::access::AccessError;
use crate::arena::ArenaError;
use crate::code::ErrorCode;
use crate::ingest::IngestError;
use crate::reference::ReferenceError;
use crate::store::StoreError;
use crate::tools::ToolError;

/// Any error of the library.
///
/// ```
/// use mzarena::code::ErrorCode;
/// use std::path::Path;
///
/// fn size(path: &str) -> Result<u64, mzarena::Error> {
///     Ok(mzarena::access::open_path(Path::new(path))?.identity.byte_size)
/// }
/// assert_eq!(size("no/such/file").unwrap_err().code(), ErrorCode::NotFound);
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file may not or cannot be opened.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// A source cannot be read.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// An arena cannot be made or opened.
    #[error(transparent)]
    Arena(#[from] ArenaError),
    /// The store refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Text about a reference is out of bounds.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// A tool did not answer.
    #[error("{}", .0.message)]
    Tool(ToolError),
}

impl From<ToolError> for Error {
    fn from(error: ToolError) -> Self {
        Self::Tool(error)
    }
}

impl Error {
    /// The stable code of this error.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Access(error) => error.code(),
            Self::Ingest(error) => error.code(),
            Self::Arena(error) => error.code(),
            Self::Store(error) => error.code(),
            Self::Reference(error) => error.code(),
            Self::Tool(error) => error.code,
        }
    }
}
