//! The command line: what a person types, and what a script reads.
//!
//! Everything is written to the [`Console`] that is handed in, so a test or another program can run a command and
//! look at its answer. `serve` alone is not run here, because the server owns standard output: [`run`] gives back
//! what is to be served.
//!
//! ```
//! use mzarena::cli::{Console, Next, run};
//!
//! let (mut out, mut err) = (Vec::new(), Vec::new());
//! let next = run(["mzarena", "--version"].map(Into::into), &mut Console::plain(&mut out, &mut err));
//! assert!(matches!(next, Next::Exit(0)));
//! assert!(out.starts_with(b"mzarena "));
//! ```

mod arguments;
mod console;
mod demo;
mod failure;
mod healthcheck;
mod inspect;
mod pretty;
mod process_memory;
mod progress;
mod session;

use std::ffi::OsString;
use std::io;

use clap::Parser;
use clap::error::ErrorKind;

use crate::access::{AccessLimits, Roots};
use crate::code::ErrorCode;
use crate::store::SpectrumStore;
use arguments::{Arguments, Command, ServeArguments};
pub use console::Console;
use failure::Failure;

/// Exit code: done.
pub const EXIT_DONE: u8 = 0;
/// Exit code: the server, the demonstration or the health check failed, or the output could not be written.
pub const EXIT_FAILED: u8 = 1;
/// Exit code: the source could not be read.
pub const EXIT_NOT_READ: u8 = 2;
/// Exit code: the arguments make no sense (`EX_USAGE` of BSD's `sysexits.h`).
pub const EXIT_USAGE: u8 = 64;

/// What is left to do when the command line has been read, and whatever it asks for has been done.
#[derive(Debug)]
pub enum Next {
    /// Nothing: end with this code, one of the `EXIT_…` constants.
    Exit(u8),
    /// Serve on standard input and output.
    Serve(ServeOptions),
}

/// What is to be served.
#[derive(Debug)]
pub struct ServeOptions {
    /// Where loads are registered, with the limits that the environment sets.
    pub store: SpectrumStore,
    /// The folders below which sources lie.
    pub roots: Roots,
}

/// Runs a command; `arguments` start with the program's name, as [`std::env::args_os`] gives them.
pub fn run(arguments: impl IntoIterator<Item = OsString>, console: &mut Console<'_>) -> Next {
    let result = match Arguments::try_parse_from(arguments) {
        Err(refused) => return Next::Exit(explain(&refused, console)),
        Ok(Arguments { command: Command::Serve(serve) }) => match serve_options(serve) {
            Ok(options) => return Next::Serve(options),
            Err(failure) => Err(failure),
        },
        Ok(Arguments { command: Command::Inspect(inspect) }) => inspect::run(&inspect, console),
        Ok(Arguments { command: Command::Demo(demo) }) => demo::run(&demo, console),
        Ok(Arguments { command: Command::Healthcheck(check) }) => healthcheck::run(&check, console),
    };
    let result = result.and_then(|()| Ok(console.flush()?));
    match result {
        Ok(()) => Next::Exit(EXIT_DONE),
        Err(failure) => Next::Exit(failure.report(console)),
    }
}

fn serve_options(arguments: ServeArguments) -> Result<ServeOptions, Failure> {
    let failed = |message: String, code: ErrorCode| Failure::failed(format!("{message}\n{}", code.hint()));
    let roots = AccessLimits::read(|name| std::env::var_os(name))
        .and_then(|limits| Ok(Roots::new(arguments.root)?.with_limits(limits)))
        .map_err(|error| failed(error.to_string(), error.code()))?;
    let store = SpectrumStore::from_environment().map_err(|error| failed(error.to_string(), error.code()))?;
    Ok(ServeOptions { store, roots })
}

/// Help and version go to the output; what is wrong with the arguments goes to the errors.
fn explain(refused: &clap::Error, console: &mut Console<'_>) -> u8 {
    let text = refused.render();
    if !matches!(refused.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        console.complain(&text.to_string());
        return EXIT_USAGE;
    }
    let text = if console.has_colour() { text.ansi().to_string() } else { text.to_string() };
    match console.write(&text).and_then(|()| console.flush()) {
        Ok(()) => EXIT_DONE,
        Err(error) => Failure::from(error).report(console),
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn run_plain(arguments: &[&str]) -> (u8, String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let arguments = ["mzarena"].iter().chain(arguments).map(OsString::from);
        match run(arguments, &mut Console::plain(&mut out, &mut err)) {
            Next::Exit(code) => (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap()),
            Next::Serve(options) => panic!("{options:?}"),
        }
    }

    #[test]
    fn the_arguments_are_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn help_of_every_command_has_examples_and_exit_codes() {
        for command in [&[][..], &["serve"], &["inspect"], &["demo"], &["healthcheck"]] {
            let (code, out, err) = run_plain(&[command, &["--help"]].concat());
            assert_eq!((code, err.as_str()), (EXIT_DONE, ""));
            for words in ["Examples:", "Exit codes:", "  0  "] {
                assert!(out.contains(words), "{command:?} lacks {words}:\n{out}");
            }
            assert!(!out.contains('\u{1b}'), "{out}");
        }
    }

    #[test]
    fn bad_usage_ends_with_64_and_says_so_on_standard_error_alone() {
        for arguments in [
            &[][..],
            &["inspekt"],
            &["inspect"],
            &["inspect", "a", "b"],
            &["inspect", "--digest", "md5", "a"],
            &["serve", "--root"],
            &["serve", "--root", "label="],
            &["--no-such-option"],
        ] {
            let (code, out, err) = run_plain(arguments);
            assert_eq!((code, out.as_str()), (EXIT_USAGE, ""), "{arguments:?}");
            assert!(err.contains("Usage:") || err.contains("--help"), "{arguments:?}: {err}");
        }
    }

    #[test]
    fn a_root_that_cannot_be_opened_is_a_failure_that_names_it() {
        let (code, out, err) = run_plain(&["serve", "--root", "no/such/folder"]);
        assert_eq!((code, out.as_str()), (EXIT_FAILED, ""));
        assert!(err.contains("no/such/folder"), "{err}");
    }

    #[test]
    fn serve_hands_the_roots_on() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let arguments = ["mzarena", "serve", "--root", "here=src", "--root", "tests"].map(OsString::from);
        let next = run(arguments, &mut Console::plain(&mut out, &mut err));
        let Next::Serve(ServeOptions { roots, .. }) = next else { panic!("{next:?}") };
        assert_eq!(roots.open("here:cli/mod.rs").unwrap().name, "here:cli/mod.rs");
        assert_eq!(roots.open("tests:layers.rs").unwrap().name, "tests:layers.rs");
    }
}
