//! S7, S8, S9 through the tools: what references name, how they end, how they come back.

use crate::desk::{Desk, TIME_TO_LIVE, fixtures, text};
use serde_json::{Value, json};
use std::time::Duration;

const UNKNOWN: &str = "ptr:run:0123456789abcdef01234567";

/// Calls what an error proposes.
fn retried(desk: &Desk, error: &Value) -> Value {
    let retry = &error["retry_with"];
    assert!(retry.is_object(), "{error}");
    desk.data(retry["tool"].as_str().unwrap(), retry["arguments"].clone())
}

/// S7: what has expired says so, with the call that makes it again.
#[test]
fn s7_m7_an_expired_reference_says_how_to_get_it_back() {
    let desk = Desk::over(&fixtures());
    let run = desk.data("load_run", json!({"source": "dda.mzML.gz"}));
    let of_run = desk.data("load_spectrum", json!({"run": run["reference"], "scan_number": 3}));
    let of_source = desk.data("load_spectrum", json!({"source": "dda.mgf", "spectrum_index": 1}));
    desk.clock.advance(TIME_TO_LIVE + Duration::from_secs(1));
    for before in [&run, &of_run, &of_source] {
        for (tool, argument) in [("summarise_reference", "reference"), ("load_spectrum", "run")] {
            let mut arguments = json!({});
            arguments[argument] = before["reference"].clone();
            if tool == "load_spectrum" {
                arguments["spectrum_index"] = json!(0);
            }
            let error = desk.error(tool, arguments);
            assert_eq!((&error["code"], &error["argument"]), (&json!("expired_reference"), &json!(argument)));
            let after = retried(&desk, &error);
            assert_ne!(after["reference"], before["reference"], "S4: never used again");
            assert_eq!((&after["kind"], &after["shape"]), (&before["kind"], &before["shape"]));
            assert_eq!(after["summary"], before["summary"]);
            assert_eq!(after["derived"], before["derived"]);
        }
        let released = desk.data("release_reference", json!({"reference": before["reference"]}));
        assert_eq!(released["released"], false);
    }
}

/// S7: use renews a reference and its parent; describing is use, listing is not.
#[test]
fn s7_use_renews_and_listing_does_not() {
    let desk = Desk::over(&fixtures());
    let run = desk.load("dda.mzML");
    let spectrum = text(&desk.data("load_spectrum", json!({"run": run, "spectrum_index": 0}))["reference"]);
    let step = TIME_TO_LIVE * 2 / 3;
    for _ in 0..3 {
        desk.clock.advance(step);
        desk.answer("summarise_reference", json!({"reference": spectrum}));
    }
    assert_eq!(desk.live_count(), 2);
    desk.clock.advance(step);
    assert_eq!(desk.live_count(), 2);
    desk.clock.advance(step);
    assert_eq!(desk.live_count(), 0, "listing has renewed them");
    assert_eq!(desk.error("summarise_reference", json!({"reference": run}))["code"], "expired_reference");
}

/// An unchanged file whose reference has expired is loaded anew, and not answered with the dead reference.
#[test]
fn s7_loading_again_after_expiry_gives_a_live_reference() {
    let desk = Desk::over(&fixtures());
    let first = desk.data("load_run", json!({"source": "dda.mzML"}));
    assert_eq!(first["reused"], false);
    assert_eq!(desk.data("load_run", json!({"source": "dda.mzML"}))["reused"], true);
    desk.clock.advance(TIME_TO_LIVE + Duration::from_secs(1));
    let again = desk.data("load_run", json!({"source": "dda.mzML"}));
    assert_eq!(again["reused"], false);
    assert_ne!(again["reference"], first["reference"]);
    desk.answer("summarise_reference", json!({"reference": again["reference"]}));
}

/// S7: released, never issued and mistyped references; releasing twice.
#[test]
fn s7_s10_release_is_idempotent_and_unknown_is_not_malformed() {
    let desk = Desk::over(&fixtures());
    let run = desk.load("dda.mzML");
    let spectrum = text(&desk.data("load_spectrum", json!({"run": run, "spectrum_index": 0}))["reference"]);
    let released = desk.data("release_reference", json!({"reference": run}));
    assert_eq!(released["released"], true);
    assert!(released["bytes_returned"].as_u64().unwrap() > 10_000, "{released}");
    assert_eq!(released["bytes_pending"], 0);
    // S8: a slice goes with its run
    for gone in [run.as_str(), spectrum.as_str(), UNKNOWN] {
        let again = desk.data("release_reference", json!({"reference": gone}));
        assert_eq!((&again["released"], &again["bytes_returned"]), (&json!(false), &json!(0)));
        let error = desk.error("summarise_reference", json!({"reference": gone}));
        assert_eq!((&error["code"], &error["argument"]), (&json!("unknown_reference"), &json!("reference")));
    }
    for malformed in
        ["x", "ptr:run:xyz", "ptr:run:", "ptr:nothing:0123456789abcdef01234567", "/etc/passwd", "ptr"]
    {
        for tool in ["release_reference", "summarise_reference"] {
            let error = desk.error(tool, json!({"reference": malformed}));
            assert_eq!(
                (&error["code"], &error["argument"]),
                (&json!("unknown_reference"), &json!("reference"))
            );
        }
    }
}

/// S10: a reference of another kind is its own error.
#[test]
fn s10_a_spectrum_is_no_run() {
    let desk = Desk::over(&fixtures());
    let run = desk.load("dda.mzML");
    let spectrum = desk.data("load_spectrum", json!({"run": run, "spectrum_index": 0}))["reference"].take();
    let error = desk.error("load_spectrum", json!({"run": spectrum, "spectrum_index": 0}));
    assert_eq!((&error["code"], &error["argument"]), (&json!("wrong_kind"), &json!("run")));
}

/// S9: each record names the operation, the sources as they were read, and the parents as plain text.
#[test]
fn s9_provenance_names_sources_digests_and_parents() {
    let desk = Desk::over(&fixtures());
    for (source, format) in [("dda.mzML.gz", "mzML"), ("dda.mgf", "MGF")] {
        let bytes = std::fs::read(fixtures().join(source)).unwrap();
        let digest = format!("blake3:{}", blake3::hash(&bytes).to_hex());
        for mode in ["compact", "full"] {
            let run = desk.data("load_run", json!({"source": source, "response_mode": mode}));
            let made = &run["provenance"]["sources"][0];
            assert_eq!(run["provenance"]["operation"], "load_run");
            assert_eq!((&made["source"], &made["format"]), (&json!(source), &json!(format)));
            assert_eq!((&made["byte_size"], &made["digest"]), (&json!(bytes.len()), &json!(digest)));
            if mode == "full" {
                let reader = text(&made["reader"]);
                assert!(reader.chars().any(|c| c.is_ascii_digit()), "{reader} states no version");
                assert_eq!(run["provenance"]["software"], concat!("mzarena ", env!("CARGO_PKG_VERSION")));
                assert_eq!(run["provenance"]["parents"], json!([]));
            }
            let slice = desk.data("load_spectrum", json!({"run": run["reference"], "spectrum_index": 1}));
            assert_eq!(slice["provenance"]["operation"], "load_spectrum");
            assert_eq!(slice["provenance"]["parents"], json!([run["reference"]]));
            assert_eq!(slice["spectrum_index"], 1);
        }
    }
}

/// S9: what was not read to its end has no digest, and says why.
#[test]
fn s9_a_source_that_is_not_read_in_full_has_no_digest() {
    let desk = Desk::over(&fixtures());
    let early = desk.data("load_spectrum", json!({"source": "dda.mzML", "spectrum_index": 0}));
    let source = &early["provenance"]["sources"][0];
    assert_eq!((&source["digest"], &source["digest_reason"]), (&Value::Null, &json!("not_read_in_full")));
    let size = std::fs::metadata(fixtures().join("dda.mzML")).unwrap().len();
    assert_eq!(source["byte_size"], size);
    // the nearest in time is known only at the end
    let by_time = desk.data("load_spectrum", json!({"source": "dda.mzML", "scan_start_time_minutes": 0.0}));
    let bytes = std::fs::read(fixtures().join("dda.mzML")).unwrap();
    let digest = format!("blake3:{}", blake3::hash(&bytes).to_hex());
    assert_eq!(by_time["provenance"]["sources"][0]["digest"], digest);
}

/// A spectrum is the same one, whether out of a run or straight out of the file.
#[test]
fn d3_a_spectrum_of_a_run_is_the_spectrum_of_the_file() {
    let desk = Desk::over(&fixtures());
    for source in ["dda.mzML", "dda_zlib.mzML", "dia_profile_negative.mzML", "dda.mgf"] {
        let run = desk.load(source);
        for index in [0, 1, 7] {
            let full = "full";
            let asked = json!({"run": run, "spectrum_index": index, "response_mode": full});
            let of_run = desk.data("load_spectrum", asked);
            let asked = json!({"source": source, "spectrum_index": index, "response_mode": full});
            let of_source = desk.data("load_spectrum", asked);
            assert_ne!(of_run["reference"], of_source["reference"]);
            for part in ["kind", "shape", "summary", "derived", "spectrum_index", "complete"] {
                assert_eq!(of_run[part], of_source[part], "{source} {index}: {part}");
            }
        }
    }
}

/// S4: opaque, at least 96 bits, each its own.
#[test]
fn s4_references_are_opaque_and_never_alike() {
    let desk = Desk::over(&fixtures());
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..50 {
        let asked = json!({"source": "dda.mgf", "spectrum_index": 0});
        let spectrum = text(&desk.data("load_spectrum", asked)["reference"]);
        let hex = spectrum.strip_prefix("ptr:spectrum:").unwrap();
        assert!(hex.len() >= 24 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')), "{spectrum}");
        assert!(seen.insert(spectrum), "twice the same");
    }
}

/// S6: the limits are refusals that say what to do, and nothing live is dropped.
#[test]
fn s6_at_the_limit_a_load_is_refused_and_what_lives_stays() {
    let desk = Desk::over(&fixtures());
    let run = desk.load("dda.mzML");
    let ask = || desk.call("load_spectrum", json!({"source": "dda.mgf", "spectrum_index": 0}));
    let refused = (0..1001).find_map(|_| Some(ask()).filter(|(_, is_error)| *is_error));
    let refused = refused.expect("1,000 is the limit");
    assert_eq!(refused.0["error"]["code"], "store_limit");
    assert!(refused.0["error"]["hint"].as_str().unwrap().contains("elease"), "{}", refused.0);
    assert_eq!(desk.error("load_run", json!({"source": "dda.mgf"}))["code"], "store_limit");
    assert_eq!(desk.live_count(), 1000);
    desk.answer("summarise_reference", json!({"reference": run}));
}
