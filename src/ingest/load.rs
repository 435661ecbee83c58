//! Loading a whole run.

use super::format::detect;
use super::source::Finished;
use super::{
    DigestKind, Flow, IncomingChromatogram, IncomingSpectrum, IngestError, RunDescription, RunSink, Source,
};
use crate::arena::{
    Arena, ArenaError, ArenaFolder, Budget, ChromatogramColumns, IntensityRef, PointFacts, RunWriter,
};
use crate::observe::Observer;
use crate::provenance::SourceRef;
use crate::warning::{Warning, WarningCode, Warnings};

/// How to load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IngestOptions {
    /// Keep what is sound of a damaged source, and say what is missing.
    pub tolerant: bool,
    /// Which digest of the source to state.
    pub digest: DigestKind,
}

/// A run that has been loaded.
#[derive(Debug)]
pub struct Ingested {
    /// Its spectra and chromatograms.
    pub arena: Arena,
    /// What was read, with the digest of every byte.
    pub source: SourceRef,
    /// What the header says.
    pub run: RunDescription,
    /// What a tolerant load left out, and why; empty where the arena holds all that the source has.
    pub missing: Vec<Warning>,
    /// What is odd about the source.
    pub warnings: Vec<Warning>,
}

impl Ingested {
    /// Whether the arena holds all that the source has.
    pub fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }
}

/// Reads `source` into an arena in `folder`.
///
/// # Errors
///
/// [`IngestError::In`] with the source's name around whatever went wrong: content that is not read, damage (unless
/// `tolerant`), a change while reading, a full disk, a refusing `budget`, or the observer's wish to stop. Nothing is
/// left behind then.
pub fn ingest(
    source: Source<'_>,
    folder: &ArenaFolder,
    budget: impl Budget,
    options: &IngestOptions,
    observer: &dyn Observer,
) -> Result<Ingested, IngestError> {
    let name = source.name().to_owned();
    let result = load(source, folder, budget, options, observer);
    result.map_err(|error| named(&name, error))
}

/// `error` with the name of the source it is about.
pub(super) fn named(name: &str, error: IngestError) -> IngestError {
    IngestError::In { source_name: name.to_owned(), error: Box::new(error) }
}

fn load(
    source: Source<'_>,
    folder: &ArenaFolder,
    budget: impl Budget,
    options: &IngestOptions,
    observer: &dyn Observer,
) -> Result<Ingested, IngestError> {
    let name = source.name().to_owned();
    let mut reading = source.start(options.digest, observer)?;
    let format = detect(&mut reading.window)?;
    let writer = RunWriter::create(folder, budget)?;
    let mut loader = Loader::new(writer, options.tolerant);
    match (format.read)(&mut reading.window, &mut loader) {
        Err(error) if options.tolerant && error.is_damage() && loader.holds_something() => {
            loader.cut_short(&error)
        }
        result => result?,
    }
    let finished = reading.finish()?;
    loader.note_trailing(&finished);
    let source = source_ref(name, format.name, format.reader, finished);
    loader.seal(source)
}

/// The provenance of a source that has been read.
pub(super) fn source_ref(name: String, format: &str, reader: &str, finished: Finished) -> SourceRef {
    let is_digested = finished.digest.is_some();
    SourceRef {
        source: name,
        format: format.to_owned(),
        reader: reader.to_owned(),
        byte_size: finished.byte_size,
        digest: finished.digest,
        digest_reason: (!is_digested).then_some("not_read_in_full"),
    }
}

/// Takes what a format delivers and writes it to the arena.
struct Loader<B: Budget> {
    writer: RunWriter<B>,
    tolerant: bool,
    run: RunDescription,
    missing: Warnings,
    warnings: Warnings,
}

impl<B: Budget> Loader<B> {
    fn new(writer: RunWriter<B>, tolerant: bool) -> Self {
        Self {
            writer,
            tolerant,
            run: RunDescription::default(),
            missing: Warnings::default(),
            warnings: Warnings::default(),
        }
    }

    fn holds_something(&self) -> bool {
        let totals = self.writer.totals();
        totals.spectrum_count + totals.chromatogram_count > 0
    }

    /// The source cannot be read any further.
    fn cut_short(&mut self, error: &IngestError) {
        self.missing.add(WarningCode::Truncated, || error.to_string());
    }

    fn note_trailing(&mut self, finished: &Finished) {
        if finished.has_trailing_data {
            self.warnings.add(WarningCode::TrailingData, || "after the last gzip member".to_owned());
        }
    }

    fn leave_out(&mut self, code: WarningCode, error: IngestError) -> Result<(), IngestError> {
        if !self.tolerant {
            return Err(error);
        }
        self.missing.add(code, || error.to_string());
        Ok(())
    }

    fn note_facts(&mut self, spectrum: &IncomingSpectrum, facts: &PointFacts) {
        let index = self.writer.totals().spectrum_count.saturating_sub(1);
        let place = || format!("spectrum {index} ({})", spectrum.description.native_id);
        // In a combined ion mobility frame, unsorted is the rule.
        if !facts.is_sorted && spectrum.mobility_kind.is_none() {
            self.warnings.add(WarningCode::UnsortedMz, place);
        }
        self.warnings.add_many(WarningCode::NonFiniteIntensity, facts.non_finite_intensity_count, place);
        self.warnings.add_many(WarningCode::NegativeMz, facts.negative_mz_count, place);
    }

    fn push_metadata(&mut self) -> Result<(), ArenaError> {
        let run = self.run.clone();
        let single = [
            ("instrument", run.instrument),
            ("start_time_stamp", run.start_time_stamp),
            ("native_id_format", run.native_id_format),
        ];
        for (key, value) in single {
            if let Some(value) = value {
                self.writer.push_metadata(key, &value)?;
            }
        }
        for (key, values) in [
            ("source_file", run.source_file_names),
            ("software", run.software),
            ("array_not_kept", run.arrays_not_kept),
        ] {
            for value in values {
                self.writer.push_metadata(key, &value)?;
            }
        }
        Ok(())
    }

    fn seal(mut self, source: SourceRef) -> Result<Ingested, IngestError> {
        self.push_metadata()?;
        let (arena, report) = self.writer.seal()?;
        let mut warnings = self.warnings;
        warnings.add_many(WarningCode::DuplicateNativeId, report.duplicate_native_id_count, || {
            format!("spectrum {}", report.first_duplicate_native_id.unwrap_or_default())
        });
        warnings.add_many(WarningCode::UnresolvedReference, report.unresolved_precursor_count, || {
            format!("precursor {} of the run", report.first_unresolved_precursor.unwrap_or_default())
        });
        Ok(Ingested {
            arena,
            source,
            run: self.run,
            missing: self.missing.into_vec(),
            warnings: warnings.into_vec(),
        })
    }
}

impl<B: Budget> RunSink for Loader<B> {
    fn spectrum(&mut self, spectrum: &IncomingSpectrum) -> Result<Flow, IngestError> {
        let facts = self.writer.push(&spectrum.description, spectrum.columns())?;
        self.note_facts(spectrum, &facts);
        Ok(Flow::Continue)
    }

    fn chromatogram(&mut self, chromatogram: &IncomingChromatogram) -> Result<(), IngestError> {
        let columns = ChromatogramColumns {
            time: &chromatogram.time,
            intensity: IntensityRef::from(&chromatogram.intensity),
            ms_level: &chromatogram.ms_level,
        };
        Ok(self.writer.push_chromatogram(&chromatogram.description, columns)?)
    }

    fn run(&mut self, run: &RunDescription) {
        self.run = run.clone();
    }

    fn damaged_spectrum(&mut self, error: IngestError) -> Result<(), IngestError> {
        self.leave_out(WarningCode::SkippedSpectrum, error)
    }

    fn damaged_chromatogram(&mut self, error: IngestError) -> Result<(), IngestError> {
        self.leave_out(WarningCode::SkippedChromatogram, error)
    }

    fn warnings(&mut self) -> &mut Warnings {
        &mut self.warnings
    }
}
