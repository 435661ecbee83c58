//! Lines and blocks that are not what they should be, and where the reading ends.

use super::*;
use proptest::prelude::*;

#[test]
fn lines_that_are_no_peaks_are_left_out_and_said() {
    let collected = block("Num peaks=8\n1 2\n3\nhello you\n4 five\n100,5 7\n6 7 8\n9 10 b2 x\nKEY=1 2");
    assert_eq!(collected.only().1, [1.0, 6.0, 9.0]);
    assert_eq!(
        collected.warned(),
        ["unknown_line 5 line 2 is neither a key nor a peak", "extra_columns 2 line 8"]
    );
    let outside = try_read(format!("1 2\n{SOUND}PEPMASS=7\n")).unwrap();
    assert_eq!(outside.warned(), ["unknown_line 2 line 1 stands outside all blocks"]);
}

#[test]
fn s3_peaks_keep_order_zeros_duplicates_and_sign() {
    let collected = block("5 0\n3 1\n3 1\n-1 -2\n+.5 1e3\n7. inf\n8 nan\n0 0");
    let (_, mz, intensity) = collected.only();
    assert_eq!(*mz, [5.0, 3.0, 3.0, -1.0, 0.5, 7.0, 8.0, 0.0]);
    assert_eq!(intensity[..6], [0.0, 1.0, 1.0, -2.0, 1000.0, f64::INFINITY]);
    assert!(intensity[6].is_nan());
}

#[test]
fn s3_an_mz_that_is_no_number_is_refused() {
    for line in ["nan 5", "inf 5", "-inf 5", "NaN 5", "-nan 5", "1e999 5", "5 1e999"] {
        let error = try_read(format!("BEGIN IONS\n1 2\n{line}\nEND IONS\n")).unwrap_err();
        let IngestError::Damaged { place, .. } = error else { panic!("{line}: {error}") };
        assert_eq!(place.line, Some(3), "{line}");
    }
}

#[test]
fn d1_blocks_that_do_not_end_or_begin_are_errors() {
    let cut = SOUND.trim_end().trim_end_matches("END IONS");
    let error = try_read(format!("{SOUND}{cut}")).unwrap_err();
    let IngestError::Truncated { place, .. } = &error else { panic!("{error}") };
    assert_eq!((place.spectrum_index, place.line), (Some(1), Some(15)));
    assert_eq!(error.code(), ErrorCode::TruncatedSource);

    for (text, line, part) in
        [(format!("{cut}{SOUND}"), 8, "line 1"), (format!("{SOUND}1 2\nEND IONS\n"), 10, "without BEGIN")]
    {
        let error = try_read(text).unwrap_err();
        let IngestError::Damaged { place, what } = error else { panic!("{error}") };
        assert_eq!(place.line, Some(line), "{what}");
        assert!(what.contains(part), "{what}");
    }
}

#[test]
fn a_tolerant_load_keeps_the_sound_blocks_and_their_numbers() {
    let bad = SOUND.replace("500.25", "word");
    let cut = SOUND.replace("END IONS\n", "");
    let mut collected = Collected { is_tolerant: true, ..Collected::default() };
    let text = format!("{SOUND}{bad}{SOUND}{cut}{SOUND}{cut}");
    let end = read_into(text.as_bytes(), 1 << 16, &mut collected).unwrap_err();
    let IngestError::Truncated { place, complete_spectrum_count: 3, .. } = end else { panic!("{end}") };
    assert_eq!(place.spectrum_index, Some(5));
    let ids: Vec<&str> =
        collected.spectra.iter().map(|(description, ..)| description.native_id.as_str()).collect();
    assert_eq!(ids, ["index=0", "index=2", "index=4"]);
    let damaged: Vec<_> = collected
        .damage
        .iter()
        .map(|error| match error {
            IngestError::Damaged { place, .. } => place.spectrum_index,
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(damaged, [Some(1), Some(3)]);
}

#[test]
fn b33_a_source_without_blocks_is_no_mgf() {
    for text in [
        "",
        " \n\n",
        "hello\nthis is a letter, not a peak list\n",
        "100 200\n",
        "a BEGIN IONS\n",
        "BEGINIONS",
    ] {
        assert!(!recognises(text.as_bytes()), "{text:?}");
        assert!(try_read(text).unwrap_err().to_string().contains("BEGIN IONS"), "{text:?}");
    }
    for text in ["BEGIN IONS", "\u{feff}begin\tions\n", "COM=x\r\r BEGIN IONS\r", "# c\n1 2\nBEGIN IONS \r\n"]
    {
        assert!(recognises(text.as_bytes()), "{text:?}");
    }
}

#[test]
fn titles_that_are_not_utf8_are_kept_with_a_warning() {
    let collected = try_read(b"BEGIN IONS\nTITLE=5 \xb5m\nORGANISM=\xff\nEND IONS\n").unwrap();
    assert_eq!(collected.only().0.title.as_deref(), Some("5 \u{fffd}m"));
    assert_eq!(collected.warned(), ["invalid_text 1 TITLE at line 2"]);
    assert_eq!(block("TITLE=").only().0.title, None);
    assert_eq!(block("TITLE=a=b \"c\" = d").only().0.title.as_deref(), Some("a=b \"c\" = d"));
}

#[test]
fn a_sink_may_stop_the_reading() {
    let mut sink = Collected { stop_after: Some(2), ..Collected::default() };
    let text = format!("{}BEGIN IONS\nPEPMASS=word\nEND IONS\n", SOUND.repeat(2));
    read_into(text.as_bytes(), 1 << 16, &mut sink).unwrap();
    assert_eq!(sink.spectra.len(), 2);
}

#[test]
fn a_line_without_end_is_an_error_in_bounded_memory() {
    struct Endless(usize);
    impl std::io::Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.0 += buffer.len();
            assert!(self.0 < 4 * LONGEST_LINE, "read on and on");
            buffer.fill(b'1');
            Ok(buffer.len())
        }
    }
    let error = read_from(Endless(0), &mut Collected::default()).unwrap_err();
    assert!(error.to_string().contains("longer than"), "{error}");
}

proptest! {
    /// Values that a program prints come back bit by bit, and garbage never panics.
    #[test]
    fn printed_peaks_come_back(peaks in proptest::collection::vec((0.0_f64..1e5, any::<f64>()), 0..50)) {
        let peaks: Vec<_> = peaks.into_iter().filter(|(_, intensity)| intensity.is_finite()).collect();
        let lines: Vec<String> = peaks.iter().map(|(mz, intensity)| format!("{mz} {intensity:e}")).collect();
        let collected = block(&lines.join("\n"));
        let (_, mz, intensity) = collected.only();
        prop_assert_eq!(mz, &peaks.iter().map(|peak| peak.0).collect::<Vec<_>>());
        prop_assert_eq!(intensity, &peaks.iter().map(|peak| peak.1).collect::<Vec<_>>());
    }

    #[test]
    fn garbage_never_panics(parts in proptest::collection::vec(prop_oneof![
        Just(b"BEGIN IONS\n".to_vec()), Just(b"END IONS\r".to_vec()), Just(b"PEPMASS=".to_vec()), Just(b"\nCHARGE=".to_vec()),
        Just(b"\nRTINSECONDS=1-".to_vec()), Just(b"1 2 3\n".to_vec()), proptest::collection::vec(any::<u8>(), 0..12),
    ], 0..40), chunk in 1_usize..40) {
        let mut sink = Collected { is_tolerant: true, ..Collected::default() };
        let _ = read_into(&parts.concat(), chunk, &mut sink);
        prop_assert!(sink.spectra.iter().all(|(_, mz, intensity)| mz.len() == intensity.len()));
        prop_assert!(sink.spectra.iter().all(|(_, mz, _)| mz.iter().all(|mz| mz.is_finite())));
    }
}
