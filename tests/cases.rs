//! D1, S9, S11: every hostile and odd input of `shared/cases`, and the kinds that no repository can hold.
//!
//! Each case runs in a child process of its own with an empty arena folder, so that a panic, a signal, a hang, memory
//! above the limit or a file left behind is seen from outside. Inside, the load is held to `expectations.json` strictly
//! and tolerantly.

#![cfg(unix)]

#[path = "support/loading.rs"]
mod loading;
#[path = "cases/made.rs"]
mod made;
#[path = "support/mzml.rs"]
mod mzml;
#[path = "cases/never.rs"]
mod never;
#[path = "support/shared.rs"]
mod shared;

use loading::{Failure, STRICT, TOLERANT, load_path, warning_codes};
use mzarena::arena::{ArenaError, ArenaFolder, Budget};
use mzarena::code::ErrorCode;
use mzarena::ingest::{IngestOptions, Ingested, Source, ingest};
use mzarena::observe::Unobserved;
use mzarena::warning::WarningCode;
use serde_json::Value;
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Read in full.
    Whole,
    /// Read in part, and said so: so many spectra.
    Part(u32),
    /// A typed error, nothing kept.
    Refused(ErrorCode),
}

use ErrorCode::{DamagedSource, NotARegularFile, NotFound, ReadFailed, TruncatedSource, UnsupportedFormat};
use Outcome::{Part, Refused, Whole};

/// What mzarena does where the expectation leaves a choice or wants a flag: file, strictly, tolerantly, warnings of a
/// load, why. A file without a line is read in full, without a warning.
#[rustfmt::skip]
const DECISIONS: &[(&str, Outcome, Outcome, &[WarningCode], &str)] = &[
    ("base64_bad_char.mzML", Refused(DamagedSource), Part(4), &[], "one array of one spectrum is damaged"),
    ("bytes_not_multiple_of_8.mzML", Refused(DamagedSource), Part(0), &[], "its only spectrum is damaged"),
    ("dal_too_big.mzML", Whole, Whole, &[WarningCode::ArrayLengthMismatch], "the arrays agree with each other: the declaration is wrong"),
    ("gz_bomb.mzML.gz", Whole, Whole, &[], "blanks between elements are skipped and take no memory"),
    ("gz_not_gzip.mzML.gz", Whole, Whole, &[], "gzip is known by its bytes, not by the name"),
    ("gz_trailing_zeros.mzML.gz", Whole, Whole, &[WarningCode::TrailingData], "the member and its checksum are whole"),
    ("gz_truncated.mzML.gz", Refused(TruncatedSource), Part(1), &[], "one spectrum is complete before the cut"),
    ("ids_duplicate.mzML", Whole, Whole, &[WarningCode::DuplicateNativeId], "the position is the key"),
    ("int_i4.mzML", Whole, Whole, &[], "32-bit integers have exact 64-bit floats"),
    ("int_nan_inf.mzML", Whole, Whole, &[WarningCode::NonFiniteIntensity], "kept, counted, left out of sums"),
    ("len_mz5_int4.mzML", Refused(DamagedSource), Part(4), &[], "which intensity belongs to which m/z cannot be known"),
    ("mgf_text.mgf", Refused(UnsupportedFormat), Refused(UnsupportedFormat), &[], "no block, so no MGF"),
    ("mgf_three_columns.mgf", Whole, Whole, &[WarningCode::ExtraColumns], "third columns are kept out and counted"),
    ("mz_unsorted.mzML", Whole, Whole, &[WarningCode::UnsortedMz], "order is kept and said"),
    ("numpress_garbage.mzML", Refused(DamagedSource), Part(0), &[], "its only spectrum is damaged"),
    ("spectrumlist_count_wrong.mzML", Whole, Whole, &[WarningCode::SpectrumCountMismatch], "the count is advisory"),
    ("truncated_in_binary.mzML", Refused(TruncatedSource), Part(2), &[], "two spectra are complete before the cut"),
    ("xml_deep.mzML", Refused(DamagedSource), Refused(DamagedSource), &[], "no spectrum can be reached"),
    ("xml_entity_bomb.mzML", Refused(DamagedSource), Refused(DamagedSource), &[], "document type declarations are not read"),
    ("xml_huge_attribute.mzML", Whole, Whole, &[], "8 MB of a name are within the limits; answers cut it"),
    ("xml_xxe.mzML", Refused(DamagedSource), Refused(DamagedSource), &[], "document type declarations are not read"),
    ("zlib_bomb.mzML", Refused(DamagedSource), Part(4), &[], "decoding is capped by the declared length"),
    ("zlib_garbage.mzML", Refused(DamagedSource), Part(4), &[], "one array of one spectrum is damaged"),
    // errors, with their codes
    ("folder.mzML", Refused(NotARegularFile), Refused(NotARegularFile), &[], "a folder"),
    ("html_error_page.mzML", Refused(UnsupportedFormat), Refused(UnsupportedFormat), &[], "known by its content"),
    ("lfs_pointer.mzML", Refused(UnsupportedFormat), Refused(UnsupportedFormat), &[], "known by its content"),
    ("notes.txt", Refused(UnsupportedFormat), Refused(UnsupportedFormat), &[], "text, but neither mzML nor MGF"),
    ("unknown.raw", Refused(UnsupportedFormat), Refused(UnsupportedFormat), &[], "known by its content"),
    ("zero_byte.mzML", Refused(UnsupportedFormat), Refused(UnsupportedFormat), &[], "empty"),
    // formats that are refused by name, whatever the expectation of a program that reads them
    ("imz_continuous.imzML", Refused(UnsupportedFormat), Refused(UnsupportedFormat), &[], "imzML is not read: its peaks are in another file"),
    ("imz_ibd_missing.imzML", Refused(UnsupportedFormat), Refused(UnsupportedFormat), &[], "imzML is not read"),
    ("imz_ibd_short.imzML", Refused(UnsupportedFormat), Refused(UnsupportedFormat), &[], "imzML is not read"),
    ("tdf_empty.d", Refused(NotARegularFile), Refused(NotARegularFile), &[], "TDF is not read, and it is a folder"),
    // made by the test
    ("dangling.mzML", Refused(NotFound), Refused(NotFound), &[], "a link to nothing"),
    ("fifo.mzML", Refused(NotARegularFile), Refused(NotARegularFile), &[], "looked at before it is opened"),
    ("loop_a.mzML", Refused(NotFound), Refused(NotFound), &[], "links that lead nowhere"),
    ("sparse_5GB.mzML", Refused(UnsupportedFormat), Refused(UnsupportedFormat), &[], "zeros are no format"),
    ("unreadable.mzML", Refused(ReadFailed), Refused(ReadFailed), &[], "the system does not open it"),
];

/// Environment variables by which a child knows its case.
const CHILD_NAME: &str = "MZARENA_TEST_CASE";
const CHILD_PATH: &str = "MZARENA_TEST_CASE_PATH";

#[test]
fn every_case_ends_as_expected_within_its_limits_and_leaves_nothing() {
    let Some(cases) = shared::shared("cases") else { return };
    let expectations = shared::json(&cases, "expectations.json");
    let expectations = expectations["files"].as_object().unwrap();
    let place = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    let mut done = 0;
    for (name, expectation) in expectations {
        let path =
            if cases.join(name).exists() { Some(cases.join(name)) } else { made::make(place.path(), name) };
        let Some(path) = path else { continue };
        if let Err(what) = in_child(name, &path, &expectation["limits"]) {
            wrong.push(format!("== {name}: {what}"));
        }
        done += 1;
    }
    assert!(wrong.is_empty(), "{} of {done} cases:\n{}", wrong.len(), wrong.join("\n"));
    assert!(done >= 80, "only {done} of {} cases were run", expectations.len());
    for file in std::fs::read_dir(&cases).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let is_beside =
            ["README.md", "expectations.json", "imz_continuous.ibd", "imz_ibd_short.ibd"].contains(&&*name);
        assert!(is_beside || expectations.contains_key(&name), "nothing is expected of {name}");
    }
    for (name, ..) in DECISIONS {
        assert!(expectations.contains_key(*name), "{name} is decided and not there");
    }
}

/// Runs one case in a child process; what it did wrong.
fn in_child(name: &str, path: &Path, limits: &Value) -> Result<(), String> {
    let arenas = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["one_case_of_a_child_process", "--exact", "--nocapture"])
        .env(CHILD_NAME, name)
        .env(CHILD_PATH, path)
        .env("MZARENA_ARENA_DIR", arenas.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // what the child writes is small: it cannot block on a full pipe
    let deadline = Instant::now() + Duration::from_secs(limits["seconds"].as_u64().unwrap());
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            child.kill().unwrap();
            child.wait().unwrap();
            return Err(format!("not done after {} s", limits["seconds"]));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}\n{}", output.status, why.lines().take(6).collect::<Vec<_>>().join("\n")));
    }
    let left = std::fs::read_dir(arenas.path()).unwrap().count();
    if left > 0 {
        return Err(format!("{left} files left in the arena folder"));
    }
    let peak_kib = said.lines().find_map(|line| line.strip_prefix("peak memory KiB: ")?.parse::<u64>().ok());
    match peak_kib {
        Some(kib) if kib <= limits["rss_mb"].as_u64().unwrap() * 1024 => Ok(()),
        None if cfg!(not(target_os = "linux")) && said.contains("done") => Ok(()),
        other => Err(format!("peak memory {other:?} KiB: {said}")),
    }
}

/// The child's side of the test above; without a case in the environment there is nothing to do.
#[test]
fn one_case_of_a_child_process() {
    let (Some(name), Some(path)) = (std::env::var_os(CHILD_NAME), std::env::var_os(CHILD_PATH)) else {
        return;
    };
    let name = name.into_string().unwrap();
    let cases = shared::shared("cases").unwrap();
    let expectations = shared::json(&cases, "expectations.json");
    Case { name: &name, path: path.into(), expectation: &expectations["files"][&name], cases }.check();
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        println!("\npeak memory KiB: {}", peak.trim().trim_end_matches(" kB"));
    }
    println!("done");
}

struct Case<'e> {
    name: &'e str,
    path: PathBuf,
    expectation: &'e Value,
    cases: PathBuf,
}

impl Case<'_> {
    fn check(&self) {
        let decision = DECISIONS.iter().find(|(name, ..)| *name == self.name);
        let (_, strict, tolerant, warnings, _) = decision.unwrap_or(&("", Whole, Whole, &[], ""));
        self.check_allowed(*strict, *tolerant, warnings);
        let baseline = load_path(&self.cases.join("baseline_plain.mzML"), &STRICT).unwrap();
        for (outcome, options) in [(*strict, STRICT), (*tolerant, TOLERANT)] {
            let result = self.load(&options);
            match (outcome, &result) {
                (Refused(code), Err(failure)) => {
                    assert_eq!(failure.code, code, "{}", failure.text);
                    let stem = self.path.file_name().unwrap().to_string_lossy();
                    assert!(failure.text.contains(&*stem), "does not name the file: {}", failure.text);
                }
                (Whole, Ok(loaded)) => {
                    assert!(loaded.is_complete(), "{:?}", loaded.missing);
                    assert_eq!(warning_codes(loaded), *warnings, "{:?}", loaded.warnings);
                    self.check_facts(loaded);
                }
                (Part(count), Ok(loaded)) => {
                    assert!(options.tolerant && !loaded.is_complete());
                    assert_eq!(loaded.arena.totals().spectrum_count, u64::from(count));
                    never::only_what_the_file_says(loaded, &baseline);
                }
                (outcome, result) => {
                    panic!(
                        "{outcome:?} expected (tolerant: {}), not {:?}",
                        options.tolerant,
                        result.as_ref().err()
                    )
                }
            }
            for event in self.expectation["never"].as_array().unwrap() {
                never::check(event.as_str().unwrap(), outcome, &result, &baseline);
            }
        }
    }

    /// The decision is one that the expectation leaves open.
    fn check_allowed(&self, strict: Outcome, tolerant: Outcome, warnings: &[WarningCode]) {
        let is_refused = |outcome| matches!(outcome, Refused(_));
        let not_read_at_all = self.name.ends_with(".imzML") || self.name.ends_with(".d");
        let is_allowed = match self.expectation["outcome"].as_str().unwrap() {
            "ok" => strict == Whole && tolerant == Whole,
            "warn" => strict == Whole && tolerant == Whole && !warnings.is_empty(),
            "error" => is_refused(strict) && is_refused(tolerant),
            "either" => !matches!(strict, Part(_)) && (strict != Whole || tolerant == Whole),
            other => panic!("unknown outcome {other}"),
        };
        assert!(
            is_allowed || not_read_at_all && is_refused(strict) && is_refused(tolerant),
            "decision not allowed"
        );
    }

    fn load(&self, options: &IngestOptions) -> Result<Ingested, Failure> {
        let failure = |code, text: String| Failure { code, text };
        let opened = mzarena::access::open_path(&self.path).map_err(|e| failure(e.code(), e.to_string()))?;
        let folder = ArenaFolder::from_environment().unwrap();
        let granted = Cell::new(0);
        let result = ingest(Source::from_opened(opened)?, &folder, Counting(&granted), options, &Unobserved);
        let limit = self.expectation["limits"]["temp_mb"].as_u64().unwrap() << 20;
        assert!(granted.get() <= limit, "{} bytes of arena", granted.get());
        Ok(result?)
    }

    fn check_facts(&self, loaded: &Ingested) {
        let run = loaded.arena.run().unwrap();
        let totals = loaded.arena.totals();
        let spectrum = |index: &str| run.spectrum(index.parse().unwrap()).unwrap();
        let near = |found: Option<f64>, expected: &Value| {
            let (found, expected) = (found.unwrap(), expected.as_f64().unwrap());
            assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{found} is not {expected}");
        };
        for (key, value) in self.expectation["facts"].as_object().unwrap() {
            let entries = || value.as_object().unwrap().iter();
            match key.as_str() {
                "n_spectra" => assert_eq!(totals.spectrum_count, value.as_u64().unwrap()),
                "total_peaks" => assert_eq!(totals.point_count, value.as_u64().unwrap()),
                "n_chromatograms" => assert_eq!(totals.chromatogram_count, value.as_u64().unwrap()),
                "levels" => entries().for_each(|(index, level)| {
                    assert_eq!(spectrum(index).ms_level().unwrap().get(), level.as_u64().unwrap() as u8);
                }),
                "peaks" => entries().for_each(|(index, peaks)| {
                    let numbers =
                        |at: usize| peaks[at].as_array().unwrap().iter().map(|n| n.as_f64().unwrap());
                    assert!(spectrum(index).mz().iter().copied().eq(numbers(0)), "m/z of {index}");
                    assert!(spectrum(index).intensity().iter().eq(numbers(1)), "intensities of {index}");
                }),
                "precursor" => entries().for_each(|(index, mz)| {
                    let precursor = spectrum(index).precursors().next().unwrap();
                    near(precursor.selected_ions().next().unwrap().mz(), mz);
                }),
                "isolation_target" => entries().for_each(|(index, mz)| {
                    near(spectrum(index).precursors().next().unwrap().isolation_window().target_mz, mz);
                }),
                "rt" => entries().for_each(|(index, seconds)| {
                    near(spectrum(index).scan_start_time().map(|time| time.0 * 60.0), seconds);
                }),
                other => panic!("nothing checks the fact {other}"),
            }
        }
    }
}

/// Grants everything and counts it.
struct Counting<'c>(&'c Cell<u64>);

impl Budget for Counting<'_> {
    fn grant(&mut self, bytes: u64) -> Result<(), ArenaError> {
        self.0.set(self.0.get() + bytes);
        Ok(())
    }
}
