//! Borrowed columns: how arrays enter an arena and how they are seen in it.

use crate::spectrum::IonMobilityKind;

/// Intensities in the precision of their source.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum IntensityRef<'a> {
    /// 32-bit floats.
    F32(&'a [f32]),
    /// 64-bit floats.
    F64(&'a [f64]),
}

impl<'a> IntensityRef<'a> {
    /// How many values there are.
    pub fn len(self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The value at `index`, widened exactly.
    pub fn get(self, index: usize) -> Option<f64> {
        match self {
            Self::F32(values) => values.get(index).map(|value| f64::from(*value)),
            Self::F64(values) => values.get(index).copied(),
        }
    }

    /// All values, widened exactly.
    pub fn iter(self) -> impl Iterator<Item = f64> + 'a {
        let (narrow, wide): (&[f32], &[f64]) = match self {
            Self::F32(values) => (values, &[]),
            Self::F64(values) => (&[], values),
        };
        narrow.iter().map(|value| f64::from(*value)).chain(wide.iter().copied())
    }

    /// Bytes of one value: 4 or 8.
    pub fn width(self) -> usize {
        match self {
            Self::F32(_) => 4,
            Self::F64(_) => 8,
        }
    }
}

/// The columns of one spectrum, all of the same length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnsRef<'a> {
    /// m/z values, in the source's order.
    pub mz: &'a [f64],
    /// Intensities, parallel to `mz`.
    pub intensity: IntensityRef<'a>,
    /// Ion mobility of each point, parallel to `mz`, and which quantity it is.
    pub mobility: Option<(IonMobilityKind, &'a [f64])>,
}

impl<'a> ColumnsRef<'a> {
    /// Columns without ion mobility.
    pub fn new(mz: &'a [f64], intensity: IntensityRef<'a>) -> Self {
        Self { mz, intensity, mobility: None }
    }
}
