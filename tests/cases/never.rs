//! What must never happen, in the words of `expectations.json`, and how it is held.

use crate::Outcome;
use crate::loading::{Failure, warning_codes};
use mzarena::ingest::Ingested;
use mzarena::spectrum::SignalAxis;
use mzarena::warning::WarningCode;

/// What holds an event off.
enum Guard {
    /// The process around the load: its exit status, deadline, peak memory, arena folder and budget.
    Process,
    /// The outcome and figures that the case is held to.
    Figures,
    /// A partial load is compared with the sound file point by point, a refused one has no points.
    Parts,
    /// The form of answers: not a matter of reading. Tests of the tools hold it.
    Answers,
    /// A look at what was loaded.
    Loaded(fn(&Ingested, &Ingested)),
    /// A look at the words of the error.
    Failed(fn(&Failure)),
}

use Guard::{Answers, Failed, Figures, Loaded, Parts, Process};

const GUARDS: &[(&str, Guard)] = &[
    ("panic", Process),
    ("hang", Process),
    ("signal", Process),
    ("stack overflow", Process),
    ("left temp file", Process),
    ("memory growth", Process),
    ("allocation of 400 MB", Process),
    ("RSS above the limit", Process),
    ("5 GB of temp file", Process),
    ("2 GB of temp file", Process),
    ("read past the buffer", Process),
    ("read past an array", Process),
    ("panic in a cast of slices", Process),
    ("0 spectra and no error", Figures),
    ("reported as a complete run", Parts),
    ("a handle with spectra", Figures),
    ("empty spectra and no word", Figures),
    ("silent loss of spectra", Figures),
    ("a spectrum that is not there", Figures),
    ("only the first member read", Figures),
    ("100 spectra reported", Figures),
    ("truncation of m/z to 2", Figures),
    ("RT wrong by 60 or 1000", Figures),
    ("level 1", Figures),
    ("made-up peaks", Parts),
    ("a peak with an invented intensity", Parts),
    ("10 peaks reported", Loaded(as_long_as_the_baseline)),
    ("zero padding", Loaded(as_long_as_the_baseline)),
    ("three spectra under scan 1", Loaded(no_scan_number)),
    ("NaN turned into null without a flag", Loaded(non_finite_values_are_flagged)),
    ("base peak NaN", Loaded(base_peaks_are_finite)),
    ("base peak 0", Loaded(base_peak_is_negative)),
    ("division by zero", Loaded(base_peaks_are_finite)),
    ("spectrum of another id", Loaded(ids_lead_to_their_spectra)),
    ("wavelength served as m/z", Loaded(other_axes_have_no_mz)),
    ("level 1 for the PDA spectrum", Loaded(other_axes_have_no_mz)),
    ("precursor 0", Loaded(no_precursor_is_zero)),
    ("charge 0 presented as known", Loaded(no_charge_is_known)),
    ("charge 2 as if certain", Loaded(charges_stay_lists)),
    ("only the first precursor kept without saying so", Loaded(all_precursors_are_kept)),
    ("2147483648", Loaded(the_largest_integer_is_exact)),
    ("m/z sorted without its intensities", Loaded(pairs_stay_together)),
    ("range query that misses a peak", Loaded(the_order_by_mz_finds_every_peak)),
    ("text of /etc/hostname in any answer", Failed(no_host_name)),
    ("NaN or Infinity in JSON", Answers),
    ("an answer above the cap", Answers),
];

/// Holds the load to the guard of `event`; an event without one is a fault of this table.
pub(crate) fn check(event: &str, outcome: Outcome, result: &Result<Ingested, Failure>, baseline: &Ingested) {
    let guard = GUARDS.iter().find(|(known, _)| *known == event);
    let (_, guard) = guard.unwrap_or_else(|| panic!("nothing guards against {event}"));
    match (guard, result) {
        (Loaded(look), Ok(loaded)) => look(loaded, baseline),
        (Loaded(_), Err(failure)) => panic!("{event} was not looked at: {}", failure.text),
        (Failed(look), Err(failure)) => look(failure),
        (Failed(_), Ok(_)) => panic!("{event} was not looked at: it was read"),
        (Parts, _) => assert_ne!(outcome, Outcome::Whole, "{event}"),
        (Process | Figures | Answers, _) => {}
    }
}

/// Each spectrum of a partial load is one of the sound file, bit for bit, but for spectra that are not damaged at all.
pub(crate) fn only_what_the_file_says(loaded: &Ingested, baseline: &Ingested) {
    let sound = baseline.arena.run().unwrap();
    for spectrum in loaded.arena.run().unwrap().spectra() {
        let index = sound.find_native_id(spectrum.native_id()).next().unwrap();
        let other = sound.spectrum(index).unwrap();
        assert_eq!(
            (spectrum.mz(), spectrum.intensity()),
            (other.mz(), other.intensity()),
            "spectrum {index}"
        );
    }
}

fn as_long_as_the_baseline(loaded: &Ingested, baseline: &Ingested) {
    assert_eq!(loaded.arena.totals().spectrum_count, baseline.arena.totals().spectrum_count);
    only_what_the_file_says(loaded, baseline);
}

fn no_scan_number(loaded: &Ingested, _: &Ingested) {
    assert!(loaded.arena.run().unwrap().spectra().all(|spectrum| spectrum.scan_number().is_none()));
}

fn non_finite_values_are_flagged(loaded: &Ingested, _: &Ingested) {
    let spectra = loaded.arena.run().unwrap().spectra();
    let flagged = spectra.filter(|spectrum| {
        let is_finite = spectrum.intensity().iter().all(f64::is_finite);
        assert_eq!(spectrum.has_non_finite_intensity(), !is_finite);
        !is_finite
    });
    assert!(flagged.count() > 0 && warning_codes(loaded).contains(&WarningCode::NonFiniteIntensity));
}

fn base_peaks_are_finite(loaded: &Ingested, _: &Ingested) {
    let totals = loaded.arena.totals();
    assert!(totals.total_intensity.is_finite() && totals.base_peak_intensity.is_some_and(f64::is_finite));
    for spectrum in loaded.arena.run().unwrap().spectra() {
        let finite = spectrum.intensity().iter().filter(|value| value.is_finite()).reduce(f64::max);
        assert_eq!(spectrum.base_peak_intensity(), finite);
        assert!(spectrum.base_peak_mz().is_some_and(f64::is_finite));
    }
}

fn base_peak_is_negative(loaded: &Ingested, _: &Ingested) {
    assert_eq!(loaded.arena.totals().base_peak_intensity, Some(-5.0));
}

fn ids_lead_to_their_spectra(loaded: &Ingested, _: &Ingested) {
    let run = loaded.arena.run().unwrap();
    for spectrum in run.spectra() {
        let found: Vec<_> = run.find_native_id(spectrum.native_id()).collect();
        assert_eq!(found, [spectrum.index()]);
        assert_eq!(spectrum.native_id(), format!("scan={}", spectrum.index() + 1));
    }
}

fn other_axes_have_no_mz(loaded: &Ingested, _: &Ingested) {
    let run = loaded.arena.run().unwrap();
    let other: Vec<_> = run.spectra().filter(|spectrum| spectrum.axis() == SignalAxis::Other).collect();
    assert_eq!(other.len(), 1);
    assert!(other.iter().all(|spectrum| spectrum.mz().is_empty() && spectrum.ms_level().is_none()));
    assert_eq!(loaded.arena.totals().point_count, 5, "the mass spectrum beside it is unharmed");
}

fn no_precursor_is_zero(loaded: &Ingested, _: &Ingested) {
    for precursor in loaded.arena.run().unwrap().spectra().flat_map(|spectrum| spectrum.precursors()) {
        assert_ne!(precursor.isolation_window().target_mz, Some(0.0));
        assert!(precursor.selected_ions().all(|ion| ion.mz() != Some(0.0)));
    }
}

fn no_charge_is_known(loaded: &Ingested, _: &Ingested) {
    let spectra = loaded.arena.run().unwrap().spectra();
    let ions: Vec<_> = spectra.flat_map(|s| s.precursors()).flat_map(|p| p.selected_ions()).collect();
    assert!(!ions.is_empty() && ions.iter().all(|ion| ion.charge().is_none() && ion.mz().is_none()));
}

fn charges_stay_lists(loaded: &Ingested, _: &Ingested) {
    let spectra = loaded.arena.run().unwrap().spectra();
    let ions: Vec<_> = spectra.flat_map(|s| s.precursors()).flat_map(|p| p.selected_ions()).collect();
    assert!(ions.iter().all(|ion| ion.charge().is_none()));
    let lists: Vec<_> = ions.iter().map(|ion| ion.possible_charges()).collect();
    assert_eq!(lists, [vec![2, 3], vec![2, 3, 4]]);
}

fn all_precursors_are_kept(loaded: &Ingested, _: &Ingested) {
    let kept: Vec<Vec<_>> = loaded
        .arena
        .run()
        .unwrap()
        .spectra()
        .map(|spectrum| {
            spectrum
                .precursors()
                .flat_map(|p| p.selected_ions())
                .map(|ion| (ion.mz().unwrap(), ion.charge()))
                .collect()
        })
        .collect();
    let expected =
        [vec![], vec![(500.25, Some(2)), (600.5, Some(3))], vec![(300.75, Some(1)), (400.125, Some(1))]];
    assert_eq!(kept, expected);
    assert_eq!(loaded.arena.totals().precursor_count, 4);
}

fn the_largest_integer_is_exact(loaded: &Ingested, _: &Ingested) {
    let spectrum = loaded.arena.run().unwrap().spectrum(0).unwrap();
    assert!(spectrum.intensity().iter().any(|value| value == 2_147_483_647.0));
    assert!(spectrum.intensity().iter().all(|value| value != 2_147_483_648.0));
}

/// The points of the first spectrum, in any order, are those of the sound file.
fn pairs_stay_together(loaded: &Ingested, baseline: &Ingested) {
    let pairs = |run: &Ingested| {
        let spectrum = run.arena.run().unwrap().spectrum(0).unwrap();
        let pairs = spectrum.mz().iter().copied().zip(spectrum.intensity().iter());
        pairs.collect::<Vec<(f64, f64)>>()
    };
    let (mut found, mut expected) = (pairs(loaded), pairs(baseline));
    assert!(!found.is_sorted_by(|a, b| a.0 <= b.0), "the source's order is kept");
    for pairs in [&mut found, &mut expected] {
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    assert_eq!(found, expected);
}

fn the_order_by_mz_finds_every_peak(loaded: &Ingested, _: &Ingested) {
    let spectrum = loaded.arena.run().unwrap().spectrum(0).unwrap();
    let order = spectrum.mz_order().unwrap();
    let by_mz: Vec<f64> = order.iter().map(|at| spectrum.mz()[*at as usize]).collect();
    assert!(by_mz.is_sorted() && by_mz.len() == spectrum.mz().len());
    let at = by_mz.partition_point(|mz| *mz < 100.0);
    assert_eq!(by_mz[at], 100.25);
}

fn no_host_name(failure: &Failure) {
    let name = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    let name = name.trim();
    // a name of two letters would be found in any sentence
    assert!(name.len() < 3 || !failure.text.contains(name), "{}", failure.text);
}
