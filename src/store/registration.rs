//! How payloads come in: checked against their kind, copied once, described, and only then named.

use super::entry::{Deadline, Entry, Facts, Hold, Part, Row};
use super::limits::{Charge, Grants, Slot};
use super::{SpectrumStore, StoreError};
use crate::arena::{Arena, ArenaFolder, ColumnsRef, RunWriter, write_embedding};
use crate::provenance::Provenance;
use crate::reference::{self, DataReference, Derived, ReferenceId, Shape, Summary};
use crate::spectrum::{SignalAxis, SpectrumDescription};
use crate::warning::Warning;
use std::collections::HashMap;
use std::sync::Arc;

/// Namespace of whatever was not put into another.
pub const DEFAULT_NAMESPACE: &str = "default";

/// What the caller says about a payload, beside the payload itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Details {
    /// Group of the reference: 1 to 64 letters, digits, `.`, `_` or `-`.
    pub namespace: String,
    /// How the payload came to be.
    pub provenance: Provenance,
    /// Facts of the source that the payload does not show; they stand behind those that it does, and do not replace
    /// them.
    pub summary: Summary,
    /// What was left out and why; empty where the payload is complete.
    pub missing: Vec<Warning>,
    /// What is odd about the source.
    pub warnings: Vec<Warning>,
}

impl Details {
    /// A complete payload of the default namespace with nothing more to say.
    ///
    /// ```
    /// use mzarena::{provenance::Provenance, store::Details};
    /// let details = Details::new(Provenance::of("register_spectrum"));
    /// assert_eq!(details.namespace, "default");
    /// ```
    pub fn new(provenance: Provenance) -> Self {
        Self {
            namespace: DEFAULT_NAMESPACE.to_owned(),
            provenance,
            summary: Summary::default(),
            missing: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// A registration that has begun: its slot is taken, its bytes grow. Dropped before its end it gives everything back.
#[derive(Debug)]
struct Pending {
    store: SpectrumStore,
    slot: Slot,
    charge: Arc<Charge>,
}

/// What was found out about a payload while it was copied.
pub(super) struct Findings {
    pub(super) shape: Shape,
    pub(super) summary: Summary,
    pub(super) derived: Summary,
}

impl Pending {
    fn begin(store: &SpectrumStore) -> Result<Self, StoreError> {
        let slot = store.take_slot()?;
        let charge = Charge::new(&store.inner.books);
        Ok(Self { store: store.clone(), slot, charge })
    }

    fn budget(&self) -> Grants {
        let store = Arc::downgrade(&self.store.inner);
        Grants::new(&self.charge, move || {
            if let Some(inner) = store.upgrade() {
                SpectrumStore { inner }.sweep_now();
            }
        })
    }

    fn folder(&self) -> &ArenaFolder {
        &self.store.inner.folder
    }

    fn finish(self, arena: Arena, found: Findings, details: Details) -> Result<DataReference, StoreError> {
        let byte_size = arena.byte_size();
        if self.charge.settle(byte_size).is_err() {
            self.store.sweep_now();
            self.charge.settle(byte_size).map_err(|what| StoreError::Limit { what })?;
        }
        let hold = Arc::new(Hold { arena, charge: self.charge });
        self.store.add(Addition {
            hold,
            part: Part::Whole,
            parent: None,
            slot: self.slot,
            byte_size,
            found,
            details,
        })
    }
}

/// A run that is being written. Takes its slot at once and its bytes as they are granted; dropped without
/// [`RunRegistration::finish`] it gives everything back.
#[derive(Debug)]
pub struct RunRegistration {
    pending: Pending,
}

impl RunRegistration {
    /// Where the run's arena is to be made.
    pub fn folder(&self) -> &ArenaFolder {
        self.pending.folder()
    }

    /// The budget for the run's [`RunWriter`].
    pub fn budget(&self) -> Grants {
        self.pending.budget()
    }

    /// Names the sealed `arena`.
    ///
    /// # Errors
    ///
    /// [`StoreError::Limit`] where the arena is larger than what was granted and the rest does not fit;
    /// [`StoreError::Reference`] where `details` are too long. Nothing is left then.
    pub fn finish(self, arena: Arena, details: Details) -> Result<DataReference, StoreError> {
        let totals = arena.totals();
        let (summary, derived) = reference::run_summary(totals);
        let shape = Shape::Run {
            spectrum_count: totals.spectrum_count,
            chromatogram_count: totals.chromatogram_count,
            point_count: totals.point_count,
        };
        // what an arena holds is known by opening it: an embedding is no run
        arena.run()?;
        self.pending.finish(arena, Findings { shape, summary, derived }, details)
    }
}

/// Everything that a new row is made of.
pub(super) struct Addition {
    pub(super) hold: Arc<Hold>,
    pub(super) part: Part,
    pub(super) parent: Option<Arc<Facts>>,
    pub(super) slot: Slot,
    pub(super) byte_size: u64,
    pub(super) found: Findings,
    pub(super) details: Details,
}

impl SpectrumStore {
    /// Copies one spectrum, in the order and precision given.
    ///
    /// # Errors
    ///
    /// [`StoreError::InvalidPayload`] for arrays of different length, for NaN or infinite m/z and for an axis other
    /// than m/z; [`StoreError::Limit`]; [`StoreError::Arena`] for a full disk. Nothing is left then.
    pub fn register_spectrum(
        &self,
        description: &SpectrumDescription,
        columns: ColumnsRef<'_>,
        details: Details,
    ) -> Result<DataReference, StoreError> {
        self.register_points(description, columns, details, |point_count| Shape::Spectrum { point_count })
    }

    /// Copies a peak list, in the order and precision given.
    ///
    /// # Errors
    ///
    /// Those of [`SpectrumStore::register_spectrum`], and [`StoreError::InvalidPayload`] for an m/z that is not
    /// positive and for an intensity that is negative, NaN or infinite.
    pub fn register_peak_list(
        &self,
        description: &SpectrumDescription,
        columns: ColumnsRef<'_>,
        details: Details,
    ) -> Result<DataReference, StoreError> {
        check_peaks(&columns)?;
        self.register_points(description, columns, details, |peak_count| Shape::PeakList { peak_count })
    }

    fn register_points(
        &self,
        description: &SpectrumDescription,
        columns: ColumnsRef<'_>,
        details: Details,
        shape: impl Fn(u64) -> Shape,
    ) -> Result<DataReference, StoreError> {
        check_details(&details)?;
        if description.axis != SignalAxis::Mass {
            return Err(StoreError::invalid("the spectrum's axis is not m/z"));
        }
        let pending = Pending::begin(self)?;
        let mut writer = RunWriter::create(pending.folder(), pending.budget())?;
        writer.push(description, columns)?;
        let (arena, _) = writer.seal()?;
        let found = {
            let spectrum = arena.run()?.spectrum(0);
            let spectrum = spectrum.ok_or_else(|| StoreError::invalid("the spectrum was not kept"))?;
            let (summary, derived) = reference::spectrum_summary(&spectrum);
            Findings { shape: shape(spectrum.point_count().into()), summary, derived }
        };
        pending.finish(arena, found, details)
    }

    /// Copies `row_count` vectors of `dimension_count` numbers each, row by row.
    ///
    /// # Errors
    ///
    /// [`StoreError::InvalidPayload`] where there is no row or no dimension, where `values` has another length than
    /// their product, and for a value that is NaN or infinite; [`StoreError::Limit`]; [`StoreError::Arena`] for a
    /// full disk. Nothing is left then.
    pub fn register_embedding(
        &self,
        row_count: usize,
        dimension_count: usize,
        values: &[f32],
        details: Details,
    ) -> Result<DataReference, StoreError> {
        check_details(&details)?;
        if row_count == 0
            || dimension_count == 0
            || row_count.checked_mul(dimension_count) != Some(values.len())
        {
            return Err(StoreError::invalid(format!(
                "an embedding of {row_count} rows and {dimension_count} dimensions does not have {} values",
                values.len()
            )));
        }
        if let Some((index, value)) = values.iter().enumerate().find(|(_, value)| !value.is_finite()) {
            return Err(StoreError::invalid(format!("value {index} of the embedding is {value}")));
        }
        let pending = Pending::begin(self)?;
        let arena = write_embedding(pending.folder(), pending.budget(), row_count, dimension_count, values)?;
        let shape = Shape::Embedding { row_count: row_count as u64, dimension_count: dimension_count as u64 };
        let found = Findings { shape, summary: Summary::default(), derived: Summary::default() };
        pending.finish(arena, found, details)
    }

    /// Begins a run: takes its slot now, its bytes while it is written.
    ///
    /// # Errors
    ///
    /// [`StoreError::Limit`] where there is no slot, or the process is near a limit of the system.
    pub fn begin_run(&self) -> Result<RunRegistration, StoreError> {
        Ok(RunRegistration { pending: Pending::begin(self)? })
    }

    pub(super) fn add(&self, new: Addition) -> Result<DataReference, StoreError> {
        check_details(&new.details)?;
        let now = self.now();
        let kind = new.found.shape.kind();
        // the payload's own facts come first: what the caller adds must not take their room
        let mut summary = new.found.summary;
        summary.extend(new.details.summary);
        let mut metadata = DataReference {
            reference: ReferenceId::draw(kind)?,
            kind,
            shape: new.found.shape,
            byte_size: new.byte_size,
            namespace: new.details.namespace,
            complete: new.details.missing.is_empty(),
            missing: new.details.missing,
            created_at: now.wall(),
            expires_at: None,
            provenance: new.details.provenance,
            summary,
            derived: Derived::from(new.found.derived),
            warnings: new.details.warnings,
        };
        // 96 random bits never collide; an identifier is still not issued twice where they do
        while self.read().knows(metadata.reference) {
            metadata.reference = ReferenceId::draw(kind)?;
        }
        let facts = Arc::new(Facts {
            reference: metadata,
            sequence: self.next_sequence(),
            deadline: Deadline::new(now, self.inner.limits.time_to_live),
        });
        let entry = Arc::new(Entry { facts, hold: new.hold, part: new.part, parent: new.parent });
        self.insert(Row { entry, slot: new.slot, slices: HashMap::new() }, now)
    }
}

fn check_details(details: &Details) -> Result<(), StoreError> {
    Ok(reference::check_bounds(&details.namespace, &details.provenance)?)
}

fn check_peaks(columns: &ColumnsRef<'_>) -> Result<(), StoreError> {
    if let Some((index, mz)) = columns.mz.iter().enumerate().find(|(_, mz)| !(mz.is_finite() && **mz > 0.0)) {
        return Err(StoreError::invalid(format!("m/z {mz} of peak {index} is not a positive number")));
    }
    let is_good = |intensity: f64| intensity.is_finite() && intensity >= 0.0;
    if let Some((index, value)) = columns.intensity.iter().enumerate().find(|(_, value)| !is_good(*value)) {
        return Err(StoreError::invalid(format!(
            "intensity {value} of peak {index} is not a number of 0 or more"
        )));
    }
    Ok(())
}
