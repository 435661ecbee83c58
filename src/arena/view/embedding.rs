//! An embedding as it lies.

use super::proof::ShapeProof;
use super::run::cast;
use crate::arena::ArenaError;

/// Rows of numbers that a model made.
#[derive(Debug, Clone, Copy)]
pub struct EmbeddingView<'a> {
    values: &'a [f32],
    rows: usize,
    dimensions: usize,
}

impl<'a> EmbeddingView<'a> {
    pub(in crate::arena) fn new(bytes: &'a [u8], proof: &ShapeProof) -> Result<Self, ArenaError> {
        Ok(Self { values: cast(bytes, proof.values)?, rows: proof.rows, dimensions: proof.dimensions })
    }

    /// Number of vectors.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Length of each vector.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// All values, row by row: `rows * dimensions` of them.
    pub fn values(&self) -> &'a [f32] {
        self.values
    }

    /// The vector at `row`.
    pub fn row(&self, row: usize) -> Option<&'a [f32]> {
        self.values.get(row.checked_mul(self.dimensions)?..)?.get(..self.dimensions)
    }
}
