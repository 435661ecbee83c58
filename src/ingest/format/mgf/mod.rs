//! Mascot generic format: text blocks between `BEGIN IONS` and `END IONS`, read line by line in flat memory.
//!
//! The format has many dialects and one habit: what a program does not know, it skips. Here an odd *key* is null
//! and a warning, an odd *line* is left out and a warning, and what would change the peaks (a word for a mass, an
//! m/z that is no number, a block that does not end) is an error with its line number.

mod block;
mod charge;
mod number;

use crate::ingest::{Flow, IngestError, Place, RunDescription, RunSink, Window};
use crate::warning::WarningCode;
use block::{Block, Defaults, Fault};

/// Longest line that is read, bytes. Real ones have less than a kilobyte.
const LONGEST_LINE: usize = 16 << 20;
/// What some editors put in front of UTF-8.
const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

/// Whether a text that starts like this is MGF: a line says `BEGIN IONS`.
pub(super) fn recognises(start: &[u8]) -> bool {
    let text = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(start);
    let mut lines = text.split(|byte| matches!(byte, b'\n' | b'\r'));
    lines.any(|line| is_two_words(line.trim_ascii(), b"BEGIN", b"IONS"))
}

/// Reads all blocks of an MGF source into `sink`, in their order.
///
/// The native ID is `index=N`, N counting blocks from 0; the MS level is 2 unless `MSLEVEL` states one.
///
/// # Errors
///
/// Damage inside a block goes through [`RunSink::damaged_spectrum`], which decides; what it returns, what
/// [`RunSink::spectrum`] returns and what the source itself fails with ends the reading. So do
/// [`IngestError::Truncated`] for a last block without end, and [`IngestError::Damaged`] for a line of more than
/// 16 MiB and for a source without any block.
pub(super) fn read(window: &mut Window<'_>, sink: &mut dyn RunSink) -> Result<(), IngestError> {
    let mut reader = Reader::new(sink);
    let mut at_end = false;
    loop {
        let available = window.available();
        let mut used = 0;
        while let Some((line, size)) = next_line(available.get(used..).unwrap_or_default(), at_end) {
            if line.len() > LONGEST_LINE {
                return Err(reader.too_long());
            }
            if reader.line(line, window.offset() + used as u64)? == Flow::Stop {
                return Ok(());
            }
            used += size;
        }
        let left = available.len() - used;
        window.consume(used);
        if at_end {
            return reader.end(window.offset());
        }
        if left > LONGEST_LINE {
            return Err(reader.too_long());
        }
        at_end = !window.fill()?;
    }
}

/// The first line of `text` and its size with the line break (LF, CR or both); `None` where more must be read first.
fn next_line(text: &[u8], at_end: bool) -> Option<(&[u8], usize)> {
    let Some(length) = memchr::memchr2(b'\n', b'\r', text) else {
        return (at_end && !text.is_empty()).then_some((text, text.len()));
    };
    let line = text.get(..length)?;
    match (text.get(length), text.get(length + 1)) {
        (Some(b'\r'), Some(b'\n')) => Some((line, length + 2)),
        // the other half of the line break may still come
        (Some(b'\r'), None) if !at_end => None,
        _ => Some((line, length + 1)),
    }
}

/// Where the reader stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    Inside,
    /// In a block that was found to be damaged.
    Skipping,
}

struct Reader<'s> {
    sink: &'s mut dyn RunSink,
    state: State,
    block: Block,
    defaults: Defaults,
    /// Blocks begun so far.
    block_count: u64,
    /// Number of the line being read, from 1.
    line_number: u64,
    /// Byte offset of the line being read, or of the end.
    byte_offset: u64,
    /// Spectra that the sink took.
    complete_count: u64,
}

impl<'s> Reader<'s> {
    fn new(sink: &'s mut dyn RunSink) -> Self {
        Self {
            sink,
            state: State::Outside,
            block: Block::default(),
            defaults: Defaults::default(),
            block_count: 0,
            line_number: 0,
            byte_offset: 0,
            complete_count: 0,
        }
    }

    fn line(&mut self, line: &[u8], byte_offset: u64) -> Result<Flow, IngestError> {
        self.line_number += 1;
        self.byte_offset = byte_offset;
        let is_first = self.line_number == 1;
        let line = line.strip_prefix(BYTE_ORDER_MARK).filter(|_| is_first).unwrap_or(line).trim_ascii();
        match line.first() {
            None | Some(b'#' | b';' | b'!' | b'/') => {}
            Some(b'0'..=b'9' | b'+' | b'-' | b'.') => self.numbers(line)?,
            Some(b'B' | b'b') if is_two_words(line, b"BEGIN", b"IONS") => self.begin()?,
            Some(b'E' | b'e') if is_two_words(line, b"END", b"IONS") => return self.finish_block(),
            Some(_) => match key_and_value(line) {
                Some((key, value)) => self.key(key, value)?,
                // `nan` and `inf` are numbers too, and must not pass for words
                None => self.numbers(line)?,
            },
        }
        Ok(Flow::Continue)
    }

    fn begin(&mut self) -> Result<(), IngestError> {
        if self.state == State::Inside {
            let what = format!("BEGIN IONS inside the block that began at line {}", self.block.first_line());
            let error = self.damaged(what);
            self.sink.damaged_spectrum(error)?;
        }
        if self.block_count == 0 {
            self.sink.run(&RunDescription {
                // MS:1000774, `index=` counting from 0
                native_id_format: Some("multiple peak list nativeID format".to_owned()),
                ..RunDescription::default()
            });
        }
        self.state = State::Inside;
        self.block.begin(self.block_count, self.line_number);
        self.block_count += 1;
        Ok(())
    }

    fn finish_block(&mut self) -> Result<Flow, IngestError> {
        match std::mem::replace(&mut self.state, State::Outside) {
            State::Inside => {
                let spectrum = self.block.finish(&self.defaults, self.sink.warnings());
                let flow = self.sink.spectrum(spectrum)?;
                self.complete_count += 1;
                self.block.shrink();
                Ok(flow)
            }
            State::Skipping => Ok(Flow::Continue),
            State::Outside => {
                let error = self.damaged("END IONS without BEGIN IONS".to_owned());
                self.sink.damaged_spectrum(error)?;
                Ok(Flow::Continue)
            }
        }
    }

    /// A line that begins like a peak.
    fn numbers(&mut self, line: &[u8]) -> Result<(), IngestError> {
        match self.state {
            State::Inside => {
                let result = self.block.peak(line, self.line_number);
                self.settle(result)
            }
            State::Outside => self.settle(Err(Fault::UnknownLine("stands outside all blocks"))),
            State::Skipping => Ok(()),
        }
    }

    fn key(&mut self, key: &[u8], value: &[u8]) -> Result<(), IngestError> {
        let result = match self.state {
            State::Inside => self.block.key(key, value),
            State::Outside => self.defaults.key(key, value),
            State::Skipping => Ok(()),
        };
        self.settle(result)
    }

    /// What is wrong with the line becomes a warning, or damage of the block.
    fn settle(&mut self, result: Result<(), Fault>) -> Result<(), IngestError> {
        let line = self.line_number;
        match result {
            Ok(()) => {}
            Err(Fault::UnknownLine(what)) => {
                self.sink.warnings().add(WarningCode::UnknownLine, || format!("line {line} {what}"));
            }
            Err(Fault::Unreadable(key)) => {
                self.sink.warnings().add(WarningCode::UnreadableNumber, || format!("{key} at line {line}"));
            }
            Err(Fault::InvalidText(key)) => {
                self.sink.warnings().add(WarningCode::InvalidText, || format!("{key} at line {line}"));
            }
            Err(Fault::Damaged { what, array }) => {
                self.state = State::Skipping;
                let place = Place { array, ..self.place() };
                self.sink.damaged_spectrum(IngestError::Damaged { place, what })?;
            }
        }
        Ok(())
    }

    fn end(mut self, byte_offset: u64) -> Result<(), IngestError> {
        self.byte_offset = byte_offset;
        if self.state == State::Inside {
            let what = format!("the block that began at line {} has no END IONS", self.block.first_line());
            let complete_spectrum_count = self.complete_count;
            return Err(IngestError::Truncated { place: self.place(), what, complete_spectrum_count });
        }
        if self.block_count == 0 {
            return Err(self.damaged("there is no BEGIN IONS line".to_owned()));
        }
        Ok(())
    }

    fn too_long(&self) -> IngestError {
        self.damaged(format!("the line after line {} is longer than {LONGEST_LINE} bytes", self.line_number))
    }

    fn damaged(&self, what: String) -> IngestError {
        IngestError::Damaged { place: self.place(), what }
    }

    fn place(&self) -> Place {
        let index = match self.state {
            State::Outside => None,
            State::Inside | State::Skipping => self.block_count.checked_sub(1),
        };
        Place {
            spectrum_index: index,
            native_id: index.map(|index| format!("index={index}")),
            line: Some(self.line_number),
            byte_offset: self.byte_offset,
            ..Place::default()
        }
    }
}

/// Whether `line` is these two words, in any case and with any white space between them.
fn is_two_words(line: &[u8], first: &[u8], second: &[u8]) -> bool {
    line.split_at_checked(first.len()).is_some_and(|(start, rest)| {
        let word = rest.trim_ascii_start();
        start.eq_ignore_ascii_case(first) && word.len() < rest.len() && word.eq_ignore_ascii_case(second)
    })
}

/// The two sides of `KEY=value`. A key is one word of letters, digits and a few signs.
fn key_and_value(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (key, value) = line.split_at_checked(memchr::memchr(b'=', line)?)?;
    let key = key.trim_ascii_end();
    let is_word =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'[' | b']');
    let is_key = key.first().is_some_and(u8::is_ascii_alphabetic) && key.iter().all(is_word);
    is_key.then_some((key, value.get(1..).unwrap_or_default().trim_ascii()))
}

#[cfg(test)]
mod files;
#[cfg(test)]
mod tests;
