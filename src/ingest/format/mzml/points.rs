//! The values of a record: which array is which, decoded and held to each other.

use super::arrays::{ArrayDecoder, ArrayInfo, Remarks, Role};
use super::param::Accession;
use super::record::Record;
use crate::ingest::IncomingSpectrum;
use crate::ingest::error::shortened;
use crate::ingest::format::binary::DecodeError;
use crate::ingest::incoming::IncomingChromatogram;
use crate::spectrum::IonMobilityKind;
use crate::warning::WarningCode;

/// Why an array cannot be kept.
pub(super) struct ArrayFault {
    pub(super) array: Option<&'static str>,
    /// From the start of the slice.
    pub(super) offset: usize,
    pub(super) what: String,
}

/// The one array of `role`, if there is one.
fn only<'r>(
    record: &'r Record,
    is_role: impl Fn(Role) -> bool,
    name: &'static str,
) -> Result<Option<&'r ArrayInfo>, ArrayFault> {
    let mut found = record.arrays.iter().filter(|array| is_role(array.role));
    let first = found.next();
    match found.next() {
        Some(second) => Err(ArrayFault {
            array: Some(name),
            offset: second.offset(),
            what: format!("the spectrum has two of them ({})", shortened(&second.name)),
        }),
        None => Ok(first),
    }
}

fn fault(array: &ArrayInfo, name: &'static str) -> impl Fn(DecodeError) -> ArrayFault + use<> {
    let offset = array.offset();
    move |error| ArrayFault { array: Some(name), offset, what: error.to_string() }
}

/// Decodes the points of a mass spectrum.
pub(super) fn decode_points(
    text: &str,
    record: &mut Record,
    decoder: &mut ArrayDecoder,
    into: &mut IncomingSpectrum,
) -> Result<(), ArrayFault> {
    let mut remarks = Remarks::default();
    let mut mismatch = false;
    let mz = only(record, |role| role == Role::Mz, "m/z array")?;
    let intensity = only(record, |role| role == Role::Intensity, "intensity array")?;
    let mobility = only(record, |role| matches!(role, Role::Mobility(_)), "ion mobility array")?;
    let declared = |array: &ArrayInfo| array.length.unwrap_or(record.default_array_length);
    if let Some(array) = mz {
        let said = decoder.wide(text, array, declared(array), &mut into.mz);
        remarks.add(said.map_err(fault(array, "m/z array"))?);
        mismatch |= into.mz.len() as u64 != declared(array);
    }
    if let Some(array) = intensity {
        let said = decoder.values(text, array, declared(array), &mut into.intensity);
        remarks.add(said.map_err(fault(array, "intensity array"))?);
        mismatch |= into.intensity.len() as u64 != declared(array);
    }
    let differs = |name, array: Option<&ArrayInfo>, found: usize| ArrayFault {
        array: Some(name),
        offset: array.map_or(0, ArrayInfo::offset),
        what: format!("{} m/z values and {found} values here", into.mz.len()),
    };
    if into.mz.len() != into.intensity.len() {
        return Err(differs("intensity array", intensity, into.intensity.len()));
    }
    if let Some(array) = mobility
        && let Role::Mobility(kind) = array.role
    {
        let said = decoder.wide(text, array, declared(array), &mut into.mobility);
        remarks.add(said.map_err(fault(array, "ion mobility array"))?);
        if into.mobility.len() != into.mz.len() {
            return Err(differs("ion mobility array", Some(array), into.mobility.len()));
        }
        if kind == IonMobilityKind::DriftTime && array.unit == Accession::Unit(10) {
            into.mobility.iter_mut().for_each(|seconds| *seconds *= 1000.0);
        }
        into.mobility_kind = Some(kind);
    }
    if let Some(at) = into.mz.iter().position(|value| !value.is_finite()) {
        let value = into.mz.get(at).copied().unwrap_or(f64::NAN);
        let what = format!("value {at} is {value}");
        return Err(ArrayFault { array: Some("m/z array"), offset: mz.map_or(0, ArrayInfo::offset), what });
    }
    record.description.is_lossy = remarks.is_lossy;
    let mut warn = |code, on: bool| record.warnings.extend(on.then_some(code));
    warn(WarningCode::ArrayLengthMismatch, mismatch);
    warn(WarningCode::LossyCompression, remarks.is_lossy);
    warn(WarningCode::IntegerPrecision, remarks.beyond_2_53 > 0);
    warn(WarningCode::TrailingData, remarks.has_trailing_bytes);
    Ok(())
}

/// Decodes the points of a chromatogram; `false` where its times have no unit and are NaN.
pub(super) fn decode_trace(
    text: &str,
    record: &Record,
    decoder: &mut ArrayDecoder,
    into: &mut IncomingChromatogram,
) -> Result<bool, ArrayFault> {
    let declared = |array: &ArrayInfo| array.length.unwrap_or(record.default_array_length);
    let mut has_unit = true;
    if let Some(array) = only(record, |role| role == Role::Time, "time array")? {
        let said = decoder.minutes(text, array, declared(array), &mut into.time);
        has_unit = said.map_err(fault(array, "time array"))?;
    }
    if let Some(array) = only(record, |role| role == Role::Intensity, "intensity array")? {
        let said = decoder.values(text, array, declared(array), &mut into.intensity);
        said.map_err(fault(array, "intensity array"))?;
    }
    if let Some(array) = only(record, |role| role == Role::MsLevel, "MS level array")? {
        let mut levels = Vec::new();
        decoder.wide(text, array, declared(array), &mut levels).map_err(fault(array, "MS level array"))?;
        let is_sound =
            levels.len() == into.time.len() && levels.iter().all(|level| (0.0..=255.0).contains(level));
        if is_sound {
            into.ms_level = levels.iter().map(|level| *level as u32).collect();
        }
    }
    Ok(has_unit)
}

impl Remarks {
    fn add(&mut self, other: Self) {
        self.is_lossy |= other.is_lossy;
        self.beyond_2_53 += other.beyond_2_53;
        self.has_trailing_bytes |= other.has_trailing_bytes;
    }
}
