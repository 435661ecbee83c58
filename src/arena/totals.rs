//! Counts and extremes gathered while writing, so that describing a run later reads no peak.

use super::ColumnsRef;
use super::columns::IntensityRef;
use crate::spectrum::{MsLevel, Polarity, Representation, SignalAxis, SpectrumDescription};
use crate::units::ClosedRange;

/// What one pass over a spectrum's points finds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointFacts {
    /// m/z values ascend; equal neighbours are allowed.
    pub is_sorted: bool,
    /// Smallest and largest m/z.
    pub mz_range: Option<ClosedRange>,
    /// Sum of the finite intensities.
    pub total_ion_current: f64,
    /// Position of the largest finite intensity; of equal ones the one with the lowest m/z.
    pub base_peak: Option<usize>,
    /// Intensities that are NaN or infinite.
    pub non_finite_intensity_count: u64,
    /// m/z values below zero.
    pub negative_mz_count: u64,
    /// First m/z that is NaN or infinite: such a spectrum is not valid.
    pub first_non_finite_mz: Option<usize>,
}

impl PointFacts {
    /// Measures `columns`; m/z and intensity have the same length.
    pub fn of(columns: &ColumnsRef<'_>) -> Self {
        let mz = columns.mz;
        // NaN ascends to nothing, so ascending values between two finite ones are finite.
        let is_sorted = mz.is_sorted();
        let ends = mz.first().zip(mz.last()).filter(|(first, last)| first.is_finite() && last.is_finite());
        let (first_non_finite_mz, mz_range) = match ends {
            Some((first, last)) if is_sorted && mz.len() > 1 => {
                (None, Some(ClosedRange { lower: *first, upper: *last }))
            }
            _ => (
                mz.iter().position(|value| !value.is_finite()),
                mz.iter().fold(None, |range, value| Some(ClosedRange::extended(range, *value))),
            ),
        };
        let negative_mz_count = match mz_range {
            Some(range) if range.lower < 0.0 => mz.iter().filter(|value| **value < 0.0).count() as u64,
            _ => 0,
        };
        let intensity = match columns.intensity {
            IntensityRef::F32(values) => IntensityFacts::of(values, mz, is_sorted),
            IntensityRef::F64(values) => IntensityFacts::of(values, mz, is_sorted),
        };
        Self {
            is_sorted,
            mz_range,
            total_ion_current: intensity.total,
            base_peak: intensity.base_peak,
            non_finite_intensity_count: intensity.non_finite_count,
            negative_mz_count,
            first_non_finite_mz,
        }
    }
}

struct IntensityFacts {
    total: f64,
    base_peak: Option<usize>,
    non_finite_count: u64,
}

/// Sums and maxima that are gathered side by side, so that the processor need not wait for one before the next.
const LANES: usize = 4;

/// Sum and largest of `values`.
fn sum_and_largest<T: Copy + Into<f64>>(values: &[T]) -> (f64, f64) {
    let mut sums = [0.0; LANES];
    let mut largest = [f64::NEG_INFINITY; LANES];
    let (whole, rest) = values.as_chunks::<LANES>();
    for chunk in whole {
        for (value, (sum, largest)) in chunk.iter().zip(sums.iter_mut().zip(&mut largest)) {
            let value: f64 = (*value).into();
            *sum += value;
            *largest = if value > *largest { value } else { *largest };
        }
    }
    let (mut sum, mut highest) =
        (sums.iter().sum::<f64>(), largest.into_iter().fold(f64::NEG_INFINITY, f64::max));
    for value in rest {
        let value: f64 = (*value).into();
        sum += value;
        highest = highest.max(value);
    }
    (sum, highest)
}

impl IntensityFacts {
    fn of<T: Copy + Into<f64>>(values: &[T], mz: &[f64], is_sorted: bool) -> Self {
        let (mut total, mut largest) = sum_and_largest(values);
        let mut non_finite_count = 0;
        if !total.is_finite() {
            // Some value is not finite (or the sum overflowed): once more, without those.
            (total, largest) = (0.0, f64::NEG_INFINITY);
            for value in values {
                let value: f64 = (*value).into();
                if value.is_finite() {
                    total += value;
                    largest = largest.max(value);
                } else {
                    non_finite_count += 1;
                }
            }
        }
        let mut highest =
            values.iter().enumerate().filter(|(_, value)| (**value).into() == largest).map(|(at, _)| at);
        let base_peak = if is_sorted {
            highest.next()
        } else {
            highest.min_by(|a, b| mz.get(*a).partial_cmp(&mz.get(*b)).unwrap_or(std::cmp::Ordering::Equal))
        };
        Self { total, base_peak, non_finite_count }
    }
}

/// Number of mass spectra of each MS level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelCounts([u64; 256]);

impl Default for LevelCounts {
    fn default() -> Self {
        Self([0; 256])
    }
}

impl LevelCounts {
    /// Counts one spectrum.
    pub fn add(&mut self, level: Option<MsLevel>) {
        if let Some(count) = self.0.get_mut(level.map_or(0, |level| usize::from(level.get()))) {
            *count += 1;
        }
    }

    /// Mass spectra without an MS level.
    pub fn unknown(&self) -> u64 {
        self.0.first().copied().unwrap_or(0)
    }

    /// Number of spectra of `level`.
    pub fn get(&self, level: MsLevel) -> u64 {
        self.0.get(usize::from(level.get())).copied().unwrap_or(0)
    }

    /// Levels that occur, ascending, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (MsLevel, u64)> + '_ {
        (0..=u8::MAX)
            .zip(&self.0)
            .filter(|(_, count)| **count > 0)
            .filter_map(|(level, count)| MsLevel::new(level).map(|level| (level, *count)))
    }
}

/// Counts and extremes of a whole run, computed from what was stored.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunTotals {
    /// Every spectrum, non-mass spectra included.
    pub spectrum_count: u64,
    /// Spectra whose axis is not m/z.
    pub non_mass_spectrum_count: u64,
    /// Mass spectra by MS level.
    pub ms_level_counts: LevelCounts,
    /// Points of all mass spectra.
    pub point_count: u64,
    /// Sum of all finite intensities.
    pub total_intensity: f64,
    /// m/z of the most intense point of the run; the first spectrum wins a tie.
    pub base_peak_mz: Option<f64>,
    /// Its intensity.
    pub base_peak_intensity: Option<f64>,
    /// Smallest and largest m/z.
    pub mz_range: Option<ClosedRange>,
    /// Smallest and largest scan start time of mass spectra, minutes.
    pub scan_start_time_minutes: Option<ClosedRange>,
    /// Recorded chromatograms.
    pub chromatogram_count: u64,
    /// Mass spectra without a point.
    pub empty_spectrum_count: u64,
    /// Mass spectra whose m/z values do not ascend.
    pub unsorted_spectrum_count: u64,
    /// Mass spectra with ion mobility for each point.
    pub mobility_spectrum_count: u64,
    /// Centroid mass spectra.
    pub centroid_spectrum_count: u64,
    /// Profile mass spectra.
    pub profile_spectrum_count: u64,
    /// Positive mass spectra.
    pub positive_spectrum_count: u64,
    /// Negative mass spectra.
    pub negative_spectrum_count: u64,
    /// Mass spectra without a scan start time.
    pub untimed_spectrum_count: u64,
    /// Intensities that are NaN or infinite.
    pub non_finite_intensity_count: u64,
    /// m/z values below zero.
    pub negative_mz_count: u64,
    /// Precursors of all spectra.
    pub precursor_count: u64,
    /// First selected ion with a known m/z.
    pub first_selected_ion_mz: Option<f64>,
    /// Native ID of the first spectrum.
    pub first_native_id: Option<String>,
    /// Native ID of the last spectrum.
    pub last_native_id: Option<String>,
}

impl RunTotals {
    /// Mass spectra of the run.
    pub fn mass_spectrum_count(&self) -> u64 {
        self.spectrum_count - self.non_mass_spectrum_count
    }

    pub(super) fn add(
        &mut self,
        description: &SpectrumDescription,
        columns: &ColumnsRef<'_>,
        facts: &PointFacts,
    ) {
        if self.spectrum_count == 0 {
            self.first_native_id = Some(description.native_id.clone());
        }
        self.spectrum_count += 1;
        let last = self.last_native_id.get_or_insert_default();
        last.clear();
        last.push_str(&description.native_id);
        self.precursor_count += description.precursors.len() as u64;
        if self.first_selected_ion_mz.is_none() {
            let mut ions = description.precursors.iter().flat_map(|precursor| &precursor.selected_ions);
            self.first_selected_ion_mz = ions.find_map(|ion| ion.mz);
        }
        if description.axis == SignalAxis::Other {
            self.non_mass_spectrum_count += 1;
        } else {
            self.add_mass_spectrum(description, columns, facts);
        }
    }

    fn add_mass_spectrum(
        &mut self,
        description: &SpectrumDescription,
        columns: &ColumnsRef<'_>,
        facts: &PointFacts,
    ) {
        self.ms_level_counts.add(description.ms_level);
        match description.representation {
            Some(Representation::Centroid) => self.centroid_spectrum_count += 1,
            Some(Representation::Profile) => self.profile_spectrum_count += 1,
            None => {}
        }
        match description.polarity {
            Some(Polarity::Positive) => self.positive_spectrum_count += 1,
            Some(Polarity::Negative) => self.negative_spectrum_count += 1,
            None => {}
        }
        match description.scan_start_time {
            Some(time) => {
                let range = ClosedRange::extended(self.scan_start_time_minutes, time.0);
                self.scan_start_time_minutes = Some(range);
            }
            None => self.untimed_spectrum_count += 1,
        }
        self.point_count += columns.mz.len() as u64;
        self.total_intensity += facts.total_ion_current;
        self.non_finite_intensity_count += facts.non_finite_intensity_count;
        self.negative_mz_count += facts.negative_mz_count;
        self.empty_spectrum_count += u64::from(columns.mz.is_empty());
        self.unsorted_spectrum_count += u64::from(!facts.is_sorted);
        self.mobility_spectrum_count += u64::from(columns.mobility.is_some());
        if let Some(range) = facts.mz_range {
            let lower = ClosedRange::extended(self.mz_range, range.lower);
            self.mz_range = Some(ClosedRange::extended(Some(lower), range.upper));
        }
        let peak = facts.base_peak.and_then(|at| Some((columns.mz.get(at)?, columns.intensity.get(at)?)));
        if let Some((mz, intensity)) = peak
            && self.base_peak_intensity.is_none_or(|highest| highest < intensity)
        {
            self.base_peak_mz = Some(*mz);
            self.base_peak_intensity = Some(intensity);
        }
    }
}
