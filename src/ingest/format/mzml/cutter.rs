//! A small byte lexer that finds where markup ends: enough to cut whole elements, and no more.
//!
//! It knows quotes, comments, CDATA and processing instructions, so that no `>` or `</spectrum>` inside of them
//! misleads it. Whether an element is well-formed is decided later, on its slice.

use crate::ingest::error::Place;
use crate::ingest::{IngestError, Window};
use memchr::{memchr, memchr3, memmem};
use std::hash::{DefaultHasher, Hasher};

/// Longest tag: 16 MiB.
const TAG_LIMIT: usize = 16 << 20;

/// Deepest nesting inside an element.
const DEPTH_LIMIT: usize = 64;

/// Elements around the ones that are cut.
const AROUND: [&[u8]; 5] = [b"spectrumList", b"chromatogramList", b"run", b"mzML", b"indexedmzML"];

/// A piece of markup at the start of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Markup {
    /// `<name …>`
    Start,
    /// `<name …/>`
    Empty,
    /// `</name>`
    End,
    /// Comment, processing instruction, declaration or CDATA.
    Other,
}

/// What became of an attempt to cut an element.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// The element takes this many bytes.
    Whole(usize),
    /// Another element of the same name starts, or one around it ends, after this many bytes: an end tag is missing.
    Unclosed(usize),
}

/// Finds markup in a window.
pub(super) struct Cutter<'w, 'o> {
    pub(super) window: &'w mut Window<'o>,
}

/// Kind and length of the markup that starts `bytes` with `<`; `None` where more bytes are needed.
fn scan(bytes: &[u8]) -> Option<Result<(Markup, usize), &'static str>> {
    let ended = |close: &[u8], from: usize| {
        let rest = bytes.get(from..)?;
        memmem::find(rest, close).map(|at| Ok((Markup::Other, from + at + close.len())))
    };
    match bytes.get(1)? {
        b'!' => {
            let rest = bytes.get(2..)?;
            if rest.starts_with(b"--") {
                ended(b"-->", 4)
            } else if rest.starts_with(b"[CDATA[") {
                ended(b"]]>", 9)
            } else if rest.len() < 7 && (b"--".starts_with(rest) || b"[CDATA[".starts_with(rest)) {
                None
            } else {
                Some(Err("a document type declaration, which is not read"))
            }
        }
        b'?' => ended(b"?>", 2),
        b'/' => memchr(b'>', bytes).map(|at| Ok((Markup::End, at + 1))),
        b'>' | b' ' | b'\t' | b'\r' | b'\n' | b'<' => Some(Err("a < that starts no tag")),
        _ => scan_start(bytes),
    }
}

fn scan_start(bytes: &[u8]) -> Option<Result<(Markup, usize), &'static str>> {
    let mut at = 1;
    loop {
        let rest = bytes.get(at..)?;
        let found = at + memchr3(b'>', b'"', b'\'', rest)?;
        match bytes.get(found) {
            Some(b'>') => {
                let is_empty = bytes.get(found - 1) == Some(&b'/');
                return Some(Ok((if is_empty { Markup::Empty } else { Markup::Start }, found + 1)));
            }
            Some(quote) => at = found + 1 + memchr(*quote, bytes.get(found + 1..)?)? + 1,
            None => return None,
        }
    }
}

/// Name of the tag in `markup`, without a namespace prefix.
pub(super) fn name_of(markup: &[u8]) -> &[u8] {
    let from = if markup.get(1) == Some(&b'/') { 2 } else { 1 };
    let rest = markup.get(from..).unwrap_or_default();
    let end = rest.iter().position(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'/' | b'>'));
    let name = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
    match memchr(b':', name) {
        Some(colon) => name.get(colon + 1..).unwrap_or_default(),
        None => name,
    }
}

impl Cutter<'_, '_> {
    fn damaged(&self, at: usize, what: impl Into<String>) -> IngestError {
        IngestError::damaged(self.window.offset() + at as u64, what)
    }

    /// The text ends where an element is open.
    pub(super) fn truncated(&self, what: impl Into<String>) -> IngestError {
        let byte_offset = self.window.offset() + self.window.available().len() as u64;
        IngestError::Truncated {
            place: Place { byte_offset, ..Place::default() },
            what: what.into(),
            complete_spectrum_count: 0,
        }
    }

    /// Consumes text up to the next markup, whose kind and length are given; `None` at the end of the text.
    /// Text between elements must be white space.
    pub(super) fn next_markup(&mut self) -> Result<Option<(Markup, usize)>, IngestError> {
        loop {
            let available = self.window.available();
            let text = memchr(b'<', available).unwrap_or(available.len());
            let is_white = |byte: &u8| byte.is_ascii_whitespace();
            if let Some(stray) =
                available.get(..text).unwrap_or_default().iter().position(|byte| !is_white(byte))
            {
                return Err(self.damaged(stray, "text where only elements belong"));
            }
            self.window.consume(text);
            if let Some(found) = self.markup_at(0)? {
                return Ok(Some(found));
            }
            let was_empty = self.window.available().is_empty();
            if !self.window.fill()? {
                return if was_empty { Ok(None) } else { Err(self.truncated("a tag is open")) };
            }
        }
    }

    /// Kind and length of the markup at `at`; `None` where more bytes are needed.
    fn markup_at(&self, at: usize) -> Result<Option<(Markup, usize)>, IngestError> {
        let rest = self.window.available().get(at..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(None);
        }
        match scan(rest) {
            Some(Ok((markup, length))) if markup == Markup::Other || length <= TAG_LIMIT => {
                Ok(Some((markup, length)))
            }
            None if rest.len() <= TAG_LIMIT || rest.starts_with(b"<!") || rest.starts_with(b"<?") => Ok(None),
            Some(Ok(_)) | None => Err(self.damaged(at, "a tag of more than 16 MiB")),
            Some(Err(what)) => Err(self.damaged(at, what)),
        }
    }

    /// Cuts the element whose start tag, of `start_length` bytes, is at the start of the window; it stays there.
    ///
    /// It ends at the first end tag of its name: none of these elements may hold another of its kind.
    pub(super) fn cut(&mut self, start_length: usize) -> Result<Cut, IngestError> {
        let name = name_of(self.window.available().get(..start_length).unwrap_or_default()).to_vec();
        let mut depth = 1;
        let mut at = start_length;
        loop {
            let rest = self.window.available().get(at..).unwrap_or_default();
            let step = memchr(b'<', rest);
            at += step.unwrap_or(rest.len());
            let found = match step {
                Some(_) => self.markup_at(at)?,
                None => None,
            };
            let Some((markup, length)) = found else {
                if self.window.fill()? {
                    continue;
                }
                let name = String::from_utf8_lossy(&name).into_owned();
                return Err(self.truncated(format!("<{name}> is open")));
            };
            match markup {
                Markup::Start | Markup::Empty => {
                    let tag = self.window.available().get(at..at + length).unwrap_or_default();
                    if name_of(tag) == name {
                        return Ok(Cut::Unclosed(at));
                    }
                    depth += usize::from(markup == Markup::Start);
                }
                Markup::End => {
                    let ended = name_of(self.window.available().get(at..at + length).unwrap_or_default());
                    if ended == name {
                        return Ok(Cut::Whole(at + length));
                    }
                    if AROUND.contains(&ended) {
                        return Ok(Cut::Unclosed(at));
                    }
                    // Whether it closes what is open is decided on the slice; damage inside costs one element only.
                    depth -= usize::from(depth > 1);
                }
                Markup::Other => {}
            }
            at += length;
            if depth > DEPTH_LIMIT {
                return Err(self.damaged(at, format!("elements nested deeper than {DEPTH_LIMIT}")));
            }
        }
    }

    /// Consumes the element whose start tag, of `start_length` bytes, is at the start of the window, holding none of it.
    ///
    /// Each end tag must be that of the element that is open: a start tag with a flipped bit would otherwise hide a
    /// whole list of spectra.
    pub(super) fn skip(&mut self, start_length: usize) -> Result<(), IngestError> {
        let start = self.window.available().get(..start_length).unwrap_or_default();
        let mut open = vec![fingerprint(name_of(start))];
        self.window.consume(start_length);
        while let Some(innermost) = open.last() {
            let available = self.window.available();
            let text = memchr(b'<', available).unwrap_or(available.len());
            self.window.consume(text);
            let Some((markup, length)) = self.markup_at(0)? else {
                if self.window.fill()? {
                    continue;
                }
                return Err(self.truncated("an element is open"));
            };
            let name = fingerprint(name_of(self.window.available().get(..length).unwrap_or_default()));
            match markup {
                Markup::Start => open.push(name),
                Markup::End if name == *innermost => {
                    open.pop();
                }
                Markup::End => return Err(self.damaged(0, "an end tag of another element than the open one")),
                Markup::Empty | Markup::Other => {}
            }
            if open.len() > DEPTH_LIMIT {
                return Err(self.damaged(0, format!("elements nested deeper than {DEPTH_LIMIT}")));
            }
            self.window.consume(length);
        }
        Ok(())
    }
}

/// Stands for a name, which may be long, while its element is open.
fn fingerprint(name: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(name);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_ends_where_xml_says_it_does() {
        let cases: &[(&str, Option<(Markup, usize)>)] = &[
            ("<a>", Some((Markup::Start, 3))),
            ("<a/>x", Some((Markup::Empty, 4))),
            ("</a >", Some((Markup::End, 5))),
            (r#"<a b="/>">"#, Some((Markup::Start, 10))),
            (r#"<a b='">' c="'"/>"#, Some((Markup::Empty, 17))),
            ("<!-- > </spectrum> -->", Some((Markup::Other, 22))),
            ("<![CDATA[ </a> ]]>", Some((Markup::Other, 18))),
            ("<?pi > ?>", Some((Markup::Other, 9))),
            ("<", None),
            ("<a b=\">", None),
            ("<!-", None),
            ("<!-- x ->", None),
            ("<![CDA", None),
            ("<?pi >", None),
        ];
        for (text, expected) in cases {
            let found = scan(text.as_bytes()).map(|found| found.unwrap());
            assert_eq!(found, *expected, "{text}");
        }
        for text in ["<!DOCTYPE x>", "< a>", "<>", "<<"] {
            assert!(matches!(scan(text.as_bytes()), Some(Err(_))), "{text}");
        }
    }

    #[test]
    fn names_have_no_prefix_and_no_attributes() {
        for (tag, name) in [("<a>", "a"), ("</ns:abc>", "abc"), ("<a\tb='c:d'/>", "a"), ("<x/>", "x")] {
            assert_eq!(name_of(tag.as_bytes()), name.as_bytes(), "{tag}");
        }
    }
}
