//! The folder of real and hostile files that several projects share. It is not part of this repository.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::io::Write;
use std::path::{Path, PathBuf};

/// Environment variable that names the folder; else it is looked for beside this repository.
const VARIABLE: &str = "MZARENA_SHARED";

/// The part `part` of the shared folder; `None`, said loudly, where it is not there.
///
/// Under `CI=true` its absence is a failure: a test that silently did nothing would prove nothing.
pub(crate) fn shared(part: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let folder = std::env::var_os(VARIABLE).map_or_else(beside, PathBuf::from).join(part);
    if folder.is_dir() {
        return Some(folder);
    }
    let is_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(!is_ci, "{} is not there; name the shared folder in {VARIABLE}", folder.display());
    skip(&format!("{} is not there; name the shared folder in {VARIABLE}", folder.display()));
    None
}

/// Says that something is not tested here, past the harness, which would swallow it.
pub(crate) fn skip(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// The JSON file `name` in `folder`.
pub(crate) fn json(folder: &Path, name: &str) -> serde_json::Value {
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}
