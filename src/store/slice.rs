//! Slices: references to a part of a run, without bytes of their own (S8).

use super::entry::{Now, Part};
use super::registration::{Addition, Details, Findings};
use super::{Lease, SpectrumStore, StoreError};
use crate::provenance::Provenance;
use crate::reference::{self, DataKind, DataReference, IntoReferenceId, ReferenceId, Shape};
use crate::spectrum::SignalAxis;
use std::sync::Arc;

impl SpectrumStore {
    /// A reference to the spectrum at `spectrum_index` of `run`. It shares the run's arena, belongs to its namespace,
    /// and expires and is released with it; using it renews the run. It takes a slot and no bytes.
    ///
    /// Where the same spectrum has a live slice, that one is renewed and answered, with the provenance that it has.
    /// `provenance` gets the run as a parent where it does not name it.
    ///
    /// # Errors
    ///
    /// Those of [`SpectrumStore::resolve_kind`] for `run`; [`StoreError::SpectrumNotFound`];
    /// [`StoreError::NotAMassSpectrum`]; [`StoreError::Limit`] where there is no slot.
    pub fn slice_spectrum(
        &self,
        run: impl IntoReferenceId,
        spectrum_index: u32,
        mut provenance: Provenance,
    ) -> Result<DataReference, StoreError> {
        let lease = self.resolve_kind(run, &[DataKind::Run])?;
        let run = lease.id();
        let now = self.now();
        if let Some(live) = self.live_slice(run, spectrum_index, now) {
            return Ok(live);
        }
        let found = findings(&lease, spectrum_index)?;
        let slot = self.take_slot()?;
        let parent = run.to_string();
        if !provenance.parents.contains(&parent) {
            provenance.parents.push(parent);
        }
        let mut details = Details::new(provenance);
        details.namespace.clone_from(&lease.entry().facts.reference.namespace);
        self.add(Addition {
            hold: Arc::clone(&lease.entry().hold),
            part: Part::Spectrum(spectrum_index),
            parent: Some(Arc::clone(&lease.entry().facts)),
            slot,
            byte_size: found.byte_size,
            found: found.findings,
            details,
        })
    }

    /// The live slice at this place, renewed.
    pub(super) fn live_slice(
        &self,
        run: ReferenceId,
        spectrum_index: u32,
        now: Now,
    ) -> Option<DataReference> {
        let facts = {
            let table = self.read();
            let entry = table.slice(run, spectrum_index)?;
            if entry.facts.is_due(now.elapsed()) {
                return None;
            }
            entry.renew(now, self.inner.limits.time_to_live);
            Arc::clone(&entry.facts)
        };
        Some(facts.shown())
    }
}

struct Found {
    findings: Findings,
    byte_size: u64,
}

fn findings(lease: &Lease, spectrum_index: u32) -> Result<Found, StoreError> {
    let run = lease.run()?;
    let spectrum = run.spectrum(spectrum_index).ok_or_else(|| StoreError::SpectrumNotFound {
        run: lease.id(),
        spectrum_index,
        spectrum_count: u64::from(run.spectrum_count()),
    })?;
    if spectrum.axis() != SignalAxis::Mass {
        return Err(StoreError::NotAMassSpectrum { run: lease.id(), spectrum_index });
    }
    let (summary, derived) = reference::spectrum_summary(&spectrum);
    let point_count = u64::from(spectrum.point_count());
    let mobility_width = if spectrum.mobility().is_some() { 8 } else { 0 };
    let width = 8 + spectrum.intensity().width() as u64 + mobility_width;
    let findings = Findings { shape: Shape::Spectrum { point_count }, summary, derived };
    Ok(Found { findings, byte_size: point_count * width })
}
