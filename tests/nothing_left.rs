//! S1, S11: a server killed at any moment leaves no file, a full disk is an error, what is released is unmapped, and
//! what is loaded no longer depends on its source. Real servers, with an arena folder of their own.
#![cfg(target_os = "linux")]

#[path = "support/desk.rs"]
mod desk;
#[path = "support/paper.rs"]
mod paper;
#[path = "support/shared.rs"]
mod shared;
#[path = "support/stdio.rs"]
mod stdio;

#[path = "nothing_left/full_disk.rs"]
mod full_disk;
#[path = "nothing_left/killed.rs"]
mod killed;
#[path = "nothing_left/memory.rs"]
mod memory;
#[path = "nothing_left/settings.rs"]
mod settings;
#[path = "nothing_left/sources.rs"]
mod sources;

use paper::Spectrum;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use stdio::Server;

/// The program, to serve `root` with arenas in `arenas`.
fn product(root: &Path, arenas: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mzarena"));
    command.arg("serve").arg("--root").arg(root);
    command.env_remove("MZARENA_LOG").env("MZARENA_ARENA_DIR", arenas);
    command
}

fn started(root: &Path, arenas: &Path) -> Server {
    let mut server = Server::start(&mut product(root, arenas));
    server.initialize();
    server
}

/// The data of a call that must succeed.
#[track_caller]
fn data(server: &mut Server, tool: &str, arguments: Value) -> Value {
    let result = server.result_of("call", tool, arguments);
    assert_eq!(result["isError"], false, "{result}");
    result["structuredContent"]["data"].clone()
}

/// The error of a call that must fail.
#[track_caller]
fn error(server: &mut Server, tool: &str, arguments: Value) -> Value {
    let result = server.result_of("call", tool, arguments);
    assert_eq!(result["isError"], true, "{result}");
    result["structuredContent"]["error"].clone()
}

fn load(server: &mut Server, source: &str) -> Value {
    data(server, "load_run", json!({"source": source, "wait_seconds": 50}))
}

/// Names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

/// Writes a run of about this many bytes, quickly: spectra of 10,000 points that are all alike.
fn write_large(path: &Path, bytes: usize) {
    let spectrum = Spectrum {
        native_id: "scan=NUMBER".to_owned(),
        ms_level: 1,
        minutes: 1.5,
        mz: (0..10_000).map(|at| 100.0 + f64::from(at) * 0.125).collect(),
        intensity: (0..10_000).map(|at| f64::from(at % 997) + 0.5).collect(),
        ..Spectrum::default()
    };
    let element = paper::element(0, &spectrum);
    let count = bytes / element.len() + 1;
    let mut file = BufWriter::new(File::create(path).unwrap());
    file.write_all(paper::head("", "", count).as_bytes()).unwrap();
    let (start, rest) = element.split_once("NUMBER").unwrap();
    for at in 0..count {
        write!(file, "{start}{at}{rest}").unwrap();
    }
    file.write_all(paper::TAIL.as_bytes()).unwrap();
    file.flush().unwrap();
}
