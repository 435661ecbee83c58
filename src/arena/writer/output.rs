//! The arena's file behind a stage: small pieces are gathered, large ones go straight through.

use super::Budget;
use crate::arena::file::{SealedFile, UnnamedFile};
use crate::arena::layout::{ALIGNMENT, aligned};
use crate::arena::{ArenaError, ArenaFolder};
use std::io::IoSlice;

/// Bytes that are gathered before a write; larger stages leave the processor's cache.
const STAGE_BYTES: usize = 256 * 1024;

const ZEROS: [u8; ALIGNMENT as usize] = [0; ALIGNMENT as usize];

/// An arena's file while it is written.
pub(super) struct Output<B> {
    file: UnnamedFile,
    stage: Vec<u8>,
    budget: B,
    granted: u64,
}

impl<B: Budget> Output<B> {
    pub(super) fn create(folder: &ArenaFolder, budget: B) -> Result<Self, ArenaError> {
        Ok(Self { file: UnnamedFile::create(folder)?, stage: Vec::new(), budget, granted: 0 })
    }

    /// Where the next byte goes.
    pub(super) fn length(&self) -> u64 {
        self.file.length() + self.stage.len() as u64
    }

    /// Bytes granted so far.
    pub(super) fn granted(&self) -> u64 {
        self.granted
    }

    pub(super) fn grant(&mut self, bytes: u64) -> Result<(), ArenaError> {
        self.budget.grant(bytes)?;
        self.granted += bytes;
        Ok(())
    }

    /// Appends `bytes`.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), ArenaError> {
        if self.stage.len() + bytes.len() > STAGE_BYTES {
            self.flush()?;
        }
        if bytes.len() > STAGE_BYTES {
            return self.file.append(bytes);
        }
        self.stage.extend_from_slice(bytes);
        Ok(())
    }

    /// Appends zeros up to the next multiple of [`ALIGNMENT`].
    pub(super) fn align(&mut self) -> Result<(), ArenaError> {
        let missing = (aligned(self.length()) - self.length()) as usize;
        self.append(ZEROS.get(..missing).unwrap_or_default())
    }

    /// Appends columns, each from a multiple of [`ALIGNMENT`]; answers where each starts.
    pub(super) fn append_columns<const N: usize>(
        &mut self,
        columns: [&[u8]; N],
    ) -> Result<[u64; N], ArenaError> {
        self.align()?;
        let mut offsets = [0; N];
        let mut end = self.length();
        for (offset, column) in offsets.iter_mut().zip(columns) {
            *offset = end;
            end = aligned(end + column.len() as u64);
        }
        let total = (end - self.length()) as usize;
        if self.stage.len() + total <= STAGE_BYTES {
            for column in columns {
                self.append(column)?;
                self.align()?;
            }
            return Ok(offsets);
        }
        self.flush()?;
        let mut parts: Vec<IoSlice<'_>> = Vec::with_capacity(2 * N);
        for column in columns {
            let padding = column.len().next_multiple_of(ALIGNMENT as usize) - column.len();
            parts.push(IoSlice::new(column));
            parts.push(IoSlice::new(ZEROS.get(..padding).unwrap_or_default()));
        }
        self.file.append_all(&mut parts)?;
        Ok(offsets)
    }

    fn flush(&mut self) -> Result<(), ArenaError> {
        if !self.stage.is_empty() {
            self.file.append(&self.stage)?;
            self.stage.clear();
        }
        Ok(())
    }

    /// Writes `header` over the first bytes and gives the writable descriptor up.
    pub(super) fn seal(mut self, header: &[u8]) -> Result<SealedFile, ArenaError> {
        if self.file.length() == 0 {
            // All of it is still in the stage: one write does.
            if let Some(first) = self.stage.get_mut(..header.len()) {
                first.copy_from_slice(header);
            }
            self.flush()?;
        } else {
            self.flush()?;
            self.file.overwrite(0, header)?;
        }
        self.file.seal()
    }
}
