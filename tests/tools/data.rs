//! D1–D3 through the tools: damage is an error with a place, units are fixed, and figures are those of other readers.

use crate::desk::{Desk, fixtures, text};
use crate::paper::{self, Spectrum};
use crate::shared::{json as read_json, shared};
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

/// What is in the store: references, bytes, loads.
fn occupancy(desk: &Desk) -> Value {
    let store = desk.data("list_references", json!({}))["store"].take();
    let mut parts = store.as_object().unwrap().clone();
    parts.retain(|name, _| name.contains("byte") || name.contains("count"));
    Value::Object(parts)
}

/// D1: an error names the file and where it broke.
fn names_file_and_place(error: &Value, source: &str) {
    let message = text(&error["message"]);
    assert!(message.contains(source), "{message}");
    let code = text(&error["code"]);
    if ["damaged_source", "truncated_source"].contains(&code.as_str()) {
        let places = ["byte ", "line ", "spectrum "];
        assert!(places.iter().any(|place| message.contains(place)), "{source}: {message}");
    }
}

/// D1, S6: every hostile file does what the list of public failures asks for, and what fails leaves nothing.
#[test]
fn d1_hostile_files_end_as_the_list_says() {
    let Some(cases) = shared("cases") else { return };
    let expectations = read_json(&cases, "expectations.json");
    let desk = Desk::over(&cases);
    let empty = occupancy(&desk);
    let mut seen = 0;
    for (name, expected) in expectations["files"].as_object().unwrap() {
        // the files of other formats are refused by name, whatever is in them
        if !cases.join(name).is_file() || name.ends_with(".imzML") {
            continue;
        }
        seen += 1;
        let (strict, is_error) = desk.call("load_run", json!({"source": name}));
        let outcome = expected["outcome"].as_str().unwrap();
        match (outcome, is_error) {
            ("error" | "either", true) => {
                names_file_and_place(&strict["error"], name);
                assert_eq!(occupancy(&desk), empty, "{name}: what failed leaves nothing");
                if outcome == "either" {
                    tolerant(&desk, name, &strict["error"]);
                }
            }
            ("error", false) => panic!("{name}: {strict}"),
            (_, false) => {
                check_facts(&strict["data"], &expected["facts"], name);
                let is_flagged =
                    strict["data"].get("warnings").is_some() || strict["data"]["complete"] == false;
                assert!(outcome != "warn" || is_flagged, "{name} is not flagged: {strict}");
                desk.answer("release_reference", json!({"reference": strict["data"]["reference"]}));
            }
            _ => panic!("{name}: {strict}"),
        }
    }
    assert!(seen > 55, "{seen} cases");
}

/// A tolerant load says what is missing, or is an error as well. Damage proposes it.
fn tolerant(desk: &Desk, name: &str, error: &Value) {
    let is_damage = ["damaged_source", "truncated_source"].contains(&error["code"].as_str().unwrap());
    if is_damage {
        let expected = json!({"tool": "load_run", "arguments": {"source": name, "tolerant": true}});
        assert_eq!(error["retry_with"], expected, "{name}");
    }
    let (answer, is_error) = desk.call("load_run", json!({"source": name, "tolerant": true}));
    if is_error {
        names_file_and_place(&answer["error"], name);
        return;
    }
    assert!(is_damage, "{name}: tolerance is for damage: {answer}");
    let run = &answer["data"];
    assert_eq!(run["complete"], false, "{name}: {run}");
    assert!(run["missing"].as_array().is_some_and(|missing| !missing.is_empty()), "{name}: {run}");
    desk.answer("release_reference", json!({"reference": run["reference"]}));
}

fn check_facts(run: &Value, facts: &Value, name: &str) {
    for (fact, count) in [
        ("n_spectra", "spectrum_count"),
        ("total_peaks", "point_count"),
        ("n_chromatograms", "chromatogram_count"),
    ] {
        if let Some(expected) = facts.get(fact).filter(|expected| expected.is_u64()) {
            assert_eq!(&run["shape"][count], expected, "{name}: {fact}");
        }
    }
}

fn near(found: &Value, expected: &Value) -> bool {
    match (found.as_f64(), expected.as_f64()) {
        (Some(found), Some(expected)) => (found - expected).abs() <= expected.abs() * 1e-6 + 1e-9,
        (None, None) => true,
        _ => false,
    }
}

/// D3: spectra, levels, points, total intensity, base peak and m/z range are those that two readers which share no
/// code agree on.
#[test]
fn d3_figures_are_those_of_independent_readers() {
    let Some(data) = shared("data") else { return };
    let facts = read_json(&data, "facts.json");
    let desk = Desk::over(&data);
    let mut compared = 0;
    for (name, all) in facts.as_object().unwrap() {
        let is_ours = ["mzml", "mgf"].iter().any(|kind| all["kind"] == *kind);
        let theirs = &all["a"];
        // figures over points say nothing of m/z where a spectrum has another axis, or where points are not numbers
        let is_plain = ["n_no_mz", "n_nonfinite", "n_len_mismatch"].iter().all(|count| theirs[*count] == 0);
        if !is_ours || name.ends_with(".bz2") || all["agree"] != true || !is_plain {
            continue;
        }
        let (answer, is_error) = desk.call("load_run", json!({"source": name, "response_mode": "full"}));
        assert!(!is_error, "{name}: {answer}");
        let run = &answer["data"];
        check_facts(run, theirs, name);
        let levels = &run["summary"]["ms_level_counts"];
        for level in ["1", "2", "3"] {
            let ours = levels.get(level).cloned().unwrap_or(json!(0));
            assert_eq!(ours, theirs[format!("n_ms{level}")], "{name}: MS{level}");
        }
        let derived = &run["derived"];
        // many points of a mobility frame are equally high; of those the lowest m/z is the base peak here
        let has_ties = run["summary"].get("mobility_spectrum_count").is_some();
        let base_peak_mz = if has_ties { &derived["base_peak_mz"] } else { &theirs["base_peak"][0] };
        for (ours, theirs) in [
            (&derived["total_intensity"], &theirs["sum_intensity"]),
            (&derived["base_peak_mz"], base_peak_mz),
            (&derived["base_peak_intensity"], &theirs["base_peak"][1]),
            (&derived["lowest_observed_mz"], &theirs["mz_min"]),
            (&derived["highest_observed_mz"], &theirs["mz_max"]),
        ] {
            assert!(near(ours, theirs), "{name}: {ours} is not {theirs} in {run}");
        }
        compared += 1;
    }
    assert!(compared >= 40, "{compared} files were compared");
}

/// D3 on the project's own run, whose truth its generator states.
#[test]
fn d3_figures_are_those_that_the_generator_wrote() {
    let home = TempDir::new().unwrap();
    let run = mzarena::synthetic::SyntheticRun { spectrum_count: 40, ..Default::default() };
    let mut text = Vec::new();
    let facts = run.write_mzml(&mut text).unwrap();
    fs::write(home.path().join("a.mzML"), text).unwrap();
    let desk = Desk::over(home.path());
    let found = desk.data("load_run", json!({"source": "a.mzML"}));
    assert_eq!(found["shape"]["spectrum_count"], facts.spectrum_count);
    assert_eq!(found["shape"]["point_count"], facts.point_count);
    for (level, count) in &facts.ms_level_counts {
        assert_eq!(found["summary"]["ms_level_counts"][level.to_string()], *count);
    }
    assert!(near(&found["derived"]["total_intensity"], &json!(facts.total_intensity)));
    assert_eq!(found["derived"]["base_peak_mz"], json!(facts.base_peak_mz));
    for spectrum in run.spectra().step_by(7) {
        let of_run = json!({"run": found["reference"], "spectrum_index": spectrum.index});
        let shown = desk.data("load_spectrum", of_run);
        assert_eq!(shown["shape"]["point_count"], spectrum.mz.len());
        assert_eq!(shown["summary"]["scan_start_time_minutes"], json!(spectrum.scan_start_time.0));
        assert!(near(&shown["derived"]["total_ion_current"], &json!(spectrum.total_ion_current())));
        let (mz, intensity) = spectrum.base_peak().unwrap();
        assert_eq!(shown["derived"]["base_peak_mz"], json!(mz));
        assert!(near(&shown["derived"]["base_peak_intensity"], &json!(intensity)));
    }
}

/// D2: times leave in minutes, whatever unit the file has; a time without one is null.
#[test]
fn d2_b34_times_are_in_minutes() {
    let home = TempDir::new().unwrap();
    let spectra: Vec<_> = (0..4)
        .map(|at| Spectrum {
            native_id: format!("scan={}", at + 1),
            ms_level: 1,
            minutes: 90.0,
            ..Spectrum::default()
        })
        .collect();
    let minute = r#" unitCvRef="UO" unitAccession="UO:0000031" unitName="minute""#;
    let second = r#" unitCvRef="UO" unitAccession="UO:0000010" unitName="second""#;
    let millisecond = r#" unitCvRef="UO" unitAccession="UO:0000028" unitName="millisecond""#;
    let mut parts =
        paper::document("", "", &spectra).split(minute).map(str::to_owned).collect::<Vec<_>>().into_iter();
    let mut text = parts.next().unwrap();
    for (unit, part) in [minute, second, millisecond, ""].iter().zip(parts) {
        text = text + unit + &part;
    }
    fs::write(home.path().join("a.mzML"), text).unwrap();
    let desk = Desk::over(home.path());
    let run = desk.data("load_run", json!({"source": "a.mzML"}));
    let minutes = [json!(90.0), json!(1.5), json!(0.0015), Value::Null];
    for (index, expected) in minutes.iter().enumerate() {
        let found = desk.data("load_spectrum", json!({"run": run["reference"], "spectrum_index": index}));
        let found = &found["summary"]["scan_start_time_minutes"];
        assert!(found.is_null() == expected.is_null() && near(found, expected), "{index}: {found}");
    }
    assert!(run["warnings"].to_string().contains("missing_time_unit"), "{run}");
}

/// D1: what the file does not say is null, and no number that stands for nothing.
#[test]
fn d1_absence_is_null() {
    let home = TempDir::new().unwrap();
    let bare = "<spectrum index=\"0\" id=\"scan=1\" defaultArrayLength=\"0\"></spectrum>";
    let text = paper::head("", "", 1) + bare + paper::TAIL;
    fs::write(home.path().join("a.mzML"), text).unwrap();
    fs::write(home.path().join("a.mgf"), "BEGIN IONS\nCHARGE=0\nPEPMASS=0\n100.5 1\nEND IONS\n").unwrap();
    let desk = Desk::over(home.path());
    for source in ["a.mzML", "a.mgf"] {
        let found = desk
            .data("load_spectrum", json!({"source": source, "spectrum_index": 0, "response_mode": "full"}));
        assert_eq!(found["summary"]["scan_start_time_minutes"], Value::Null, "{found}");
        assert!(found["summary"].get("polarity").is_none_or(Value::is_null), "{found}");
    }
    let empty = desk.data("load_spectrum", json!({"source": "a.mzML", "spectrum_index": 0}));
    assert_eq!(
        (&empty["summary"]["ms_level"], &empty["derived"]["base_peak_mz"]),
        (&Value::Null, &Value::Null)
    );
    let unknown = desk.data("load_spectrum", json!({"source": "a.mgf", "spectrum_index": 0}));
    let ions = unknown["summary"]["precursors"].to_string();
    assert!(!ions.contains(":0.0") && !ions.contains(":0,"), "{ions}");
}

/// D1: the same text cut anywhere is an error or says that it is not complete; never a whole run.
#[test]
fn d1_b13_a_cut_file_is_never_whole() {
    let home = TempDir::new().unwrap();
    for (name, end) in [("dda.mzML", "</mzML>"), ("dda.mgf", "END IONS")] {
        let whole = fs::read(fixtures().join(name)).unwrap();
        let end = whole.windows(end.len()).rposition(|part| part == end.as_bytes()).unwrap();
        for step in 1..40 {
            let cut = &whole[..end * step / 40];
            let source = format!("{step}_{name}");
            fs::write(home.path().join(&source), cut).unwrap();
            let desk = Desk::over(home.path());
            if name.ends_with(".mgf") && cut.trim_ascii_end().ends_with(b"END IONS") {
                continue;
            }
            let error = desk.error("load_run", json!({"source": source}));
            names_file_and_place(&error, &source);
            let (kept, is_error) = desk.call("load_run", json!({"source": source, "tolerant": true}));
            assert!(is_error || kept["data"]["complete"] == false, "{source}: {kept}");
        }
    }
}
