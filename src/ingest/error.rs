//! Why a source cannot be read, and where.

use crate::arena::ArenaError;
use crate::code::ErrorCode;
use std::fmt;
use std::io;

/// Where in a source something is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Position of the spectrum, from 0.
    pub spectrum_index: Option<u64>,
    /// Its native ID.
    pub native_id: Option<String>,
    /// Which array.
    pub array: Option<&'static str>,
    /// Line, from 1.
    pub line: Option<u64>,
    /// Offset in the text of the source, after decompression.
    pub byte_offset: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(index) = self.spectrum_index {
            write!(f, "spectrum {index}")?;
            if let Some(native_id) = &self.native_id {
                write!(f, " ({})", shortened(native_id))?;
            }
            f.write_str(", ")?;
        }
        if let Some(array) = self.array {
            write!(f, "{array}, ")?;
        }
        if let Some(line) = self.line {
            write!(f, "line {line}, ")?;
        }
        write!(f, "byte {}", self.byte_offset)
    }
}

/// A text short enough for a message.
pub(crate) fn shortened(text: &str) -> &str {
    text.get(..text.floor_char_boundary(96)).unwrap_or_default()
}

/// A name short enough that what is wrong has room behind it; of a long path the end says more than the start.
fn end_of_name(name: &str) -> std::borrow::Cow<'_, str> {
    const LONGEST: usize = 300;
    match name.len().checked_sub(LONGEST) {
        None | Some(0) => name.into(),
        Some(cut) => format!("…{}", name.get(name.ceil_char_boundary(cut)..).unwrap_or_default()).into(),
    }
}

/// Why a source cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IngestError {
    /// The error `error` with the name of the source it is about.
    #[error("{}: {error}", end_of_name(source_name))]
    In {
        /// Name of the source.
        source_name: String,
        /// What is wrong.
        error: Box<IngestError>,
    },
    /// The system could not read on.
    #[error("reading failed at byte {offset} of the file: {source}")]
    Read {
        /// Bytes of the file read before.
        offset: u64,
        /// What the system said.
        source: io::Error,
    },
    /// The content is not of a format that is read here.
    #[error("{what}")]
    Unsupported {
        /// What it looks like, and the way out.
        what: String,
    },
    /// The source is damaged.
    #[error("damaged at {place}: {what}")]
    Damaged {
        /// Where.
        place: Place,
        /// What is wrong, with the values.
        what: String,
    },
    /// The source ends early.
    #[error(
        "the source ends early, at {place}: {what}; {complete_spectrum_count} spectra before it are complete"
    )]
    Truncated {
        /// Where.
        place: Place,
        /// What was open.
        what: String,
        /// Spectra that were read in full.
        complete_spectrum_count: u64,
    },
    /// Somebody wrote to the source while it was read.
    #[error("the source changed while it was read: {what}")]
    SourceChanged {
        /// What differs.
        what: String,
    },
    /// The source has no such spectrum.
    #[error("no spectrum with {wanted}; the source has {spectrum_count} spectra")]
    SpectrumNotFound {
        /// What was asked for.
        wanted: String,
        /// How many there are.
        spectrum_count: u64,
    },
    /// The spectrum asked for has no m/z axis.
    #[error("spectrum {spectrum_index} ({native_id}) has no m/z axis")]
    NotAMassSpectrum {
        /// Its position.
        spectrum_index: u64,
        /// Its native ID.
        native_id: String,
    },
    /// The arena refused.
    #[error(transparent)]
    Arena(#[from] ArenaError),
    /// Whoever watched asked to stop.
    #[error("cancelled")]
    Cancelled,
}

impl IngestError {
    /// The stable code of this error.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::In { error, .. } => error.code(),
            Self::Read { .. } => ErrorCode::ReadFailed,
            Self::Unsupported { .. } => ErrorCode::UnsupportedFormat,
            Self::Damaged { .. } => ErrorCode::DamagedSource,
            Self::Truncated { .. } => ErrorCode::TruncatedSource,
            Self::SourceChanged { .. } => ErrorCode::SourceChanged,
            Self::SpectrumNotFound { .. } => ErrorCode::SpectrumNotFound,
            Self::NotAMassSpectrum { .. } => ErrorCode::NotAMassSpectrum,
            Self::Arena(error) => error.code(),
            Self::Cancelled => ErrorCode::Cancelled,
        }
    }

    /// Whether the source itself is at fault, so that a tolerant load may keep what is sound.
    pub(crate) fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::Truncated { .. })
    }

    pub(crate) fn damaged(byte_offset: u64, what: impl Into<String>) -> Self {
        Self::Damaged { place: Place { byte_offset, ..Place::default() }, what: what.into() }
    }

    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported { what: what.into() }
    }
}
