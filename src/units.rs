//! Quantities of the field, one type each, so that a unit is never in a reader's memory alone.

use serde::{Deserialize, Serialize};

/// A time in minutes, measured from the start of the run.
///
/// Sources state seconds, minutes or milliseconds; only minutes are kept.
///
/// ```
/// use mzarena::units::Minutes;
/// assert_eq!(Minutes::from_seconds(90.0), Minutes(1.5));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Minutes(pub f64);

impl Minutes {
    /// Converts a time in seconds.
    pub fn from_seconds(seconds: f64) -> Self {
        Self(seconds / 60.0)
    }

    /// Converts a time in milliseconds.
    pub fn from_milliseconds(milliseconds: f64) -> Self {
        Self(milliseconds / 60_000.0)
    }
}

/// A closed interval `lower <= x && x <= upper` of one quantity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClosedRange {
    /// Smallest value inside.
    pub lower: f64,
    /// Largest value inside.
    pub upper: f64,
}

impl ClosedRange {
    /// The smallest interval that holds both `range` (if there is one) and `value`.
    pub fn extended(range: Option<Self>, value: f64) -> Self {
        match range {
            None => Self { lower: value, upper: value },
            Some(Self { lower, upper }) => Self { lower: lower.min(value), upper: upper.max(value) },
        }
    }

    /// Whether `value` lies inside; never true of NaN.
    pub fn contains(self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }
}
