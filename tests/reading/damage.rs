//! D1 and S6: damage is an error that names the place, or, when asked, a part that says what is missing. Never a
//! panic, never a part that passes for the whole, and nothing is left behind.

use crate::loading::{STRICT, TOLERANT, load_bytes, load_text, warning_codes};
use crate::mzml::{Spectrum, document};
use flate2::write::GzEncoder;
use mzarena::ingest::{IngestOptions, Ingested, Source, ingest};
use mzarena::observe::Unobserved;
use mzarena::store::{SpectrumStore, StoreConfig};
use mzarena::synthetic::{Compression, SyntheticRun};
use mzarena::warning::WarningCode;
use std::io::{Read, Write};

/// Four spectra, each with peaks of its own.
pub(crate) fn four() -> String {
    document(&(1..=4).map(|scan| own(scan).text()).collect::<String>())
}

/// A spectrum whose peaks are found under no other scan number.
pub(crate) fn own(scan: u8) -> Spectrum {
    let base = f64::from(scan);
    let intensity = [base as f32, 10.0 * base as f32, 0.5];
    Spectrum::new(
        &format!("scan={scan}"),
        base / 4.0,
        &[100.0 + base, 200.25 + base, 300.5 + base],
        &intensity,
    )
}

/// Points of a run, by spectrum.
pub(crate) fn points(loaded: &Ingested) -> Vec<(String, Vec<u64>, Vec<u64>)> {
    let spectra = loaded.arena.run().unwrap().spectra();
    let bits = |values: &mut dyn Iterator<Item = f64>| values.map(f64::to_bits).collect::<Vec<_>>();
    spectra
        .map(|s| {
            (s.native_id().to_owned(), bits(&mut s.mz().iter().copied()), bits(&mut s.intensity().iter()))
        })
        .collect()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// The spectra of a tolerant load are those of the sound file with these positions.
fn assert_kept(name: &str, text: &str, kept: &[usize], code: WarningCode) {
    let whole = points(&load_text(&four()));
    let failure = load_bytes(text.as_bytes(), &STRICT).err().unwrap_or_else(|| panic!("{name} was read"));
    assert_eq!(failure.code.as_str(), "damaged_source", "{name}: {}", failure.text);
    let loaded =
        load_bytes(text.as_bytes(), &TOLERANT).unwrap_or_else(|failure| panic!("{name}: {}", failure.text));
    let expected: Vec<_> = kept.iter().map(|at| whole[*at].clone()).collect();
    assert_eq!(points(&loaded), expected, "{name}");
    assert!(!loaded.is_complete() && loaded.missing[0].code == code, "{name}: {:?}", loaded.missing);
    let damaged = 4 - kept.len() as u64;
    if code == WarningCode::SkippedSpectrum {
        assert_eq!(loaded.missing[0].count, damaged, "{name}");
        assert!(loaded.missing[0].first.contains("spectrum 1"), "{name}: {}", loaded.missing[0].first);
    }
}

/// A tolerant load leaves the damaged spectrum out and goes on with the next one.
#[test]
fn damage_of_one_spectrum_costs_no_other() {
    let text = four();
    let second = own(2).text();
    let change = |from: &str, to: &str| {
        assert!(second.contains(from));
        text.replace(&second, &second.replacen(from, to, 1))
    };
    let cases = [
        ("base64", change("<binary>", "<binary>*")),
        (
            "arrays of different length",
            change(
                "</binary></binaryDataArray></binaryDataArrayList>",
                "AAAA</binary></binaryDataArray></binaryDataArrayList>",
            ),
        ),
        ("its end tag is missing", change("</spectrum>", "")),
        ("an inner end tag is missing", change("</binary>", "")),
        ("an inner end tag of another name", change("</scan>", "</scam>")),
        ("an inner start tag is missing", change("<scan>", "")),
        ("an unclosed list", change("</binaryDataArrayList>", "")),
        ("a stray end tag", change("</scanList>", "</scanList></x>")),
        ("two attributes of one name", change("id=", "id=\"a\" id=")),
        ("a length that is no number", change("ArrayLength=\"3\"", "ArrayLength=\"three\"")),
        ("an entity that is not known", change("</scanList>", "<userParam name=\"&a;\"/></scanList>")),
    ];
    for (name, text) in cases {
        assert!(text != four(), "{name} changes nothing");
        assert_kept(name, &text, &[0, 2, 3], WarningCode::SkippedSpectrum);
    }
}

/// The last spectrum has no next one to stop at: the end of the list does as well.
#[test]
fn a_last_spectrum_without_end_costs_no_other() {
    let last = own(4).text();
    let text = four().replace(&last, &last.replace("</spectrum>", ""));
    let loaded = load_bytes(text.as_bytes(), &TOLERANT).unwrap();
    assert_eq!(points(&loaded), points(&load_text(&four()))[..3]);
    assert_eq!(
        (loaded.missing.len(), loaded.missing[0].code),
        (1, WarningCode::SkippedSpectrum),
        "{:?}",
        loaded.missing
    );
}

/// Where what is left cannot be made sense of, a tolerant load keeps what came before.
#[test]
fn damage_between_spectra_ends_a_tolerant_load_there() {
    let text = four();
    let third = own(3).text();
    for (name, text) in [
        ("stray text", text.replace(&third, &format!("text{third}"))),
        ("a stray end tag", text.replace(&third, &format!("</scan>{third}"))),
        ("a tag that is none", text.replace(&third, &format!("< {third}"))),
    ] {
        assert_kept(name, &text, &[0, 1], WarningCode::Truncated);
    }
}

/// reading.md: damage after `</mzML>` is a warning; the run itself is whole.
#[test]
fn damage_after_the_run_is_a_warning() {
    let text = four();
    let indexed = |tail: &str| text.replace("<mzML", "<indexedmzML>\n<mzML") + tail;
    let whole = points(&load_text(&text));
    for (name, text) in [
        ("text", format!("{text}text")),
        ("zeros", format!("{text}\0\0\0\0")),
        ("an end tag", format!("{text}</indexedmzML>")),
        ("another root", format!("{text}{text}")),
        ("an index cut short", indexed("<indexList><index name=\"spectrum\"><offset idRef=\"sc")),
        ("the root is not closed", indexed("<indexList/>")),
        ("another end tag", indexed("<indexList></indexedmzML>")),
    ] {
        let loaded = load_text(&text);
        assert_eq!(points(&loaded), whole, "{name}");
        assert_eq!(warning_codes(&loaded), [WarningCode::DamageAfterEnd], "{name}");
        assert!(loaded.is_complete(), "{name}");
    }
}

/// Every cut of a file is an error. A tolerant load holds the first spectra and says that the rest is missing.
fn assert_cuts(name: &str, bytes: &[u8], whole_from: usize, step: usize) {
    let whole = points(&load_bytes(bytes, &STRICT).unwrap());
    let mut partly = 0;
    for cut in
        (0..bytes.len()).step_by(step).chain(whole_from.saturating_sub(2)..bytes.len().min(whole_from + 12))
    {
        let part = &bytes[..cut];
        let strict = load_bytes(part, &STRICT);
        let tolerant = load_bytes(part, &TOLERANT);
        if cut >= whole_from {
            let loaded = strict.unwrap_or_else(|failure| panic!("{name} cut at {cut}: {}", failure.text));
            assert_eq!(points(&loaded), whole, "{name} cut at {cut}");
            let is_said = warning_codes(&loaded) == [WarningCode::DamageAfterEnd];
            assert!(is_said || !name.ends_with(".gz"), "{name} cut at {cut} says nothing of its checksum");
            continue;
        }
        let failure = strict.err().unwrap_or_else(|| panic!("{name} cut at {cut} passes for whole"));
        assert!(
            ["truncated_source", "damaged_source", "unsupported_format"].contains(&failure.code.as_str())
        );
        if let Ok(loaded) = tolerant {
            assert!(!loaded.is_complete(), "{name} cut at {cut} passes for whole");
            let found = points(&loaded);
            assert_eq!(found, whole[..found.len()], "{name} cut at {cut}");
            partly += usize::from(!found.is_empty());
        }
    }
    assert!(partly > 0, "no cut of {name} kept a spectrum");
}

#[test]
fn every_cut_of_mzml_is_noticed() {
    for compression in [Compression::None, Compression::Zlib] {
        let run = SyntheticRun {
            spectrum_count: 12,
            mean_points_per_spectrum: 20,
            compression,
            ..SyntheticRun::default()
        };
        let mut text = Vec::new();
        run.write_mzml(&mut text).unwrap();
        let end = memchr::memmem::find(&text, b"</mzML>").unwrap() + b"</mzML>".len();
        assert_cuts("mzML", &text, end, 97);
    }
    // each byte of a small one
    let text = four();
    assert_cuts("small mzML", text.as_bytes(), text.trim_end().len(), 7);
}

#[test]
fn every_cut_of_gzip_is_noticed() {
    let mut text = Vec::new();
    let run = SyntheticRun { spectrum_count: 12, mean_points_per_spectrum: 20, ..SyntheticRun::default() };
    run.write_mzml(&mut text).unwrap();
    let end = memchr::memmem::find(&text, b"</mzML>").unwrap() + b"</mzML>".len();
    let packed = gzip(&text[..end]);
    // how many packed bytes give the whole run: as in a plain file, what is cut behind it is a warning
    let gives_all = |cut: usize| {
        let mut unpacked = Vec::new();
        let _ = flate2::read::GzDecoder::new(&packed[..cut]).read_to_end(&mut unpacked);
        unpacked.len() == end
    };
    let whole_from = (0..packed.len()).rev().take_while(|cut| gives_all(*cut)).last().unwrap();
    assert!(whole_from + 12 > packed.len());
    assert_cuts("mzML.gz", &packed, whole_from, 97);
}

/// Between two blocks MGF cannot be told from a shorter file; anywhere else a cut is noticed.
#[test]
fn every_cut_inside_a_block_of_mgf_is_noticed() {
    let mut text = Vec::new();
    let run = SyntheticRun { spectrum_count: 12, mean_points_per_spectrum: 20, ..SyntheticRun::default() };
    run.write_mgf(&mut text).unwrap();
    let whole = points(&load_bytes(&text, &STRICT).unwrap());
    let mut inside = 0;
    for cut in (0..text.len()).step_by(97) {
        let part = &text[..cut];
        let count = |words: &[u8]| memchr::memmem::find_iter(part, words).count();
        let (begun, ended) = (count(b"BEGIN IONS"), count(b"END IONS"));
        let is_inside = begun > ended;
        inside += usize::from(is_inside);
        match load_bytes(part, &STRICT) {
            Ok(loaded) => {
                assert!(!is_inside, "cut at {cut} passes for whole");
                assert_eq!(points(&loaded), whole[..ended]);
            }
            Err(failure) if is_inside => {
                assert_eq!(failure.code.as_str(), "truncated_source", "{}", failure.text)
            }
            Err(_) => assert_eq!(begun, 0, "cut at {cut}"),
        }
        if let Ok(loaded) = load_bytes(part, &TOLERANT) {
            assert_eq!((points(&loaded).as_slice(), loaded.is_complete()), (&whole[..ended], !is_inside));
        }
    }
    assert!(inside > 20, "only {inside} cuts were inside a block");
}

/// All members of gzip are read; what follows the last one is said, and a checksum that is wrong is an error.
#[test]
fn gzip_is_undone_whole_and_checked() {
    let text = four();
    let bytes = text.as_bytes();
    let whole = points(&load_text(&text));
    let (head, tail) = bytes.split_at(bytes.len() / 3);
    let packed = gzip(bytes);
    let read = |name: &str, bytes: &[u8], warnings: &[WarningCode]| {
        let loaded = load_bytes(bytes, &STRICT).unwrap_or_else(|failure| panic!("{name}: {}", failure.text));
        assert_eq!(
            (points(&loaded).as_slice(), warning_codes(&loaded).as_slice()),
            (whole.as_slice(), warnings),
            "{name}"
        );
        assert_eq!(loaded.source.byte_size, bytes.len() as u64, "{name}");
    };
    read("one member", &packed, &[]);
    read("two members", &[gzip(head), gzip(tail)].concat(), &[]);
    read("an empty member between", &[gzip(head), gzip(b""), gzip(tail)].concat(), &[]);
    read(
        "a member for each byte of the start",
        &[bytes[..50].chunks(1).map(gzip).collect::<Vec<_>>().concat(), gzip(&bytes[50..])].concat(),
        &[],
    );
    read("zeros behind", &[packed.clone(), vec![0; 512]].concat(), &[WarningCode::TrailingData]);
    read("text behind", &[packed.clone(), b"text".to_vec()].concat(), &[WarningCode::TrailingData]);

    let refuse = |name: &str, bytes: &[u8], code: &str| {
        let failure = load_bytes(bytes, &STRICT).err().unwrap_or_else(|| panic!("{name} was read"));
        assert_eq!(failure.code.as_str(), code, "{name}: {}", failure.text);
    };
    for at in 1..=8 {
        let mut wrong = packed.clone();
        let place = wrong.len() - at;
        wrong[place] ^= 1;
        refuse("a wrong checksum or length", &wrong, "damaged_source");
    }
    let mut second = gzip(tail);
    *second.last_mut().unwrap() ^= 1;
    refuse("the second member is damaged", &[gzip(head), second].concat(), "damaged_source");
    let mut junk = gzip(format!("{text}junk").as_bytes());
    let place = junk.len() - 5;
    junk[place] ^= 1;
    refuse("a wrong checksum behind junk", &junk, "damaged_source");
    refuse("the second member is cut", &[gzip(head), gzip(tail)[..40].to_vec()].concat(), "truncated_source");
    refuse("gzip within gzip", &gzip(&packed), "unsupported_format");
}

/// What the system says while reading is `read_failed` with the offset, never damage of the source, also tolerantly.
#[test]
fn a_failing_disk_is_not_taken_for_damage() {
    /// Gives some bytes, then an error.
    struct Failing<'b>(&'b [u8]);
    impl Read for Failing<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            match self.0.read(into)? {
                0 => Err(std::io::Error::new(std::io::ErrorKind::TimedOut, "the drive is gone")),
                count => Ok(count),
            }
        }
    }
    let text = four();
    let packed = gzip(text.as_bytes());
    for (bytes, options) in
        [(text.as_bytes(), STRICT), (text.as_bytes(), TOLERANT), (&packed, STRICT), (&packed, TOLERANT)]
    {
        for length in [0, 1, 10, bytes.len() / 2, bytes.len() - 1, bytes.len()] {
            let source = Source::from_reader("drive", Failing(&bytes[..length]), None);
            let result =
                ingest(source, &crate::loading::folder(), mzarena::arena::Unlimited, &options, &Unobserved);
            let error = result.expect_err("the read failed");
            assert_eq!(error.code().as_str(), "read_failed", "after {length}: {error}");
            let text = error.to_string();
            assert!(
                text.contains(&format!("byte {length} ")) && text.contains("the drive is gone"),
                "{text}"
            );
        }
    }
}

/// A read that is interrupted is tried again; short reads change nothing.
#[test]
fn short_and_interrupted_reads_change_nothing() {
    struct Stuttering<'b>(&'b [u8], bool);
    impl Read for Stuttering<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(std::io::ErrorKind::Interrupted.into());
            }
            let length = into.len().min(3);
            self.0.read(&mut into[..length])
        }
    }
    let text = four();
    let whole = points(&load_text(&text));
    for bytes in [text.as_bytes(), &gzip(text.as_bytes())] {
        let source = Source::from_reader("slow", Stuttering(bytes, false), None);
        let options = IngestOptions::default();
        let loaded =
            ingest(source, &crate::loading::folder(), mzarena::arena::Unlimited, &options, &Unobserved)
                .unwrap();
        assert_eq!(points(&loaded), whole);
    }
}

/// S6: what failed leaves nothing: no reference, no byte of the budget, no file.
#[test]
fn a_failed_load_leaves_the_store_as_it_was() {
    let place = tempfile::tempdir().unwrap();
    let folder = mzarena::arena::ArenaFolder::at(place.path()).unwrap();
    let store = SpectrumStore::new(StoreConfig::in_folder(folder).unwrap());
    let before = store.statistics();
    // enough sound spectra before the damage that bytes were granted
    let many: String = (0..2000).map(|_| own(1).text()).collect();
    let text = document(&(many + &own(2).text().replace("<binary>", "<binary>*")));
    let registration = store.begin_run().unwrap();
    assert_eq!(store.statistics().registering_count, 1);
    let source = Source::from_reader("damaged", text.as_bytes(), None);
    let result = ingest(source, registration.folder(), registration.budget(), &STRICT, &Unobserved);
    assert_eq!(result.unwrap_err().code().as_str(), "damaged_source");
    drop(registration);
    assert_eq!(store.statistics(), before);
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}
