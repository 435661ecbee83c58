//! P01, P02, B60: the arena is a copy. What becomes of the source after the load changes nothing.

use crate::desk::{Desk, fixtures};
use crate::stdio::{PATIENCE, Server};
use crate::{data, load, started};
use mzarena::access::open_path;
use mzarena::arena::{ArenaFolder, Unlimited};
use mzarena::ingest::{IngestOptions, Source, ingest};
use mzarena::observe::Unobserved;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// What may become of a file: in words, and the deed.
type Fate = (&'static str, fn(&Path));

fn fates() -> [Fate; 4] {
    [
        ("truncated to nothing", |path| {
            fs::File::options().write(true).open(path).unwrap().set_len(0).unwrap()
        }),
        ("deleted", |path| fs::remove_file(path).unwrap()),
        ("deleted and another one in its place", |path| {
            fs::remove_file(path).unwrap();
            fs::copy(fixtures().join("dia_profile_negative.mzML"), path).unwrap();
        }),
        ("overwritten in place", |path| fs::write(path, vec![b'x'; 200_000]).unwrap()),
    ]
}

/// Every spectrum of a run, described anew from its arena.
fn facts(server: &mut Server, run: &Value, count: u64) -> Vec<Value> {
    let facts = (0..count).map(|index| {
        let found = data(
            server,
            "load_spectrum",
            json!({"run": run, "spectrum_index": index, "response_mode": "full"}),
        );
        json!([found["shape"], found["summary"], found["derived"]])
    });
    facts.collect()
}

#[test]
fn p01_p02_b60_what_becomes_of_the_source_changes_nothing() {
    for (what, fate) in fates() {
        let (home, arenas) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let path = home.path().join("a.mzML");
        fs::copy(fixtures().join("dda.mzML"), &path).unwrap();
        let mut server = started(home.path(), arenas.path());
        let loaded = load(&mut server, "a.mzML");
        let (run, count) = (&loaded["reference"], loaded["shape"]["spectrum_count"].as_u64().unwrap());
        // described for the first time after the source has changed, and compared with the untouched file
        fate(&path);
        let after = facts(&mut server, run, count);
        let desk = Desk::over(&fixtures());
        let right = desk.load("dda.mzML");
        for (index, found) in after.iter().enumerate() {
            let right = json!({"run": right, "spectrum_index": index, "response_mode": "full"});
            let right = desk.data("load_spectrum", right);
            // through text, as the found ones came
            let right: Value = serde_json::from_str(
                &json!([right["shape"], right["summary"], right["derived"]]).to_string(),
            )
            .unwrap();
            assert_eq!(*found, right, "{what}: spectrum {index}");
        }
        // a changed file is never taken for the loaded one
        let again = server.result_of("again", "load_run", json!({"source": "a.mzML"}));
        assert_ne!(again["structuredContent"]["data"]["reference"], *run, "{what}");
        server.finish(PATIENCE);
    }
}

/// The same in bits: every value of every column.
#[test]
fn p01_p02_s1_the_arena_keeps_every_bit() {
    for (what, fate) in fates() {
        let home = TempDir::new().unwrap();
        let path = home.path().join("a.mzML");
        fs::copy(fixtures().join("dda.mzML"), &path).unwrap();
        let load = |path: &Path| {
            let source = Source::from_opened(open_path(path).unwrap()).unwrap();
            let folder = ArenaFolder::from_environment().unwrap();
            ingest(source, &folder, Unlimited, &IngestOptions::default(), &Unobserved).unwrap()
        };
        let loaded = load(&path);
        fate(&path);
        let right = load(&fixtures().join("dda.mzML"));
        let (found, right) = (loaded.arena.run().unwrap(), right.arena.run().unwrap());
        assert_eq!(found.spectrum_count(), right.spectrum_count());
        for index in 0..right.spectrum_count() {
            let (found, right) = (found.spectrum(index).unwrap(), right.spectrum(index).unwrap());
            let bits = |mz: &[f64]| mz.iter().map(|mz| mz.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(found.mz()), bits(right.mz()), "{what}: spectrum {index}");
            assert_eq!(
                format!("{:?}", found.intensity()),
                format!("{:?}", right.intensity()),
                "{what}: {index}"
            );
        }
    }
}
