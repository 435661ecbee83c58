//! The one serialisable face of a payload: metadata made at registration, so that describing opens nothing (S5).

use super::{DataClass, DataKind, ReferenceError, ReferenceId, Summary, id};
use crate::provenance::Provenance;
use crate::warning::Warning;
use serde::Serialize;
use std::fmt;

/// A moment in UTC, to the second; written as RFC 3339.
///
/// ```
/// use mzarena::reference::UtcTime;
/// assert_eq!(UtcTime::from_unix_seconds(1_796_072_400).to_string(), "2026-11-30T21:00:00Z");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UtcTime(i64);

impl UtcTime {
    /// A moment by its distance from 1970-01-01T00:00:00Z; what the calendar cannot hold becomes its nearest end.
    pub fn from_unix_seconds(seconds: i64) -> Self {
        Self(seconds.clamp(jiff::Timestamp::MIN.as_second(), jiff::Timestamp::MAX.as_second()))
    }

    /// Distance from 1970-01-01T00:00:00Z in seconds.
    pub fn unix_seconds(self) -> i64 {
        self.0
    }
}

impl fmt::Display for UtcTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = jiff::Timestamp::from_second(self.0).map_err(|_| fmt::Error)?;
        fmt::Display::fmt(&moment, f)
    }
}

impl Serialize for UtcTime {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// How much a reference holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Shape {
    /// Of [`DataKind::Run`].
    Run {
        /// Spectra, mass spectra and others.
        spectrum_count: u64,
        /// Recorded chromatograms.
        chromatogram_count: u64,
        /// Points of all spectra.
        point_count: u64,
    },
    /// Of [`DataKind::Spectrum`].
    Spectrum {
        /// (m/z, intensity) pairs.
        point_count: u64,
    },
    /// Of [`DataKind::PeakList`].
    PeakList {
        /// Picked peaks.
        peak_count: u64,
    },
    /// Of [`DataKind::Embedding`].
    Embedding {
        /// Vectors.
        row_count: u64,
        /// Numbers in each vector.
        dimension_count: u64,
    },
}

impl Shape {
    /// The kind that has this shape.
    pub fn kind(self) -> DataKind {
        match self {
            Self::Run { .. } => DataKind::Run,
            Self::Spectrum { .. } => DataKind::Spectrum,
            Self::PeakList { .. } => DataKind::PeakList,
            Self::Embedding { .. } => DataKind::Embedding,
        }
    }
}

/// Values that we computed, kept apart from what the source says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Derived {
    /// Always [`DataClass::DerivedAnalysis`].
    pub data_class: DataClass,
    /// The values.
    #[serde(flatten)]
    pub values: Summary,
}

impl From<Summary> for Derived {
    fn from(values: Summary) -> Self {
        Self { data_class: DataClass::DerivedAnalysis, values }
    }
}

/// Metadata of stored data: all that ever leaves the store about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DataReference {
    /// Identifier.
    pub reference: ReferenceId,
    /// What it holds.
    pub kind: DataKind,
    /// How much it holds.
    pub shape: Shape,
    /// Bytes of its arena; for a slice, bytes of the columns it shares with its parent.
    pub byte_size: u64,
    /// Group that the caller put it into.
    pub namespace: String,
    /// Whether everything that the source holds of it was kept.
    pub complete: bool,
    /// What was left out and why, where `complete` is false.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Warning>,
    /// Time of registration.
    pub created_at: UtcTime,
    /// Time at which it expires unless it is used before; `None` (null) where references never expire.
    pub expires_at: Option<UtcTime>,
    /// How it came to be.
    pub provenance: Provenance,
    /// What the source says.
    pub summary: Summary,
    /// What we computed.
    pub derived: Derived,
    /// What is odd about the source.
    pub warnings: Vec<Warning>,
}

/// Checks what a caller says about a payload, so that a reference stays small whoever makes it.
pub(crate) fn check_bounds(namespace: &str, provenance: &Provenance) -> Result<(), ReferenceError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if namespace.is_empty() || namespace.len() > 64 || !namespace.bytes().all(is_plain) {
        return Err(ReferenceError::Namespace { namespace: id::beginning(namespace) });
    }
    let at_most = |what, found, allowed| {
        if found <= allowed { Ok(()) } else { Err(ReferenceError::TooLong { what, found, allowed }) }
    };
    at_most("the operation (bytes)", provenance.operation.len(), 64)?;
    at_most("the software (bytes)", provenance.software.len(), 256)?;
    at_most("the list of sources", provenance.sources.len(), 16)?;
    at_most("the list of parents", provenance.parents.len(), 64)?;
    let parameters = serde_json::Value::Object(provenance.parameters.clone()).to_string();
    at_most("the list of parameters (bytes)", parameters.len(), 4096)?;
    for source in &provenance.sources {
        // the longest path that Linux takes; a path is needed whole to load the source again
        at_most("a source's path (bytes)", source.source.len(), 4096 + 256)?;
        at_most("a source's format (bytes)", source.format.len(), 64)?;
        at_most("a source's reader (bytes)", source.reader.len(), 256)?;
        at_most("a source's digest (bytes)", source.digest.as_ref().map_or(0, String::len), 256)?;
    }
    provenance.parents.iter().try_for_each(|parent| at_most("a parent (bytes)", parent.len(), 128))
}
