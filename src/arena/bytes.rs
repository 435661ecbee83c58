//! The only unsafe call of the crate: mapping a sealed file without a name.

use super::ArenaError;
use super::file::SealedFile;
use memmap2::{Mmap, MmapOptions};
use std::fmt;

/// The bytes of a sealed arena, mapped read-only. Dropping it unmaps them and frees their disk space.
pub(super) struct ArenaBytes(Mmap);

impl ArenaBytes {
    /// Maps `file` and closes its descriptor.
    #[expect(unsafe_code, reason = "mapping a file is unsafe by nature; this is the one place")]
    pub(super) fn map(file: SealedFile) -> Result<Self, ArenaError> {
        let (handle, folder) = file.into_read_only();
        // SAFETY: a mapping is sound while nobody changes or truncates the file under it. `SealedFile` exists only
        // for a file that this process made without a name (`UnnamedFile::create`), whose writable descriptor was
        // closed when it was sealed (`UnnamedFile::seal`), and `handle` is the only descriptor left, read-only and
        // dropped below. So no process but root's can reach the file, and none can write to it.
        let map = unsafe { MmapOptions::new().map(&handle) };
        drop(handle);
        map.map(Self).map_err(|source| ArenaError::Io { action: "map", folder, source })
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for ArenaBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ArenaBytes({})", self.0.len())
    }
}
