//! zlib streams, whole and bounded.

use super::DecodeError;
use libdeflater::{DecompressionError, Decompressor};

/// Smallest output buffer: enough for any stream of a few values, so that most need no second attempt.
const SMALLEST: usize = 1 << 10;
/// The first attempt believes a declaration up to this many times the compressed size; growth does the rest.
const LIKELY_RATIO: usize = 32;

/// A stream that has been inflated into the front of a buffer.
pub(super) struct Inflated {
    /// How many bytes of the buffer are the data.
    pub(super) byte_count: usize,
    /// Bytes follow the end of the stream.
    pub(super) has_trailing_bytes: bool,
}

/// Inflates `stream` into the front of `out`, which grows to what is needed and never above `cap` bytes.
/// `expected` is the declared size in bytes. Nothing is allocated for the declaration alone.
pub(super) fn zlib(
    decompressor: &mut Decompressor,
    stream: &[u8],
    expected: u64,
    cap: usize,
    out: &mut Vec<u8>,
) -> Result<Inflated, DecodeError> {
    let believable = stream.len().saturating_mul(LIKELY_RATIO);
    let mut room = usize::try_from(expected).unwrap_or(usize::MAX).min(believable).max(SMALLEST).min(cap);
    loop {
        if out.len() < room {
            out.reserve_exact(room - out.len());
            out.resize(room, 0);
        }
        let target = out.get_mut(..room).unwrap_or_default();
        match decompressor.zlib_decompress(stream, target) {
            Ok(byte_count) => {
                let data = target.get(..byte_count).unwrap_or_default();
                // the checksum stands at the very end, unless something follows the stream
                let sum = libdeflater::adler32(data).to_be_bytes();
                return Ok(Inflated { byte_count, has_trailing_bytes: !stream.ends_with(&sum) });
            }
            Err(DecompressionError::InsufficientSpace) if room < cap => {
                room = room.saturating_mul(2).min(cap);
            }
            Err(DecompressionError::InsufficientSpace) => {
                return Err(DecodeError::OverCap { cap: cap as u64, declared: 0, seen: cap as u64 + 1 });
            }
            Err(DecompressionError::BadData) => {
                return Err(DecodeError::Compressed {
                    method: "zlib",
                    byte_count: stream.len(),
                    what: "the stream is cut, corrupt or fails its checksum".to_owned(),
                });
            }
        }
    }
}
