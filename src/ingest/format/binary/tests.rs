//! Right values come from elsewhere: zlib and zstd streams from the reference C libraries, MS-Numpress data from its
//! authors' implementation, facts of real files from two readers that share no code.

use super::*;
use crate::code::ErrorCode;
use crate::ingest::incoming::Values;
use proptest::prelude::*;

mod compression;
mod numpress;
mod numpress_encoder;

const F32: u32 = 1_000_521;
const F64: u32 = 1_000_523;
const I32: u32 = 1_000_519;
const I64: u32 = 1_000_522;
const NONE: u32 = 1_000_576;
const ZLIB: u32 = 1_000_574;
const LINEAR: u32 = 1_002_312;
const PIC: u32 = 1_002_313;
const SLOF: u32 = 1_002_314;
const ZSTD: u32 = 1_003_780;
const SHUFFLED: u32 = 1_003_781;
const DICTIONARY: u32 = 1_003_782;

const EIGHT: [f64; 8] = [100.25, 200.5, 200.5, 300.75, 400.125, 400.125, 400.125, 500.0625];

fn encoding(accessions: &[u32]) -> Encoding {
    let mut encoding = Encoding::default();
    for accession in accessions {
        assert!(encoding.insert(*accession), "{accession}");
    }
    encoding
}

fn text(bytes: &[u8]) -> Vec<u8> {
    base64_simd::STANDARD.encode_to_string(bytes).into_bytes()
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
    let mut out = vec![0; compressor.zlib_compress_bound(bytes.len())];
    let size = compressor.zlib_compress(bytes, &mut out).unwrap();
    out.truncate(size);
    out
}

fn le(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn f64s(text: &[u8], accessions: &[u32], declared: u64) -> Result<Vec<f64>, DecodeError> {
    let mut out = vec![7.0];
    let decoded = Decoder::default().decode_f64(text, &encoding(accessions), declared, &mut out);
    assert!(decoded.is_ok() || out.is_empty(), "values are left behind an error");
    decoded.map(|decoded| {
        assert_eq!(decoded.count, out.len());
        out
    })
}

#[test]
fn terms_resolve_to_type_and_compression() {
    use Compression as C;
    use NumpressKind::{Linear, Pic, Slof};
    let table: &[(&[u32], Option<NumberType>, Compression)] = &[
        (&[F64, NONE], Some(NumberType::F64), C::None),
        (&[F32, ZLIB], Some(NumberType::F32), C::Zlib),
        (&[I32, 1_003_088], Some(NumberType::I32), C::Zlib),
        (&[I64, ZSTD], Some(NumberType::I64), C::Zstd),
        (&[F64, SHUFFLED], Some(NumberType::F64), C::ZstdByteShuffled),
        (&[F64, DICTIONARY], Some(NumberType::F64), C::ZstdDictionary),
        (&[LINEAR], None, C::Numpress(Linear, Outer::None)),
        (&[F32, PIC, NONE], None, C::Numpress(Pic, Outer::None)),
        (&[F32, F64, PIC], None, C::Numpress(Pic, Outer::None)),
        (&[F64, SLOF, ZLIB], None, C::Numpress(Slof, Outer::Zlib)),
        (&[SLOF, ZSTD], None, C::Numpress(Slof, Outer::Zstd)),
        (&[1_002_746], None, C::Numpress(Linear, Outer::Zlib)),
        (&[1_002_747, ZLIB], None, C::Numpress(Pic, Outer::Zlib)),
        (&[1_002_747, PIC], None, C::Numpress(Pic, Outer::Zlib)),
        (&[1_002_748, NONE], None, C::Numpress(Slof, Outer::Zlib)),
        (&[1_003_783], None, C::Numpress(Linear, Outer::Zstd)),
        (&[1_003_784], None, C::Numpress(Pic, Outer::Zstd)),
        (&[1_003_785], None, C::Numpress(Slof, Outer::Zstd)),
    ];
    for (terms, number, compression) in table {
        let reversed: Vec<u32> = terms.iter().rev().copied().collect();
        for order in [terms.to_vec(), reversed] {
            assert_eq!(encoding(&order).resolve(), Ok((*number, *compression)), "{order:?}");
        }
    }
    assert!(!Encoding::default().insert(1_000_514), "the m/z term is no encoding");
}

#[test]
fn terms_that_cannot_be_read_are_refused_by_name() {
    let table: &[(&[u32], &str)] = &[
        (&[F64, 1_003_089], "delta prediction"),
        (&[F64, 1_003_090], "linear prediction"),
        (&[1_001_479, ZLIB], "ASCII"),
        (&[1_000_520, ZLIB], "16-bit float"),
        (&[F64], "no compression"),
        (&[], "no compression"),
        (&[ZLIB], "no number type"),
        (&[F32, F64, ZLIB], "32-bit float and 64-bit float"),
        (&[F64, NONE, ZLIB], "no compression and zlib"),
        (&[F64, ZLIB, ZSTD], "zlib compression and zstd"),
        (&[LINEAR, PIC], "linear prediction"),
        (&[1_002_746, ZSTD], "both"),
        (&[LINEAR, SHUFFLED], "byte-shuffled"),
    ];
    for (terms, part) in table {
        let error = f64s(b"", terms, 0).unwrap_err();
        assert!(error.to_string().contains(part), "{terms:?}: {error}");
        let is_refused = matches!(error, DecodeError::Unsupported { .. });
        assert_eq!(error.code() == ErrorCode::UnsupportedFormat, is_refused, "{terms:?}");
    }
}

#[test]
fn s3_types_keep_their_precision() {
    let mut decoder = Decoder::default();
    let mut out = Values::default();
    let singles = [0.1_f32, -0.0, f32::NAN, f32::MIN_POSITIVE / 2.0, f32::INFINITY];
    let bytes: Vec<u8> = singles.iter().flat_map(|value| value.to_le_bytes()).collect();
    for (compressed, term) in [(bytes.clone(), NONE), (deflated(&bytes), ZLIB)] {
        let decoded =
            decoder.decode_values(&text(&compressed), &encoding(&[F32, term]), 5, &mut out).unwrap();
        assert_eq!(decoded, Decoded { count: 5, ..Decoded::default() });
        let Values::F32(kept) = &out else { panic!("32-bit floats were widened") };
        assert!(kept.iter().zip(&singles).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
    let mut wide = Vec::new();
    decoder.decode_f64(&text(&bytes), &encoding(&[F32, NONE]), 5, &mut wide).unwrap();
    assert!(wide.iter().zip(&singles).all(|(a, b)| a.to_bits() == f64::from(*b).to_bits()));

    let doubles = [0.1, f64::NAN, -5e-324];
    decoder.decode_values(&text(&le(&doubles)), &encoding(&[F64, NONE]), 3, &mut out).unwrap();
    let Values::F64(kept) = &out else { panic!("not 64-bit") };
    assert!(kept.iter().zip(&doubles).all(|(a, b)| a.to_bits() == b.to_bits()));

    let integers: Vec<u8> = [i32::MIN, -1, i32::MAX].iter().flat_map(|value| value.to_le_bytes()).collect();
    decoder.decode_values(&text(&integers), &encoding(&[I32, NONE]), 3, &mut out).unwrap();
    assert_eq!(out, Values::F64(vec![-2_147_483_648.0, -1.0, 2_147_483_647.0]));
}

#[test]
fn s3_an_integer_that_f64_cannot_hold_is_refused() {
    let limit = 1_i64 << 53;
    let table = [
        (limit, Ok(0)),
        (-limit, Ok(0)),
        (limit + 1, Err(())),
        (-limit - 1, Err(())),
        (limit + 2, Ok(1)),
        (i64::MIN, Ok(1)),
        (i64::MAX, Err(())),
    ];
    for (value, expected) in table {
        let bytes: Vec<u8> = [3, value].iter().flat_map(|value| value.to_le_bytes()).collect();
        let mut out = Vec::new();
        let result = Decoder::default().decode_f64(&text(&bytes), &encoding(&[I64, NONE]), 2, &mut out);
        match expected {
            Ok(beyond) => {
                assert_eq!(result.unwrap().beyond_2_53, beyond, "{value}");
                assert_eq!(out[1] as i128, i128::from(value));
            }
            Err(()) => assert_eq!(result, Err(DecodeError::Integer { value, index: 1 })),
        }
    }
}

#[test]
fn base64_takes_white_space_and_names_the_place_of_damage() {
    let whole = text(&le(&EIGHT[..2]));
    assert_eq!(whole.len(), 24);
    let mut spaced = b"\r\n\t ".to_vec();
    for byte in &whole {
        spaced.extend([*byte, b' ', b'\n']);
    }
    assert_eq!(f64s(&spaced, &[F64, NONE], 2).unwrap(), EIGHT[..2]);
    assert_eq!(f64s(b"", &[F64, NONE], 2).unwrap(), [0.0; 0]);
    assert_eq!(f64s(b" \n ", &[F64, ZLIB], 2).unwrap(), [0.0; 0]);

    let mut damaged = spaced.clone();
    damaged[4 + 3 * 7] = b'#';
    assert_eq!(f64s(&damaged, &[F64, NONE], 2), Err(DecodeError::Base64Byte { byte: b'#', offset: 25 }));
    for (bad, offset) in
        [("AAA", 2), ("AAAA=AAA", 5), ("AA==AAAA", 4), ("A===", 3), ("====", 3), ("AAAAAB==", 7)]
    {
        match f64s(bad.as_bytes(), &[F64, NONE], 1) {
            Err(DecodeError::Base64End { offset: found, .. }) => assert_eq!(found, offset, "{bad}"),
            other => panic!("{bad}: {other:?}"),
        }
    }
    assert_eq!(f64s(b"AA\x00A", &[F64, NONE], 1), Err(DecodeError::Base64Byte { byte: 0, offset: 2 }));
}

#[test]
fn a_byte_count_that_is_no_multiple_is_an_error() {
    for (accessions, bytes) in
        [([F64, NONE], vec![0; 12]), ([F64, ZLIB], deflated(&[0; 12])), ([F32, NONE], vec![0; 6])]
    {
        let error = f64s(&text(&bytes), &accessions, 2).unwrap_err();
        assert!(matches!(error, DecodeError::NotAMultiple { .. }), "{error}");
        assert_eq!(error.code(), ErrorCode::DamagedSource);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Nothing here may panic or give non-finite numbers out of MS-Numpress, whatever the bytes.
    #[test]
    fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..80), declared in any::<u64>()) {
        for compression in [NONE, ZLIB, ZSTD, SHUFFLED, DICTIONARY, LINEAR, PIC, SLOF, 1_002_746, 1_003_784] {
            for number in [F32, F64, I32, I64] {
                let is_numpress = matches!(compression, LINEAR | PIC | SLOF | 1_002_746 | 1_003_784);
                if let Ok(values) = f64s(&text(&bytes), &[number, compression], declared) {
                    prop_assert!(!is_numpress || values.iter().all(|value| value.is_finite()));
                }
                let _ = f64s(&bytes, &[number, compression], declared);
            }
        }
    }

    #[test]
    fn flipped_streams_never_panic(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()) {
        let values: Vec<f64> = (0..200).map(|i| f64::from(i % 17) * 1.5).collect();
        let zstd = ruzstd::encoding::compress_to_vec(le(&values).as_slice(), ruzstd::encoding::CompressionLevel::Fastest);
        let dictionary = base64_simd::STANDARD.decode_to_vec("KLUv/SBABQEAuDgABQAQEMwCQVlpcnl/QAABAQIDAwMEAxAAgW94wAI=").unwrap();
        let linear = numpress_encoder::linear(&values, 1000.0);
        for (mut stream, term) in [(deflated(&le(&values)), ZLIB), (zstd, ZSTD), (dictionary, DICTIONARY), (linear, LINEAR)] {
            let place = at.index(stream.len());
            stream[place] = byte;
            let _ = f64s(&text(&stream), &[F64, term], 200);
            stream.truncate(cut.index(stream.len()));
            let _ = f64s(&text(&stream), &[F64, term], 200);
        }
    }
}
