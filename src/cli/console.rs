//! Where a command writes, and what may be written there.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, IsTerminal, Write};

/// The output for answers, the output for errors, and what is known of them.
pub struct Console<'a> {
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
    has_colour: bool,
    err_is_terminal: bool,
}

impl fmt::Debug for Console<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Console")
            .field("has_colour", &self.has_colour)
            .field("err_is_terminal", &self.err_is_terminal)
            .finish_non_exhaustive()
    }
}

impl<'a> Console<'a> {
    /// Outputs that are no terminals: no colour, no progress bar.
    pub fn plain(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Self {
        Self { out, err, has_colour: false, err_is_terminal: false }
    }

    /// `out` and `err` stand for the process's standard output and standard error: there is colour where the first is
    /// a terminal and `NO_COLOR` is not set, and a progress bar where the second is one.
    pub fn standard(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Self {
        let is_colour_unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            out,
            err,
            has_colour: !is_colour_unwanted && io::stdout().is_terminal(),
            err_is_terminal: io::stderr().is_terminal(),
        }
    }

    pub(super) fn has_colour(&self) -> bool {
        self.has_colour
    }

    pub(super) fn err_is_terminal(&self) -> bool {
        self.err_is_terminal
    }

    /// Writes an answer as it is.
    pub(super) fn write(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())
    }

    /// Writes a line of an answer, without what could steer a terminal.
    pub(super) fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", harmless(text))
    }

    /// Writes a line that stands out where there is colour.
    pub(super) fn heading(&mut self, text: &str) -> io::Result<()> {
        match self.has_colour {
            true => writeln!(self.out, "\u{1b}[1m{}\u{1b}[0m", harmless(text)),
            false => self.line(text),
        }
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Writes to the errors. Nobody is left to be told where that fails.
    pub(super) fn complain(&mut self, text: &str) {
        let _ = writeln!(self.err, "{}", text.trim_end()).and_then(|()| self.err.flush());
    }
}

/// `text` with control characters escaped: identifiers and file names are a stranger's words, and a terminal obeys.
pub(super) fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character.is_control() {
            true => escaped.extend(character.escape_default()),
            false => escaped.push(character),
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_not_steered_by_what_a_file_says() {
        for (text, expected) in [
            ("scan=1", "scan=1"),
            ("Lösung 7 µL", "Lösung 7 µL"),
            ("a\u{1b}[2Jb", "a\\u{1b}[2Jb"),
            ("a\nb\u{9b}c", "a\\nb\\u{9b}c"),
        ] {
            assert_eq!(harmless(text), expected);
            let mut out = Vec::new();
            Console::plain(&mut out, &mut Vec::new()).line(text).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), format!("{expected}\n"));
        }
    }
}
