//! MS-Numpress: linear prediction, positive integers and short logged floats (Teleman et al. 2014,
//! doi:10.1074/mcp.O114.037879).
//!
//! Two of the three store integers in half-bytes. The first half-byte of an integer counts what is left out:
//! 0 to 8 leading zero half-bytes, or (9 to 15) one to seven leading half-bytes of ones; the remaining half-bytes
//! follow, least significant first. High half-bytes of the data come before low ones; a zero in the very last low
//! half-byte is padding, since a count of 0 would need eight more.

use super::DecodeError;
use std::fmt;

/// Which of the three algorithms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NumpressKind {
    /// Linear prediction, for m/z and time.
    Linear,
    /// Positive integers, for ion counts.
    Pic,
    /// Short logged floats, for ion counts.
    Slof,
}

impl fmt::Display for NumpressKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Linear => "linear prediction",
            Self::Pic => "positive integer",
            Self::Slof => "short logged float",
        })
    }
}

/// Why decoding stopped, before it is known of which array.
enum Fault {
    Damaged(String),
    /// More values than allowed.
    TooMany,
}

fn damaged<T>(what: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Damaged(what.into()))
}

/// Appends the values behind `data` to `out`, at most `most_values` of them.
pub(super) fn decode(
    kind: NumpressKind,
    data: &[u8],
    most_values: usize,
    out: &mut Vec<f64>,
) -> Result<(), DecodeError> {
    if data.is_empty() {
        return Ok(());
    }
    let mut target = Target { most: out.len().saturating_add(most_values), values: out };
    let result = match kind {
        NumpressKind::Linear => linear(data, &mut target),
        NumpressKind::Pic => positive_integers(data, &mut target),
        NumpressKind::Slof => short_logged_floats(data, &mut target),
    };
    result.map_err(|fault| match fault {
        Fault::Damaged(what) => DecodeError::Numpress { kind, byte_count: data.len(), what },
        Fault::TooMany => {
            let cap = most_values as u64 * 8;
            DecodeError::OverCap { cap, declared: 0, seen: cap + 8 }
        }
    })
}

/// Where values go, up to a number of them.
struct Target<'a> {
    values: &'a mut Vec<f64>,
    most: usize,
}

impl Target<'_> {
    #[inline]
    fn push(&mut self, value: f64) -> Result<(), Fault> {
        if self.values.len() >= self.most {
            return Err(Fault::TooMany);
        }
        // tiny fixed points turn sound integers into infinities
        if !value.is_finite() {
            return damaged(format!("value {} is not finite", self.values.len()));
        }
        self.values.push(value);
        Ok(())
    }
}

/// Half-bytes of a slice, high before low.
struct HalfBytes<'a> {
    data: &'a [u8],
    /// In half-bytes.
    position: usize,
}

impl HalfBytes<'_> {
    #[inline]
    fn next(&mut self) -> Option<u8> {
        let byte = *self.data.get(self.position / 2)?;
        let half = if self.position.is_multiple_of(2) { byte >> 4 } else { byte & 0xf };
        self.position += 1;
        Some(half)
    }

    /// The next integer; `None` at the end or where only padding is left.
    #[inline]
    fn integer(&mut self) -> Result<Option<u32>, Fault> {
        let start = self.position;
        let Some(count) = self.next() else {
            return Ok(None);
        };
        let is_last = self.position == self.data.len() * 2;
        if count == 0 && is_last && start % 2 == 1 {
            return Ok(None);
        }
        let (left_out, mut value) = match count {
            0..=8 => (u32::from(count), 0),
            _ => (u32::from(count) - 8, u32::MAX << (4 * (16 - u32::from(count)))),
        };
        for place in 0..8 - left_out {
            match self.next() {
                Some(half) => value |= u32::from(half) << (4 * place),
                None => return damaged(format!("an integer is cut at half-byte {}", self.position)),
            }
        }
        Ok(Some(value))
    }
}

/// The factor in front of the data, and what follows it.
fn fixed_point(data: &[u8]) -> Result<(f64, &[u8]), Fault> {
    match data.split_first_chunk::<8>() {
        Some((bytes, rest)) => Ok((f64::from_be_bytes(*bytes), rest)),
        None => damaged("it is shorter than the 8 bytes of its fixed point"),
    }
}

/// A factor that values can be divided by.
fn usable(fixed_point: f64) -> Result<f64, Fault> {
    if fixed_point.is_finite() && fixed_point > 0.0 {
        Ok(fixed_point)
    } else {
        damaged(format!("its fixed point is {fixed_point}"))
    }
}

fn linear(data: &[u8], out: &mut Target<'_>) -> Result<(), Fault> {
    let (point, rest) = fixed_point(data)?;
    if rest.is_empty() {
        return Ok(());
    }
    let point = usable(point)?;
    let (Some((first, rest)), whole) = (rest.split_first_chunk::<4>(), rest.len()) else {
        return damaged("its first value is cut");
    };
    let mut before = i64::from(u32::from_le_bytes(*first));
    out.push(before as f64 / point)?;
    if whole == 4 {
        return Ok(());
    }
    let Some((second, rest)) = rest.split_first_chunk::<4>() else {
        return damaged("its second value is cut");
    };
    let mut last = i64::from(u32::from_le_bytes(*second));
    out.push(last as f64 / point)?;
    let mut residuals = HalfBytes { data: rest, position: 0 };
    while let Some(residual) = residuals.integer()? {
        // the half-bytes hold a signed 32-bit residual
        let residual = i64::from(residual as i32);
        let next = (last.checked_sub(before))
            .and_then(|step| last.checked_add(step))
            .and_then(|guess| guess.checked_add(residual));
        let Some(next) = next else {
            return damaged("its predictions leave 64 bits");
        };
        (before, last) = (last, next);
        out.push(next as f64 / point)?;
    }
    Ok(())
}

fn positive_integers(data: &[u8], out: &mut Target<'_>) -> Result<(), Fault> {
    let mut integers = HalfBytes { data, position: 0 };
    while let Some(value) = integers.integer()? {
        out.push(f64::from(value))?;
    }
    Ok(())
}

fn short_logged_floats(data: &[u8], out: &mut Target<'_>) -> Result<(), Fault> {
    let (point, rest) = fixed_point(data)?;
    if rest.is_empty() {
        return Ok(());
    }
    let point = usable(point)?;
    let (logs, cut) = rest.as_chunks::<2>();
    if !cut.is_empty() {
        return damaged("its last value is cut");
    }
    for log in logs {
        out.push((f64::from(u16::from_le_bytes(*log)) / point).exp() - 1.0)?;
    }
    Ok(())
}
