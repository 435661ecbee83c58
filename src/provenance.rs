//! Where data came from. Knows nothing of the store: parents are plain identifier strings.

use serde::Serialize;

/// Name and version of the program that made a reference, as in every provenance record.
pub const SOFTWARE: &str = concat!("mzarena ", env!("CARGO_PKG_VERSION"));

/// A file that data was read from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SourceRef {
    /// Path relative to its root, with the root's label where there are several; never an absolute path.
    pub source: String,
    /// Format as recognised by content: `mzML`, `MGF`.
    pub format: String,
    /// Reader that was used, with its version.
    pub reader: String,
    /// Size of the file in bytes, compressed if it is.
    pub byte_size: u64,
    /// `blake3:` or `sha256:` and lower-case hex, of every byte of the file.
    pub digest: Option<String>,
    /// Why there is no digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest_reason: Option<&'static str>,
}

/// How a payload came to be.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Provenance {
    /// Tool or function: `load_run`, `register_spectrum`, …
    pub operation: String,
    /// Parameters that shaped the result.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub parameters: serde_json::Map<String, serde_json::Value>,
    /// Files read.
    pub sources: Vec<SourceRef>,
    /// Identifiers of the references it was made from.
    pub parents: Vec<String>,
    /// Program and version.
    pub software: String,
}

impl Provenance {
    /// A record of `operation` without parameters, sources or parents yet.
    ///
    /// ```
    /// let record = mzarena::provenance::Provenance::of("register_spectrum");
    /// assert!(record.software.starts_with("mzarena "));
    /// ```
    pub fn of(operation: &str) -> Self {
        Self {
            operation: operation.to_owned(),
            parameters: serde_json::Map::new(),
            sources: Vec::new(),
            parents: Vec::new(),
            software: SOFTWARE.to_owned(),
        }
    }
}
