//! The bytes of the file itself: counted, hashed, watched.

use super::digest::{DigestKind, Hasher};
use super::{IngestError, READ_BYTES};
use crate::observe::Observer;
use std::cell::RefCell;
use std::io::{self, Read};
use std::rc::Rc;

/// Reads the file in order.
pub(super) struct RawReader<'o> {
    reader: Box<dyn Read + 'o>,
    byte_size: Option<u64>,
    offset: u64,
    hasher: Hasher,
    observer: &'o dyn Observer,
    /// The system's own error; what a decompressor says of damaged data is another thing.
    failed: bool,
}

impl<'o> RawReader<'o> {
    pub(super) fn new(
        reader: Box<dyn Read + 'o>,
        byte_size: Option<u64>,
        digest: DigestKind,
        observer: &'o dyn Observer,
    ) -> Self {
        Self { reader, byte_size, offset: 0, hasher: Hasher::new(digest), observer, failed: false }
    }

    /// Bytes read so far.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn digest(&self) -> String {
        self.hasher.text()
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.observer.is_cancelled()
    }

    /// `error`, which a read through this reader gave, as an error of the source.
    pub(super) fn failure(&self, error: io::Error) -> IngestError {
        if self.is_cancelled() {
            IngestError::Cancelled
        } else {
            IngestError::Read { offset: self.offset, source: error }
        }
    }

    /// Whether the system failed, and not only a decompressor.
    pub(super) fn has_failed(&self) -> bool {
        self.failed
    }

    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.is_cancelled() {
            self.failed = true;
            return Err(io::Error::other("cancelled"));
        }
        loop {
            match self.reader.read(into) {
                Ok(count) => {
                    self.hasher.update(into.get(..count).unwrap_or_default());
                    self.offset += count as u64;
                    self.observer.progress(self.offset, self.byte_size);
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failed = true;
                    return Err(error);
                }
            }
        }
    }

    /// Reads to the end, for the digest's sake.
    pub(super) fn drain(&mut self) -> Result<(), IngestError> {
        let mut rest = vec![0; READ_BYTES];
        loop {
            match self.read(&mut rest) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) => return Err(self.failure(error)),
            }
        }
    }
}

/// The raw reader as its consumers share it.
pub(super) struct Shared<'o>(pub(super) Rc<RefCell<RawReader<'o>>>);

impl Read for Shared<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.borrow_mut().read(into)
    }
}
