//! The tools as a program calls them: a store on a clock that stands still, roots, and every answer checked for what
//! all answers promise (M6, M7, M8).

#![allow(dead_code, reason = "each test binary uses its own part")]

use mzarena::access::{RootSpec, Roots};
use mzarena::arena::ArenaFolder;
use mzarena::code::ErrorCode;
use mzarena::observe::Unobserved;
use mzarena::reference::DataClass;
use mzarena::store::{Limits, ManualClock, SpectrumStore, StoreConfig};
use mzarena::tools::{self, Context, ContextOptions, SCHEMA_VERSION};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How long references live at a desk.
pub(crate) const TIME_TO_LIVE: Duration = Duration::from_secs(3600);

/// Largest envelope by mode, in bytes: of any answer, of a spectrum.
const LIMITS: [(&str, usize, usize); 2] = [("compact", 8192, 1024), ("full", 32_768, 4096)];

/// Largest error envelope, in bytes.
const LARGEST_ERROR: usize = 2048;

/// Tools, and what they work on.
pub(crate) struct Desk {
    pub(crate) context: Context,
    pub(crate) clock: Arc<ManualClock>,
}

impl Desk {
    /// Tools over one root.
    pub(crate) fn over(folder: &Path) -> Self {
        Self::with_roots([RootSpec { label: None, folder: folder.to_owned() }])
    }

    /// Tools over several roots.
    pub(crate) fn with_roots(roots: impl IntoIterator<Item = RootSpec>) -> Self {
        let clock = Arc::new(ManualClock::default());
        let limits = Limits {
            references: 1000,
            total_bytes: 4 << 30,
            time_to_live: Some(TIME_TO_LIVE),
            mappings: None,
            descriptors: None,
        };
        let folder = ArenaFolder::from_environment().unwrap();
        let store = SpectrumStore::new(StoreConfig { folder, limits, clock: clock.clone() });
        let roots = Roots::new(roots).unwrap();
        Self { context: Context::new(ContextOptions { store, roots }), clock }
    }

    /// Calls a tool and gives its envelope, and whether it is an error; both are checked.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> (Value, bool) {
        let Value::Object(map) = arguments.clone() else { panic!("arguments are an object") };
        let outcome = tools::call(&self.context, tool, map, &Unobserved).expect(tool);
        check_envelope(&outcome.envelope.to_string(), outcome.is_error, mode(&arguments));
        (outcome.envelope, outcome.is_error)
    }

    /// The envelope of a call that must succeed.
    #[track_caller]
    pub(crate) fn answer(&self, tool: &str, arguments: Value) -> Value {
        let (envelope, is_error) = self.call(tool, arguments.clone());
        assert!(!is_error, "{tool} {arguments}: {envelope}");
        envelope
    }

    /// The data of a call that must succeed.
    #[track_caller]
    pub(crate) fn data(&self, tool: &str, arguments: Value) -> Value {
        self.answer(tool, arguments)["data"].take()
    }

    /// The error of a call that must fail.
    #[track_caller]
    pub(crate) fn error(&self, tool: &str, arguments: Value) -> Value {
        let (mut envelope, is_error) = self.call(tool, arguments.clone());
        assert!(is_error, "{tool} {arguments}: {envelope}");
        envelope["error"].take()
    }

    /// The reference of a run that must load.
    #[track_caller]
    pub(crate) fn load(&self, source: &str) -> String {
        text(&self.data("load_run", json!({"source": source}))["reference"])
    }

    /// References that are live.
    pub(crate) fn live_count(&self) -> u64 {
        self.answer("list_references", json!({}))["page"]["total"].as_u64().unwrap()
    }
}

/// The mode that a call asks for.
pub(crate) fn mode(arguments: &Value) -> &str {
    arguments["response_mode"].as_str().filter(|mode| *mode == "full").unwrap_or("compact")
}

/// A text as a value of its own.
#[track_caller]
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap_or_else(|| panic!("{value}")).keys().map(String::as_str).collect()
}

/// Checks what every envelope promises: its parts, its labels, its size and what it says of its size.
#[track_caller]
pub(crate) fn check_envelope(text: &str, is_error: bool, mode: &str) {
    let envelope: &Value = &serde_json::from_str(text).unwrap();
    assert_eq!(envelope["schema_version"], SCHEMA_VERSION, "{text}");
    let mut versions = 0;
    each(envelope, &mut |name, _| versions += usize::from(name == "schema_version"));
    assert_eq!(versions, 1, "on the outer envelope only: {text}");
    if is_error {
        check_error(envelope, text);
        return;
    }
    let paged = ["schema_version", "data_class", "data", "page", "budget"];
    let plain = ["schema_version", "data_class", "data", "budget"];
    assert!(keys(envelope) == plain || keys(envelope) == paged, "{text}");
    each(envelope, &mut |name, value| {
        if name == "data_class" {
            let class = value.as_str().unwrap();
            assert!(DataClass::ALL.iter().any(|known| known.as_str() == class), "{class} in {text}");
        }
    });
    let (_, largest, largest_spectrum) = *LIMITS.iter().find(|(name, ..)| *name == mode).unwrap();
    let is_spectrum = envelope["data"]["kind"] == "spectrum";
    let limit = if is_spectrum { largest_spectrum } else { largest };
    assert!(text.len() <= limit, "{} bytes of {limit}: {text}", text.len());
    let budget = &envelope["budget"];
    assert_eq!(keys(budget), ["limit_chars", "returned_chars", "omitted"], "{text}");
    assert_eq!(budget["limit_chars"], limit, "{text}");
    assert_eq!(budget["returned_chars"], text.chars().count(), "{text}");
    assert!(budget["omitted"].as_array().unwrap().iter().all(Value::is_string), "{text}");
    if let Some(page) = envelope.get("page") {
        assert_eq!(keys(page), ["total", "returned", "next_cursor"], "{text}");
        let rows = envelope["data"]["rows"].as_array().unwrap();
        assert!(rows.len() <= 20 && page["returned"] == rows.len(), "{text}");
        let columns = envelope["data"]["columns"].as_array().unwrap().len();
        assert!(rows.iter().all(|row| row.as_array().unwrap().len() == columns), "{text}");
    }
    check_non_finite(envelope);
}

fn check_error(envelope: &Value, text: &str) {
    assert_eq!(keys(envelope), ["schema_version", "error"], "{text}");
    assert!(text.len() <= LARGEST_ERROR, "{} bytes: {text}", text.len());
    let error = &envelope["error"];
    let known = ["code", "message", "argument", "hint", "retry_with", "candidates"];
    assert!(keys(error).iter().all(|key| known.contains(key)), "{text}");
    let code = error["code"].as_str().unwrap();
    assert!(ErrorCode::ALL.iter().any(|known| known.as_str() == code), "{text}");
    for part in ["message", "hint"] {
        assert!(error[part].as_str().is_some_and(|words| !words.trim().is_empty()), "{text}");
    }
    assert!(error.get("argument").is_none_or(Value::is_string), "{text}");
    assert!(error["candidates"].as_array().is_none_or(|all| (1..=10).contains(&all.len())), "{text}");
    if let Some(retry) = error.get("retry_with") {
        assert_eq!(keys(retry), ["tool", "arguments"], "{text}");
        let tool = tools::descriptions().into_iter().find(|tool| retry["tool"] == tool.name).expect("a tool");
        let takes = tool.input_schema["properties"].as_object().unwrap();
        assert!(keys(&retry["arguments"]).iter().all(|name| takes.contains_key(*name)), "{text}");
    }
}

/// A number that JSON cannot hold is null, and named beside it.
fn check_non_finite(value: &Value) {
    if let Some(object) = value.as_object() {
        for (name, word) in object.get("non_finite").and_then(Value::as_object).into_iter().flatten() {
            assert!(object[name].is_null(), "{name} in {value}");
            assert!(["NaN", "Infinity", "-Infinity"].contains(&word.as_str().unwrap()), "{value}");
        }
    }
    children(value).for_each(check_non_finite);
}

fn children(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Object(map) => Box::new(map.values()),
        Value::Array(items) => Box::new(items.iter()),
        _ => Box::new(std::iter::empty()),
    }
}

/// Visits every named value, at any depth.
pub(crate) fn each<'v>(value: &'v Value, visit: &mut impl FnMut(&'v str, &'v Value)) {
    match value {
        Value::Object(map) => map.iter().for_each(|(name, inner)| {
            visit(name, inner);
            each(inner, visit);
        }),
        Value::Array(items) => items.iter().for_each(|inner| each(inner, visit)),
        _ => {}
    }
}

/// Visits every value that is neither an object nor a list, with the path to it; places in lists are `[]`.
pub(crate) fn leaves(value: &Value, path: &str, visit: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(name, inner)| leaves(inner, &format!("{path}.{name}"), visit));
        }
        Value::Array(items) => items.iter().for_each(|inner| leaves(inner, &format!("{path}[]"), visit)),
        leaf => visit(path, leaf),
    }
}

/// `arguments` and one more.
pub(crate) fn with(arguments: &Value, name: &str, value: impl Into<Value>) -> Value {
    let mut more: Map<String, Value> = arguments.as_object().unwrap().clone();
    more.insert(name.to_owned(), value.into());
    Value::Object(more)
}

/// The project's own small runs.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}
