//! D3: figures agree with independent readers of the same file, on every real file of `shared/data`.
//!
//! `facts.json` holds what two readers that share no code say of each file. Where they agree, that is the truth.
//! Where they do not, [`DECISIONS`] says which of them is right, or what the file really is, and why.

#[path = "support/loading.rs"]
mod loading;
#[path = "support/shared.rs"]
mod shared;

use loading::{STRICT, load_path};
use mzarena::arena::SpectrumView;
use mzarena::code::ErrorCode;
use mzarena::ingest::Ingested;
use mzarena::spectrum::SignalAxis;
use mzarena::warning::WarningCode;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// What holds for a file on which the readers of `facts.json` do not agree, or which is not read here at all.
enum Decision {
    /// Reader `a`, `b` or `c` is right, but for the figures in this JSON text.
    Reader(&'static str, &'static str),
    /// No reader is right; the figures are those in this JSON text, and this warning is given.
    Figures(&'static str, WarningCode),
    /// Refused with this code; the message says this.
    Refused(ErrorCode, &'static str),
}

use Decision::{Figures, Reader, Refused};

#[rustfmt::skip]
const DECISIONS: &[(&str, Decision, &str)] = &[
    // mzML
    ("RaMS_uv_test_mini.mzML.gz", Reader("a", "{}"),
        "b serves wavelengths as m/z; five spectra are UV, counted and kept apart"),
    ("jmzml_tiny.pwiz.err.idx.mzML", Reader("a", r#"{"n_centroid": 4, "first_precursor": 445.34, "rt_first": 353.43, "rt_last": 42.05}"#),
        "b refuses by schema, a and c match older terms by name and miss them; their accessions are the same"),
    ("mzlib_sliced_ethcd.mzML", Reader("b", "{}"), "a stops at an unknown accession, which is to be ignored; b and c agree"),
    ("openms_indexlistoffset_2e64.mzML", Figures(r#"{"n_spectra": 0, "n_chromatograms": 0}"#, WarningCode::DamageAfterEnd),
        "the run is whole and has no spectra; what is not well-formed stands after </mzML>, and that is a warning"),
    ("msdk_truncated.mzML", Refused(ErrorCode::DamagedSource, "7260 spectra are declared and none is there"),
        "a declared count above 0 with no spectrum is an error"),
    ("openms_zero_byte.mzML", Refused(ErrorCode::UnsupportedFormat, "empty"), "all readers refuse"),
    ("psi_1min.mzML", Refused(ErrorCode::UnsupportedFormat, "0.99"), "mzML below 1.0 is refused by name; no reader's number is right"),
    // MGF
    ("MsBackendMgf_empty_peaks.mgf", Reader("a", "{}"), "b refuses a header line; a and c agree"),
    ("matchms_pesticides.mgf", Reader("a", r#"{"n_negative": 76}"#), "IONMODE=negative; the readers do not look at it"),
    ("mzmine_library.mgf", Reader("a", r#"{"n_negative": 3}"#), "CHARGE=-1 and IONMODE; the readers do not look at them"),
    ("mzlib_withEmptySpectra.mgf", Reader("a", r#"{"n_spectra": 2, "n_ms2": 2, "n_empty": 1, "first_precursor": 1052.6855,
        "rt_first": 2901.565094672, "first_id": "controllerType=0 controllerNumber=1 scan=25499"}"#),
        "both readers lose the first, empty block to the BOM"),
    ("msdk_malformed_query.mgf", Refused(ErrorCode::DamagedSource, "pepelac"), "all refuse: a word where PEPMASS should be a number"),
    ("pyteomics_pepmass.mgf", Reader("a", "{}"), "b refuses three values on PEPMASS, which are legal; a and c agree"),
    // not read, each by name with the way out
    ("openms_uncompressed.mzML.bz2", Refused(ErrorCode::UnsupportedFormat, "bzip2"), "bzip2 is not a promised format"),
    ("imzml_continuous/Example_Continuous.imzML", Refused(ErrorCode::UnsupportedFormat, "imzML"), "its peaks are in another file"),
    ("imzml_matrixtests/MatrixTests_N2.imzML", Refused(ErrorCode::UnsupportedFormat, "imzML"), "its peaks are in another file"),
    ("matchms_MoNA_GCMS10.msp", Refused(ErrorCode::UnsupportedFormat, "MSP"), "MSP is not read"),
    ("matchms_multiline_semicolon.msp", Refused(ErrorCode::UnsupportedFormat, "MSP"), "MSP is not read"),
    ("diaPASEF.d", Refused(ErrorCode::NotARegularFile, "folder"), "TDF is not read, and it is a folder"),
    ("mzmine_pasef_a.d", Refused(ErrorCode::NotARegularFile, "folder"), "TDF is not read, and it is a folder"),
    ("timsrust_test.d", Refused(ErrorCode::NotARegularFile, "folder"), "TDF is not read, and it is a folder"),
    ("diaPASEF.d/analysis.tdf", Refused(ErrorCode::UnsupportedFormat, "TDF"), "the database inside is refused by name"),
    ("mzmine_pasef_a.d/analysis.tdf", Refused(ErrorCode::UnsupportedFormat, "TDF"), "the database inside is refused by name"),
    ("timsrust_test.d/analysis.tdf", Refused(ErrorCode::UnsupportedFormat, "TDF"), "the database inside is refused by name"),
];

/// Files whose arrays MS-Numpress rounded: decoders may differ in the last digits of a sum.
const LOSSY: &[&str] = &["openms_numpress_spectra.mzML", "mini_numpress.chrom.mzML"];

#[test]
fn every_file_has_the_figures_of_independent_readers_or_is_refused_by_name() {
    let Some(data) = shared::shared("data") else { return };
    let facts = shared::json(&data, "facts.json");
    let facts = facts.as_object().unwrap();
    let decided: Vec<_> = DECISIONS.iter().map(|(file, ..)| *file).collect();
    let names: Vec<_> = facts
        .keys()
        .map(String::as_str)
        .chain(decided.iter().copied().filter(|name| !facts.contains_key(*name)))
        .collect();

    let mut wrong = Vec::new();
    let mut read = 0;
    for name in &names {
        let decision = DECISIONS.iter().find(|(file, ..)| file == name).map(|(_, decision, _)| decision);
        let entry = facts.get(*name);
        let found = match decision {
            Some(Refused(code, words)) => refusal(&data.join(name), *code, words),
            Some(Figures(figures, warning)) => {
                read += 1;
                figures_of(&data.join(name), |loaded| {
                    let mut wrong = compare(name, &with(Value::Null, figures), loaded);
                    if !loading::warning_codes(loaded).contains(warning) {
                        wrong.push(format!("no warning {warning}: {:?}", loaded.warnings));
                    }
                    wrong
                })
            }
            Some(Reader(reader, others)) => {
                read += 1;
                let facts = with(entry.unwrap()[*reader].clone(), others);
                figures_of(&data.join(name), |loaded| compare(name, &facts, loaded))
            }
            None => {
                read += 1;
                let entry = entry.unwrap();
                assert_eq!(
                    entry["agree"], true,
                    "{name}: the readers do not agree, and there is no decision"
                );
                figures_of(&data.join(name), |loaded| compare(name, &entry["a"], loaded))
            }
        };
        wrong.extend(found.into_iter().map(|what| format!("{name}: {what}")));
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    assert!(read >= 55, "only {read} of {} files were read", names.len());
    every_file_is_in(&data, &names);
}

/// No file in the folder escapes the test.
fn every_file_is_in(data: &Path, names: &[&str]) {
    for entry in std::fs::read_dir(data).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_about_the_others = name.ends_with(".json") || name.ends_with(".md");
        let is_named = names.iter().any(|known| *known == name || known.starts_with(&format!("{name}/")));
        assert!(is_about_the_others || is_named, "nothing is known of {name}");
    }
}

fn refusal(path: &Path, code: ErrorCode, words: &str) -> Vec<String> {
    match load_path(path, &STRICT) {
        Ok(loaded) => vec![format!("was read: {:?}", loaded.arena.totals())],
        Err(failure) if failure.code != code => {
            vec![format!("{} instead of {code}: {}", failure.code, failure.text)]
        }
        Err(failure) if !failure.text.contains(words) => {
            vec![format!("does not say {words}: {}", failure.text)]
        }
        Err(_) => Vec::new(),
    }
}

fn figures_of(path: &Path, compare: impl FnOnce(&Ingested) -> Vec<String>) -> Vec<String> {
    match load_path(path, &STRICT) {
        Ok(loaded) => compare(&loaded),
        Err(failure) => vec![format!("{}: {}", failure.code, failure.text)],
    }
}

/// `facts`, with the figures of `others` in their place.
fn with(mut facts: Value, others: &str) -> Value {
    let others: Value = serde_json::from_str(others).unwrap();
    for (key, value) in others.as_object().unwrap() {
        facts[key.as_str()] = value.clone();
    }
    facts
}

/// What the facts call the identifier of a spectrum: MGF has titles.
fn identifier(spectrum: Option<SpectrumView<'_>>, is_mgf: bool) -> Value {
    let text =
        spectrum.and_then(|spectrum| if is_mgf { spectrum.title() } else { Some(spectrum.native_id()) });
    text.map_or(Value::Null, Value::from)
}

/// The most intense point; of equal ones the one that `wins`.
fn base_peak<'s>(
    spectra: impl Iterator<Item = SpectrumView<'s>>,
    wins: impl Fn(&SpectrumView<'s>) -> Option<(f64, f64)>,
) -> Option<(f64, f64)> {
    spectra
        .filter_map(|spectrum| wins(&spectrum))
        .reduce(|best, next| if next.1 > best.1 { next } else { best })
}

/// As the readers have it: the first point of the highest intensity.
fn first_of_highest(spectrum: &SpectrumView<'_>) -> Option<(f64, f64)> {
    let points = spectrum.mz().iter().copied().zip(spectrum.intensity().iter());
    points.reduce(|best, next| if next.1 > best.1 { next } else { best })
}

/// As it is defined here: the lowest m/z wins a tie. Differs in diaPASEF.mzML, whose m/z values do not ascend.
fn lowest_of_highest(spectrum: &SpectrumView<'_>) -> Option<(f64, f64)> {
    let points = spectrum.mz().iter().copied().zip(spectrum.intensity().iter());
    points.reduce(|best, next| {
        let is_better = next.1 > best.1 || next.1 == best.1 && next.0 < best.0;
        if is_better { next } else { best }
    })
}

/// The first m/z that a precursor states: of a selected ion, else the isolation target.
fn first_precursor(spectrum: SpectrumView<'_>) -> Option<f64> {
    let precursor = spectrum.precursors().next()?;
    let ion = precursor.selected_ions().next().and_then(|ion| ion.mz());
    ion.or(precursor.isolation_window().target_mz)
}

/// Figures of what was loaded, from the arena's own points and from its totals; both must be the readers'.
fn compare(name: &str, facts: &Value, loaded: &Ingested) -> Vec<String> {
    let is_mgf = loaded.source.format == "MGF";
    let run = loaded.arena.run().unwrap();
    let totals = loaded.arena.totals();
    let mut wrong = Vec::new();
    if !loaded.is_complete() {
        wrong.push(format!("is not complete: {:?}", loaded.missing));
    }

    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut sum = 0.0;
    let mut mz_range: Option<(f64, f64)> = None;
    for spectrum in run.spectra().filter(|spectrum| spectrum.axis() == SignalAxis::Mass) {
        let level = match spectrum.ms_level().map(|level| level.get()) {
            Some(1) => "n_ms1",
            Some(2) => "n_ms2",
            Some(3) => "n_ms3",
            _ => "n_other",
        };
        *counts.entry(level).or_default() += 1;
        *counts.entry("total_peaks").or_default() += spectrum.mz().len() as u64;
        *counts.entry("n_empty").or_default() += u64::from(spectrum.mz().is_empty());
        *counts.entry("n_unsorted").or_default() += u64::from(!spectrum.mz().is_sorted());
        assert_eq!(spectrum.mz().len(), spectrum.intensity().len(), "{name}");
        for (mz, intensity) in spectrum.mz().iter().zip(spectrum.intensity().iter()) {
            *counts.entry("n_nonfinite").or_default() += u64::from(!intensity.is_finite());
            sum += intensity;
            mz_range = Some(mz_range.map_or((*mz, *mz), |(low, high)| (low.min(*mz), high.max(*mz))));
        }
    }
    let non_mass = run.spectra().filter(|spectrum| spectrum.axis() == SignalAxis::Other).count() as u64;
    *counts.entry("n_other").or_default() += non_mass;

    let level = |level: u8| totals.ms_level_counts.get(mzarena::spectrum::MsLevel::new(level).unwrap());
    let of_totals = [
        ("n_spectra", totals.spectrum_count),
        ("n_ms1", level(1)),
        ("n_ms2", level(2)),
        ("n_ms3", level(3)),
        ("n_other", totals.ms_level_counts.unknown() + totals.non_mass_spectrum_count),
        ("n_no_mz", totals.non_mass_spectrum_count),
        ("total_peaks", totals.point_count),
        ("n_empty", totals.empty_spectrum_count),
        ("n_unsorted", totals.unsorted_spectrum_count),
        ("n_nonfinite", totals.non_finite_intensity_count),
        ("n_centroid", totals.centroid_spectrum_count),
        ("n_profile", totals.profile_spectrum_count),
        // of negative mode, not negative intensities
        ("n_negative", totals.negative_spectrum_count),
        ("n_chromatograms", totals.chromatogram_count),
    ];
    let of_points =
        ["n_ms1", "n_ms2", "n_ms3", "n_other", "total_peaks", "n_empty", "n_unsorted", "n_nonfinite"];
    let of_points = of_points.map(|key| (key, counts.get(key).copied().unwrap_or(0)));
    let of_views = [
        ("n_spectra", u64::from(run.spectrum_count())),
        ("n_chromatograms", run.chromatogram_count() as u64),
    ];
    for (key, found) in of_totals.into_iter().chain(of_points).chain(of_views) {
        if let Some(expected) = facts.get(key).and_then(Value::as_f64)
            && expected != found as f64
        {
            wrong.push(format!("{key} is {found}, not {expected}"));
        }
    }

    let exact = [
        ("mz_min", mz_range.map(|(low, _)| low), totals.mz_range.map(|range| range.lower)),
        ("mz_max", mz_range.map(|(_, high)| high), totals.mz_range.map(|range| range.upper)),
    ];
    for (key, by_points, by_totals) in exact {
        let expected = facts.get(key).map(Value::as_f64);
        same_bits(key, expected, by_points, &mut wrong);
        same_bits(key, expected, by_totals, &mut wrong);
    }
    let mass = || run.spectra().filter(|spectrum| spectrum.axis() == SignalAxis::Mass);
    let by_readers = base_peak(mass(), first_of_highest);
    let by_definition = base_peak(mass(), lowest_of_highest);
    if let Some(peak) = facts.get("base_peak") {
        same_bits("base peak m/z", Some(peak[0].as_f64()), by_readers.map(|peak| peak.0), &mut wrong);
        same_bits("base peak intensity", Some(peak[1].as_f64()), by_readers.map(|peak| peak.1), &mut wrong);
    }
    same_bits("computed m/z", Some(by_definition.map(|peak| peak.0)), totals.base_peak_mz, &mut wrong);
    same_bits(
        "computed intensity",
        Some(by_definition.map(|peak| peak.1)),
        totals.base_peak_intensity,
        &mut wrong,
    );
    let precursor = run.spectra().find_map(first_precursor);
    same_bits("first_precursor", facts.get("first_precursor").map(Value::as_f64), precursor, &mut wrong);

    let bound = if LOSSY.contains(&name) { 1e-6 } else { 1e-9 };
    for found in [sum, totals.total_intensity] {
        near("sum_intensity", facts.get("sum_intensity").map(Value::as_f64), Some(found), bound, &mut wrong);
    }
    // the first and the last one that the file states
    let times: Vec<f64> =
        run.spectra().filter_map(|s| s.scan_start_time()).map(|time| time.0 * 60.0).collect();
    for (key, time) in [("rt_first", times.first()), ("rt_last", times.last())] {
        near(key, facts.get(key).map(Value::as_f64), time.copied(), 1e-12, &mut wrong);
    }
    let last = run.spectrum_count().wrapping_sub(1);
    for (key, spectrum) in [("first_id", run.spectrum(0)), ("last_id", run.spectrum(last))] {
        let found = identifier(spectrum, is_mgf);
        if let Some(expected) = facts.get(key)
            && *expected != found
        {
            wrong.push(format!("{key} is {found}, not {expected}"));
        }
    }
    wrong
}

/// Bit-equal, or both absent; a figure that the facts do not state says nothing.
fn same_bits(key: &str, expected: Option<Option<f64>>, found: Option<f64>, wrong: &mut Vec<String>) {
    if let Some(expected) = expected
        && expected.map(f64::to_bits) != found.map(f64::to_bits)
    {
        wrong.push(format!("{key} is {found:?}, not {expected:?}"));
    }
}

fn near(key: &str, expected: Option<Option<f64>>, found: Option<f64>, bound: f64, wrong: &mut Vec<String>) {
    let Some(expected) = expected else { return };
    let is_near = match (expected, found) {
        (Some(expected), Some(found)) => (expected - found).abs() <= bound * expected.abs(),
        (None, None) => true,
        _ => false,
    };
    if !is_near {
        wrong.push(format!("{key} is {found:?}, not {expected:?}"));
    }
}
