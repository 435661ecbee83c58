//! What every format must deliver: descriptions and arrays, in the source's order, and nothing guessed.

use super::IngestError;
use crate::arena::{ColumnsRef, IntensityRef};
use crate::spectrum::{ChromatogramDescription, IonMobilityKind, SpectrumDescription};
use crate::warning::Warnings;

/// Values of a column whose precision follows its source.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// 32-bit floats.
    F32(Vec<f32>),
    /// 64-bit floats; also integers and MS-Numpress.
    F64(Vec<f64>),
}

impl Default for Values {
    fn default() -> Self {
        Self::F32(Vec::new())
    }
}

impl<'a> From<&'a Values> for IntensityRef<'a> {
    fn from(values: &'a Values) -> Self {
        match values {
            Values::F32(values) => Self::F32(values),
            Values::F64(values) => Self::F64(values),
        }
    }
}

impl Values {
    /// How many values there are.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cleared 32-bit buffer; an old one is kept where its type fits.
    pub fn as_cleared_f32(&mut self) -> &mut Vec<f32> {
        if !matches!(self, Self::F32(_)) {
            *self = Self::F32(Vec::new());
        }
        match self {
            Self::F32(values) => {
                values.clear();
                values
            }
            Self::F64(_) => unreachable!("just replaced"),
        }
    }

    /// The cleared 64-bit buffer; an old one is kept where its type fits.
    pub fn as_cleared_f64(&mut self) -> &mut Vec<f64> {
        if !matches!(self, Self::F64(_)) {
            *self = Self::F64(Vec::new());
        }
        match self {
            Self::F64(values) => {
                values.clear();
                values
            }
            Self::F32(_) => unreachable!("just replaced"),
        }
    }
}

/// One spectrum as a format delivers it. The buffers are reused from spectrum to spectrum.
#[derive(Debug, Clone, Default)]
pub struct IncomingSpectrum {
    /// All but the arrays.
    pub description: SpectrumDescription,
    /// m/z values, in the source's order.
    pub mz: Vec<f64>,
    /// Intensities, parallel to `mz`.
    pub intensity: Values,
    /// Ion mobility of each point, parallel to `mz`; empty where `mobility_kind` is `None`.
    pub mobility: Vec<f64>,
    /// Which quantity `mobility` holds, if it is there.
    pub mobility_kind: Option<IonMobilityKind>,
}

/// One recorded chromatogram as a format delivers it.
#[derive(Debug)]
pub struct IncomingChromatogram {
    /// All but the arrays.
    pub description: ChromatogramDescription,
    /// Times in minutes; all NaN where the source states no unit.
    pub time: Vec<f64>,
    /// Intensities, parallel to `time`.
    pub intensity: Values,
    /// MS level of each point, parallel to `time`, where the file records it; else empty.
    pub ms_level: Vec<u32>,
}

/// What the header of a run says, as far as it may be kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunDescription {
    /// Instrument model, PSI-MS name.
    pub instrument: Option<String>,
    /// `startTimeStamp`, verbatim.
    pub start_time_stamp: Option<String>,
    /// Base names of the source files that the run was converted from.
    pub source_file_names: Vec<String>,
    /// Software that wrote or processed the run, `name version`.
    pub software: Vec<String>,
    /// PSI-MS name of the native ID format.
    pub native_id_format: Option<String>,
    /// Declared number of spectra.
    pub declared_spectrum_count: Option<u64>,
    /// Names of arrays that the source holds and an arena does not.
    pub arrays_not_kept: Vec<String>,
}

/// Whether the reader should go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Read on.
    Continue,
    /// Enough: stop without an error.
    Stop,
}

/// Takes what a format reads, in the source's order.
pub trait RunSink {
    /// One spectrum. An error here (limit, full disk, cancelled) ends the reading.
    fn spectrum(&mut self, spectrum: &IncomingSpectrum) -> Result<Flow, IngestError>;

    /// One recorded chromatogram.
    fn chromatogram(&mut self, chromatogram: &IncomingChromatogram) -> Result<(), IngestError>;

    /// The run's description as known so far; called once, before the end.
    fn run(&mut self, run: &RunDescription);

    /// A spectrum is damaged. A strict load returns the error; a tolerant one notes it and reads on.
    fn damaged_spectrum(&mut self, error: IngestError) -> Result<(), IngestError>;

    /// A recorded chromatogram is damaged. As for a spectrum.
    fn damaged_chromatogram(&mut self, error: IngestError) -> Result<(), IngestError> {
        Err(error)
    }

    /// Whether the arrays of this spectrum are wanted; where not, a format may leave it out without decoding them.
    fn wants(&mut self, description: &SpectrumDescription) -> bool {
        let _ = description;
        true
    }

    /// Where warnings go.
    fn warnings(&mut self) -> &mut Warnings;
}

impl IncomingSpectrum {
    /// Empties description and arrays, keeping the buffers.
    pub fn clear(&mut self) {
        self.description = SpectrumDescription::default();
        self.mz.clear();
        match &mut self.intensity {
            Values::F32(values) => values.clear(),
            Values::F64(values) => values.clear(),
        }
        self.mobility.clear();
        self.mobility_kind = None;
    }

    /// The arrays, as the arena takes them.
    pub fn columns(&self) -> ColumnsRef<'_> {
        ColumnsRef {
            mz: &self.mz,
            intensity: (&self.intensity).into(),
            mobility: self.mobility_kind.map(|kind| (kind, self.mobility.as_slice())),
        }
    }
}
