//! zlib and zstd: whole streams of any declared length, damage, and bombs.

use super::*;

#[test]
fn zlib_streams_of_any_declared_length_decode_whole() {
    let values: Vec<f64> = (0..5000).map(|i| f64::from(i) * 1.000_1).collect();
    let stream = text(&deflated(&le(&values)));
    for declared in [0, 1, 4999, 5000, 5001, 1 << 40, u64::MAX] {
        assert_eq!(f64s(&stream, &[F64, ZLIB], declared).unwrap(), values, "{declared}");
    }
    // zlib's stream for no bytes at all
    for declared in [0, 5] {
        assert_eq!(f64s(b"eJwDAAAAAAE=", &[F64, ZLIB], declared).unwrap(), [0.0; 0]);
    }
}

#[test]
fn zlib_damage_is_an_error_and_bytes_after_the_stream_are_noticed() {
    let sound = deflated(&le(&EIGHT));
    for size in 1..sound.len() {
        let error = f64s(&text(&sound[..size]), &[F64, ZLIB], 8).unwrap_err();
        assert!(matches!(error, DecodeError::Compressed { method: "zlib", .. }), "{size}: {error}");
    }
    let mut wrong_sum = sound.clone();
    *wrong_sum.last_mut().unwrap() ^= 1;
    assert!(f64s(&text(&wrong_sum), &[F64, ZLIB], 8).is_err());

    let mut out = Vec::new();
    let mut decoder = Decoder::default();
    assert!(
        !decoder.decode_f64(&text(&sound), &encoding(&[F64, ZLIB]), 8, &mut out).unwrap().has_trailing_bytes
    );
    let longer = [sound, vec![1, 2, 3]].concat();
    assert!(
        decoder.decode_f64(&text(&longer), &encoding(&[F64, ZLIB]), 8, &mut out).unwrap().has_trailing_bytes
    );
    assert_eq!(out, EIGHT);
}

#[test]
fn no_bomb_grows_beyond_its_cap() {
    let cap = 1 << 20;
    let zeros = vec![0_u8; 64 << 20];
    let zlib_bomb = text(&deflated(&zeros));
    let zstd_bomb = text(&ruzstd::encoding::compress_to_vec(
        zeros.as_slice(),
        ruzstd::encoding::CompressionLevel::Fastest,
    ));
    // 131,071 half-byte zeros twice as often as the cap allows
    let numpress_bomb = text(&vec![0x88; cap]);
    for (bomb, accessions) in [
        (&zlib_bomb, vec![F64, ZLIB]),
        (&zlib_bomb, vec![1_002_747]),
        (&zstd_bomb, vec![F64, ZSTD]),
        (&zstd_bomb, vec![F64, SHUFFLED]),
        (&zstd_bomb, vec![F64, DICTIONARY]),
        (&zstd_bomb, vec![1_003_785]),
        (&numpress_bomb, vec![PIC]),
    ] {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        let error = decoder.decode_f64(bomb, &encoding(&accessions), 5, &mut out).unwrap_err();
        let DecodeError::OverCap { declared: 5, cap: stated, seen } = error else {
            panic!("{accessions:?}: {error}")
        };
        assert!(seen > stated && stated <= 3 * cap as u64, "{accessions:?}");
        let limit = bomb.len() + 4 * cap;
        assert!(decoder.buffered_bytes() <= limit, "{accessions:?}: {} > {limit}", decoder.buffered_bytes());
        assert!(out.capacity() * 8 <= 2 * cap, "{accessions:?}");
    }
}

#[test]
fn a_large_buffer_is_given_back() {
    let values = vec![1.0; 6 << 20];
    let mut decoder = Decoder::default();
    let mut out = Vec::new();
    let stream = text(&deflated(&le(&values)));
    decoder.decode_f64(&stream, &encoding(&[F64, ZLIB]), values.len() as u64, &mut out).unwrap();
    assert_eq!(out.len(), values.len());
    assert!(decoder.buffered_bytes() < 32 << 20, "{}", decoder.buffered_bytes());
}

/// Streams made with libzstd 1.5 and a transform written for it from the layout alone.
#[test]
fn zstd_streams_of_the_reference_library_decode() {
    let with_checksum = "KLUv/SRA9QAAkAAAAAAAEFlAABBpzHICeUF/QAQAQGEw4BXBLDgC8oEneA==";
    let table = [
        (with_checksum, F64, ZSTD),
        ("KLUv/SBA9QAAkAAAAAAAEFlAABBpzHICeUF/QAQAQGEw4BXBLDgC", F64, ZSTD),
        ("KLUv/SBABQEA0AAAEBAQzAICAkFZaWlyeXl5f0BAQEBAQEBAAQAfgAU=", F64, SHUFFLED),
        ("KLUv/SBABQEAuDgABQAQEMwCQVlpcnl/QAABAQIDAwMEAxAAgW94wAI=", F64, DICTIONARY),
        ("KLUv/SAsHQEA2CQABQCAgGAQCMhIlsj6QkNDQ0MAAQECAwMDBAIAwOABYAE=", F32, DICTIONARY),
    ];
    for (stream, number, term) in table {
        for declared in [0, 8, 1 << 50] {
            assert_eq!(f64s(stream.as_bytes(), &[number, term], declared).unwrap(), EIGHT, "{stream}");
        }
        let sound = base64_simd::STANDARD.decode_to_vec(stream).unwrap();
        for size in 1..sound.len() {
            assert!(f64s(&text(&sound[..size]), &[number, term], 8).is_err(), "{stream} cut to {size} bytes");
        }
        let longer = [sound.as_slice(), &[1, 2, 3, 4, 5]].concat();
        assert!(f64s(&text(&longer), &[number, term], 8).is_err(), "bytes after the frame");
        // an empty skippable frame in front, and the same frame twice
        let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9], sound.as_slice()].concat();
        assert_eq!(f64s(&text(&skipped), &[number, term], 8).unwrap(), EIGHT, "{stream}");
    }
    let twice = base64_simd::STANDARD.decode_to_vec(with_checksum).unwrap().repeat(2);
    assert_eq!(f64s(&text(&twice), &[F64, ZSTD], 16).unwrap(), [EIGHT, EIGHT].concat());
    let mut wrong_sum = base64_simd::STANDARD.decode_to_vec(with_checksum).unwrap();
    *wrong_sum.last_mut().unwrap() ^= 1;
    let error = f64s(&text(&wrong_sum), &[F64, ZSTD], 8).unwrap_err();
    assert!(error.to_string().contains("checksum"), "{error}");
}

#[test]
fn dictionary_damage_is_an_error() {
    let build = |offset: u64, entries: u64, body: &[u8]| {
        let bytes = [&offset.to_le_bytes(), &entries.to_le_bytes(), body].concat();
        text(&ruzstd::encoding::compress_to_vec(
            bytes.as_slice(),
            ruzstd::encoding::CompressionLevel::Uncompressed,
        ))
    };
    let one = 1.5_f64.to_le_bytes();
    let body = [one.as_slice(), &[0, 0, 0]].concat();
    assert_eq!(f64s(&build(24, 1, &body), &[F64, DICTIONARY], 3).unwrap(), [1.5; 3]);
    assert_eq!(f64s(&build(16, 0, &[]), &[F64, DICTIONARY], 0).unwrap(), [0.0; 0]);
    let bad = [one.as_slice(), &[0, 1, 0]].concat();
    for (offset, entries, body) in [
        (24, 1, &bad),
        (0, 1, &body),
        (15, 1, &body),
        (u64::MAX, 1, &body),
        (24, u64::MAX, &body),
        (24, 2, &body),
        (16, 0, &body),
    ] {
        let error = f64s(&build(offset, entries, body), &[F64, DICTIONARY], 3).unwrap_err();
        assert!(matches!(error, DecodeError::Dictionary { .. }), "{offset} {entries}: {error}");
    }
    // 256 entries with two-byte indices, as some writers have it: the declared length tells
    let entries: Vec<f64> = (0..256).map(f64::from).collect();
    let shuffled: Vec<u8> =
        (0..8).flat_map(|place| entries.iter().map(move |value| value.to_le_bytes()[place])).collect();
    let wide = [shuffled.as_slice(), &[255, 7, 0, 0]].concat();
    assert_eq!(f64s(&build(16 + 2048, 256, &wide), &[F64, DICTIONARY], 2).unwrap(), [255.0, 7.0]);
}
