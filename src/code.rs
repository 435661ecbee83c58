//! The stable error codes, one table: the same text in Rust, over MCP and in the docs.

use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal, $hint:literal;)*) => {
        /// What went wrong, as a code that programs and agents may rely on.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $(#[doc = $hint] $(#[$doc])* $variant,)*
        }

        impl ErrorCode {
            /// Every code, in the order of the table.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$variant,)*];

            /// The code's text, as it stands in every answer.
            pub fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$variant => $text,)* }
            }

            /// What to do next.
            pub fn hint(self) -> &'static str {
                match self { $(ErrorCode::$variant => $hint,)* }
            }
        }
    };
}

codes! {
    // the store
    UnknownReference = "unknown_reference", "Use a reference that a load answered with; released and mistyped ones are unknown. list_references shows the live ones.";
    ExpiredReference = "expired_reference", "Load the data again; the old reference stays expired.";
    WrongKind = "wrong_kind", "Pass a reference of the kind that the message asks for; list_references shows kinds.";
    InvalidPayload = "invalid_payload", "Correct the data: equal array lengths, no NaN or infinite m/z.";
    StoreLimit = "store_limit", "Release references that are no longer needed, or raise the limit that the message names.";
    StorageFull = "storage_full", "Free space in the arena folder, or name another one in MZARENA_ARENA_DIR.";
    StorageFailed = "storage_failed", "Check the arena folder that the message names, or name another one in MZARENA_ARENA_DIR.";
    InvalidConfiguration = "invalid_configuration", "Correct the setting that the message names and start again.";
    // arguments
    InvalidArgument = "invalid_argument", "Correct the argument that the message names.";
    MissingArgument = "missing_argument", "Add the argument that the message names.";
    UnknownArgument = "unknown_argument", "Remove the argument; the tool's input schema lists the ones it takes.";
    UnknownTool = "unknown_tool", "Call one of the tools in tools/list.";
    // sources
    NotFound = "not_found", "Name a source as list_sources shows it; only files below the configured roots can be read.";
    AmbiguousSource = "ambiguous_source", "Put the root's label before the path, as in label:path.";
    NotARegularFile = "not_a_regular_file", "Name a regular file; folders, pipes and devices are not read.";
    SourceTooLarge = "source_too_large", "Raise the limit that the message names, or split the file.";
    UnsupportedFormat = "unsupported_format", "Convert the file to mzML or MGF, for example with msconvert of ProteoWizard.";
    SourceChanged = "source_changed", "Wait until the file is no longer written to, then load it again.";
    ReadFailed = "read_failed", "Check the disk or network drive that holds the file, then try again.";
    DamagedSource = "damaged_source", "Get a sound copy of the file, or load with tolerant: true to keep what is sound.";
    TruncatedSource = "truncated_source", "Get the whole file, or load with tolerant: true to keep the complete spectra.";
    // spectra
    SpectrumNotFound = "spectrum_not_found", "Ask for a spectrum that the run has; its summary states how many there are.";
    AmbiguousSpectrum = "ambiguous_spectrum", "Ask by spectrum_index; the candidates list the positions.";
    NotAMassSpectrum = "not_a_mass_spectrum", "Ask for a spectrum with m/z values; this one has another axis, such as wavelength.";
    // process
    Cancelled = "cancelled", "Call again if the result is still wanted.";
    Busy = "busy", "Wait for a running load to end, then call again.";
    Internal = "internal", "This is a fault of mzarena; report it with the message.";
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl serde::Serialize for ErrorCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_snake_case_and_say_what_to_do() {
        let texts: std::collections::BTreeSet<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(texts.len(), ErrorCode::ALL.len());
        for code in ErrorCode::ALL {
            assert!(code.as_str().bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{code}");
            assert!(code.hint().ends_with('.') && code.hint().len() < 200, "{code}");
        }
    }
}
