//! The generator of runs: an independent reader finds exactly what the generator says is in its files.
//!
//! Everything else is tested on these runs, so their own truth must not rest on our readers (contract D3).

use std::collections::BTreeMap;
use std::io::Cursor;

use mzarena::spectrum::{Polarity, Representation};
use mzarena::synthetic::{
    Acquisition, Compression, FloatWidth, SyntheticFacts, SyntheticRun, SyntheticSpectrum,
};
use mzdata::io::{MGFReader, MzMLReader};
use mzdata::prelude::*;
use mzdata::spectrum::{ArrayType, SignalContinuity};
use sha1::Digest;

fn mzml(run: &SyntheticRun) -> (Vec<u8>, SyntheticFacts) {
    let mut file = Vec::new();
    let facts = run.write_mzml(&mut file).unwrap();
    (file, facts)
}

/// Runs that between them use every option.
fn variants() -> Vec<SyntheticRun> {
    let small = SyntheticRun { spectrum_count: 20, ..SyntheticRun::default() };
    vec![
        SyntheticRun::default(),
        SyntheticRun { compression: Compression::Zlib, ..small.clone() },
        SyntheticRun { mz_width: FloatWidth::Bits32, intensity_width: FloatWidth::Bits64, ..small.clone() },
        SyntheticRun { acquisition: Acquisition::DataIndependent, ms2_per_ms1: 8, ..small.clone() },
        SyntheticRun { ms2_per_ms1: 0, indexed: false, ..small.clone() },
        SyntheticRun {
            representation: Representation::Profile,
            polarity: Polarity::Negative,
            mean_points_per_spectrum: 3_000,
            compression: Compression::Zlib,
            ..small.clone()
        },
        SyntheticRun { seed: u64::MAX, mean_points_per_spectrum: 3, point_spread: 0.0, ..small },
    ]
}

fn check_spectrum(run: &SyntheticRun, read: &mzdata::Spectrum, truth: &SyntheticSpectrum) {
    let what = format!("{} of {run:?}", truth.native_id);
    let description = read.description();
    assert_eq!((read.id(), read.index()), (truth.native_id.as_str(), truth.index as usize), "{what}");
    assert_eq!(read.ms_level(), truth.ms_level.get(), "{what}");
    assert_eq!(read.start_time().to_bits(), truth.scan_start_time.0.to_bits(), "{what}");
    let polarity = match run.polarity {
        Polarity::Positive => mzdata::spectrum::ScanPolarity::Positive,
        Polarity::Negative => mzdata::spectrum::ScanPolarity::Negative,
    };
    let continuity = match run.representation {
        Representation::Centroid => SignalContinuity::Centroid,
        Representation::Profile => SignalContinuity::Profile,
    };
    assert_eq!((description.polarity, description.signal_continuity), (polarity, continuity), "{what}");

    let arrays = read.raw_arrays().unwrap();
    let mz: Vec<u64> = arrays.mzs().unwrap().iter().map(|mz| mz.to_bits()).collect();
    assert_eq!(mz, truth.mz.iter().map(|mz| mz.to_bits()).collect::<Vec<_>>(), "{what}");
    let intensity: Vec<u64> = arrays
        .get(&ArrayType::IntensityArray)
        .unwrap()
        .to_f64()
        .unwrap()
        .iter()
        .map(|intensity| intensity.to_bits())
        .collect();
    let expected: Vec<u64> =
        truth.intensity.iter().map(|intensity| f64::from(*intensity).to_bits()).collect();
    assert_eq!(intensity, expected, "{what}");

    let Some(precursor) = &truth.precursor else {
        assert!(read.precursor().is_none(), "{what}");
        return;
    };
    let found = read.precursor().unwrap();
    let ion = found.ion().unwrap();
    let survey = run.spectra().nth(precursor.spectrum_index as usize).unwrap();
    assert_eq!(found.precursor_id(), Some(&survey.native_id), "{what}");
    assert_eq!(survey.ms_level.get(), 1, "{what}");
    assert_eq!(ion.mz.to_bits(), precursor.target_mz.to_bits(), "{what}");
    assert_eq!(ion.charge, precursor.charge.map(i32::from), "{what}");
    // the oracle keeps window bounds as f32
    let window = found.isolation_window();
    assert!((f64::from(window.lower_bound) - precursor.isolation_window().lower).abs() < 1e-3, "{what}");
    assert!((f64::from(window.upper_bound) - precursor.isolation_window().upper).abs() < 1e-3, "{what}");
    assert!((f64::from(found.activation.energy) - precursor.collision_energy_ev).abs() < 1e-6, "{what}");
}

#[test]
fn d3_an_independent_reader_finds_the_same_bits_in_mzml() {
    for run in variants() {
        let (file, facts) = mzml(&run);
        let read: Vec<mzdata::Spectrum> = MzMLReader::new(Cursor::new(file)).collect();
        assert_eq!(read.len() as u64, facts.spectrum_count, "{run:?}");
        for (read, truth) in read.iter().zip(run.spectra()) {
            check_spectrum(&run, read, &truth);
        }
    }
}

#[test]
fn d3_an_independent_reader_finds_the_same_bits_in_mgf() {
    let run = SyntheticRun::default();
    let mut file = Vec::new();
    let facts = run.write_mgf(&mut file).unwrap();
    assert_eq!(facts.byte_count, file.len() as u64);
    assert_eq!(facts.ms_level_counts, BTreeMap::from([(2, 48)]));
    let read: Vec<mzdata::Spectrum> = MGFReader::new(Cursor::new(file)).collect();
    let truth: Vec<_> = run.spectra().filter(|spectrum| spectrum.precursor.is_some()).collect();
    assert_eq!(read.len(), truth.len());
    for (read, truth) in read.iter().zip(&truth) {
        let precursor = truth.precursor.as_ref().unwrap();
        assert_eq!(read.precursor().unwrap().ion().unwrap().mz, precursor.target_mz);
        assert_eq!(read.precursor().unwrap().ion().unwrap().charge, precursor.charge.map(i32::from));
        assert_eq!(read.start_time(), truth.scan_start_time.0);
        let peaks: Vec<_> = read.peaks().iter().map(|peak| (peak.mz, peak.intensity)).collect();
        let expected: Vec<_> = truth.mz.iter().copied().zip(truth.intensity.iter().copied()).collect();
        assert_eq!(peaks, expected);
    }
}

#[test]
fn facts_are_those_of_the_spectra() {
    for run in variants() {
        let (file, facts) = mzml(&run);
        let spectra: Vec<_> = run.spectra().collect();
        let points = || spectra.iter().flat_map(|spectrum| spectrum.mz.iter().zip(&spectrum.intensity));
        assert_eq!(facts.byte_count, file.len() as u64);
        assert_eq!(facts.spectrum_count, u64::from(run.spectrum_count));
        assert_eq!(facts.point_count, points().count() as u64);
        assert_eq!(facts.ms_level_counts.values().sum::<u64>(), facts.spectrum_count);
        let total: f64 = points().map(|(_, intensity)| f64::from(*intensity)).sum();
        assert!((facts.total_intensity / total - 1.0).abs() < 1e-12);
        let largest = points().map(|(_, intensity)| *intensity).fold(0.0, f32::max);
        assert_eq!(facts.base_peak_intensity, Some(largest));
        assert_eq!(facts.base_peak_mz, points().find(|(_, i)| **i == largest).map(|(mz, _)| *mz));
        assert_eq!(facts.lowest_observed_mz, points().map(|(mz, _)| *mz).reduce(f64::min));
        assert_eq!(facts.highest_observed_mz, points().map(|(mz, _)| *mz).reduce(f64::max));
        assert_eq!(SyntheticFacts { byte_count: facts.byte_count, ..run.facts() }, facts);
    }
}

#[test]
fn spectra_are_sorted_and_as_large_as_asked() {
    for run in variants() {
        for spectrum in run.spectra() {
            assert!(spectrum.mz.is_sorted(), "{} of {run:?}", spectrum.native_id);
            assert_eq!(spectrum.mz.len(), spectrum.intensity.len());
            assert!(spectrum.intensity.iter().all(|intensity| intensity.is_finite() && *intensity >= 0.0));
        }
    }
    let exact = SyntheticRun {
        spectrum_count: 3,
        mean_points_per_spectrum: 100_000,
        point_spread: 0.0,
        ..SyntheticRun::default()
    };
    assert!(exact.spectra().all(|spectrum| spectrum.mz.len() == 100_000));
    let empty = SyntheticRun { mean_points_per_spectrum: 0, spectrum_count: 3, ..SyntheticRun::default() };
    let (file, facts) = mzml(&empty);
    assert_eq!((facts.point_count, facts.base_peak_mz, facts.total_intensity), (0, None, 0.0));
    assert_eq!(MzMLReader::new(Cursor::new(file)).count(), 3);
}

#[test]
fn one_seed_gives_one_file_and_another_seed_another() {
    let run = SyntheticRun::default();
    assert_eq!(mzml(&run), mzml(&run));
    let other = SyntheticRun { seed: 2, ..run.clone() };
    assert_ne!(mzml(&other).0, mzml(&run).0);
    let shared = run.spectra().zip(other.spectra()).filter(|(a, b)| a.mz.first() == b.mz.first()).count();
    assert_eq!(shared, 0);
}

/// Fixtures, snapshots and expected counts elsewhere hang on these bits: they change only on purpose.
#[test]
fn the_default_run_keeps_its_checksum() {
    let text = String::from_utf8(mzml(&SyntheticRun::default()).0).unwrap();
    assert_eq!(between(&text, "<fileChecksum>", "<"), "bae3eb501d6a82887b61b8124f0bffdf6e58956d");
}

#[test]
fn index_offsets_and_checksum_are_right() {
    for run in variants().into_iter().filter(|run| run.indexed) {
        let text = String::from_utf8(mzml(&run).0).unwrap();
        let list: usize = between(&text, "<indexListOffset>", "</").parse().unwrap();
        assert!(text[list..].starts_with("<indexList count=\"2\">"));
        let mut found = 0;
        for entry in text[list..].split("<offset idRef=\"").skip(1) {
            let (id, rest) = entry.split_once("\">").unwrap();
            let offset: usize = rest.split('<').next().unwrap().parse().unwrap();
            let tag = text[offset..].split('>').next().unwrap();
            assert!(tag.starts_with("<spectrum ") || tag.starts_with("<chromatogram "), "{tag}");
            assert!(tag.contains(&format!(" id=\"{id}\"")), "{tag} is not {id}");
            found += 1;
        }
        assert_eq!(found, run.spectrum_count + 1);
        let (covered, rest) = text.split_once("<fileChecksum>").unwrap();
        let mut digest = sha1::Sha1::new();
        digest.update(covered);
        digest.update("<fileChecksum>");
        let hex: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(rest.split('<').next().unwrap(), hex);
    }
    let plain = SyntheticRun { indexed: false, ..SyntheticRun::default() };
    let text = String::from_utf8(mzml(&plain).0).unwrap();
    assert!(!text.contains("indexedmzML") && !text.contains("indexList") && text.ends_with("</mzML>\n"));
}

#[test]
fn zlib_makes_a_file_smaller() {
    let plain = SyntheticRun { mean_points_per_spectrum: 2_000, ..SyntheticRun::default() };
    let packed = SyntheticRun { compression: Compression::Zlib, ..plain.clone() };
    assert!(mzml(&packed).1.byte_count < mzml(&plain).1.byte_count * 19 / 20);
}

#[test]
fn declared_lengths_and_the_recorded_chromatogram_are_right() {
    let run = SyntheticRun { compression: Compression::Zlib, ..SyntheticRun::default() };
    let text = String::from_utf8(mzml(&run).0).unwrap();
    for array in text.split("<binaryDataArray ").skip(1) {
        let declared: usize = between(array, "encodedLength=\"", "\"").parse().unwrap();
        assert_eq!(between(array, "<binary>", "</binary>").len(), declared);
    }
    let mut reader = MzMLReader::new_indexed(Cursor::new(text.into_bytes()));
    let tic = reader.get_chromatogram_by_id("TIC").unwrap();
    let expected: Vec<_> = run.spectra().collect();
    let times: Vec<f64> = expected.iter().map(|spectrum| spectrum.scan_start_time.0).collect();
    assert_eq!(tic.time().unwrap().as_ref(), times.as_slice());
    let totals: Vec<f64> = expected.iter().map(SyntheticSpectrum::total_ion_current).collect();
    assert_eq!(tic.arrays.get(&ArrayType::IntensityArray).unwrap().to_f64().unwrap().as_ref(), totals);
}

#[test]
fn analytes_show_in_survey_spectra_and_their_ions_are_chosen() {
    let run = SyntheticRun { mean_points_per_spectrum: 600, ..SyntheticRun::default() };
    let analytes: Vec<_> = run.analytes().collect();
    assert_eq!(analytes.len() as u32, run.analyte_count());
    assert!(analytes.is_sorted_by(|a, b| a.apex_time <= b.apex_time));
    let mut seen = 0;
    for spectrum in run.spectra().filter(|spectrum| spectrum.precursor.is_none()) {
        for analyte in analytes.iter().filter(|analyte| 400.0 < analyte.mz && analyte.mz < 1_700.0) {
            let expected = analyte.intensity_at(spectrum.scan_start_time);
            if expected < 20_000.0 {
                continue;
            }
            let found = spectrum.mz.iter().zip(&spectrum.intensity).any(|(mz, intensity)| {
                (mz / analyte.mz - 1.0).abs() < 4e-6 && (f64::from(*intensity) / expected - 1.0).abs() < 0.11
            });
            assert!(found, "{analyte:?} is not in {}", spectrum.native_id);
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
    let chosen = run.spectra().filter_map(|spectrum| spectrum.precursor).filter(|ion| ion.charge.is_some());
    let known = chosen.filter(|ion| analytes.iter().any(|analyte| analyte.mz == ion.target_mz)).count();
    assert!(known > 30, "{known}");
}

#[test]
fn windows_of_a_data_independent_run_tile_the_range() {
    let run = SyntheticRun {
        acquisition: Acquisition::DataIndependent,
        ms2_per_ms1: 20,
        spectrum_count: 21,
        ..SyntheticRun::default()
    };
    let windows: Vec<_> =
        run.spectra().filter_map(|spectrum| spectrum.precursor).map(|ion| ion.isolation_window()).collect();
    assert_eq!(windows.len(), 20);
    assert_eq!((windows[0].lower, windows[19].upper), (399.5, 1_200.5));
    for pair in windows.windows(2) {
        assert!((pair[0].upper - pair[1].lower - 1.0).abs() < 1e-9, "{pair:?}");
    }
}

#[test]
fn a_time_step_of_zero_is_refused() {
    for (spectrum_seconds, analyte_spacing_seconds) in [(0.0, 1.0), (0.5, 0.0), (f64::NAN, 1.0), (0.5, -1.0)]
    {
        let run = SyntheticRun { spectrum_seconds, analyte_spacing_seconds, ..SyntheticRun::default() };
        let error = run.write_mzml(&mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
        assert!(error.to_string().contains("seconds"));
    }
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    text.split(start).nth(1).unwrap().split(end).next().unwrap()
}
