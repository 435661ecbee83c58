//! The text section: identifiers and the few strings that are kept, without a terminator.

use super::side::{SideFile, Stream};
use crate::arena::ArenaError;
use crate::arena::layout::run::{NO_TEXT, TextRef};
use std::collections::HashMap;

/// Most texts that are remembered so as to be stored once.
const REMEMBERED: usize = 1024;

/// Gathers text.
#[derive(Default)]
pub(super) struct TextHeap {
    stream: Stream,
    remembered: HashMap<String, TextRef>,
}

impl TextHeap {
    pub(super) fn length(&self) -> u64 {
        self.stream.length()
    }

    pub(super) fn into_stream(self) -> Stream {
        self.stream
    }

    /// Stores `text`.
    pub(super) fn add(&mut self, text: &str, side: &mut SideFile) -> Result<TextRef, ArenaError> {
        let length = u32::try_from(text.len()).ok().filter(|length| *length != NO_TEXT);
        let length = length.ok_or_else(|| ArenaError::invalid("a text of 4 GiB or more"))?;
        let stored = TextRef { offset: self.stream.length(), length, reserved: 0 };
        self.stream.push(text.as_bytes(), side)?;
        Ok(stored)
    }

    pub(super) fn add_optional(
        &mut self,
        text: Option<&str>,
        side: &mut SideFile,
    ) -> Result<TextRef, ArenaError> {
        text.map_or(Ok(TextRef::NONE), |text| self.add(text, side))
    }

    /// Stores `text` once, however often it comes, as filter strings and analysers do.
    pub(super) fn add_repeated(
        &mut self,
        text: Option<&str>,
        side: &mut SideFile,
    ) -> Result<TextRef, ArenaError> {
        let Some(text) = text else { return Ok(TextRef::NONE) };
        if let Some(known) = self.remembered.get(text) {
            return Ok(*known);
        }
        let stored = self.add(text, side)?;
        if self.remembered.len() >= REMEMBERED {
            self.remembered.clear();
        }
        self.remembered.insert(text.to_owned(), stored);
        Ok(stored)
    }
}
