//! What a client may ask. No protocol here: a tool does not know who calls it, MCP, the command line or a test.
//!
//! Each tool is one file: its parameters, what it does, and nothing else. `TOOLS` is the one list; schemas,
//! capabilities and the contract's tests follow from it. Answers are made of references, bounded summaries and
//! operational facts; nothing here can serialise a payload.

mod context;
mod envelope;
mod error;
mod get_capabilities;
mod list_references;
mod list_sources;
mod load_run;
mod load_spectrum;
mod loads;
mod parameters;
mod present;
mod release_reference;
mod schema;
mod summarise_reference;

pub use context::{Context, ContextOptions};
pub use envelope::{Outcome, ResponseMode, SCHEMA_VERSION};
pub use error::{Help, ToolError};

use crate::observe::Observer;
use crate::reference::DataClass;
use envelope::Answer;
use parameters::{Arguments, Parameter};
use serde_json::{Map, Value};
use std::panic::{AssertUnwindSafe, catch_unwind};

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

/// What a call brings beside its arguments.
struct Call<'c> {
    context: &'c Context,
    arguments: Arguments,
    observer: &'c dyn Observer,
    mode: ResponseMode,
}

/// One request that a client may make.
trait Tool: Sync {
    fn name(&self) -> &'static str;
    fn title(&self) -> &'static str;
    fn description(&self) -> &'static str;
    fn parameters(&self) -> &'static [Parameter];

    /// Class of the data that it answers; an answer may narrow it.
    fn data_class(&self) -> DataClass;

    /// It gives data up, instead of only reading.
    fn gives_up(&self) -> bool {
        false
    }

    fn run(&self, call: &Call<'_>) -> Result<Answer, ToolError>;
}

/// Every tool, in the order of the list.
static TOOLS: &[&dyn Tool] = &[
    &list_sources::ListSources,
    &load_run::LoadRun,
    &load_spectrum::LoadSpectrum,
    &summarise_reference::SummariseReference,
    &list_references::ListReferences,
    &release_reference::ReleaseReference,
    &get_capabilities::GetCapabilities,
];

/// Every tool, in the order of the list.
pub fn descriptions() -> Vec<ToolDescription> {
    let describe = |tool: &&dyn Tool| ToolDescription {
        name: tool.name(),
        title: tool.title(),
        description: tool.description(),
        input_schema: schema::input(tool.parameters()),
        output_schema: schema::output(),
        read_only: !tool.gives_up(),
        destructive: tool.gives_up(),
        idempotent: true,
    };
    TOOLS.iter().map(describe).collect()
}

/// Calls the tool `name`; `None` where there is no such tool. Blocks until the answer is there. A panic inside a tool
/// is answered as `internal`.
pub fn call(
    context: &Context,
    name: &str,
    arguments: Map<String, Value>,
    observer: &dyn Observer,
) -> Option<Outcome> {
    let tool = *TOOLS.iter().find(|tool| tool.name() == name)?;
    let answer = catch_unwind(AssertUnwindSafe(|| run(tool, context, arguments, observer)));
    Some(answer.unwrap_or_else(|_| envelope::failure(&ToolError::internal(name))))
}

fn run(
    tool: &dyn Tool,
    context: &Context,
    arguments: Map<String, Value>,
    observer: &dyn Observer,
) -> Outcome {
    let arguments = match Arguments::check(arguments, tool.parameters()) {
        Ok(arguments) => arguments,
        Err(error) => return envelope::failure(&error),
    };
    let mode = ResponseMode::of(&arguments);
    let call = Call { context, arguments, observer, mode };
    match tool.run(&call) {
        Ok(answer) => envelope::success(tool.data_class(), answer, mode),
        Err(error) => envelope::failure(&error),
    }
}
