//! Loading files and bytes into arenas, with one error type for both doors.

#![allow(dead_code, reason = "each test binary uses its own part")]

use mzarena::access::open_path;
use mzarena::arena::{ArenaFolder, Unlimited};
use mzarena::code::ErrorCode;
use mzarena::ingest::{IngestError, IngestOptions, Ingested, Source, ingest};
use mzarena::observe::Unobserved;
use mzarena::warning::WarningCode;
use std::path::Path;

/// Why something was not loaded, as a user sees it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: ErrorCode,
    pub(crate) text: String,
}

impl From<IngestError> for Failure {
    fn from(error: IngestError) -> Self {
        Self { code: error.code(), text: error.to_string() }
    }
}

pub(crate) const STRICT: IngestOptions =
    IngestOptions { tolerant: false, digest: mzarena::ingest::DigestKind::Blake3 };
pub(crate) const TOLERANT: IngestOptions =
    IngestOptions { tolerant: true, digest: mzarena::ingest::DigestKind::Blake3 };

pub(crate) fn folder() -> ArenaFolder {
    ArenaFolder::from_environment().unwrap()
}

pub(crate) fn load_path(path: &Path, options: &IngestOptions) -> Result<Ingested, Failure> {
    let opened = open_path(path).map_err(|error| Failure { code: error.code(), text: error.to_string() })?;
    let source = Source::from_opened(opened)?;
    Ok(ingest(source, &folder(), Unlimited, options, &Unobserved)?)
}

pub(crate) fn load_bytes(bytes: &[u8], options: &IngestOptions) -> Result<Ingested, Failure> {
    let source = Source::from_reader("inline", bytes, Some(bytes.len() as u64));
    Ok(ingest(source, &folder(), Unlimited, options, &Unobserved)?)
}

/// Loads text that must be sound.
pub(crate) fn load_text(text: &str) -> Ingested {
    load_bytes(text.as_bytes(), &STRICT).unwrap_or_else(|failure| panic!("{}\n{text}", failure.text))
}

/// The codes of all warnings, in the order of their first occurrence.
pub(crate) fn warning_codes(loaded: &Ingested) -> Vec<WarningCode> {
    loaded.warnings.iter().map(|warning| warning.code).collect()
}
