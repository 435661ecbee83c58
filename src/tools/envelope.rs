//! The envelope around every answer: version, class, budget; and the same for errors.

use super::parameters::Arguments;
use super::{ToolError, present};
use crate::reference::DataClass;
use serde_json::{Map, Value, json};

/// Version of the shapes of all answers; on the outer envelope only.
pub const SCHEMA_VERSION: &str = "1.0";

/// Largest error, in bytes.
pub(super) const LARGEST_ERROR: usize = 2 * 1024;

/// How much to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResponseMode {
    /// What is needed to go on.
    #[default]
    Compact,
    /// Every fact there is.
    Full,
}

impl ResponseMode {
    pub(super) fn of(arguments: &Arguments) -> Self {
        match arguments.text("response_mode") {
            Some("full") => Self::Full,
            _ => Self::Compact,
        }
    }

    /// Largest answer, in bytes.
    pub(super) fn largest_answer(self) -> usize {
        match self {
            Self::Compact => 8 * 1024,
            Self::Full => 32 * 1024,
        }
    }

    /// Largest answer about one spectrum, in bytes.
    pub(super) fn largest_spectrum(self) -> usize {
        match self {
            Self::Compact => 1024,
            Self::Full => 4 * 1024,
        }
    }
}

/// The answer to a call: the envelope, success and error alike.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// JSON object as the schema of every tool describes it.
    pub envelope: Value,
    /// Whether it is an error envelope.
    pub is_error: bool,
}

/// Page of a list.
#[derive(Debug, Clone, Default)]
pub(super) struct Page {
    pub(super) total: u64,
    pub(super) returned: u64,
    pub(super) next_cursor: Option<String>,
}

/// What a tool answers.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) data: Map<String, Value>,
    pub(super) page: Option<Page>,
    /// Narrows the tool's class.
    pub(super) data_class: Option<DataClass>,
    /// Tighter than the mode's limit, in bytes.
    pub(super) limit: Option<usize>,
    /// What was left out before.
    pub(super) omitted: Vec<String>,
}

impl Answer {
    /// An answer of plain facts; `data` is an object.
    pub(super) fn of(data: Value) -> Self {
        match data {
            Value::Object(data) => Self { data, ..Self::default() },
            other => Self { data: Map::from_iter([("value".to_owned(), other)]), ..Self::default() },
        }
    }
}

/// A successful envelope that keeps its budget.
pub(super) fn success(class: DataClass, answer: Answer, mode: ResponseMode) -> Outcome {
    let limit = answer.limit.unwrap_or(mode.largest_answer()).min(mode.largest_answer());
    let class = answer.data_class.unwrap_or(class);
    let Answer { mut data, page, mut omitted, .. } = answer;
    loop {
        let envelope = assemble(class, &data, page.as_ref(), limit, &omitted);
        let length = envelope.to_string().len();
        if length <= limit {
            return Outcome { envelope, is_error: false };
        }
        match present::shrink(&mut data) {
            Some(section) => note_omitted(&mut omitted, section),
            None => {
                let message = format!("the answer has {length} bytes, and {limit} are allowed");
                return failure(&ToolError::new(crate::code::ErrorCode::Internal, message));
            }
        }
    }
}

/// Counts what was left out by section: `3 of summary`.
fn note_omitted(omitted: &mut Vec<String>, section: &str) {
    let known = omitted.iter_mut().find(|text| text.ends_with(section));
    match known.and_then(|text| Some((text.split(' ').next()?.parse::<u64>().ok()?, text))) {
        Some((count, text)) => *text = format!("{} of {section}", count + 1),
        None => omitted.push(format!("1 of {section}")),
    }
}

fn assemble(
    class: DataClass,
    data: &Map<String, Value>,
    page: Option<&Page>,
    limit: usize,
    omitted: &[String],
) -> Value {
    let mut envelope = Map::new();
    envelope.insert("schema_version".into(), SCHEMA_VERSION.into());
    envelope.insert("data_class".into(), class.as_str().into());
    envelope.insert("data".into(), Value::Object(data.clone()));
    if let Some(page) = page {
        let next = page.next_cursor.as_deref();
        envelope.insert(
            "page".into(),
            json!({"total": page.total, "returned": page.returned, "next_cursor": next}),
        );
    }
    // The budget states the length of a text that it is part of: settle it.
    let mut returned = 0;
    for _ in 0..4 {
        let budget = json!({"limit_chars": limit, "returned_chars": returned, "omitted": omitted});
        envelope.insert("budget".into(), budget);
        let length = Value::Object(envelope.clone()).to_string().chars().count();
        if length == returned {
            break;
        }
        returned = length;
    }
    Value::Object(envelope)
}

/// An error envelope.
pub(super) fn failure(error: &ToolError) -> Outcome {
    let mut error = error.clone();
    loop {
        let envelope = json!({"schema_version": SCHEMA_VERSION, "error": error.to_value()});
        if envelope.to_string().len() <= LARGEST_ERROR {
            return Outcome { envelope, is_error: true };
        }
        // The candidates first, then the call that would work, then the hint; at last the end of the texts.
        let help = &mut error.help;
        if help.candidates.pop().is_none() && help.retry_with.take().is_none() && help.hint.take().is_none() {
            let half = error.message.len() / 2;
            error.message.truncate(error.message.floor_char_boundary(half));
            help.argument.take_if(|argument| argument.len() > 96);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::ErrorCode;

    #[test]
    fn m8_a_budget_states_its_own_length_and_is_kept() {
        for filler in [0, 1, 50, 880, 900, 905, 6000] {
            let mut answer =
                Answer::of(json!({"reference": "ptr:spectrum:0", "summary": {"first": "a".repeat(30)}}));
            for at in 0..filler / 50 {
                if let Some(Value::Object(summary)) = answer.data.get_mut("summary") {
                    summary.insert(format!("fact_{at}"), "b".repeat(50).into());
                }
            }
            answer.limit = Some(1024);
            let outcome = success(DataClass::MeasuredData, answer, ResponseMode::Compact);
            let text = outcome.envelope.to_string();
            assert!(!outcome.is_error && text.len() <= 1024, "{text}");
            assert_eq!(outcome.envelope["budget"]["returned_chars"], text.chars().count(), "{text}");
            let is_cut =
                outcome.envelope["budget"]["omitted"].as_array().is_some_and(|omitted| !omitted.is_empty());
            assert_eq!(is_cut, filler > 800, "{text}");
        }
    }

    #[test]
    fn m7_an_error_is_bounded_whatever_it_carries() {
        let mut error =
            ToolError::new(ErrorCode::AmbiguousSource, "ü".repeat(5_000)).blaming(&"x".repeat(3_000));
        error.help.candidates = (0..50).map(|_| json!("y".repeat(4_000))).collect();
        error = error.retrying("load_run", json!({"source": "z".repeat(4_000)}));
        let outcome = failure(&error);
        let text = outcome.envelope.to_string();
        assert!(outcome.is_error && text.len() <= LARGEST_ERROR, "{}", text.len());
        assert_eq!(outcome.envelope["error"]["code"], "ambiguous_source");
    }
}
