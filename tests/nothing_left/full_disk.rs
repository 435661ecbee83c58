//! S11: a full disk is an error. The disk is a small one in memory, in a mount namespace of its own, so that it goes
//! with the server and the machine never sees it.

use crate::stdio::{PATIENCE, Server};
use crate::{data, error, load, product, write_large};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// How to get a mount namespace here; `None`, said aloud, where the system does not give one.
fn namespace(folder: &Path) -> Option<Vec<&'static str>> {
    let mount = format!("mount -t tmpfs -o size=1m tmpfs '{}'", folder.display());
    // as root, else as the root of a user namespace
    for options in [vec!["-m"], vec!["-r", "-m"]] {
        let mut command = Command::new("unshare");
        command.args(&options).args(["sh", "-c", &mount]).stderr(Stdio::null());
        if command.status().is_ok_and(|status| status.success()) {
            return Some(options);
        }
    }
    crate::shared::skip("this system lets no test mount a small disk");
    None
}

/// The command `inner`, with a tmpfs over `folder` that only it sees.
pub(crate) fn on_small_disk(inner: &Command, folder: &Path, mount: &str) -> Option<Command> {
    let options = namespace(folder)?;
    let mut command = Command::new("unshare");
    command.args(options).args([
        "sh",
        "-c",
        &format!("mount -t tmpfs -o {mount} tmpfs \"$0\" && exec \"$@\""),
    ]);
    command.arg(folder).arg(inner.get_program()).args(inner.get_args());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    Some(command)
}

/// The small disk, seen from here.
fn seen(server: &Server, folder: &Path) -> PathBuf {
    PathBuf::from(format!("/proc/{}/root", server.id())).join(folder.strip_prefix("/").unwrap())
}

/// Nothing has a name there, and nothing takes space.
fn is_empty(folder: &Path) -> bool {
    let facts = rustix::fs::statvfs(folder).unwrap();
    crate::names(folder).is_empty() && facts.f_bfree == facts.f_blocks
}

/// P03, B61: the load fails with an error, the server lives on, and the disk is empty again.
#[test]
fn s11_p03_b61_a_full_disk_is_an_error_and_leaves_nothing() {
    let (home, arenas) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    write_large(&home.path().join("large.mzML"), 8_000_000);
    std::fs::copy(crate::desk::fixtures().join("dda.mgf"), home.path().join("small.mgf")).unwrap();
    let mut inner = product(home.path(), arenas.path());
    // more than the disk holds, so that the disk and not the store refuses
    inner.env("MZARENA_MAX_TOTAL_BYTES", "1000000000");
    let Some(mut command) = on_small_disk(&inner, arenas.path(), "size=1m") else { return };
    let mut server = Server::start(&mut command);
    server.initialize();
    let disk = seen(&server, arenas.path());
    assert!(is_empty(&disk) && disk.canonicalize().is_ok());
    for _ in 0..3 {
        let refusal = error(&mut server, "load_run", json!({"source": "large.mzML"}));
        assert_eq!(refusal["code"], "storage_full", "{refusal}");
        assert!(refusal["hint"].as_str().unwrap().contains("MZARENA_ARENA_DIR"), "{refusal}");
        assert!(is_empty(&disk), "something is left: {:?}", crate::names(&disk));
    }
    // what fits is served, also while the disk is full again
    let run = load(&mut server, "small.mgf")["reference"].take();
    error(&mut server, "load_run", json!({"source": "large.mzML", "tolerant": true}));
    let spectrum = data(&mut server, "load_spectrum", json!({"run": run, "spectrum_index": 1}));
    assert!(spectrum["derived"]["base_peak_mz"].is_number(), "{spectrum}");
    data(&mut server, "release_reference", json!({"reference": run}));
    assert!(is_empty(&disk));
    server.finish(PATIENCE);
}

/// S6: by default the store refuses before the disk is full, by 80 % of the space that was free.
#[test]
fn s6_by_default_the_store_refuses_before_the_disk_does() {
    let (home, arenas) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    write_large(&home.path().join("large.mzML"), 8_000_000);
    let inner = product(home.path(), arenas.path());
    let Some(mut command) = on_small_disk(&inner, arenas.path(), "size=1m") else { return };
    let mut server = Server::start(&mut command);
    server.initialize();
    let limits = data(&mut server, "get_capabilities", json!({"topic": "limits"}));
    let limit = limits["store"]["total_bytes"].as_u64().unwrap();
    assert!((700_000..=840_000).contains(&limit), "{limit} of 1 MiB");
    let refusal = error(&mut server, "load_run", json!({"source": "large.mzML"}));
    assert_eq!(refusal["code"], "store_limit", "{refusal}");
    assert!(is_empty(&seen(&server, arenas.path())));
    server.finish(PATIENCE);
}
