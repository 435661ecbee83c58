//! One spectrum out of a source, reading no further than it must.

use super::format::detect;
use super::load::{named, source_ref};
use super::{
    DigestKind, Flow, IncomingChromatogram, IncomingSpectrum, IngestError, RunDescription, RunSink, Source,
};
use crate::observe::Observer;
use crate::provenance::SourceRef;
use crate::spectrum::{MsLevel, SignalAxis, SpectrumDescription};
use crate::units::Minutes;
use crate::warning::{Warning, Warnings};
use std::fmt;

/// Which spectrum.
#[derive(Debug, Clone, PartialEq)]
pub enum SpectrumSelector {
    /// Position, from 0.
    Index(u64),
    /// Native ID, verbatim; the first one that has it.
    NativeId(String),
    /// Scan number; the first one that has it.
    ScanNumber(u32),
    /// Nearest scan start time, the lower index on a tie; of one MS level where it is given. Reads the whole source.
    Time(Minutes, Option<MsLevel>),
}

impl fmt::Display for SpectrumSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(f, "spectrum_index {index}"),
            Self::NativeId(native_id) => write!(f, "native_id {}", super::error::shortened(native_id)),
            Self::ScanNumber(number) => write!(f, "scan_number {number}"),
            Self::Time(time, None) => write!(f, "a scan_start_time near {} minutes", time.0),
            Self::Time(time, Some(level)) => {
                write!(f, "ms_level {} and a scan_start_time near {} minutes", level.get(), time.0)
            }
        }
    }
}

/// A spectrum that was found.
#[derive(Debug)]
pub struct IngestedSpectrum {
    /// Its position in the source.
    pub spectrum_index: u64,
    /// Description and arrays.
    pub spectrum: IncomingSpectrum,
    /// What was read; the digest is absent unless the whole source was.
    pub source: SourceRef,
    /// What is odd about what was read.
    pub warnings: Vec<Warning>,
}

/// Reads the spectrum that `selector` names.
///
/// # Errors
///
/// [`IngestError::In`] around [`IngestError::SpectrumNotFound`], [`IngestError::NotAMassSpectrum`], damage of the
/// spectrum or of what stands before it, or whatever else ends reading.
pub fn ingest_spectrum(
    source: Source<'_>,
    selector: &SpectrumSelector,
    digest: DigestKind,
    observer: &dyn Observer,
) -> Result<IngestedSpectrum, IngestError> {
    let name = source.name().to_owned();
    pick(source, selector, digest, observer).map_err(|error| named(&name, error))
}

fn pick(
    source: Source<'_>,
    selector: &SpectrumSelector,
    digest: DigestKind,
    observer: &dyn Observer,
) -> Result<IngestedSpectrum, IngestError> {
    let name = source.name().to_owned();
    let mut reading = source.start(digest, observer)?;
    let format = detect(&mut reading.window)?;
    let mut picker = Picker { selector, next_index: 0, best: None, warnings: Warnings::default() };
    (format.read)(&mut reading.window, &mut picker)?;
    let is_whole = matches!(selector, SpectrumSelector::Time(..));
    let finished = if is_whole { reading.finish()? } else { reading.stop()? };
    let Some((_, spectrum_index, spectrum)) = picker.best else {
        let wanted = selector.to_string();
        return Err(IngestError::SpectrumNotFound { wanted, spectrum_count: picker.next_index });
    };
    if spectrum.description.axis == SignalAxis::Other {
        return Err(IngestError::NotAMassSpectrum {
            spectrum_index,
            native_id: spectrum.description.native_id,
        });
    }
    Ok(IngestedSpectrum {
        spectrum_index,
        spectrum,
        source: source_ref(name, format.name, format.reader, finished),
        warnings: picker.warnings.into_vec(),
    })
}

/// Looks at every spectrum and keeps the one that is wanted.
struct Picker<'s> {
    selector: &'s SpectrumSelector,
    next_index: u64,
    /// Distance to what is wanted, position, spectrum.
    best: Option<(f64, u64, IncomingSpectrum)>,
    warnings: Warnings,
}

impl Picker<'_> {
    /// How far the next spectrum is from what is wanted; `None` where it is not wanted at all.
    fn distance(&self, description: &SpectrumDescription) -> Option<f64> {
        let is_it = match self.selector {
            SpectrumSelector::Index(index) => *index == self.next_index,
            SpectrumSelector::NativeId(native_id) => *native_id == description.native_id,
            SpectrumSelector::ScanNumber(number) => description.scan_number == Some(*number),
            SpectrumSelector::Time(wanted, level) => {
                let fits = level.is_none() || *level == description.ms_level;
                let time =
                    description.scan_start_time.filter(|_| fits && description.axis == SignalAxis::Mass)?;
                let distance = (time.0 - wanted.0).abs();
                let is_nearer = self.best.as_ref().is_none_or(|(nearest, ..)| distance < *nearest);
                return is_nearer.then_some(distance);
            }
        };
        is_it.then_some(0.0)
    }
}

impl RunSink for Picker<'_> {
    fn spectrum(&mut self, spectrum: &IncomingSpectrum) -> Result<Flow, IngestError> {
        let distance = self.distance(&spectrum.description);
        let index = self.next_index;
        self.next_index += 1;
        let Some(distance) = distance else { return Ok(Flow::Continue) };
        self.best = Some((distance, index, spectrum.clone()));
        match self.selector {
            SpectrumSelector::Time(..) => Ok(Flow::Continue),
            _ => Ok(Flow::Stop),
        }
    }

    fn chromatogram(&mut self, _chromatogram: &IncomingChromatogram) -> Result<(), IngestError> {
        Ok(())
    }

    fn run(&mut self, _run: &RunDescription) {}

    fn damaged_spectrum(&mut self, error: IngestError) -> Result<(), IngestError> {
        let is_it = match (&error, self.selector) {
            (_, SpectrumSelector::Index(index)) => *index == self.next_index,
            (IngestError::Damaged { place, .. }, SpectrumSelector::NativeId(native_id)) => {
                place.native_id.as_ref().is_none_or(|damaged| damaged == native_id)
            }
            // Whether the damaged one is meant cannot be told.
            _ => true,
        };
        self.next_index += 1;
        if is_it { Err(error) } else { Ok(()) }
    }

    fn damaged_chromatogram(&mut self, _error: IngestError) -> Result<(), IngestError> {
        Ok(())
    }

    fn wants(&mut self, description: &SpectrumDescription) -> bool {
        let is_wanted = self.distance(description).is_some();
        self.next_index += u64::from(!is_wanted);
        is_wanted
    }

    fn warnings(&mut self) -> &mut Warnings {
        &mut self.warnings
    }
}
