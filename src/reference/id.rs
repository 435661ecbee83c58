//! Opaque identifiers: random bits, so that they tell nothing and cannot be guessed (S4).

use super::{DataKind, ReferenceError};
use rand::TryRng;
use rand::rngs::SysRng;
use std::fmt;
use std::str::FromStr;

/// Name of stored data: `ptr:<kind>:<24 hex digits>`.
///
/// The digits are 96 random bits from the operating system: neither an address nor a counter, and never
/// issued again. Only the exact text that was issued is read back; other spellings are malformed.
///
/// ```
/// use mzarena::reference::{DataKind, ReferenceId};
/// let id: ReferenceId = "ptr:run:9f2c41d07ab35e8812c4d6ff".parse()?;
/// assert_eq!(id.kind(), DataKind::Run);
/// assert_eq!(id.to_string(), "ptr:run:9f2c41d07ab35e8812c4d6ff");
/// assert!("ptr:run:9F2C41D07AB35E8812C4D6FF".parse::<ReferenceId>().is_err());
/// # Ok::<(), mzarena::reference::ReferenceError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReferenceId {
    kind: DataKind,
    bits: [u8; Self::BYTES],
}

impl ReferenceId {
    /// Random bytes in an identifier: 96 bits.
    pub const BYTES: usize = 12;

    /// Draws a new identifier.
    ///
    /// # Errors
    ///
    /// [`ReferenceError::NoRandomness`] when the operating system's generator fails.
    pub fn draw(kind: DataKind) -> Result<Self, ReferenceError> {
        let mut bits = [0; Self::BYTES];
        SysRng
            .try_fill_bytes(&mut bits)
            .map_err(|error| ReferenceError::NoRandomness { what: error.to_string() })?;
        Ok(Self { kind, bits })
    }

    /// The kind that the identifier names.
    pub fn kind(self) -> DataKind {
        self.kind
    }
}

impl fmt::Display for ReferenceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ptr:{}:", self.kind)?;
        self.bits.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ReferenceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ReferenceId {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        read(text).ok_or_else(|| ReferenceError::Malformed { text: beginning(text) })
    }
}

impl serde::Serialize for ReferenceId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What the store takes for an identifier: a [`ReferenceId`], or its text.
pub trait IntoReferenceId {
    /// The identifier.
    ///
    /// # Errors
    ///
    /// [`ReferenceError::Malformed`] for a text that is none.
    fn into_reference_id(self) -> Result<ReferenceId, ReferenceError>;
}

impl IntoReferenceId for ReferenceId {
    fn into_reference_id(self) -> Result<ReferenceId, ReferenceError> {
        Ok(self)
    }
}

impl IntoReferenceId for &ReferenceId {
    fn into_reference_id(self) -> Result<ReferenceId, ReferenceError> {
        Ok(*self)
    }
}

impl IntoReferenceId for &str {
    fn into_reference_id(self) -> Result<ReferenceId, ReferenceError> {
        self.parse()
    }
}

impl IntoReferenceId for &String {
    fn into_reference_id(self) -> Result<ReferenceId, ReferenceError> {
        self.parse()
    }
}

fn read(text: &str) -> Option<ReferenceId> {
    let (kind, digits) = text.strip_prefix("ptr:")?.split_once(':')?;
    let kind = DataKind::from_text(kind)?;
    if digits.len() != 2 * ReferenceId::BYTES {
        return None;
    }
    let mut bits = [0; ReferenceId::BYTES];
    for (byte, pair) in bits.iter_mut().zip(digits.as_bytes().as_chunks::<2>().0) {
        let [high, low] = *pair;
        *byte = digit(high)? << 4 | digit(low)?;
    }
    Some(ReferenceId { kind, bits })
}

/// Value of a lower-case hex digit: one spelling per identifier, so that texts compare as identifiers do.
fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

/// Enough of a wrong text to recognise it, so that an error stays short whatever was sent.
pub(super) fn beginning(text: &str) -> String {
    text.chars().take(96).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_identifiers_are_read_back() {
        for kind in DataKind::ALL {
            let id = ReferenceId::draw(*kind).unwrap();
            let text = id.to_string();
            assert_eq!(text.len(), "ptr::".len() + kind.as_str().len() + 24);
            assert_eq!(text.parse::<ReferenceId>().unwrap(), id);
            assert_eq!(serde_json::to_value(id).unwrap(), text);
        }
    }

    /// S4: every one of the 96 bits varies; a counter, an address or a constant part would show here.
    #[test]
    fn s4_all_96_bits_are_random() {
        let (mut ones, mut distinct) = ([0u32; 96], std::collections::HashSet::new());
        for _ in 0..2000 {
            let id = ReferenceId::draw(DataKind::Run).unwrap();
            distinct.insert(id);
            for (bit, count) in ones.iter_mut().enumerate() {
                *count += u32::from(id.bits[bit / 8] >> (bit % 8) & 1);
            }
        }
        assert_eq!(distinct.len(), 2000);
        // 2,000 fair draws stay within 800..=1200 but for a chance below 1e-17 (nine standard deviations)
        assert!(ones.iter().all(|count| (800..=1200).contains(count)), "{ones:?}");
    }

    #[test]
    fn s10_malformed_texts_are_refused_and_quoted_short() {
        let good = "ptr:run:9f2c41d07ab35e8812c4d6ff";
        for text in [
            "",
            "ptr",
            "ptr:run",
            "ptr:run:",
            "ptr::9f2c41d07ab35e8812c4d6ff",
            "ptr:Run:9f2c41d07ab35e8812c4d6ff",
            "PTR:run:9f2c41d07ab35e8812c4d6ff",
            "ptr:movie:9f2c41d07ab35e8812c4d6ff",
            "ptr:run:9F2C41D07AB35E8812C4D6FF",
            "ptr:run:9f2c41d07ab35e8812c4d6f",
            "ptr:run:9f2c41d07ab35e8812c4d6fff",
            "ptr:run:9f2c41d07ab35e8812c4d6fg",
            "ptr:run:9f2c41d07ab35e8812c4d6f\u{e9}",
            " ptr:run:9f2c41d07ab35e8812c4d6ff",
            "ptr:run:9f2c41d07ab35e8812c4d6ff\n",
            "ptr:run:+f2c41d07ab35e8812c4d6ff",
        ] {
            let error = text.parse::<ReferenceId>().unwrap_err();
            assert_eq!(error.code(), crate::code::ErrorCode::UnknownReference, "{text:?}");
        }
        assert!(good.parse::<ReferenceId>().is_ok());
        let long = "x".repeat(1 << 20).parse::<ReferenceId>().unwrap_err().to_string();
        assert!(long.len() < 256, "{}", long.len());
    }
}
