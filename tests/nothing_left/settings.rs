//! P09, B62: what cannot work is refused at the start, by name, in plain words.

use super::full_disk::on_small_disk;
use crate::desk::fixtures;
use crate::product;
use crate::stdio::{PATIENCE, Server};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Starts a server that must not start; gives what it says.
fn refusal(command: &mut Command) -> String {
    let mut server = Server::start(command);
    let (status, _) = server.wait(PATIENCE);
    let said = server.stderr();
    assert!(status.code().is_some_and(|code| code != 0), "{status}: {said}");
    assert!(!said.contains("panicked") && !said.contains("RUST_BACKTRACE"), "no plain error: {said}");
    assert_eq!(server.rest(), Vec::<Value>::new(), "standard output is the protocol's");
    assert!(said.lines().count() <= 4, "{said}");
    said
}

#[test]
fn p09_b62_an_unusable_arena_folder_is_named_with_the_setting() {
    let home = TempDir::new().unwrap();
    let file = home.path().join("a_file");
    std::fs::write(&file, "x").unwrap();
    for folder in [home.path().join("missing"), file] {
        for variable in ["MZARENA_ARENA_DIR", "TMPDIR"] {
            let mut command = product(&fixtures(), Path::new(""));
            command.env_remove("MZARENA_ARENA_DIR").env(variable, &folder);
            let said = refusal(&mut command);
            assert!(said.contains(&*folder.to_string_lossy()), "{variable}: {said}");
            assert!(said.contains("MZARENA_ARENA_DIR"), "{variable}, the way out: {said}");
        }
    }
}

#[test]
fn p09_b62_a_read_only_arena_folder_is_named() {
    let arenas = TempDir::new().unwrap();
    let inner = product(&fixtures(), arenas.path());
    let Some(mut command) = on_small_disk(&inner, arenas.path(), "ro") else { return };
    let said = refusal(&mut command);
    assert!(said.contains(&*arenas.path().to_string_lossy()), "{said}");
}

/// Environment of section S: wrong values are refused at start, by name and value.
#[test]
fn wrong_settings_are_refused_by_name() {
    let arenas = TempDir::new().unwrap();
    for (variable, value) in [
        ("MZARENA_MAX_REFERENCES", "0"),
        ("MZARENA_MAX_REFERENCES", "ten"),
        ("MZARENA_MAX_TOTAL_BYTES", "-1"),
        ("MZARENA_MAX_TOTAL_BYTES", "64GiB"),
        ("MZARENA_REFERENCE_TTL_SECONDS", "1h"),
        ("MZARENA_REFERENCE_TTL_SECONDS", ""),
        ("MZARENA_MAX_SOURCE_BYTES", "0"),
        ("MZARENA_MAX_SOURCE_BYTES", "much"),
    ] {
        let mut command = product(&fixtures(), arenas.path());
        command.env(variable, value);
        let said = refusal(&mut command);
        assert!(said.contains(variable) && said.contains(value), "{variable}={value}: {said}");
    }
}

/// Right values are used, and 0 means that references never expire.
#[test]
fn settings_are_used_and_told() {
    let arenas = TempDir::new().unwrap();
    let mut command = product(&fixtures(), arenas.path());
    command.env("MZARENA_MAX_REFERENCES", "2").env("MZARENA_MAX_TOTAL_BYTES", "12345678");
    command.env("MZARENA_REFERENCE_TTL_SECONDS", "0").env("MZARENA_MAX_SOURCE_BYTES", "50000");
    let mut server = Server::start(&mut command);
    server.initialize();
    let limits = crate::data(&mut server, "get_capabilities", serde_json::json!({"topic": "limits"}));
    let expected = serde_json::json!({"references": 2, "total_bytes": 12_345_678, "time_to_live_seconds": 0});
    assert_eq!(limits["store"], expected);
    assert_eq!(limits["max_source_bytes"], 50_000);
    assert_eq!(crate::load(&mut server, "dda.mgf")["expires_at"], Value::Null);
    let large = crate::error(&mut server, "load_run", serde_json::json!({"source": "dda.mzML"}));
    assert_eq!(large["code"], "source_too_large", "{large}");
    server.finish(PATIENCE);
}

#[test]
fn an_unusable_root_is_named() {
    let arenas = TempDir::new().unwrap();
    let said = refusal(&mut product(Path::new("no/such/folder"), arenas.path()));
    assert!(said.contains("no/such/folder"), "{said}");
}
