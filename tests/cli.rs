//! The command line as its users meet it: a process, its two outputs, its exit code.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use mzarena::synthetic::{Compression, SyntheticFacts, SyntheticRun};
use serde_json::{Value, json};

fn mzarena(arguments: impl IntoIterator<Item = impl AsRef<std::ffi::OsStr>>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mzarena"));
    command.args(arguments).env_remove("MZARENA_LOG").env_remove("NO_COLOR").output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The object that `inspect --json` prints, as the only line of standard output, with nothing said beside it.
fn inspected(arguments: &[&str], file: &Path) -> Value {
    let output =
        mzarena(["inspect", "--json"].iter().chain(arguments).map(AsRef::as_ref).chain([file.as_os_str()]));
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "{file:?}");
    assert_eq!(text(&output.stdout).lines().count(), 1);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The error object of a source that is not read: exit code 2, one line on standard error, and no answer.
fn refused(arguments: &[&str], file: &Path) -> Value {
    let output = mzarena(["inspect"].iter().chain(arguments).map(AsRef::as_ref).chain([file.as_os_str()]));
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""), "{file:?}");
    assert_eq!(text(&output.stderr).lines().count(), 1, "{}", text(&output.stderr));
    let error = serde_json::from_slice::<Value>(&output.stderr).unwrap()["error"].take();
    for name in ["code", "message", "hint", "file"] {
        assert!(error[name].as_str().is_some_and(|word| !word.is_empty()), "{name}: {error}");
    }
    error
}

fn synthetic(folder: &Path) -> (PathBuf, SyntheticRun, SyntheticFacts) {
    let run = SyntheticRun {
        seed: 11,
        spectrum_count: 83,
        compression: Compression::Zlib,
        ..SyntheticRun::default()
    };
    let path = folder.join("run.mzML");
    let facts = run.write_mzml(&mut fs::File::create(&path).unwrap()).unwrap();
    (path, run, facts)
}

/// The shared files, or `None`, loudly.
fn shared(name: &str) -> Option<PathBuf> {
    let given = std::env::var_os("MZARENA_SHARED").map(PathBuf::from);
    let folder = given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"));
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{} is missing", path.display());
    eprintln!("SKIPPED: {} is missing; set MZARENA_SHARED", path.display());
    None
}

fn assert_near(found: &Value, expected: f64, what: &str) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{what}: {found}"));
    assert!((found - expected).abs() <= expected.abs() * 1e-12, "{what}: {found} is not {expected}");
}

#[test]
fn help_and_version_are_answers() {
    let version = mzarena(["--version"]);
    assert_eq!(version.status.code(), Some(0));
    assert_eq!(text(&version.stdout), concat!("mzarena ", env!("CARGO_PKG_VERSION"), "\n"));
    let help = mzarena(["--help"]);
    assert_eq!((help.status.code(), text(&help.stderr)), (Some(0), ""));
    for words in ["serve", "inspect", "demo", "healthcheck", "Examples:", "Exit codes:"] {
        assert!(text(&help.stdout).contains(words), "{words}");
    }
    assert!(!text(&help.stdout).contains('\u{1b}'), "colour belongs on terminals");
}

#[test]
fn bad_usage_has_an_exit_code_of_its_own() {
    for arguments in [&[][..], &["inspect"], &["inspect", "--jsn", "x"], &["unknown"]] {
        let output = mzarena(arguments);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(64), ""), "{arguments:?}");
        assert!(text(&output.stderr).contains("--help"), "{arguments:?}");
    }
}

/// D3, against the generator's own account of what it wrote.
#[test]
fn d3_inspect_json_agrees_with_the_generator() {
    let folder = tempfile::tempdir().unwrap();
    let (path, run, facts) = synthetic(folder.path());
    let found = inspected(&[], &path);
    let spectra: Vec<_> = run.spectra().collect();
    let ms2 = spectra.iter().find(|spectrum| spectrum.precursor.is_some()).unwrap();
    for (name, expected) in [
        ("file", json!(path.to_str().unwrap())),
        ("format", json!("mzML")),
        ("complete", json!(true)),
        ("missing", json!([])),
        ("byte_size", json!(fs::metadata(&path).unwrap().len())),
        ("spectrum_count", json!(83)),
        ("non_mass_spectrum_count", json!(0)),
        (
            "ms_level_counts",
            json!({"1": facts.ms_level_counts[&1], "2": facts.ms_level_counts[&2], "unknown": 0}),
        ),
        ("point_count", json!(facts.point_count)),
        ("base_peak_mz", json!(facts.base_peak_mz)),
        ("base_peak_intensity", json!(f64::from(facts.base_peak_intensity.unwrap()))),
        ("chromatogram_count", json!(1)),
        ("empty_spectrum_count", json!(0)),
        ("unsorted_spectrum_count", json!(0)),
        ("representation_counts", json!({"centroid": 83, "profile": 0, "unknown": 0})),
        ("polarity_counts", json!({"positive": 83, "negative": 0, "unknown": 0})),
        ("first_native_id", json!(spectra[0].native_id)),
        ("last_native_id", json!(spectra[82].native_id)),
        ("first_selected_ion_mz", json!(ms2.precursor.as_ref().unwrap().target_mz)),
        ("mz_range", json!({"lower": facts.lowest_observed_mz, "upper": facts.highest_observed_mz})),
        ("warnings", json!([])),
    ] {
        assert_eq!(found[name], expected, "{name}");
    }
    // sums of the same numbers in the same order, so to the last bit but one
    assert_near(&found["total_intensity"], facts.total_intensity, "total_intensity");
    assert_near(&found["scan_start_time_minutes"]["lower"], 0.0, "lower");
    let last = facts.last_scan_start_time.unwrap().0;
    assert_near(&found["scan_start_time_minutes"]["upper"], last, "upper");
}

#[test]
fn the_digest_is_of_the_files_bytes_and_of_the_kind_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _, _) = synthetic(folder.path());
    let bytes = fs::read(&path).unwrap();
    let blake3 = format!("blake3:{}", blake3::hash(&bytes).to_hex());
    let sha256: String = {
        use sha2::Digest as _;
        sha2::Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    };
    assert_eq!(inspected(&[], &path)["digest"], json!(blake3));
    assert_eq!(inspected(&["--digest", "blake3"], &path)["digest"], json!(blake3));
    assert_eq!(inspected(&["--digest", "sha256"], &path)["digest"], json!(format!("sha256:{sha256}")));
}

/// What people see: the same figures, in words, on standard output alone.
#[test]
fn inspect_shows_a_person_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _, facts) = synthetic(folder.path());
    let output = mzarena([Path::new("inspect"), &path]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let lines: Vec<&str> = text(&output.stdout).lines().collect();
    let row = |label: &str| {
        let row = lines.iter().find_map(|line| line.trim_start().strip_prefix(label));
        row.unwrap_or_else(|| panic!("{label}: {lines:#?}")).trim()
    };
    let thousands = format!("{},{:03}", facts.point_count / 1000, facts.point_count % 1000);
    for (label, expected) in [
        ("format", "mzML"),
        ("complete", "yes"),
        ("spectra", "83"),
        ("MS1", "17"),
        ("MS2", "66"),
        ("representation", "83 centroid"),
        ("polarity", "83 positive"),
        ("points", thousands.as_str()),
        // 82 steps of half a second
        ("time", "0.000 to 0.683 minutes"),
        ("warnings", "none"),
    ] {
        assert_eq!(row(label), expected, "{label}");
    }
    let trace = row("TIC of MS1");
    assert_eq!(trace.chars().count(), 17, "{trace}");
    assert!(trace.contains('█') && trace.chars().all(|block| "▁▂▃▄▅▆▇█".contains(block)), "{trace}");
    assert!(!text(&output.stdout).contains('\u{1b}'));
}

/// D2, D3: figures of two independent readers on real files.
#[test]
fn d3_inspect_agrees_with_other_readers_on_real_files() {
    for (name, expected) in [
        (
            "data/AGP_preprocessed.mzML.gz",
            json!({
                "format": "mzML", "complete": true, "spectrum_count": 307, "non_mass_spectrum_count": 0,
                "ms_level_counts": {"1": 52, "2": 255, "unknown": 0}, "point_count": 67892,
                "base_peak_mz": 1161.0088048452376, "base_peak_intensity": 9861338.0, "chromatogram_count": 2,
                "empty_spectrum_count": 0, "unsorted_spectrum_count": 297,
                "representation_counts": {"centroid": 307, "profile": 0, "unknown": 0},
                "polarity_counts": {"positive": 307, "negative": 0, "unknown": 0},
                "first_native_id": "scanId=1739784", "last_native_id": "scanId=1798553",
                "first_selected_ion_mz": 1161.00746207,
                "mz_range": {"lower": 51.021827697753906, "upper": 2876.479736328125},
            }),
        ),
        (
            // five of its ten spectra are of light, not of masses
            "data/RaMS_uv_test_mini.mzML.gz",
            json!({"spectrum_count": 10, "non_mass_spectrum_count": 5, "ms_level_counts": {"1": 5, "unknown": 0}}),
        ),
        (
            "data/mzlib_withEmptySpectra.mgf",
            json!({"format": "MGF", "spectrum_count": 2, "empty_spectrum_count": 1}),
        ),
        (
            "cases/with space and (parens).mzML",
            json!({
                "spectrum_count": 5, "point_count": 25, "first_selected_ion_mz": 451.5, "total_intensity": 1875.0,
            }),
        ),
        (
            "cases/no_spectra.mzML",
            json!({
                "spectrum_count": 0, "point_count": 0, "base_peak_mz": null, "base_peak_intensity": null,
                "first_native_id": null, "scan_start_time_minutes": null, "ms_level_counts": {"unknown": 0},
            }),
        ),
    ] {
        let Some(path) = shared(name) else { return };
        let found = inspected(&[], &path);
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(found[key], *value, "{name}: {key}");
        }
    }
}

/// Every key is there in every answer, `null` where there is nothing to say.
#[test]
fn inspect_json_has_every_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.mgf");
    fs::write(&path, "BEGIN IONS\nPEPMASS=500.25\n100.5 10\nEND IONS\nBEGIN IONS\nEND IONS\n").unwrap();
    let found = inspected(&[], &path);
    for key in [
        "file",
        "format",
        "complete",
        "spectrum_count",
        "non_mass_spectrum_count",
        "ms_level_counts",
        "point_count",
        "total_intensity",
        "base_peak_mz",
        "base_peak_intensity",
        "chromatogram_count",
        "empty_spectrum_count",
        "unsorted_spectrum_count",
        "representation_counts",
        "polarity_counts",
        "first_native_id",
        "last_native_id",
        "first_selected_ion_mz",
        "scan_start_time_minutes",
        "digest",
        "warnings",
    ] {
        assert!(found.get(key).is_some(), "{key}: {found}");
    }
    assert_eq!(found["ms_level_counts"], json!({"2": 2, "unknown": 0}));
    assert_eq!(found["polarity_counts"], json!({"positive": 0, "negative": 0, "unknown": 2}));
    assert_eq!(found["scan_start_time_minutes"], json!(null), "no time is not time 0");
    assert_eq!(found["first_selected_ion_mz"], json!(500.25));
}

#[test]
fn warnings_have_code_count_and_first_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lines.mgf");
    fs::write(&path, "BEGIN IONS\nPEPMASS=500.25\n100.5 10\nNum peaks=8\nwhat is this\nEND IONS\n").unwrap();
    let found = inspected(&[], &path);
    let warnings = found["warnings"].as_array().unwrap();
    let unknown = warnings.iter().find(|warning| warning["code"] == "unknown_line").unwrap();
    assert!(unknown["count"].as_u64().is_some_and(|count| count >= 1), "{unknown}");
    assert!(unknown["first"].as_str().is_some_and(|first| first.contains("line ")), "{unknown}");
    let shown = mzarena([Path::new("inspect"), &path]);
    assert!(text(&shown.stdout).contains("warning: unknown_line ("), "{}", text(&shown.stdout));
}

#[test]
fn d1_what_is_not_read_is_one_line_of_json_and_exit_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    for (path, code) in [
        (folder.path().join("absent.mzML"), "not_found"),
        (folder.path().to_owned(), "not_a_regular_file"),
        (file("empty.mzML", b""), "unsupported_format"),
        (file("notes.mzML", b"nothing to see here\n"), "unsupported_format"),
        (file("page.mzML", b"<!DOCTYPE html><html></html>"), "unsupported_format"),
    ] {
        for arguments in [&[][..], &["--json"], &["--tolerant"]] {
            let error = refused(arguments, &path);
            assert_eq!(error["code"], code, "{path:?}");
            assert_eq!(error["file"], path.to_str().unwrap());
        }
    }
}

/// D1: strict is the default; a tolerant reading says that it is not complete, and why.
#[test]
fn d1_a_cut_file_is_read_only_when_asked_and_never_called_complete() {
    let folder = tempfile::tempdir().unwrap();
    let (path, run, _) = synthetic(folder.path());
    let bytes = fs::read(&path).unwrap();
    let start = b"<spectrum ";
    let starts: Vec<usize> = bytes
        .windows(start.len())
        .enumerate()
        .filter(|(_, window)| window == start)
        .map(|(at, _)| at)
        .collect();
    assert_eq!(starts.len(), 83);
    let cut = folder.path().join("cut.mzML");
    fs::write(&cut, &bytes[..starts[20] + 300]).unwrap();

    let error = refused(&[], &cut);
    assert_eq!(error["code"], "truncated_source");
    assert!(error["message"].as_str().unwrap().contains("cut.mzML"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("--tolerant"), "{error}");

    let found = inspected(&["--tolerant"], &cut);
    let points: usize = run.spectra().take(20).map(|spectrum| spectrum.mz.len()).sum();
    assert_eq!(found["complete"], false);
    assert_eq!((&found["spectrum_count"], &found["point_count"]), (&json!(20), &json!(points)));
    assert_eq!(found["missing"][0]["code"], "truncated");
    assert_eq!(found["warnings"], found["missing"], "whoever looks at the warnings alone sees it too");

    let shown = mzarena(["inspect".as_ref(), "--tolerant".as_ref(), cut.as_os_str()]);
    let shown = text(&shown.stdout);
    assert!(shown.contains("complete") && shown.contains("no: ") && shown.contains("missing: "), "{shown}");
}

/// Names of files are bytes; answers are text.
#[test]
#[cfg(target_os = "linux")]
fn a_name_that_is_not_utf8_can_be_inspected() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(std::ffi::OsStr::from_bytes(b"L\xf6sung.mgf"));
    let mut file = fs::File::create(&path).unwrap();
    file.write_all(b"BEGIN IONS\nPEPMASS=500.25\n100.5 10\nEND IONS\n").unwrap();
    let found = inspected(&[], &path);
    assert_eq!(found["spectrum_count"], 1);
    assert!(found["file"].as_str().unwrap().ends_with("L\u{fffd}sung.mgf"));
}

#[test]
fn wrong_settings_of_a_server_are_refused_at_start_by_name() {
    for (name, value) in [
        ("MZARENA_MAX_SOURCE_BYTES", "many"),
        ("MZARENA_MAX_REFERENCES", "-1"),
        ("MZARENA_REFERENCE_TTL_SECONDS", "soon"),
        ("MZARENA_ARENA_DIR", "no/such/folder"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mzarena"));
        let output = command.args(["serve", "--root", "src"]).env(name, value).output().unwrap();
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), ""), "{name}");
        let said = text(&output.stderr);
        assert!(said.contains(name) || said.contains(value), "{name}: {said}");
    }
    let output = mzarena(["serve", "--root", "no/such/root"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("no/such/root"), "{}", text(&output.stderr));
}

#[test]
fn m12_a_healthy_server_is_said_to_be_healthy() {
    let output = mzarena(["healthcheck"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let count = mzarena::tools::descriptions().len();
    let (said, expected) = (text(&output.stdout), format!("lists {count} tools\n"));
    assert!(said.starts_with("ok: mzarena ") && said.ends_with(&expected), "{said}");
}

#[test]
fn m12_what_is_wrong_with_a_server_is_said() {
    let output = mzarena(["healthcheck", "--root", "no/such/root"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), ""));
    assert!(text(&output.stderr).contains("no/such/root"), "{}", text(&output.stderr));
}

/// The demonstration in an arena folder of its own, which is empty before and after.
fn demo(file: Option<&Path>) -> Output {
    let arenas = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mzarena"));
    command.arg("demo").args(file).env("MZARENA_ARENA_DIR", arenas.path());
    let output = command.output().unwrap();
    let left: Vec<_> = fs::read_dir(arenas.path()).unwrap().collect();
    assert!(left.is_empty(), "left behind: {left:?}");
    output
}

#[test]
fn the_demonstration_plays_a_session_on_a_made_up_run() {
    let output = demo(None);
    let said = text(&output.stdout);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "{said}");
    let steps = [
        "-> initialize",
        "-> tools/list",
        "-> list_sources",
        "before the load:",
        "-> load_run",
        "after the load:",
        "-> summarise_reference",
        "-> load_spectrum",
        "-> list_references",
        "-> release_reference",
        "after the release:",
        " crossed the protocol",
    ];
    let places: Vec<_> = steps.iter().map(|step| said.find(step)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}\n{said}");
    assert!(said.contains("2,000 spectra"), "{said}");
}

#[test]
fn the_demonstration_counts_the_points_of_a_given_file() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _, facts) = synthetic(folder.path());
    let output = demo(Some(&path));
    let said = text(&output.stdout);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "{said}");
    let points = format!("{},{:03} points (", facts.point_count / 1000, facts.point_count % 1000);
    assert!(
        said.lines().any(|line| line.starts_with(&points) && line.contains(" held in the arena, ")),
        "{said}"
    );
}

#[test]
fn the_demonstration_of_what_cannot_be_read_is_an_error_of_the_source() {
    let output = demo(Some(Path::new("no/such/run.mzML")));
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""));
    let error = serde_json::from_slice::<Value>(&output.stderr).unwrap();
    assert_eq!(
        (&error["error"]["code"], &error["error"]["file"]),
        (&json!("not_found"), &json!("no/such/run.mzML"))
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.mzML");
    fs::write(&path, "nothing to see here\n").unwrap();
    let output = demo(Some(&path));
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    let error = serde_json::from_slice::<Value>(&output.stderr).unwrap();
    assert_eq!(error["error"]["code"], "unsupported_format");
}
