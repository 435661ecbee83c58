//! What kind of statement a payload is: measured, computed, predicted.

use serde::Serialize;

/// Label of every payload that leaves (M6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DataClass {
    /// What an instrument recorded and a file says.
    MeasuredData,
    /// Computed by mzarena from measured data.
    DerivedAnalysis,
    /// From a library of reference spectra.
    ReferenceLibrary,
    /// Predicted by a model; never evidence.
    MlPrediction,
    /// An identifier that another authority issued.
    ExternalReferenceIdentifier,
    /// Facts about the store and the server themselves.
    OperationalMetadata,
}

impl DataClass {
    /// Every class, in the order of `surface.md`.
    pub const ALL: &'static [Self] = &[
        Self::MeasuredData,
        Self::DerivedAnalysis,
        Self::ReferenceLibrary,
        Self::MlPrediction,
        Self::ExternalReferenceIdentifier,
        Self::OperationalMetadata,
    ];

    /// The class's text, as it stands in every answer.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MeasuredData => "measured_data",
            Self::DerivedAnalysis => "derived_analysis",
            Self::ReferenceLibrary => "reference_library",
            Self::MlPrediction => "ml_prediction",
            Self::ExternalReferenceIdentifier => "external_reference_identifier",
            Self::OperationalMetadata => "operational_metadata",
        }
    }
}
