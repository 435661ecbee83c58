//! A run is never held in memory: while it is loaded, only files back what it takes.

use crate::stdio::PATIENCE;
use crate::{started, write_large};
use serde_json::json;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

#[test]
fn memory_stays_flat_while_a_large_run_is_loaded() {
    const SIZE: u64 = 200_000_000;
    const MOST: u64 = 64_000_000;
    let (home, arenas) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    write_large(&home.path().join("large.mzML"), SIZE as usize);
    let mut server = started(home.path(), arenas.path());
    let before = server.read_bytes();
    server.call("load", "load_run", json!({"source": "large.mzML", "wait_seconds": 50}));
    let (mut highest, mut samples, began) = (0, 0, Instant::now());
    while server.read_bytes() < before + SIZE {
        assert!(began.elapsed() < PATIENCE * 2, "the load does not end");
        highest = highest.max(server.anonymous_bytes().unwrap());
        samples += 1;
        thread::sleep(Duration::from_millis(5));
    }
    let answer = server.answer("load");
    let run = &answer["result"]["structuredContent"]["data"];
    assert!(run["byte_size"].as_u64().unwrap() > SIZE / 2, "{answer}");
    highest = highest.max(server.anonymous_bytes().unwrap());
    assert!(samples >= 5, "{samples} samples");
    assert!(highest < MOST, "{highest} bytes of memory for a file of {SIZE}");
    server.finish(PATIENCE);
}
