//! One block while it is filled: its columns are the stage.

use super::Budget;
use super::output::Output;
use crate::arena::layout::run::{BLOCK_BYTES, BlockRecord};
use crate::arena::view::mobility_code;
use crate::arena::{ArenaError, ColumnsRef, IntensityRef, PointFacts};
use crate::spectrum::IonMobilityKind;

/// Column types of a block; spectra with others start a new one.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ColumnTypes {
    intensity_width: usize,
    mobility: Option<IonMobilityKind>,
    has_order: bool,
}

impl ColumnTypes {
    fn bytes_per_point(self) -> usize {
        8 + self.intensity_width
            + if self.mobility.is_some() { 8 } else { 0 }
            + if self.has_order { 4 } else { 0 }
    }
}

/// Where a spectrum's points lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) start: u32,
    pub(super) count: u32,
}

/// Columns of the block that is being filled.
#[derive(Default)]
pub(super) struct BlockStage {
    types: Option<ColumnTypes>,
    mz: Vec<f64>,
    narrow: Vec<f32>,
    wide: Vec<f64>,
    mobility: Vec<f64>,
    order: Vec<u32>,
    first_spectrum: u32,
    spectrum_count: u32,
}

impl BlockStage {
    /// Whether `columns` must go to a new block.
    pub(super) fn must_close_before(&self, columns: &ColumnsRef<'_>, facts: &PointFacts) -> bool {
        if columns.mz.is_empty() || self.mz.is_empty() {
            // An empty spectrum fits everywhere, and an empty block takes any type.
            return false;
        }
        let types = Self::types_of(columns, facts);
        let points = self.mz.len() + columns.mz.len();
        self.types != Some(types) || points * types.bytes_per_point() > BLOCK_BYTES
    }

    fn types_of(columns: &ColumnsRef<'_>, facts: &PointFacts) -> ColumnTypes {
        ColumnTypes {
            intensity_width: columns.intensity.width(),
            mobility: columns.mobility.map(|(kind, _)| kind),
            has_order: !facts.is_sorted,
        }
    }

    /// Appends the points of spectrum `index`.
    pub(super) fn push(
        &mut self,
        index: u32,
        columns: &ColumnsRef<'_>,
        facts: &PointFacts,
    ) -> Result<Place, ArenaError> {
        let too_large = |_| ArenaError::invalid("a spectrum of 2^32 points or more");
        let start = u32::try_from(self.mz.len()).map_err(too_large)?;
        let count = u32::try_from(columns.mz.len()).map_err(too_large)?;
        if self.spectrum_count == 0 {
            self.first_spectrum = index;
        }
        self.spectrum_count += 1;
        if self.types.is_none() || self.mz.is_empty() && count > 0 {
            self.types = Some(Self::types_of(columns, facts));
        }
        if count > 0 {
            self.extend(columns, facts, count);
        }
        Ok(Place { start, count })
    }

    fn extend(&mut self, columns: &ColumnsRef<'_>, facts: &PointFacts, count: u32) {
        self.mz.extend_from_slice(columns.mz);
        match columns.intensity {
            IntensityRef::F32(values) => self.narrow.extend_from_slice(values),
            IntensityRef::F64(values) => self.wide.extend_from_slice(values),
        }
        if let Some((_, values)) = columns.mobility {
            self.mobility.extend_from_slice(values);
        }
        if !facts.is_sorted {
            let first = self.order.len();
            self.order.extend(0..count);
            let mz = |at: &u32| columns.mz.get(*at as usize).copied().unwrap_or(f64::NAN);
            if let Some(order) = self.order.get_mut(first..) {
                // Stable: of equal m/z the earlier point comes first.
                order.sort_by(|a, b| mz(a).total_cmp(&mz(b)));
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.spectrum_count == 0
    }

    /// Writes the columns; the stage is empty afterwards.
    pub(super) fn close<B: Budget>(&mut self, output: &mut Output<B>) -> Result<BlockRecord, ArenaError> {
        let intensity: &[u8] = match self.types {
            Some(ColumnTypes { intensity_width: 8, .. }) => bytemuck::cast_slice(&self.wide),
            _ => bytemuck::cast_slice(&self.narrow),
        };
        let columns = [
            bytemuck::cast_slice(&self.mz),
            intensity,
            bytemuck::cast_slice(&self.mobility),
            bytemuck::cast_slice(&self.order),
        ];
        let bytes = columns.iter().map(|column| column.len().next_multiple_of(64) as u64).sum();
        output.grant(bytes)?;
        let [mz_offset, intensity_offset, mobility_offset, order_offset] = output.append_columns(columns)?;
        let types = self.types;
        let record = BlockRecord {
            mz_offset,
            intensity_offset,
            mobility_offset: if self.mobility.is_empty() { 0 } else { mobility_offset },
            order_offset: if self.order.is_empty() { 0 } else { order_offset },
            point_count: self.mz.len() as u64,
            first_spectrum: self.first_spectrum,
            spectrum_count: self.spectrum_count,
            intensity_width: types.map_or(4, |types| types.intensity_width as u32),
            mobility_kind: if self.mobility.is_empty() {
                0
            } else {
                types.and_then(|types| types.mobility).map_or(0, mobility_code)
            },
            reserved: 0,
        };
        self.clear();
        Ok(record)
    }

    fn clear(&mut self) {
        self.types = None;
        self.spectrum_count = 0;
        // One huge spectrum must not keep its memory for the rest of the run.
        let keep = 2 * BLOCK_BYTES / 8;
        self.mz.clear();
        self.mz.shrink_to(keep);
        self.narrow.clear();
        self.narrow.shrink_to(keep);
        self.wide.clear();
        self.wide.shrink_to(keep);
        self.mobility.clear();
        self.mobility.shrink_to(keep);
        self.order.clear();
        self.order.shrink_to(keep);
    }
}
