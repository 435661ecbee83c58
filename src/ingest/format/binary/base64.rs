//! Base64 text to bytes: the fast way first, white space only where that fails, and the offset of what is wrong.

use super::DecodeError;
use base64_simd::STANDARD;

/// Appends the bytes behind `text` to `out`. `stripped` is scratch for text with white space inside.
pub(super) fn decode(text: &[u8], stripped: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<(), DecodeError> {
    let trimmed = text.trim_ascii();
    if STANDARD.decode_append(trimmed, out).is_ok() {
        return Ok(());
    }
    if !trimmed.iter().any(u8::is_ascii_whitespace) {
        return Err(fault(text));
    }
    stripped.clear();
    stripped.extend(trimmed.iter().filter(|byte| !byte.is_ascii_whitespace()));
    STANDARD.decode_append(&stripped, out).map_err(|_| fault(text))
}

/// What is wrong with text that the decoder refused.
fn fault(text: &[u8]) -> DecodeError {
    let mut characters = 0;
    let mut padding = 0;
    let mut last = 0;
    for (offset, &byte) in text.iter().enumerate().filter(|(_, byte)| !byte.is_ascii_whitespace()) {
        let in_alphabet = byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
        if !in_alphabet && byte != b'=' {
            return DecodeError::Base64Byte { byte, offset };
        }
        if in_alphabet && padding > 0 {
            return DecodeError::Base64End { characters, offset, what: "text goes on after the padding" };
        }
        characters += 1;
        padding += usize::from(byte == b'=');
        last = offset;
    }
    let what = match (characters % 4, padding) {
        (0, 0..=2) => "the last character has stray bits",
        (_, 3..) => "there is too much padding",
        (_, 0) => "the last group of four is incomplete, or its padding is missing",
        _ => "the last group of four is incomplete",
    };
    DecodeError::Base64End { characters, offset: last, what }
}
