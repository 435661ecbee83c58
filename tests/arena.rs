//! Arenas against a plain model: what goes in comes out, bit for bit, whatever the shapes.

use mzarena::arena::{
    Arena, ArenaError, ArenaFolder, Budget, ChromatogramColumns, ColumnsRef, IntensityRef, RunWriter,
    Unlimited,
};
use mzarena::spectrum::{
    ChromatogramDescription, ChromatogramKind, CollisionEnergy, CollisionEnergyUnit, DissociationMethods,
    IonMobilityKind, IsolationWindow, MsLevel, Polarity, Precursor, Representation, SelectedIon,
    SpectrumDescription,
};
use mzarena::units::Minutes;
use proptest::prelude::*;

fn folder() -> ArenaFolder {
    ArenaFolder::from_environment().unwrap()
}

#[derive(Debug, Clone)]
enum Intensities {
    Narrow(Vec<f32>),
    Wide(Vec<f64>),
}

#[derive(Debug, Clone)]
struct Model {
    native_id: String,
    mz: Vec<f64>,
    intensity: Intensities,
    mobility: Option<Vec<f64>>,
    spectrum_ref: Option<String>,
    time: Option<f64>,
    level: u8,
}

impl Model {
    fn intensity(&self) -> IntensityRef<'_> {
        match &self.intensity {
            Intensities::Narrow(values) => IntensityRef::F32(values),
            Intensities::Wide(values) => IntensityRef::F64(values),
        }
    }

    fn columns(&self) -> ColumnsRef<'_> {
        ColumnsRef {
            mz: &self.mz,
            intensity: self.intensity(),
            mobility: self.mobility.as_deref().map(|values| (IonMobilityKind::InverseReduced, values)),
        }
    }

    fn description(&self) -> SpectrumDescription {
        SpectrumDescription {
            native_id: self.native_id.clone(),
            ms_level: MsLevel::new(self.level),
            scan_start_time: self.time.map(Minutes),
            precursors: self
                .spectrum_ref
                .iter()
                .map(|native_id| Precursor { spectrum_ref: Some(native_id.clone()), ..Default::default() })
                .collect(),
            ..Default::default()
        }
    }
}

fn write(models: &[Model]) -> (Arena, mzarena::arena::SealReport, u64) {
    struct Counting<'c>(&'c mut u64);
    impl Budget for Counting<'_> {
        fn grant(&mut self, bytes: u64) -> Result<(), ArenaError> {
            *self.0 += bytes;
            Ok(())
        }
    }
    let mut granted = 0;
    let mut writer = RunWriter::create(&folder(), Counting(&mut granted)).unwrap();
    for model in models {
        writer.push(&model.description(), model.columns()).unwrap();
    }
    let (arena, report) = writer.seal().unwrap();
    (arena, report, granted)
}

fn bits(values: impl Iterator<Item = f64>) -> Vec<u64> {
    values.map(f64::to_bits).collect()
}

fn check(models: &[Model]) {
    let (arena, report, granted) = write(models);
    assert_eq!(arena.byte_size(), granted, "the budget is asked for exactly what is taken");
    let run = arena.run().unwrap();
    assert_eq!(run.spectrum_count() as usize, models.len());
    let position = |native_id: &str| {
        let mut found = models.iter().enumerate().filter(|(_, model)| model.native_id == native_id);
        let first = found.next().map(|(at, _)| at as u32);
        if found.next().is_some() { None } else { first }
    };
    for (model, view) in models.iter().zip(run.spectra()) {
        assert_eq!(bits(view.mz().iter().copied()), bits(model.mz.iter().copied()));
        assert_eq!(
            view.intensity().width(),
            if model.mz.is_empty() { view.intensity().width() } else { model.intensity().width() }
        );
        assert_eq!(bits(view.intensity().iter()), bits(model.intensity().iter()));
        if !model.mz.is_empty() {
            assert_eq!(view.mobility().map(|(_, values)| values.to_vec()), model.mobility);
        }
        assert_eq!(view.native_id(), model.native_id);
        assert_eq!(view.scan_start_time().map(|time| time.0), model.time);
        assert_eq!(view.ms_level().map_or(0, MsLevel::get), model.level);
        assert_eq!(view.mz().as_ptr() as usize % 8, 0);
        let expected: Vec<u32> =
            (0..models.len() as u32).filter(|at| models[*at as usize].native_id == model.native_id).collect();
        assert_eq!(run.find_native_id(&model.native_id).collect::<Vec<_>>(), expected);
        let precursor = view.precursors().next();
        assert_eq!(precursor.and_then(|precursor| precursor.spectrum_ref()), model.spectrum_ref.as_deref());
        assert_eq!(
            precursor.and_then(|precursor| precursor.spectrum_index()),
            model.spectrum_ref.as_deref().and_then(position)
        );
        assert_eq!(view.is_sorted(), model.mz.windows(2).all(|pair| pair[0] <= pair[1]));
        if let Some(order) = view.mz_order() {
            let ordered: Vec<f64> = order.iter().map(|at| model.mz[*at as usize]).collect();
            assert!(ordered.windows(2).all(|pair| pair[0] <= pair[1]));
            assert_eq!(order.len(), model.mz.len());
        }
    }
    let unresolved = models
        .iter()
        .filter_map(|model| model.spectrum_ref.as_deref())
        .filter(|native_id| position(native_id).is_none())
        .count() as u64;
    assert_eq!(report.unresolved_precursor_count, unresolved);
    assert_eq!(arena.totals().point_count, models.iter().map(|model| model.mz.len() as u64).sum::<u64>());
}

fn model() -> impl Strategy<Value = Model> {
    let points = prop_oneof![4 => 0..40_usize, 1 => Just(0), 1 => 3_000..9_000_usize];
    points.prop_flat_map(|count| {
        (
            prop::collection::vec(prop_oneof![0.0..2000.0_f64, Just(500.0)], count),
            prop::collection::vec(any::<f32>(), count),
            any::<bool>(),
            prop::option::of(prop::collection::vec(0.5..1.6_f64, count)),
            0..30_u32,
            prop::option::of(0..30_u32),
            prop::option::of(0.0..100.0_f64),
            0..4_u8,
            any::<bool>(),
        )
            .prop_map(|(mut mz, narrow, is_wide, mobility, id, reference, time, level, sorted)| {
                if sorted {
                    mz.sort_by(f64::total_cmp);
                }
                let intensity = if is_wide {
                    Intensities::Wide(narrow.iter().map(|value| f64::from(*value) * 1.1).collect())
                } else {
                    Intensities::Narrow(narrow)
                };
                Model {
                    native_id: format!("scan={id}"),
                    mz,
                    intensity,
                    mobility,
                    spectrum_ref: reference.map(|id| format!("scan={id}")),
                    time,
                    level,
                }
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// S2, S3: views give back every bit, in order, whatever column types follow each other.
    #[test]
    fn what_goes_in_comes_out(models in prop::collection::vec(model(), 0..24)) {
        check(&models);
    }

    /// Nothing in an arena depends on time or chance: the same spectra give the same facts and size.
    #[test]
    fn equal_spectra_make_equal_arenas(models in prop::collection::vec(model(), 0..8)) {
        let (first, _, _) = write(&models);
        let (second, _, _) = write(&models);
        prop_assert_eq!(first.byte_size(), second.byte_size());
        // NaN sums differ from themselves: compare the text.
        prop_assert_eq!(format!("{:?}", first.totals()), format!("{:?}", second.totals()));
    }
}

#[test]
fn a_run_larger_than_every_stage_comes_back() {
    let models: Vec<Model> = (0..70_000_u32)
        .map(|at| Model {
            native_id: format!("controllerType=0 controllerNumber=1 scan={at}"),
            mz: vec![f64::from(at), f64::from(at) + 1.0],
            intensity: Intensities::Narrow(vec![1.0, at as f32]),
            mobility: None,
            spectrum_ref: (at % 7 > 0)
                .then(|| format!("controllerType=0 controllerNumber=1 scan={}", at - at % 7)),
            time: Some(f64::from(at)),
            level: if at % 7 == 0 { 1 } else { 2 },
        })
        .collect();
    let (arena, report, granted) = write(&models);
    assert_eq!(arena.byte_size(), granted);
    assert_eq!(report, Default::default());
    let run = arena.run().unwrap();
    for at in [0, 1, 1023, 4096, 65_535, 65_536, 69_999] {
        let view = run.spectrum(at).unwrap();
        assert_eq!(view.mz(), &[f64::from(at), f64::from(at) + 1.0]);
        assert_eq!(view.native_id(), models[at as usize].native_id);
        let from = view.precursors().next().and_then(|precursor| precursor.spectrum_index());
        assert_eq!(from, (at % 7 > 0).then_some(at - at % 7));
        assert_eq!(run.find_native_id(view.native_id()).collect::<Vec<_>>(), [at]);
    }
    assert_eq!(run.spectrum(70_000).map(|view| view.index()), None);
    assert_eq!(run.find_native_id("scan=1").count(), 0);
}

#[test]
fn a_spectrum_larger_than_a_block_is_one_slice() {
    let count = 1_000_000_usize;
    let mz: Vec<f64> = (0..count).map(|at| 100.0 + at as f64 * 1e-3).collect();
    let intensity: Vec<f32> = (0..count).map(|at| at as f32).collect();
    let mut writer = RunWriter::create(&folder(), Unlimited).unwrap();
    for native_id in ["scan=1", "scan=2"] {
        let description = SpectrumDescription { native_id: native_id.into(), ..Default::default() };
        writer.push(&description, ColumnsRef::new(&mz, IntensityRef::F32(&intensity))).unwrap();
    }
    let (arena, _) = writer.seal().unwrap();
    for view in arena.run().unwrap().spectra() {
        assert_eq!(view.mz(), mz);
        assert_eq!(view.intensity(), IntensityRef::F32(&intensity));
        assert_eq!(view.base_peak_mz(), mz.last().copied());
    }
}

#[test]
fn every_fact_of_a_description_comes_back() {
    let mut methods = DissociationMethods::default();
    assert!(methods.insert(1_000_133) && methods.insert(1_000_598) && !methods.insert(1_000_000));
    let description = SpectrumDescription {
        native_id: "scan=7".into(),
        scan_number: Some(7),
        title: Some("ä title".into()),
        filter_string: Some("FTMS + p".into()),
        analyzer: Some("orbitrap".into()),
        ms_level: MsLevel::new(3),
        polarity: Some(Polarity::Negative),
        representation: Some(Representation::Profile),
        scan_start_time: Some(Minutes(-1.5)),
        scan_count: 2,
        is_lossy: true,
        faims_compensation_voltage: Some(-45.0),
        reported_total_ion_current: Some(0.0),
        precursors: vec![
            Precursor {
                isolation_window: IsolationWindow {
                    target_mz: Some(500.0),
                    lower_mz: Some(499.5),
                    upper_mz: Some(501.0),
                    mobility: None,
                },
                selected_ions: vec![SelectedIon {
                    mz: Some(500.1),
                    charge: Some(2),
                    intensity: Some(3.5),
                    possible_charges: vec![2, 3, 200],
                }],
                dissociation_methods: methods,
                collision_energy: Some(CollisionEnergy {
                    value: 30.0,
                    unit: CollisionEnergyUnit::Electronvolt,
                    may_be_normalized: true,
                }),
                spectrum_ref: None,
            },
            Precursor::default(),
        ],
        ..Default::default()
    };
    let mut writer = RunWriter::create(&folder(), Unlimited).unwrap();
    writer.push(&description, ColumnsRef::new(&[2.0, 1.0], IntensityRef::F64(&[5.0, 5.0]))).unwrap();
    writer.push_metadata("instrument", "Q Exactive").unwrap();
    let chromatogram = ChromatogramDescription {
        native_id: "TIC".into(),
        kind: ChromatogramKind::TotalIonCurrent,
        polarity: None,
        precursor_mz: None,
        product_mz: Some(1.5),
    };
    let columns = ChromatogramColumns {
        time: &[1.0, 2.0, 3.0],
        intensity: IntensityRef::F32(&[4.0, 5.0, 6.0]),
        ms_level: &[1, 2, 1],
    };
    writer.push_chromatogram(&chromatogram, columns).unwrap();
    let (arena, _) = writer.seal().unwrap();
    let run = arena.run().unwrap();

    let view = run.spectrum(0).unwrap();
    assert_eq!(view.scan_number(), Some(7));
    assert_eq!(
        (view.title(), view.filter_string(), view.analyzer()),
        (Some("ä title"), Some("FTMS + p"), Some("orbitrap"))
    );
    assert_eq!((view.ms_level(), view.polarity()), (MsLevel::new(3), Some(Polarity::Negative)));
    assert_eq!((view.representation(), view.scan_count()), (Some(Representation::Profile), 2));
    assert_eq!(view.scan_start_time(), Some(Minutes(-1.5)));
    assert_eq!(view.reported_total_ion_current(), Some(0.0));
    assert_eq!(view.reported_base_peak_mz(), None);
    assert_eq!(view.ion_injection_time_ms(), None);
    assert_eq!(view.faims_compensation_voltage(), Some(-45.0));
    assert!(view.is_lossy() && !view.is_sorted());
    assert_eq!(view.mz_order(), Some(&[1, 0][..]));
    // Of equal intensities the lowest m/z is the base peak, also where it comes later.
    assert_eq!(view.base_peak_mz(), Some(1.0));
    let precursors: Vec<_> = view.precursors().collect();
    assert_eq!(precursors.len(), 2);
    assert_eq!(precursors[0].isolation_window(), description.precursors[0].isolation_window);
    assert_eq!(precursors[0].collision_energy(), description.precursors[0].collision_energy);
    assert_eq!(precursors[0].dissociation_methods(), methods);
    let ion = precursors[0].selected_ions().next().unwrap();
    assert_eq!((ion.mz(), ion.charge(), ion.intensity()), (Some(500.1), Some(2), Some(3.5)));
    assert_eq!(ion.possible_charges(), [2, 3, 200]);
    assert_eq!(precursors[1].selected_ions().len(), 0);
    assert_eq!(precursors[1].isolation_window(), IsolationWindow::default());

    assert_eq!(run.metadata().collect::<Vec<_>>(), [("instrument", "Q Exactive")]);
    let recorded = run.chromatogram(0).unwrap();
    assert_eq!((recorded.native_id(), recorded.kind()), ("TIC", ChromatogramKind::TotalIonCurrent));
    assert_eq!(recorded.time(), &[1.0, 2.0, 3.0]);
    assert_eq!(recorded.intensity(), IntensityRef::F32(&[4.0, 5.0, 6.0]));
    assert_eq!(recorded.ms_level(), Some(&[1, 2, 1][..]));
    assert_eq!((recorded.precursor_mz(), recorded.product_mz()), (None, Some(1.5)));
}

/// S3: what the field's definition of a valid spectrum excludes is refused.
#[test]
fn invalid_spectra_are_refused() {
    let cases: [(&str, &[f64], &[f32]); 4] = [
        ("NaN m/z", &[1.0, f64::NAN], &[1.0, 1.0]),
        ("infinite m/z", &[f64::INFINITY], &[1.0]),
        ("more m/z", &[1.0, 2.0], &[1.0]),
        ("more intensities", &[1.0], &[1.0, 2.0]),
    ];
    for (name, mz, intensity) in cases {
        let mut writer = RunWriter::create(&folder(), Unlimited).unwrap();
        let columns = ColumnsRef::new(mz, IntensityRef::F32(intensity));
        let error = writer.push(&SpectrumDescription::default(), columns).unwrap_err();
        assert!(matches!(error, ArenaError::InvalidPayload { .. }), "{name}: {error}");
    }
}

#[test]
fn non_finite_intensities_are_kept_and_left_out_of_sums() {
    let mz = [1.0, 2.0, 3.0, 4.0];
    let intensity = [f32::NAN, 5.0, f32::INFINITY, 7.0];
    let mut writer = RunWriter::create(&folder(), Unlimited).unwrap();
    let facts = writer
        .push(&SpectrumDescription::default(), ColumnsRef::new(&mz, IntensityRef::F32(&intensity)))
        .unwrap();
    assert_eq!(
        (facts.non_finite_intensity_count, facts.total_ion_current, facts.base_peak),
        (2, 12.0, Some(3))
    );
    let (arena, _) = writer.seal().unwrap();
    let view = arena.run().unwrap().spectrum(0).unwrap();
    assert!(view.has_non_finite_intensity());
    assert_eq!(bits(view.intensity().iter()), bits(intensity.iter().map(|value| f64::from(*value))));
}
