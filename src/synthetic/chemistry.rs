//! What is in the bottle: analytes that elute, their isotopes and fragments, and the spectra they make.
//!
//! Only additions, multiplications and divisions are used, never a system's `exp` or `ln`, so that every machine
//! computes the same bits. Analytes and spectra are functions of the seed and their number; nothing is kept.

use super::random::Random;
use super::{
    Acquisition, Analyte, FloatWidth, SyntheticPrecursor, SyntheticRun, SyntheticSpectrum, native_id,
};
use crate::spectrum::{MsLevel, Polarity, Representation};
use crate::units::{ClosedRange, Minutes};

const PROTON_MASS: f64 = 1.007_276_466_6;
const ISOTOPE_SPACING: f64 = 1.003_354_835;
/// Mean number of further isotopes per dalton of an average peptide.
const ISOTOPES_PER_DALTON: f64 = 0.000_54;
const ISOTOPE_COUNT: u32 = 4;
const FRAGMENT_COUNT: u32 = 16;
/// An elution peak is cut at this many standard deviations.
const ELUTION_REACH: f64 = 4.0;
const SLOWEST_SIGMA_SECONDS: f64 = 6.0;
const DIA_RANGE: ClosedRange = ClosedRange { lower: 400.0, upper: 1200.0 };
/// Half of what an isolation window passes on in a data-dependent run, m/z.
const DDA_HALF_WIDTH: f64 = 0.8;

/// What a stream of random numbers is for.
mod purpose {
    pub(super) const ANALYTE: u64 = 1;
    pub(super) const FRAGMENT: u64 = 2;
    pub(super) const SPECTRUM: u64 = 3;
}

/// Buffers that are reused from spectrum to spectrum.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    active: Vec<(Analyte, f64)>,
    signals: Vec<(f64, f64)>,
}

impl Analyte {
    /// Number `index` of a run; apexes follow each other at the run's spacing.
    pub(super) fn nth(run: &SyntheticRun, index: u32) -> Self {
        let mut random = Random::of(run.seed, purpose::ANALYTE, u64::from(index));
        let neutral_mass = 400.0 + 2_200.0 * random.unit() * random.unit();
        let charge: u8 = if neutral_mass < 800.0 { 1 } else { 2 + u8::from(neutral_mass > 1_800.0) };
        let protons = f64::from(charge) * PROTON_MASS;
        let ion_mass = match run.polarity {
            Polarity::Positive => neutral_mass + protons,
            Polarity::Negative => neutral_mass - protons,
        };
        let apex_seconds = (f64::from(index) + random.unit()) * run.analyte_spacing_seconds;
        let sigma_seconds = random.between(2.5, SLOWEST_SIGMA_SECONDS);
        let rarity = random.unit();
        Self {
            index,
            mz: ion_mass / f64::from(charge),
            charge,
            apex_time: Minutes::from_seconds(apex_seconds),
            sigma: Minutes::from_seconds(sigma_seconds),
            apex_intensity: 3e4 / (0.01 + rarity * rarity),
        }
    }

    /// Intensity of the monoisotopic ion at `time`; 0 beyond four standard deviations.
    pub fn intensity_at(&self, time: Minutes) -> f64 {
        let distance = (time.0 - self.apex_time.0) / self.sigma.0;
        if distance.abs() < ELUTION_REACH { self.apex_intensity * gauss(distance) } else { 0.0 }
    }

    /// m/z and intensity, relative to the monoisotopic ion, of the isotopes that spectra show.
    pub fn isotopes(&self) -> impl Iterator<Item = (f64, f64)> + use<> {
        let (mz, charge) = (self.mz, f64::from(self.charge));
        let mean = mz * charge * ISOTOPES_PER_DALTON;
        let mut relative = 1.0;
        (0..ISOTOPE_COUNT).map(move |isotope| {
            if isotope > 0 {
                relative *= mean / f64::from(isotope);
            }
            (mz + f64::from(isotope) * ISOTOPE_SPACING / charge, relative)
        })
    }

    /// m/z and intensity, relative to the precursor ion, of the fragments.
    fn fragments(&self, seed: u64) -> impl Iterator<Item = (f64, f64)> + use<> {
        let mut random = Random::of(seed, purpose::FRAGMENT, u64::from(self.index));
        let heaviest = self.mz * f64::from(self.charge);
        (0..FRAGMENT_COUNT).map(move |_| {
            let mz = random.between(120.0, heaviest);
            let strength = random.unit();
            (mz, 0.02 + 0.5 * strength * strength)
        })
    }
}

impl SyntheticRun {
    /// m/z limits of the spectra of a level, as stated in their scan windows.
    pub(super) fn scan_window(level: u8) -> ClosedRange {
        ClosedRange { lower: if level == 1 { 350.0 } else { 110.0 }, upper: 1_800.0 }
    }

    /// Makes spectrum `index` in place of what `spectrum` held.
    pub(super) fn fill(&self, index: u32, spectrum: &mut SyntheticSpectrum, scratch: &mut Scratch) {
        let mut random = Random::of(self.seed, purpose::SPECTRUM, u64::from(index));
        let position = index % (self.ms2_per_ms1.saturating_add(1));
        let level = if position == 0 { 1 } else { 2 };
        spectrum.index = index;
        spectrum.native_id = native_id(index);
        spectrum.ms_level = MsLevel::new(level).unwrap_or(spectrum.ms_level);
        spectrum.scan_start_time = self.time_of(index);
        spectrum.precursor =
            (position > 0).then(|| self.precursor(index - position, position, &mut random, scratch));

        self.signals(spectrum, &mut random, scratch);
        let spread = self.point_spread.clamp(0.0, 1.0);
        let factor = 1.0 - spread + 2.0 * spread * random.unit();
        let point_count = (f64::from(self.mean_points_per_spectrum) * factor).round() as usize;
        spectrum.mz.clear();
        spectrum.intensity.clear();
        let window = Self::scan_window(spectrum.ms_level.get());
        match self.representation {
            Representation::Centroid => centroid(point_count, window, &mut random, scratch, spectrum),
            Representation::Profile => profile(point_count, window, &mut random, scratch, spectrum),
        }
        if self.mz_width == FloatWidth::Bits32 {
            // what a 32-bit file holds, so that the truth is what a reader must see
            spectrum.mz.iter_mut().for_each(|mz| *mz = f64::from(*mz as f32));
        }
    }

    fn time_of(&self, index: u32) -> Minutes {
        Minutes::from_seconds(f64::from(index) * self.spectrum_seconds)
    }

    /// Gathers the analytes that elute at `time`, strongest first.
    fn find_active(&self, time: Minutes, active: &mut Vec<(Analyte, f64)>) {
        active.clear();
        let spacing = self.analyte_spacing_seconds;
        let seconds = time.0 * 60.0;
        let reach = ELUTION_REACH * SLOWEST_SIGMA_SECONDS;
        let first = ((seconds - reach) / spacing - 1.0).max(0.0) as u32;
        let end = (((seconds + reach) / spacing).max(0.0) as u32).saturating_add(1).min(self.analyte_count());
        active.extend((first..end).filter_map(|index| {
            let analyte = Analyte::nth(self, index);
            let intensity = analyte.intensity_at(time);
            (intensity > 0.0).then_some((analyte, intensity))
        }));
        active.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    }

    /// The ion chosen for the MS2 spectrum `position` places after the survey spectrum `ms1`.
    fn precursor(
        &self,
        ms1: u32,
        position: u32,
        random: &mut Random,
        scratch: &mut Scratch,
    ) -> SyntheticPrecursor {
        match self.acquisition {
            Acquisition::DataDependent => self.chosen_ion(ms1, position, random, scratch),
            Acquisition::DataIndependent => self.dia_window(ms1, position),
        }
    }

    fn chosen_ion(
        &self,
        ms1: u32,
        position: u32,
        random: &mut Random,
        scratch: &mut Scratch,
    ) -> SyntheticPrecursor {
        self.find_active(self.time_of(ms1), &mut scratch.active);
        let window = Self::scan_window(1);
        let ion = scratch
            .active
            .iter()
            .filter(|(analyte, _)| window.contains(analyte.mz))
            .nth(position.saturating_sub(1) as usize);
        let target_mz = ion.map_or_else(|| random.between(400.0, 1_200.0), |(analyte, _)| analyte.mz);
        SyntheticPrecursor {
            spectrum_index: ms1,
            target_mz,
            lower_offset: DDA_HALF_WIDTH,
            upper_offset: DDA_HALF_WIDTH,
            charge: ion.map(|(analyte, _)| analyte.charge),
            intensity: ion.map(|(_, intensity)| *intensity),
            collision_energy_ev: 30.0,
        }
    }

    fn dia_window(&self, ms1: u32, position: u32) -> SyntheticPrecursor {
        let width = (DIA_RANGE.upper - DIA_RANGE.lower) / f64::from(self.ms2_per_ms1.max(1));
        SyntheticPrecursor {
            spectrum_index: ms1,
            target_mz: DIA_RANGE.lower + (f64::from(position) - 0.5) * width,
            // neighbours overlap by 1 m/z
            lower_offset: width / 2.0 + 0.5,
            upper_offset: width / 2.0 + 0.5,
            charge: None,
            intensity: None,
            collision_energy_ev: 27.0,
        }
    }

    /// Gathers the ions of a spectrum, sorted by m/z, inside its scan window.
    fn signals(&self, spectrum: &SyntheticSpectrum, random: &mut Random, scratch: &mut Scratch) {
        let Scratch { active, signals } = scratch;
        self.find_active(spectrum.scan_start_time, active);
        signals.clear();
        let window = Self::scan_window(spectrum.ms_level.get());
        let isolated = spectrum.precursor.as_ref().map(SyntheticPrecursor::isolation_window);
        for (analyte, intensity) in active.iter() {
            let mut add = |(mz, relative): (f64, f64)| {
                // a few ppm and a few per cent, as instruments have them
                let mz = mz * (1.0 + random.between(-3e-6, 3e-6));
                let intensity = intensity * relative * random.between(0.9, 1.1);
                if window.contains(mz) {
                    signals.push((mz, intensity));
                }
            };
            match isolated {
                None => analyte.isotopes().for_each(&mut add),
                Some(isolated) if isolated.contains(analyte.mz) => {
                    analyte.fragments(self.seed).for_each(&mut add)
                }
                Some(_) => {}
            }
        }
        signals.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    }
}

/// Peaks in ascending m/z: the signals, and noise that fills up to `point_count`.
fn centroid(
    point_count: usize,
    window: ClosedRange,
    random: &mut Random,
    scratch: &mut Scratch,
    spectrum: &mut SyntheticSpectrum,
) {
    let signals = &mut scratch.signals;
    if signals.len() > point_count {
        signals.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        signals.truncate(point_count);
        signals.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    }
    let noise_count = point_count - signals.len();
    // one noise peak to a cell keeps them sorted without sorting
    let cell = (window.upper - window.lower) / noise_count.max(1) as f64;
    let mut waiting = signals.iter().peekable();
    for position in 0..noise_count {
        let bits = random.bits();
        let fine = (bits >> 24) as f64 * (1.0 / (1u64 << 40) as f64);
        let strength = (bits & 0xFF_FFFF) as f32 * (1.0 / 16_777_216.0);
        let mz = window.lower + (position as f64 + fine) * cell;
        while let Some((signal_mz, intensity)) = waiting.next_if(|(signal_mz, _)| *signal_mz <= mz) {
            spectrum.push(*signal_mz, *intensity as f32);
        }
        spectrum.push(mz, 400.0 + 300.0 * strength / (1.05 - strength));
    }
    for (mz, intensity) in waiting {
        spectrum.push(*mz, *intensity as f32);
    }
}

/// A curve sampled at `point_count` equal steps: noise with zeros between, and a bell at each signal.
fn profile(
    point_count: usize,
    window: ClosedRange,
    random: &mut Random,
    scratch: &mut Scratch,
    spectrum: &mut SyntheticSpectrum,
) {
    let step = (window.upper - window.lower) / point_count.max(1) as f64;
    let shift = random.unit();
    for position in 0..point_count {
        let strength = (random.bits() >> 40) as f32 * (1.0 / 16_777_216.0);
        let noise = if strength < 0.5 { 0.0 } else { 400.0 * strength };
        spectrum.push(window.lower + (position as f64 + shift) * step, noise);
    }
    for (mz, intensity) in &scratch.signals {
        let centre = (mz - window.lower) / step - shift;
        let nearest = centre.round().max(0.0) as usize;
        for position in nearest.saturating_sub(4)..=nearest + 4 {
            if let Some(value) = spectrum.intensity.get_mut(position) {
                *value += (intensity * gauss((position as f64 - centre) / 1.5)) as f32;
            }
        }
    }
}

/// exp(-x²/2) as (1 - x²/2048)^1024, which needs no library function; off by less than 0.001 for any x.
fn gauss(x: f64) -> f64 {
    let mut value = (1.0 - x * x / 2_048.0).max(0.0);
    for _ in 0..10 {
        value *= value;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elution_follows_a_gaussian() {
        for (x, expected) in [(0.0, 1.0), (1.0, 0.606_530_66), (2.0, 0.135_335_28), (-3.0, 0.011_108_996)] {
            assert!((gauss(x) - expected).abs() < 1e-3, "{x}: {}", gauss(x));
        }
        assert!(gauss(1e9) < 1e-300);
    }

    #[test]
    fn analytes_are_protonated_or_deprotonated() {
        let positive = SyntheticRun::default();
        let negative = SyntheticRun { polarity: Polarity::Negative, ..positive.clone() };
        for index in 0..positive.analyte_count() {
            let (plus, minus) = (Analyte::nth(&positive, index), Analyte::nth(&negative, index));
            assert!((plus.mz - minus.mz - 2.0 * PROTON_MASS).abs() < 1e-9);
            let mz: Vec<f64> = plus.isotopes().map(|(mz, _)| mz).collect();
            assert!(((mz[1] - mz[0]) * f64::from(plus.charge) - ISOTOPE_SPACING).abs() < 1e-9);
        }
    }
}
