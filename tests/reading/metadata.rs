//! What a spectrum says of itself: times, precursors, charges, identity. Odd metadata is null and a coded warning.

use crate::loading::{STRICT, TOLERANT, load_bytes, load_text, warning_codes};
use crate::mzml::{MINUTE, SECOND, Spectrum, cv, cv_unit, document, document_with, precursor, scan};
use mzarena::arena::SpectrumView;
use mzarena::ingest::Ingested;
use mzarena::spectrum::{
    CollisionEnergyUnit, IonMobilityKind, IsolationWindow, MsLevel, Polarity, Representation, SignalAxis,
};
use mzarena::units::{ClosedRange, Minutes};
use mzarena::warning::WarningCode;

/// Loads one spectrum, changed by `change`, with `look` at it and the warnings.
fn one<T>(change: impl Fn(&mut Spectrum), look: impl Fn(SpectrumView<'_>, &[WarningCode]) -> T) -> T {
    let mut spectrum = Spectrum::plain("scan=1");
    change(&mut spectrum);
    let loaded = load_text(&document(&spectrum.text()));
    look(loaded.arena.run().unwrap().spectrum(0).unwrap(), &warning_codes(&loaded))
}

/// D2: one unit inside. A unit that is missing or not one of time gives null, never a guess.
#[test]
fn times_are_minutes_whatever_their_unit() {
    let time = |value: &str, unit: &str| cv_unit("1000016", value, unit);
    let cases = [
        (time("90", SECOND), Some(1.5), vec![]),
        (time("1.5", MINUTE), Some(1.5), vec![]),
        (time("90000", "UO:0000028"), Some(1.5), vec![]),
        (time("0.025", "UO:0000032"), Some(1.5), vec![]),
        (time("0", MINUTE), Some(0.0), vec![]),
        (time("-0.5", MINUTE), Some(-0.5), vec![]),
        (time(" 1.5 ", MINUTE), Some(1.5), vec![]),
        (time("1.5E0", MINUTE), Some(1.5), vec![]),
        (cv("1000016", "90"), None, vec![WarningCode::MissingTimeUnit]),
        (time("90", ""), None, vec![WarningCode::MissingTimeUnit]),
        (time("90", "MS:1000040"), None, vec![WarningCode::MissingTimeUnit]),
        (time("1.#QNAN", MINUTE), None, vec![WarningCode::UnreadableNumber]),
        (time("", MINUTE), None, vec![WarningCode::UnreadableNumber]),
        (time("NaN", MINUTE), None, vec![WarningCode::UnreadableNumber]),
        (time("inf", MINUTE), None, vec![WarningCode::UnreadableNumber]),
        (time("1,5", MINUTE), None, vec![WarningCode::UnreadableNumber]),
        (String::new(), None, vec![]),
    ];
    for (text, expected, warned) in cases {
        let found = one(|s| s.scans = scan(&text), |s, w| (s.scan_start_time(), w.to_vec()));
        assert_eq!(found, (expected.map(Minutes), warned), "{text}");
    }
}

/// reading.md: several scans in one spectrum; time and mobility from the first that has them, the count is kept.
#[test]
fn several_scans_give_the_first_time_and_mobility() {
    let scans = scan("")
        + &scan(&cv_unit("1000016", "90", SECOND))
        + &scan(&(cv_unit("1000016", "7", MINUTE) + &cv("1002815", "0.9")))
        + &scan(&cv("1002815", "1.1"));
    one(
        |s| s.scans = scans.clone(),
        |s, warnings| {
            assert_eq!(s.scan_count(), 4);
            assert_eq!(s.scan_start_time(), Some(Minutes(1.5)));
            let mobility = s.ion_mobility().unwrap();
            assert_eq!((mobility.kind, mobility.value), (IonMobilityKind::InverseReduced, 0.9));
            assert_eq!(warnings, []);
        },
    );
    one(|s| s.scans.clear(), |s, _| assert_eq!((s.scan_count(), s.scan_start_time()), (0, None)));
}

#[test]
fn scan_facts_are_found_on_the_scan_or_the_spectrum() {
    let window = format!(
        "<scanWindowList><scanWindow>{}{}</scanWindow></scanWindowList>",
        cv("1000501", "100"),
        cv("1000500", "900")
    );
    let facts = cv("1000927", "12.5") + &cv("1000512", "FTMS + p") + &window;
    one(
        |s| s.scans = scan(&facts),
        |s, _| {
            assert_eq!(s.ion_injection_time_ms(), Some(12.5));
            assert_eq!(s.filter_string(), Some("FTMS + p"));
            assert_eq!(s.scan_window(), Some(ClosedRange { lower: 100.0, upper: 900.0 }));
        },
    );
    for on_scan in [true, false] {
        let voltage = cv("1001581", "-45");
        let change = |s: &mut Spectrum| match on_scan {
            true => s.scans = scan(&voltage),
            false => s.params.push_str(&voltage),
        };
        one(change, |s, _| assert_eq!(s.faims_compensation_voltage(), Some(-45.0), "on the scan: {on_scan}"));
    }
    // drift times in seconds become milliseconds
    one(
        |s| s.scans = scan(&cv_unit("1002476", "0.025", SECOND)),
        |s, _| {
            let mobility = s.ion_mobility().unwrap();
            assert_eq!((mobility.kind, mobility.value), (IonMobilityKind::DriftTime, 25.0));
        },
    );
}

/// reading.md, spectra: missing or 0 is null and counted as unknown; an unreadable one warns as well.
#[test]
fn missing_ms_levels_are_unknown() {
    let cases = [
        ("1", Some(1), 0),
        ("3", Some(3), 0),
        ("0", None, 0),
        ("255", Some(255), 0),
        ("two", None, 1),
        ("256", None, 1),
        ("", None, 1),
    ];
    for (value, expected, warnings) in cases {
        let mut spectrum = Spectrum::plain("scan=1");
        spectrum.params = cv("1000511", value);
        let loaded = load_text(&document(&spectrum.text()));
        let level = loaded.arena.run().unwrap().spectrum(0).unwrap().ms_level();
        assert_eq!(level, expected.and_then(MsLevel::new), "{value}");
        assert_eq!(loaded.arena.totals().ms_level_counts.unknown(), u64::from(expected.is_none()), "{value}");
        assert_eq!(warning_codes(&loaded), vec![WarningCode::UnreadableNumber; warnings], "{value}");
    }
}

#[test]
fn reported_values_are_kept_beside_computed_ones() {
    let params = cv("1000285", "1e6")
        + &cv("1000504", "445.12")
        + &cv("1000505", "999")
        + &cv("1000128", "")
        + &cv("1000129", "")
        + &cv("1000796", "a title");
    one(
        |s| s.params = params.clone(),
        |s, _| {
            assert_eq!((s.reported_total_ion_current(), s.computed_total_ion_current()), (Some(1e6), 80.0));
            assert_eq!((s.reported_base_peak_mz(), s.base_peak_mz()), (Some(445.12), Some(200.5)));
            assert_eq!(
                (s.reported_base_peak_intensity(), s.base_peak_intensity()),
                (Some(999.0), Some(50.0))
            );
            assert_eq!(s.representation(), Some(Representation::Profile));
            assert_eq!(s.polarity(), Some(Polarity::Negative));
            assert_eq!(s.title(), Some("a title"));
        },
    );
    one(
        |s| s.params.clear(),
        |s, _| {
            assert_eq!(
                (s.reported_total_ion_current(), s.reported_base_peak_mz(), s.representation()),
                (None, None, None)
            );
            assert_eq!((s.polarity(), s.title(), s.filter_string()), (None, None, None));
        },
    );
}

fn window(target: &str, lower: &str, upper: &str) -> String {
    [("1000827", target), ("1000828", lower), ("1000829", upper)]
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(accession, value)| cv(accession, value))
        .collect()
}

/// reading.md, precursors: bounds, not offsets; absent or zero offsets mean that the bounds are not known.
#[test]
fn isolation_windows_have_bounds_only_where_the_file_has_offsets() {
    let bounds = |target, lower, upper| IsolationWindow {
        target_mz: target,
        lower_mz: lower,
        upper_mz: upper,
        mobility: None,
    };
    let cases = [
        (window("500.25", "0.5", "1.5"), bounds(Some(500.25), Some(499.75), Some(501.75))),
        (window("500.25", "0", "1.5"), bounds(Some(500.25), Some(500.25), Some(501.75))),
        (window("500.25", "0", "0"), bounds(Some(500.25), None, None)),
        (window("500.25", "0.5", ""), bounds(Some(500.25), None, None)),
        (window("500.25", "", ""), bounds(Some(500.25), None, None)),
        (window("0", "0.5", "0.5"), bounds(None, None, None)),
        (window("", "0.5", "0.5"), bounds(None, None, None)),
        (window("500.25", "-1", "0.5"), bounds(Some(500.25), None, None)),
        (String::new(), bounds(None, None, None)),
    ];
    for (text, expected) in cases {
        one(
            |s| s.precursors = precursor(&text, "", ""),
            |s, _| assert_eq!(s.precursors().next().unwrap().isolation_window(), expected, "{text}"),
        );
    }
    // limits of diapasef windows are parameters of users
    let limits = "<userParam name=\"ion mobility lower limit\" value=\"0.8\"/><userParam name=\"ion mobility upper limit\" value=\"1.2\"/>";
    one(
        |s| s.precursors = precursor(&(window("500", "5", "5") + limits), "", ""),
        |s, _| {
            let mobility = s.precursors().next().unwrap().isolation_window().mobility;
            assert_eq!(mobility, Some(ClosedRange { lower: 0.8, upper: 1.2 }));
        },
    );
}

/// reading.md: `charge` is positive or null, its sign lives in the polarity; m/z 0 means unknown.
#[test]
fn charges_are_positive_or_unknown_and_their_sign_is_polarity() {
    let positive = cv("1000130", "");
    let negative = cv("1000129", "");
    let cases = [
        ("2", "", Some(2), None, vec![]),
        ("+3", "", Some(3), None, vec![]),
        ("2.0", "", Some(2), None, vec![]),
        ("0", "", None, None, vec![]),
        ("-2", "", Some(2), Some(Polarity::Negative), vec![]),
        ("-2", &*negative, Some(2), Some(Polarity::Negative), vec![]),
        ("-2", &*positive, Some(2), Some(Polarity::Positive), vec![WarningCode::ChargePolarityConflict]),
        ("2", &*negative, Some(2), Some(Polarity::Negative), vec![]),
        ("two", "", None, None, vec![WarningCode::UnreadableNumber]),
        ("1.5", "", None, None, vec![WarningCode::UnreadableNumber]),
        ("300", "", None, None, vec![WarningCode::UnreadableNumber]),
    ];
    for (charge, polarity, expected, expected_polarity, warned) in cases {
        let ion = cv("1000744", "500.25") + &cv("1000041", charge);
        let change = |s: &mut Spectrum| {
            s.params.push_str(polarity);
            s.precursors = precursor("", &ion, "");
        };
        one(change, |s, warnings| {
            let ion = s.precursors().next().unwrap().selected_ions().next().unwrap();
            assert_eq!((ion.mz(), ion.charge()), (Some(500.25), expected), "{charge}");
            assert_eq!((s.polarity(), warnings), (expected_polarity, warned.as_slice()), "{charge}");
        });
    }
    let ion = cv("1000744", "0") + &cv("1000042", "7.5") + &cv("1000633", "2") + &cv("1000633", "3");
    one(
        |s| s.precursors = precursor("", &ion, ""),
        |s, warnings| {
            let ion = s.precursors().next().unwrap().selected_ions().next().unwrap();
            assert_eq!((ion.mz(), ion.intensity(), ion.charge()), (None, Some(7.5), None));
            assert_eq!((ion.possible_charges(), warnings), (vec![2, 3], [].as_slice()));
        },
    );
}

#[test]
fn all_precursors_and_ions_are_kept_and_linked() {
    let ion = |mz: &str| format!("<selectedIon>{}</selectedIon>", cv("1000744", mz));
    let precursor = |from: &str, ions: &str| {
        format!("<precursor spectrumRef=\"{from}\"><selectedIonList>{ions}</selectedIonList></precursor>")
    };
    let mut ms3 = Spectrum::plain("scan=3");
    let list = precursor("scan=1", &(ion("300.5") + &ion("400.5")))
        + &precursor("scan=99", &ion("500.5"))
        + &precursor("", "");
    ms3.precursors = format!("<precursorList count=\"3\">{list}</precursorList>");
    let text =
        document(&(Spectrum::plain("scan=1").text() + &Spectrum::plain("scan=2").text() + &ms3.text()));
    let loaded = load_text(&text);
    let spectrum = loaded.arena.run().unwrap().spectrum(2).unwrap();
    let found: Vec<_> = spectrum
        .precursors()
        .map(|p| {
            (
                p.spectrum_ref(),
                p.spectrum_index(),
                p.selected_ions().map(|ion| ion.mz().unwrap()).collect::<Vec<_>>(),
            )
        })
        .collect();
    let expected = [
        (Some("scan=1"), Some(0), vec![300.5, 400.5]),
        // reading.md, unresolved references: null and a warning, never an error
        (Some("scan=99"), None, vec![500.5]),
        (None, None, vec![]),
    ];
    assert_eq!(found, expected);
    assert_eq!(warning_codes(&loaded), [WarningCode::UnresolvedReference]);
    assert_eq!(loaded.arena.totals().precursor_count, 3);
}

#[test]
fn energies_keep_their_unit_and_unknown_methods_are_ignored() {
    let energy = |text: &str| {
        one(
            |s| s.precursors = precursor("", "", text),
            |s, warnings| {
                let precursor = s.precursors().next().unwrap();
                let methods: Vec<_> = precursor.dissociation_methods().names().collect();
                assert_eq!(warnings, []);
                (precursor.collision_energy(), methods)
            },
        )
    };
    let (found, methods) = energy(
        &(cv_unit("1000045", "27", "UO:0000266")
            + &cv("1000422", "")
            + &cv("1000598", "")
            + &cv("1000000", "")),
    );
    let found = found.unwrap();
    assert_eq!(
        (found.value, found.unit, found.may_be_normalized),
        (27.0, CollisionEnergyUnit::Electronvolt, false)
    );
    assert_eq!(methods, ["beam-type collision-induced dissociation", "electron transfer dissociation"]);
    assert_eq!(energy(&cv("1000045", "27")).0.unwrap().unit, CollisionEnergyUnit::Unstated);
    assert_eq!(energy(&cv("1000138", "30")).0.unwrap().unit, CollisionEnergyUnit::Percent);
    assert_eq!(energy("").0, None);
}

/// Thermo conversions call normalised energies electronvolt.
#[test]
fn energies_of_thermo_files_may_be_normalized() {
    let format = format!(
        "<fileDescription><sourceFileList><sourceFile id=\"s\">{}</sourceFile></sourceFileList></fileDescription>",
        cv("1000768", "")
    );
    let mut spectrum = Spectrum::plain("controllerType=0 controllerNumber=1 scan=7");
    spectrum.precursors = precursor("", "", &cv_unit("1000045", "27", "UO:0000266"));
    let loaded = load_text(&document_with(&format, &spectrum.text(), ""));
    let found = loaded.arena.run().unwrap().spectrum(0).unwrap();
    assert!(found.precursors().next().unwrap().collision_energy().unwrap().may_be_normalized);
    assert_eq!(found.scan_number(), Some(7));
}

/// reading.md, spectra: known by the spectrum type or the wavelength array, even beside an m/z term.
#[test]
fn spectra_of_other_axes_are_counted_and_never_served_as_mz() {
    let axis = |change: &dyn Fn(&mut Spectrum)| {
        let mut spectrum = Spectrum::plain("scan=1");
        change(&mut spectrum);
        let loaded = load_text(&document(&(spectrum.text() + &Spectrum::plain("scan=2").text())));
        let totals = loaded.arena.totals();
        let is_other = loaded.arena.run().unwrap().spectrum(0).unwrap().axis() == SignalAxis::Other;
        assert_eq!(totals.non_mass_spectrum_count, u64::from(is_other));
        assert_eq!(
            totals.point_count,
            if is_other { 3 } else { 6 },
            "the mass spectrum beside it is unharmed"
        );
        is_other
    };
    let wavelength = |s: &mut Spectrum| s.arrays = s.arrays.replace("MS:1000514", "MS:1000617");
    assert!(!axis(&|_| {}));
    assert!(axis(&|s| s.params = cv("1000804", "")));
    assert!(axis(&|s| s.params = cv("1000804", "") + &cv("1000511", "1")));
    assert!(axis(&|s| s.params = cv("1000806", "")));
    assert!(axis(&|s| {
        wavelength(s);
        s.params = cv("1000511", "1")
    }));
    assert!(axis(&|s| {
        wavelength(s);
        s.params.clear()
    }));
    assert!(!axis(&|s| s.params.clear()));
}

/// A spectrum with an MS level or a mass-spectrum type and no arrays is an empty mass spectrum.
#[test]
fn spectra_without_arrays_are_empty_mass_spectra() {
    for params in [cv("1000511", "1"), cv("1000580", ""), cv("1000294", "")] {
        let change = |s: &mut Spectrum| {
            s.params.clone_from(&params);
            s.arrays.clear();
            s.length = 0;
        };
        one(change, |s, warnings| {
            assert_eq!(
                (s.axis(), s.point_count(), s.base_peak_mz()),
                (SignalAxis::Mass, 0, None),
                "{params}"
            );
            assert_eq!(warnings, []);
        });
    }
}

/// Identity: kept whole; the position is the key, an id that is not unique is said.
#[test]
fn native_ids_are_kept_whole_and_repeated_ones_are_said() {
    let loaded = load_text(&document(&["a", "b", "a", ""].map(|id| Spectrum::plain(id).text()).concat()));
    let run = loaded.arena.run().unwrap();
    assert_eq!(run.find_native_id("a").collect::<Vec<_>>(), [0, 2]);
    assert_eq!(run.find_native_id("b").collect::<Vec<_>>(), [1]);
    assert_eq!(run.find_native_id("c").count(), 0);
    assert_eq!(warning_codes(&loaded), [WarningCode::DuplicateNativeId]);
    assert!(run.spectra().all(|spectrum| spectrum.scan_number().is_none()));
}

/// Attributes and groups of the header reach the spectra; a missing instrument is a warning, a missing group an error.
#[test]
fn header_references_are_resolved_or_said() {
    let header = format!(
        "<referenceableParamGroupList count=\"1\"><referenceableParamGroup id=\"g\">{}{}</referenceableParamGroup></referenceableParamGroupList>\
         <instrumentConfigurationList><instrumentConfiguration id=\"A\"><cvParam accession=\"MS:1000449\" name=\"LTQ Orbitrap\"/>\
         <componentList><analyzer order=\"1\"><cvParam accession=\"MS:1000484\" name=\"orbitrap\"/></analyzer></componentList>\
         </instrumentConfiguration></instrumentConfigurationList>",
        cv("1000511", "2"),
        cv("1000130", "")
    );
    let mut grouped = Spectrum::plain("scan=1");
    grouped.params = "<referenceableParamGroupRef ref=\"g\"/>".to_owned();
    grouped.scans = "<scan instrumentConfigurationRef=\"A\"/>".to_owned();
    let mut lost = Spectrum::plain("scan=2");
    lost.scans = "<scan instrumentConfigurationRef=\"B\"/>".to_owned();
    let loaded = load_text(&document_with(&header, &(grouped.text() + &lost.text()), ""));
    let run = loaded.arena.run().unwrap();
    let spectrum = run.spectrum(0).unwrap();
    assert_eq!((spectrum.ms_level(), spectrum.polarity()), (MsLevel::new(2), Some(Polarity::Positive)));
    assert_eq!(spectrum.analyzer(), Some("orbitrap"));
    assert_eq!(run.spectrum(1).unwrap().analyzer(), None);
    assert_eq!(loaded.run.instrument.as_deref(), Some("LTQ Orbitrap"));
    assert_eq!(warning_codes(&loaded), [WarningCode::UnresolvedReference]);

    let text = document(&(grouped.text() + &lost.text()));
    let failure = load_bytes(text.as_bytes(), &STRICT).unwrap_err();
    assert!(
        failure.code.as_str() == "damaged_source" && failure.text.contains("referenceableParamGroup g"),
        "{}",
        failure.text
    );
    assert!(failure.text.contains("spectrum 0 (scan=1)"), "{}", failure.text);
    let loaded = load_bytes(text.as_bytes(), &TOLERANT).unwrap();
    assert!(!loaded.is_complete());
    assert_eq!(loaded.arena.totals().spectrum_count, 1);
}

/// M6 begins here: places, names of people and serial numbers of a header are not even kept.
#[test]
fn private_parts_of_the_header_are_not_kept() {
    let header = format!(
        "<fileDescription><sourceFileList><sourceFile id=\"s\" name=\"C:\\Users\\jdoe\\secret\\run.raw\" location=\"file:///home/jdoe\"/>\
         </sourceFileList><contact>{}{}</contact></fileDescription><instrumentConfigurationList><instrumentConfiguration id=\"I\">\
         <userParam name=\"jdoe\" value=\"jdoe\"/>{}</instrumentConfiguration></instrumentConfigurationList>",
        cv("1000586", "jdoe"),
        cv("1000589", "jdoe@example.org"),
        cv("1000529", "SN-jdoe")
    );
    let loaded = load_text(&document_with(&header, &Spectrum::plain("scan=1").text(), ""));
    let kept: Vec<_> = loaded.arena.run().unwrap().metadata().collect();
    assert!(kept.contains(&("source_file", "run.raw")), "{kept:?}");
    let all = format!("{kept:?} {:?} {:?} {:?}", loaded.run, loaded.warnings, loaded.source);
    assert!(!all.contains("jdoe") && !all.contains("secret"), "{all}");
}

/// What a run's header says, where it may be kept.
#[test]
fn header_facts_are_told() {
    let header = "<softwareList><software id=\"x\" version=\"3.0\"><cvParam accession=\"MS:1000615\" name=\"ProteoWizard\"/></software></softwareList>";
    let text = document_with(header, &Spectrum::plain("scan=1").text(), "");
    let stamped = |stamp: &str| text.replace("<run id", &format!("<run startTimeStamp=\"{stamp}\" id"));
    let told = |loaded: &Ingested| loaded.run.start_time_stamp.clone();
    for stamp in ["2015-06-30T12:37:16Z", "2015-06-30T12:37:16", "2015-06-30T12:37:16.123+02:00"] {
        let loaded = load_text(&stamped(stamp));
        assert_eq!((told(&loaded).as_deref(), warning_codes(&loaded)), (Some(stamp), vec![]), "{stamp}");
        assert_eq!(loaded.run.software, ["ProteoWizard 3.0"]);
    }
    let loaded = load_text(&stamped("yesterday"));
    assert_eq!((told(&loaded), warning_codes(&loaded)), (None, vec![WarningCode::UnreadableNumber]));
}
