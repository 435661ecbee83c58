//! S1 and S9: the source while and after it is read: digests, changes under the reader, progress, cancellation.

use crate::damage::{four, gzip, points};
use crate::loading::{STRICT, TOLERANT, folder, load_path, load_text};
use crate::shared::shared;
use mzarena::access::open_path;
use mzarena::arena::Unlimited;
use mzarena::ingest::{DigestKind, IngestError, IngestOptions, Ingested, Source, ingest};
use mzarena::observe::{Observer, Unobserved};
use mzarena::synthetic::SyntheticRun;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

fn load_observed(path: &Path, observer: &dyn Observer) -> Result<Ingested, IngestError> {
    let source = Source::from_opened(open_path(path).unwrap())?;
    ingest(source, &folder(), Unlimited, &IngestOptions::default(), observer)
}

/// A file of more than one read (256 KiB), so that something can happen in between.
fn large(place: &Path) -> std::path::PathBuf {
    let path = place.join("large.mzML");
    let run = SyntheticRun { spectrum_count: 400, mean_points_per_spectrum: 200, ..SyntheticRun::default() };
    run.write_mzml(&mut File::create(&path).unwrap()).unwrap();
    assert!(path.metadata().unwrap().len() > 4 * 256 * 1024);
    path
}

/// S9: SHA-256 of every byte, as the repository of the files publishes it.
#[test]
fn sha256_digests_are_the_published_ones() {
    let Some(data) = shared("data") else { return };
    let manifest = std::fs::read_to_string(data.join("MANIFEST.md")).unwrap();
    let options = IngestOptions { tolerant: true, digest: DigestKind::Sha256 };
    let mut compared = 0;
    for line in manifest.lines().filter(|line| line.starts_with("| ")) {
        let columns: Vec<_> = line.split('|').map(str::trim).collect();
        let Some(digest) = columns.get(6).filter(|text| text.len() == 64) else { continue };
        let path = data.join(columns[1]);
        if let Ok(loaded) = load_path(&path, &options) {
            assert_eq!(loaded.source.digest.as_deref(), Some(&*format!("sha256:{digest}")), "{}", columns[1]);
            assert_eq!(loaded.source.byte_size, path.metadata().unwrap().len());
            assert_eq!(loaded.source.digest_reason, None);
            compared += 1;
        }
    }
    assert!(compared >= 55, "only {compared} digests were compared");
}

/// S9: BLAKE3 of every byte, also of bytes that no reader looks at.
#[test]
fn digests_cover_every_byte_whatever_is_read_of_it() {
    let place = tempfile::tempdir().unwrap();
    let text = four();
    let cut = text.len() - 300;
    let cases = [
        ("run.mzML", text.clone().into_bytes(), "mzML"),
        ("tail.mzML", format!("{text}junk{}", "x".repeat(600_000)).into_bytes(), "mzML"),
        ("run.mzML.gz", gzip(text.as_bytes()), "mzML"),
        ("trailing.mzML.gz", [gzip(text.as_bytes()), vec![0; 600_000]].concat(), "mzML"),
        ("cut.mzML", text.as_bytes()[..cut].to_vec(), "mzML"),
        ("run.mgf", b"BEGIN IONS\n1 2\nEND IONS\n\n\n".to_vec(), "MGF"),
    ];
    for (name, bytes, format) in cases {
        let path = place.path().join(name);
        std::fs::write(&path, &bytes).unwrap();
        let loaded = load_path(&path, &TOLERANT).unwrap();
        let expected = format!("blake3:{}", blake3::hash(&bytes).to_hex());
        assert_eq!(loaded.source.digest.as_deref(), Some(&*expected), "{name}");
        assert_eq!((loaded.source.source.as_str(), loaded.source.format.as_str()), (name, format));
        assert_eq!(loaded.source.byte_size, bytes.len() as u64);
        assert!(loaded.source.reader.starts_with("mzarena-"), "{}", loaded.source.reader);
    }
}

/// S1, procedures P01 and P02: the arena is a copy. The source may shrink, change or go afterwards.
#[test]
fn what_happens_to_the_source_later_changes_nothing() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("run.mzML");
    std::fs::write(&path, four()).unwrap();
    let loaded = load_path(&path, &STRICT).unwrap();
    let before = points(&loaded);
    OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
    assert_eq!(points(&loaded), before);
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "something else").unwrap();
    assert_eq!(points(&loaded), before);
    assert_eq!(points(&load_text(&four())), before);
}

/// Does something to the file once, when the first bytes have been read.
struct Meddler<'p> {
    path: &'p Path,
    meddle: fn(&File),
    has_run: Mutex<bool>,
}

impl Observer for Meddler<'_> {
    fn progress(&self, _done: u64, _total: Option<u64>) {
        let mut has_run = self.has_run.lock().unwrap();
        if !std::mem::replace(&mut *has_run, true) {
            (self.meddle)(&OpenOptions::new().read(true).write(true).open(self.path).unwrap());
        }
    }
}

/// S9: a source that somebody writes to while it is read is refused: the digest would be that of no file.
#[test]
#[cfg(unix)]
fn a_source_that_changes_while_it_is_read_is_refused() {
    use std::os::unix::fs::FileExt;
    type Meddling = fn(&File);
    let meddlings: &[(&str, Meddling)] = &[
        ("grows", |file| file.write_all_at(b"<!-- more -->", file.metadata().unwrap().len()).unwrap()),
        ("shrinks", |file| file.set_len(file.metadata().unwrap().len() - 10).unwrap()),
        ("is overwritten in place", |file| {
            file.write_all_at(b"<?XML", 0).unwrap();
            file.set_modified(SystemTime::now() + Duration::from_secs(5)).unwrap();
        }),
        ("is touched", |file| file.set_modified(SystemTime::UNIX_EPOCH).unwrap()),
    ];
    for (name, meddle) in meddlings {
        let place = tempfile::tempdir().unwrap();
        let path = large(place.path());
        let observer = Meddler { path: &path, meddle: *meddle, has_run: Mutex::new(false) };
        let error =
            load_observed(&path, &observer).err().unwrap_or_else(|| panic!("the file {name} and was read"));
        // a file that is cut under the reader is also found to end early
        let is_cut = *name == "shrinks" && error.code().as_str() == "truncated_source";
        assert!(error.code().as_str() == "source_changed" || is_cut, "{name}: {error}");
        assert!(error.to_string().contains("large.mzML"), "{error}");
    }
    // and nobody meddling, nothing is refused
    let place = tempfile::tempdir().unwrap();
    let path = large(place.path());
    let observer = Meddler { path: &path, meddle: |_| {}, has_run: Mutex::new(false) };
    assert!(load_observed(&path, &observer).is_ok());
}

/// Replacing the file by another one of the same name is no change of the file that is open.
#[test]
fn a_renamed_source_is_still_the_one_that_was_opened() {
    let place = tempfile::tempdir().unwrap();
    let path = large(place.path());
    let opened = open_path(&path).unwrap();
    std::fs::write(place.path().join("other"), "other").unwrap();
    let expected = points(&load_path(&path, &STRICT).unwrap());
    std::fs::rename(place.path().join("other"), &path).unwrap();
    let source = Source::from_opened(opened).unwrap();
    match ingest(source, &folder(), Unlimited, &STRICT, &Unobserved) {
        Ok(loaded) => assert_eq!(points(&loaded), expected),
        // taking the name away is a change of the file's attributes
        Err(error) => assert_eq!(error.code().as_str(), "source_changed"),
    }
}

/// Counts, and cancels after a number of questions.
#[derive(Default)]
struct Watcher {
    asked: AtomicUsize,
    cancel_after: Option<usize>,
    seen: Mutex<Vec<(u64, Option<u64>)>>,
}

impl Observer for Watcher {
    fn progress(&self, done: u64, total: Option<u64>) {
        self.seen.lock().unwrap().push((done, total));
    }

    fn is_cancelled(&self) -> bool {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        self.cancel_after.is_some_and(|limit| asked >= limit)
    }
}

#[test]
fn progress_grows_to_the_size_of_the_file() {
    let place = tempfile::tempdir().unwrap();
    let path = large(place.path());
    let size = path.metadata().unwrap().len();
    let watcher = Watcher::default();
    load_observed(&path, &watcher).unwrap();
    let seen = watcher.seen.into_inner().unwrap();
    assert!(seen.len() > 4 && seen.is_sorted(), "{seen:?}");
    assert!(seen.iter().all(|(done, total)| *done <= size && *total == Some(size)), "{seen:?}");
    assert_eq!(seen.last().unwrap().0, size);
    // asked at least once for each spectrum and each read
    assert!(watcher.asked.into_inner() >= 400 + seen.len());
}

/// Whenever it comes, cancelling ends the load as `cancelled` and leaves nothing.
#[test]
fn a_load_can_be_cancelled_at_any_time() {
    let place = tempfile::tempdir().unwrap();
    let path = large(place.path());
    let packed = place.path().join("large.mzML.gz");
    std::fs::write(&packed, gzip(&std::fs::read(&path).unwrap())).unwrap();
    for path in [&path, &packed] {
        let total = {
            let watcher = Watcher::default();
            load_observed(path, &watcher).unwrap();
            watcher.asked.into_inner()
        };
        for limit in [0, 1, 2, 5, total / 2, total - 1] {
            let arenas = tempfile::tempdir().unwrap();
            let folder = mzarena::arena::ArenaFolder::at(arenas.path()).unwrap();
            let watcher = Watcher { cancel_after: Some(limit), ..Watcher::default() };
            let source = Source::from_opened(open_path(path).unwrap()).unwrap();
            let error = ingest(source, &folder, Unlimited, &TOLERANT, &watcher).expect_err("cancelled");
            assert_eq!(error.code().as_str(), "cancelled", "after {limit} of {total}: {error}");
            assert_eq!(std::fs::read_dir(arenas.path()).unwrap().count(), 0);
        }
    }
}

/// A pipe of unknown length, or standard input, is a source like any other; its size is what was read.
#[test]
fn sources_need_no_file() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let text = four();
    let length = text.len() as u64;
    let feeder = std::thread::spawn(move || writer.write_all(text.as_bytes()).unwrap());
    let source = Source::from_reader("standard input", reader, None);
    let loaded = ingest(source, &folder(), Unlimited, &STRICT, &Unobserved).unwrap();
    feeder.join().unwrap();
    assert_eq!((loaded.source.byte_size, loaded.arena.totals().spectrum_count), (length, 4));
}
