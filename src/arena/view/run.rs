//! A run as it lies: tables of records, columns, text.

use super::codes::chromatogram_kind;
use super::proof::RunProof;
use super::spectrum::SpectrumView;
use crate::arena::layout::run::{
    BlockRecord, ChromatogramRecord, DetailRecord, HotRecord, IonRecord, MetadataRecord, NO_TEXT,
    NativeIdRecord, PrecursorRecord, TextRef, flag, native_id_hash, present,
};
use crate::arena::{ArenaError, IntensityRef};
use crate::spectrum::{ChromatogramKind, Polarity};

/// Where a section lies, in bytes.
#[derive(Debug, Clone, Copy)]
pub(in crate::arena) struct Section {
    pub(super) offset: usize,
    pub(super) length: usize,
}

/// The tables of a run, cast once.
#[derive(Clone, Copy)]
pub(super) struct RunTables<'a> {
    /// The whole arena, as values of each width.
    wide: &'a [f64],
    narrow: &'a [f32],
    counts: &'a [u32],
    pub(super) blocks: &'a [BlockRecord],
    pub(super) hot: &'a [HotRecord],
    pub(super) details: &'a [DetailRecord],
    pub(super) precursors: &'a [PrecursorRecord],
    pub(super) precursor_spectra: &'a [u32],
    pub(super) ions: &'a [IonRecord],
    pub(super) native_ids: &'a [NativeIdRecord],
    pub(super) chromatograms: &'a [ChromatogramRecord],
    pub(super) metadata: &'a [MetadataRecord],
    text: &'a [u8],
}

pub(super) fn cast<T: bytemuck::AnyBitPattern>(bytes: &[u8], section: Section) -> Result<&[T], ArenaError> {
    let end = section.offset.checked_add(section.length);
    let part = end.and_then(|end| bytes.get(section.offset..end));
    let part = part.ok_or_else(|| ArenaError::damaged("a section reaches beyond the end"))?;
    bytemuck::try_cast_slice(part)
        .map_err(|error| ArenaError::damaged(format!("a section does not fit: {error}")))
}

impl<'a> RunTables<'a> {
    pub(super) fn new(bytes: &'a [u8], proof: &RunProof) -> Result<Self, ArenaError> {
        let all = Section { offset: 0, length: bytes.len() };
        Ok(Self {
            wide: cast(bytes, all)?,
            narrow: cast(bytes, all)?,
            counts: cast(bytes, all)?,
            blocks: cast(bytes, proof.blocks)?,
            hot: cast(bytes, proof.hot)?,
            details: cast(bytes, proof.details)?,
            precursors: cast(bytes, proof.precursors)?,
            precursor_spectra: cast(bytes, proof.precursor_spectra)?,
            ions: cast(bytes, proof.ions)?,
            native_ids: cast(bytes, proof.native_ids)?,
            chromatograms: cast(bytes, proof.chromatograms)?,
            metadata: cast(bytes, proof.metadata)?,
            text: cast(bytes, proof.text)?,
        })
    }

    pub(super) fn byte_length(&self) -> u64 {
        size_of_val(self.wide) as u64
    }

    /// The text, unless there is none.
    pub(super) fn text(&self, text: TextRef) -> Option<&'a str> {
        if text.length == NO_TEXT {
            return None;
        }
        let start = usize::try_from(text.offset).ok()?;
        let bytes = self.text.get(start..start.checked_add(text.length as usize)?)?;
        std::str::from_utf8(bytes).ok()
    }

    /// `count` f64 values from `start` on, in the column at `offset`.
    pub(super) fn wide(&self, offset: u64, start: usize, count: usize) -> &'a [f64] {
        part(self.wide, offset as usize / 8 + start, count)
    }

    pub(super) fn counts(&self, offset: u64, start: usize, count: usize) -> &'a [u32] {
        part(self.counts, offset as usize / 4 + start, count)
    }

    pub(super) fn intensity(&self, width: u32, offset: u64, start: usize, count: usize) -> IntensityRef<'a> {
        if width == 8 {
            IntensityRef::F64(self.wide(offset, start, count))
        } else {
            IntensityRef::F32(part(self.narrow, offset as usize / 4 + start, count))
        }
    }
}

/// The proof has shown that the range lies inside.
fn part<T>(values: &[T], start: usize, count: usize) -> &[T] {
    values.get(start..start + count).unwrap_or_default()
}

/// A whole run. Copying it copies references only.
///
/// Payload types are not serialisable: peaks never leave the store as text.
#[derive(Clone, Copy)]
pub struct RunView<'a> {
    pub(super) tables: RunTables<'a>,
}

impl std::fmt::Debug for RunView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunView").field("spectrum_count", &self.spectrum_count()).finish_non_exhaustive()
    }
}

impl<'a> RunView<'a> {
    pub(in crate::arena) fn new(bytes: &'a [u8], proof: &RunProof) -> Result<Self, ArenaError> {
        Ok(Self { tables: RunTables::new(bytes, proof)? })
    }

    /// Number of spectra, non-mass spectra included; indices run from 0 to one less.
    pub fn spectrum_count(&self) -> u32 {
        self.tables.hot.len() as u32
    }

    /// The spectrum at `index`.
    pub fn spectrum(&self, index: u32) -> Option<SpectrumView<'a>> {
        SpectrumView::new(self.tables, index)
    }

    /// All spectra, in the source's order.
    pub fn spectra(self) -> impl Iterator<Item = SpectrumView<'a>> {
        (0..self.spectrum_count()).filter_map(move |index| self.spectrum(index))
    }

    /// Indices of the spectra with this native ID, ascending; several only where the source repeats it.
    pub fn find_native_id<'s>(self, native_id: &'s str) -> impl Iterator<Item = u32> + use<'a, 's> {
        let hash = native_id_hash(native_id);
        let first = self.tables.native_ids.partition_point(|record| record.hash < hash);
        let candidates = self.tables.native_ids.get(first..).unwrap_or_default();
        candidates
            .iter()
            .take_while(move |record| record.hash == hash)
            .map(|record| record.spectrum as u32)
            .filter(move |index| {
                self.spectrum(*index).is_some_and(|spectrum| spectrum.native_id() == native_id)
            })
    }

    /// Number of recorded chromatograms.
    pub fn chromatogram_count(&self) -> usize {
        self.tables.chromatograms.len()
    }

    /// The recorded chromatogram at `index`, in the source's order.
    pub fn chromatogram(&self, index: usize) -> Option<ChromatogramView<'a>> {
        let record = self.tables.chromatograms.get(index)?;
        Some(ChromatogramView { tables: self.tables, record })
    }

    /// Facts about the run, in the order they were written: `("instrument", …)`.
    pub fn metadata(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let tables = self.tables;
        tables
            .metadata
            .iter()
            .filter_map(move |fact| Some((tables.text(fact.key)?, tables.text(fact.value)?)))
    }
}

/// A chromatogram that the instrument recorded.
#[derive(Clone, Copy)]
pub struct ChromatogramView<'a> {
    tables: RunTables<'a>,
    record: &'a ChromatogramRecord,
}

impl std::fmt::Debug for ChromatogramView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChromatogramView").field("native_id", &self.native_id()).finish_non_exhaustive()
    }
}

impl<'a> ChromatogramView<'a> {
    /// Identifier, verbatim.
    pub fn native_id(&self) -> &'a str {
        self.tables.text(self.record.native_id).unwrap_or_default()
    }

    /// What it is.
    pub fn kind(&self) -> ChromatogramKind {
        chromatogram_kind(self.record.kind).unwrap_or(ChromatogramKind::Other)
    }

    /// Polarity, where the source states it.
    pub fn polarity(&self) -> Option<Polarity> {
        polarity(self.record.flags as u16)
    }

    /// Isolation target or selected ion of the precursor, m/z.
    pub fn precursor_mz(&self) -> Option<f64> {
        present(self.record.precursor_mz)
    }

    /// Isolation target of the product, m/z.
    pub fn product_mz(&self) -> Option<f64> {
        present(self.record.product_mz)
    }

    /// Times in minutes, in the source's order; all NaN where the source states no unit.
    pub fn time(&self) -> &'a [f64] {
        self.tables.wide(self.record.time_offset, 0, self.record.point_count as usize)
    }

    /// Intensities, parallel to [`Self::time`].
    pub fn intensity(&self) -> IntensityRef<'a> {
        let record = self.record;
        let count = record.point_count as usize;
        self.tables.intensity(record.intensity_width, record.intensity_offset, 0, count)
    }

    /// MS level of each point, parallel to [`Self::time`], where the source records it.
    pub fn ms_level(&self) -> Option<&'a [u32]> {
        let record = self.record;
        let has_levels = record.level_offset != 0;
        has_levels.then(|| self.tables.counts(record.level_offset, 0, record.point_count as usize))
    }
}

pub(super) fn polarity(flags: u16) -> Option<Polarity> {
    if flags & flag::POSITIVE != 0 {
        Some(Polarity::Positive)
    } else if flags & flag::NEGATIVE != 0 {
        Some(Polarity::Negative)
    } else {
        None
    }
}
