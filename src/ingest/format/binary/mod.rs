//! Arrays as mzML stores them: base64 around none or one of zlib, zstd and MS-Numpress, around numbers.
//!
//! ```text
//! text --base64--> bytes --zlib | zstd--> bytes --unshuffle | dictionary--> bytes --from_le_bytes--> values
//!                                               --numpress------------------------------------------> values
//! ```
//!
//! An [`Encoding`] gathers what a `binaryDataArray` says of itself; a [`Decoder`] owns the buffers between the
//! steps and is reused from array to array. No step allocates by what the file merely claims: output is capped
//! by the declared number of values before a buffer grows.

mod base64;
mod decoder;
mod encoding;
mod error;
mod inflate;
mod integers;
mod numpress;
mod zstd;

pub use decoder::{Decoded, Decoder};
pub use encoding::{Compression, Encoding, NumberType, Outer};
pub use error::DecodeError;
pub use numpress::NumpressKind;

#[cfg(test)]
mod tests;
