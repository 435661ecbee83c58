//! One spectrum as it lies.

use super::codes::{energy_unit, mobility_kind};
use super::run::{RunTables, polarity};
use crate::arena::IntensityRef;
use crate::arena::layout::run::{
    BlockRecord, DetailRecord, HotRecord, IonRecord, NO_INDEX, PrecursorRecord, flag, present,
};
use crate::spectrum::{
    CollisionEnergy, DissociationMethods, IonMobility, IonMobilityKind, IsolationWindow, MsLevel, Polarity,
    Representation, SignalAxis,
};
use crate::units::{ClosedRange, Minutes};

/// One spectrum. Its arrays are slices of the arena: reading them allocates nothing and copies nothing.
#[derive(Clone, Copy)]
pub struct SpectrumView<'a> {
    tables: RunTables<'a>,
    index: u32,
    hot: &'a HotRecord,
    detail: &'a DetailRecord,
    block: &'a BlockRecord,
    mz: &'a [f64],
    intensity: IntensityRef<'a>,
}

impl std::fmt::Debug for SpectrumView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SpectrumView")
            .field("index", &self.index)
            .field("native_id", &self.native_id())
            .field("point_count", &self.point_count())
            .finish_non_exhaustive()
    }
}

impl<'a> SpectrumView<'a> {
    pub(super) fn new(tables: RunTables<'a>, index: u32) -> Option<Self> {
        let hot = tables.hot.get(index as usize)?;
        let detail = tables.details.get(index as usize)?;
        let block = tables.blocks.get(hot.block as usize)?;
        let (start, count) = (hot.start as usize, hot.count as usize);
        let mz = tables.wide(block.mz_offset, start, count);
        let intensity = tables.intensity(block.intensity_width, block.intensity_offset, start, count);
        Some(Self { tables, index, hot, detail, block, mz, intensity })
    }

    /// Position in the run, from 0.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// m/z values, in the source's order.
    pub fn mz(&self) -> &'a [f64] {
        self.mz
    }

    /// Intensities, parallel to [`Self::mz`], in the source's precision.
    pub fn intensity(&self) -> IntensityRef<'a> {
        self.intensity
    }

    /// Ion mobility of each point, parallel to [`Self::mz`], and which quantity it is.
    pub fn mobility(&self) -> Option<(IonMobilityKind, &'a [f64])> {
        let kind = mobility_kind(self.block.mobility_kind)?;
        let (start, count) = (self.hot.start as usize, self.hot.count as usize);
        (count > 0).then(|| (kind, self.tables.wide(self.block.mobility_offset, start, count)))
    }

    /// Positions of the points by ascending m/z, parallel to [`Self::mz`]; `None` where the m/z values ascend already.
    pub fn mz_order(&self) -> Option<&'a [u32]> {
        let (start, count) = (self.hot.start as usize, self.hot.count as usize);
        (!self.is_sorted()).then(|| self.tables.counts(self.block.order_offset, start, count))
    }

    /// Number of points.
    pub fn point_count(&self) -> u32 {
        self.hot.count
    }

    /// Native ID, verbatim.
    pub fn native_id(&self) -> &'a str {
        self.tables.text(self.detail.native_id).unwrap_or_default()
    }

    /// Scan number, where the native ID format gives one unique number.
    pub fn scan_number(&self) -> Option<u32> {
        (self.detail.scan_number != NO_INDEX).then_some(self.detail.scan_number)
    }

    /// Title, as in MGF.
    pub fn title(&self) -> Option<&'a str> {
        self.tables.text(self.detail.title)
    }

    /// Filter string.
    pub fn filter_string(&self) -> Option<&'a str> {
        self.tables.text(self.detail.filter_string)
    }

    /// `SCANS` of an MGF block, verbatim.
    pub fn scans(&self) -> Option<&'a str> {
        self.tables.text(self.detail.scans)
    }

    /// `RTINSECONDS` of an MGF block, verbatim, where it is more than one number.
    pub fn retention_time_range(&self) -> Option<&'a str> {
        self.tables.text(self.detail.retention_time_range)
    }

    /// Fields of the native ID: `function=1 process=0 scan=3` gives three pairs. What is no pair is left out.
    pub fn native_id_fields(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        self.native_id().split_ascii_whitespace().filter_map(|field| field.split_once('='))
    }

    /// Mass analyser, PSI-MS name.
    pub fn analyzer(&self) -> Option<&'a str> {
        self.tables.text(self.detail.analyzer)
    }

    /// Which axis the intensities stand over.
    pub fn axis(&self) -> SignalAxis {
        if self.has(flag::OTHER_AXIS) { SignalAxis::Other } else { SignalAxis::Mass }
    }

    /// MS level.
    pub fn ms_level(&self) -> Option<MsLevel> {
        MsLevel::new(self.hot.ms_level)
    }

    /// Polarity.
    pub fn polarity(&self) -> Option<Polarity> {
        polarity(self.hot.flags)
    }

    /// Centroid or profile.
    pub fn representation(&self) -> Option<Representation> {
        if self.has(flag::CENTROID) {
            Some(Representation::Centroid)
        } else if self.has(flag::PROFILE) {
            Some(Representation::Profile)
        } else {
            None
        }
    }

    /// m/z values ascend (equal neighbours included); computed, never assumed.
    pub fn is_sorted(&self) -> bool {
        self.has(flag::SORTED)
    }

    /// Some intensity is NaN or infinite.
    pub fn has_non_finite_intensity(&self) -> bool {
        self.has(flag::NON_FINITE)
    }

    /// An array was stored by a lossy method.
    pub fn is_lossy(&self) -> bool {
        self.has(flag::LOSSY)
    }

    /// Scan start time.
    pub fn scan_start_time(&self) -> Option<Minutes> {
        present(self.hot.time).map(Minutes)
    }

    /// Number of scans that the spectrum joins.
    pub fn scan_count(&self) -> u32 {
        self.detail.scan_count
    }

    /// Smallest and largest m/z.
    pub fn mz_range(&self) -> Option<ClosedRange> {
        range(self.hot.lowest_mz, self.hot.highest_mz)
    }

    /// m/z range that the analyser scanned.
    pub fn scan_window(&self) -> Option<ClosedRange> {
        range(self.detail.scan_window_lower, self.detail.scan_window_upper)
    }

    /// Sum of the finite intensities, computed.
    pub fn computed_total_ion_current(&self) -> f64 {
        self.detail.total_ion_current
    }

    /// m/z of the most intense point, computed; the lowest m/z wins a tie.
    pub fn base_peak_mz(&self) -> Option<f64> {
        present(self.detail.base_peak_mz)
    }

    /// Intensity of the most intense point, computed.
    pub fn base_peak_intensity(&self) -> Option<f64> {
        present(self.detail.base_peak_intensity)
    }

    /// Total ion current as the source reports it.
    pub fn reported_total_ion_current(&self) -> Option<f64> {
        present(self.detail.reported_total_ion_current)
    }

    /// Base peak m/z as the source reports it.
    pub fn reported_base_peak_mz(&self) -> Option<f64> {
        present(self.detail.reported_base_peak_mz)
    }

    /// Base peak intensity as the source reports it.
    pub fn reported_base_peak_intensity(&self) -> Option<f64> {
        present(self.detail.reported_base_peak_intensity)
    }

    /// Ion injection time, milliseconds.
    pub fn ion_injection_time_ms(&self) -> Option<f64> {
        present(self.detail.ion_injection_time_ms)
    }

    /// Ion mobility of the whole scan.
    pub fn ion_mobility(&self) -> Option<IonMobility> {
        let kind = mobility_kind(self.detail.ion_mobility_kind)?;
        present(self.detail.ion_mobility).map(|value| IonMobility { kind, value })
    }

    /// FAIMS compensation voltage, volt.
    pub fn faims_compensation_voltage(&self) -> Option<f64> {
        present(self.detail.faims_compensation_voltage)
    }

    /// Where it came from; several for SPS-MS3 and multiplexed spectra.
    pub fn precursors(&self) -> impl ExactSizeIterator<Item = PrecursorView<'a>> + use<'a> {
        let tables = self.tables;
        let first = self.detail.first_precursor as usize;
        let last = first + self.detail.precursor_count as usize;
        let records = tables.precursors.get(first..last).unwrap_or_default();
        let links = tables.precursor_spectra.get(first..last).unwrap_or_default();
        records.iter().zip(links).map(move |(record, link)| PrecursorView { tables, record, link: *link })
    }

    fn has(&self, bit: u16) -> bool {
        self.hot.flags & bit != 0
    }
}

fn range(lower: f64, upper: f64) -> Option<ClosedRange> {
    Some(ClosedRange { lower: present(lower)?, upper: present(upper)? })
}

/// Origin of a fragment spectrum.
#[derive(Clone, Copy)]
pub struct PrecursorView<'a> {
    tables: RunTables<'a>,
    record: &'a PrecursorRecord,
    link: u32,
}

impl std::fmt::Debug for PrecursorView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PrecursorView")
            .field("isolation_window", &self.isolation_window())
            .finish_non_exhaustive()
    }
}

impl<'a> PrecursorView<'a> {
    /// Native ID of the spectrum in which the ion was chosen, as the source states it.
    pub fn spectrum_ref(&self) -> Option<&'a str> {
        self.tables.text(self.record.spectrum_ref)
    }

    /// Index of that spectrum; `None` where the run has none of this native ID, or several.
    pub fn spectrum_index(&self) -> Option<u32> {
        let detail = self.tables.details.get(self.link as usize)?;
        // The link was made by hash: the text decides.
        (self.tables.text(detail.native_id) == self.spectrum_ref()).then_some(self.link)
    }

    /// m/z interval passed on.
    pub fn isolation_window(&self) -> IsolationWindow {
        IsolationWindow {
            target_mz: present(self.record.target_mz),
            lower_mz: present(self.record.lower_mz),
            upper_mz: present(self.record.upper_mz),
            mobility: range(self.record.mobility_lower, self.record.mobility_upper),
        }
    }

    /// How fragments were made.
    pub fn dissociation_methods(&self) -> DissociationMethods {
        DissociationMethods(self.record.dissociation_methods)
    }

    /// How hard.
    pub fn collision_energy(&self) -> Option<CollisionEnergy> {
        Some(CollisionEnergy {
            value: present(self.record.collision_energy)?,
            unit: energy_unit(self.record.collision_energy_unit)?,
            may_be_normalized: self.record.collision_energy_flags & 1 != 0,
        })
    }

    /// Ions that the instrument named.
    pub fn selected_ions(&self) -> impl ExactSizeIterator<Item = SelectedIonView<'a>> + use<'a> {
        let tables = self.tables;
        let first = self.record.first_ion as usize;
        let records = tables.ions.get(first..first + self.record.ion_count as usize).unwrap_or_default();
        records.iter().map(move |record| SelectedIonView { tables, record })
    }
}

/// An ion that the instrument selected.
#[derive(Clone, Copy)]
pub struct SelectedIonView<'a> {
    tables: RunTables<'a>,
    record: &'a IonRecord,
}

impl std::fmt::Debug for SelectedIonView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SelectedIonView").field("mz", &self.mz()).field("charge", &self.charge()).finish()
    }
}

impl SelectedIonView<'_> {
    /// Selected ion m/z.
    pub fn mz(&self) -> Option<f64> {
        present(self.record.mz)
    }

    /// Charge, always positive; its sign is the spectrum's polarity.
    pub fn charge(&self) -> Option<u8> {
        u8::try_from(self.record.charge).ok().filter(|charge| *charge > 0)
    }

    /// Peak intensity, in the source's unit.
    pub fn intensity(&self) -> Option<f64> {
        present(self.record.intensity)
    }

    /// Candidate charges, in the source's order.
    pub fn possible_charges(&self) -> Vec<u8> {
        let text = self.tables.text(self.record.possible_charges).unwrap_or_default();
        text.split(',').filter_map(|charge| charge.parse().ok()).collect()
    }
}
