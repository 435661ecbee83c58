//! D3: every array is bit-equal with what mzdata, an independent reader, makes of the same file.
//!
//! mzdata panics on some inputs, ends early on others, and does not decode MS-Numpress as it is built here. What it
//! could not read is listed in [`NOT_COMPARED`] with the reason, so that nothing drops out of the comparison unseen.

#[path = "support/loading.rs"]
mod loading;
#[path = "support/shared.rs"]
mod shared;

use flate2::read::MultiGzDecoder;
use loading::{STRICT, load_path};
use mzarena::arena::{IntensityRef, RunView, SpectrumView};
use mzarena::spectrum::SignalAxis;
use mzdata::io::{DetailLevel, MGFReader, MzMLReader};
use mzdata::params::Unit;
use mzdata::prelude::*;
use mzdata::spectrum::MultiLayerSpectrum;
use mzdata::spectrum::bindata::{ArrayType, BinaryDataArrayType, DataArray};
use std::io::{Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Spectra that mzdata does not deliver, or not as the file has them: file, how many of them, and why.
const NOT_COMPARED: &[(&str, u32, &str)] = &[
    (
        "openms_numpress_spectra.mzML",
        2,
        "MS-Numpress is not among its features here; facts.rs has another reader's sums",
    ),
    (
        "mzlib_withEmptySpectra.mgf",
        2,
        "its first block is lost to the BOM, and a block without peaks runs into the next",
    ),
    ("pyteomics_test.mgf", 1, "a third column turns its peaks into neutral masses"),
];

/// Files whose metadata mzdata does not find, since it matches terms by name and these have older names.
const BY_NAME: &[&str] = &["jmzml_tiny.pwiz.err.idx.mzML"];

/// What was compared in one file.
#[derive(Debug, Default)]
struct Compared {
    spectra: u32,
    points: u64,
    mobilities: u64,
    chromatograms: u32,
    skipped: u32,
    wrong: Vec<String>,
}

#[test]
fn every_array_is_bit_equal_with_mzdata() {
    let Some(data) = shared::shared("data") else { return };
    let mut totals = Compared::default();
    let mut wrong = Vec::new();
    let mut files = 0;
    for entry in std::fs::read_dir(&data).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let lower = name.to_lowercase();
        let is_mgf = lower.ends_with(".mgf");
        if !is_mgf && !lower.ends_with(".mzml") && !lower.ends_with(".mzml.gz") {
            continue;
        }
        // refusals are the business of facts.rs
        let Ok(loaded) = load_path(&data.join(&name), &STRICT) else { continue };
        let run = loaded.arena.run().unwrap();
        let compared =
            if is_mgf { compare_mgf(&data.join(&name), run) } else { compare_mzml(&data.join(&name), run) };
        let allowed = NOT_COMPARED.iter().find(|(file, ..)| *file == name).map_or(0, |(_, count, _)| *count);
        let missed = run.spectrum_count() - compared.spectra;
        if missed != allowed {
            wrong.push(format!(
                "{name}: {missed} of {} not compared, {allowed} expected ({} skipped)",
                run.spectrum_count(),
                compared.skipped
            ));
        }
        wrong.extend(compared.wrong.iter().take(5).map(|what| format!("{name}: {what}")));
        totals.spectra += compared.spectra;
        totals.points += compared.points;
        totals.mobilities += compared.mobilities;
        totals.chromatograms += compared.chromatograms;
        files += 1;
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    // what there was to compare when this was written: less would mean that something drops out unseen
    assert!(files >= 55 && totals.spectra >= 3843 && totals.points >= 2_471_798, "{files} files, {totals:?}");
    assert!(totals.mobilities >= 608_815 && totals.chromatograms >= 19, "{totals:?}");
}

/// The text of a file. Steps of data processing are renumbered: mzdata panics on an `order` above 255 and would read
/// no spectrum of three files.
fn text_of(path: &Path) -> Cursor<Vec<u8>> {
    let mut bytes = std::fs::read(path).unwrap();
    if path.extension().is_some_and(|extension| extension == "gz") {
        let packed = std::mem::take(&mut bytes);
        MultiGzDecoder::new(packed.as_slice()).read_to_end(&mut bytes).unwrap();
    }
    while let Some(at) = memchr::memmem::find(&bytes, br#"order="30"#) {
        bytes.remove(at + br#"order="3"#.len());
    }
    Cursor::new(bytes)
}

fn compare_mzml(path: &Path, run: RunView<'_>) -> Compared {
    let mut compared = Compared::default();
    // lazily: an array that cannot be decoded then fails alone
    let is_by_name = BY_NAME.iter().any(|name| path.ends_with(name));
    let reader =
        || MzMLReader::with_buffer_capacity_and_detail_level(text_of(path), 1 << 16, DetailLevel::Lazy);
    let Ok(mut reader) = catch_unwind(reader) else { return compared };
    for spectrum in run.spectra() {
        let Ok(Some(other)) = catch_unwind(AssertUnwindSafe(|| reader.read_next())) else { return compared };
        if !is_by_name {
            compare_metadata(spectrum, &other, &mut compared.wrong);
        }
        if spectrum.axis() == SignalAxis::Other {
            // neither has m/z values
            let has_mz = other.arrays.as_ref().is_some_and(|arrays| arrays.has_array(&ArrayType::MZArray));
            if has_mz || !spectrum.mz().is_empty() {
                compared.wrong.push(format!("spectrum {} is not a mass spectrum", spectrum.index()));
            }
            compared.spectra += 1;
            continue;
        }
        let array = |kind| {
            let array = other.arrays.as_ref().and_then(|arrays| arrays.get(kind));
            array.map_or(Some(Values::default()), |array| {
                catch_unwind(AssertUnwindSafe(|| values(array))).ok().flatten()
            })
        };
        let (Some(mz), Some(intensity)) = (array(&ArrayType::MZArray), array(&ArrayType::IntensityArray))
        else {
            compared.skipped += 1;
            continue;
        };
        let is_equal =
            mz.widened() == bits(spectrum.mz()) && is_same_column(&intensity, spectrum.intensity());
        if !is_equal {
            compared.wrong.push(format!("the points of spectrum {} differ", spectrum.index()));
        }
        if let Some((_, mobility)) = spectrum.mobility() {
            let others = other.arrays.as_ref().unwrap();
            let (_, array) = others
                .iter()
                .find(|(kind, _)| kind.is_ion_mobility() || **kind == ArrayType::nonstandard("Ion Mobility"))
                .unwrap();
            if values(array).unwrap().widened() != bits(mobility) {
                compared.wrong.push(format!("the mobilities of spectrum {} differ", spectrum.index()));
            }
            compared.mobilities += mobility.len() as u64;
        }
        compared.spectra += 1;
        compared.points += spectrum.mz().len() as u64;
    }
    compare_chromatograms(path, run, &mut compared);
    compared
}

/// mzdata finds chromatograms by the index alone: those of a file without one, or with a wrong one, are not compared.
fn compare_chromatograms(path: &Path, run: RunView<'_>, compared: &mut Compared) {
    let mut reader =
        MzMLReader::with_buffer_capacity_and_detail_level(text_of(path), 1 << 16, DetailLevel::Lazy);
    if !catch_unwind(AssertUnwindSafe(|| reader.read_index_from_end().is_ok())).unwrap_or(false) {
        return;
    }
    for (index, chromatogram) in
        (0..run.chromatogram_count()).filter_map(|at| Some((at, run.chromatogram(at)?)))
    {
        let other = catch_unwind(AssertUnwindSafe(|| reader.get_chromatogram_by_index(index)));
        let Ok(Some(other)) = other else { continue };
        let array = |kind| catch_unwind(AssertUnwindSafe(|| values(other.arrays.get(kind)?))).ok().flatten();
        let Some(time) = other.arrays.get(&ArrayType::TimeArray) else { continue };
        let (Some(times), Some(intensity)) =
            (array(&ArrayType::TimeArray), array(&ArrayType::IntensityArray))
        else {
            continue;
        };
        let minutes = times.wide().into_iter().map(|value| match time.unit {
            Unit::Minute => value,
            Unit::Second => value / 60.0,
            unit => panic!("{unit:?}"),
        });
        let is_equal = bits(&minutes.collect::<Vec<_>>()) == bits(chromatogram.time())
            && is_same_column(&intensity, chromatogram.intensity())
            && other.id() == chromatogram.native_id();
        if !is_equal {
            compared.wrong.push(format!("chromatogram {index} ({}) differs", chromatogram.native_id()));
        }
        compared.chromatograms += 1;
    }
}

/// Values of an array as mzdata decodes them, in the file's own precision.
enum Values {
    Narrow(Vec<f32>),
    Wide(Vec<f64>),
}

impl Default for Values {
    fn default() -> Self {
        Self::Narrow(Vec::new())
    }
}

impl Values {
    fn wide(&self) -> Vec<f64> {
        match self {
            Self::Narrow(values) => values.iter().copied().map(f64::from).collect(),
            Self::Wide(values) => values.clone(),
        }
    }

    fn widened(&self) -> Vec<u64> {
        bits(&self.wide())
    }
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn values(array: &DataArray) -> Option<Values> {
    let bytes = array.decode().ok()?;
    Some(match array.dtype {
        BinaryDataArrayType::Float32 => {
            Values::Narrow(bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
        }
        BinaryDataArrayType::Float64 => {
            Values::Wide(bytes.as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
        }
        BinaryDataArrayType::Int32 => {
            Values::Wide(bytes.as_chunks().0.iter().map(|bytes| i32::from_le_bytes(*bytes).into()).collect())
        }
        BinaryDataArrayType::Int64 => {
            Values::Wide(bytes.as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes) as f64).collect())
        }
        _ => return None,
    })
}

/// Equal bits in equal precision (S3); an empty column has no precision.
fn is_same_column(expected: &Values, found: IntensityRef<'_>) -> bool {
    match (expected, found) {
        (Values::Narrow(expected), IntensityRef::F32(found)) => {
            expected.iter().map(|value| value.to_bits()).eq(found.iter().map(|value| value.to_bits()))
        }
        (Values::Wide(expected), IntensityRef::F64(found)) => bits(expected) == bits(found),
        (expected, found) => expected.widened().is_empty() && found.is_empty(),
    }
}

fn compare_metadata(spectrum: SpectrumView<'_>, other: &MultiLayerSpectrum, wrong: &mut Vec<String>) {
    let index = spectrum.index();
    let mut check = |what: &str, found: String, expected: String| {
        if found != expected {
            wrong.push(format!("{what} of spectrum {index} is {found}, not {expected}"));
        }
    };
    check("native ID", spectrum.native_id().to_owned(), other.id().to_owned());
    let level = spectrum.ms_level().map_or(0, |level| level.get());
    check("MS level", level.to_string(), other.ms_level().to_string());
    // mzdata has 0 for a time that is missing
    let time = spectrum.scan_start_time().map_or(0.0, |time| time.0);
    check("time", format!("{time:?}"), format!("{:?}", other.start_time()));
    let ions = spectrum
        .precursors()
        .flat_map(|precursor| precursor.selected_ions().map(|ion| ion.mz().unwrap_or(0.0)));
    let others =
        other.precursor_iter().flat_map(|precursor| precursor.iter().map(|ion| ion.mz).collect::<Vec<_>>());
    check("ions", format!("{:?}", ions.collect::<Vec<_>>()), format!("{:?}", others.collect::<Vec<_>>()));
}

/// mzdata keeps intensities of MGF in 32 bits and sorts peaks by m/z.
fn compare_mgf(path: &Path, run: RunView<'_>) -> Compared {
    let mut compared = Compared::default();
    let mut reader: MGFReader<_> = MGFReader::new(text_of(path));
    for spectrum in run.spectra() {
        let Ok(Some(other)) = catch_unwind(AssertUnwindSafe(|| reader.read_next())) else { return compared };
        let Some(peaks) = &other.peaks else {
            compared.skipped += 1;
            continue;
        };
        let expected = peaks.iter().map(|peak| (peak.mz.to_bits(), peak.intensity.to_bits()));
        let found = spectrum.mz().iter().zip(spectrum.intensity().iter());
        let found = found.map(|(mz, intensity)| (mz.to_bits(), (intensity as f32).to_bits()));
        if !expected.eq(found) {
            compared.wrong.push(format!("the points of spectrum {} differ", spectrum.index()));
        }
        compared.spectra += 1;
        compared.points += spectrum.mz().len() as u64;
    }
    compared
}
