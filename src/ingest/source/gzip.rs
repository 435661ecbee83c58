//! gzip with all its members, and what may follow the last one.

use flate2::bufread::GzDecoder;
use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

/// First bytes of a gzip member.
pub(super) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Inflates member after member.
pub(super) struct GzipReader<R: BufRead> {
    /// `None` once the last member has ended.
    member: Option<GzDecoder<R>>,
    trailing: Rc<Cell<bool>>,
}

impl<R: BufRead> GzipReader<R> {
    /// `trailing` becomes true where bytes follow the last member that are no further one.
    pub(super) fn new(inner: R, trailing: Rc<Cell<bool>>) -> Self {
        Self { member: Some(GzDecoder::new(inner)), trailing }
    }
}

impl<R: BufRead> Read for GzipReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        loop {
            let Some(decoder) = &mut self.member else { return Ok(0) };
            let count = decoder.read(into)?;
            if count > 0 {
                return Ok(count);
            }
            // The member ended and its checksum was right.
            let Some(decoder) = self.member.take() else { return Ok(0) };
            let mut inner = decoder.into_inner();
            match inner.fill_buf()?.first() {
                None => {}
                Some(first) if *first == MAGIC[0] => self.member = Some(GzDecoder::new(inner)),
                Some(_) => self.trailing.set(true),
            }
        }
    }
}
