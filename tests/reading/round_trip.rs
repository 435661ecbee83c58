//! S3: what a writer puts into mzML or MGF comes out of the arena bit for bit, whatever the numbers.

use crate::loading::{STRICT, load_bytes, load_text, warning_codes};
use crate::mzml::{
    F32, F64, INTENSITY, MINUTE, MZ, Spectrum, UNCOMPRESSED, ZLIB, array, base64, cv, cv_unit, document,
    f32_bytes, f64_bytes, scan,
};
use mzarena::arena::IntensityRef;
use mzarena::synthetic::{Acquisition, Compression, FloatWidth, SyntheticRun};
use mzarena::units::Minutes;
use mzarena::warning::WarningCode;
use proptest::prelude::*;
use std::io::Write;

/// Intensities of any bits, in one of two precisions.
#[derive(Debug, Clone)]
enum Intensities {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

#[derive(Debug, Clone)]
struct Model {
    mz: Vec<f64>,
    narrow_mz: bool,
    intensity: Intensities,
    packed: bool,
    native_id: String,
    minutes: Option<f64>,
    level: u8,
    /// Where the base64 text is broken by white space.
    line: Option<usize>,
}

/// Any finite number, and often one that many spectra share.
fn any_mz() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 50.0..2000.0f64,
        1 => any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |mz| mz.is_finite()),
        1 => Just(0.0),
        1 => Just(500.25),
    ]
}

fn model() -> impl Strategy<Value = Model> {
    let points = prop::collection::vec((any_mz(), any::<u64>()), 0..40);
    let form = (any::<bool>(), any::<bool>(), any::<bool>(), prop::option::of(1usize..30));
    // characters that XML takes, some of them with a meaning in it
    let id = "[a-zA-Z0-9 =&<>\"'µ\u{1f9ea}]{0,12}";
    (points, form, id, prop::option::of(-1000.0..1000.0f64), 0u8..5).prop_map(
        |(points, (narrow_mz, is_wide, packed, line), native_id, minutes, level)| {
            let mz = points.iter().map(|(mz, _)| if narrow_mz { f64::from(*mz as f32) } else { *mz });
            let mz: Vec<f64> = mz.map(|mz| if mz.is_finite() { mz } else { 1.0 }).collect();
            let intensity = match is_wide {
                true => Intensities::Wide(points.iter().map(|(_, bits)| *bits).collect()),
                false => Intensities::Narrow(points.iter().map(|(_, bits)| *bits as u32).collect()),
            };
            Model { mz, narrow_mz, intensity, packed, native_id, minutes, level, line }
        },
    )
}

impl Model {
    fn array(&self, width: &str, kind: &str, bytes: &[u8]) -> String {
        let (method, bytes) = match self.packed {
            true => {
                let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
                packed.write_all(bytes).unwrap();
                (ZLIB, packed.finish().unwrap())
            }
            false => (UNCOMPRESSED, bytes.to_vec()),
        };
        let text = base64(&bytes);
        let lines = text.as_bytes().chunks(self.line.unwrap_or(usize::MAX));
        let text = lines.map(|line| std::str::from_utf8(line).unwrap()).collect::<Vec<_>>().join("\r\n  ");
        array(&[width, method, kind], &text)
    }

    fn text(&self) -> String {
        let id = self.native_id.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
        let mut spectrum = Spectrum::plain(&id);
        spectrum.length = self.mz.len();
        spectrum.params = cv("1000511", &self.level.to_string()) + &cv("1000294", "");
        // `{}` writes as many digits as give the same number back
        let time = self.minutes.map(|minutes| cv_unit("1000016", &minutes.to_string(), MINUTE));
        spectrum.scans = scan(&time.unwrap_or_default());
        let mz = match self.narrow_mz {
            true => self.array(F32, MZ, &f32_bytes(&self.mz.iter().map(|mz| *mz as f32).collect::<Vec<_>>())),
            false => self.array(F64, MZ, &f64_bytes(&self.mz)),
        };
        let intensity = match &self.intensity {
            Intensities::Narrow(bits) => {
                self.array(F32, INTENSITY, &bits.iter().flat_map(|b| b.to_le_bytes()).collect::<Vec<_>>())
            }
            Intensities::Wide(bits) => {
                self.array(F64, INTENSITY, &bits.iter().flat_map(|b| b.to_le_bytes()).collect::<Vec<_>>())
            }
        };
        spectrum.arrays = mz + &intensity;
        spectrum.text()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_bit_for_bit(models in prop::collection::vec(model(), 0..8)) {
        let loaded = load_text(&document(&models.iter().map(Model::text).collect::<String>()));
        prop_assert!(loaded.is_complete());
        let run = loaded.arena.run().unwrap();
        prop_assert_eq!(run.spectrum_count() as usize, models.len());
        for (model, spectrum) in models.iter().zip(run.spectra()) {
            let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(spectrum.mz()), bits(&model.mz));
            match (&model.intensity, spectrum.intensity()) {
                (Intensities::Narrow(expected), IntensityRef::F32(found)) => {
                    prop_assert_eq!(&found.iter().map(|value| value.to_bits()).collect::<Vec<_>>(), expected);
                }
                (Intensities::Wide(expected), IntensityRef::F64(found)) => {
                    prop_assert_eq!(&found.iter().map(|value| value.to_bits()).collect::<Vec<_>>(), expected);
                }
                // without points there is no precision to keep
                _ => prop_assert!(model.mz.is_empty()),
            }
            prop_assert_eq!(spectrum.native_id(), &model.native_id);
            prop_assert_eq!(spectrum.scan_start_time(), model.minutes.map(Minutes));
            prop_assert_eq!(spectrum.ms_level().map_or(0, |level| level.get()), model.level);
            prop_assert_eq!(spectrum.is_sorted(), model.mz.is_sorted());
        }
        // what is odd is said, and nothing else
        let non_finite = run.spectra().any(|spectrum| spectrum.has_non_finite_intensity());
        let codes = warning_codes(&loaded);
        prop_assert_eq!(codes.contains(&WarningCode::NonFiniteIntensity), non_finite);
        prop_assert_eq!(codes.contains(&WarningCode::UnsortedMz), models.iter().any(|model| !model.mz.is_sorted()));
        prop_assert!(!codes.contains(&WarningCode::ArrayLengthMismatch));
    }

    /// Numbers of MGF are decimal: what the shortest digits stand for is read to the nearest number.
    #[test]
    fn decimal_numbers_of_mgf_are_read_to_the_nearest(points in prop::collection::vec((any_mz(), any_mz()), 0..40)) {
        let lines: String = points.iter().map(|(mz, intensity)| format!("{mz:?} {intensity:e}\n")).collect();
        let loaded = load_text(&format!("BEGIN IONS\nTITLE=t\n{lines}END IONS\n"));
        let spectrum = loaded.arena.run().unwrap().spectrum(0).unwrap();
        let found: Vec<_> = spectrum.mz().iter().map(|mz| mz.to_bits()).zip(spectrum.intensity().iter().map(f64::to_bits)).collect();
        let expected: Vec<_> = points.iter().map(|(mz, intensity)| (mz.to_bits(), intensity.to_bits())).collect();
        prop_assert_eq!(found, expected);
    }
}

/// The generator knows its spectra: reading its files gives them back, in every form it writes.
#[test]
fn synthetic_runs_are_read_as_they_were_made() {
    let base = SyntheticRun { spectrum_count: 40, mean_points_per_spectrum: 60, ..SyntheticRun::default() };
    let runs = [
        base.clone(),
        SyntheticRun { compression: Compression::Zlib, ..base.clone() },
        SyntheticRun { mz_width: FloatWidth::Bits32, intensity_width: FloatWidth::Bits64, ..base.clone() },
        SyntheticRun { acquisition: Acquisition::DataIndependent, indexed: false, seed: 9, ..base.clone() },
        SyntheticRun { spectrum_count: 0, ..base.clone() },
    ];
    for run in runs {
        let mut text = Vec::new();
        let facts = run.write_mzml(&mut text).unwrap();
        let loaded = load_bytes(&text, &STRICT).unwrap();
        assert_eq!(warning_codes(&loaded), [], "{run:?}");
        let view = loaded.arena.run().unwrap();
        assert_eq!(
            (u64::from(view.spectrum_count()), loaded.arena.totals().point_count),
            (facts.spectrum_count, facts.point_count)
        );
        for (expected, found) in run.spectra().zip(view.spectra()) {
            assert_eq!(found.native_id(), expected.native_id);
            assert_eq!(
                (found.ms_level(), found.scan_start_time()),
                (Some(expected.ms_level), Some(expected.scan_start_time))
            );
            assert_eq!(
                (found.polarity(), found.representation()),
                (Some(run.polarity), Some(run.representation))
            );
            assert_eq!(found.mz(), expected.mz);
            assert!(found.intensity().iter().eq(expected.intensity.iter().map(|value| f64::from(*value))));
            let precursor = found.precursors().next();
            assert_eq!(precursor.is_some(), expected.precursor.is_some());
            if let (Some(found), Some(expected)) = (precursor, expected.precursor) {
                assert_eq!(found.spectrum_index(), Some(expected.spectrum_index));
                assert_eq!(found.isolation_window().target_mz, Some(expected.target_mz));
                assert_eq!(
                    found.isolation_window().lower_mz,
                    Some(expected.target_mz - expected.lower_offset)
                );
                assert_eq!(
                    found.collision_energy().map(|energy| energy.value),
                    Some(expected.collision_energy_ev)
                );
            }
        }
        assert_eq!(loaded.arena.totals().total_intensity, facts.total_intensity);
        assert_eq!(loaded.arena.totals().base_peak_mz, facts.base_peak_mz);
    }
}

#[test]
fn synthetic_mgf_is_read_as_it_was_made() {
    let run = SyntheticRun { spectrum_count: 40, mean_points_per_spectrum: 60, ..SyntheticRun::default() };
    let mut text = Vec::new();
    run.write_mgf(&mut text).unwrap();
    let loaded = load_bytes(&text, &STRICT).unwrap();
    let expected: Vec<_> = run.spectra().filter(|spectrum| spectrum.ms_level.get() == 2).collect();
    let view = loaded.arena.run().unwrap();
    assert_eq!(view.spectrum_count() as usize, expected.len());
    assert!(expected.len() > 20);
    for (expected, found) in expected.iter().zip(view.spectra()) {
        assert_eq!(found.mz(), expected.mz);
        assert!(found.intensity().iter().map(|value| value as f32).eq(expected.intensity.iter().copied()));
        let (seconds, made) = (found.scan_start_time().unwrap().0 * 60.0, expected.scan_start_time.0 * 60.0);
        assert!((seconds - made).abs() < 1e-9 * made.max(1.0), "{seconds} is not {made}");
    }
}
