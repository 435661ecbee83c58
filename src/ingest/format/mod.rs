//! The formats that are read, each recognised by its content.

pub mod binary;
mod detect;
pub mod mgf;
pub mod mzml;

use super::{IngestError, RunSink, Window};

/// A format: how it is recognised and read.
pub struct Format {
    /// Name, as in provenance.
    pub name: &'static str,
    /// Reader and its version, as in provenance.
    pub reader: &'static str,
    /// Whether `start`, the first bytes of a text, looks like it.
    pub(super) recognises: fn(start: &[u8]) -> bool,
    /// Reads the whole text into the sink.
    pub(super) read: fn(&mut Window<'_>, &mut dyn RunSink) -> Result<(), IngestError>,
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Format").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Every format, in the order in which they are tried.
pub static FORMATS: &[Format] = &[
    Format {
        name: "mzML",
        reader: concat!("mzarena-mzml ", env!("CARGO_PKG_VERSION")),
        recognises: mzml::recognises,
        read: mzml::read,
    },
    Format {
        name: "MGF",
        reader: concat!("mzarena-mgf ", env!("CARGO_PKG_VERSION")),
        recognises: mgf::recognises,
        read: mgf::read,
    },
];

pub(super) use detect::detect;
