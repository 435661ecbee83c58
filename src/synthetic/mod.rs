//! The generator of runs for the demonstration, fixtures, tests and benches.
//!
//! A run is a function of its [`SyntheticRun`]: no clock, no system generator and no library mathematics take part,
//! so one description gives the same bytes on every machine. Spectra are made one at a time and streamed; what grows
//! with a run is 32 bytes for each spectrum (its offset, and its point of the total ion current chromatogram).
//!
//! The chemistry is simple and shaped like the real thing: analytes elute as Gaussian peaks at a steady spacing, with
//! isotopes at their charge's distance and fragments of their own, on a floor of noise. Values are made up; the ions
//! belong to no substance.

mod chemistry;
mod mgf;
mod mzml;
mod random;

use std::collections::BTreeMap;
use std::io;

use crate::spectrum::{IsolationWindow, MsLevel, Polarity, Representation};
use crate::units::{ClosedRange, Minutes};

use chemistry::Scratch;

/// Width of the numbers of an array in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FloatWidth {
    /// 32-bit float (MS:1000521).
    Bits32,
    /// 64-bit float (MS:1000523).
    Bits64,
}

/// How the arrays of a file are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// No compression (MS:1000576).
    None,
    /// Zlib compression (MS:1000574), at level 1.
    Zlib,
}

/// How precursors are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acquisition {
    /// The strongest analytes of the last survey spectrum, one after the other (MS:1003221).
    DataDependent,
    /// Windows that tile m/z 400 to 1200, overlapping by 1 (MS:1003215).
    DataIndependent,
}

/// A run to be made: a small, realistic data-dependent one unless fields are changed.
///
/// ```
/// use mzarena::synthetic::SyntheticRun;
///
/// let run = SyntheticRun { seed: 7, spectrum_count: 12, ..SyntheticRun::default() };
/// let mut file = Vec::new();
/// let facts = run.write_mzml(&mut file)?;
/// assert_eq!(facts.spectrum_count, 12);
/// assert_eq!(facts.point_count, run.spectra().map(|spectrum| spectrum.mz.len() as u64).sum::<u64>());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SyntheticRun {
    /// Runs of different seeds share no value.
    pub seed: u64,
    /// Number of spectra of all levels.
    pub spectrum_count: u32,
    /// Mean number of points of a spectrum, of all levels alike.
    pub mean_points_per_spectrum: u32,
    /// Point counts lie within the mean times 1 ± this; 0 gives every spectrum the mean. Held to 0..=1.
    pub point_spread: f64,
    /// MS2 spectra after each MS1 spectrum; the number of windows of a data-independent run.
    pub ms2_per_ms1: u32,
    /// How precursors are chosen.
    pub acquisition: Acquisition,
    /// Time from one spectrum to the next, in seconds; above 0.
    pub spectrum_seconds: f64,
    /// Time from one analyte's apex to the next one's, in seconds; above 0.
    pub analyte_spacing_seconds: f64,
    /// Compression of the arrays in mzML.
    pub compression: Compression,
    /// Width of m/z values in mzML; with [`FloatWidth::Bits32`] the spectra themselves hold what 32 bits can.
    pub mz_width: FloatWidth,
    /// Width of intensities in mzML; 64 bits hold the same values.
    pub intensity_width: FloatWidth,
    /// Centroid or profile. A profile wants some thousand points to look like one.
    pub representation: Representation,
    /// Polarity of every spectrum.
    pub polarity: Polarity,
    /// Whether mzML gets an index, its offset and its checksum.
    pub indexed: bool,
}

impl Default for SyntheticRun {
    fn default() -> Self {
        Self {
            seed: 1,
            spectrum_count: 60,
            mean_points_per_spectrum: 150,
            point_spread: 0.5,
            ms2_per_ms1: 4,
            acquisition: Acquisition::DataDependent,
            spectrum_seconds: 0.5,
            analyte_spacing_seconds: 1.0,
            compression: Compression::None,
            mz_width: FloatWidth::Bits64,
            intensity_width: FloatWidth::Bits32,
            representation: Representation::Centroid,
            polarity: Polarity::Positive,
            indexed: true,
        }
    }
}

/// An ion that elutes from the synthetic column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Analyte {
    /// Number in the run, from 0, in the order of apexes.
    pub index: u32,
    /// Monoisotopic m/z.
    pub mz: f64,
    /// Charge, always positive; its sign is the run's polarity.
    pub charge: u8,
    /// Time of largest intensity.
    pub apex_time: Minutes,
    /// Standard deviation of the elution peak.
    pub sigma: Minutes,
    /// Intensity of the monoisotopic ion at the apex.
    pub apex_intensity: f64,
}

/// Origin of a synthetic MS2 spectrum.
#[derive(Debug, Clone, PartialEq)]
pub struct SyntheticPrecursor {
    /// Index of the survey spectrum.
    pub spectrum_index: u32,
    /// Isolation target, and selected ion, m/z.
    pub target_mz: f64,
    /// From the target down to the lower bound, m/z.
    pub lower_offset: f64,
    /// From the target up to the upper bound, m/z.
    pub upper_offset: f64,
    /// Charge of the selected ion, where one was chosen.
    pub charge: Option<u8>,
    /// Intensity of the selected ion in the survey spectrum, where one was chosen.
    pub intensity: Option<f64>,
    /// Collision energy, electronvolt.
    pub collision_energy_ev: f64,
}

impl SyntheticPrecursor {
    /// The isolation window as bounds, closed.
    pub fn isolation_window(&self) -> ClosedRange {
        ClosedRange { lower: self.target_mz - self.lower_offset, upper: self.target_mz + self.upper_offset }
    }
}

impl From<&SyntheticPrecursor> for IsolationWindow {
    fn from(precursor: &SyntheticPrecursor) -> Self {
        let ClosedRange { lower, upper } = precursor.isolation_window();
        Self {
            target_mz: Some(precursor.target_mz),
            lower_mz: Some(lower),
            upper_mz: Some(upper),
            mobility: None,
        }
    }
}

/// One spectrum as every file of the run holds it, bit by bit.
#[derive(Debug, Clone, PartialEq)]
pub struct SyntheticSpectrum {
    /// Position in the run, from 0.
    pub index: u32,
    /// `controllerType=0 controllerNumber=1 scan=N`, where N is the index plus 1.
    pub native_id: String,
    /// 1 or 2.
    pub ms_level: MsLevel,
    /// Start of the scan.
    pub scan_start_time: Minutes,
    /// Origin of an MS2 spectrum; `None` for MS1.
    pub precursor: Option<SyntheticPrecursor>,
    /// m/z values, ascending.
    pub mz: Vec<f64>,
    /// Intensities in counts, parallel to `mz`.
    pub intensity: Vec<f32>,
}

impl SyntheticSpectrum {
    /// Sum of all intensities, in order.
    pub fn total_ion_current(&self) -> f64 {
        self.intensity.iter().map(|intensity| f64::from(*intensity)).sum()
    }

    /// m/z and intensity of the most intense point; the lowest m/z wins a tie. `None` without points.
    pub fn base_peak(&self) -> Option<(f64, f32)> {
        let mut best: Option<(f64, f32)> = None;
        for (mz, intensity) in self.mz.iter().zip(&self.intensity) {
            if best.is_none_or(|(_, largest)| *intensity > largest) {
                best = Some((*mz, *intensity));
            }
        }
        best
    }

    fn push(&mut self, mz: f64, intensity: f32) {
        self.mz.push(mz);
        self.intensity.push(intensity);
    }
}

/// What is true of the spectra that were written.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SyntheticFacts {
    /// Spectra written.
    pub spectrum_count: u64,
    /// Points of all spectra.
    pub point_count: u64,
    /// Spectra by MS level.
    pub ms_level_counts: BTreeMap<u8, u64>,
    /// Sum of the spectra's total ion currents, in order.
    pub total_intensity: f64,
    /// m/z of the most intense point of the run; the first of equals.
    pub base_peak_mz: Option<f64>,
    /// Its intensity.
    pub base_peak_intensity: Option<f32>,
    /// Smallest m/z.
    pub lowest_observed_mz: Option<f64>,
    /// Largest m/z.
    pub highest_observed_mz: Option<f64>,
    /// Start of the last scan.
    pub last_scan_start_time: Option<Minutes>,
    /// Length of the file; 0 where none was written.
    pub byte_count: u64,
}

impl SyntheticFacts {
    fn add(&mut self, spectrum: &SyntheticSpectrum) {
        self.spectrum_count += 1;
        self.point_count += spectrum.mz.len() as u64;
        *self.ms_level_counts.entry(spectrum.ms_level.get()).or_default() += 1;
        self.total_intensity += spectrum.total_ion_current();
        self.last_scan_start_time = Some(spectrum.scan_start_time);
        let base_peak = spectrum.base_peak();
        if let Some((mz, intensity)) = base_peak
            && self.base_peak_intensity.is_none_or(|largest| intensity > largest)
        {
            self.base_peak_mz = Some(mz);
            self.base_peak_intensity = Some(intensity);
        }
        if let (Some(first), Some(last)) = (spectrum.mz.first(), spectrum.mz.last()) {
            self.lowest_observed_mz = Some(self.lowest_observed_mz.map_or(*first, |mz| mz.min(*first)));
            self.highest_observed_mz = Some(self.highest_observed_mz.map_or(*last, |mz| mz.max(*last)));
        }
    }
}

impl SyntheticRun {
    /// Writes the run as mzML 1.1 and says what is in it.
    ///
    /// # Errors
    ///
    /// Those of `out`; `InvalidInput` where a time step is not above 0.
    pub fn write_mzml(&self, out: &mut impl io::Write) -> io::Result<SyntheticFacts> {
        self.check()?;
        mzml::write(self, out)
    }

    /// Writes the MS2 spectra as MGF and says what is in them; the others have no place in that format.
    ///
    /// m/z values and intensities are written with as many digits as give the same bits back.
    ///
    /// # Errors
    ///
    /// Those of `out`; `InvalidInput` where a time step is not above 0.
    pub fn write_mgf(&self, out: &mut impl io::Write) -> io::Result<SyntheticFacts> {
        self.check()?;
        mgf::write(self, out)
    }

    /// The spectra, in order: the truth that any reader of the files must find.
    pub fn spectra(&self) -> impl Iterator<Item = SyntheticSpectrum> + '_ {
        let mut scratch = Scratch::default();
        (0..self.spectrum_count).map(move |index| {
            let mut spectrum = SyntheticSpectrum::empty();
            self.fill(index, &mut spectrum, &mut scratch);
            spectrum
        })
    }

    /// What is true of all spectra, without writing them.
    pub fn facts(&self) -> SyntheticFacts {
        let mut facts = SyntheticFacts::default();
        self.spectra().for_each(|spectrum| facts.add(&spectrum));
        facts
    }

    /// The analytes, in the order of their apexes.
    pub fn analytes(&self) -> impl Iterator<Item = Analyte> + '_ {
        (0..self.analyte_count()).map(|index| Analyte::nth(self, index))
    }

    /// How many analytes elute within the run.
    pub fn analyte_count(&self) -> u32 {
        (f64::from(self.spectrum_count) * self.spectrum_seconds / self.analyte_spacing_seconds).ceil() as u32
    }

    fn check(&self) -> io::Result<()> {
        for (name, value) in [
            ("spectrum_seconds", self.spectrum_seconds),
            ("analyte_spacing_seconds", self.analyte_spacing_seconds),
        ] {
            if !(value.is_finite() && value > 0.0) {
                let what = format!("{name} is {value}; it must be a number above 0");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
            }
        }
        Ok(())
    }
}

impl SyntheticSpectrum {
    fn empty() -> Self {
        Self {
            index: 0,
            native_id: String::new(),
            ms_level: MsLevel::new(1).unwrap_or_else(|| unreachable!("1 is not 0")),
            scan_start_time: Minutes(0.0),
            precursor: None,
            mz: Vec::new(),
            intensity: Vec::new(),
        }
    }
}

/// Native ID of a spectrum, as in conversions of Thermo files (MS:1000768).
fn native_id(index: u32) -> String {
    format!("controllerType=0 controllerNumber=1 scan={}", u64::from(index) + 1)
}
