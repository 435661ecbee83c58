//! Files without a name: written in full with ordinary writes, sealed, reopened read-only.

use super::{ArenaError, ArenaFolder};
use std::fs::File;
use std::io::{self, IoSlice, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// A private file without a name, open for writing.
#[derive(Debug)]
pub(super) struct UnnamedFile {
    file: File,
    folder: PathBuf,
    /// Length, and where the next bytes go.
    length: u64,
    /// Where the descriptor stands.
    position: u64,
    #[cfg(not(target_os = "linux"))]
    read_only: File,
}

/// A file without a name that nobody can write to any more.
#[derive(Debug)]
pub(super) struct SealedFile {
    read_only: File,
    folder: PathBuf,
}

impl UnnamedFile {
    /// Makes a file in `folder` that has no name, so that it is gone with its last descriptor or mapping, whatever
    /// becomes of the process.
    #[cfg(target_os = "linux")]
    pub(super) fn create(folder: &ArenaFolder) -> Result<Self, ArenaError> {
        let path = folder.path().to_owned();
        match tempfile::tempfile_in(&path) {
            Ok(file) => Ok(Self { file, folder: path, length: 0, position: 0 }),
            Err(source) => Err(failure("create", path, 0, source)),
        }
    }

    /// Other systems cannot open a file again that has no name: it has one for a moment.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn create(folder: &ArenaFolder) -> Result<Self, ArenaError> {
        let path = folder.path().to_owned();
        let made = tempfile::NamedTempFile::new_in(&path).and_then(|named| {
            let read_only = File::open(named.path())?;
            let (file, name) = named.into_parts();
            name.close()?;
            Ok((file, read_only))
        });
        match made {
            Ok((file, read_only)) => Ok(Self { file, folder: path, length: 0, position: 0, read_only }),
            Err(source) => Err(failure("create", path, 0, source)),
        }
    }

    /// Bytes written so far.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Appends `bytes`.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), ArenaError> {
        self.append_all(&mut [IoSlice::new(bytes)])
    }

    /// Appends all `parts`, one after the other, in as few calls as the system takes.
    pub(super) fn append_all(&mut self, mut parts: &mut [IoSlice<'_>]) -> Result<(), ArenaError> {
        self.seek(self.length)?;
        IoSlice::advance_slices(&mut parts, 0);
        while !parts.is_empty() {
            match self.file.write_vectored(parts) {
                Ok(0) => return Err(self.failed("write", io::ErrorKind::WriteZero.into())),
                Ok(count) => {
                    self.length += count as u64;
                    self.position = self.length;
                    IoSlice::advance_slices(&mut parts, count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed("write", error)),
            }
        }
        Ok(())
    }

    /// Writes over the bytes at `offset`, which must have been written before.
    pub(super) fn overwrite(&mut self, offset: u64, bytes: &[u8]) -> Result<(), ArenaError> {
        self.seek(offset)?;
        self.file.write_all(bytes).map_err(|error| self.failed("write", error))?;
        self.position = offset + bytes.len() as u64;
        Ok(())
    }

    /// Reads back exactly `into.len()` bytes from `offset`.
    pub(super) fn read_exact_at(&mut self, offset: u64, into: &mut [u8]) -> Result<(), ArenaError> {
        self.seek(offset)?;
        self.file.read_exact(into).map_err(|error| self.failed("read back", error))?;
        self.position = offset + into.len() as u64;
        Ok(())
    }

    fn seek(&mut self, offset: u64) -> Result<(), ArenaError> {
        if self.position != offset {
            self.file.seek(SeekFrom::Start(offset)).map_err(|error| self.failed("write", error))?;
            self.position = offset;
        }
        Ok(())
    }

    fn failed(&self, action: &'static str, source: io::Error) -> ArenaError {
        failure(action, self.folder.clone(), self.length, source)
    }

    /// Gives the writable descriptor up for a read-only one. A mapping made of a writable descriptor could be made
    /// writable later; one made of a read-only descriptor cannot.
    #[cfg(target_os = "linux")]
    pub(super) fn seal(self) -> Result<SealedFile, ArenaError> {
        use std::os::fd::AsRawFd;
        let again = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        match File::open(again) {
            Ok(read_only) => Ok(SealedFile { read_only, folder: self.folder }),
            Err(source) => Err(self.failed("reopen", source)),
        }
    }

    /// Gives the writable descriptor up; the read-only one was opened while the file had a name.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn seal(self) -> Result<SealedFile, ArenaError> {
        Ok(SealedFile { read_only: self.read_only, folder: self.folder })
    }
}

impl SealedFile {
    pub(super) fn into_read_only(self) -> (File, PathBuf) {
        (self.read_only, self.folder)
    }
}

fn failure(action: &'static str, folder: PathBuf, written: u64, source: io::Error) -> ArenaError {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            ArenaError::Full { folder, written, source }
        }
        _ => ArenaError::Io { action, folder, source },
    }
}
