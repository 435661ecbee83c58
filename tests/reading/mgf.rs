//! MGF as a user of the library meets it; the dialects line by line are tested beside the reader.

use crate::loading::{STRICT, TOLERANT, load_bytes, load_text, warning_codes};
use mzarena::arena::IntensityRef;
use mzarena::spectrum::{MsLevel, Polarity};
use mzarena::units::Minutes;
use mzarena::warning::WarningCode;

const BLOCK: &str = "BEGIN IONS\nTITLE=t\nPEPMASS=500.25 1000\nCHARGE=2+\nRTINSECONDS=90\n100.5 10\n200.25 30\n300.125 20\nEND IONS\n";

#[test]
fn one_spectrum_may_be_written_in_many_dialects() {
    let cases = [
        ("plain", BLOCK.to_owned()),
        ("a byte order mark", format!("\u{feff}{BLOCK}")),
        ("line breaks of Windows", BLOCK.replace('\n', "\r\n")),
        ("line breaks of old Macs", BLOCK.replace('\n', "\r")),
        ("no line break at the end", BLOCK.trim_end().to_owned()),
        ("blank lines", BLOCK.replace('\n', "\n\n") + "\n\n \n"),
        ("keys in lower case", BLOCK.to_lowercase()),
        (
            "tabs and blanks",
            BLOCK.replace("100.5 10", "\t100.5 \t 10  ").replace("500.25 1000", "500.25\t1000"),
        ),
        ("comments", BLOCK.replace("100.5", "# a 1 2\n; b\n! c\n/ d\n100.5")),
        ("a header of other keys", format!("COM=x\nUSERNAME=y\nITOL=1\n{BLOCK}")),
        ("unknown keys", BLOCK.replace("TITLE", "FEATURE_ID=7\nX-Y.Z=1=2\nTITLE")),
        ("numbers with exponents", BLOCK.replace("100.5 10", "1.005e2 1E+1")),
        ("charge after the number", BLOCK.replace("CHARGE=2+", "CHARGE=+2")),
    ];
    for (name, text) in cases {
        let loaded =
            load_bytes(text.as_bytes(), &STRICT).unwrap_or_else(|failure| panic!("{name}: {}", failure.text));
        assert_eq!((loaded.source.format.as_str(), warning_codes(&loaded)), ("MGF", vec![]), "{name}");
        let run = loaded.arena.run().unwrap();
        assert_eq!(run.spectrum_count(), 1, "{name}");
        let spectrum = run.spectrum(0).unwrap();
        assert_eq!(spectrum.mz(), [100.5, 200.25, 300.125], "{name}");
        assert_eq!(spectrum.intensity(), IntensityRef::F64(&[10.0, 30.0, 20.0]), "{name}");
        assert_eq!(
            (spectrum.native_id(), spectrum.title(), spectrum.scan_number()),
            ("index=0", Some("t"), None),
            "{name}"
        );
        assert_eq!(
            (spectrum.ms_level(), spectrum.scan_start_time()),
            (MsLevel::new(2), Some(Minutes(1.5))),
            "{name}"
        );
        let ion = spectrum.precursors().next().unwrap().selected_ions().next().unwrap();
        assert_eq!(
            (ion.mz(), ion.intensity(), ion.charge()),
            (Some(500.25), Some(1000.0), Some(2)),
            "{name}"
        );
        assert_eq!(spectrum.polarity(), None, "{name}");
    }
}

/// reading.md, MGF: what is not known is null, what conflicts is said, lists stay lists.
#[test]
fn keys_mean_what_they_say() {
    let with = |from: &str, to: &str| load_text(&BLOCK.replace(from, to));
    let charges = |to: &str| {
        let loaded = with("CHARGE=2+", to);
        let spectrum = loaded.arena.run().unwrap().spectrum(0).unwrap();
        let ion = spectrum.precursors().next().unwrap().selected_ions().next().unwrap();
        (ion.charge(), ion.possible_charges(), spectrum.polarity(), warning_codes(&loaded))
    };
    assert_eq!(charges("CHARGE="), (None, vec![], None, vec![]));
    assert_eq!(charges("CHARGE=0"), (None, vec![], None, vec![]));
    assert_eq!(charges("CHARGE=3-"), (Some(3), vec![], Some(Polarity::Negative), vec![]));
    assert_eq!(charges("CHARGE=2+ and 3+"), (None, vec![2, 3], None, vec![]));
    assert_eq!(charges("CHARGE=2+\nIONMODE=Negative").2, Some(Polarity::Negative));

    let conflict = with("PEPMASS=500.25 1000", "PEPMASS=500.25 1000 3+");
    assert_eq!(warning_codes(&conflict), [WarningCode::ChargeConflict]);
    let time = |to: &str| {
        let loaded = with("RTINSECONDS=90", to);
        loaded.arena.run().unwrap().spectrum(0).unwrap().scan_start_time()
    };
    assert_eq!(time("RTINSECONDS=90-120"), Some(Minutes(1.5)));
    assert_eq!(time("RTINSECONDS=90,120"), Some(Minutes(1.5)));
    assert_eq!(time("RTINSECONDS=-1"), None);
    assert_eq!(time("RTINSECONDS="), None);
    let level = |to: &str| with("CHARGE", to).arena.run().unwrap().spectrum(0).unwrap().ms_level();
    assert_eq!(
        (level("MSLEVEL=3\nCHARGE"), level("MSLEVEL=1\nCHARGE"), level("MSLEVEL=0\nCHARGE")),
        (MsLevel::new(3), MsLevel::new(1), None)
    );
    let none = with("PEPMASS=500.25 1000\nCHARGE=2+\n", "");
    assert_eq!(none.arena.totals().precursor_count, 0, "no PEPMASS is no precursor, not one of 0");
    // third columns are kept out and counted, a line that is no peak is said with its number
    let odd = with("200.25 30", "200.25 30 2+\nNum peaks=8\nneither");
    assert_eq!(odd.arena.totals().point_count, 3);
    assert_eq!(
        warning_codes(&odd),
        [WarningCode::UnknownLine, WarningCode::ExtraColumns],
        "{:?}",
        odd.warnings
    );
    let line = odd.warnings.iter().find(|warning| warning.code == WarningCode::UnknownLine).unwrap();
    assert!(line.count == 2 && line.first.starts_with("line 8 "), "{line:?}");
}

/// D1: damage is an error with its line; a tolerant load keeps the other blocks and their numbers.
#[test]
fn damaged_blocks_are_errors_with_their_lines() {
    let cases = [
        ("a word for a mass", BLOCK.replace("500.25", "mass"), "line 13"),
        ("an m/z that is no number", BLOCK.replace("200.25 30", "nan 30"), "line 17"),
        ("a block inside a block", BLOCK.replace("END IONS\n", ""), "line 19"),
    ];
    for (name, damaged, line) in cases {
        let text = [BLOCK, &damaged, BLOCK].concat().replacen("BEGIN", "\nBEGIN", 1);
        let failure = load_bytes(text.as_bytes(), &STRICT).err().unwrap_or_else(|| panic!("{name} was read"));
        assert_eq!(failure.code.as_str(), "damaged_source", "{name}: {}", failure.text);
        assert!(failure.text.contains(line) && failure.text.contains("index=1"), "{name}: {}", failure.text);
        let loaded = load_bytes(text.as_bytes(), &TOLERANT).unwrap();
        let ids: Vec<_> = loaded.arena.run().unwrap().spectra().map(|s| s.native_id().to_owned()).collect();
        assert_eq!(ids, ["index=0", "index=2"], "{name}");
        assert!(!loaded.is_complete() && loaded.missing[0].code == WarningCode::SkippedSpectrum, "{name}");
    }
    let failure = load_bytes(BLOCK.replace("END IONS", "").as_bytes(), &STRICT).unwrap_err();
    assert_eq!(failure.code.as_str(), "truncated_source", "{}", failure.text);
}

/// A title may be any text; equal titles are no equal spectra.
#[test]
fn titles_are_not_identity() {
    let loaded = load_text(&BLOCK.repeat(3));
    let run = loaded.arena.run().unwrap();
    assert_eq!(run.spectrum_count(), 3);
    assert_eq!(run.spectra().map(|s| s.native_id()).collect::<Vec<_>>(), ["index=0", "index=1", "index=2"]);
    assert_eq!(warning_codes(&loaded), []);
    let bytes = [b"BEGIN IONS\nTITLE=\xb5L\n1 2\nEND IONS\n".as_slice()].concat();
    let loaded = load_bytes(&bytes, &STRICT).unwrap();
    assert_eq!(loaded.arena.run().unwrap().spectrum(0).unwrap().title(), Some("\u{fffd}L"));
    assert_eq!(warning_codes(&loaded), [WarningCode::InvalidText]);
}
