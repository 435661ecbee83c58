//! 64-bit integers as 64-bit floats: exact or refused.

use super::DecodeError;

/// Largest magnitude up to which every integer has an exact 64-bit float.
const EXACT: u64 = 1 << 53;

/// Appends little-endian 64-bit integers to `out`; how many lie beyond 2^53 (and are exact nevertheless).
pub(super) fn append_i64(bytes: &[u8], out: &mut Vec<f64>) -> Result<u64, DecodeError> {
    let (values, _) = bytes.as_chunks::<8>();
    let mut beyond = 0;
    out.reserve(values.len());
    for (index, value) in values.iter().map(|bytes| i64::from_le_bytes(*bytes)).enumerate() {
        if value.unsigned_abs() > EXACT {
            // through i128, since a cast back to i64 would saturate and call i64::MAX exact
            if (value as f64) as i128 != i128::from(value) {
                return Err(DecodeError::Integer { value, index });
            }
            beyond += 1;
        }
        out.push(value as f64);
    }
    Ok(beyond)
}
