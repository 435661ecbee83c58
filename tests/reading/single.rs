//! One spectrum out of a source, read no further than needed.

use crate::damage::{four, gzip, own};
use crate::loading::load_text;
use crate::mzml::{MINUTE, SECOND, Spectrum, cv, cv_unit, document, scan};
use mzarena::arena::IntensityRef;
use mzarena::ingest::{
    DigestKind, IngestError, IngestedSpectrum, Source, SpectrumSelector, Values, ingest_spectrum,
};
use mzarena::observe::Unobserved;
use mzarena::spectrum::MsLevel;
use mzarena::synthetic::SyntheticRun;
use mzarena::units::Minutes;
use std::cell::Cell;
use std::io::Read;

use SpectrumSelector::{Index, NativeId, ScanNumber, Time};

fn pick(bytes: &[u8], selector: &SpectrumSelector) -> Result<IngestedSpectrum, IngestError> {
    let source = Source::from_reader("inline", bytes, Some(bytes.len() as u64));
    ingest_spectrum(source, selector, DigestKind::Blake3, &Unobserved)
}

fn at_time(minutes: f64, level: Option<u8>) -> SpectrumSelector {
    Time(Minutes(minutes), level.and_then(MsLevel::new))
}

#[test]
fn spectra_are_found_by_each_selector() {
    let text = four();
    let run = load_text(&text);
    let run = run.arena.run().unwrap();
    // times are 0.25, 0.5, 0.75 and 1 minutes
    let cases = [
        (Index(0), 0),
        (Index(3), 3),
        (NativeId("scan=2".to_owned()), 1),
        (ScanNumber(3), 2),
        (at_time(0.5, None), 1),
        (at_time(0.6, None), 1),
        (at_time(0.65, None), 2),
        (at_time(-7.0, None), 0),
        (at_time(99.0, None), 3),
        (at_time(0.625, None), 1),
    ];
    for (selector, expected) in cases {
        for bytes in [text.clone().into_bytes(), gzip(text.as_bytes())] {
            let found = pick(&bytes, &selector).unwrap();
            assert_eq!(found.spectrum_index, expected, "{selector}");
            let spectrum = run.spectrum(expected as u32).unwrap();
            assert_eq!(found.spectrum.description.native_id, spectrum.native_id());
            assert_eq!(found.spectrum.mz, spectrum.mz());
            assert_eq!(IntensityRef::from(&found.spectrum.intensity), spectrum.intensity());
            assert!(found.warnings.is_empty());
        }
    }
}

/// reading.md, time: the nearest, the lower index on a tie; only spectra of the level, and only ones with a time.
#[test]
fn look_up_by_time_takes_the_nearest_of_the_level() {
    let spectrum = |id: &str, level: &str, time: &str| {
        let mut spectrum = Spectrum::plain(id);
        spectrum.params = cv("1000511", level);
        spectrum.scans = scan(time);
        spectrum.text()
    };
    let minutes = |value: &str| cv_unit("1000016", value, MINUTE);
    let mut other_axis = Spectrum::plain("uv");
    other_axis.params = cv("1000804", "");
    other_axis.scans = scan(&minutes("2"));
    // times go backwards and mix units, as in real files
    let text = document(
        &(spectrum("a", "1", &minutes("1"))
            + &spectrum("b", "2", &minutes("2"))
            + &spectrum("c", "2", &cv_unit("1000016", "90", SECOND))
            + &spectrum("d", "1", &minutes("3"))
            + &spectrum("e", "1", "")
            + &spectrum("f", "2", &minutes("2"))
            + &other_axis.text()),
    );
    let cases = [
        (at_time(1.4, None), "c"),
        (at_time(2.0, None), "b"),
        (at_time(2.0, Some(1)), "a"),
        (at_time(2.1, Some(1)), "d"),
        (at_time(1.75, None), "b"),
        (at_time(1.75, Some(2)), "b"),
        (at_time(1.25, None), "a"),
        (at_time(0.0, Some(2)), "c"),
    ];
    for (selector, expected) in cases {
        let found = pick(text.as_bytes(), &selector).unwrap();
        assert_eq!(found.spectrum.description.native_id, expected, "{selector}");
    }
    let error = pick(text.as_bytes(), &at_time(2.0, Some(3))).unwrap_err();
    assert_eq!(error.code().as_str(), "spectrum_not_found", "{error}");
}

/// surface.md, long loads: reads no further than it must; the digest is then absent, with the reason.
#[test]
fn reading_stops_at_the_spectrum_and_says_so() {
    struct Counted<'c, R>(R, &'c Cell<u64>);
    impl<R: Read> Read for Counted<'_, R> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let count = self.0.read(into)?;
            self.1.set(self.1.get() + count as u64);
            Ok(count)
        }
    }
    let mut text = Vec::new();
    SyntheticRun { spectrum_count: 400, mean_points_per_spectrum: 200, ..SyntheticRun::default() }
        .write_mzml(&mut text)
        .unwrap();
    let size = text.len() as u64;
    let read = |selector: &SpectrumSelector| {
        let count = Cell::new(0);
        let source = Source::from_reader("run.mzML", Counted(text.as_slice(), &count), Some(size));
        let found = ingest_spectrum(source, selector, DigestKind::Blake3, &Unobserved).unwrap();
        (count.get(), found.source)
    };
    let (count, source) = read(&Index(3));
    assert!(count < size / 2, "{count} of {size} bytes were read");
    assert_eq!((source.digest, source.digest_reason), (None, Some("not_read_in_full")));
    let (count, source) = read(&at_time(0.0, None));
    assert_eq!(count, size);
    assert_eq!(source.digest, Some(format!("blake3:{}", blake3::hash(&text).to_hex())));
    assert_eq!((source.digest_reason, source.byte_size), (None, size));
}

#[test]
fn what_is_not_there_is_said_with_what_is() {
    let text = four();
    for selector in [Index(4), NativeId("scan=9".to_owned()), ScanNumber(0), NativeId(String::new())] {
        let error = pick(text.as_bytes(), &selector).unwrap_err();
        assert_eq!(error.code().as_str(), "spectrum_not_found", "{error}");
        assert!(error.to_string().contains("the source has 4 spectra"), "{error}");
    }
    // an index is no scan number: four spectra, the last of scan 9
    let text = text.replace("scan=4", "index=9");
    assert_eq!(pick(text.as_bytes(), &ScanNumber(9)).unwrap_err().code().as_str(), "spectrum_not_found");
    assert_eq!(pick(text.as_bytes(), &ScanNumber(3)).unwrap().spectrum_index, 2);
}

/// A spectrum of another axis is never served as m/z.
#[test]
fn spectra_of_other_axes_are_refused_by_kind() {
    let mut uv = own(2);
    uv.params = cv("1000804", "");
    let text = document(&(own(1).text() + &uv.text()));
    for selector in [Index(1), NativeId("scan=2".to_owned())] {
        let error = pick(text.as_bytes(), &selector).unwrap_err();
        assert_eq!(error.code().as_str(), "not_a_mass_spectrum", "{error}");
    }
}

/// D1: damage of the spectrum, or before it where it may be meant, is an error; damage elsewhere is not in the way.
#[test]
fn damage_counts_where_it_may_be_meant() {
    let second = own(2).text();
    let array = four().replace(&second, &second.replacen("<binary>", "<binary>*", 1));
    let unclosed = four().replace(&second, &second.replacen("</spectrum>", "", 1));
    for (text, name) in [(&array, "an array"), (&unclosed, "no end tag")] {
        assert_eq!(pick(text.as_bytes(), &Index(1)).unwrap_err().code().as_str(), "damaged_source", "{name}");
        for selector in [Index(0), Index(2), NativeId("scan=1".to_owned())] {
            assert!(pick(text.as_bytes(), &selector).is_ok(), "{name}, {selector}");
        }
        let third = pick(text.as_bytes(), &Index(2)).unwrap();
        assert_eq!(
            (third.spectrum_index, third.spectrum.description.native_id.as_str()),
            (2, "scan=3"),
            "{name}"
        );
    }
    assert_eq!(
        pick(array.as_bytes(), &NativeId("scan=2".to_owned())).unwrap_err().code().as_str(),
        "damaged_source"
    );
    // the damaged one has another ID, or one that cannot be known
    assert_eq!(pick(array.as_bytes(), &NativeId("scan=3".to_owned())).unwrap().spectrum_index, 2);
    // a cut file gives what is complete before the cut
    let cut = &four().into_bytes()[..four().find("scan=4").unwrap()];
    assert_eq!(pick(cut, &Index(2)).unwrap().spectrum_index, 2);
    assert_eq!(pick(cut, &Index(3)).unwrap_err().code().as_str(), "truncated_source");
}

#[test]
fn blocks_of_mgf_are_picked_alike() {
    let text = "BEGIN IONS\nRTINSECONDS=60\n1 2\nEND IONS\nBEGIN IONS\nTITLE=t\nRTINSECONDS=90\n3 4\n5 6\nEND IONS\n";
    for selector in [Index(1), NativeId("index=1".to_owned()), at_time(1.4, None), at_time(1.4, Some(2))] {
        let found = pick(text.as_bytes(), &selector).unwrap();
        assert_eq!((found.spectrum_index, found.spectrum.mz.as_slice()), (1, &[3.0, 5.0][..]), "{selector}");
        assert_eq!(found.spectrum.intensity, Values::F64(vec![4.0, 6.0]));
        assert_eq!(found.source.format, "MGF");
    }
    assert_eq!(pick(text.as_bytes(), &Index(2)).unwrap_err().code().as_str(), "spectrum_not_found");
}
