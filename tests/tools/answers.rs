//! M6, M8: answers keep their limits whatever the files hold and are called; lists are paged without loss.

use crate::desk::{Desk, fixtures, text};
use crate::paper::{self, Spectrum, cv};
use crate::shared::shared;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Drives every tool over every file of a folder, in both modes. Each answer is checked by the desk.
fn drive_all(folder: &Path) -> usize {
    let mut loaded = 0;
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    let desk = Desk::over(folder);
    for name in names.iter().filter_map(|name| name.to_str()) {
        for tolerant in [false, true] {
            let (answer, is_error) = desk.call("load_run", json!({"source": name, "tolerant": tolerant}));
            if !is_error {
                loaded += 1;
                drive_run(&desk, name, &answer["data"]);
                break;
            }
            for selector in ["spectrum_index", "scan_number", "scan_start_time_minutes"] {
                desk.call("load_spectrum", json!({"source": name, selector: 1}));
            }
        }
    }
    for mode in ["compact", "full"] {
        desk.answer("list_references", json!({"response_mode": mode}));
        desk.answer("list_sources", json!({"response_mode": mode}));
        desk.answer("list_sources", json!({"response_mode": mode, "pattern": "*m*"}));
    }
    loaded
}

fn drive_run(desk: &Desk, name: &str, run: &Value) {
    let count = run["shape"]["spectrum_count"].as_u64().unwrap();
    let places = BTreeSet::from([0, 1, count / 2, count.saturating_sub(1), count]);
    for mode in ["compact", "full"] {
        let ask = |place: &str, of: &str, index: u64| {
            desk.call("load_spectrum", json!({place: of, "spectrum_index": index, "response_mode": mode}))
        };
        let reference = text(&run["reference"]);
        desk.answer("load_run", json!({"source": name, "tolerant": true, "response_mode": mode}));
        desk.answer("summarise_reference", json!({"reference": reference, "response_mode": mode}));
        for index in &places {
            let (of_run, is_error) = ask("run", &reference, *index);
            assert_eq!(
                is_error,
                *index >= count || of_run["error"]["code"] == "not_a_mass_spectrum",
                "{of_run}"
            );
        }
        ask("source", name, 0);
        ask("source", name, count);
        let by_time = json!({"run": reference, "scan_start_time_minutes": 1.0, "response_mode": mode});
        desk.call("load_spectrum", by_time);
    }
}

/// M8: no answer about any real file is larger than its limit, or silent about what it left out.
#[test]
fn m8_every_answer_about_real_files_keeps_its_limit() {
    let Some(data) = shared("data") else { return };
    let loaded = drive_all(&data);
    assert!(loaded > 50, "{loaded} files were loaded");
}

/// M8: nor about hostile ones.
#[test]
fn m8_every_answer_about_hostile_files_keeps_its_limit() {
    let Some(cases) = shared("cases") else { return };
    let loaded = drive_all(&cases);
    assert!(loaded > 40, "{loaded} files were loaded");
}

/// Names that a file system allows and that no answer expects, of up to 255 bytes each.
fn hostile_names() -> Vec<String> {
    let mut names: Vec<String> =
        ["a b.mgf", "\"quoted\".mgf", "new\nline.mgf", "tab\t.mgf", "-rf.mgf", "C:\\x\\y.mgf", "{}.mgf"]
            .map(str::to_owned)
            .to_vec();
    for (filler, most) in [("x", 251), ("\u{1}", 251), ("漢", 83), ("😀", 62), ("\"", 251), ("\u{301}", 125)]
    {
        names.push(format!("{}.mgf", filler.repeat(most)));
    }
    for at in 0..30 {
        names.push(format!("{}{at:02}.mgf", "漢字".repeat(40)));
    }
    names
}

/// Pages through a list; gives the first column of all rows, each of which must come once.
fn all_rows(desk: &Desk, tool: &str, arguments: Value) -> Vec<String> {
    let (mut seen, mut cursor, mut pages) = (Vec::new(), Value::Null, 0);
    loop {
        let answer = desk.answer(tool, crate::desk::with(&arguments, "cursor", cursor));
        for row in answer["data"]["rows"].as_array().unwrap() {
            if row[0].is_null() {
                let omitted = answer["budget"]["omitted"].to_string();
                assert!(omitted.contains("bytes; response_mode full"), "left out in silence: {answer}");
                seen.push(format!("null, row {}", seen.len()));
                continue;
            }
            seen.push(text(&row[0]));
        }
        pages += 1;
        assert!(pages < 200, "{tool} does not end");
        cursor = answer["page"]["next_cursor"].clone();
        if cursor.is_null() {
            assert_eq!(answer["page"]["total"], seen.len(), "{tool}");
            let once: BTreeSet<_> = seen.iter().collect();
            assert_eq!(once.len(), seen.len(), "{tool} repeats itself");
            return seen;
        }
        assert!(answer["page"]["returned"].as_u64().unwrap() > 0, "{tool} has an empty page");
    }
}

/// M8: hostile names are listed, loaded and shown whole, within all limits.
#[test]
fn m8_hostile_names_are_paged_loaded_and_kept_within_limits() {
    let home = TempDir::new().unwrap();
    let mgf = fs::read(fixtures().join("dda.mgf")).unwrap();
    let mut names = hostile_names();
    names.retain(|name| fs::write(home.path().join(name), &mgf).is_ok());
    names.sort();
    let desk = Desk::over(home.path());
    for mode in ["compact", "full"] {
        assert_eq!(all_rows(&desk, "list_sources", json!({"response_mode": mode})), names);
    }
    for name in &names {
        for mode in ["compact", "full"] {
            let run = desk.data("load_run", json!({"source": name, "response_mode": mode}));
            desk.answer(
                "load_spectrum",
                json!({"run": run["reference"], "spectrum_index": 0, "response_mode": mode}),
            );
            desk.answer("load_spectrum", json!({"source": name, "spectrum_index": 0, "response_mode": mode}));
            desk.error("load_spectrum", json!({"source": name, "spectrum_index": 4_000_000}));
        }
        desk.error("load_run", json!({"source": format!("{name}x")}));
    }
    for mode in ["compact", "full"] {
        let rows = all_rows(&desk, "list_references", json!({"response_mode": mode}));
        // of each name a run, the slice that both modes share, and a spectrum of its own in each mode
        assert_eq!(rows.len(), names.len() * 4);
        assert_eq!(
            all_rows(&desk, "list_references", json!({"kind": "run", "response_mode": mode})).len(),
            names.len()
        );
    }
}

/// M8: a path as long as the system takes is listed, loaded and named by its errors.
#[test]
fn m8_paths_of_4000_bytes_keep_the_limits() {
    for filler in ["d", "\u{1}", "漢"] {
        let home = TempDir::new().unwrap();
        let mut name = String::new();
        while name.len() + 255 * 2 < 3900 {
            name.push_str(&filler.repeat(250 / filler.len()));
            name.push('/');
        }
        fs::create_dir_all(home.path().join(&name)).unwrap();
        let names = ["run.mgf", "run2.mgf", "run3.mgf"].map(|base| format!("{name}{base}"));
        for name in &names {
            fs::copy(fixtures().join("dda.mgf"), home.path().join(name)).unwrap();
        }
        fs::write(home.path().join(format!("{name}bad.mzML")), "<mzML><run><spectrumList count=\"1\">")
            .unwrap();
        let desk = Desk::over(home.path());
        for mode in ["compact", "full"] {
            let listed = all_rows(&desk, "list_sources", json!({"response_mode": mode, "pattern": "*.mgf"}));
            // a control character takes six bytes of JSON, so that in compact answers there is no room for the name
            let fits = (filler, mode) != ("\u{1}", "compact");
            let shown =
                if fits { names.to_vec() } else { (0..3).map(|at| format!("null, row {at}")).collect() };
            assert_eq!(listed, shown, "{filler:?}");
            for name in &names {
                let run = desk.data("load_run", json!({"source": name, "response_mode": mode}));
                let reference = json!({"run": run["reference"], "spectrum_index": 0, "response_mode": mode});
                desk.answer("load_spectrum", reference);
                desk.answer(
                    "load_spectrum",
                    json!({"source": name, "spectrum_index": 0, "response_mode": mode}),
                );
            }
            let error =
                desk.error("load_run", json!({"source": format!("{name}bad.mzML"), "response_mode": mode}));
            assert!(text(&error["message"]).contains("ends early"), "the name leaves room: {error}");
            desk.error("load_run", json!({"source": format!("{name}no.mzML"), "response_mode": mode}));
        }
    }
}

/// M8: pages of 20, in order, each row once; a cursor of nobody's is harmless.
#[test]
fn m8_lists_are_paged_by_twenty() {
    let home = TempDir::new().unwrap();
    for at in 0..45 {
        fs::copy(fixtures().join("dda.mgf"), home.path().join(format!("run_{at:02}.mgf"))).unwrap();
    }
    let desk = Desk::over(home.path());
    let first = desk.answer("list_sources", json!({}));
    assert_eq!(first["page"]["returned"], 20);
    assert_eq!(first["page"]["total"], 45);
    assert_eq!(all_rows(&desk, "list_sources", json!({})).len(), 45);
    assert_eq!(all_rows(&desk, "list_sources", json!({"pattern": "run_1?.mgf"})).len(), 10);
    assert_eq!(all_rows(&desk, "list_sources", json!({"pattern": "nothing"})).len(), 0);
    let runs: Vec<_> = (0..45).map(|at| desk.load(&format!("run_{at:02}.mgf"))).collect();
    let listed: BTreeSet<_> = all_rows(&desk, "list_references", json!({})).into_iter().collect();
    assert_eq!(listed, runs.iter().cloned().collect());
    for cursor in ["nobody's", "9999999", "-1", "\u{0}", "../../etc"] {
        desk.call("list_references", json!({"cursor": cursor}));
        desk.call("list_sources", json!({"cursor": cursor}));
    }
    // what is released between two pages is neither repeated nor takes others away
    let page = desk.answer("list_references", json!({}));
    for run in &runs[..5] {
        desk.answer("release_reference", json!({"reference": run}));
    }
    let rest = desk.answer("list_references", json!({"cursor": page["page"]["next_cursor"]}));
    assert_eq!(rest["data"]["rows"][0][0], runs[20]);
}

/// M6: what the file says and what was computed stand apart, also where they disagree.
#[test]
fn m6_computed_values_never_overwrite_the_files() {
    let home = TempDir::new().unwrap();
    let params = cv(1_000_504, "base peak m/z", "999.5")
        + &cv(1_000_505, "base peak intensity", "7")
        + &cv(1_000_285, "total ion current", "12345.5");
    let spectrum = Spectrum {
        native_id: "scan=1".to_owned(),
        ms_level: 1,
        mz: vec![100.5, 200.25, 300.75],
        intensity: vec![10.0, 50.0, 20.0],
        params,
        ..Spectrum::default()
    };
    fs::write(home.path().join("a.mzML"), paper::document("", "", &[spectrum])).unwrap();
    let desk = Desk::over(home.path());
    for mode in ["compact", "full"] {
        let found = desk
            .data("load_spectrum", json!({"source": "a.mzML", "spectrum_index": 0, "response_mode": mode}));
        let facts = |part: &str| {
            let names = ["base_peak_mz", "base_peak_intensity", "total_ion_current"];
            names.map(|name| found[part][name].as_f64().unwrap())
        };
        assert_eq!(facts("summary"), [999.5, 7.0, 12345.5]);
        assert_eq!(facts("derived"), [200.25, 50.0, 80.0]);
        assert_eq!(found["derived"]["data_class"], "derived_analysis");
    }
}

/// M8: compact answers cut texts at 96 characters and say how long they are; full ones show more.
#[test]
fn m8_long_texts_are_cut_with_their_length() {
    let home = TempDir::new().unwrap();
    let title = "t".repeat(200);
    let spectrum = Spectrum {
        native_id: "scan=1".to_owned(),
        ms_level: 1,
        params: cv(1_000_796, "spectrum title", &title),
        ..Spectrum::default()
    };
    fs::write(home.path().join("a.mzML"), paper::document("", "", &[spectrum])).unwrap();
    let desk = Desk::over(home.path());
    let ask = |mode: &str| {
        desk.data("load_spectrum", json!({"source": "a.mzML", "spectrum_index": 0, "response_mode": mode}))
    };
    let compact = ask("compact");
    assert_eq!(text(&compact["summary"]["title"]), title[..96]);
    assert_eq!(compact["summary"]["title_length"], 200);
    assert_eq!(ask("full")["summary"]["title"], title);
}
