//! The steps from text to values, and the buffers between them.

use super::encoding::{Compression, Encoding, NumberType, Outer};
use super::{DecodeError, base64, inflate, integers, numpress, zstd};
use crate::ingest::incoming::Values;
use libdeflater::Decompressor;
use std::fmt;

/// Arrays may always decode to this many bytes, whatever is declared: wrong declarations are common and harmless.
const CAP_ALWAYS: u64 = 1 << 20;
/// A buffer above this size is given back after the array that needed it.
const KEPT: usize = 32 << 20;

/// What came out of one array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Decoded {
    /// Number of values.
    pub count: usize,
    /// The array was stored by a lossy method (MS-Numpress).
    pub is_lossy: bool,
    /// How many integers lie beyond 2^53; each has an exact 64-bit float nevertheless.
    pub beyond_2_53: u64,
    /// Bytes follow the end of the zlib stream; they were ignored.
    pub has_trailing_bytes: bool,
}

/// Decodes arrays one after the other. Make one per thread and reuse it: its buffers are what it is for.
///
/// ```
/// use mzarena::ingest::format::binary::{Decoder, Encoding};
/// let mut encoding = Encoding::default();
/// encoding.insert(1_000_521); // 32-bit float
/// encoding.insert(1_000_576); // no compression
/// let mut mz = Vec::new();
/// let decoded = Decoder::default().decode_f64(b"AADAPw==", &encoding, 1, &mut mz)?;
/// assert_eq!((decoded.count, mz.as_slice()), (1, [1.5].as_slice()));
/// # Ok::<(), mzarena::ingest::format::binary::DecodeError>(())
/// ```
#[derive(Default)]
pub struct Decoder {
    decompressor: Decompressor,
    /// Bytes behind the base64 text.
    raw: Vec<u8>,
    /// Bytes behind the general compression; its length is a high-water mark, not that of the data.
    inflated: Vec<u8>,
    /// Bytes behind byte shuffling or a dictionary; text without its white space.
    plain: Vec<u8>,
    scratch: Vec<u8>,
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").field("buffered_bytes", &self.buffered_bytes()).finish_non_exhaustive()
    }
}

/// An array on its way: its bytes, or MS-Numpress data.
enum Stage<'a> {
    Bytes(&'a [u8], NumberType),
    Numpress(&'a [u8], super::NumpressKind),
}

impl Decoder {
    /// Replaces the contents of `out` by the values behind `text`, the base64 as it stands between the tags, white
    /// space included. `declared` is the number of values that the file states; it only caps the size. 32-bit
    /// sources widen exactly.
    ///
    /// # Errors
    ///
    /// Any [`DecodeError`]; `out` is empty then.
    pub fn decode_f64(
        &mut self,
        text: &[u8],
        encoding: &Encoding,
        declared: u64,
        out: &mut Vec<f64>,
    ) -> Result<Decoded, DecodeError> {
        out.clear();
        let result = self.stage(text, encoding, declared).and_then(|(stage, mut decoded)| {
            decoded.beyond_2_53 = append_f64(stage, declared, out)?;
            decoded.count = out.len();
            Ok(decoded)
        });
        self.finish(result, declared, || out.clear())
    }

    /// As [`Decoder::decode_f64`], but 32-bit floats stay what they are.
    ///
    /// # Errors
    ///
    /// Any [`DecodeError`]; `out` is empty then.
    pub fn decode_values(
        &mut self,
        text: &[u8],
        encoding: &Encoding,
        declared: u64,
        out: &mut Values,
    ) -> Result<Decoded, DecodeError> {
        let result = self.stage(text, encoding, declared).and_then(|(stage, mut decoded)| {
            match stage {
                Stage::Bytes(bytes, NumberType::F32) => append_f32(bytes, out.as_cleared_f32()),
                stage => decoded.beyond_2_53 = append_f64(stage, declared, out.as_cleared_f64())?,
            }
            decoded.count = out.len();
            Ok(decoded)
        });
        self.finish(result, declared, || match out {
            Values::F32(values) => values.clear(),
            Values::F64(values) => values.clear(),
        })
    }

    /// Bytes that the buffers hold at the moment.
    pub fn buffered_bytes(&self) -> usize {
        self.raw.capacity() + self.inflated.capacity() + self.plain.capacity() + self.scratch.capacity()
    }

    /// Everything before numbers.
    fn stage(
        &mut self,
        text: &[u8],
        encoding: &Encoding,
        declared: u64,
    ) -> Result<(Stage<'_>, Decoded), DecodeError> {
        let (number, compression) = encoding.resolve()?;
        let width = number.map_or(8, NumberType::width);
        let cap = cap(declared, width);
        self.raw.clear();
        base64::decode(text, &mut self.plain, &mut self.raw)?;
        let mut decoded = Decoded::default();
        if let Compression::Numpress(kind, outer) = compression {
            decoded.is_lossy = true;
            let data = match outer {
                Outer::None => &self.raw,
                Outer::Zlib => self.inflate(cap, declared, width, &mut decoded)?,
                Outer::Zstd => self.zstd(cap)?,
            };
            return Ok((Stage::Numpress(data, kind), decoded));
        }
        let number = number.ok_or(DecodeError::Unstated { what: "number type" })?;
        let bytes = match compression {
            Compression::None | Compression::Numpress(..) => &self.raw,
            Compression::Zlib => self.inflate(cap, declared, width, &mut decoded)?,
            Compression::Zstd => self.zstd(cap)?,
            Compression::ZstdByteShuffled => {
                check_width(self.zstd(cap)?, number)?;
                self.plain.clear();
                zstd::unshuffle(&self.inflated, width, &mut self.plain);
                &self.plain
            }
            Compression::ZstdDictionary => {
                // beside the values there are a header and, for each value, an index of up to 8 bytes
                self.zstd(cap.saturating_mul(3))?;
                self.plain.clear();
                let indices = zstd::dictionary(&self.inflated, width, declared, &mut self.scratch)?;
                indices.look_up(cap, &mut self.plain)?;
                &self.plain
            }
        };
        check_width(bytes, number)?;
        Ok((Stage::Bytes(bytes, number), decoded))
    }

    fn inflate(
        &mut self,
        cap: usize,
        declared: u64,
        width: usize,
        decoded: &mut Decoded,
    ) -> Result<&[u8], DecodeError> {
        if self.raw.is_empty() {
            return Ok(&[]);
        }
        let expected = declared.saturating_mul(width as u64);
        let inflated = inflate::zlib(&mut self.decompressor, &self.raw, expected, cap, &mut self.inflated)?;
        decoded.has_trailing_bytes = inflated.has_trailing_bytes;
        Ok(self.inflated.get(..inflated.byte_count).unwrap_or_default())
    }

    fn zstd(&mut self, cap: usize) -> Result<&[u8], DecodeError> {
        self.inflated.clear();
        zstd::zstd(&self.raw, cap, &mut self.inflated)?;
        Ok(&self.inflated)
    }

    /// Gives large buffers back, and leaves no half-filled output behind an error.
    fn finish(
        &mut self,
        mut result: Result<Decoded, DecodeError>,
        declared: u64,
        clear: impl FnOnce(),
    ) -> Result<Decoded, DecodeError> {
        for buffer in [&mut self.raw, &mut self.inflated, &mut self.plain, &mut self.scratch] {
            if buffer.capacity() > KEPT {
                *buffer = Vec::new();
            }
        }
        if let Err(error) = &mut result {
            clear();
            // the inner steps know the cap alone
            if let DecodeError::OverCap { declared: stated, .. } = error {
                *stated = declared;
            }
        }
        result
    }
}

/// Most bytes that an array may decode to.
fn cap(declared: u64, width: usize) -> usize {
    let bytes = declared.saturating_mul(width as u64).max(CAP_ALWAYS);
    usize::try_from(bytes).unwrap_or(usize::MAX).min(isize::MAX as usize / 4)
}

fn check_width(bytes: &[u8], number: NumberType) -> Result<(), DecodeError> {
    let (byte_count, width) = (bytes.len(), number.width());
    if byte_count.is_multiple_of(width) {
        Ok(())
    } else {
        Err(DecodeError::NotAMultiple { byte_count, width, number: number.name() })
    }
}

/// Appends 32-bit floats as they are.
fn append_f32(bytes: &[u8], out: &mut Vec<f32>) {
    out.extend(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
}

/// Appends values as 64-bit floats; how many integers lie beyond 2^53.
fn append_f64(stage: Stage<'_>, declared: u64, out: &mut Vec<f64>) -> Result<u64, DecodeError> {
    match stage {
        Stage::Numpress(data, kind) => numpress::decode(kind, data, cap(declared, 8) / 8, out)?,
        Stage::Bytes(bytes, NumberType::F64) => {
            out.extend(bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)));
        }
        Stage::Bytes(bytes, NumberType::F32) => {
            out.extend(bytes.as_chunks::<4>().0.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes))));
        }
        Stage::Bytes(bytes, NumberType::I32) => {
            out.extend(bytes.as_chunks::<4>().0.iter().map(|bytes| f64::from(i32::from_le_bytes(*bytes))));
        }
        Stage::Bytes(bytes, NumberType::I64) => return integers::append_i64(bytes, out),
    }
    Ok(0)
}
