//! An arena: sealed, mapped, proved.

use super::bytes::ArenaBytes;
use super::file::SealedFile;
use super::view::{EmbeddingView, Proof, RunView};
use super::{ArenaError, RunTotals};

/// Sealed bytes of one registration. Dropping it unmaps them and gives their disk space back, which takes
/// 0.07–0.5 s per GiB: drop large ones outside of locks.
#[derive(Debug)]
pub struct Arena {
    bytes: ArenaBytes,
    proof: Proof,
    totals: RunTotals,
}

impl Arena {
    /// Maps `file` and proves its geometry: every offset, range and index that a view will rely on.
    pub(super) fn open(file: SealedFile, totals: RunTotals) -> Result<Self, ArenaError> {
        let bytes = ArenaBytes::map(file)?;
        let proof = Proof::of(bytes.as_slice())?;
        Ok(Self { bytes, proof, totals })
    }

    /// Size in bytes, of mapping and disk alike.
    pub fn byte_size(&self) -> u64 {
        self.bytes.as_slice().len() as u64
    }

    /// Counts and extremes gathered while it was written; all zero for an embedding.
    pub fn totals(&self) -> &RunTotals {
        &self.totals
    }

    /// The spectra and chromatograms it holds.
    ///
    /// # Errors
    ///
    /// [`ArenaError::InvalidPayload`] where it holds an embedding.
    pub fn run(&self) -> Result<RunView<'_>, ArenaError> {
        match &self.proof {
            Proof::Run(proof) => RunView::new(self.bytes.as_slice(), proof),
            Proof::Embedding(_) => Err(ArenaError::invalid("the arena holds an embedding, not spectra")),
        }
    }

    /// The vectors it holds.
    ///
    /// # Errors
    ///
    /// [`ArenaError::InvalidPayload`] where it holds spectra.
    pub fn embedding(&self) -> Result<EmbeddingView<'_>, ArenaError> {
        match &self.proof {
            Proof::Embedding(proof) => EmbeddingView::new(self.bytes.as_slice(), proof),
            Proof::Run(_) => Err(ArenaError::invalid("the arena holds spectra, not an embedding")),
        }
    }
}
