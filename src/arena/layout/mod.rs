//! Every byte of an arena.
//!
//! ```text
//! 0        header, 512 bytes: magic, version, kind, length, section table
//! 512      data: the columns of blocks and recorded chromatograms
//! …        sections: one array of fixed-size records each, or text
//! length   end; a multiple of 64
//! ```
//!
//! Each column and each section starts at a multiple of 64 bytes, empty ones too, and what lies between is zero.
//! Numbers are little-endian, offsets count from the start of the arena and are 64 bits wide. Nothing in an arena
//! depends on time, chance or the number of threads: the same source gives the same bytes.

pub(crate) mod embedding;
pub(crate) mod run;

use bytemuck::{Pod, Zeroable};

#[cfg(not(target_endian = "little"))]
compile_error!("an arena is little-endian and is read without conversion");

/// Every column and section starts at a multiple of this.
pub(crate) const ALIGNMENT: u64 = 64;

/// Length of the header; the first column starts here.
pub(crate) const HEADER_LENGTH: u64 = 512;

/// First bytes of every arena.
pub(crate) const MAGIC: [u8; 8] = *b"MZARENA\0";

/// Version of this layout.
pub(crate) const VERSION: u32 = 1;

/// Most sections an arena can have.
pub(crate) const SECTION_LIMIT: usize = 16;

/// The next multiple of [`ALIGNMENT`] at or after `offset`.
pub(crate) const fn aligned(offset: u64) -> u64 {
    offset.next_multiple_of(ALIGNMENT)
}

/// What an arena holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum ArenaKind {
    /// Spectra and chromatograms; also a single spectrum or peak list.
    Run = 1,
    /// Rows of numbers that a model made.
    Embedding = 2,
}

/// Where one section lies.
#[derive(Debug, Clone, Copy, Pod, Zeroable, PartialEq)]
#[repr(C)]
pub(crate) struct SectionEntry {
    /// Which section; 0 ends the table.
    pub(crate) id: u32,
    /// Bytes of one record; 1 for text.
    pub(crate) record_length: u32,
    /// From the start of the arena.
    pub(crate) offset: u64,
    /// In bytes; a multiple of `record_length`.
    pub(crate) length: u64,
}

/// The first bytes of an arena.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Header {
    pub(crate) magic: [u8; 8],
    pub(crate) version: u32,
    pub(crate) kind: u32,
    /// Of the whole arena, in bytes.
    pub(crate) length: u64,
    pub(crate) sections: [SectionEntry; SECTION_LIMIT],
    pub(crate) reserved: [u64; 13],
}

const _: () = assert!(size_of::<Header>() == HEADER_LENGTH as usize);
const _: () = assert!(size_of::<SectionEntry>() == 24);

impl Header {
    pub(crate) fn new(kind: ArenaKind, length: u64) -> Self {
        let mut header = Self::zeroed();
        header.magic = MAGIC;
        header.version = VERSION;
        header.kind = kind as u32;
        header.length = length;
        header
    }
}
