//! The proof: every stored number that a view uses as an offset, range or index is checked once, at the door.

use super::codes::{chromatogram_kind, energy_unit, mobility_kind};
use super::run::{RunTables, Section};
use crate::arena::ArenaError;
use crate::arena::layout::embedding::{SHAPE_SECTION, ShapeRecord};
use crate::arena::layout::run::{
    BlockRecord, ChromatogramRecord, DetailRecord, HotRecord, IonRecord, MetadataRecord, NO_INDEX, NO_TEXT,
    NativeIdRecord, PrecursorRecord, RunSection, TextRef,
};
use crate::arena::layout::{ALIGNMENT, ArenaKind, HEADER_LENGTH, Header, MAGIC, VERSION};

/// Geometry of an arena that has been checked.
#[derive(Debug)]
pub(in crate::arena) enum Proof {
    Run(RunProof),
    Embedding(ShapeProof),
}

/// Where the sections of a run lie.
#[derive(Debug)]
pub(in crate::arena) struct RunProof {
    pub(super) blocks: Section,
    pub(super) hot: Section,
    pub(super) details: Section,
    pub(super) precursors: Section,
    pub(super) precursor_spectra: Section,
    pub(super) ions: Section,
    pub(super) native_ids: Section,
    pub(super) chromatograms: Section,
    pub(super) metadata: Section,
    pub(super) text: Section,
}

/// Shape of an embedding and where its values lie.
#[derive(Debug)]
pub(in crate::arena) struct ShapeProof {
    pub(super) values: Section,
    pub(super) rows: usize,
    pub(super) dimensions: usize,
}

impl Proof {
    pub(in crate::arena) fn of(bytes: &[u8]) -> Result<Self, ArenaError> {
        let header = header(bytes)?;
        if header.kind == ArenaKind::Run as u32 {
            let proof = run_sections(&header)?;
            prove_run(&RunTables::new(bytes, &proof)?)?;
            Ok(Self::Run(proof))
        } else if header.kind == ArenaKind::Embedding as u32 {
            Ok(Self::Embedding(shape(&header, bytes)?))
        } else {
            Err(ArenaError::damaged(format!("unknown kind {}", header.kind)))
        }
    }
}

fn header(bytes: &[u8]) -> Result<Header, ArenaError> {
    let first =
        bytes.get(..HEADER_LENGTH as usize).ok_or_else(|| ArenaError::damaged("shorter than its header"))?;
    let header: Header = bytemuck::pod_read_unaligned(first);
    let length = bytes.len() as u64;
    if header.magic != MAGIC || header.version != VERSION {
        return Err(ArenaError::damaged(format!(
            "magic or version {} is not that of an arena",
            header.version
        )));
    }
    if header.length != length || !length.is_multiple_of(ALIGNMENT) {
        return Err(ArenaError::damaged(format!("{length} bytes instead of {}", header.length)));
    }
    for entry in &header.sections {
        let is_inside = entry.offset.checked_add(entry.length).is_some_and(|end| end <= length);
        let is_whole = match u64::from(entry.record_length) {
            0 => entry.length == 0,
            record => entry.length.is_multiple_of(record),
        };
        if !is_inside || !is_whole || !entry.offset.is_multiple_of(ALIGNMENT) {
            return Err(ArenaError::damaged(format!(
                "section {} at {}+{}",
                entry.id, entry.offset, entry.length
            )));
        }
    }
    Ok(header)
}

fn section(header: &Header, id: u32, record_length: usize) -> Result<Section, ArenaError> {
    let entry = header.sections.iter().find(|entry| entry.id == id);
    let entry = entry.filter(|entry| entry.record_length as usize == record_length);
    let entry = entry.ok_or_else(|| ArenaError::damaged(format!("section {id} is missing")))?;
    Ok(Section { offset: entry.offset as usize, length: entry.length as usize })
}

fn run_sections(header: &Header) -> Result<RunProof, ArenaError> {
    let find = |id: RunSection, record_length| section(header, id as u32, record_length);
    Ok(RunProof {
        blocks: find(RunSection::Blocks, size_of::<BlockRecord>())?,
        hot: find(RunSection::Hot, size_of::<HotRecord>())?,
        details: find(RunSection::Details, size_of::<DetailRecord>())?,
        precursors: find(RunSection::Precursors, size_of::<PrecursorRecord>())?,
        precursor_spectra: find(RunSection::PrecursorSpectra, size_of::<u32>())?,
        ions: find(RunSection::Ions, size_of::<IonRecord>())?,
        native_ids: find(RunSection::NativeIds, size_of::<NativeIdRecord>())?,
        chromatograms: find(RunSection::Chromatograms, size_of::<ChromatogramRecord>())?,
        metadata: find(RunSection::Metadata, size_of::<MetadataRecord>())?,
        text: find(RunSection::Text, 1)?,
    })
}

fn shape(header: &Header, bytes: &[u8]) -> Result<ShapeProof, ArenaError> {
    let place = section(header, SHAPE_SECTION, size_of::<ShapeRecord>())?;
    let record = bytes.get(place.offset..place.offset + place.length).unwrap_or_default();
    let record: ShapeRecord =
        bytemuck::try_pod_read_unaligned(record).map_err(|_| ArenaError::damaged("not one shape record"))?;
    let length = record.rows.checked_mul(record.dimensions).and_then(|count| count.checked_mul(4));
    let end = length.and_then(|length| record.offset.checked_add(length));
    match (length, end) {
        (Some(length), Some(end)) if end <= bytes.len() as u64 && record.offset.is_multiple_of(ALIGNMENT) => {
            Ok(ShapeProof {
                values: Section { offset: record.offset as usize, length: length as usize },
                rows: record.rows as usize,
                dimensions: record.dimensions as usize,
            })
        }
        _ => Err(ArenaError::damaged(format!("shape {} × {}", record.rows, record.dimensions))),
    }
}

/// Whether a column of `count` values of `width` bytes at `offset` lies inside `length` bytes.
fn column_fits(offset: u64, count: u64, width: u64, length: u64) -> bool {
    let end = count.checked_mul(width).and_then(|bytes| offset.checked_add(bytes));
    offset.is_multiple_of(ALIGNMENT) && end.is_some_and(|end| end <= length)
}

fn prove_run(tables: &RunTables<'_>) -> Result<(), ArenaError> {
    let count = tables.hot.len();
    if tables.details.len() != count || tables.native_ids.len() != count {
        return Err(ArenaError::damaged(format!(
            "{count} hot records, {} detail records, {} native IDs",
            tables.details.len(),
            tables.native_ids.len()
        )));
    }
    if tables.precursor_spectra.len() != tables.precursors.len() {
        return Err(ArenaError::damaged("precursors and their spectra differ in number"));
    }
    let length = tables.byte_length();
    for (at, block) in tables.blocks.iter().enumerate() {
        prove_block(block, length).ok_or_else(|| ArenaError::damaged(format!("block {at}")))?;
    }
    for (at, (hot, detail)) in tables.hot.iter().zip(tables.details).enumerate() {
        prove_spectrum(tables, hot, detail).ok_or_else(|| ArenaError::damaged(format!("spectrum {at}")))?;
    }
    for (at, precursor) in tables.precursors.iter().enumerate() {
        prove_precursor(tables, precursor).ok_or_else(|| ArenaError::damaged(format!("precursor {at}")))?;
    }
    let links_fit =
        tables.precursor_spectra.iter().all(|index| *index == NO_INDEX || (*index as usize) < count);
    let ions_fit = tables.ions.iter().all(|ion| text_fits(tables, ion.possible_charges) && ion.charge <= 255);
    let ids_fit = tables.native_ids.iter().all(|record| record.spectrum < count as u64)
        && tables.native_ids.is_sorted_by_key(|record| (record.hash, record.spectrum));
    let metadata_fits =
        tables.metadata.iter().all(|fact| text_fits(tables, fact.key) && text_fits(tables, fact.value));
    if !(links_fit && ions_fit && ids_fit && metadata_fits) {
        return Err(ArenaError::damaged("an index of native IDs, ions or metadata"));
    }
    for (at, record) in tables.chromatograms.iter().enumerate() {
        prove_chromatogram(tables, record)
            .ok_or_else(|| ArenaError::damaged(format!("chromatogram {at}")))?;
    }
    Ok(())
}

fn prove_block(block: &BlockRecord, length: u64) -> Option<()> {
    let width = u64::from(block.intensity_width);
    let count = block.point_count;
    let is_sound = matches!(width, 4 | 8)
        && column_fits(block.mz_offset, count, 8, length)
        && column_fits(block.intensity_offset, count, width, length)
        && (block.mobility_offset == 0 || column_fits(block.mobility_offset, count, 8, length))
        && (block.mobility_offset == 0) == (block.mobility_kind == 0)
        && (block.mobility_kind == 0 || mobility_kind(block.mobility_kind).is_some())
        && (block.order_offset == 0 || column_fits(block.order_offset, count, 4, length));
    is_sound.then_some(())
}

fn prove_spectrum(tables: &RunTables<'_>, hot: &HotRecord, detail: &DetailRecord) -> Option<()> {
    let block = tables.blocks.get(hot.block as usize)?;
    let points_fit = u64::from(hot.start) + u64::from(hot.count) <= block.point_count;
    let end = detail.first_precursor.checked_add(u64::from(detail.precursor_count))?;
    let is_sound = points_fit
        && end <= tables.precursors.len() as u64
        && detail.native_id.length != NO_TEXT
        && [
            detail.native_id,
            detail.title,
            detail.filter_string,
            detail.analyzer,
            detail.scans,
            detail.retention_time_range,
        ]
        .into_iter()
        .all(|text| text_fits(tables, text))
        && (detail.ion_mobility_kind == 0 || mobility_kind(detail.ion_mobility_kind).is_some());
    is_sound.then_some(())
}

fn prove_precursor(tables: &RunTables<'_>, precursor: &PrecursorRecord) -> Option<()> {
    let end = precursor.first_ion.checked_add(u64::from(precursor.ion_count))?;
    let unit = precursor.collision_energy_unit;
    let is_sound = end <= tables.ions.len() as u64
        && text_fits(tables, precursor.spectrum_ref)
        && (unit == 0 || energy_unit(unit).is_some());
    is_sound.then_some(())
}

fn prove_chromatogram(tables: &RunTables<'_>, record: &ChromatogramRecord) -> Option<()> {
    let length = tables.byte_length();
    let width = u64::from(record.intensity_width);
    let count = record.point_count;
    let is_sound = matches!(width, 4 | 8)
        && column_fits(record.time_offset, count, 8, length)
        && column_fits(record.intensity_offset, count, width, length)
        && (record.level_offset == 0 || column_fits(record.level_offset, count, 4, length))
        && record.native_id.length != NO_TEXT
        && text_fits(tables, record.native_id)
        && chromatogram_kind(record.kind).is_some();
    is_sound.then_some(())
}

fn text_fits(tables: &RunTables<'_>, text: TextRef) -> bool {
    text.length == NO_TEXT || tables.text(text).is_some()
}
