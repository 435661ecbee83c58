//! `load_spectrum`: one spectrum out of a run or a file.

use super::envelope::Answer;
use super::error::MOST_CANDIDATES;
use super::parameters::{Parameter, Takes};
use super::{Call, Tool, ToolError, present};
use crate::analysis::lookup;
use crate::arena::RunView;
use crate::code::ErrorCode;
use crate::ingest::{DigestKind, Source, SpectrumSelector, ingest_spectrum};
use crate::provenance::Provenance;
use crate::reference::{DataClass, DataKind, DataReference};
use crate::spectrum::MsLevel;
use crate::store::Details;
use crate::units::Minutes;
use serde_json::{Value, json};

pub(super) struct LoadSpectrum;

const PARAMETERS: &[Parameter] = &[
    Parameter::optional(
        "run",
        Takes::Text(128),
        "Reference of a loaded run (ptr:run:…). Either run or source.",
    ),
    Parameter::optional(
        "source",
        Takes::Text(4096),
        "File to read the one spectrum from, without loading the run. Either run or source.",
    ),
    Parameter::optional(
        "spectrum_index",
        Takes::Whole(0, u32::MAX as u64 - 1),
        "Position in the run, from 0. Exactly one way to choose the spectrum.",
    ),
    Parameter::optional("native_id", Takes::Text(4096), "Native ID, verbatim, such as scan=19."),
    Parameter::optional(
        "scan_number",
        Takes::Whole(0, u32::MAX as u64 - 1),
        "Scan number of the instrument, where the native ID gives one.",
    ),
    Parameter::optional(
        "scan_start_time_minutes",
        Takes::Number(-1e9, 1e9),
        "The spectrum whose start time is nearest, in minutes; the answer states the difference.",
    ),
    Parameter::optional(
        "ms_level",
        Takes::Whole(1, 255),
        "Only with scan_start_time_minutes: look only at this MS level. Default any.",
    ),
];

/// Ways to choose the spectrum.
const SELECTORS: [&str; 4] = ["spectrum_index", "native_id", "scan_number", "scan_start_time_minutes"];

impl Tool for LoadSpectrum {
    fn name(&self) -> &'static str {
        "load_spectrum"
    }

    fn title(&self) -> &'static str {
        "Load one spectrum"
    }

    fn description(&self) -> &'static str {
        "Answers a reference to one spectrum (ptr:spectrum:…) with its facts: MS level, time, precursors, base peak, \
         total ion current, number of points. Takes it from a loaded run, or straight from a file. Peaks stay in the \
         store; to look at a file a person runs: mzarena inspect FILE."
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn data_class(&self) -> DataClass {
        DataClass::MeasuredData
    }

    fn run(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let selector = selector(call)?;
        match call.arguments.given(&["run", "source"]).as_slice() {
            ["run"] => from_run(call, &selector),
            ["source"] => from_source(call, &selector),
            [] => Err(exactly_one(ErrorCode::MissingArgument, "run", "run or source")),
            _ => Err(exactly_one(ErrorCode::InvalidArgument, "source", "run or source")),
        }
    }
}

fn exactly_one(code: ErrorCode, argument: &str, of: &str) -> ToolError {
    ToolError::new(code, format!("give exactly one of {of}")).blaming(argument)
}

fn selector(call: &Call<'_>) -> Result<SpectrumSelector, ToolError> {
    let arguments = &call.arguments;
    let level = arguments.whole("ms_level").and_then(|level| MsLevel::new(level.try_into().ok()?));
    let of = SELECTORS.join(", ");
    let selector = match arguments.given(&SELECTORS).as_slice() {
        [] => return Err(exactly_one(ErrorCode::MissingArgument, "spectrum_index", &of)),
        [name] => match *name {
            "spectrum_index" => arguments.whole(name).map(SpectrumSelector::Index),
            "native_id" => arguments.text(name).map(|text| SpectrumSelector::NativeId(text.to_owned())),
            "scan_number" => arguments
                .whole(name)
                .and_then(|number| Some(SpectrumSelector::ScanNumber(number.try_into().ok()?))),
            _ => arguments.number(name).map(|time| SpectrumSelector::Time(Minutes(time), level)),
        },
        [_, second, ..] => return Err(exactly_one(ErrorCode::InvalidArgument, second, &of)),
    };
    if level.is_some() && !matches!(selector, Some(SpectrumSelector::Time(..))) {
        let message = "ms_level goes with scan_start_time_minutes alone";
        return Err(ToolError::new(ErrorCode::InvalidArgument, message).blaming("ms_level"));
    }
    selector.ok_or_else(|| exactly_one(ErrorCode::MissingArgument, "spectrum_index", &of))
}

/// A slice of a loaded run.
fn from_run(call: &Call<'_>, selector: &SpectrumSelector) -> Result<Answer, ToolError> {
    let context = call.context;
    let run = call.arguments.required("run");
    let lease =
        context.store.resolve_kind(run, &[DataKind::Run]).map_err(|error| context.about(error, "run"))?;
    let (index, difference) = find(lease.run()?, selector)?;
    let mut provenance = Provenance::of("load_spectrum");
    provenance.parameters.insert("spectrum_index".to_owned(), index.into());
    let reference = context.store.slice_spectrum(lease.id(), index, provenance);
    let reference = reference.map_err(|error| context.about(error, "run"))?;
    let sources = lease.reference().provenance.sources;
    if let Some(source) = sources.first() {
        let origin = json!({"source": source.source, "spectrum_index": index});
        context.remember_origin(reference.reference, "load_spectrum", origin);
    }
    Ok(answer(call, &reference, difference))
}

/// Position of the spectrum, and by how much its time misses the one that was asked for.
fn find(run: RunView<'_>, selector: &SpectrumSelector) -> Result<(u32, Option<Minutes>), ToolError> {
    let none = |argument: &str| {
        let message = format!("no spectrum with {selector}; the run has {} spectra", run.spectrum_count());
        ToolError::new(ErrorCode::SpectrumNotFound, message).blaming(argument)
    };
    let only = |mut found: Vec<u32>, argument: &str| match found.len() {
        0 => Err(none(argument)),
        1 => found.pop().map(|index| (index, None)).ok_or_else(|| none(argument)),
        _ => Err(ambiguous(&found, selector, argument)),
    };
    let most = MOST_CANDIDATES + 1;
    match selector {
        SpectrumSelector::Index(index) => match u32::try_from(*index) {
            Ok(index) if index < run.spectrum_count() => Ok((index, None)),
            _ => Err(none("spectrum_index")),
        },
        SpectrumSelector::NativeId(native_id) => {
            only(run.find_native_id(native_id).take(most).collect(), "native_id")
        }
        SpectrumSelector::ScanNumber(number) => {
            only(lookup::find_scan_number(run, *number).take(most).collect(), "scan_number")
        }
        SpectrumSelector::Time(time, level) => match lookup::nearest_in_time(run, *time, *level) {
            Some(nearest) => Ok((nearest.spectrum_index, Some(nearest.difference))),
            None => Err(none("scan_start_time_minutes")),
        },
    }
}

fn ambiguous(found: &[u32], selector: &SpectrumSelector, argument: &str) -> ToolError {
    let message = format!("several spectra have {selector}");
    let mut error = ToolError::new(ErrorCode::AmbiguousSpectrum, message).blaming(argument);
    error.help.candidates = found.iter().map(|index| json!({"spectrum_index": index})).collect();
    error
}

/// A spectrum read straight from a file, in an arena of its own.
fn from_source(call: &Call<'_>, selector: &SpectrumSelector) -> Result<Answer, ToolError> {
    let context = call.context;
    let source = call.arguments.required("source");
    let opened = context.roots.open(source).map_err(|error| context.about_source(error, "source"))?;
    let found =
        ingest_spectrum(Source::from_opened(opened)?, selector, DigestKind::default(), call.observer)?;
    let mut provenance = Provenance::of("load_spectrum");
    provenance.parameters.insert("spectrum_index".to_owned(), found.spectrum_index.into());
    let origin = json!({"source": found.source.source, "spectrum_index": found.spectrum_index});
    provenance.sources.push(found.source);
    let mut details = Details::new(provenance);
    details.warnings = found.warnings;
    let spectrum = &found.spectrum;
    let reference = context.store.register_spectrum(&spectrum.description, spectrum.columns(), details)?;
    context.remember_origin(reference.reference, "load_spectrum", origin);
    let difference = match (selector, spectrum.description.scan_start_time) {
        (SpectrumSelector::Time(wanted, _), Some(time)) => Some(Minutes(time.0 - wanted.0)),
        _ => None,
    };
    Ok(answer(call, &reference, difference))
}

fn answer(call: &Call<'_>, reference: &DataReference, difference: Option<Minutes>) -> Answer {
    let mut answer = present::reference(reference, call.mode);
    if let Some(difference) = difference {
        answer.data.insert("time_difference_minutes".to_owned(), Value::from(difference.0));
    }
    answer
}
