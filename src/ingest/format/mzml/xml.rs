//! quick-xml on one slice: checked, flattened to starts, ends and text with their places.

use crate::ingest::error::shortened;
use quick_xml::errors::Error;
use quick_xml::escape::EscapeError;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use std::borrow::Cow;
use std::ops::Range;

/// What is wrong with a piece of XML, and where in it.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) offset: usize,
    pub(super) what: String,
}

/// Takes the parts of an element, in order.
pub(super) trait Visitor {
    /// A start tag; an empty element gives a start and an end.
    fn start(&mut self, name: &str, attributes: &Attributes<'_>) -> Result<(), String>;
    /// An end tag.
    fn end(&mut self, name: &str) -> Result<(), String>;
    /// Text at `place` of the slice, as it stands there.
    fn text(&mut self, place: Range<usize>) -> Result<(), String> {
        let _ = place;
        Ok(())
    }
}

/// Attributes that need no memory of their own; tags of mzML have fewer.
const INLINE: usize = 8;

/// Attributes of a start tag, unescaped: none is malformed, none comes twice.
#[derive(Default)]
pub(super) struct Attributes<'a> {
    few: [(&'a str, Cow<'a, str>); INLINE],
    count: usize,
    more: Vec<(&'a str, Cow<'a, str>)>,
}

impl<'a> Attributes<'a> {
    /// Checks and unescapes the attributes of `tag`.
    pub(super) fn of(tag: &'a BytesStart<'_>) -> Result<Self, String> {
        let mut found = Self::default();
        // Uniqueness is checked here: the library would allocate for it at each tag.
        for attribute in tag.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| error.to_string())?;
            let name = attribute.key.into_inner();
            if found.iter().any(|(known, _)| *known == name) {
                return Err(format!("the attribute {} comes twice", shortened(name)));
            }
            let value = match attribute.value {
                // Nearly all values need no unescaping.
                Cow::Borrowed(plain)
                    if !plain.bytes().any(|byte| matches!(byte, b'&' | b'\n' | b'\r' | b'\t')) =>
                {
                    Cow::Borrowed(plain)
                }
                value => Cow::Owned(unescaped(&value)?),
            };
            found.push((name, value));
        }
        Ok(found)
    }

    fn push(&mut self, attribute: (&'a str, Cow<'a, str>)) {
        match self.few.get_mut(self.count) {
            Some(place) => *place = attribute,
            None => self.more.push(attribute),
        }
        self.count += 1;
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(&'a str, Cow<'a, str>)> {
        self.few.iter().take(self.count).chain(&self.more)
    }

    pub(super) fn get(&self, wanted: &str) -> Option<&str> {
        self.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.as_ref())
    }
}

/// The value that an attribute's text stands for (XML 1.0, 3.3.3): white space is a space, references are resolved.
fn unescaped(text: &str) -> Result<String, String> {
    let text = text.replace("\r\n", " ").replace(['\n', '\r', '\t'], " ");
    quick_xml::escape::unescape(&text).map(Cow::into_owned).map_err(|error| match error {
        // Its name is what stands between `&` and `;`, which may be anybody's text: it must not get into a message.
        EscapeError::UnrecognizedEntity(..) => {
            "an attribute has an entity that XML does not define".to_owned()
        }
        error => error.to_string(),
    })
}

/// The name without its namespace prefix.
pub(super) fn local_name(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// Walks over `slice`, which holds one whole element.
pub(super) fn walk(slice: &str, visitor: &mut impl Visitor) -> Result<(), Fault> {
    let mut reader = Reader::from_str(slice);
    loop {
        let before = reader.buffer_position() as usize;
        let event = reader.read_event().map_err(|error| Fault { offset: before, what: describe(&error) })?;
        let after = reader.buffer_position() as usize;
        let result = match &event {
            Event::Start(tag) => start(tag, visitor),
            Event::Empty(tag) => {
                start(tag, visitor).and_then(|()| visitor.end(local_name(tag.name().into_inner())))
            }
            Event::End(tag) => visitor.end(local_name(tag.name().into_inner())),
            Event::Text(text) => visitor.text(after - text.len()..after),
            Event::CData(data) => {
                // `]]>` stands behind the data.
                let end = after.saturating_sub(3);
                visitor.text(end.saturating_sub(data.len())..end)
            }
            Event::GeneralRef(_) => visitor.text(before..after),
            Event::DocType(_) => Err("a document type declaration".to_owned()),
            Event::Comment(_) | Event::PI(_) | Event::Decl(_) => Ok(()),
            Event::Eof => return Ok(()),
        };
        result.map_err(|what| Fault { offset: before, what })?;
    }
}

fn start(tag: &BytesStart<'_>, visitor: &mut impl Visitor) -> Result<(), String> {
    visitor.start(local_name(tag.name().into_inner()), &Attributes::of(tag)?)
}

fn describe(error: &Error) -> String {
    format!("the XML is not well-formed: {error}")
}
