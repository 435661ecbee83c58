//! An owned hold on stored data, from which views borrow.

use super::StoreError;
use super::entry::{Entry, Part};
use crate::arena::{EmbeddingView, RunView, SpectrumView};
use crate::reference::{DataKind, DataReference, ReferenceId};
use std::sync::Arc;

/// Keeps an arena mapped while it is looked at, whatever becomes of its reference meanwhile.
///
/// Release and expiry take the reference from the store at once; the bytes go when the last lease is dropped, on the
/// thread that drops it. That takes up to half a second for each GiB: drop leases on large runs where waiting is
/// allowed, and not under a lock. A clone is a second hold on the same arena.
#[derive(Debug, Clone)]
pub struct Lease {
    entry: Arc<Entry>,
}

impl Lease {
    pub(super) fn new(entry: Arc<Entry>) -> Self {
        Self { entry }
    }

    pub(super) fn entry(&self) -> &Entry {
        &self.entry
    }

    /// What was resolved.
    pub fn id(&self) -> ReferenceId {
        self.entry.id()
    }

    /// Its kind.
    pub fn kind(&self) -> DataKind {
        self.entry.facts.reference.kind
    }

    /// Its metadata, with the expiry as it stands.
    pub fn reference(&self) -> DataReference {
        self.entry.facts.shown()
    }

    /// The run that it is a slice of.
    pub fn parent(&self) -> Option<ReferenceId> {
        self.entry.parent.as_ref().map(|facts| facts.reference.reference)
    }

    /// The position in its run, where it is a slice.
    pub fn spectrum_index(&self) -> Option<u32> {
        match self.entry.part {
            Part::Spectrum(index) => self.parent().map(|_| index),
            Part::Whole => None,
        }
    }

    /// The run.
    ///
    /// # Errors
    ///
    /// [`StoreError::WrongKind`] where it is none.
    pub fn run(&self) -> Result<RunView<'_>, StoreError> {
        self.expect(&[DataKind::Run])?;
        Ok(self.entry.hold.arena.run()?)
    }

    /// The spectrum or peak list.
    ///
    /// # Errors
    ///
    /// [`StoreError::WrongKind`] where it is none.
    pub fn spectrum(&self) -> Result<SpectrumView<'_>, StoreError> {
        self.expect(&[DataKind::Spectrum, DataKind::PeakList])?;
        let index = match self.entry.part {
            Part::Spectrum(index) => index,
            Part::Whole => 0,
        };
        let run = self.entry.hold.arena.run()?;
        // registration has seen the spectrum; an arena does not change
        run.spectrum(index).ok_or_else(|| StoreError::SpectrumNotFound {
            run: self.parent().unwrap_or_else(|| self.id()),
            spectrum_index: index,
            spectrum_count: u64::from(run.spectrum_count()),
        })
    }

    /// The vectors.
    ///
    /// # Errors
    ///
    /// [`StoreError::WrongKind`] where there are none.
    pub fn embedding(&self) -> Result<EmbeddingView<'_>, StoreError> {
        self.expect(&[DataKind::Embedding])?;
        Ok(self.entry.hold.arena.embedding()?)
    }

    fn expect(&self, kinds: &[DataKind]) -> Result<(), StoreError> {
        expect_kind(self.id(), kinds)
    }
}

/// An identifier of one of `kinds`, or the error that names both sides.
pub(super) fn expect_kind(id: ReferenceId, kinds: &[DataKind]) -> Result<(), StoreError> {
    if kinds.contains(&id.kind()) {
        Ok(())
    } else {
        Err(StoreError::WrongKind { id, found: id.kind(), expected: kinds.to_vec() })
    }
}
