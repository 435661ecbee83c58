//! Tools that misbehave on request.

use std::thread;
use std::time::{Duration, Instant};

use mzarena::mcp::ToolHost;
use mzarena::observe::Observer;
use mzarena::tools::{Outcome, ToolDescription};
use serde_json::{Map, Value, json};

/// Text of the panic, which no client may see.
pub(crate) const PANIC_TEXT: &str = "secret panic text";

/// The tools, by name.
pub(crate) const TOOLS: &[&str] = &["echo", "sleep", "stubborn", "panic", "large", "refuse"];

/// The host of the scripted tools.
pub(crate) struct Scripted;

impl ToolHost for Scripted {
    fn descriptions(&self) -> Vec<ToolDescription> {
        TOOLS.iter().map(|name| description(name)).collect()
    }

    fn call(&self, name: &str, arguments: Map<String, Value>, observer: &dyn Observer) -> Option<Outcome> {
        let number = |name: &str| arguments.get(name).and_then(Value::as_u64).unwrap_or_default();
        let milliseconds = Duration::from_millis(number("milliseconds"));
        Some(match name {
            "echo" => success(json!({"arguments": arguments})),
            "sleep" => sleep(milliseconds, observer),
            "stubborn" => {
                thread::sleep(milliseconds);
                success(json!({"slept": true}))
            }
            "panic" => panic!("{PANIC_TEXT}"),
            "large" => success(json!({"text": "x".repeat(number("bytes") as usize)})),
            "refuse" => failure("store_limit"),
            _ => return None,
        })
    }

    fn arena_bytes(&self) -> u64 {
        0
    }

    fn release_all(&self) {
        tracing::error!("released all");
    }
}

/// Sleeps in small steps, reports them and heeds cancellation.
fn sleep(duration: Duration, observer: &dyn Observer) -> Outcome {
    let began = Instant::now();
    while began.elapsed() < duration {
        if observer.is_cancelled() {
            tracing::error!("sleep was cancelled");
            return failure("cancelled");
        }
        observer.progress(began.elapsed().as_millis() as u64, Some(duration.as_millis() as u64));
        thread::sleep(Duration::from_millis(5));
    }
    observer.progress(duration.as_millis() as u64, Some(duration.as_millis() as u64));
    success(json!({"slept": true}))
}

fn success(data: Value) -> Outcome {
    let envelope = json!({"schema_version": "1.0", "data_class": "operational_metadata", "data": data});
    Outcome { envelope, is_error: false }
}

fn failure(code: &str) -> Outcome {
    let envelope = json!({"schema_version": "1.0", "error": {"code": code, "message": "as asked"}});
    Outcome { envelope, is_error: true }
}

fn description(name: &'static str) -> ToolDescription {
    let input = json!({"type": "object", "properties": {"milliseconds": {"type": "integer"}}});
    let output = json!({"type": "object", "required": ["schema_version"]});
    ToolDescription {
        name,
        title: "Scripted",
        description: "Does what a test asks",
        input_schema: input.as_object().unwrap().clone(),
        output_schema: output.as_object().unwrap().clone(),
        read_only: name != "refuse",
        destructive: name == "refuse",
        idempotent: true,
    }
}
