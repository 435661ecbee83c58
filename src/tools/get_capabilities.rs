//! `get_capabilities`: limits, codes, units and ways of working, from the same tables that the code uses.

use super::envelope::{Answer, LARGEST_ERROR, ResponseMode};
use super::parameters::{COMMAND_LINE, Parameter, Takes};
use super::{Call, TOOLS, Tool, ToolError};
use crate::code::ErrorCode;
use crate::ingest::format::FORMATS;
use crate::provenance::SOFTWARE;
use crate::reference::{DataClass, DataKind};
use crate::warning::WarningCode;
use serde_json::{Map, Value, json};

pub(super) struct GetCapabilities;

const TOPICS: &[&str] = &["overview", "tools", "limits", "errors", "warnings", "units", "workflow"];

const PARAMETERS: &[Parameter] = &[Parameter::optional(
    "topic",
    Takes::Choice(TOPICS),
    "What to tell: overview, tools, limits, errors, warnings, units or workflow. Default overview.",
)];

impl Tool for GetCapabilities {
    fn name(&self) -> &'static str {
        "get_capabilities"
    }

    fn title(&self) -> &'static str {
        "What this server can do"
    }

    fn description(&self) -> &'static str {
        "States formats, kinds of references, limits, error and warning codes, units and ways of working."
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn data_class(&self) -> DataClass {
        DataClass::OperationalMetadata
    }

    fn run(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        Ok(Answer::of(match call.arguments.text("topic") {
            Some("tools") => tools(),
            Some("limits") => limits(call),
            Some("errors") => errors(),
            Some("warnings") => warnings(),
            Some("units") => units(),
            Some("workflow") => workflow(),
            _ => overview(call),
        }))
    }
}

fn overview(call: &Call<'_>) -> Value {
    json!({
        "software": SOFTWARE,
        "topics": TOPICS,
        "tools": TOOLS.iter().map(|tool| tool.name()).collect::<Vec<_>>(),
        "formats": FORMATS.iter().map(|format| format.name).collect::<Vec<_>>(),
        "compressions": ["gzip"],
        "kinds": DataKind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>(),
        "data_classes": DataClass::ALL.iter().map(|class| class.as_str()).collect::<Vec<_>>(),
        "error_codes": ErrorCode::ALL,
        "root_count": call.context.roots.labels().count(),
        "never": "No tool answers arrays of peaks, writes a file, calls a network or runs a program.",
    })
}

fn tools() -> Value {
    let row = |tool: &&dyn Tool| {
        let parameters: Vec<_> = tool.parameters().iter().map(|parameter| parameter.name).collect();
        json!([tool.name(), tool.title(), tool.data_class().as_str(), parameters])
    };
    json!({
        "columns": ["name", "title", "data_class", "parameters"],
        "rows": TOOLS.iter().map(row).collect::<Vec<_>>(),
    })
}

fn limits(call: &Call<'_>) -> Value {
    let store = call.context.store.limits();
    let bytes =
        |mode: ResponseMode| json!({"answer": mode.largest_answer(), "spectrum": mode.largest_spectrum()});
    json!({
        "store": {
            "references": store.references,
            "total_bytes": store.total_bytes,
            "time_to_live_seconds": store.time_to_live.map_or(0, |time| time.as_secs()),
        },
        "max_source_bytes": call.context.roots.limits().max_source_bytes,
        "bytes": {
            "compact": bytes(ResponseMode::Compact),
            "full": bytes(ResponseMode::Full),
            "error": LARGEST_ERROR,
        },
        "page_rows": 20,
    })
}

fn errors() -> Value {
    let rows: Vec<_> = ErrorCode::ALL.iter().map(|code| json!([code, code.hint()])).collect();
    json!({"columns": ["code", "hint"], "rows": rows})
}

fn warnings() -> Value {
    let rows: Vec<_> = WarningCode::ALL.iter().map(|code| json!([code, code.meaning()])).collect();
    json!({"columns": ["code", "meaning"], "rows": rows})
}

fn units() -> Value {
    let facts = [
        ("…_minutes", "minutes from the start of the run"),
        ("…_mz", "m/z (mass divided by charge number)"),
        ("…_intensity, total_ion_current", "the source's unit, detector counts where it states none"),
        ("…_ms", "milliseconds"),
        ("…_index", "counted from 0, ours"),
        ("…_number", "as the instrument counted"),
        ("byte_size", "bytes"),
        ("…_at", "RFC 3339, UTC"),
        ("null", "the source does not say; never 0. non_finite names NaN and infinite values beside a null"),
    ];
    let map: Map<_, _> = facts.iter().map(|(name, unit)| ((*name).to_owned(), Value::from(*unit))).collect();
    json!({ "units": map })
}

fn workflow() -> Value {
    json!({"steps": [
        "list_sources: which files there are.",
        "load_run with source: a reference ptr:run:…. While status is loading, repeat the call.",
        "load_spectrum with run and spectrum_index, native_id, scan_number or scan_start_time_minutes.",
        "summarise_reference: the facts of a reference again, in full with response_mode full.",
        "release_reference: give a run and its spectra back.",
        COMMAND_LINE,
    ]})
}
