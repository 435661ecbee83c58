//! The answer for people.

use std::io;

use super::sparkline::sparkline;
use crate::arena::{Arena, RunTotals};
use crate::cli::console::Console;
use crate::cli::pretty::{counted, grouped, size};
use crate::ingest::Ingested;
use crate::spectrum::{MsLevel, SignalAxis};
use crate::units::ClosedRange;
use crate::warning::Warning;

/// Characters of the drawn trace.
const TRACE_WIDTH: usize = 60;

const UNKNOWN: &str = "not stated";

/// Writes what is known of the run, aligned.
pub(super) fn write(file: &str, ingested: &Ingested, console: &mut Console<'_>) -> io::Result<()> {
    let totals = ingested.arena.totals();
    let mut rows = Rows::default();
    add_source(&mut rows, ingested);
    add_counts(&mut rows, totals);
    add_values(&mut rows, totals);
    add_trace(&mut rows, &ingested.arena);
    if ingested.warnings.is_empty() {
        rows.add("warnings", "none");
    }
    console.heading(file)?;
    rows.write(console)?;
    for missing in &ingested.missing {
        write_warning("missing", missing, console)?;
    }
    for warning in &ingested.warnings {
        write_warning("warning", warning, console)?;
    }
    Ok(())
}

fn add_source(rows: &mut Rows, ingested: &Ingested) {
    let source = &ingested.source;
    rows.add("format", &source.format);
    rows.add("size", format!("{} ({})", counted(source.byte_size, "byte", "bytes"), size(source.byte_size)));
    rows.add("digest", source.digest.as_deref().unwrap_or(UNKNOWN));
    rows.add("instrument", ingested.run.instrument.as_deref().unwrap_or(UNKNOWN));
    if let Some(start) = &ingested.run.start_time_stamp {
        rows.add("started", start);
    }
    rows.add("complete", if ingested.is_complete() { "yes" } else { "no: see below what is missing" });
}

fn add_counts(rows: &mut Rows, totals: &RunTotals) {
    rows.add("spectra", grouped(totals.spectrum_count));
    for (level, count) in totals.ms_level_counts.iter() {
        rows.add(format!("  MS{}", level.get()), grouped(count));
    }
    let unstated = |known: u64| totals.mass_spectrum_count().saturating_sub(known);
    let (centroid, profile) = (totals.centroid_spectrum_count, totals.profile_spectrum_count);
    let (positive, negative) = (totals.positive_spectrum_count, totals.negative_spectrum_count);
    for (label, count) in [
        ("  without a stated level", totals.ms_level_counts.unknown()),
        ("  not of masses", totals.non_mass_spectrum_count),
        ("  without points", totals.empty_spectrum_count),
        ("  not in order of m/z", totals.unsorted_spectrum_count),
        ("  with ion mobility", totals.mobility_spectrum_count),
        ("  without a time", totals.untimed_spectrum_count),
    ] {
        if count > 0 {
            rows.add(label, grouped(count));
        }
    }
    rows.add(
        "representation",
        shares(&[("centroid", centroid), ("profile", profile), (UNKNOWN, unstated(centroid + profile))]),
    );
    rows.add(
        "polarity",
        shares(&[("positive", positive), ("negative", negative), (UNKNOWN, unstated(positive + negative))]),
    );
    rows.add("points", grouped(totals.point_count));
    rows.add("chromatograms", grouped(totals.chromatogram_count));
}

fn add_values(rows: &mut Rows, totals: &RunTotals) {
    rows.add("m/z", range_text(totals.mz_range, 4, ""));
    rows.add("time", range_text(totals.scan_start_time_minutes, 3, " minutes"));
    let base_peak = totals.base_peak_mz.zip(totals.base_peak_intensity);
    let base_peak = base_peak.map(|(mz, intensity)| format!("m/z {mz:.4}, intensity {intensity:.4e}"));
    rows.add("base peak", base_peak.unwrap_or_else(|| "none".to_owned()));
    rows.add("total intensity", format!("{:.6e}", totals.total_intensity));
    if totals.non_finite_intensity_count > 0 {
        rows.add(
            "  left out of it",
            format!("{} NaN or infinite", grouped(totals.non_finite_intensity_count)),
        );
    }
    if let (Some(first), Some(last)) = (&totals.first_native_id, &totals.last_native_id) {
        rows.add("first spectrum", first);
        rows.add("last spectrum", last);
    }
}

/// The computed total ion current over time, of survey spectra where there are any.
fn add_trace(rows: &mut Rows, arena: &Arena) {
    let survey = MsLevel::new(1).filter(|level| arena.totals().ms_level_counts.get(*level) > 0);
    let Ok(run) = arena.run() else { return };
    let points: Vec<(f64, f64)> = (0..run.spectrum_count())
        .filter_map(|index| run.spectrum(index))
        .filter(|spectrum| spectrum.axis() == SignalAxis::Mass)
        .filter(|spectrum| survey.is_none() || spectrum.ms_level() == survey)
        .filter_map(|spectrum| Some((spectrum.scan_start_time()?.0, spectrum.computed_total_ion_current())))
        .collect();
    if let Some(line) = sparkline(&points, TRACE_WIDTH) {
        rows.add(if survey.is_some() { "TIC of MS1" } else { "TIC" }, line);
    }
}

/// The counts that are not 0.
fn shares(counts: &[(&str, u64)]) -> String {
    let shares: Vec<String> = counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{} {name}", grouped(*count)))
        .collect();
    if shares.is_empty() { "none".to_owned() } else { shares.join(", ") }
}

fn range_text(range: Option<ClosedRange>, digits: usize, unit: &str) -> String {
    match range {
        Some(ClosedRange { lower, upper }) => format!("{lower:.digits$} to {upper:.digits$}{unit}"),
        None => "none".to_owned(),
    }
}

fn write_warning(label: &str, warning: &Warning, console: &mut Console<'_>) -> io::Result<()> {
    let times = counted(warning.count, "time", "times");
    console.line(&format!("{label}: {} ({times}, first: {})", warning.code, warning.first))?;
    console.line(&format!("         {}", warning.code.meaning()))
}

/// Labels and values, the values below each other.
#[derive(Default)]
struct Rows(Vec<(String, String)>);

impl Rows {
    fn add(&mut self, label: impl Into<String>, value: impl Into<String>) {
        self.0.push((label.into(), value.into()));
    }

    fn write(&self, console: &mut Console<'_>) -> io::Result<()> {
        let width = self.0.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
        self.0.iter().try_for_each(|(label, value)| console.line(&format!("  {label:<width$}  {value}")))
    }
}
