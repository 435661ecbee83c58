//! The kinds of data that a reference can name.

use super::DataClass;
use serde::Serialize;
use std::fmt;

/// What a reference holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataKind {
    /// One spectrum: alone, or a slice of a run.
    Spectrum,
    /// Picked peaks, checked more strictly than a spectrum: positive m/z, intensities of 0 and up.
    PeakList,
    /// Rows of 32-bit numbers made by a model.
    Embedding,
    /// One acquisition: its spectra and recorded chromatograms.
    Run,
}

impl DataKind {
    /// Every kind, in the order of documentation.
    pub const ALL: &'static [Self] = &[Self::Spectrum, Self::PeakList, Self::Embedding, Self::Run];

    /// The kind's text, as it stands in identifiers and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Spectrum => "spectrum",
            Self::PeakList => "peak-list",
            Self::Embedding => "embedding",
            Self::Run => "run",
        }
    }

    /// The kind of a text as [`DataKind::as_str`] writes it.
    pub fn from_text(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.as_str() == text)
    }

    /// The class under which data of this kind is labelled.
    pub fn data_class(self) -> DataClass {
        match self {
            Self::Spectrum | Self::PeakList | Self::Run => DataClass::MeasuredData,
            Self::Embedding => DataClass::MlPrediction,
        }
    }
}

impl fmt::Display for DataKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for DataKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_listed_once_and_read_back() {
        let texts: std::collections::BTreeSet<_> = DataKind::ALL.iter().map(|kind| kind.as_str()).collect();
        assert_eq!(texts.len(), DataKind::ALL.len());
        for kind in DataKind::ALL {
            assert_eq!(DataKind::from_text(kind.as_str()), Some(*kind));
        }
        assert_eq!(DataKind::from_text("Run"), None);
        assert_eq!(DataKind::from_text(""), None);
    }

    #[test]
    fn classes_have_the_text_that_serde_writes() {
        for class in DataClass::ALL {
            assert_eq!(serde_json::to_value(class).unwrap(), class.as_str());
        }
        assert_eq!(DataKind::Embedding.data_class(), DataClass::MlPrediction, "never evidence");
    }
}
