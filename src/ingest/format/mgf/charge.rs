//! Charges as MGF writes them: `2+`, `-1`, `2`, `2+ and 3+`, `2+,3+ and 4+`.

use super::number::{is_conjunction, small_integer};
use crate::spectrum::Polarity;

/// One charge or several candidates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Charges {
    /// Different charges other than 0, in their order.
    values: Vec<u8>,
    /// A 0 stands among them.
    has_unknown: bool,
    has_plus: bool,
    has_minus: bool,
}

impl Charges {
    /// Reads a value; empty text and 0 are charges that are not known. `None` where it cannot be read.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let mut charges = Self::default();
        let parts = text.split(|byte| matches!(byte, b',' | b';') || byte.is_ascii_whitespace());
        for part in parts.filter(|part| !part.is_empty() && !is_conjunction(part)) {
            let (digits, sign) = match part {
                [sign @ (b'+' | b'-'), digits @ ..] | [digits @ .., sign @ (b'+' | b'-')] => {
                    (digits, Some(sign))
                }
                digits => (digits, None),
            };
            let value = small_integer(digits)?;
            charges.has_plus |= sign == Some(&b'+');
            charges.has_minus |= sign == Some(&b'-');
            if value == 0 {
                charges.has_unknown = true;
            } else if !charges.values.contains(&value) {
                charges.values.push(value);
            }
        }
        Some(charges)
    }

    /// Whether any charge is stated.
    pub(super) fn is_known(&self) -> bool {
        !self.values.is_empty()
    }

    /// Whether both state the same charges.
    pub(super) fn agrees_with(&self, other: &Self) -> bool {
        self.values == other.values
    }

    /// The charge, where there is exactly one candidate.
    pub(super) fn single(&self) -> Option<u8> {
        match self.values.as_slice() {
            [charge] if !self.has_unknown => Some(*charge),
            _ => None,
        }
    }

    /// The candidates, where they are a list.
    pub(super) fn candidates(&self) -> Vec<u8> {
        if self.single().is_some() { Vec::new() } else { self.values.clone() }
    }

    /// The polarity that the signs state, where all of them state the same.
    pub(super) fn polarity(&self) -> Option<Polarity> {
        match (self.has_plus, self.has_minus) {
            (true, false) => Some(Polarity::Positive),
            (false, true) => Some(Polarity::Negative),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b48_charges_are_read_in_every_order_of_sign() {
        use Polarity::{Negative, Positive};
        type Row = (&'static str, Option<u8>, &'static [u8], Option<Polarity>);
        let table: &[Row] = &[
            ("2+", Some(2), &[], Some(Positive)),
            ("+2", Some(2), &[], Some(Positive)),
            ("2", Some(2), &[], None),
            ("-1", Some(1), &[], Some(Negative)),
            ("1-", Some(1), &[], Some(Negative)),
            ("2.0", Some(2), &[], None),
            ("2.0+", Some(2), &[], Some(Positive)),
            ("2+,2+", Some(2), &[], Some(Positive)),
            ("2+ and 3+", None, &[2, 3], Some(Positive)),
            ("2+,3+ and 4+", None, &[2, 3, 4], Some(Positive)),
            ("2+,3+", None, &[2, 3], Some(Positive)),
            ("1,2,3", None, &[1, 2, 3], None),
            ("3- OR 2-", None, &[3, 2], Some(Negative)),
            ("0,2+", None, &[2], Some(Positive)),
            ("2+ and 2-", Some(2), &[], None),
            ("0", None, &[], None),
            ("", None, &[], None),
        ];
        for (text, single, candidates, polarity) in table {
            let charges = Charges::parse(text.as_bytes()).unwrap();
            assert_eq!(
                (charges.single(), charges.candidates().as_slice()),
                (*single, *candidates),
                "{text:?}"
            );
            assert_eq!(charges.polarity(), *polarity, "{text:?}");
        }
        for text in ["Mr", "256", "2++", "+2+", "2.5", "+", "two", "1e400"] {
            assert_eq!(Charges::parse(text.as_bytes()), None, "{text:?}");
        }
    }
}
