//! Dialects and damage of MGF. Right values are those of `reading.md`; real files against independent readers are in
//! `files.rs`.

use super::*;
use crate::code::ErrorCode;
use crate::ingest::{DigestKind, IncomingChromatogram, IncomingSpectrum, Source, Values};
use crate::observe::Unobserved;
use crate::spectrum::{Polarity, SelectedIon, SpectrumDescription};
use crate::units::Minutes;
use crate::warning::Warnings;

mod lines;

/// What a sink was given.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub(super) spectra: Vec<(SpectrumDescription, Vec<f64>, Vec<f64>)>,
    pub(super) warnings: Warnings,
    runs: Vec<RunDescription>,
    damage: Vec<IngestError>,
    is_tolerant: bool,
    stop_after: Option<usize>,
}

impl RunSink for Collected {
    fn spectrum(&mut self, spectrum: &IncomingSpectrum) -> Result<Flow, IngestError> {
        let Values::F64(intensity) = &spectrum.intensity else { panic!("MGF intensities are 64-bit") };
        assert_eq!(spectrum.mobility_kind, None);
        self.spectra.push((spectrum.description.clone(), spectrum.mz.clone(), intensity.clone()));
        Ok(if self.stop_after == Some(self.spectra.len()) { Flow::Stop } else { Flow::Continue })
    }

    fn chromatogram(&mut self, _: &IncomingChromatogram) -> Result<(), IngestError> {
        panic!("MGF has no chromatograms")
    }

    fn run(&mut self, run: &RunDescription) {
        self.runs.push(run.clone());
    }

    fn damaged_spectrum(&mut self, error: IngestError) -> Result<(), IngestError> {
        if !self.is_tolerant {
            return Err(error);
        }
        self.damage.push(error);
        Ok(())
    }

    fn damaged_chromatogram(&mut self, error: IngestError) -> Result<(), IngestError> {
        Err(error)
    }

    fn warnings(&mut self) -> &mut Warnings {
        &mut self.warnings
    }
}

impl Collected {
    fn only(&self) -> &(SpectrumDescription, Vec<f64>, Vec<f64>) {
        assert_eq!(self.spectra.len(), 1);
        &self.spectra[0]
    }

    fn ion(&self) -> Option<&SelectedIon> {
        let precursors = &self.only().0.precursors;
        assert!(precursors.len() <= 1);
        precursors.first().map(|precursor| &precursor.selected_ions[0])
    }

    /// `code count first` of each warning.
    pub(super) fn warned(&self) -> Vec<String> {
        self.warnings.as_slice().iter().map(|w| format!("{} {} {}", w.code, w.count, w.first)).collect()
    }
}

fn read_into(text: &[u8], chunk: usize, sink: &mut Collected) -> Result<(), IngestError> {
    read_from(InChunks(text, chunk), sink)
}

fn read_from(source: impl std::io::Read, sink: &mut Collected) -> Result<(), IngestError> {
    let source = Source::from_reader("test.mgf", source, None);
    let mut reading = source.start(DigestKind::default(), &Unobserved)?;
    read(&mut reading.window, sink)
}

/// Gives a text away in pieces of a size.
struct InChunks<'t>(&'t [u8], usize);

impl std::io::Read for InChunks<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let size = self.1.min(buffer.len());
        std::io::Read::read(&mut self.0, &mut buffer[..size])
    }
}

pub(super) fn try_read(text: impl AsRef<[u8]>) -> Result<Collected, IngestError> {
    let mut sink = Collected::default();
    read_into(text.as_ref(), 1 << 16, &mut sink)?;
    Ok(sink)
}

/// A block with these lines between its ends.
fn block(lines: &str) -> Collected {
    try_read(format!("BEGIN IONS\n{lines}\nEND IONS\n")).unwrap()
}

const SOUND: &str =
    "BEGIN IONS\nTITLE=a\nPEPMASS=500.25 1000\nCHARGE=2+\nRTINSECONDS=12\n100.5 10\n200.25 30\nEND IONS\n";

#[test]
fn a_block_becomes_a_spectrum_and_nothing_is_made_up() {
    let collected = try_read(SOUND).unwrap();
    let (description, mz, intensity) = collected.only();
    assert_eq!((mz.as_slice(), intensity.as_slice()), ([100.5, 200.25].as_slice(), [10.0, 30.0].as_slice()));
    let ion = collected.ion().unwrap();
    assert_eq!((ion.mz, ion.charge, ion.intensity), (Some(500.25), Some(2), Some(1000.0)));
    assert_eq!(
        *description,
        SpectrumDescription {
            native_id: "index=0".to_owned(),
            title: Some("a".to_owned()),
            ms_level: crate::spectrum::MsLevel::new(2),
            scan_start_time: Some(Minutes(0.2)),
            precursors: description.precursors.clone(),
            ..SpectrumDescription::default()
        }
    );
    assert_eq!(collected.warned(), [""; 0]);
    assert_eq!(collected.runs.len(), 1);
    assert!(collected.runs[0].declared_spectrum_count.is_none());
}

#[test]
fn dialects_of_one_spectrum_read_alike() {
    let right = try_read(SOUND).unwrap();
    let dialects = [
        SOUND.replace('\n', "\r\n"),
        SOUND.replace('\n', "\r"),
        SOUND.replace(' ', "\t").replace("END\tIONS", "end  ions"),
        SOUND.replace('\n', " \t\n\n"),
        SOUND.to_lowercase(),
        SOUND.replace('=', " = "),
        SOUND.replace('\n', "\n  "),
        format!("\u{feff}{SOUND}"),
        format!("{SOUND}\n\n  \n\n"),
        SOUND.trim_end().to_owned(),
        format!("# c\n; c\n! c\n/ c\n{}", SOUND.replace('\n', "\n#BEGIN IONS\n;x=1\n!1 2\n/END IONS\n")),
        format!("COM=x y\nIT_MODS=Oxidation (M)\n\n{SOUND}"),
        format!("search,title\nnot a key at all\n{SOUND}"),
        SOUND.replace("TITLE", "Num peaks=2\nTITLE"),
    ];
    for text in dialects {
        let collected = try_read(&text).unwrap();
        assert_eq!(collected.spectra, right.spectra, "{text:?}");
    }
}

#[test]
fn chunk_borders_change_nothing() {
    let text = format!("\u{feff}{}", [SOUND, SOUND].join("1 2\r\n").replace("TITLE", "x y\r\nTITLE"))
        .replace('\n', "\r\n");
    let right = try_read(&text).unwrap();
    assert_eq!(right.spectra.len(), 2);
    for chunk in 1..60 {
        let mut sink = Collected::default();
        read_into(text.as_bytes(), chunk, &mut sink).unwrap();
        assert_eq!(
            (sink.spectra, sink.warnings.as_slice()),
            (right.spectra.clone(), right.warnings.as_slice())
        );
    }
}

#[test]
fn precursor_masses_and_their_absence() {
    type Ion = (Option<f64>, Option<f64>, Option<u8>);
    let table: &[(&str, Option<Ion>, &[&str])] = &[
        ("TITLE=x", None, &[]),
        ("PEPMASS=", None, &[]),
        ("PEPMASS=0", None, &[]),
        ("PEPMASS=0.0\nCHARGE=2+", Some((None, None, Some(2))), &[]),
        ("PEPMASS=983.6", Some((Some(983.6), None, None)), &[]),
        ("PEPMASS=983.6\t1.5e3", Some((Some(983.6), Some(1500.0), None)), &[]),
        ("PEPMASS=983.6 0", Some((Some(983.6), Some(0.0), None)), &[]),
        ("PEPMASS=983.6 1234 2+", Some((Some(983.6), Some(1234.0), Some(2))), &[]),
        ("PEPMASS=983.6 1234 2+\nCHARGE=2", Some((Some(983.6), Some(1234.0), Some(2))), &[]),
        (
            "PEPMASS=983.6 1234 2+\nCHARGE=3+",
            Some((Some(983.6), Some(1234.0), Some(3))),
            &["charge_conflict 1 index=0"],
        ),
        (
            "CHARGE=3+\nPEPMASS=983.6 1234 2+",
            Some((Some(983.6), Some(1234.0), Some(3))),
            &["charge_conflict 1 index=0"],
        ),
        ("PEPMASS=983.6 1234 2+\nCHARGE=0", Some((Some(983.6), Some(1234.0), Some(2))), &[]),
        ("PEPMASS=983.6 x", Some((Some(983.6), None, None)), &["unreadable_number 1 PEPMASS at line 2"]),
        ("PEPMASS=-5", None, &["unreadable_number 1 PEPMASS at line 2"]),
        ("CHARGE=Mr\nPEPMASS=9", Some((Some(9.0), None, None)), &["unreadable_number 1 CHARGE at line 2"]),
        (
            "PEPMASS=9\nPEPMASS=8",
            Some((Some(9.0), None, None)),
            &["unknown_line 1 line 3 repeats a key of its block"],
        ),
    ];
    for (lines, ion, warned) in table {
        let collected = block(lines);
        assert_eq!(collected.ion().map(|ion| (ion.mz, ion.intensity, ion.charge)), *ion, "{lines:?}");
        assert_eq!(collected.warned(), *warned, "{lines:?}");
    }
}

#[test]
fn a_mass_that_is_a_word_is_an_error_with_its_line() {
    for word in ["pepelac", "nan", "inf", "1e999", "500,25"] {
        let error =
            try_read(format!("# c\nBEGIN IONS\nTITLE=x\nPEPMASS={word}\n1 2\nEND IONS\n")).unwrap_err();
        let IngestError::Damaged { place, what } = &error else { panic!("{error}") };
        assert_eq!((place.line, place.spectrum_index, place.byte_offset), (Some(4), Some(0), 23), "{word}");
        assert!(what.contains(word), "{what}");
        assert_eq!(error.code(), ErrorCode::DamagedSource);
    }
}

#[test]
fn b48_charge_lists_stay_lists() {
    for (value, candidates) in
        [("2+ and 3+", [2, 3].as_slice()), ("2+,3+ and 4+", &[2, 3, 4]), ("2+,3+", &[2, 3])]
    {
        let collected = block(&format!("PEPMASS=5\nCHARGE={value}"));
        let ion = collected.ion().unwrap();
        assert_eq!((ion.charge, ion.possible_charges.as_slice()), (None, candidates), "{value}");
    }
}

#[test]
fn a_header_speaks_for_blocks_that_say_nothing() {
    let header = "CHARGE=2+ and 3+\nMSLEVEL=3\nIONMODE=Negative\n";
    let text = format!(
        "{header}BEGIN IONS\nPEPMASS=5\nEND IONS\nBEGIN IONS\nPEPMASS=5 1 4-\nEND IONS\n\
         BEGIN IONS\nPEPMASS=5\nCHARGE=1\nMSLEVEL=2\nIONMODE=positive\nEND IONS\nBEGIN IONS\nPEPMASS=5\nCHARGE=\nMSLEVEL=0\nEND IONS\n\
         BEGIN IONS\nMSLEVEL=1\nEND IONS\ncharge=7\nBEGIN IONS\nPEPMASS=5\nMSLEVEL=\nEND IONS\n"
    );
    let collected = try_read(text).unwrap();
    let seen: Vec<_> = collected
        .spectra
        .iter()
        .map(|(description, ..)| {
            let ion = description.precursors.first().map(|precursor| &precursor.selected_ions[0]);
            let charges = ion.map(|ion| (ion.charge, ion.possible_charges.clone()));
            (charges, description.ms_level.map(|level| level.get()), description.polarity)
        })
        .collect();
    use Polarity::{Negative, Positive};
    let right = vec![
        (Some((None, vec![2, 3])), Some(3), Some(Negative)),
        (Some((Some(4), vec![])), Some(3), Some(Negative)),
        (Some((Some(1), vec![])), Some(2), Some(Positive)),
        (Some((None, vec![])), None, Some(Negative)),
        (None, Some(1), Some(Negative)),
        (Some((Some(7), vec![])), Some(3), Some(Negative)),
    ];
    assert_eq!(seen, right);
    // the first block's plus signs contradict the header's polarity
    assert_eq!(collected.warned(), ["charge_polarity_conflict 1 index=0"]);
}

#[test]
fn polarity_comes_from_the_ion_mode_or_an_explicit_minus() {
    use Polarity::{Negative, Positive};
    let table = [
        ("CHARGE=1-", Some(Negative), false),
        ("CHARGE=-1", Some(Negative), false),
        ("PEPMASS=5 1 2-", Some(Negative), false),
        ("CHARGE=1+", None, false),
        ("CHARGE=1", None, false),
        ("IONMODE=positive\nCHARGE=1-", Some(Positive), true),
        ("IONMODE=Negative\nCHARGE=1", Some(Negative), false),
        ("IONMODE=N/A\nCHARGE=1", None, false),
        ("IONMODE=\nCHARGE=1-", Some(Negative), false),
    ];
    for (lines, polarity, is_conflict) in table {
        let collected = block(lines);
        assert_eq!(collected.only().0.polarity, polarity, "{lines}");
        assert_eq!(collected.warnings.has(WarningCode::ChargePolarityConflict), is_conflict, "{lines}");
    }
}

#[test]
fn times_are_minutes_and_scans_make_no_scan_number() {
    let table = [
        ("RTINSECONDS=90", Some(1.5), false),
        ("RTINSECONDS=90-96", Some(1.5), false),
        ("RTINSECONDS=96,90 and 120", Some(1.5), false),
        ("RTINSECONDS=0", Some(0.0), false),
        ("RTINSECONDS=-1", None, false),
        ("RTINSECONDS=", None, false),
        ("RTINSECONDS=1.#QNAN", None, true),
        ("SCANS=3", None, false),
        ("SCANS=3-7,9", None, false),
        ("SCANS=-1", None, false),
    ];
    for (line, minutes, is_unreadable) in table {
        let collected = block(line);
        let description = &collected.only().0;
        assert_eq!(description.scan_start_time, minutes.map(Minutes), "{line}");
        assert_eq!(description.scan_number, None, "{line}");
        assert_eq!(collected.warnings.has(WarningCode::UnreadableNumber), is_unreadable, "{line}");
    }
}

#[test]
fn levels_are_two_unless_stated() {
    for (line, level, is_unreadable) in [
        ("TITLE=x", Some(2), false),
        ("MSLEVEL=1", Some(1), false),
        ("msLevel=3", Some(3), false),
        ("MSLEVEL=0", None, false),
        ("MSLEVEL=MS2", None, true),
        ("MSLEVEL=", Some(2), false),
    ] {
        let collected = block(line);
        assert_eq!(collected.only().0.ms_level.map(|level| level.get()), level, "{line}");
        assert_eq!(collected.warnings.has(WarningCode::UnreadableNumber), is_unreadable, "{line}");
    }
}
