//! Our types as rmcp's: its names move between releases, so they are met in few places.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolResult, Implementation, MetaObject, ProgressNotification, ProgressNotificationParam,
    ProgressToken, ServerCapabilities, ServerConfig, ServerJsonRpcMessage, ServerNotification, Tool,
    ToolAnnotations,
};
use serde_json::json;

use super::transport::encode;
use crate::code::ErrorCode;
use crate::tools::{Outcome, ToolDescription, ToolError};

/// What a model reads before its first call; at most 1,500 characters.
pub const INSTRUCTIONS: &str = "\
mzarena holds mass spectrometry runs (mzML, MGF) in an immutable store and answers about them. \
Answers carry references (ptr:run:…, ptr:spectrum:…) and bounded summaries, never arrays of peaks or traces, \
whatever is asked; a person looks at a file with: mzarena inspect FILE.

How to work:
1. list_sources shows the files that can be read.
2. load_run reads one and answers its reference. A long load may answer status \"loading\": repeat the same \
call after retry_in_seconds; it attaches to the load under way. Loading an unchanged file again is cheap.
3. summarise_reference describes a reference; load_spectrum picks one spectrum of a run; list_references shows \
what is held and how much room is left.
4. release_reference gives a run and its spectra back when they are no longer needed. Nothing is dropped to \
make room: at the limit a load is refused with store_limit.

Units: times are in minutes (…_minutes), m/z is m/z, intensities are in the unit of the source, tolerances are \
in ppm or Da as named. spectrum_index counts from 0; scan_number is the instrument's own. null means that the \
source does not say; it is never 0.

summary holds what the file says, derived what was computed. Errors have a code and a hint that says what to \
do next. get_capabilities lists limits, codes and units.";

/// Who answers, and how to use it.
pub(super) fn server_config() -> ServerConfig {
    let server = Implementation::new("mzarena", env!("CARGO_PKG_VERSION"))
        .with_title("mzarena: mass spectra by reference");
    ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
        .with_server_info(server)
        .with_instructions(INSTRUCTIONS)
}

/// A tool as the list shows it.
pub(super) fn tool(description: ToolDescription) -> Tool {
    let annotations = ToolAnnotations::with_title(description.title)
        .read_only(description.read_only)
        .destructive(description.destructive)
        .idempotent(description.idempotent)
        .open_world(false);
    Tool::new(description.name, description.description, Arc::new(description.input_schema))
        .with_title(description.title)
        .with_raw_output_schema(Arc::new(description.output_schema))
        .with_annotations(annotations)
}

/// A tool's answer: the envelope as structured content and, minified, as the one text block. How long it took
/// stands beside it, so that equal calls have equal envelopes.
pub(super) fn result(outcome: Outcome, elapsed: Duration) -> CallToolResult {
    let milliseconds = elapsed.as_micros() as f64 / 1000.0;
    let mut meta = MetaObject::new();
    meta.0.insert("elapsed_ms".to_owned(), json!(milliseconds));
    let result = match outcome.is_error {
        true => CallToolResult::structured_error(outcome.envelope),
        false => CallToolResult::structured(outcome.envelope),
    };
    result.with_meta(Some(meta))
}

/// An error envelope for what goes wrong around a tool.
pub(super) fn error(code: ErrorCode, message: &str, argument: Option<&str>) -> Outcome {
    let error = ToolError::new(code, message);
    match argument {
        Some(argument) => error.blaming(argument),
        None => error,
    }
    .into_outcome()
}

/// A progress notification as a finished line.
pub(super) fn progress(token: ProgressToken, done: u64, total: Option<u64>) -> Option<Vec<u8>> {
    let mut params = ProgressNotificationParam::new(token, done as f64);
    params.total = total.map(|total| total as f64);
    let notification = ServerNotification::ProgressNotification(ProgressNotification::new(params));
    encode(&ServerJsonRpcMessage::notification(notification)).ok()
}

/// The message for a tool that does not exist.
pub(super) fn unknown_tool(name: &str) -> Cow<'static, str> {
    format!("unknown tool {}; tools/list names the ones there are", super::frame::excerpt(name)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_stay_within_1500_characters() {
        let length = INSTRUCTIONS.chars().count();
        assert!((500..=1500).contains(&length), "{length}");
    }

    #[test]
    fn m7_an_error_has_version_code_message_argument_and_hint() {
        let outcome = error(ErrorCode::InvalidArgument, "not an object", Some("arguments"));
        assert!(outcome.is_error);
        assert_eq!(
            outcome.envelope.to_string(),
            r#"{"schema_version":"1.0","error":{"code":"invalid_argument","message":"not an object","argument":"arguments","hint":"Correct the argument that the message names."}}"#
        );
    }
}
