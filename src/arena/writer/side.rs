//! Records that wait for the end of a run: staged in memory, then in a second file without a name.

use super::Budget;
use super::output::Output;
use crate::arena::file::UnnamedFile;
use crate::arena::{ArenaError, ArenaFolder};

/// Bytes of one stream that stay in memory.
const STAGE_BYTES: usize = 64 * 1024;

/// The second file; made when first needed.
pub(super) struct SideFile {
    folder: ArenaFolder,
    file: Option<UnnamedFile>,
}

impl SideFile {
    pub(super) fn new(folder: &ArenaFolder) -> Self {
        Self { folder: folder.clone(), file: None }
    }

    /// Appends `bytes`; answers where they start.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<u64, ArenaError> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(UnnamedFile::create(&self.folder)?),
        };
        let offset = file.length();
        file.append(bytes)?;
        Ok(offset)
    }

    pub(super) fn read_exact_at(&mut self, offset: u64, into: &mut [u8]) -> Result<(), ArenaError> {
        match &mut self.file {
            Some(file) => file.read_exact_at(offset, into),
            None => Err(ArenaError::damaged("records were asked back that were never put aside")),
        }
    }
}

/// One kind of record or text, in the order it came.
#[derive(Default)]
pub(super) struct Stream {
    stage: Vec<u8>,
    /// Offset and length of each piece in the side file.
    extents: Vec<(u64, usize)>,
    length: u64,
}

impl Stream {
    /// Bytes so far.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    pub(super) fn push(&mut self, bytes: &[u8], side: &mut SideFile) -> Result<(), ArenaError> {
        self.stage.extend_from_slice(bytes);
        self.length += bytes.len() as u64;
        if self.stage.len() >= STAGE_BYTES {
            self.extents.push((side.append(&self.stage)?, self.stage.len()));
            self.stage.clear();
            self.stage.shrink_to(2 * STAGE_BYTES);
        }
        Ok(())
    }

    /// Copies everything to the arena.
    pub(super) fn copy_to<B: Budget>(
        self,
        side: &mut SideFile,
        output: &mut Output<B>,
    ) -> Result<(), ArenaError> {
        let mut buffer = Vec::new();
        for (offset, length) in self.extents {
            buffer.resize(length, 0);
            side.read_exact_at(offset, &mut buffer)?;
            output.append(&buffer)?;
        }
        output.append(&self.stage)
    }
}
