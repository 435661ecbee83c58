//! Writing an embedding: one column, one shape record.

use super::output::Output;
use super::{ArenaError, Budget};
use crate::arena::layout::embedding::{SHAPE_SECTION, ShapeRecord};
use crate::arena::layout::{ArenaKind, HEADER_LENGTH, Header, SectionEntry, aligned};
use crate::arena::{Arena, ArenaFolder, RunTotals};

/// Copies `rows` vectors of `dimensions` values each into an arena of their own.
///
/// # Errors
///
/// [`ArenaError::InvalidPayload`] where `values.len() != rows * dimensions`, where there is no value, or where one is
/// NaN or infinite; else what the budget or the disk refuses.
///
/// ```
/// use mzarena::arena::{ArenaFolder, Unlimited, write_embedding};
/// # fn main() -> Result<(), mzarena::arena::ArenaError> {
/// let folder = ArenaFolder::from_environment()?;
/// let arena = write_embedding(&folder, Unlimited, 2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// assert_eq!(arena.embedding()?.row(1), Some(&[4.0, 5.0, 6.0][..]));
/// # Ok(())
/// # }
/// ```
pub fn write_embedding(
    folder: &ArenaFolder,
    budget: impl Budget,
    rows: usize,
    dimensions: usize,
    values: &[f32],
) -> Result<Arena, ArenaError> {
    if rows.checked_mul(dimensions) != Some(values.len()) || values.is_empty() {
        let found = values.len();
        return Err(ArenaError::invalid(format!(
            "{found} values for {rows} rows of {dimensions} dimensions"
        )));
    }
    if let Some(at) = values.iter().position(|value| !value.is_finite()) {
        return Err(ArenaError::invalid(format!("value {at} of the embedding is NaN or infinite")));
    }
    let bytes: &[u8] = bytemuck::cast_slice(values);
    let shape_offset = HEADER_LENGTH + aligned(bytes.len() as u64);
    let length = shape_offset + aligned(size_of::<ShapeRecord>() as u64);
    let mut output = Output::create(folder, budget)?;
    output.grant(length)?;
    output.append(&[0; HEADER_LENGTH as usize])?;
    let [offset] = output.append_columns([bytes])?;
    let shape = ShapeRecord { rows: rows as u64, dimensions: dimensions as u64, offset, reserved: 0 };
    output.append_columns([bytemuck::bytes_of(&shape)])?;
    let mut header = Header::new(ArenaKind::Embedding, output.length());
    let record_length = size_of::<ShapeRecord>() as u32;
    if let Some(entry) = header.sections.first_mut() {
        *entry = SectionEntry {
            id: SHAPE_SECTION,
            record_length,
            offset: shape_offset,
            length: u64::from(record_length),
        };
    }
    Arena::open(output.seal(bytemuck::bytes_of(&header))?, RunTotals::default())
}
