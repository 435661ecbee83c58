//! `load_run`: from a file to a reference.

use super::envelope::Answer;
use super::loads::Progress;
use super::parameters::{Parameter, Takes};
use super::{Call, Tool, ToolError, present};
use crate::code::ErrorCode;
use crate::ingest::IngestOptions;
use crate::reference::DataClass;
use serde_json::{Value, json};
use std::time::Duration;

pub(super) struct LoadRun;

/// How long a call waits unless it says so, in seconds; hosts may drop a call at 60.
const USUAL_WAIT: u64 = 40;

const PARAMETERS: &[Parameter] = &[
    Parameter::required(
        "source",
        Takes::Text(4096),
        "File to load, as list_sources names it: relative to the root, or label:path where there are several roots.",
    ),
    Parameter::optional(
        "tolerant",
        Takes::Flag,
        "Load what is sound of a damaged file; the reference then says complete: false and what is missing. Default \
         false: a damaged file is an error.",
    ),
    Parameter::optional(
        "wait_seconds",
        Takes::Whole(0, 50),
        "Seconds to wait for a long load, 0 to 50. Default 40. The load goes on; the same call attaches to it.",
    ),
    Parameter::optional(
        "reload",
        Takes::Flag,
        "Load again although an unchanged file is loaded already. Default false.",
    ),
];

impl Tool for LoadRun {
    fn name(&self) -> &'static str {
        "load_run"
    }

    fn title(&self) -> &'static str {
        "Load a run"
    }

    fn description(&self) -> &'static str {
        "Reads an mzML or MGF file (also .gz) into the store and answers its reference (ptr:run:…) with a summary: \
         instrument, spectra per MS level, times, warnings. Peaks stay in the store. A long load answers status \
         loading: repeat the same call."
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn data_class(&self) -> DataClass {
        DataClass::MeasuredData
    }

    fn run(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let (context, arguments) = (call.context, &call.arguments);
        let source = arguments.required("source");
        let opened = context.roots.open(source).map_err(|error| context.about_source(error, "source"))?;
        let name = opened.name.clone();
        let tolerant = arguments.flag("tolerant");
        let wait = Duration::from_secs(arguments.whole("wait_seconds").unwrap_or(USUAL_WAIT));
        let options = IngestOptions { tolerant, ..IngestOptions::default() };
        let reload = arguments.flag("reload");
        let progress = context.loads.load(&context.store, opened, options, reload, wait, call.observer);
        match progress.map_err(|error| mendable(error, &name, tolerant))? {
            Progress::Loaded { reference, reused } => {
                let origin = if tolerant {
                    json!({"source": name, "tolerant": true})
                } else {
                    json!({"source": name})
                };
                if !reused {
                    context.remember_origin(reference, "load_run", origin);
                }
                let described = context.describe(&reference.to_string(), "source")?;
                let mut answer = present::reference(&described, call.mode);
                answer.data.insert("reused".to_owned(), reused.into());
                Ok(answer)
            }
            Progress::Loading { fraction, retry_in_seconds } => {
                Ok(loading(&name, fraction, retry_in_seconds))
            }
        }
    }
}

fn loading(name: &str, fraction: Option<f64>, retry_in_seconds: u64) -> Answer {
    let fraction = fraction.map(|fraction| (fraction * 1000.0).round() / 1000.0);
    let mut answer = Answer::of(json!({
        "status": "loading",
        "source": name,
        "fraction": fraction,
        "retry_in_seconds": retry_in_seconds,
        "hint": "The load goes on. Repeat the same call to wait for it.",
    }));
    answer.data_class = Some(DataClass::OperationalMetadata);
    answer
}

/// Damage can be tolerated: then the error names the call that does.
fn mendable(error: ToolError, name: &str, tolerant: bool) -> ToolError {
    match error.code {
        ErrorCode::DamagedSource | ErrorCode::TruncatedSource if !tolerant => {
            let arguments: Value = json!({"source": name, "tolerant": true});
            error.blaming("source").retrying("load_run", arguments)
        }
        ErrorCode::DamagedSource | ErrorCode::TruncatedSource => {
            error.blaming("source").hinting("Get a sound copy of the file; nothing of this one can be kept.")
        }
        ErrorCode::UnsupportedFormat => error.blaming("source"),
        _ => error,
    }
}
