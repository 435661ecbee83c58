//! Records of an embedding: rows of f32 values in one column that starts after the header.

use bytemuck::{Pod, Zeroable};

/// Section of the shape record.
pub(crate) const SHAPE_SECTION: u32 = 1;

/// Shape of the one column.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct ShapeRecord {
    /// Number of vectors.
    pub(crate) rows: u64,
    /// Length of each vector.
    pub(crate) dimensions: u64,
    /// Of the values, from the start of the arena.
    pub(crate) offset: u64,
    pub(crate) reserved: u64,
}

const _: () = assert!(size_of::<ShapeRecord>() == 32);
