//! The answer for programs: one JSON object.

use serde_json::{Map, Value, json};

use crate::arena::RunTotals;
use crate::ingest::Ingested;
use crate::provenance::SOFTWARE;
use crate::units::ClosedRange;
use crate::warning::Warning;

/// What is known of the run. Missing is `null`; so is a number that JSON cannot hold, which `non_finite` then names.
pub(super) fn report(file: &str, ingested: &Ingested) -> Value {
    let mut report = Report::default();
    let source = &ingested.source;
    report.put("file", file);
    report.put("format", source.format.as_str());
    report.put("reader", source.reader.as_str());
    report.put("byte_size", source.byte_size);
    report.put("digest", source.digest.as_deref());
    report.put("software", SOFTWARE);
    report.put("instrument", ingested.run.instrument.as_deref());
    report.put("start_time_stamp", ingested.run.start_time_stamp.as_deref());
    report.put("complete", ingested.is_complete());
    report.put("missing", json!(ingested.missing));
    add_totals(&mut report, ingested.arena.totals());
    report.put("arena_byte_size", ingested.arena.byte_size());
    // what is missing is worth a warning to whoever looks at these alone
    let warnings: Vec<&Warning> = ingested.missing.iter().chain(&ingested.warnings).collect();
    report.put("warnings", json!(warnings));
    report.into_value()
}

fn add_totals(report: &mut Report, totals: &RunTotals) {
    let mass_spectrum_count = totals.mass_spectrum_count();
    let unknown = |known: u64| mass_spectrum_count.saturating_sub(known);
    report.put("spectrum_count", totals.spectrum_count);
    report.put("non_mass_spectrum_count", totals.non_mass_spectrum_count);
    let mut levels: Map<String, Value> =
        totals.ms_level_counts.iter().map(|(level, count)| (level.get().to_string(), count.into())).collect();
    levels.insert("unknown".to_owned(), totals.ms_level_counts.unknown().into());
    report.put("ms_level_counts", levels);
    let (centroid, profile) = (totals.centroid_spectrum_count, totals.profile_spectrum_count);
    report.put(
        "representation_counts",
        json!({ "centroid": centroid, "profile": profile, "unknown": unknown(centroid + profile) }),
    );
    let (positive, negative) = (totals.positive_spectrum_count, totals.negative_spectrum_count);
    report.put(
        "polarity_counts",
        json!({ "positive": positive, "negative": negative, "unknown": unknown(positive + negative) }),
    );
    report.put("point_count", totals.point_count);
    report.number("total_intensity", Some(totals.total_intensity));
    report.number("base_peak_mz", totals.base_peak_mz);
    report.number("base_peak_intensity", totals.base_peak_intensity);
    report.range("mz_range", totals.mz_range);
    report.range("scan_start_time_minutes", totals.scan_start_time_minutes);
    report.put("chromatogram_count", totals.chromatogram_count);
    report.put("precursor_count", totals.precursor_count);
    report.put("empty_spectrum_count", totals.empty_spectrum_count);
    report.put("unsorted_spectrum_count", totals.unsorted_spectrum_count);
    report.put("mobility_spectrum_count", totals.mobility_spectrum_count);
    report.put("untimed_spectrum_count", totals.untimed_spectrum_count);
    report.put("non_finite_intensity_count", totals.non_finite_intensity_count);
    report.put("negative_mz_count", totals.negative_mz_count);
    report.put("first_native_id", totals.first_native_id.as_deref());
    report.put("last_native_id", totals.last_native_id.as_deref());
    report.number("first_selected_ion_mz", totals.first_selected_ion_mz);
}

#[derive(Default)]
struct Report {
    facts: Map<String, Value>,
    non_finite: Map<String, Value>,
}

impl Report {
    fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.facts.insert(name.to_owned(), value.into());
    }

    fn number(&mut self, name: &str, value: Option<f64>) {
        if let Some(value) = value
            && !value.is_finite()
        {
            self.non_finite.insert(name.to_owned(), non_finite_text(value).into());
        }
        // not finite is null here
        self.put(name, value);
    }

    fn range(&mut self, name: &str, range: Option<ClosedRange>) {
        self.put(name, range.map(|range| json!({ "lower": range.lower, "upper": range.upper })));
    }

    fn into_value(mut self) -> Value {
        if !self.non_finite.is_empty() {
            self.facts.insert("non_finite".to_owned(), self.non_finite.into());
        }
        self.facts.into()
    }
}

/// As JSON's neighbours write it.
fn non_finite_text(value: f64) -> &'static str {
    match value {
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => "NaN",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_json_cannot_hold_is_null_and_named() {
        let mut report = Report::default();
        for (name, value) in [
            ("finite", Some(0.1)),
            ("missing", None),
            ("nan", Some(f64::NAN)),
            ("infinite", Some(f64::INFINITY)),
        ] {
            report.number(name, value);
        }
        assert_eq!(
            report.into_value().to_string(),
            r#"{"finite":0.1,"missing":null,"nan":null,"infinite":null,"non_finite":{"nan":"NaN","infinite":"Infinity"}}"#
        );
    }
}
