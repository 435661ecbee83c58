//! M1: no peak leaves, whatever is asked. Runs whose peaks have digits that occur nowhere else go through every tool in
//! every mode of a real server, and every byte of its output is searched for them.

#[path = "support/desk.rs"]
mod desk;
#[path = "support/paper.rs"]
mod paper;
#[path = "support/stdio.rs"]
mod stdio;

use desk::{leaves, text};
use mzarena::arena::{
    Arena, ChromatogramColumns, ChromatogramView, ColumnsRef, EmbeddingView, IntensityRef, PrecursorView,
    RunView, RunWriter, SelectedIonView, SpectrumView, Unlimited,
};
use mzarena::ingest::{IncomingChromatogram, IncomingSpectrum, Ingested, IngestedSpectrum, Source, Values};
use mzarena::store::{Lease, RunRegistration, SpectrumStore};
use mzarena::synthetic::SyntheticSpectrum;
use paper::{Spectrum, cv, precursor};
use serde_json::{Value, json};
use static_assertions::assert_not_impl_any;
use std::fs;
use std::path::Path;
use std::process::Command;
use stdio::{PATIENCE, Server};
use tempfile::TempDir;

// S5, M1: what holds peaks cannot be serialised, so nothing can serialise it by mistake.
assert_not_impl_any!(Arena: serde::Serialize);
assert_not_impl_any!(RunView<'static>: serde::Serialize);
assert_not_impl_any!(SpectrumView<'static>: serde::Serialize);
assert_not_impl_any!(ChromatogramView<'static>: serde::Serialize);
assert_not_impl_any!(PrecursorView<'static>: serde::Serialize);
assert_not_impl_any!(SelectedIonView<'static>: serde::Serialize);
assert_not_impl_any!(EmbeddingView<'static>: serde::Serialize);
assert_not_impl_any!(ColumnsRef<'static>: serde::Serialize);
assert_not_impl_any!(IntensityRef<'static>: serde::Serialize);
assert_not_impl_any!(ChromatogramColumns<'static>: serde::Serialize);
assert_not_impl_any!(RunWriter<Unlimited>: serde::Serialize);
assert_not_impl_any!(Lease: serde::Serialize);
assert_not_impl_any!(RunRegistration: serde::Serialize);
assert_not_impl_any!(SpectrumStore: serde::Serialize);
assert_not_impl_any!(Values: serde::Serialize);
assert_not_impl_any!(IncomingSpectrum: serde::Serialize);
assert_not_impl_any!(IncomingChromatogram: serde::Serialize);
assert_not_impl_any!(Ingested: serde::Serialize);
assert_not_impl_any!(IngestedSpectrum: serde::Serialize);
assert_not_impl_any!(Source<'static>: serde::Serialize);
assert_not_impl_any!(SyntheticSpectrum: serde::Serialize);

/// Digits of which any six in a row stand for one value.
fn marked(seed: u64) -> f64 {
    // the fraction of a multiple of the golden ratio: no two are near each other
    let share = (seed as f64 * 0.618_033_988_749_894_9).fract();
    (1_371_937.0 + share * 7_000_000.0).round() / 1000.0 + 0.000_1 + share * 1e-5
}

/// A marked spectrum: m/z ascends, the highest intensity stands in the middle.
fn spectrum(at: usize) -> Spectrum {
    let seed = 1 + 100 * at as u64;
    let mut mz: Vec<f64> = (0..12).map(|point| 200.0 + marked(seed + point) / 10.0).collect();
    mz.sort_by(f64::total_cmp);
    let intensity = (50..62).map(|point| marked(seed + point)).collect();
    Spectrum {
        native_id: format!("scan={}", at + 1),
        ms_level: if at.is_multiple_of(2) { 1 } else { 2 },
        minutes: at as f64,
        precursors: if at.is_multiple_of(2) { String::new() } else { precursor(500.0 + at as f64, "") },
        params: cv(1_000_796, "spectrum title", "a title"),
        mz,
        intensity,
        ..Spectrum::default()
    }
}

/// What may leave of a spectrum, by the name under which it may: base peak and the ends of its m/z range.
fn permitted(spectra: &[Spectrum]) -> Vec<(&'static str, f64)> {
    let mut permitted = Vec::new();
    for spectrum in spectra {
        let highest = spectrum.intensity.iter().copied().fold(f64::MIN, f64::max);
        let place = spectrum.intensity.iter().position(|value| *value == highest).unwrap();
        permitted.extend([
            ("base_peak_mz", spectrum.mz[place]),
            ("base_peak_intensity", highest),
            ("lowest_observed_mz", spectrum.mz[0]),
            ("highest_observed_mz", spectrum.mz[spectrum.mz.len() - 1]),
        ]);
    }
    permitted
}

/// The marked points of a recorded chromatogram.
fn trace() -> (Vec<f64>, Vec<f64>) {
    ((5000..5012).map(marked).collect(), (5050..5062).map(marked).collect())
}

/// The ways to write a value that a careless tool would choose: its shortest digits, rounded ones, its bits.
fn renderings(value: f64) -> Vec<String> {
    let shortest = value.to_string();
    let digits: String = shortest.chars().filter(char::is_ascii_digit).collect();
    let bits = value.to_bits();
    let narrow = (value as f32).to_string();
    let mut found = vec![
        format!("{value:.3}"),
        shortest.get(..8.min(shortest.len())).unwrap().to_owned(),
        digits.get(..9.min(digits.len())).unwrap().to_owned(),
        format!("{bits:016x}"),
        format!("{:016x}", bits.swap_bytes()),
        bits.to_string(),
    ];
    if narrow.len() >= 7 {
        found.push(narrow);
    }
    found
}

/// Calls every tool in every mode, with every way to choose a spectrum and with wishes for peaks; errors as well.
fn ask_everything(server: &mut Server, sources: &[&str], spectra: &[Spectrum]) {
    let mut id = 0;
    let mut call = |tool: &str, arguments: Value| {
        id += 1;
        server.result_of(id, tool, arguments)["structuredContent"].take()
    };
    for mode in [Value::Null, json!("compact"), json!("full")] {
        for source in sources {
            for (tolerant, reload) in [(false, false), (true, false), (false, true)] {
                let asked =
                    json!({"source": source, "tolerant": tolerant, "reload": reload, "response_mode": mode});
                let run = call("load_run", asked)["data"]["reference"].take();
                for (index, spectrum) in spectra.iter().enumerate() {
                    for (selector, value) in [
                        ("spectrum_index", json!(index)),
                        ("native_id", json!(spectrum.native_id)),
                        ("scan_number", json!(index + 1)),
                        ("scan_start_time_minutes", json!(spectrum.minutes + 0.25)),
                    ] {
                        let of_run = json!({"run": run, selector: value, "response_mode": mode});
                        let found = call("load_spectrum", of_run)["data"]["reference"].take();
                        call("summarise_reference", json!({"reference": found, "response_mode": mode}));
                        call(
                            "load_spectrum",
                            json!({"source": source, selector: value, "response_mode": mode}),
                        );
                    }
                }
                for wish in ["peaks", "include_peaks", "mz_array", "fragment_mz", "columns", "limit", "plot"]
                {
                    call("load_run", json!({"source": source, wish: true}));
                    call("load_spectrum", json!({"run": run, "spectrum_index": 0, wish: [1, 2]}));
                    call("summarise_reference", json!({"reference": run, wish: "all"}));
                }
                call("summarise_reference", json!({"reference": run, "response_mode": mode}));
            }
        }
        for kind in [Value::Null, json!("run"), json!("spectrum")] {
            call("list_references", json!({"kind": kind, "response_mode": mode}));
        }
        call("list_sources", json!({"response_mode": mode}));
        for topic in ["overview", "tools", "limits", "errors", "warnings", "units", "workflow"] {
            call("get_capabilities", json!({"topic": topic, "response_mode": mode}));
        }
    }
    let listed = call("list_references", json!({"kind": "run"}));
    for row in listed["data"]["rows"].as_array().unwrap() {
        call("release_reference", json!({"reference": row[0]}));
    }
}

/// The same run as mzML, as gzip, as MGF, and damaged in the ways whose errors might quote a peak.
fn write_sources(folder: &Path, spectra: &[Spectrum]) -> Vec<&'static str> {
    let (minutes, intensity) = trace();
    let whole =
        paper::document("", "", spectra).replace(paper::TAIL, &paper::tail_with_trace(&minutes, &intensity));
    let put = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes).unwrap();
    put("whole.mzML", whole.as_bytes());
    put("cut.mzML", &whole.as_bytes()[..whole.len() * 2 / 3]);
    let first = paper::base64(&spectra[1].mz);
    put(
        "bad_base64.mzML",
        whole.replace(&first, &first.replacen(|c: char| c.is_ascii_digit(), "*", 1)).as_bytes(),
    );
    put("short.mzML", whole.replace(&first, &paper::base64(&spectra[1].mz[..7])).as_bytes());
    let mut unsorted = spectra[1].mz.clone();
    unsorted.swap(3, 8);
    put("unsorted.mzML", whole.replace(&first, &paper::base64(&unsorted)).as_bytes());
    unsorted[5] = f64::NAN;
    put("nan.mzML", whole.replace(&first, &paper::base64(&unsorted)).as_bytes());
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, whole.as_bytes()).unwrap();
    put("whole.mzML.gz", &gzip.finish().unwrap());

    let blocks: Vec<_> = spectra
        .iter()
        .enumerate()
        .map(|(at, spectrum)| {
            paper::block(
                &format!("TITLE=title {at}\nPEPMASS=500.5\nSCANS={}\n", at + 1),
                &spectrum.mz,
                &spectrum.intensity,
            )
        })
        .collect();
    let whole = blocks.concat();
    put("whole.mgf", whole.as_bytes());
    let line = |at: usize| format!("{} {}", spectra[1].mz[at], spectra[1].intensity[at]);
    put("three_columns.mgf", whole.replace(&line(4), &format!("{} 1+", line(4))).as_bytes());
    put("word.mgf", whole.replace(&line(4), &format!("{}x", line(4))).as_bytes());
    put("word_first.mgf", whole.replace(&line(4), &format!("peak {}", line(4))).as_bytes());
    put("cut.mgf", &whole.as_bytes()[..whole.len() * 2 / 3]);
    vec![
        "whole.mzML",
        "cut.mzML",
        "bad_base64.mzML",
        "short.mzML",
        "unsorted.mzML",
        "nan.mzML",
        "whole.mzML.gz",
        "whole.mgf",
        "three_columns.mgf",
        "word.mgf",
        "word_first.mgf",
        "cut.mgf",
    ]
}

fn product(root: &Path) -> Server {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mzarena"));
    let mut server = Server::start(command.arg("serve").arg("--root").arg(root).env_remove("MZARENA_LOG"));
    server.initialize();
    server
}

/// M1: of all peaks only base peaks and the ends of m/z ranges leave, each under its name.
#[test]
fn m1_no_byte_of_any_answer_is_a_peak() {
    let home = TempDir::new().unwrap();
    let spectra: Vec<_> = (0..4).map(spectrum).collect();
    let sources = write_sources(home.path(), &spectra);
    let mut server = product(home.path());
    ask_everything(&mut server, &sources, &spectra);
    server.finish(PATIENCE);
    let said = server.transcript();
    assert!(said.lines().count() > 3000 && said.len() > 1_000_000, "{} bytes", said.len());

    let permitted = permitted(&spectra);
    let (mut searched, mut seen) = (0, 0);
    for spectrum in &spectra {
        for value in spectrum.mz.iter().chain(&spectrum.intensity) {
            if permitted.iter().any(|(_, known)| known == value) {
                seen += usize::from(said.contains(&value.to_string()));
                continue;
            }
            searched += 1;
            for rendering in renderings(*value) {
                assert!(!said.contains(&rendering), "{value} left as {rendering}");
            }
        }
        for array in [&spectrum.mz, &spectrum.intensity] {
            // four values that begin at a multiple of three bytes
            let part = paper::base64(&array[3..7]);
            assert!(!said.contains(&part[..part.len() - 8]), "an array left in base64");
        }
    }
    let (minutes, intensity) = trace();
    for value in minutes.iter().chain(&intensity) {
        renderings(*value).iter().for_each(|rendering| assert!(!said.contains(rendering), "{value} left"));
    }
    assert!(said.contains("\"chromatogram_count\":1"), "the chromatogram was read");
    assert!(searched >= 4 * (24 - 4), "{searched}");
    let distinct: std::collections::BTreeSet<_> =
        permitted.iter().map(|(_, value)| value.to_bits()).collect();
    assert_eq!(seen, distinct.len(), "what may leave does, so the search finds what is there");
    only_under_their_names(&said, &permitted);
}

/// What may leave does so under its own name. Damaged variants have other extremes, so the sound ones are looked at.
fn only_under_their_names(said: &str, permitted: &[(&str, f64)]) {
    for line in said.lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        leaves(&message["result"]["structuredContent"], "", &mut |path, value| {
            let Some(number) = value.as_f64() else { return };
            let name = path.rsplit('.').next().unwrap();
            // the parser may be off by a bit
            if permitted.iter().any(|(_, known)| (known - number).abs() <= known * 1e-14) {
                let names =
                    ["base_peak_mz", "base_peak_intensity", "lowest_observed_mz", "highest_observed_mz"];
                assert!(names.contains(&name), "{path} is {number}");
            }
        });
    }
}

/// No answer holds a list of numbers longer than a page: an array cannot hide.
#[test]
fn m1_no_answer_has_a_long_list_of_numbers() {
    let mut server = product(&desk::fixtures());
    let run = server.result_of(1, "load_run", json!({"source": "dda.mzML", "response_mode": "full"}));
    let run = text(&run["structuredContent"]["data"]["reference"]);
    for (id, index) in (2..).zip(0..60) {
        server.result_of(
            id,
            "load_spectrum",
            json!({"run": run, "spectrum_index": index, "response_mode": "full"}),
        );
    }
    server.finish(PATIENCE);
    for line in server.transcript().lines() {
        no_long_list(&serde_json::from_str(line).unwrap());
    }
}

fn no_long_list(value: &Value) {
    match value {
        Value::Array(items) => {
            let numbers = items.iter().filter(|item| item.is_number() || item.is_array()).count();
            assert!(numbers <= 20, "{value}");
            items.iter().for_each(no_long_list);
        }
        Value::Object(map) => map.values().for_each(no_long_list),
        _ => {}
    }
}

/// A spectrum of 100,000 peaks with as much said about it as may be: long native ID, title and filter string, several
/// precursors, everything that has a place in a summary.
fn large(native_id: &str, title: &str, filter: &str, precursor_count: usize) -> Spectrum {
    let params = [
        cv(1_000_796, "spectrum title", title),
        cv(1_000_504, "base peak m/z", "1234.567890123456"),
        cv(1_000_505, "base peak intensity", "1234567890.123456"),
        cv(1_000_285, "total ion current", "123456789012345.6"),
        cv(1_001_581, "FAIMS compensation voltage", "-45.123456789"),
        cv(1_002_815, "inverse reduced ion mobility", "1.23456789012345"),
    ];
    let scan = cv(1_000_512, "filter string", filter)
        + &cv(1_000_927, "ion injection time", "123.456789012345")
        + &format!(
            "<scanWindowList count=\"1\"><scanWindow>{}{}</scanWindow></scanWindowList>",
            cv(1_000_501, "scan window lower limit", "100.123456789012"),
            cv(1_000_500, "scan window upper limit", "2000.12345678901"),
        );
    let precursors = (0..precursor_count).map(|at| precursor(500.123_456_789_012 + at as f64 / 3.0, ""));
    Spectrum {
        native_id: native_id.to_owned(),
        ms_level: 2,
        minutes: 123.456_789_012_345,
        precursors: precursors.collect(),
        params: params.concat(),
        scan,
        mz: (0..100_000).map(|at| 100.0 + f64::from(at) * 0.012_345_678_9).collect(),
        intensity: (0..100_000).map(|at| f64::from(at % 9973) * 12_345.678_901_234).collect(),
    }
}

/// M1: at most 1 KiB of JSON for 100,000 peaks, in any case; 4 KiB in full. The whole envelope counts.
#[test]
fn m1_100_000_peaks_are_at_most_one_kib_of_json() {
    let home = TempDir::new().unwrap();
    let folders = [String::new(), format!("{}/", "d".repeat(240)), format!("{}/", "漢\"".repeat(50))];
    let long = |filler: &str| filler.repeat(3000 / filler.len());
    let thermo = "controllerType=0 controllerNumber=1 scan=123456";
    let spectra = [
        large(thermo, "run.123456.123456.2", "FTMS + p NSI d Full ms2 500.12@hcd27.50 [100.00-2000.00]", 1),
        large(&long("n"), &long("t"), &long("f"), 12),
        large(&long("漢"), &long("😀"), &long("\u{e9}"), 12),
        large(&long("\""), &long("\""), &long("\""), 12),
    ];
    let text = paper::document("", "", &spectra);
    for folder in &folders {
        fs::create_dir_all(home.path().join(folder)).unwrap();
        fs::write(home.path().join(format!("{folder}a.mzML")), &text).unwrap();
    }
    let mut server = product(home.path());
    let (mut id, mut sizes) = (0, Vec::new());
    let mut call = |tool: &str, arguments: Value| {
        id += 1;
        let result = server.result_of(id, tool, arguments.clone());
        assert_eq!(result["isError"], false, "{result}");
        let block = desk::text(&result["content"][0]["text"]);
        assert_eq!(serde_json::from_str::<Value>(&block).unwrap(), result["structuredContent"]);
        desk::check_envelope(&block, false, desk::mode(&arguments));
        (block, result["structuredContent"].clone())
    };
    for folder in &folders {
        let source = format!("{folder}a.mzML");
        let run = call("load_run", json!({"source": source})).1["data"]["reference"].take();
        for index in 0..spectra.len() {
            for (mode, largest) in [("compact", 1024), ("full", 4096)] {
                for place in ["run", "source"] {
                    let of = if place == "run" { run.clone() } else { json!(source) };
                    let (block, envelope) = call(
                        "load_spectrum",
                        json!({place: of, "spectrum_index": index, "response_mode": mode}),
                    );
                    assert!(block.len() <= largest, "{} bytes: {block}", block.len());
                    sizes.push(block.len());
                    let data = &envelope["data"];
                    assert_eq!(data["shape"]["point_count"], 100_000);
                    // what an agent cannot do without is there in any case
                    assert_eq!(data["summary"]["ms_level"], 2, "{block}");
                    for name in ["base_peak_mz", "base_peak_intensity", "total_ion_current"] {
                        assert!(data["derived"][name].is_number(), "{name}: {block}");
                    }
                    let reference = json!({"reference": data["reference"], "response_mode": mode});
                    let (block, again) = call("summarise_reference", reference);
                    assert!(block.len() <= largest, "{} bytes: {block}", block.len());
                    assert_eq!(again["data"]["shape"], data["shape"]);
                }
            }
        }
    }
    assert!(sizes.iter().any(|size| *size > 900), "a worst case comes near the limit: {sizes:?}");
    server.finish(PATIENCE);
}
