//! What a `binaryDataArray` says of its encoding, gathered by accession number and resolved once.

use super::{DecodeError, NumpressKind};

/// Type of the stored numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NumberType {
    /// 32-bit float (MS:1000521).
    F32,
    /// 64-bit float (MS:1000523).
    F64,
    /// 32-bit integer (MS:1000519).
    I32,
    /// 64-bit integer (MS:1000522).
    I64,
}

impl NumberType {
    /// Size of one value, bytes.
    pub fn width(self) -> usize {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 => 8,
        }
    }

    /// PSI-MS name.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "32-bit float",
            Self::F64 => "64-bit float",
            Self::I32 => "32-bit integer",
            Self::I64 => "64-bit integer",
        }
    }
}

/// General compression around MS-Numpress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outer {
    /// None.
    None,
    /// zlib (RFC 1950).
    Zlib,
    /// Zstandard (RFC 8878).
    Zstd,
}

/// How the bytes of an array were compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compression {
    /// MS:1000576.
    None,
    /// MS:1000574, and MS:1003088, whose truncation happened before.
    Zlib,
    /// MS:1003780.
    Zstd,
    /// MS:1003781.
    ZstdByteShuffled,
    /// MS:1003782.
    ZstdDictionary,
    /// MS:1002312 to MS:1002314, alone or inside a general compression.
    Numpress(NumpressKind, Outer),
}

/// Gathers the accession numbers of one `binaryDataArray`; terms that do not concern its encoding are left alone.
///
/// ```
/// use mzarena::ingest::format::binary::{Compression, Encoding, NumberType};
/// let mut encoding = Encoding::default();
/// for accession in [1_000_523, 1_000_574, 1_000_514] {
///     encoding.insert(accession);
/// }
/// assert_eq!(encoding.resolve(), Ok((Some(NumberType::F64), Compression::Zlib)));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Encoding {
    /// Bit `n` stands for row `n` of [`TERMS`].
    seen: u32,
}

/// What a term says.
#[derive(Clone, Copy)]
enum Says {
    Number(NumberType),
    Compression(Compression),
    Refused,
}

/// Accession number, PSI-MS name and meaning of every term that this module knows.
const TERMS: &[(u32, &str, Says)] = &[
    (1_000_521, "32-bit float", Says::Number(NumberType::F32)),
    (1_000_523, "64-bit float", Says::Number(NumberType::F64)),
    (1_000_519, "32-bit integer", Says::Number(NumberType::I32)),
    (1_000_522, "64-bit integer", Says::Number(NumberType::I64)),
    (1_000_520, "16-bit float", Says::Refused),
    (1_001_479, "null-terminated ASCII string", Says::Refused),
    (1_000_576, "no compression", Says::Compression(Compression::None)),
    (1_000_574, "zlib compression", Says::Compression(Compression::Zlib)),
    (1_003_088, "truncation and zlib compression", Says::Compression(Compression::Zlib)),
    (1_003_089, "truncation, delta prediction and zlib compression", Says::Refused),
    (1_003_090, "truncation, linear prediction and zlib compression", Says::Refused),
    (1_003_780, "zstd compression", Says::Compression(Compression::Zstd)),
    (1_003_781, "byte-shuffled zstd compression", Says::Compression(Compression::ZstdByteShuffled)),
    (1_003_782, "dictionary-encoded zstd compression", Says::Compression(Compression::ZstdDictionary)),
    (1_002_312, "MS-Numpress linear prediction compression", numpress(NumpressKind::Linear, Outer::None)),
    (1_002_313, "MS-Numpress positive integer compression", numpress(NumpressKind::Pic, Outer::None)),
    (1_002_314, "MS-Numpress short logged float compression", numpress(NumpressKind::Slof, Outer::None)),
    (
        1_002_746,
        "MS-Numpress linear prediction compression followed by zlib compression",
        numpress(NumpressKind::Linear, Outer::Zlib),
    ),
    (
        1_002_747,
        "MS-Numpress positive integer compression followed by zlib compression",
        numpress(NumpressKind::Pic, Outer::Zlib),
    ),
    (
        1_002_748,
        "MS-Numpress short logged float compression followed by zlib compression",
        numpress(NumpressKind::Slof, Outer::Zlib),
    ),
    (
        1_003_783,
        "MS-Numpress linear prediction compression followed by zstd compression",
        numpress(NumpressKind::Linear, Outer::Zstd),
    ),
    (
        1_003_784,
        "MS-Numpress positive integer compression followed by zstd compression",
        numpress(NumpressKind::Pic, Outer::Zstd),
    ),
    (
        1_003_785,
        "MS-Numpress short logged float compression followed by zstd compression",
        numpress(NumpressKind::Slof, Outer::Zstd),
    ),
];

const fn numpress(kind: NumpressKind, outer: Outer) -> Says {
    Says::Compression(Compression::Numpress(kind, outer))
}

impl Encoding {
    /// Notes the term with this accession number (`1_000_574` for MS:1000574); whether it concerns the encoding.
    pub fn insert(&mut self, accession: u32) -> bool {
        match TERMS.iter().position(|(known, ..)| *known == accession) {
            Some(row) => {
                self.seen |= 1 << row;
                true
            }
            None => false,
        }
    }

    /// Whether no term was noted.
    pub fn is_empty(self) -> bool {
        self.seen == 0
    }

    /// Number type and compression. The type is `None` only for MS-Numpress, which has its own.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Unsupported`] for a term that is refused by name, [`DecodeError::Unstated`] where a type or
    /// a compression is missing, [`DecodeError::Contradiction`] where two terms exclude each other.
    pub fn resolve(self) -> Result<(Option<NumberType>, Compression), DecodeError> {
        let mut number: Option<(NumberType, &'static str)> = None;
        let mut contradiction = None;
        let mut compression: Option<(Compression, &'static str)> = None;
        for (row, (accession, name, says)) in TERMS.iter().enumerate() {
            if self.seen & (1 << row) == 0 {
                continue;
            }
            match *says {
                Says::Refused => return Err(DecodeError::Unsupported { name, accession: *accession }),
                Says::Number(new) => match number {
                    Some((_, first)) => {
                        contradiction = Some(DecodeError::Contradiction { first, second: name })
                    }
                    None => number = Some((new, name)),
                },
                Says::Compression(new) => compression = Some(join(compression, new, name)?),
            }
        }
        match (number, compression) {
            (_, None) => Err(DecodeError::Unstated { what: "compression" }),
            // the type beside MS-Numpress says nothing: it always decodes to 64-bit floats
            (_, Some((compression @ Compression::Numpress(..), _))) => Ok((None, compression)),
            (None, Some(_)) => Err(DecodeError::Unstated { what: "number type" }),
            (Some((number, _)), Some((compression, _))) => match contradiction {
                Some(error) => Err(error),
                None => Ok((Some(number), compression)),
            },
        }
    }
}

/// Two compression terms as one. A general compression beside MS-Numpress is the one around it.
fn join(
    old: Option<(Compression, &'static str)>,
    new: Compression,
    name: &'static str,
) -> Result<(Compression, &'static str), DecodeError> {
    let Some((old, old_name)) = old else {
        return Ok((new, name));
    };
    let contradiction = Err(DecodeError::Contradiction { first: old_name, second: name });
    let (numpress, beside) = match (old, new) {
        _ if old == new => return Ok((old, old_name)),
        (Compression::Numpress(first, _), Compression::Numpress(second, _)) if first != second => {
            return contradiction;
        }
        (Compression::Numpress(kind, first), Compression::Numpress(_, second)) => ((kind, first), second),
        (Compression::Numpress(kind, outer), other) | (other, Compression::Numpress(kind, outer)) => {
            match other {
                Compression::None => ((kind, outer), Outer::None),
                Compression::Zlib => ((kind, outer), Outer::Zlib),
                Compression::Zstd => ((kind, outer), Outer::Zstd),
                _ => return contradiction,
            }
        }
        _ => return contradiction,
    };
    let (kind, outer) = numpress;
    match (outer, beside) {
        (outer, Outer::None) | (Outer::None, outer) => Ok((Compression::Numpress(kind, outer), name)),
        (first, second) if first == second => Ok((Compression::Numpress(kind, first), name)),
        _ => contradiction,
    }
}
