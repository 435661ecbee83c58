//! Arrays: S3 (lossless, refused where it cannot be), declared lengths, arrays of their own, recorded chromatograms.

use crate::loading::{Failure, STRICT, TOLERANT, load_bytes, load_text, warning_codes};
use crate::mzml::{
    F32, F64, INTENSITY, MINUTE, MZ, PLAIN_INTENSITY, PLAIN_MZ, SECOND, Spectrum, UNCOMPRESSED, ZLIB, array,
    base64, cv, cv_unit, document, document_with, f32_bytes, f64_bytes, intensity_array, mz_array,
};
use mzarena::arena::IntensityRef;
use mzarena::ingest::Ingested;
use mzarena::spectrum::{ChromatogramKind, IonMobilityKind};
use mzarena::warning::WarningCode;

fn spectrum_of(arrays: &str) -> Spectrum {
    let mut spectrum = Spectrum::plain("scan=1");
    spectrum.arrays = arrays.to_owned();
    spectrum
}

fn load_arrays(arrays: &str) -> Result<Ingested, Failure> {
    load_bytes(document(&spectrum_of(arrays).text()).as_bytes(), &STRICT)
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, bytes).unwrap();
    packed.finish().unwrap()
}

/// Damage of an array names spectrum, array and place, and never becomes a peak.
fn assert_damaged(name: &str, arrays: &str, words: &[&str]) {
    let failure = load_arrays(arrays).err().unwrap_or_else(|| panic!("{name} was read"));
    assert_eq!(failure.code.as_str(), "damaged_source", "{name}: {}", failure.text);
    for word in ["spectrum 0 (scan=1)", "byte "].iter().chain(words) {
        assert!(failure.text.contains(word), "{name}: no {word} in {}", failure.text);
    }
}

/// S3: intensity keeps the source's precision, m/z widens exactly, integers become exact 64-bit floats.
#[test]
fn precision_is_that_of_the_source() {
    let intensity = |term: &str, bytes: &[u8]| {
        let arrays = mz_array(&PLAIN_MZ) + &array(&[term, UNCOMPRESSED, INTENSITY], &base64(bytes));
        load_arrays(&arrays).unwrap()
    };
    let narrow = [0.1f32, f32::MIN_POSITIVE / 2.0, -0.0];
    let wide = [0.1f64, f64::MIN_POSITIVE / 2.0, -0.0];
    let loaded = intensity(F32, &f32_bytes(&narrow));
    let IntensityRef::F32(found) = loaded.arena.run().unwrap().spectrum(0).unwrap().intensity() else {
        panic!()
    };
    assert!(found.iter().map(|v| v.to_bits()).eq(narrow.iter().map(|v| v.to_bits())));
    let loaded = intensity(F64, &f64_bytes(&wide));
    let IntensityRef::F64(found) = loaded.arena.run().unwrap().spectrum(0).unwrap().intensity() else {
        panic!()
    };
    assert!(found.iter().map(|v| v.to_bits()).eq(wide.iter().map(|v| v.to_bits())));

    let integers: Vec<u8> = [i32::MAX, i32::MIN, 0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let loaded = intensity("1000519", &integers);
    let found = loaded.arena.run().unwrap().spectrum(0).unwrap().intensity();
    assert_eq!(found, IntensityRef::F64(&[2_147_483_647.0, -2_147_483_648.0, 0.0]));
    assert_eq!(warning_codes(&loaded), []);

    let mz = array(&[F32, UNCOMPRESSED, MZ], &base64(&f32_bytes(&[100.1, 200.2, 300.3])));
    let loaded = load_arrays(&(mz + &intensity_array(&PLAIN_INTENSITY))).unwrap();
    let found = loaded.arena.run().unwrap().spectrum(0).unwrap();
    assert_eq!(found.mz(), [f64::from(100.1f32), f64::from(200.2f32), f64::from(300.3f32)]);
}

/// S3: an integer that 64 bits of float hold exactly is kept and said; one that they cannot hold is refused.
#[test]
fn large_integers_are_exact_or_refused() {
    let with = |value: i64| {
        let bytes: Vec<u8> = [1, value, 3].iter().flat_map(|v: &i64| v.to_le_bytes()).collect();
        mz_array(&PLAIN_MZ) + &array(&["1000522", UNCOMPRESSED, INTENSITY], &base64(&bytes))
    };
    for value in [(1 << 53), -(1 << 53), 0] {
        assert_eq!(warning_codes(&load_arrays(&with(value)).unwrap()), []);
    }
    for value in [(1 << 53) + 2, i64::MIN] {
        let loaded = load_arrays(&with(value)).unwrap();
        assert_eq!(loaded.arena.run().unwrap().spectrum(0).unwrap().intensity().get(1), Some(value as f64));
        assert_eq!(warning_codes(&loaded), [WarningCode::IntegerPrecision]);
    }
    for value in [(1 << 53) + 1, i64::MAX] {
        assert_damaged("an integer", &with(value), &["intensity array", &value.to_string()]);
    }
}

/// S3: order, zeros, duplicates and peak count are kept as given; what is odd is computed and said, never assumed.
#[test]
fn points_are_kept_as_given() {
    let mz = [300.0, 100.0, 100.0, 0.0, -1.0];
    let intensity = [0.0, 5.0, 5.0, f32::INFINITY, f32::NAN];
    let loaded = load_arrays(&(mz_array(&mz) + &intensity_array(&intensity))).unwrap();
    let spectrum = loaded.arena.run().unwrap().spectrum(0).unwrap();
    assert_eq!(spectrum.mz(), mz);
    let IntensityRef::F32(found) = spectrum.intensity() else { panic!() };
    assert!(found.iter().map(|v| v.to_bits()).eq(intensity.iter().map(|v| v.to_bits())));
    assert!(!spectrum.is_sorted() && spectrum.has_non_finite_intensity());
    assert_eq!(spectrum.mz_order().map(|order| order[0]), Some(4));
    assert_eq!((spectrum.base_peak_mz(), spectrum.base_peak_intensity()), (Some(100.0), Some(5.0)));
    assert_eq!(spectrum.computed_total_ion_current(), 10.0);
    let mut warnings = warning_codes(&loaded);
    warnings.sort();
    let mut expected = [
        WarningCode::ArrayLengthMismatch,
        WarningCode::UnsortedMz,
        WarningCode::NonFiniteIntensity,
        WarningCode::NegativeMz,
    ];
    expected.sort();
    assert_eq!(warnings, expected);

    let equal = load_arrays(&(mz_array(&[5.0; 3]) + &intensity_array(&PLAIN_INTENSITY))).unwrap();
    assert!(equal.arena.run().unwrap().spectrum(0).unwrap().is_sorted(), "equal neighbours ascend");
    assert_eq!(warning_codes(&equal), []);
}

/// S3: what the definition of a valid spectrum excludes is refused, never repaired in silence.
#[test]
fn invalid_spectra_are_refused() {
    let sound_mz = mz_array(&PLAIN_MZ);
    let sound_intensity = intensity_array(&PLAIN_INTENSITY);
    let mz_text = |text: &str| array(&[F64, UNCOMPRESSED, MZ], text) + &sound_intensity;
    let mz_of = |terms: &[&str], bytes: &[u8]| array(terms, &base64(bytes)) + &sound_intensity;
    let packed = zlib(&f64_bytes(&PLAIN_MZ));
    let mut broken = packed.clone();
    *broken.last_mut().unwrap() ^= 1;
    let text = base64(&f64_bytes(&PLAIN_MZ));
    let cases: &[(&str, String, &[&str])] = &[
        ("an m/z that is NaN", mz_array(&[1.0, f64::NAN, 3.0]) + &sound_intensity, &["m/z array", "NaN"]),
        (
            "an infinite m/z",
            mz_array(&[1.0, 2.0, f64::NEG_INFINITY]) + &sound_intensity,
            &["m/z array", "-inf"],
        ),
        (
            "fewer intensities",
            sound_mz.clone() + &intensity_array(&[1.0, 2.0]),
            &["intensity array", "3", "2"],
        ),
        ("more intensities", sound_mz.clone() + &intensity_array(&[1.0; 4]), &["intensity array", "3", "4"]),
        ("no intensities", sound_mz.clone(), &["intensity array", "3"]),
        ("no m/z values", sound_intensity.clone(), &["intensity array", "3"]),
        ("two m/z arrays", sound_mz.clone() + &sound_mz + &sound_intensity, &["m/z array", "two"]),
        (
            "two intensity arrays",
            sound_mz.clone() + &sound_intensity + &sound_intensity,
            &["intensity array", "two"],
        ),
        ("half a number", mz_of(&[F64, UNCOMPRESSED, MZ], &[0; 20]), &["m/z array", "20", "8"]),
        ("a letter that is none", mz_text(&text.replacen('A', "*", 1)), &["m/z array", "0x2a"]),
        ("text of the other alphabet", mz_text(&text.replacen('A', "-", 1)), &["m/z array", "0x2d"]),
        ("text without padding", mz_text(&base64(&[0; 8])[..11]), &["m/z array", "11"]),
        ("text after padding", mz_text("AAAAAAAAAAA=AAAA"), &["m/z array"]),
        ("an element in base64", mz_text(&format!("{}<x/>", &text[..10])), &["m/z array"]),
        ("a zlib checksum", mz_of(&[F64, ZLIB, MZ], &broken), &["m/z array", "zlib"]),
        (
            "a zlib stream cut short",
            mz_of(&[F64, ZLIB, MZ], &packed[..packed.len() - 5]),
            &["m/z array", "zlib"],
        ),
        ("no zlib at all", mz_of(&[F64, ZLIB, MZ], &f64_bytes(&PLAIN_MZ)), &["m/z array", "zlib"]),
        ("more than the cap", mz_of(&[F64, ZLIB, MZ], &zlib(&vec![0; 2 << 20])), &["m/z array", "1048576"]),
        ("no number type", mz_of(&[UNCOMPRESSED, MZ], &f64_bytes(&PLAIN_MZ)), &["m/z array", "number type"]),
        ("two number types", mz_of(&[F64, F32, UNCOMPRESSED, MZ], &f64_bytes(&PLAIN_MZ)), &["m/z array"]),
        ("delta zlib", mz_of(&[F64, "1003089", MZ], &packed), &["m/z array"]),
        ("linear prediction zlib", mz_of(&[F64, "1003090", MZ], &packed), &["m/z array"]),
    ];
    for (name, arrays, words) in cases {
        assert_damaged(name, arrays, words);
    }
    let negative =
        document(&Spectrum::plain("scan=1").text().replace("ArrayLength=\"3\"", "ArrayLength=\"-3\""));
    assert_eq!(load_bytes(negative.as_bytes(), &STRICT).unwrap_err().code.as_str(), "damaged_source");
}

/// reading.md, declared length: wrong ones are a warning, too large and too small alike, and nothing is padded.
#[test]
fn wrong_declared_lengths_are_a_warning_where_the_arrays_agree() {
    let attribute =
        |length: &str| document(&Spectrum::plain("scan=1").text().replace("ArrayLength=\"3\"", length));
    for (length, warned) in [
        ("ArrayLength=\"3\"", false),
        ("ArrayLength=\"2\"", true),
        ("ArrayLength=\"10\"", true),
        ("ArrayLength=\"0\"", true),
        ("ArrayLength=\"18446744073709551615\"", true),
    ] {
        let loaded = load_text(&attribute(length));
        assert_eq!(loaded.arena.run().unwrap().spectrum(0).unwrap().mz(), PLAIN_MZ, "{length}");
        let expected = if warned { vec![WarningCode::ArrayLengthMismatch] } else { vec![] };
        assert_eq!(warning_codes(&loaded), expected, "{length}");
    }
    // the length of the array itself counts more
    let own =
        attribute("ArrayLength=\"9\"").replace("<binaryDataArray ", "<binaryDataArray arrayLength=\"3\" ");
    assert_eq!(warning_codes(&load_text(&own)), []);
    // encodedLength is not needed
    let none = document(&Spectrum::plain("scan=1").text().replace("encodedLength", "notTheLength"));
    assert_eq!(warning_codes(&load_text(&none)), []);
}

/// reading.md: arrays not kept are never decoded, may have any length, and are named in the run's summary.
#[test]
fn arrays_that_are_not_kept_are_named_and_harm_nothing() {
    let extra = array(&["1000516", F64, UNCOMPRESSED], "*** no base64 ***")
        + &array(&["1001479", ZLIB], "")
        + "<binaryDataArray arrayLength=\"77\"><cvParam accession=\"MS:1000786\" name=\"non-standard data array\" value=\"my array\"/>\
           <binary>AAAA</binary></binaryDataArray>";
    let loaded = load_arrays(&(mz_array(&PLAIN_MZ) + &intensity_array(&PLAIN_INTENSITY) + &extra)).unwrap();
    assert_eq!(loaded.arena.run().unwrap().spectrum(0).unwrap().mz(), PLAIN_MZ);
    assert!(loaded.is_complete());
    assert!(loaded.run.arrays_not_kept.contains(&"my array".to_owned()), "{:?}", loaded.run.arrays_not_kept);
    let told: Vec<_> =
        loaded.arena.run().unwrap().metadata().filter(|(key, _)| *key == "array_not_kept").collect();
    assert_eq!(told.len(), loaded.run.arrays_not_kept.len());
    assert_eq!(warning_codes(&loaded), []);
}

#[test]
fn mobility_arrays_stay_with_their_points() {
    let kinds = [
        ("1003006", "", IonMobilityKind::InverseReduced, 1.0),
        ("1003008", "", IonMobilityKind::InverseReduced, 1.0),
        ("1003155", "", IonMobilityKind::InverseReduced, 1.0),
        ("1002477", "UO:0000028", IonMobilityKind::DriftTime, 1.0),
        ("1003153", SECOND, IonMobilityKind::DriftTime, 1000.0),
        ("1003156", "UO:0000028", IonMobilityKind::DriftTime, 1.0),
        ("1002816", "", IonMobilityKind::Reduced, 1.0),
        ("1003007", "", IonMobilityKind::Reduced, 1.0),
        ("1003154", "", IonMobilityKind::Reduced, 1.0),
        ("1002893", "", IonMobilityKind::Unspecified, 1.0),
    ];
    let mobility = |term: &str, unit: &str, values: &[f64]| {
        array(&[F64, UNCOMPRESSED], &base64(&f64_bytes(values))).replacen(
            "<binary>",
            &(cv_unit(term, "", unit) + "<binary>"),
            1,
        )
    };
    // m/z descends within a frame, which is the rule there: a fact, not a warning
    let points = mz_array(&[300.0, 200.0, 100.0]) + &intensity_array(&PLAIN_INTENSITY);
    for (term, unit, kind, factor) in kinds {
        let values = [0.75, 1.0, 1.25];
        let loaded = load_arrays(&(points.clone() + &mobility(term, unit, &values))).unwrap();
        let (found, column) = loaded.arena.run().unwrap().spectrum(0).unwrap().mobility().unwrap();
        assert_eq!((found, column), (kind, values.map(|value| value * factor).as_slice()), "{term}");
        assert_eq!(warning_codes(&loaded), [], "{term}");
        assert_eq!(loaded.arena.totals().mobility_spectrum_count, 1);
    }
    let named = array(&[F64, UNCOMPRESSED], &base64(&f64_bytes(&PLAIN_MZ))).replacen(
        "<binary>",
        &(cv("1000786", "Ion Mobility") + "<binary>"),
        1,
    );
    let loaded = load_arrays(&(points.clone() + &named)).unwrap();
    assert_eq!(
        loaded.arena.run().unwrap().spectrum(0).unwrap().mobility().unwrap().0,
        IonMobilityKind::Unspecified
    );
    // quadrupole positions of SONAR are no mobility
    let sonar = load_arrays(&(points.clone() + &mobility("1003157", "", &PLAIN_MZ))).unwrap();
    assert!(sonar.arena.run().unwrap().spectrum(0).unwrap().mobility().is_none());
    assert_damaged(
        "mobility of another length",
        &(points + &mobility("1003006", "", &[1.0])),
        &["ion mobility array"],
    );
}

#[test]
fn compressed_and_plain_arrays_are_the_same() {
    let mz = array(&[F64, ZLIB, MZ], &base64(&zlib(&f64_bytes(&PLAIN_MZ))));
    let intensity = array(&[F32, "1003088", INTENSITY], &base64(&zlib(&f32_bytes(&PLAIN_INTENSITY))));
    let loaded = load_arrays(&(mz + &intensity)).unwrap();
    let spectrum = loaded.arena.run().unwrap().spectrum(0).unwrap();
    assert_eq!((spectrum.mz(), spectrum.intensity()), (&PLAIN_MZ[..], IntensityRef::F32(&PLAIN_INTENSITY)));
    // bytes behind the stream are said
    let behind = [zlib(&f64_bytes(&PLAIN_MZ)), vec![7, 7]].concat();
    let mz = array(&[F64, ZLIB, MZ], &base64(&behind));
    assert_eq!(warning_codes(&load_arrays(&(mz + &intensity)).unwrap()), [WarningCode::TrailingData]);
    // compressed nothing is nothing
    let none = array(&[F64, ZLIB, MZ], "eJwDAAAAAAE=") + &array(&[F32, ZLIB, INTENSITY], "eJwDAAAAAAE=");
    let mut spectrum = spectrum_of(&none);
    spectrum.length = 0;
    let loaded = load_text(&document(&spectrum.text()));
    assert_eq!((loaded.arena.totals().empty_spectrum_count, warning_codes(&loaded)), (1, vec![]));
}

fn chromatogram(id: &str, params: &str, time: &str, intensity: &str) -> String {
    format!(
        "<chromatogram index=\"0\" id=\"{id}\" defaultArrayLength=\"3\">{params}<binaryDataArrayList count=\"2\">{time}{intensity}</binaryDataArrayList></chromatogram>"
    )
}

fn time_array(values: &[f64], unit: &str) -> String {
    array(&[F64, UNCOMPRESSED], &base64(&f64_bytes(values))).replacen(
        "<binary>",
        &(cv_unit("1000595", "", unit) + "<binary>"),
        1,
    )
}

fn with_chromatograms(chromatograms: &str) -> String {
    let list = format!("<chromatogramList count=\"1\">{chromatograms}</chromatogramList>");
    document_with("", &Spectrum::plain("scan=1").text(), &list)
}

#[test]
fn recorded_chromatograms_are_kept_in_minutes() {
    let intensity = intensity_array(&PLAIN_INTENSITY);
    let transition = format!(
        "{}<precursor><isolationWindow>{}</isolationWindow></precursor><product><isolationWindow>{}</isolationWindow></product>",
        cv("1001473", ""),
        cv("1000827", "500.25"),
        cv("1000827", "200.5")
    );
    let text = with_chromatograms(
        &(chromatogram("TIC", &cv("1000235", ""), &time_array(&[0.5, 1.0, 1.5], MINUTE), &intensity)
            + &chromatogram("SRM", &transition, &time_array(&[30.0, 60.0, 90.0], SECOND), &intensity)
            + &chromatogram("pump", &cv("1003019", ""), &time_array(&[1.0, 2.0, 3.0], ""), &intensity)),
    );
    let loaded = load_text(&text);
    let run = loaded.arena.run().unwrap();
    assert_eq!(run.chromatogram_count(), 3);
    let tic = run.chromatogram(0).unwrap();
    assert_eq!(
        (tic.native_id(), tic.kind(), tic.time()),
        ("TIC", ChromatogramKind::TotalIonCurrent, &[0.5, 1.0, 1.5][..])
    );
    assert_eq!(tic.intensity(), IntensityRef::F32(&PLAIN_INTENSITY));
    let srm = run.chromatogram(1).unwrap();
    assert_eq!(
        (srm.kind(), srm.time()),
        (ChromatogramKind::SelectedReactionMonitoring, &[0.5, 1.0, 1.5][..])
    );
    assert_eq!((srm.precursor_mz(), srm.product_mz()), (Some(500.25), Some(200.5)));
    // D1: without a unit a time is not known, and that is said
    let pump = run.chromatogram(2).unwrap();
    assert!(
        pump.kind() == ChromatogramKind::Other
            && pump.time().len() == 3
            && pump.time().iter().all(|t| t.is_nan())
    );
    assert_eq!(warning_codes(&loaded), [WarningCode::MissingTimeUnit]);
}

#[test]
fn damaged_chromatograms_are_an_error_and_a_tolerant_load_says_which() {
    let sound = chromatogram(
        "TIC",
        &cv("1000235", ""),
        &time_array(&[0.5, 1.0, 1.5], MINUTE),
        &intensity_array(&PLAIN_INTENSITY),
    );
    let short =
        chromatogram("short", "", &time_array(&[0.5, 1.0], MINUTE), &intensity_array(&PLAIN_INTENSITY));
    let garbage = chromatogram(
        "garbage",
        "",
        &time_array(&[0.5], MINUTE).replace('A', "*"),
        &intensity_array(&PLAIN_INTENSITY),
    );
    for damaged in [short, garbage] {
        let text = with_chromatograms(&(damaged + &sound));
        let failure = load_bytes(text.as_bytes(), &STRICT).unwrap_err();
        assert_eq!(failure.code.as_str(), "damaged_source", "{}", failure.text);
        let loaded = load_bytes(text.as_bytes(), &TOLERANT).unwrap();
        assert!(!loaded.is_complete());
        assert_eq!((loaded.arena.totals().spectrum_count, loaded.arena.totals().chromatogram_count), (1, 1));
        assert_eq!(loaded.missing[0].code, WarningCode::SkippedChromatogram);
    }
}
