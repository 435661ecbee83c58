//! D1: flipped bits never panic, never hang, and never change a peak in silence.
//!
//! Mutations come from a seeded generator, so that a failure comes again. The whole test is a loop of loads; a hang
//! shows as one that does not end.

use crate::damage::{four, gzip, own, points};
use crate::loading::{STRICT, TOLERANT, load_bytes, load_text};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const MUTATIONS: usize = 2000;

/// Positions of the base64 text: bytes that a flip may turn into other peaks.
fn is_base64(text: &str) -> Vec<bool> {
    let mut inside = vec![false; text.len()];
    for (start, _) in text.match_indices("<binary>") {
        let start = start + "<binary>".len();
        let length = text[start..].find('<').unwrap();
        inside[start..start + length].fill(true);
    }
    inside
}

/// A flip in the markup of mzML is an error, a warning, or leaves every peak as it was; also tolerantly.
#[test]
fn flipped_bits_of_mzml_are_noticed_or_harmless() {
    let text = four();
    let inside = is_base64(&text);
    let whole = points(&load_text(&text));
    let peaks = |points: &[(String, Vec<u64>, Vec<u64>)]| -> Vec<(Vec<u64>, Vec<u64>)> {
        points.iter().map(|(_, mz, intensity)| (mz.clone(), intensity.clone())).collect()
    };
    let expected = peaks(&whole);
    let mut random = StdRng::seed_from_u64(20_261_130);
    let (mut refused, mut unchanged, mut said) = (0, 0, 0);
    for _ in 0..MUTATIONS {
        let at = random.random_range(0..text.len());
        let bit = random.random_range(0..8);
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1 << bit;
        let place = || {
            format!(
                "bit {bit} of byte {at}: {}",
                String::from_utf8_lossy(&bytes[at.saturating_sub(30)..bytes.len().min(at + 30)])
            )
        };
        let Ok(loaded) = load_bytes(&bytes, &STRICT) else {
            refused += 1;
            // what a tolerant load keeps of the markup's damage is something that the file says
            if let Ok(loaded) = load_bytes(&bytes, &TOLERANT) {
                assert!(!loaded.is_complete(), "{}", place());
                let kept = peaks(&points(&loaded));
                assert!(inside[at] || kept.iter().all(|peaks| expected.contains(peaks)), "{}", place());
            }
            continue;
        };
        assert!(loaded.is_complete());
        if peaks(&points(&loaded)) == expected {
            unchanged += 1;
        } else if !inside[at] {
            assert!(!loaded.warnings.is_empty(), "peaks changed in silence by {}", place());
            said += 1;
        }
    }
    assert!(
        refused > MUTATIONS / 10 && unchanged > MUTATIONS / 10,
        "{refused} refused, {unchanged} unchanged, {said} said"
    );
}

/// In gzip nothing passes: the checksum covers every byte of the text, and the header holds none.
#[test]
fn flipped_bits_of_gzip_are_noticed_or_harmless() {
    let packed = gzip(four().as_bytes());
    let whole = points(&load_text(&four()));
    let mut random = StdRng::seed_from_u64(20_261_201);
    let mut refused = 0;
    for _ in 0..MUTATIONS {
        let at = random.random_range(0..packed.len());
        let bit = random.random_range(0..8);
        let mut bytes = packed.clone();
        bytes[at] ^= 1 << bit;
        match load_bytes(&bytes, &STRICT) {
            Ok(loaded) => assert_eq!(points(&loaded), whole, "bit {bit} of byte {at}"),
            Err(_) => refused += 1,
        }
        if let Ok(loaded) = load_bytes(&bytes, &TOLERANT) {
            let is_all = points(&loaded) == whole;
            assert!(!loaded.is_complete() || is_all, "bit {bit} of byte {at}");
        }
    }
    assert!(refused > MUTATIONS * 9 / 10, "only {refused} were refused");
}

/// MGF has no checksum and no types: a flip in a number is another number. It may not panic, hang or lose a block.
#[test]
fn flipped_bits_of_mgf_lose_no_block() {
    let block = "BEGIN IONS\nTITLE=a\nPEPMASS=500.25 100\nCHARGE=2+\nRTINSECONDS=90\n100.5 10\n200.25 30\n300.125 20\nEND IONS\n";
    let text = block.repeat(4);
    let mut random = StdRng::seed_from_u64(20_261_202);
    let mut refused = 0;
    for _ in 0..MUTATIONS {
        let at = random.random_range(0..text.len());
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1 << random.random_range(0..8);
        match load_bytes(&bytes, &STRICT) {
            Ok(loaded) => {
                let is_whole = loaded.arena.totals().spectrum_count == 4;
                assert!(
                    is_whole || !loaded.warnings.is_empty(),
                    "byte {at}: {}",
                    String::from_utf8_lossy(&bytes)
                );
            }
            Err(_) => refused += 1,
        }
        let _ = load_bytes(&bytes, &TOLERANT);
    }
    assert!(refused > 50, "only {refused} were refused");
}

/// Whole stretches overwritten, doubled or cut out: an error, or a part that says so.
#[test]
fn torn_files_never_panic() {
    let text = four() + &own(1).text();
    let mut random = StdRng::seed_from_u64(20_261_203);
    for _ in 0..MUTATIONS / 4 {
        let mut bytes = text.clone().into_bytes();
        let start = random.random_range(0..bytes.len());
        let end = (start + random.random_range(1..200)).min(bytes.len());
        match random.random_range(0..3) {
            0 => bytes[start..end].fill(random.random()),
            1 => drop(bytes.splice(start..start, text.as_bytes()[start..end].to_vec())),
            _ => drop(bytes.drain(start..end)),
        }
        for options in [STRICT, TOLERANT] {
            let _ = load_bytes(&bytes, &options);
        }
    }
}
