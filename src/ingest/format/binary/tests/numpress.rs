//! MS-Numpress: data of its authors, files of the field, damage, and the way there and back.

use super::*;

fn hex(digits: &str) -> Vec<u8> {
    digits
        .as_bytes()
        .chunks(2)
        .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap())
        .collect()
}

/// Bytes and values are those of the authors' implementation (pynumpress 0.1.5).
#[test]
fn numpress_data_of_its_authors_decode_to_their_values() {
    let exact: &[(u32, &str, &[f64])] = &[
        (
            PIC,
            "8717f6016ff50014ffff3000010000000048",
            &[0.0, 1.0, 15.0, 16.0, 255.0, 256.0, 65535.0, 65536.0, 1_073_741_824.0, 0.0],
        ),
        (PIC, "80", &[0.0]),
        (PIC, "88", &[0.0, 0.0]),
        (PIC, "717273", &[1.0, 2.0, 3.0]),
        (
            PIC,
            "716115c2150af4053c306eaa20021a7108a4d55000aca9b3",
            &[1.0, 17.0, 300.0, 4000.0, 50000.0, 7e5, 8e6, 9e7, 1e9],
        ),
        (
            LINEAR,
            "40e86a0000000000a88e310124213201b0697e1ec48e71988f628eeec9ce4495d18cc0b8e0",
            &[400.5, 401.25, 400.0, 900.125, 900.126, 900.126, 10.5, 4000.75],
        ),
        (
            LINEAR,
            "4024000000000000e8030000d0070000888880",
            &[100.0, 200.0, 300.0, 400.0, 500.0, 600.0, 700.0],
        ),
        (
            LINEAR,
            "408f400000000000e803000088130000c8a4e08eb0faf2088302a0a08eb0faf2",
            &[1.0, 5.0, 2.0, 8e5, 3.0, 7.0],
        ),
        // first values above 2^31 are unsigned
        (LINEAR, "3ff0000000000000005ed0b2003fc6b888", &[3.0e9, 3.1e9, 3.2e9, 3.3e9]),
        (LINEAR, "408f400000000000741c0600", &[400.5]),
        (LINEAR, "408f400000000000", &[]),
        (LINEAR, "0000000000000000", &[]),
        (
            SLOF,
            "40af4000000000000000d50a2926ded72fb7",
            &[
                0.0,
                1.000_205_649_452_309,
                10.498_884_147_393_61,
                999_988.442_091_461_2,
                123_468.569_021_088_14,
            ],
        ),
        (SLOF, "40af400000000000", &[]),
    ];
    for (term, digits, expected) in exact {
        let bytes = hex(digits);
        for (stream, accessions) in [(bytes.clone(), vec![*term]), (deflated(&bytes), vec![*term, ZLIB])] {
            let mut out = Values::default();
            let encoding = encoding(&accessions);
            let decoded = Decoder::default().decode_values(&text(&stream), &encoding, 0, &mut out).unwrap();
            assert!(decoded.is_lossy);
            let Values::F64(values) = out else { panic!("{digits}: not 64-bit") };
            assert_eq!(values.len(), expected.len(), "{digits}");
            for (value, right) in values.iter().zip(*expected) {
                assert!((value - right).abs() <= right.abs() * 1e-14, "{digits}: {value} is not {right}");
            }
        }
    }
}

#[test]
fn b18_damaged_numpress_is_an_error_and_never_nan() {
    let zero_point = |rest: &[u8]| [0.0_f64.to_be_bytes().as_slice(), rest].concat();
    let point = |value: f64, rest: &[u8]| [value.to_be_bytes().as_slice(), rest].concat();
    let table = [
        (LINEAR, vec![1, 2, 3]),
        (SLOF, vec![1, 2, 3]),
        (PIC, vec![0x00]),
        (LINEAR, zero_point(&[1, 0, 0, 0])),
        (LINEAR, zero_point(&[1, 0, 0, 0, 2, 0, 0, 0])),
        (SLOF, zero_point(&[0, 0])),
        (SLOF, zero_point(&[0, 0, 0, 0])),
        (LINEAR, point(f64::NAN, &[1, 0, 0, 0])),
        (LINEAR, point(f64::INFINITY, &[1, 0, 0, 0])),
        (LINEAR, point(-1.0, &[1, 0, 0, 0])),
        (LINEAR, point(1.0, &[1, 0, 0])),
        (LINEAR, point(1.0, &[1, 0, 0, 0, 2, 0])),
        (LINEAR, point(1.0, &[1, 0, 0, 0, 2, 0, 0, 0, 0x11])),
        (SLOF, point(4000.0, &[1, 0, 0])),
        (SLOF, point(1e-3, &[0xff, 0xff])),
        (LINEAR, point(5e-324, &[1, 0, 0, 0])),
    ];
    for (term, bytes) in table {
        match f64s(&text(&bytes), &[term], 5) {
            Err(DecodeError::Numpress { .. }) => {}
            other => panic!("{term} {bytes:?}: {other:?}"),
        }
    }
}

#[test]
fn d3_numpress_files_of_the_field_give_what_other_readers_see() {
    let Some(file) = shared("data/openms_numpress_spectra.mzML") else { return };
    let intensities: Vec<Vec<u8>> =
        arrays(&file).into_iter().filter(|array| has(array, "MS:1000515")).collect();
    assert_eq!(intensities.len(), 2);
    let mut sum = 0.0;
    let mut largest: f64 = 0.0;
    for array in &intensities {
        let values = f64s(&binary(array), &encoding_terms(array), 18).unwrap();
        assert_eq!(values.len(), 18);
        sum += values.iter().sum::<f64>();
        largest = values.iter().copied().fold(largest, f64::max);
    }
    assert_eq!((sum, largest), (17170.0, 1907.0));

    let Some(file) = shared("data/mini_numpress.chrom.mzML") else { return };
    let arrays = arrays(&file);
    let time = f64s(&binary(&arrays[0]), &encoding_terms(&arrays[0]), 176).unwrap();
    let intensity = f64s(&binary(&arrays[1]), &encoding_terms(&arrays[1]), 176).unwrap();
    assert_eq!((time.len(), intensity.len()), (176, 176));
    for (index, right) in
        [(0, 2_302.530_000_010_737_7), (1, 2_305.939_999_978_524), (175, 2_899.960_000_343_612)]
    {
        assert!((time[index] - right).abs() < 1e-9, "{index}: {}", time[index]);
    }
    assert_eq!(intensity[76..81], [74.0, 213.0, 509.0, 760.0, 856.0]);
    assert_eq!(intensity.iter().sum::<f64>(), 3657.0);
}

fn shared(name: &str) -> Option<Vec<u8>> {
    let root = std::env::var_os("MZARENA_SHARED")
        .map_or_else(|| std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), Into::into);
    match std::fs::read(root.join(name)) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "{name}: {error}");
            eprintln!("skipped: {name} is not there ({error})");
            None
        }
    }
}

fn arrays(file: &[u8]) -> Vec<Vec<u8>> {
    let text = String::from_utf8_lossy(file);
    text.split("<binaryDataArray ").skip(1).map(|part| part.as_bytes().to_vec()).collect()
}

fn has(array: &[u8], part: &str) -> bool {
    memchr::memmem::find(array, part.as_bytes()).is_some()
}

fn encoding_terms(array: &[u8]) -> Vec<u32> {
    let text = String::from_utf8_lossy(array);
    text.split("<cvParam")
        .skip(1)
        .filter_map(|param| param.split("accession=\"MS:").nth(1)?.split('"').next()?.parse().ok())
        .filter(|accession| Encoding::default().insert(*accession))
        .collect()
}

fn binary(array: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(array);
    text.split("<binary>").nth(1).unwrap().split("</binary>").next().unwrap().as_bytes().to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn linear_numpress_gives_back_what_was_rounded(
        values in proptest::collection::vec(0.0_f64..4000.0, 0..60),
        point in 1.0_f64..100_000.0,
    ) {
        let data = numpress_encoder::linear(&values, point);
        let decoded = f64s(&text(&data), &[LINEAR], values.len() as u64).unwrap();
        prop_assert_eq!(decoded.len(), values.len());
        for (a, b) in decoded.iter().zip(&values) {
            prop_assert!((a - b).abs() <= 0.500_001 / point, "{} {}", a, b);
        }
    }

    #[test]
    fn positive_integer_numpress_gives_back_integers(values in proptest::collection::vec(any::<u32>(), 0..60), shift in 0_u32..32) {
        let values: Vec<u32> = values.iter().map(|value| value >> shift).collect();
        let data = numpress_encoder::positive_integers(&values);
        let decoded = f64s(&text(&data), &[F32, PIC], values.len() as u64).unwrap();
        prop_assert_eq!(decoded, values.iter().map(|value| f64::from(*value)).collect::<Vec<_>>());
    }

    #[test]
    fn short_logged_float_numpress_is_near(values in proptest::collection::vec(0.0_f64..1e6, 0..60)) {
        let point = 4000.0;
        let data = numpress_encoder::short_logged_floats(&values, point);
        let decoded = f64s(&text(&data), &[SLOF], values.len() as u64).unwrap();
        prop_assert_eq!(decoded.len(), values.len());
        for (a, b) in decoded.iter().zip(&values) {
            prop_assert!((a - b).abs() <= (b + 1.0) * 0.501 / point, "{} {}", a, b);
        }
    }
}
