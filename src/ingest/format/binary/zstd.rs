//! Zstandard frames, bounded, and the two transforms that PSI-MS puts under them.

use super::DecodeError;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::Read;

/// Windows up to this size are what every decoder must support (RFC 8878), however small the data.
const WINDOW_ALWAYS: u64 = 8 << 20;
/// How much is decoded between two looks at the cap.
const STEP: usize = 128 << 10;

/// Appends what the frames of `stream` hold to `out`, at most `cap` bytes.
pub(super) fn zstd(mut stream: &[u8], cap: usize, out: &mut Vec<u8>) -> Result<(), DecodeError> {
    let byte_count = stream.len();
    let damaged = |what: String| DecodeError::Compressed { method: "zstd", byte_count, what };
    let most = out.len().saturating_add(cap);
    while !stream.is_empty() {
        let over = |seen: u64| DecodeError::OverCap { cap: cap as u64, declared: 0, seen };
        if let Some(window) = window_size(stream)
            && window > WINDOW_ALWAYS.max(cap as u64)
        {
            return Err(over(window));
        }
        // a decoder of its own per frame: a reused one reserves the window that a header merely claims
        let mut decoder = FrameDecoder::new();
        match decoder.init(&mut stream) {
            Ok(()) => {}
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length, ..
            })) => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                stream =
                    stream.get(length..).ok_or_else(|| damaged("a skippable frame is cut".to_owned()))?;
                continue;
            }
            Err(error) => return Err(damaged(error.to_string())),
        }
        if decoder.content_size() > (most - out.len()) as u64 {
            return Err(over(decoder.content_size()));
        }
        while !(decoder.is_finished() && decoder.can_collect() == 0) {
            if !decoder.is_finished() {
                decoder
                    .decode_blocks(&mut stream, BlockDecodingStrategy::UptoBytes(STEP))
                    .map_err(|error| damaged(error.to_string()))?;
            }
            let ready = decoder.can_collect();
            if ready > most - out.len() {
                return Err(over((out.len() + ready) as u64));
            }
            let start = out.len();
            out.resize(start + ready, 0);
            let target = out.get_mut(start..).unwrap_or_default();
            decoder.read_exact(target).map_err(|error| damaged(error.to_string()))?;
        }
        if decoder.get_checksum_from_data() != decoder.get_calculated_checksum()
            && decoder.get_checksum_from_data().is_some()
        {
            return Err(damaged("its checksum is wrong".to_owned()));
        }
    }
    Ok(())
}

/// Window that a frame header asks for; `None` where it is no frame or the window is the content.
fn window_size(frame: &[u8]) -> Option<u64> {
    let header = frame.strip_prefix(&[0x28, 0xb5, 0x2f, 0xfd])?;
    let (&descriptor, rest) = header.split_first()?;
    let is_single_segment = descriptor & 0x20 != 0;
    if is_single_segment {
        return None;
    }
    let window = *rest.first()?;
    let base = 1_u64 << (10 + (window >> 3));
    Some(base + base / 8 * u64::from(window & 7))
}

/// Undoes byte shuffling: `data` holds the first bytes of all values of `width` bytes, then the second ones, and so
/// on. Its length is a multiple of `width`.
pub(super) fn unshuffle(data: &[u8], width: usize, out: &mut Vec<u8>) {
    let start = out.len();
    let count = data.len() / width;
    out.resize(start + data.len(), 0);
    let Some(target) = out.get_mut(start..).filter(|_| count > 0) else {
        return;
    };
    for (place, plane) in data.chunks_exact(count).enumerate() {
        for (value, byte) in target.chunks_exact_mut(width).zip(plane) {
            if let Some(slot) = value.get_mut(place) {
                *slot = *byte;
            }
        }
    }
}

/// Takes dictionary-encoded `data` apart. The layout, as two independent writers have it:
///
/// ```text
/// 0        8         16                      offset
/// | offset | entries | entries, byte-shuffled | indices, byte-shuffled |
/// ```
///
/// An index takes 1, 2, 4 or 8 bytes, the fewest that can name every entry. `unshuffled` becomes entries and indices.
pub(super) fn dictionary<'a>(
    data: &[u8],
    width: usize,
    declared: u64,
    unshuffled: &'a mut Vec<u8>,
) -> Result<Indices<'a>, DecodeError> {
    let byte_count = data.len();
    let damaged = |what: String| Err(DecodeError::Dictionary { byte_count, what });
    unshuffled.clear();
    if data.is_empty() {
        return Ok(Indices { table: &[], indices: &[], width, index_width: 1, byte_count });
    }
    let header = data.split_first_chunk::<8>();
    let Some((offset, (entries, body))) =
        header.and_then(|(a, rest)| Some((a, rest.split_first_chunk::<8>()?)))
    else {
        return damaged("its header of 16 bytes is cut".to_owned());
    };
    let (offset, entries) = (u64::from_le_bytes(*offset), u64::from_le_bytes(*entries));
    let table_size = usize::try_from(offset).ok().and_then(|offset| offset.checked_sub(16));
    let Some((table, indices)) = table_size.and_then(|size| body.split_at_checked(size)) else {
        return damaged(format!("its indices are said to start at byte {offset}"));
    };
    if entries.checked_mul(width as u64) != Some(table.len() as u64) {
        return damaged(format!("{entries} entries of {width} bytes do not fill {} bytes", table.len()));
    }
    let index_width = index_width(entries, indices.len() as u64, declared);
    if !indices.len().is_multiple_of(index_width) {
        return damaged(format!("{} bytes of indices do not divide by {index_width}", indices.len()));
    }
    unshuffle(table, width, unshuffled);
    unshuffle(indices, index_width, unshuffled);
    let (table, indices) = unshuffled.split_at(table.len());
    Ok(Indices { table, indices, width, index_width, byte_count })
}

/// Indices into a table of values.
pub(super) struct Indices<'a> {
    table: &'a [u8],
    indices: &'a [u8],
    /// Size of a value, bytes.
    width: usize,
    /// Size of an index, bytes.
    index_width: usize,
    /// Size of the whole dictionary-encoded data, bytes.
    byte_count: usize,
}

impl Indices<'_> {
    /// Appends the bytes of all values to `out`, unless they are more than `cap`.
    pub(super) fn look_up(&self, cap: usize, out: &mut Vec<u8>) -> Result<(), DecodeError> {
        let size = (self.indices.len() / self.index_width).saturating_mul(self.width);
        if size > cap {
            return Err(DecodeError::OverCap { cap: cap as u64, declared: 0, seen: size as u64 });
        }
        out.reserve(size);
        for index in self.indices.chunks_exact(self.index_width) {
            let index = index.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
            let entry = usize::try_from(index).ok().and_then(|index| {
                let start = index.checked_mul(self.width)?;
                self.table.get(start..start.checked_add(self.width)?)
            });
            let Some(entry) = entry else {
                let what = format!("index {index} of {} entries", self.table.len() / self.width);
                return Err(DecodeError::Dictionary { byte_count: self.byte_count, what });
            };
            out.extend_from_slice(entry);
        }
        Ok(())
    }
}

/// Size of an index. Writers differ where the number of entries is exactly 256 or 65,536; the declared length decides.
fn index_width(entries: u64, byte_count: u64, declared: u64) -> usize {
    let (fewest, next) = match entries {
        0..=0x100 => (1, 2),
        0x101..=0x1_0000 => (2, 4),
        0x1_0001..=0x1_0000_0000 => (4, 8),
        _ => (8, 8),
    };
    let is_edge = matches!(entries, 0x100 | 0x1_0000 | 0x1_0000_0000);
    if is_edge && declared.checked_mul(next) == Some(byte_count) { next as usize } else { fewest as usize }
}
