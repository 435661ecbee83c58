//! Summaries of payloads, made once, at registration: what the source says, and apart from it what we computed.

use super::Summary;
use crate::arena::{PrecursorView, RunTotals, SelectedIonView, SpectrumView};
use crate::spectrum::{CollisionEnergyUnit, IonMobilityKind, Polarity, Representation};
use serde_json::{Map, Value, json};

/// Precursors, and selected ions of each, that a summary shows; their counts are always there.
const SHOWN_PRECURSORS: usize = 3;

/// Candidate charges of an ion that a summary shows.
const SHOWN_CHARGES: usize = 8;

/// Levels that a summary counts one by one; files have seldom more than three.
const SHOWN_LEVELS: usize = 16;

/// What a spectrum says: first what the source states, then what was computed from its points.
pub fn spectrum_summary(spectrum: &SpectrumView<'_>) -> (Summary, Summary) {
    let mut summary = Summary::default();
    summary.text("native_id", Some(spectrum.native_id()));
    if let Some(number) = spectrum.scan_number() {
        summary.count("scan_number", number.into());
    }
    summary.value("ms_level", spectrum.ms_level().map(|level| level.get()).into());
    summary.word("polarity", spectrum.polarity().map(polarity_text));
    summary.word("representation", spectrum.representation().map(representation_text));
    summary.number("scan_start_time_minutes", spectrum.scan_start_time().map(|time| time.0));
    let precursors = spectrum.precursors();
    if precursors.len() > 0 {
        summary.count("precursor_count", precursors.len() as u64);
        let shown = precursors.take(SHOWN_PRECURSORS).map(|precursor| precursor_facts(&precursor));
        summary.value("precursors", shown.collect());
    }
    add_title(&mut summary, spectrum);
    add_scan_facts(&mut summary, spectrum);
    (summary, computed_facts(spectrum))
}

/// Titles are free text; converters write the path of the raw file into them, and paths must not leave (M6).
fn add_title(summary: &mut Summary, spectrum: &SpectrumView<'_>) {
    match spectrum.title() {
        Some(title) if title.contains(['/', '\\']) => summary.flag("title_withheld", true),
        Some(title) => summary.text("title", Some(title)),
        None => {}
    }
}

/// Facts that only some instruments record: named where they are there.
fn add_scan_facts(summary: &mut Summary, spectrum: &SpectrumView<'_>) {
    let window = spectrum.scan_window();
    let mobility = spectrum.ion_mobility();
    let numbers = [
        ("scan_window_lower_mz", window.map(|window| window.lower)),
        ("scan_window_upper_mz", window.map(|window| window.upper)),
        ("ion_injection_time_ms", spectrum.ion_injection_time_ms()),
        (ion_mobility_name(mobility.map(|mobility| mobility.kind)), mobility.map(|mobility| mobility.value)),
        ("faims_compensation_voltage", spectrum.faims_compensation_voltage()),
        ("total_ion_current", spectrum.reported_total_ion_current()),
        ("base_peak_mz", spectrum.reported_base_peak_mz()),
        ("base_peak_intensity", spectrum.reported_base_peak_intensity()),
    ];
    for (name, value) in numbers.into_iter().filter(|(_, value)| value.is_some()) {
        summary.number(name, value);
    }
    if spectrum.scan_count() > 1 {
        summary.count("scan_count", spectrum.scan_count().into());
    }
    for (name, text) in [("analyzer", spectrum.analyzer()), ("filter_string", spectrum.filter_string())] {
        if text.is_some() {
            summary.text(name, text);
        }
    }
    if spectrum.is_lossy() {
        summary.flag("is_lossy", true);
    }
    if let Some((kind, _)) = spectrum.mobility() {
        summary.word("mobility_array", Some(ion_mobility_name(Some(kind))));
    }
}

fn computed_facts(spectrum: &SpectrumView<'_>) -> Summary {
    let range = spectrum.mz_range();
    let mut derived = Summary::default();
    derived.number("base_peak_mz", spectrum.base_peak_mz());
    derived.number("base_peak_intensity", spectrum.base_peak_intensity());
    derived.number("total_ion_current", Some(spectrum.computed_total_ion_current()));
    derived.number("lowest_observed_mz", range.map(|range| range.lower));
    derived.number("highest_observed_mz", range.map(|range| range.upper));
    derived.flag("is_sorted", spectrum.is_sorted());
    if spectrum.has_non_finite_intensity() {
        derived.flag("has_non_finite_intensity", true);
    }
    derived
}

/// What the totals of a run say: first what was counted in the source, then what was computed from its points.
pub fn run_summary(totals: &RunTotals) -> (Summary, Summary) {
    let mut summary = Summary::default();
    summary.value("ms_level_counts", ms_level_counts(totals));
    summary.count("centroid_spectrum_count", totals.centroid_spectrum_count);
    summary.count("profile_spectrum_count", totals.profile_spectrum_count);
    summary.count("positive_spectrum_count", totals.positive_spectrum_count);
    summary.count("negative_spectrum_count", totals.negative_spectrum_count);
    summary.number("first_scan_start_time_minutes", totals.scan_start_time_minutes.map(|range| range.lower));
    summary.number("last_scan_start_time_minutes", totals.scan_start_time_minutes.map(|range| range.upper));
    summary.text("first_native_id", totals.first_native_id.as_deref());
    summary.text("last_native_id", totals.last_native_id.as_deref());
    let rare = [
        ("non_mass_spectrum_count", totals.non_mass_spectrum_count),
        ("mobility_spectrum_count", totals.mobility_spectrum_count),
        ("empty_spectrum_count", totals.empty_spectrum_count),
        ("untimed_spectrum_count", totals.untimed_spectrum_count),
    ];
    for (name, count) in rare.into_iter().filter(|(_, count)| *count > 0) {
        summary.count(name, count);
    }
    let mut derived = Summary::default();
    derived.number("base_peak_mz", totals.base_peak_mz);
    derived.number("base_peak_intensity", totals.base_peak_intensity);
    derived.number("total_intensity", Some(totals.total_intensity));
    derived.number("lowest_observed_mz", totals.mz_range.map(|range| range.lower));
    derived.number("highest_observed_mz", totals.mz_range.map(|range| range.upper));
    derived.count("unsorted_spectrum_count", totals.unsorted_spectrum_count);
    (summary, derived)
}

fn ms_level_counts(totals: &RunTotals) -> Value {
    let counts = &totals.ms_level_counts;
    let mut map = Map::new();
    let mut levels = counts.iter();
    for (level, count) in levels.by_ref().take(SHOWN_LEVELS) {
        map.insert(level.get().to_string(), count.into());
    }
    let others: u64 = levels.map(|(_, count)| count).sum();
    for (name, count) in [("higher", others), ("unknown", counts.unknown())] {
        if count > 0 {
            map.insert(name.to_owned(), count.into());
        }
    }
    Value::Object(map)
}

fn precursor_facts(precursor: &PrecursorView<'_>) -> Value {
    let window = precursor.isolation_window();
    let ions = precursor.selected_ions();
    let mut map = Map::new();
    let mut put = |name: &str, value: Value| map.insert(name.to_owned(), value);
    let bounds =
        json!({"target_mz": window.target_mz, "lower_mz": window.lower_mz, "upper_mz": window.upper_mz});
    put("isolation_window", bounds);
    if let Some(range) = window.mobility {
        put("isolation_window_mobility", json!({"lower": range.lower, "upper": range.upper}));
    }
    if ions.len() > SHOWN_PRECURSORS {
        put("selected_ion_count", ions.len().into());
    }
    put("selected_ions", ions.take(SHOWN_PRECURSORS).map(|ion| ion_facts(&ion)).collect());
    put("dissociation_methods", precursor.dissociation_methods().names().collect());
    if let Some(energy) = precursor.collision_energy() {
        put("collision_energy", energy.value.into());
        put("collision_energy_unit", energy_unit_text(energy.unit).into());
        if energy.may_be_normalized {
            put("collision_energy_may_be_normalized", true.into());
        }
    }
    Value::Object(map)
}

fn ion_facts(ion: &SelectedIonView<'_>) -> Value {
    let mut facts = json!({ "mz": ion.mz(), "charge": ion.charge(), "intensity": ion.intensity() });
    let charges = ion.possible_charges();
    if let Value::Object(map) = &mut facts
        && !charges.is_empty()
    {
        if charges.len() > SHOWN_CHARGES {
            map.insert("possible_charge_count".to_owned(), charges.len().into());
        }
        map.insert("possible_charges".to_owned(), charges.into_iter().take(SHOWN_CHARGES).collect());
    }
    facts
}

fn polarity_text(polarity: Polarity) -> &'static str {
    match polarity {
        Polarity::Positive => "positive",
        Polarity::Negative => "negative",
    }
}

fn representation_text(representation: Representation) -> &'static str {
    match representation {
        Representation::Centroid => "centroid",
        Representation::Profile => "profile",
    }
}

/// The name of a mobility value tells its quantity and unit: the four must never be mixed.
fn ion_mobility_name(kind: Option<IonMobilityKind>) -> &'static str {
    match kind {
        Some(IonMobilityKind::InverseReduced) => "inverse_reduced_ion_mobility",
        Some(IonMobilityKind::DriftTime) => "drift_time_ms",
        Some(IonMobilityKind::Reduced) => "reduced_ion_mobility",
        Some(IonMobilityKind::Unspecified) | None => "unspecified_ion_mobility",
    }
}

fn energy_unit_text(unit: CollisionEnergyUnit) -> &'static str {
    match unit {
        CollisionEnergyUnit::Electronvolt => "electronvolt",
        CollisionEnergyUnit::Percent => "percent",
        CollisionEnergyUnit::Unstated => "unstated",
    }
}
