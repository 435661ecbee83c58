//! S11: SIGKILL at any moment.

use crate::desk::fixtures;
use crate::stdio::PATIENCE;
use crate::{data, load, names, started, write_large};
use serde_json::json;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Numbers without a pattern, the same in each run.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// P04, B63: killed while it loads, at moments from before the first byte to after the last.
#[test]
fn s11_b63_a_server_killed_while_it_loads_leaves_no_file() {
    let (home, arenas) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    write_large(&home.path().join("a.mzML"), 20_000_000);
    let (mut state, mut in_the_middle) = (1, 0);
    for kill in 0..24 {
        let mut server = started(home.path(), arenas.path());
        server.call("load", "load_run", json!({"source": "a.mzML"}));
        if kill % 2 == 0 {
            // every other one in the middle for sure: once the unnamed file is there
            let began = Instant::now();
            while server.unnamed_files(arenas.path()).0 == 0 {
                assert!(began.elapsed() < PATIENCE, "no arena; stderr: {}", server.stderr());
            }
            thread::sleep(Duration::from_millis(random(&mut state) % 20));
        } else {
            thread::sleep(Duration::from_millis(random(&mut state) % 150));
        }
        in_the_middle += usize::from(server.unnamed_files(arenas.path()).0 > 0);
        server.kill();
        assert_eq!(names(arenas.path()), [""; 0], "after kill {kill}");
    }
    assert!(in_the_middle >= 6, "{in_the_middle} of 24 were killed while an arena was written");
}

/// P04: killed with three arenas mapped.
#[test]
fn s11_p04_a_server_killed_with_arenas_leaves_no_file() {
    let arenas = TempDir::new().unwrap();
    let mut server = started(&fixtures(), arenas.path());
    for source in ["dda.mzML", "dda.mgf", "dia_profile_negative.mzML"] {
        load(&mut server, source);
    }
    assert_eq!(server.unnamed_files(arenas.path()), (0, 3), "S1: mapped, and no descriptor is left");
    assert_eq!(names(arenas.path()), [""; 0], "S1: arenas have no names");
    server.kill();
    assert_eq!(names(arenas.path()), [""; 0]);
}

/// S7 in a real process: the mapping is gone when the answer of `release_reference` is there, and with it the bytes.
#[test]
fn s7_a_released_run_is_unmapped() {
    let arenas = TempDir::new().unwrap();
    let mut server = started(&fixtures(), arenas.path());
    let maps = |server: &crate::stdio::Server| server.unnamed_files(arenas.path()).1;
    let run = load(&mut server, "dda.mzML")["reference"].take();
    let slice = data(&mut server, "load_spectrum", json!({"run": run, "spectrum_index": 3}));
    assert_eq!(maps(&server), 1, "S8: a slice shares the arena of its run");
    let alone = data(&mut server, "load_spectrum", json!({"source": "dda.mzML", "spectrum_index": 3}));
    assert_eq!(maps(&server), 2);
    let released = data(&mut server, "release_reference", json!({"reference": run}));
    assert_eq!((&released["released"], &released["bytes_pending"]), (&json!(true), &json!(0)));
    assert_eq!(maps(&server), 1);
    let again = data(&mut server, "release_reference", json!({"reference": slice["reference"]}));
    assert_eq!(again["released"], false, "it went with its run");
    data(&mut server, "release_reference", json!({"reference": alone["reference"]}));
    assert_eq!(maps(&server), 0);
    server.finish(PATIENCE);
    assert_eq!(names(arenas.path()), [""; 0]);
}

/// A load that fails or is cancelled keeps neither descriptor nor mapping.
#[test]
fn s6_what_failed_leaves_no_descriptor_and_no_mapping() {
    let (home, arenas) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    write_large(&home.path().join("a.mzML"), 3_000_000);
    let text = std::fs::read(home.path().join("a.mzML")).unwrap();
    std::fs::write(home.path().join("cut.mzML"), &text[..2_000_000]).unwrap();
    std::fs::write(home.path().join("none.mzML"), "<html>").unwrap();
    let mut server = started(home.path(), arenas.path());
    for _ in 0..5 {
        for source in ["cut.mzML", "none.mzML", "absent.mzML"] {
            crate::error(&mut server, "load_run", json!({"source": source}));
            assert_eq!(server.unnamed_files(arenas.path()), (0, 0), "{source}");
        }
        let run = data(&mut server, "load_run", json!({"source": "cut.mzML", "tolerant": true}));
        assert_eq!(server.unnamed_files(arenas.path()), (0, 1));
        data(&mut server, "release_reference", json!({"reference": run["reference"]}));
    }
    server.finish(PATIENCE);
}
