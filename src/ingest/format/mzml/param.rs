//! cvParam and userParam: matched by accession, never by name.

use super::xml::Attributes;
use std::borrow::Cow;

/// An accession of the two vocabularies that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) enum Accession {
    /// PSI-MS, `MS:1000511`.
    Ms(u32),
    /// Unit ontology, `UO:0000031`.
    Unit(u32),
    /// Imaging, `IMS:1000050`.
    Imaging(u32),
    /// A user parameter, or another vocabulary.
    #[default]
    Other,
}

impl Accession {
    pub(super) fn parse(text: &str) -> Self {
        let Some((vocabulary, number)) = text.split_once(':') else { return Self::Other };
        if number.len() > 7 || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Self::Other;
        }
        match (vocabulary, number.parse()) {
            ("MS", Ok(number)) => Self::Ms(number),
            ("UO", Ok(number)) => Self::Unit(number),
            ("IMS", Ok(number)) => Self::Imaging(number),
            _ => Self::Other,
        }
    }
}

/// One parameter.
#[derive(Debug, Clone, Default)]
pub(super) struct Param<'a> {
    pub(super) accession: Accession,
    pub(super) name: Cow<'a, str>,
    pub(super) value: Cow<'a, str>,
    pub(super) unit: Accession,
}

impl<'a> Param<'a> {
    pub(super) fn from(attributes: &'a Attributes<'_>) -> Self {
        let mut param = Self::default();
        for (key, value) in attributes.iter() {
            match *key {
                "accession" => param.accession = Accession::parse(value),
                "name" => param.name = Cow::Borrowed(value),
                "value" => param.value = Cow::Borrowed(value),
                "unitAccession" => param.unit = Accession::parse(value),
                _ => {}
            }
        }
        param
    }

    pub(super) fn into_owned(self) -> Param<'static> {
        Param {
            accession: self.accession,
            name: Cow::Owned(self.name.into_owned()),
            value: Cow::Owned(self.value.into_owned()),
            unit: self.unit,
        }
    }

    /// The value as a finite number.
    pub(super) fn number(&self) -> Option<f64> {
        self.value.trim().parse::<f64>().ok().filter(|number| number.is_finite())
    }
}

/// `value` of `unit` in minutes.
pub(super) fn to_minutes(value: f64, unit: Accession) -> Option<f64> {
    match unit {
        Accession::Unit(31) => Some(value),
        // Division keeps what a reader that divides by 60 computes, bit for bit.
        Accession::Unit(10) => Some(value / 60.0),
        Accession::Unit(28) => Some(value / 60_000.0),
        Accession::Unit(32) => Some(value * 60.0),
        _ => None,
    }
}
