//! Errors that a caller can mend, with all that helps to mend them.

use super::Outcome;
use crate::access::AccessError;
use crate::code::ErrorCode;
use crate::ingest::IngestError;
use crate::store::StoreError;
use serde_json::{Map, Value, json};

/// Most candidates in an error.
pub(super) const MOST_CANDIDATES: usize = 10;

/// Longest message, in bytes.
const LONGEST_MESSAGE: usize = 700;

/// Why a tool did not answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolError {
    /// Stable code.
    pub code: ErrorCode,
    /// What happened, with the values.
    pub message: String,
    /// What helps to mend it.
    pub help: Box<Help>,
}

/// What helps to mend an error. Every part may be absent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Help {
    /// Which argument is to blame.
    pub argument: Option<String>,
    /// What to do next; the code's own hint where there is none.
    pub hint: Option<String>,
    /// A call that would work.
    pub retry_with: Option<Value>,
    /// What to choose from.
    pub candidates: Vec<Value>,
}

impl ToolError {
    /// An error with the code's own hint.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: Box::default() }
    }

    /// The same, blaming `argument`.
    pub fn blaming(mut self, argument: &str) -> Self {
        self.help.argument = Some(argument.to_owned());
        self
    }

    /// The error envelope.
    pub fn into_outcome(self) -> Outcome {
        super::envelope::failure(&self)
    }

    pub(super) fn hinting(mut self, hint: impl Into<String>) -> Self {
        self.help.hint = Some(hint.into());
        self
    }

    pub(super) fn retrying(mut self, tool: &str, arguments: Value) -> Self {
        self.help.retry_with = Some(json!({"tool": tool, "arguments": arguments}));
        self
    }

    /// The answer to a panic: its text is in the log, not here.
    pub(super) fn internal(tool: &str) -> Self {
        Self::new(ErrorCode::Internal, format!("{tool} failed unexpectedly"))
    }

    /// The `error` object of the envelope.
    pub(super) fn to_value(&self) -> Value {
        let mut error = Map::new();
        error.insert("code".into(), json!(self.code));
        error.insert("message".into(), cut(&self.message).into());
        if let Some(argument) = &self.help.argument {
            error.insert("argument".into(), json!(argument));
        }
        let hint = self.help.hint.as_deref().unwrap_or(self.code.hint());
        error.insert("hint".into(), hint.into());
        if let Some(retry_with) = &self.help.retry_with {
            error.insert("retry_with".into(), retry_with.clone());
        }
        if !self.help.candidates.is_empty() {
            let shown: Vec<_> = self.help.candidates.iter().take(MOST_CANDIDATES).cloned().collect();
            error.insert("candidates".into(), shown.into());
        }
        Value::Object(error)
    }
}

/// The message, cut at a place where it stays readable.
fn cut(message: &str) -> String {
    if message.len() <= LONGEST_MESSAGE {
        return message.to_owned();
    }
    let end = message.floor_char_boundary(LONGEST_MESSAGE);
    format!("{}… ({} bytes in all)", message.get(..end).unwrap_or_default(), message.len())
}

impl From<StoreError> for ToolError {
    fn from(error: StoreError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

impl From<AccessError> for ToolError {
    fn from(error: AccessError) -> Self {
        let mut mendable = Self::new(error.code(), error.to_string());
        mendable.help.candidates = error.candidates().iter().map(|name| json!(name)).collect();
        mendable
    }
}

impl From<IngestError> for ToolError {
    fn from(error: IngestError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}
