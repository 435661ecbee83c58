//! Why an array cannot be decoded.

use super::NumpressKind;
use crate::code::ErrorCode;

/// Why an array cannot be decoded. Places inside the text are byte offsets from its first byte.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// A byte of the text is not in the base64 alphabet.
    #[error("base64 text has byte 0x{byte:02x} at offset {offset}, which is outside its alphabet")]
    Base64Byte {
        /// The byte.
        byte: u8,
        /// Where, counted from the start of the text.
        offset: usize,
    },
    /// The text does not end as base64 does: incomplete group, missing padding or stray bits.
    #[error("base64 text of {characters} characters ends wrongly at offset {offset}: {what}")]
    Base64End {
        /// Characters of the alphabet, padding included.
        characters: usize,
        /// Where, counted from the start of the text.
        offset: usize,
        /// What is wrong with the end.
        what: &'static str,
    },
    /// The bytes are not a sound zlib or zstd stream, or their checksum is wrong.
    #[error("{method} data of {byte_count} bytes is damaged: {what}")]
    Compressed {
        /// `zlib` or `zstd`.
        method: &'static str,
        /// How many compressed bytes there are.
        byte_count: usize,
        /// Which check failed.
        what: String,
    },
    /// The array decodes to more than its declared length allows.
    #[error("decodes to more than {cap} bytes, the limit for {declared} declared values (seen: {seen})")]
    OverCap {
        /// Limit in bytes: the declared values' size, 1 MiB at least.
        cap: u64,
        /// Declared number of values.
        declared: u64,
        /// What was seen before decoding stopped, in bytes; the whole array may be larger.
        seen: u64,
    },
    /// The number of bytes does not divide into values.
    #[error("{byte_count} bytes are not a multiple of {width}, the size of one {number}")]
    NotAMultiple {
        /// How many bytes there are.
        byte_count: usize,
        /// Size of one value in bytes.
        width: usize,
        /// PSI-MS name of the number type.
        number: &'static str,
    },
    /// The bytes are not sound MS-Numpress data.
    #[error("MS-Numpress {kind} data of {byte_count} bytes is damaged: {what}")]
    Numpress {
        /// Which of the three algorithms.
        kind: NumpressKind,
        /// How many bytes there are.
        byte_count: usize,
        /// What is wrong, with the values.
        what: String,
    },
    /// The dictionary in front of the values is not sound.
    #[error("dictionary-encoded data of {byte_count} bytes is damaged: {what}")]
    Dictionary {
        /// How many bytes there are.
        byte_count: usize,
        /// What is wrong, with the values.
        what: String,
    },
    /// A 64-bit integer has no exact 64-bit float.
    #[error("the integer {value} at position {index} has no exact 64-bit float")]
    Integer {
        /// The integer.
        value: i64,
        /// Its position in the array, from 0.
        index: usize,
    },
    /// An encoding that is known and not read.
    #[error("{name} (MS:{accession}) is not supported; convert the file with zlib compression")]
    Unsupported {
        /// PSI-MS name.
        name: &'static str,
        /// PSI-MS accession number.
        accession: u32,
    },
    /// The array does not say what it is.
    #[error("the array states no {what}")]
    Unstated {
        /// `number type` or `compression`.
        what: &'static str,
    },
    /// The array says two things that exclude each other.
    #[error("the array states both {first} and {second}")]
    Contradiction {
        /// One term's name.
        first: &'static str,
        /// The other's.
        second: &'static str,
    },
}

impl DecodeError {
    /// The stable code of this error.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unsupported { .. } => ErrorCode::UnsupportedFormat,
            _ => ErrorCode::DamagedSource,
        }
    }
}
