//! Every MGF file of the shared data and cases against facts from independent readers.

use super::tests::{Collected, try_read};
use crate::units::Minutes;
use serde_json::Value;
use std::path::PathBuf;

fn shared(name: &str) -> Option<Vec<u8>> {
    let root = std::env::var_os("MZARENA_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    match std::fs::read(root.join(name)) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "{name}: {error}");
            eprintln!("skipped: {name} is not there ({error})");
            None
        }
    }
}

fn json(name: &str) -> Option<Value> {
    shared(name).map(|bytes| serde_json::from_slice(&bytes).unwrap())
}

fn mgf_names(table: &Value) -> Vec<String> {
    table.as_object().unwrap().keys().filter(|name| name.ends_with(".mgf")).cloned().collect()
}

/// Numbers of the readers are parsed by other programs and summed in another order.
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

fn seconds(time: Option<Minutes>) -> Option<f64> {
    time.map(|time| time.0 * 60.0)
}

fn check_number(what: &str, ours: Option<f64>, theirs: &Value) {
    match (ours, theirs.as_f64()) {
        (None, None) => {}
        (Some(ours), Some(theirs)) => assert!(near(ours, theirs), "{what}: {ours} is not {theirs}"),
        other => panic!("{what}: {other:?}"),
    }
}

fn base_peak(collected: &Collected) -> Option<(f64, f64)> {
    let peaks = collected.spectra.iter().flat_map(|(_, mz, intensity)| mz.iter().zip(intensity));
    peaks.fold(None, |best, (mz, intensity)| match best {
        Some((_, most)) if *intensity <= most => best,
        _ => Some((*mz, *intensity)),
    })
}

fn check_facts(name: &str, collected: &Collected, facts: &Value) {
    let spectra = &collected.spectra;
    let count = |key: &str, ours: usize| assert_eq!(Some(ours as u64), facts[key].as_u64(), "{name}: {key}");
    count("n_spectra", spectra.len());
    count("n_empty", spectra.iter().filter(|(_, mz, _)| mz.is_empty()).count());
    count("total_peaks", spectra.iter().map(|(_, mz, _)| mz.len()).sum());
    for (key, level) in [("n_ms1", 1), ("n_ms2", 2), ("n_ms3", 3)] {
        let has_level = |level_of: &crate::spectrum::MsLevel| level_of.get() == level;
        count(key, spectra.iter().filter(|(d, ..)| d.ms_level.as_ref().is_some_and(has_level)).count());
    }
    let mz = || spectra.iter().flat_map(|(_, mz, _)| mz.iter().copied());
    check_number("mz_min", mz().reduce(f64::min), &facts["mz_min"]);
    check_number("mz_max", mz().reduce(f64::max), &facts["mz_max"]);
    let sum: f64 = spectra.iter().flat_map(|(.., intensity)| intensity).sum();
    check_number("sum_intensity", Some(sum), &facts["sum_intensity"]);
    let best = base_peak(collected);
    check_number("base peak m/z", best.map(|best| best.0), &facts["base_peak"][0]);
    check_number("base peak intensity", best.map(|best| best.1), &facts["base_peak"][1]);
    let (first, last) = (&spectra[0].0, &spectra[spectra.len() - 1].0);
    // the readers' first and last time are those of spectra that have one
    let times: Vec<Minutes> =
        spectra.iter().filter_map(|(description, ..)| description.scan_start_time).collect();
    check_number("rt_first", seconds(times.first().copied()), &facts["rt_first"]);
    check_number("rt_last", seconds(times.last().copied()), &facts["rt_last"]);
    assert_eq!(first.title.as_deref(), facts["first_id"].as_str(), "{name}");
    assert_eq!(last.title.as_deref(), facts["last_id"].as_str(), "{name}");
    let ion = first.precursors.first().and_then(|precursor| precursor.selected_ions[0].mz);
    check_number("first_precursor", ion, &facts["first_precursor"]);
}

#[test]
fn d3_figures_agree_with_independent_readers() {
    let Some(facts) = json("data/facts.json") else { return };
    let names = mgf_names(&facts);
    assert_eq!(names.len(), 12);
    for name in names {
        let Some(text) = shared(&format!("data/{name}")) else { continue };
        let result = try_read(&text);
        let their = &facts[&name]["a"];
        if their["error"].is_string() {
            // every reader refuses it
            assert!(result.unwrap_err().to_string().contains("line"), "{name}");
            continue;
        }
        let mut collected = result.unwrap();
        if name == "mzlib_withEmptySpectra.mgf" {
            // both readers lose the first, empty block to the byte order mark
            assert_eq!(collected.spectra.len(), 2);
            assert!(collected.spectra.remove(0).1.is_empty());
        }
        check_facts(&name, &collected, their);
    }
}

#[test]
fn charges_polarities_and_lists_of_real_files() {
    let read = |name: &str| shared(&format!("data/{name}")).map(|text| try_read(text).unwrap());
    let charges = |collected: &Collected| -> Vec<(Option<u8>, Vec<u8>, Option<f64>)> {
        let ions = collected.spectra.iter().map(|(d, ..)| &d.precursors[0].selected_ions[0]);
        ions.map(|ion| (ion.charge, ion.possible_charges.clone(), ion.intensity)).collect()
    };
    if let Some(collected) = read("pyteomics_pepmass.mgf") {
        let intensity = Some(1234.0);
        assert_eq!(
            charges(&collected),
            [(Some(2), vec![], intensity), (Some(2), vec![], intensity), (Some(3), vec![], intensity)]
        );
        assert_eq!(collected.warned(), ["charge_conflict 1 index=2"]);
    }
    if let Some(collected) = read("pyteomics_test.mgf") {
        assert_eq!(charges(&collected), [(Some(2), vec![], None), (None, vec![2, 3], Some(1234.0))]);
        assert_eq!(collected.warned(), ["extra_columns 6 line 28"]);
    }
    if let Some(collected) = read("mzmine_library.mgf") {
        use crate::spectrum::Polarity::Negative;
        assert!(collected.spectra.iter().all(|(d, ..)| d.polarity == Some(Negative)));
        assert!(charges(&collected).iter().all(|(charge, ..)| *charge == Some(1)));
        assert_eq!(collected.warned(), ["unknown_line 3 line 35 is neither a key nor a peak"]);
    }
    if let Some(collected) = read("openms_MGFbyContent1.mgf") {
        assert_eq!(charges(&collected), [(Some(2), vec![], None)]);
    }
}

#[test]
fn small_cases_turn_out_as_expected() {
    let Some(expectations) = json("cases/expectations.json") else { return };
    let files = &expectations["files"];
    let names = mgf_names(files);
    assert_eq!(names.len(), 10);
    for name in names {
        let Some(text) = shared(&format!("cases/{name}")) else { continue };
        let (result, facts) = (try_read(text), &files[&name]["facts"]);
        if files[&name]["outcome"] != "ok" {
            assert!(result.is_err(), "{name}");
            continue;
        }
        let collected = result.unwrap();
        assert_eq!(Some(collected.spectra.len() as u64), facts["n_spectra"].as_u64(), "{name}");
        let total: usize = collected.spectra.iter().map(|(_, mz, _)| mz.len()).sum();
        assert_eq!(Some(total as u64), facts["total_peaks"].as_u64(), "{name}");
        for (index, peaks) in facts["peaks"].as_object().into_iter().flatten() {
            let (_, mz, intensity) = &collected.spectra[index.parse::<usize>().unwrap()];
            assert_eq!(serde_json::json!([mz, intensity]), *peaks, "{name}");
        }
        for (index, mz) in facts["precursor"].as_object().into_iter().flatten() {
            let description = &collected.spectra[index.parse::<usize>().unwrap()].0;
            assert_eq!(description.precursors[0].selected_ions[0].mz, mz.as_f64(), "{name}");
        }
        for (index, time) in facts["rt"].as_object().into_iter().flatten() {
            let description = &collected.spectra[index.parse::<usize>().unwrap()].0;
            check_number(&name, seconds(description.scan_start_time), time);
        }
    }
}
