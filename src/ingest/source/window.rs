//! A bounded window on the text of a source.

use super::raw::RawReader;
use super::{IngestError, READ_BYTES};
use crate::ingest::error::Place;
use std::cell::{Cell, RefCell};
use std::io::{self, Read};
use std::rc::Rc;

/// Most bytes that one element may take: 1 GiB.
pub(crate) const ELEMENT_LIMIT: usize = 1 << 30;

/// Memory that the window keeps after a large element.
const KEPT_BYTES: usize = 4 * READ_BYTES;

/// The part of the text that is in memory: filled at the end, consumed from the start.
pub struct Window<'o> {
    reader: Box<dyn Read + 'o>,
    raw: Rc<RefCell<RawReader<'o>>>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    offset: u64,
    /// What ended the last read that also gave bytes: those come first.
    failed: Option<io::Error>,
    is_corrupt: Cell<bool>,
}

impl std::fmt::Debug for Window<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Window")
            .field("offset", &self.offset)
            .field("length", &(self.end - self.start))
            .finish()
    }
}

impl<'o> Window<'o> {
    pub(super) fn new(reader: Box<dyn Read + 'o>, raw: Rc<RefCell<RawReader<'o>>>) -> Self {
        Self {
            reader,
            raw,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            offset: 0,
            failed: None,
            is_corrupt: Cell::new(false),
        }
    }

    /// The bytes in memory.
    pub fn available(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Offset of the first available byte in the text.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether whoever watches asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.raw.borrow().is_cancelled()
    }

    /// Whether gzip data turned out to be corrupt. Its checksum comes last, so that what was read before is in doubt.
    pub(in crate::ingest) fn is_corrupt(&self) -> bool {
        self.is_corrupt.get()
    }

    /// Reads more; `false` at the end of the text. What is available grows at least by half each time an element
    /// does not fit, so that looking at it again from its start stays cheap.
    ///
    /// # Errors
    ///
    /// [`IngestError::Read`] where the system fails, [`IngestError::Damaged`] for damaged gzip data or an element of
    /// more than 1 GiB, [`IngestError::Truncated`] for gzip data that ends early, [`IngestError::Cancelled`].
    pub fn fill(&mut self) -> Result<bool, IngestError> {
        self.check_failure()?;
        // Asked here too, since one read of compressed bytes may hold seconds of text.
        if self.is_cancelled() {
            return Err(IngestError::Cancelled);
        }
        let length = self.end - self.start;
        if length >= ELEMENT_LIMIT {
            return Err(IngestError::damaged(self.offset, "an element or line of more than 1 GiB"));
        }
        self.read_more(length).map_err(|error| self.failure(error))
    }

    /// As [`Self::fill`], but an error is left for later: what was read before it comes first.
    pub(in crate::ingest) fn fill_unless_failing(&mut self) -> bool {
        if self.failed.is_none() {
            match self.read_more(self.end - self.start) {
                Ok(has_grown) => return has_grown,
                Err(error) => self.failed = Some(error),
            }
        }
        false
    }

    /// The error that was left for later, if there is one.
    pub(in crate::ingest) fn check_failure(&mut self) -> Result<(), IngestError> {
        match self.failed.take() {
            Some(error) => Err(self.failure(error)),
            None => Ok(()),
        }
    }

    /// Reads more behind the `length` available bytes; whether there was more.
    fn read_more(&mut self, length: usize) -> io::Result<bool> {
        self.make_room(READ_BYTES.max(length / 2));
        let wanted = length / 2 + 1;
        let mut grown = 0;
        while grown < wanted {
            let Some(room) = self.buffer.get_mut(self.end..).filter(|room| !room.is_empty()) else { break };
            match self.reader.read(room) {
                Ok(0) => break,
                Ok(count) => {
                    self.end += count;
                    grown += count;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if grown == 0 => return Err(error),
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            }
        }
        Ok(grown > 0)
    }

    /// Gives the first `count` available bytes up.
    pub fn consume(&mut self, count: usize) {
        let count = count.min(self.end - self.start);
        self.start += count;
        self.offset += count as u64;
    }

    fn make_room(&mut self, wanted: usize) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buffer.len() > KEPT_BYTES && self.end < KEPT_BYTES / 2 {
            self.buffer.truncate(KEPT_BYTES);
            self.buffer.shrink_to_fit();
        }
        if self.buffer.len() < self.end + wanted {
            self.buffer.resize(self.end + wanted, 0);
        }
    }

    /// What the system says is a failure to read; what a decompressor says is damage.
    fn failure(&self, error: io::Error) -> IngestError {
        let raw = self.raw.borrow();
        if raw.has_failed() {
            return raw.failure(error);
        }
        let byte_offset = self.offset + (self.end - self.start) as u64;
        let place = Place { byte_offset, ..Place::default() };
        if error.kind() == io::ErrorKind::UnexpectedEof {
            let what = format!("the gzip data stops after {} bytes", raw.offset());
            return IngestError::Truncated { place, what, complete_spectrum_count: 0 };
        }
        self.is_corrupt.set(true);
        let what = format!("gzip data near byte {} of the file: {error}", raw.offset());
        IngestError::Damaged { place, what }
    }
}
