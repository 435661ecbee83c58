//! A source: opened once, read once and in order, every byte hashed on the way, gzip undone where its bytes say so.

mod digest;
mod gzip;
mod raw;
mod window;

pub use digest::DigestKind;
pub use window::Window;

use super::IngestError;
use crate::access::{OpenedSource, SourceIdentity};
use crate::observe::Observer;
use gzip::GzipReader;
use raw::RawReader;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::rc::Rc;

/// Bytes asked of the system at once.
const READ_BYTES: usize = 256 * 1024;

/// A source that has been opened and not read yet.
///
/// ```
/// use mzarena::ingest::Source;
/// let source = Source::from_reader("inline.mgf", &b"BEGIN IONS\nEND IONS\n"[..], None);
/// assert_eq!(source.name(), "inline.mgf");
/// ```
pub struct Source<'r> {
    name: String,
    reader: Box<dyn Read + 'r>,
    byte_size: Option<u64>,
    /// The file behind `reader` and what it looked like when it was opened.
    watched: Option<(File, SourceIdentity)>,
}

impl std::fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source")
            .field("name", &self.name)
            .field("byte_size", &self.byte_size)
            .finish_non_exhaustive()
    }
}

impl<'r> Source<'r> {
    /// A file that has been opened below a root or by its path. It is watched: a change while reading is an error.
    ///
    /// # Errors
    ///
    /// [`IngestError::Read`] where the system gives no second descriptor.
    pub fn from_opened(opened: OpenedSource) -> Result<Source<'static>, IngestError> {
        let OpenedSource { name, file, identity } = opened;
        let watched = file.try_clone().map_err(|source| IngestError::Read { offset: 0, source })?;
        let byte_size = Some(identity.byte_size);
        Ok(Source { name, reader: Box::new(file), byte_size, watched: Some((watched, identity)) })
    }

    /// Anything that can be read. `byte_size`, where known, serves progress alone.
    pub fn from_reader(name: impl Into<String>, reader: impl Read + 'r, byte_size: Option<u64>) -> Self {
        Self { name: name.into(), reader: Box::new(reader), byte_size, watched: None }
    }

    /// Name of the source, as in provenance.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Begins to read.
    pub(super) fn start<'o>(
        self,
        digest: DigestKind,
        observer: &'o dyn Observer,
    ) -> Result<Reading<'o>, IngestError>
    where
        'r: 'o,
    {
        let raw = Rc::new(RefCell::new(RawReader::new(self.reader, self.byte_size, digest, observer)));
        let mut file = raw::Shared(Rc::clone(&raw));
        let start = first_bytes(&mut file).map_err(|error| raw.borrow().failure(error))?;
        let is_gzip = start == gzip::MAGIC;
        let buffered = BufReader::with_capacity(READ_BYTES, Cursor::new(start).chain(file));
        let trailing = Rc::new(std::cell::Cell::new(false));
        let text: Box<dyn Read + 'o> = if is_gzip {
            Box::new(GzipReader::new(buffered, Rc::clone(&trailing)))
        } else {
            Box::new(buffered)
        };
        let window = Window::new(text, Rc::clone(&raw));
        Ok(Reading { window, raw, trailing, watched: self.watched })
    }
}

/// As many bytes as tell gzip data, however few a reader gives at once.
fn first_bytes(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::with_capacity(gzip::MAGIC.len());
    reader.take(gzip::MAGIC.len() as u64).read_to_end(&mut start)?;
    Ok(start)
}

/// A source while it is read.
pub(super) struct Reading<'o> {
    pub(super) window: Window<'o>,
    raw: Rc<RefCell<RawReader<'o>>>,
    trailing: Rc<std::cell::Cell<bool>>,
    watched: Option<(File, SourceIdentity)>,
}

/// What is known of a source when it has been read.
pub(super) struct Finished {
    pub(super) byte_size: u64,
    /// Of every byte; absent where the source was not read in full.
    pub(super) digest: Option<String>,
    pub(super) has_trailing_data: bool,
}

impl Reading<'_> {
    /// Reads what is left, so that the digest covers every byte, and checks that nobody wrote meanwhile.
    pub(super) fn finish(self) -> Result<Finished, IngestError> {
        drop(self.window);
        let mut raw = self.raw.borrow_mut();
        raw.drain()?;
        check_unchanged(self.watched, Some(raw.offset()))?;
        Ok(Finished {
            byte_size: raw.offset(),
            digest: Some(raw.digest()),
            has_trailing_data: self.trailing.get(),
        })
    }

    /// Stops here: the rest is not read, and there is no digest.
    pub(super) fn stop(self) -> Result<Finished, IngestError> {
        let byte_size = match &self.watched {
            Some((_, identity)) => identity.byte_size,
            None => self.raw.borrow().offset(),
        };
        check_unchanged(self.watched, None)?;
        Ok(Finished { byte_size, digest: None, has_trailing_data: false })
    }
}

fn check_unchanged(watched: Option<(File, SourceIdentity)>, read: Option<u64>) -> Result<(), IngestError> {
    let Some((file, before)) = watched else { return Ok(()) };
    let after = SourceIdentity::of(&file).map_err(|source| IngestError::Read { offset: 0, source })?;
    let changed = |what: String| Err(IngestError::SourceChanged { what });
    if after.byte_size != before.byte_size {
        return changed(format!("it had {} bytes and has {}", before.byte_size, after.byte_size));
    }
    if after != before {
        return changed("its modification time differs".to_owned());
    }
    match read {
        Some(read) if read != before.byte_size => {
            changed(format!("it has {} bytes and {read} were read", before.byte_size))
        }
        _ => Ok(()),
    }
}
