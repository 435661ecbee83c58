//! What a client may ask. No protocol here: a tool does not know who calls it.

use crate::observe::Observer;
use serde_json::{Map, Value};

/// State that every call shares: the store, the roots, the loads under way.
#[derive(Debug, Default)]
pub struct Context {}

/// A tool as clients see it in a list.
#[derive(Debug, Clone)]
pub struct ToolDescription {
    /// Name to call it by.
    pub name: &'static str,
    /// Title for people.
    pub title: &'static str,
    /// What it does, for models.
    pub description: &'static str,
    /// JSON schema of the arguments; `type: object`.
    pub input_schema: Map<String, Value>,
    /// JSON schema of the envelope; the same for every tool.
    pub output_schema: Map<String, Value>,
    /// It changes nothing but private scratch.
    pub read_only: bool,
    /// It gives data up.
    pub destructive: bool,
    /// Calling it twice is as good as once.
    pub idempotent: bool,
}

/// The answer to a call: the envelope, success and error alike.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// JSON object as `surface.md` draws it.
    pub envelope: Value,
    /// Whether it is an error envelope.
    pub is_error: bool,
}

/// Every tool, in the order of the list.
pub fn descriptions() -> Vec<ToolDescription> {
    Vec::new()
}

/// Calls the tool `name`; `None` where there is no such tool. Blocks until the answer is there; never panics.
pub fn call(
    _context: &Context,
    _name: &str,
    _arguments: Map<String, Value>,
    _observer: &dyn Observer,
) -> Option<Outcome> {
    None
}
