//! `mzarena inspect`: what is in a file.

mod json;
mod sparkline;
mod text;

use std::path::Path;

use super::arguments::InspectArguments;
use super::console::Console;
use super::failure::Failure;
use super::progress::Progress;
use crate::access::open_path;
use crate::arena::{ArenaFolder, Unlimited};
use crate::code::ErrorCode;
use crate::ingest::{IngestOptions, Ingested, Source, ingest};

/// Reads the file and says what is in it.
pub(super) fn run(arguments: &InspectArguments, console: &mut Console<'_>) -> Result<(), Failure> {
    let ingested = read(arguments, console)?;
    let file = shown(&arguments.file);
    let written = if arguments.json {
        console.write(&format!("{}\n", json::report(&file, &ingested)))
    } else {
        text::write(&file, &ingested, console)
    };
    Ok(written?)
}

/// A path as text, whatever its bytes are.
pub(super) fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn read(arguments: &InspectArguments, console: &Console<'_>) -> Result<Ingested, Failure> {
    let file = shown(&arguments.file);
    let failure = |code: ErrorCode, message: String| {
        Failure::source(code.as_str(), &message, hint(code, arguments.tolerant), &file, arguments.json)
    };
    let opened = open_path(&arguments.file).map_err(|error| failure(error.code(), error.to_string()))?;
    let source = Source::from_opened(opened).map_err(|error| failure(error.code(), error.to_string()))?;
    let folder = ArenaFolder::from_environment().map_err(|error| failure(error.code(), error.to_string()))?;
    let options = IngestOptions { tolerant: arguments.tolerant, digest: arguments.digest.into() };
    let progress = Progress::new(console.err_is_terminal());
    let ingested = ingest(source, &folder, Unlimited, &options, &progress);
    drop(progress);
    ingested.map_err(|error| failure(error.code(), error.to_string()))
}

/// What to do next: where the table speaks to an agent, the same in the words of the command line.
pub(super) fn hint(code: ErrorCode, is_tolerant: bool) -> &'static str {
    match code {
        ErrorCode::NotFound => "Check the path.",
        ErrorCode::DamagedSource | ErrorCode::TruncatedSource if is_tolerant => {
            "Get a sound copy of the file; nothing of this one can be kept."
        }
        ErrorCode::DamagedSource | ErrorCode::TruncatedSource => {
            "Get a sound copy of the file, or pass --tolerant to keep what is sound."
        }
        ErrorCode::SourceChanged => "Wait until the file is no longer written to, then try again.",
        other => other.hint(),
    }
}
