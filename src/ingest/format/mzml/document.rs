//! The document: from the root element to the spectra, one whole element at a time.

use super::arrays::{ArrayDecoder, Role};
use super::context::RunContext;
use super::cutter::{Cut, Cutter, Markup, name_of};
use super::encoding::{declared_encoding, decode};
use super::header::HeaderVisitor;
use super::points::{ArrayFault, decode_points, decode_trace};
use super::record::RecordVisitor;
use super::xml::{Attributes, Fault, walk};
use crate::ingest::error::Place;
use crate::ingest::incoming::{IncomingChromatogram, Values};
use crate::ingest::{Flow, IncomingSpectrum, IngestError, RunSink, Window};
use crate::spectrum::{ChromatogramDescription, ChromatogramKind, SignalAxis};
use crate::warning::WarningCode;
use quick_xml::events::BytesStart;

/// Whether `start`, the first bytes of a text, looks like mzML.
pub(in crate::ingest::format) fn recognises(start: &[u8]) -> bool {
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    if !text.starts_with(b"<") {
        return false;
    }
    ["<mzML", "<indexedmzML", ":mzML", ":indexedmzML"]
        .iter()
        .any(|root| memchr::memmem::find(text, root.as_bytes()).is_some())
}

/// Elements that are entered; all others are skipped or cut whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    IndexedMzml,
    Mzml,
    Run,
    SpectrumList,
    ChromatogramList,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Self::IndexedMzml => "indexedmzML",
            Self::Mzml => "mzML",
            Self::Run => "run",
            Self::SpectrumList => "spectrumList",
            Self::ChromatogramList => "chromatogramList",
        }
    }
}

/// Reads mzML from `window` into `sink`.
pub(in crate::ingest::format) fn read(
    window: &mut Window<'_>,
    sink: &mut dyn RunSink,
) -> Result<(), IngestError> {
    let mut document = Document {
        cutter: Cutter { window },
        sink,
        context: RunContext::default(),
        encoding: encoding_rs::UTF_8,
        levels: Vec::new(),
        arrays: ArrayDecoder::default(),
        spectrum: IncomingSpectrum::default(),
        spectrum_index: 0,
        is_run_told: false,
    };
    let result = document.read();
    document.tell_run();
    result.map_err(|error| complete(error, document.spectrum_index))
}

/// Adds how many spectra were complete.
fn complete(error: IngestError, count: u64) -> IngestError {
    match error {
        IngestError::Truncated { place, what, .. } => {
            IngestError::Truncated { place, what, complete_spectrum_count: count }
        }
        error => error,
    }
}

struct Document<'w, 'o, 's> {
    cutter: Cutter<'w, 'o>,
    sink: &'s mut dyn RunSink,
    context: RunContext,
    encoding: &'static encoding_rs::Encoding,
    levels: Vec<Level>,
    arrays: ArrayDecoder,
    spectrum: IncomingSpectrum,
    spectrum_index: u64,
    is_run_told: bool,
}

impl Document<'_, '_, '_> {
    fn read(&mut self) -> Result<(), IngestError> {
        self.skip_byte_order_mark()?;
        loop {
            let Some((markup, length)) = self.cutter.next_markup()? else {
                return Err(match self.levels.last() {
                    Some(level) => self.cutter.truncated(format!("<{}> is open", level.name())),
                    None => self.cutter.truncated("no root element"),
                });
            };
            match markup {
                Markup::Other => self.other(length),
                Markup::End => {
                    if self.end(length)? {
                        return self.finish();
                    }
                }
                Markup::Start | Markup::Empty => {
                    if self.start(markup, length)? == Flow::Stop {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn skip_byte_order_mark(&mut self) -> Result<(), IngestError> {
        while self.cutter.window.available().len() < 3 && self.cutter.window.fill()? {}
        if self.cutter.window.available().starts_with(b"\xef\xbb\xbf") {
            self.cutter.window.consume(3);
        }
        Ok(())
    }

    /// Declaration, comment or processing instruction.
    fn other(&mut self, length: usize) {
        let bytes = self.cutter.window.available().get(..length).unwrap_or_default();
        if bytes.starts_with(b"<?xml")
            && let Some(label) = declared_encoding(bytes)
            && let Some(encoding) = encoding_rs::Encoding::for_label(label)
        {
            self.encoding = encoding;
        }
        self.cutter.window.consume(length);
    }

    /// An end tag; whether the run has ended.
    fn end(&mut self, length: usize) -> Result<bool, IngestError> {
        let name = name_of(self.cutter.window.available().get(..length).unwrap_or_default());
        match self.levels.last() {
            Some(level) if level.name().as_bytes() == name => {
                let level = *level;
                self.levels.pop();
                self.cutter.window.consume(length);
                Ok(level == Level::Mzml)
            }
            open => {
                let open = open.map_or("nothing", |level| level.name());
                let what = format!("</{}> where {open} is open", String::from_utf8_lossy(name));
                Err(IngestError::damaged(self.cutter.window.offset(), what))
            }
        }
    }

    fn start(&mut self, markup: Markup, length: usize) -> Result<Flow, IngestError> {
        let tag = self.cutter.window.available().get(..length).unwrap_or_default();
        let name = name_of(tag);
        let entered = match (self.levels.last(), name) {
            (None, b"indexedmzML") => Some(Level::IndexedMzml),
            (None | Some(Level::IndexedMzml), b"mzML") => Some(Level::Mzml),
            (Some(Level::Mzml), b"run") => Some(Level::Run),
            (Some(Level::Run), b"spectrumList") => Some(Level::SpectrumList),
            (Some(Level::Run), b"chromatogramList") => Some(Level::ChromatogramList),
            _ => None,
        };
        if let Some(level) = entered {
            self.enter(level, length)?;
            if markup == Markup::Start {
                self.levels.push(level);
            }
            return Ok(Flow::Continue);
        }
        match (self.levels.last(), name) {
            (None, name) => {
                let what = format!("the root element is <{}>, not <mzML>", String::from_utf8_lossy(name));
                Err(IngestError::unsupported(what))
            }
            (Some(Level::SpectrumList), b"spectrum") => self.spectrum(markup, length),
            (Some(Level::ChromatogramList), b"chromatogram") => {
                self.chromatogram(markup, length).map(|()| Flow::Continue)
            }
            (Some(Level::Mzml), _) => self.header(markup, length).map(|()| Flow::Continue),
            _ => {
                match markup {
                    Markup::Start => self.cutter.skip(length)?,
                    _ => self.cutter.window.consume(length),
                }
                Ok(Flow::Continue)
            }
        }
    }

    /// Reads the start tag of an element that is entered, and consumes it.
    fn enter(&mut self, level: Level, length: usize) -> Result<(), IngestError> {
        let offset = self.cutter.window.offset();
        let tag = self.cutter.window.available().get(..length).unwrap_or_default();
        let text = decode(tag, self.encoding).0;
        let inner = text.trim_start_matches('<').trim_end_matches('>').trim_end_matches('/');
        let name_length = inner.find(|c: char| c.is_ascii_whitespace()).unwrap_or(inner.len());
        let start = BytesStart::from_content(inner, name_length);
        let attributes = Attributes::of(&start).map_err(|what| IngestError::damaged(offset, what))?;
        let mut stamp = None;
        match level {
            Level::Mzml => check_version(attributes.get("version"))?,
            Level::Run => {
                self.context.default_instrument =
                    attributes.get("defaultInstrumentConfigurationRef").map(str::to_owned);
                stamp = attributes.get("startTimeStamp").map(str::to_owned);
            }
            Level::SpectrumList => {
                let count = attributes.get("count").unwrap_or_default().trim();
                self.context.description.declared_spectrum_count = count.parse().ok();
            }
            Level::IndexedMzml | Level::ChromatogramList => {}
        }
        if self.context.is_imaging && level == Level::Run {
            return Err(IngestError::unsupported(
                "this is imzML (mass spectrometry imaging), which is not read; convert single regions to mzML",
            ));
        }
        if let Some(stamp) = stamp {
            self.start_time_stamp(&stamp);
        }
        self.cutter.window.consume(length);
        Ok(())
    }

    fn start_time_stamp(&mut self, stamp: &str) {
        let stamp = stamp.trim();
        let is_readable =
            stamp.parse::<jiff::Timestamp>().is_ok() || stamp.parse::<jiff::civil::DateTime>().is_ok();
        if is_readable {
            self.context.description.start_time_stamp = Some(stamp.to_owned());
        } else if !stamp.is_empty() {
            self.sink
                .warnings()
                .add(WarningCode::UnreadableNumber, || "startTimeStamp of the run".to_owned());
        }
    }

    /// Cuts the element at the start of the window; its length.
    fn cut(&mut self, markup: Markup, length: usize) -> Result<Cut, IngestError> {
        match markup {
            Markup::Empty => Ok(Cut::Whole(length)),
            _ => self.cutter.cut(length),
        }
    }

    fn header(&mut self, markup: Markup, length: usize) -> Result<(), IngestError> {
        let offset = self.cutter.window.offset();
        let length = match self.cut(markup, length)? {
            Cut::Whole(length) => length,
            Cut::Unclosed(at) => {
                return Err(IngestError::damaged(offset + at as u64, "an end tag is missing"));
            }
        };
        let bytes = self.cutter.window.available().get(..length).unwrap_or_default();
        let (text, had_errors) = decode(bytes, self.encoding);
        if had_errors {
            self.sink.warnings().add(WarningCode::InvalidText, || format!("header, byte {offset}"));
        }
        let result = walk(&text, &mut HeaderVisitor::new(&mut self.context));
        result.map_err(|fault| IngestError::damaged(offset + fault.offset as u64, fault.what))?;
        self.cutter.window.consume(length);
        Ok(())
    }

    fn spectrum(&mut self, markup: Markup, length: usize) -> Result<Flow, IngestError> {
        if self.cutter.window.is_cancelled() {
            return Err(IngestError::Cancelled);
        }
        let offset = self.cutter.window.offset();
        let cut = self.cut(markup, length)?;
        let (length, result) = match cut {
            Cut::Whole(length) => (length, self.read_spectrum(length)),
            Cut::Unclosed(length) => {
                let place = Place {
                    spectrum_index: Some(self.spectrum_index),
                    byte_offset: offset,
                    ..Place::default()
                };
                let what = "its end tag is missing".to_owned();
                (length, Err(IngestError::Damaged { place, what }))
            }
        };
        let flow = match result {
            Ok(true) => self.sink.spectrum(&self.spectrum)?,
            Ok(false) => Flow::Continue,
            Err(error) if error.is_damage() => {
                self.sink.damaged_spectrum(error)?;
                Flow::Continue
            }
            Err(error) => return Err(error),
        };
        self.spectrum_index += 1;
        self.cutter.window.consume(length);
        Ok(flow)
    }

    /// Reads the spectrum of `length` bytes at the start of the window into `self.spectrum`; `false` where the sink
    /// does not want it.
    fn read_spectrum(&mut self, length: usize) -> Result<bool, IngestError> {
        let offset = self.cutter.window.offset();
        let index = self.spectrum_index;
        let bytes = self.cutter.window.available().get(..length).unwrap_or_default();
        let (text, had_errors) = decode(bytes, self.encoding);
        let mut visitor = RecordVisitor::new(&self.context);
        let walked = walk(&text, &mut visitor);
        let mut record = visitor.finish();
        let native_id = record.description.native_id.clone();
        let place = |array, at: usize| Place {
            spectrum_index: Some(index),
            native_id: Some(native_id.clone()),
            array,
            line: None,
            byte_offset: offset + at as u64,
        };
        walked.map_err(|Fault { offset, what }| IngestError::Damaged { place: place(None, offset), what })?;
        record.description.axis = record.axis();
        if !self.sink.wants(&record.description) {
            return Ok(false);
        }
        for array in record.arrays.iter().filter(|array| array.role == Role::NotKept) {
            self.context.note_array_not_kept(&array.name);
        }
        self.spectrum.clear();
        if record.description.axis == SignalAxis::Mass {
            let decoded = decode_points(&text, &mut record, &mut self.arrays, &mut self.spectrum);
            decoded.map_err(|ArrayFault { array, offset, what }| IngestError::Damaged {
                place: place(array, offset),
                what,
            })?;
        }
        if had_errors {
            record.warnings.push(WarningCode::InvalidText);
        }
        let warnings = self.sink.warnings();
        for code in record.warnings.drain(..) {
            warnings.add(code, || place(None, 0).to_string());
        }
        self.spectrum.description = record.description;
        Ok(true)
    }

    fn chromatogram(&mut self, markup: Markup, length: usize) -> Result<(), IngestError> {
        let offset = self.cutter.window.offset();
        let (length, result) = match self.cut(markup, length)? {
            Cut::Whole(length) => (length, self.read_chromatogram(length)),
            Cut::Unclosed(length) => {
                (length, Err(IngestError::damaged(offset, "a chromatogram without an end tag")))
            }
        };
        match result {
            Ok(chromatogram) => self.sink.chromatogram(&chromatogram)?,
            Err(error) => self.sink.damaged_chromatogram(error)?,
        }
        self.cutter.window.consume(length);
        Ok(())
    }

    /// The chromatogram of `length` bytes at the start of the window.
    fn read_chromatogram(&mut self, length: usize) -> Result<IncomingChromatogram, IngestError> {
        let offset = self.cutter.window.offset();
        let bytes = self.cutter.window.available().get(..length).unwrap_or_default();
        let (text, _) = decode(bytes, self.encoding);
        let mut visitor = RecordVisitor::new(&self.context);
        let walked = walk(&text, &mut visitor);
        let record = visitor.finish();
        let id = record.description.native_id.clone();
        let damaged = |array: Option<&'static str>, at: usize, what: String| IngestError::Damaged {
            place: Place { array, byte_offset: offset + at as u64, ..Place::default() },
            what: format!("chromatogram {id}: {what}"),
        };
        walked.map_err(|Fault { offset, what }| damaged(None, offset, what))?;
        let mut chromatogram = IncomingChromatogram {
            description: ChromatogramDescription {
                native_id: record.description.native_id.clone(),
                kind: record.chromatogram_kind.unwrap_or(ChromatogramKind::Other),
                polarity: record.description.polarity,
                precursor_mz: record.precursor_mz,
                product_mz: record.product_mz,
            },
            time: Vec::new(),
            intensity: Values::default(),
            ms_level: Vec::new(),
        };
        let decoded = decode_trace(&text, &record, &mut self.arrays, &mut chromatogram);
        let has_unit = decoded.map_err(|fault| damaged(fault.array, fault.offset, fault.what))?;
        let count = chromatogram.time.len();
        if chromatogram.intensity.len() != count {
            let what = format!("{count} times and {} intensities", chromatogram.intensity.len());
            return Err(damaged(None, 0, what));
        }
        if !has_unit {
            self.sink
                .warnings()
                .add(WarningCode::MissingTimeUnit, || format!("chromatogram {id}, byte {offset}"));
        }
        Ok(chromatogram)
    }

    fn tell_run(&mut self) {
        if !self.is_run_told {
            self.is_run_told = true;
            self.sink.run(&self.context.describe());
        }
    }

    /// What follows `</mzML>` holds no data: damage there is a warning, but for a checksum that does not match.
    fn finish(&mut self) -> Result<(), IngestError> {
        self.tell_run();
        if let Some(declared) = self.context.description.declared_spectrum_count {
            if declared > 0 && self.spectrum_index == 0 {
                let what = format!("{declared} spectra are declared and none is there");
                return Err(IngestError::damaged(self.cutter.window.offset(), what));
            }
            if declared != self.spectrum_index {
                let found = self.spectrum_index;
                let place = || format!("{declared} declared, {found} found");
                self.sink.warnings().add(WarningCode::SpectrumCountMismatch, place);
            }
        }
        match self.read_tail() {
            Err(error) if error.is_damage() && !self.cutter.window.is_corrupt() => {
                self.sink.warnings().add(WarningCode::DamageAfterEnd, || error.to_string());
                self.read_rest()
            }
            result => result,
        }
    }

    /// Reads on to the checksum of gzip data, whatever stands before it.
    fn read_rest(&mut self) -> Result<(), IngestError> {
        loop {
            let length = self.cutter.window.available().len();
            self.cutter.window.consume(length);
            match self.cutter.window.fill() {
                Ok(true) => {}
                Ok(false) | Err(IngestError::Truncated { .. }) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn read_tail(&mut self) -> Result<(), IngestError> {
        while let Some((markup, length)) = self.cutter.next_markup()? {
            match markup {
                Markup::End => {
                    self.end(length)?;
                }
                Markup::Start if !self.levels.is_empty() => self.cutter.skip(length)?,
                Markup::Empty | Markup::Other if !self.levels.is_empty() => {
                    self.cutter.window.consume(length)
                }
                Markup::Other => self.cutter.window.consume(length),
                Markup::Start | Markup::Empty => {
                    return Err(IngestError::damaged(
                        self.cutter.window.offset(),
                        "an element after the root",
                    ));
                }
            }
        }
        match self.levels.last() {
            Some(level) => Err(self.cutter.truncated(format!("<{}> is open", level.name()))),
            None => Ok(()),
        }
    }
}

fn check_version(version: Option<&str>) -> Result<(), IngestError> {
    let Some(version) = version else { return Ok(()) };
    let major = version.trim().split('.').next().unwrap_or_default();
    match major.parse::<u32>() {
        Ok(1) | Err(_) => Ok(()),
        Ok(_) => {
            let version = crate::ingest::error::shortened(version);
            Err(IngestError::unsupported(format!(
                "this is mzML {version}; mzML 1.0 and 1.1 are read: convert it with a current msconvert"
            )))
        }
    }
}
