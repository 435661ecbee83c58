//! Coded warnings: what is odd about a source and does not stop it from being read.

use serde::Serialize;
use std::fmt;

macro_rules! warnings {
    ($($variant:ident = $text:literal, $meaning:literal;)*) => {
        /// What is odd about a source, as a code that programs and agents may rely on.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum WarningCode {
            $(#[doc = $meaning] $variant,)*
        }

        impl WarningCode {
            /// Every code, in the order of the table.
            pub const ALL: &'static [WarningCode] = &[$(WarningCode::$variant,)*];

            /// The code's text, as it stands in every answer.
            pub fn as_str(self) -> &'static str {
                match self { $(WarningCode::$variant => $text,)* }
            }

            /// What it means.
            pub fn meaning(self) -> &'static str {
                match self { $(WarningCode::$variant => $meaning,)* }
            }
        }
    };
}

warnings! {
    ArrayLengthMismatch = "array_length_mismatch", "The declared array length is not the decoded one; m/z and intensity agree with each other.";
    UnsortedMz = "unsorted_mz", "The m/z values of a spectrum do not ascend; their order is kept.";
    NonFiniteIntensity = "non_finite_intensity", "An intensity is NaN or infinite; it is kept, and left out of sums and base peaks.";
    NegativeMz = "negative_mz", "An m/z value is below zero.";
    DuplicateNativeId = "duplicate_native_id", "Several spectra have one native ID; look-up by it is ambiguous.";
    SpectrumCountMismatch = "spectrum_count_mismatch", "The declared number of spectra is not the number found.";
    UnreadableNumber = "unreadable_number", "A number in the metadata cannot be read; it is null.";
    UnresolvedReference = "unresolved_reference", "A reference in the metadata names something that is not in the file; it is null.";
    MissingTimeUnit = "missing_time_unit", "A time has no unit; it is null.";
    ChargePolarityConflict = "charge_polarity_conflict", "A charge's sign contradicts the stated polarity; the polarity is kept.";
    ChargeConflict = "charge_conflict", "PEPMASS and CHARGE state different charges; CHARGE is used.";
    IntegerPrecision = "integer_precision", "A 64-bit integer intensity is beyond 2^53.";
    LossyCompression = "lossy_compression", "An array was stored by a lossy method (MS-Numpress).";
    DamageAfterEnd = "damage_after_end", "What follows the end of the run is damaged or missing; the run itself is whole.";
    InvalidText = "invalid_text", "Text is not valid in the declared encoding; the offending bytes are replaced.";
    UnknownLine = "unknown_line", "A line inside a spectrum is neither a key nor a peak; it is left out.";
    ExtraColumns = "extra_columns", "Peak lines have more than two columns; the others are left out.";
    TrailingData = "trailing_data", "Bytes follow the end of the compressed data; they are ignored.";
    SkippedSpectrum = "skipped_spectrum", "A damaged spectrum was left out (tolerant load).";
    SkippedChromatogram = "skipped_chromatogram", "A recorded chromatogram cannot be read and was left out.";
    Truncated = "truncated", "The source ends early; the complete spectra before the cut were kept (tolerant load).";
}

impl fmt::Display for WarningCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for WarningCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// One kind of warning: how often, and where first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// What.
    pub code: WarningCode,
    /// How often.
    pub count: u64,
    /// The first place: a spectrum's position, a line, a byte offset, in words.
    pub first: String,
}

/// Gathers warnings by code. Bounded: one entry per code, whatever the source does.
///
/// ```
/// use mzarena::warning::{WarningCode, Warnings};
/// let mut warnings = Warnings::default();
/// for line in [7, 9] {
///     warnings.add(WarningCode::UnknownLine, || format!("line {line}"));
/// }
/// assert_eq!(warnings.as_slice()[0].count, 2);
/// assert_eq!(warnings.as_slice()[0].first, "line 7");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Warnings(Vec<Warning>);

impl Warnings {
    /// Longest text of a place that is kept, in bytes.
    const LONGEST_PLACE: usize = 200;

    /// Counts one occurrence; `place` is asked only the first time.
    pub fn add(&mut self, code: WarningCode, place: impl FnOnce() -> String) {
        self.add_many(code, 1, place);
    }

    /// Counts `count` occurrences at once; nothing happens for 0.
    pub fn add_many(&mut self, code: WarningCode, count: u64, place: impl FnOnce() -> String) {
        if count == 0 {
            return;
        }
        match self.0.iter_mut().find(|warning| warning.code == code) {
            Some(warning) => warning.count += count,
            None => {
                let mut first = place();
                first.truncate(first.floor_char_boundary(Self::LONGEST_PLACE));
                self.0.push(Warning { code, count, first });
            }
        }
    }

    /// Whether `code` occurred.
    pub fn has(&self, code: WarningCode) -> bool {
        self.0.iter().any(|warning| warning.code == code)
    }

    /// All warnings, in the order of their first occurrence.
    pub fn as_slice(&self) -> &[Warning] {
        &self.0
    }

    /// Gives the warnings away.
    pub fn into_vec(self) -> Vec<Warning> {
        self.0
    }
}
