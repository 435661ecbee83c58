//! Binary arrays of a record: what each is, and decoding the ones that are kept.

use super::param::{Accession, Param, to_minutes};
use crate::ingest::format::binary::{DecodeError, Decoder, Encoding};
use crate::ingest::incoming::Values;
use crate::spectrum::IonMobilityKind;
use std::ops::Range;

/// What an array holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Role {
    Mz,
    Intensity,
    Mobility(IonMobilityKind),
    Time,
    /// MS level of each point of a chromatogram.
    MsLevel,
    Wavelength,
    /// Never decoded.
    #[default]
    NotKept,
}

/// One `<binaryDataArray>`.
#[derive(Debug, Clone, Default)]
pub(super) struct ArrayInfo {
    pub(super) role: Role,
    pub(super) name: String,
    pub(super) encoding: Encoding,
    /// `arrayLength`, where the array states its own.
    pub(super) length: Option<u64>,
    pub(super) unit: Accession,
    /// Where its text stands in the slice; several pieces where comments or CDATA split it.
    pub(super) text: Vec<Range<usize>>,
}

impl ArrayInfo {
    pub(super) fn param(&mut self, param: &Param<'_>) {
        let Accession::Ms(accession) = param.accession else { return };
        if self.encoding.insert(accession) {
            return;
        }
        let role = match accession {
            1_000_514 => Role::Mz,
            1_000_515 => Role::Intensity,
            1_000_595 => Role::Time,
            1_000_617 => Role::Wavelength,
            1_003_006 | 1_003_008 | 1_003_155 => Role::Mobility(IonMobilityKind::InverseReduced),
            1_002_477 | 1_003_153 | 1_003_156 => Role::Mobility(IonMobilityKind::DriftTime),
            1_002_816 | 1_003_007 | 1_003_154 => Role::Mobility(IonMobilityKind::Reduced),
            1_002_893 => Role::Mobility(IonMobilityKind::Unspecified),
            // non-standard data array: its name is the value
            1_000_786 => match param.value.as_ref() {
                "Ion Mobility" => Role::Mobility(IonMobilityKind::Unspecified),
                "ms level" => Role::MsLevel,
                _ => Role::NotKept,
            },
            _ => Role::NotKept,
        };
        if self.name.is_empty() || role != Role::NotKept {
            self.role = role;
            let is_named_by_value = accession == 1_000_786 && !param.value.is_empty();
            self.name = if is_named_by_value { param.value.to_string() } else { param.name.to_string() };
            self.unit = param.unit;
        }
    }

    /// The text of the array; `joined` holds it where it comes in pieces or with references.
    fn text<'t>(&self, slice: &'t str, joined: &'t mut Vec<u8>) -> &'t [u8] {
        let piece = |range: &Range<usize>| slice.get(range.clone()).unwrap_or_default();
        match self.text.as_slice() {
            [] => &[],
            [one] if !piece(one).starts_with('&') => piece(one).as_bytes(),
            several => {
                joined.clear();
                for range in several {
                    // a reference is a piece of its own; one that cannot be resolved is no base64 either
                    let text = piece(range);
                    let text = quick_xml::escape::unescape(text).unwrap_or(text.into());
                    joined.extend_from_slice(text.as_bytes());
                }
                joined
            }
        }
    }

    /// Where its text starts in the slice.
    pub(super) fn offset(&self) -> usize {
        self.text.first().map_or(0, |range| range.start)
    }
}

/// What decoding said beside the values.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Remarks {
    pub(super) is_lossy: bool,
    pub(super) beyond_2_53: u64,
    pub(super) has_trailing_bytes: bool,
}

/// Decodes arrays with buffers that are reused from record to record.
#[derive(Default)]
pub(super) struct ArrayDecoder {
    decoder: Decoder,
    joined: Vec<u8>,
}

impl ArrayDecoder {
    /// Decodes `array` into 64-bit floats; answers what is to be said about it.
    pub(super) fn wide(
        &mut self,
        slice: &str,
        array: &ArrayInfo,
        declared: u64,
        out: &mut Vec<f64>,
    ) -> Result<Remarks, DecodeError> {
        let text = array.text(slice, &mut self.joined);
        if is_empty(text) {
            out.clear();
            return Ok(Remarks::default());
        }
        let decoded = self.decoder.decode_f64(text, &array.encoding, declared, out)?;
        Ok(Remarks {
            is_lossy: decoded.is_lossy,
            beyond_2_53: decoded.beyond_2_53,
            has_trailing_bytes: decoded.has_trailing_bytes,
        })
    }

    /// Decodes `array` in its own precision.
    pub(super) fn values(
        &mut self,
        slice: &str,
        array: &ArrayInfo,
        declared: u64,
        out: &mut Values,
    ) -> Result<Remarks, DecodeError> {
        let text = array.text(slice, &mut self.joined);
        if is_empty(text) {
            out.as_cleared_f32();
            return Ok(Remarks::default());
        }
        let decoded = self.decoder.decode_values(text, &array.encoding, declared, out)?;
        Ok(Remarks {
            is_lossy: decoded.is_lossy,
            beyond_2_53: decoded.beyond_2_53,
            has_trailing_bytes: decoded.has_trailing_bytes,
        })
    }

    /// Decodes a time array into minutes; where its unit is not known, all times are NaN and the answer is `false`.
    pub(super) fn minutes(
        &mut self,
        slice: &str,
        array: &ArrayInfo,
        declared: u64,
        out: &mut Vec<f64>,
    ) -> Result<bool, DecodeError> {
        self.wide(slice, array, declared, out)?;
        out.iter_mut().for_each(|time| *time = to_minutes(*time, array.unit).unwrap_or(f64::NAN));
        Ok(out.is_empty() || to_minutes(0.0, array.unit).is_some())
    }
}

/// An array without text has no values, whatever its encoding.
fn is_empty(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_whitespace)
}
