//! M3 through the tools: which files are reached, and by which names.

use crate::desk::{Desk, fixtures, text};
use mzarena::access::RootSpec;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A root with a run, and beside it, outside, another.
fn rooms() -> (TempDir, std::path::PathBuf) {
    let home = TempDir::new().unwrap();
    let root = home.path().join("root");
    for folder in [root.join("QC"), home.path().join("outside")] {
        fs::create_dir_all(&folder).unwrap();
        fs::copy(fixtures().join("dda.mgf"), folder.join("run.mgf")).unwrap();
    }
    (home, root)
}

/// What an error says, but for the name that was asked for.
fn words(error: &Value, name: &str) -> Value {
    let asked = Path::new(name).file_name().map_or(name.into(), |base| base.to_string_lossy());
    let plain = |text: &str| text.replace(name, "NAME").replace(&*asked, "NAME");
    json!([error["code"], plain(error["message"].as_str().unwrap()), error["hint"], error["retry_with"]])
}

/// M3: outside is refused in the words for what does not exist, by both tools, whether or not it exists.
#[test]
fn m3_outside_and_missing_are_the_same_words() {
    let (home, root) = rooms();
    let desk = Desk::over(&root);
    let outside = home.path().join("outside/run.mgf").to_string_lossy().into_owned();
    let absent = home.path().join("outside/no.mgf").to_string_lossy().into_owned();
    let names = [
        "../outside/run.mgf",
        "../outside/no.mgf",
        "QC/../../outside/run.mgf",
        outside.as_str(),
        absent.as_str(),
        "/etc/passwd",
        "/etc/no-such-file",
        "/proc/self/environ",
        "~/run.mgf",
        "file:///etc/passwd",
        "no.mgf",
        "QC/no.mgf",
        "no/run.mgf",
    ];
    let expected = words(&desk.error("load_run", json!({"source": "no.mgf"})), "no.mgf");
    for name in names {
        for (tool, arguments) in [
            ("load_run", json!({"source": name})),
            ("load_spectrum", json!({"source": name, "spectrum_index": 0})),
        ] {
            let error = desk.error(tool, arguments);
            assert_eq!(error["code"], "not_found", "{name}: {error}");
            assert_eq!(error["argument"], "source");
            assert_eq!(words(&error, name), expected, "{name}");
            assert!(!error.to_string().contains(&*home.path().to_string_lossy()), "a machine path: {error}");
        }
    }
}

/// M3: links are followed as far as the root, and no further.
#[cfg(unix)]
#[test]
fn m3_links_lead_nowhere_outside() {
    use std::os::unix::fs::symlink;
    let (home, root) = rooms();
    symlink(home.path().join("outside/run.mgf"), root.join("absolute.mgf")).unwrap();
    symlink("../outside/run.mgf", root.join("relative.mgf")).unwrap();
    symlink("../outside", root.join("folder")).unwrap();
    symlink("loop.mgf", root.join("loop.mgf")).unwrap();
    symlink("gone.mgf", root.join("dangling.mgf")).unwrap();
    symlink("QC/run.mgf", root.join("inside.mgf")).unwrap();
    symlink(root.join("QC/run.mgf"), root.join("inside_absolute.mgf")).unwrap();
    let desk = Desk::over(&root);
    for name in ["absolute.mgf", "relative.mgf", "folder/run.mgf", "loop.mgf", "dangling.mgf"] {
        assert_eq!(desk.error("load_run", json!({"source": name}))["code"], "not_found", "{name}");
    }
    for name in ["inside.mgf", "inside_absolute.mgf", "QC/run.mgf", "./QC//run.mgf"] {
        desk.load(name);
    }
    let listed = desk.data("list_sources", json!({}));
    let names: Vec<_> = listed["rows"].as_array().unwrap().iter().map(|row| text(&row[0])).collect();
    assert_eq!(names, ["QC/run.mgf", "inside.mgf", "inside_absolute.mgf"]);
}

/// M3: an absolute path inside a root is taken, and echoed relative to it.
#[test]
fn m3_an_absolute_path_inside_is_echoed_relative() {
    let (_home, root) = rooms();
    let desk = Desk::over(&root);
    let absolute = root.join("QC/run.mgf").to_string_lossy().into_owned();
    let run = desk.data("load_run", json!({"source": absolute, "response_mode": "full"}));
    assert_eq!(run["provenance"]["sources"][0]["source"], "QC/run.mgf");
    assert!(!run.to_string().contains(&*root.to_string_lossy()));
    let again = desk.data("load_run", json!({"source": "QC/run.mgf"}));
    assert_eq!((&again["reused"], &again["reference"]), (&json!(true), &run["reference"]));
    let spectrum = desk.data("load_spectrum", json!({"source": absolute, "spectrum_index": 0}));
    assert_eq!(spectrum["provenance"]["sources"][0]["source"], "QC/run.mgf");
}

/// Several roots: names have labels, and a name that two roots have is a question back.
#[test]
fn m3_a_name_in_two_roots_is_ambiguous_with_candidates() {
    let (home, root) = rooms();
    let specs = [("qc", root.join("QC")), ("old", home.path().join("outside"))];
    let specs = specs.map(|(label, folder)| RootSpec { label: Some(label.to_owned()), folder });
    let desk = Desk::with_roots(specs);
    let error = desk.error("load_run", json!({"source": "run.mgf"}));
    assert_eq!((&error["code"], &error["argument"]), (&json!("ambiguous_source"), &json!("source")));
    assert_eq!(error["candidates"], json!(["qc:run.mgf", "old:run.mgf"]));
    for name in error["candidates"].as_array().unwrap() {
        let run = desk.data("load_run", json!({"source": name}));
        assert_eq!(run["provenance"]["sources"][0]["source"], *name);
    }
    let listed = desk.data("list_sources", json!({}));
    assert_eq!(listed["roots"], json!(["qc", "old"]));
    assert_eq!(listed["rows"].as_array().unwrap().len(), 2);
    let absolute = home.path().join("outside/run.mgf").to_string_lossy().into_owned();
    let run = desk.data("load_run", json!({"source": absolute}));
    assert_eq!(run["provenance"]["sources"][0]["source"], "old:run.mgf");
}

/// M7: twelve candidates are shown as ten.
#[test]
fn m7_candidates_are_at_most_ten() {
    let home = TempDir::new().unwrap();
    let roots = (0..12).map(|at| {
        let folder = home.path().join(format!("root{at}"));
        fs::create_dir(&folder).unwrap();
        fs::copy(fixtures().join("dda.mgf"), folder.join("run.mgf")).unwrap();
        RootSpec { label: None, folder }
    });
    let desk = Desk::with_roots(roots.collect::<Vec<_>>());
    let error = desk.error("load_run", json!({"source": "run.mgf"}));
    assert_eq!(error["candidates"].as_array().unwrap().len(), 10);
    assert!(error["message"].as_str().unwrap().contains("12"), "{error}");
}

/// M3: what is no regular file is refused before a byte is read.
#[cfg(unix)]
#[test]
fn m3_b55_folders_pipes_and_large_files_are_refused_at_the_door() {
    let (_home, root) = rooms();
    fs::create_dir(root.join("folder.mzML")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(root.join("pipe.mzML")).status();
    let limits = mzarena::access::AccessLimits { max_source_bytes: 1 << 20 };
    let sparse = fs::File::create(root.join("sparse.mzML")).unwrap();
    sparse.set_len(5_000_000_000).unwrap();
    let clock = std::sync::Arc::new(mzarena::store::ManualClock::default());
    let desk = Desk::over(&root);
    assert_eq!(desk.error("load_run", json!({"source": "folder.mzML"}))["code"], "not_a_regular_file");
    if made.is_ok_and(|status| status.success()) {
        assert_eq!(desk.error("load_run", json!({"source": "pipe.mzML"}))["code"], "not_a_regular_file");
    }
    assert_eq!(desk.error("load_run", json!({"source": "sparse.mzML"}))["code"], "unsupported_format");
    let roots =
        mzarena::access::Roots::new([RootSpec { label: None, folder: root }]).unwrap().with_limits(limits);
    let folder = mzarena::arena::ArenaFolder::from_environment().unwrap();
    let config =
        mzarena::store::StoreConfig { clock, ..mzarena::store::StoreConfig::in_folder(folder).unwrap() };
    let store = mzarena::store::SpectrumStore::new(config);
    let small = mzarena::tools::Context::new(mzarena::tools::ContextOptions { store, roots });
    let desk = Desk { context: small, clock: std::sync::Arc::default() };
    let error = desk.error("load_run", json!({"source": "sparse.mzML"}));
    assert_eq!((&error["code"], &error["argument"]), (&json!("source_too_large"), &json!("source")));
    assert_eq!(desk.data("get_capabilities", json!({"topic": "limits"}))["max_source_bytes"], 1 << 20);
}

/// M2: nothing that a tool does leaves a trace in the user's folder.
#[test]
fn m2_the_users_folder_is_as_it_was() {
    let (_home, root) = rooms();
    fs::write(root.join("broken.mzML"), &fs::read(fixtures().join("dda.mzML")).unwrap()[..20_000]).unwrap();
    let look = || {
        let mut found: Vec<_> = ["QC/run.mgf", "broken.mzML"]
            .map(|name| {
                (
                    fs::read(root.join(name)).unwrap(),
                    fs::metadata(root.join(name)).unwrap().modified().unwrap(),
                )
            })
            .into();
        let count = fs::read_dir(&root).unwrap().count() + fs::read_dir(root.join("QC")).unwrap().count();
        found.push((vec![count as u8], std::time::SystemTime::UNIX_EPOCH));
        found
    };
    let before = look();
    let desk = Desk::over(&root);
    let run = desk.load("QC/run.mgf");
    desk.error("load_run", json!({"source": "broken.mzML"}));
    desk.answer("load_run", json!({"source": "broken.mzML", "tolerant": true}));
    desk.answer("load_spectrum", json!({"source": "QC/run.mgf", "spectrum_index": 2}));
    for (tool, arguments) in [
        ("list_sources", json!({})),
        ("summarise_reference", json!({"reference": run})),
        ("list_references", json!({})),
        ("release_reference", json!({"reference": run})),
        ("get_capabilities", json!({})),
    ] {
        desk.answer(tool, arguments);
    }
    assert_eq!(look(), before);
}
