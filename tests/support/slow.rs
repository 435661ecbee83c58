//! Sources that take their time: a small run with gigabytes of blanks between its spectra, which gzip makes small.

#![allow(dead_code, reason = "each test binary uses its own part")]

use crate::paper::{self, Spectrum};
use flate2::Compression;
use flate2::write::GzEncoder;
use mzarena::arena::{ArenaFolder, Unlimited};
use mzarena::ingest::{IngestOptions, Source, ingest};
use mzarena::observe::Unobserved;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Blanks of one gzip member.
const BLANKS: usize = 64 << 20;

fn member(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn blanks() -> &'static [u8] {
    static MEMBER: OnceLock<Vec<u8>> = OnceLock::new();
    MEMBER.get_or_init(|| member(&vec![b' '; BLANKS]))
}

fn spectrum(at: usize) -> String {
    let spectrum = Spectrum {
        native_id: format!("scan={}", at + 1),
        ms_level: 1,
        minutes: at as f64,
        mz: vec![100.5, 200.5],
        intensity: vec![1.0, 2.0],
        ..Spectrum::default()
    };
    paper::element(at, &spectrum)
}

/// A run of two spectra with `count` members of blanks between them; `end` follows the second.
fn with_blanks(count: usize, end: &str) -> Vec<u8> {
    let mut bytes = member((paper::head("", "", 2) + &spectrum(0)).as_bytes());
    (0..count).for_each(|_| bytes.extend_from_slice(blanks()));
    bytes.extend_from_slice(&member((spectrum(1) + end).as_bytes()));
    bytes
}

/// How long a member takes to read in this build on this machine, as busy as it is.
fn time_of_a_member() -> Duration {
    static TIME: OnceLock<Duration> = OnceLock::new();
    *TIME.get_or_init(|| {
        const TRIED: usize = 4;
        let bytes = with_blanks(TRIED, paper::TAIL);
        let folder = ArenaFolder::from_environment().unwrap();
        let began = Instant::now();
        let source = Source::from_reader("blanks", &bytes[..], None);
        ingest(source, &folder, Unlimited, &IngestOptions::default(), &Unobserved).unwrap();
        began.elapsed() / TRIED as u32
    })
}

/// Writes a sound source that takes about `seconds` to load, and not less where the machine gets busier.
pub(crate) fn write(path: &Path, seconds: f64) {
    write_ending(path, seconds, paper::TAIL);
}

/// Writes a source that takes about `seconds` to load up to what follows its last spectrum.
pub(crate) fn write_ending(path: &Path, seconds: f64, end: &str) {
    let count = (seconds / time_of_a_member().as_secs_f64()).ceil() as usize;
    fs::write(path, with_blanks(count.max(2), end)).unwrap();
}
