//! Why a command did not do what it was asked for, and how it says so.

use std::io;

use serde_json::{Value, json};

use super::console::{Console, harmless};
use super::{EXIT_DONE, EXIT_FAILED, EXIT_NOT_READ};

/// Why a command ended early.
#[derive(Debug)]
pub(super) enum Failure {
    /// A source could not be read.
    Source {
        /// The error object: code, message, hint, file.
        error: Value,
        /// Whether a program reads the errors, whatever they are written to.
        for_programs: bool,
    },
    /// A server did not do what it should, or could not be started; in words.
    Failed(String),
    /// The answer could not be written.
    Output(io::Error),
}

impl Failure {
    /// A source could not be read.
    pub(super) fn source(code: &str, message: &str, hint: &str, file: &str, for_programs: bool) -> Self {
        let error = json!({ "code": code, "message": message, "hint": hint, "file": file });
        Self::Source { error, for_programs }
    }

    /// Something else than a source is at fault.
    pub(super) fn failed(what: impl Into<String>) -> Self {
        Self::Failed(what.into())
    }

    /// Says what went wrong; the exit code.
    pub(super) fn report(self, console: &mut Console<'_>) -> u8 {
        match self {
            Self::Source { error, for_programs } => {
                if for_programs || !console.err_is_terminal() {
                    console.complain(&json!({ "error": error }).to_string());
                } else {
                    let word = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
                    let text = format!("error: {}\n{}", harmless(word("message")), harmless(word("hint")));
                    console.complain(&text);
                }
                EXIT_NOT_READ
            }
            Self::Failed(what) => {
                let lines: Vec<_> = what.lines().map(harmless).collect();
                console.complain(&format!("error: {}", lines.join("\n")));
                EXIT_FAILED
            }
            // whoever reads has seen enough, as in `mzarena inspect run.mzML | head`
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => EXIT_DONE,
            Self::Output(error) => {
                console.complain(&format!("error: the answer cannot be written: {error}"));
                EXIT_FAILED
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes nothing, for a reason.
    struct Refusing(io::ErrorKind);

    impl io::Write for Refusing {
        fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    #[test]
    fn a_closed_pipe_is_the_end_and_a_full_disk_an_error() {
        for (kind, expected) in
            [(io::ErrorKind::BrokenPipe, EXIT_DONE), (io::ErrorKind::StorageFull, EXIT_FAILED)]
        {
            let (mut out, mut err) = (Refusing(kind), Vec::new());
            let arguments = ["mzarena", "--version"].map(Into::into);
            let next = crate::cli::run(arguments, &mut Console::plain(&mut out, &mut err));
            assert!(matches!(next, crate::cli::Next::Exit(code) if code == expected), "{next:?}");
            assert_eq!(err.is_empty(), expected == EXIT_DONE);
        }
    }

    #[test]
    fn a_source_that_is_not_read_is_one_line_of_json_whatever_the_message_holds() {
        let mut err = Vec::new();
        let failure = Failure::source("damaged_source", "a\nb\u{1b}", "Mend it.", "x.mzML", false);
        assert_eq!(failure.report(&mut Console::plain(&mut Vec::new(), &mut err)), EXIT_NOT_READ);
        let text = String::from_utf8(err).unwrap();
        assert_eq!(
            text,
            "{\"error\":{\"code\":\"damaged_source\",\"message\":\"a\\nb\\u001b\",\"hint\":\"Mend it.\",\
             \"file\":\"x.mzML\"}}\n"
        );
    }
}
