//! From a source file to a sealed arena: opened once, read in order once, checked throughout, mapped never.
//!
//! Strict is the default: a damaged source gives an error that names the place, and nothing else. A tolerant load
//! keeps what is sound and says what is missing.
//!
//! ```
//! use mzarena::arena::{ArenaFolder, Unlimited};
//! use mzarena::ingest::{IngestOptions, Source, ingest};
//! use mzarena::observe::Unobserved;
//!
//! let text = "BEGIN IONS\nPEPMASS=500.25\n100.5 10\n200.25 30\nEND IONS\n";
//! let source = Source::from_reader("inline.mgf", text.as_bytes(), None);
//! let folder = ArenaFolder::from_environment().unwrap();
//! let loaded = ingest(source, &folder, Unlimited, &IngestOptions::default(), &Unobserved).unwrap();
//! assert_eq!(loaded.arena.totals().point_count, 2);
//! assert_eq!(loaded.source.format, "MGF");
//! ```

mod error;
pub mod format;
mod incoming;
mod load;
mod single;
mod source;

pub use error::{IngestError, Place};
pub use incoming::{Flow, IncomingChromatogram, IncomingSpectrum, RunDescription, RunSink, Values};
pub use load::{IngestOptions, Ingested, ingest};
pub use single::{IngestedSpectrum, SpectrumSelector, ingest_spectrum};
pub use source::{DigestKind, Source, Window};
