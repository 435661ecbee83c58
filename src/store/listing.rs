//! What the store holds, page by page, and how full it is.

use super::entry::Facts;
use super::{SpectrumStore, StoreError};
use crate::reference::{DataKind, DataReference};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Which references to list; without a value every one passes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListFilter {
    /// Only those of this kind.
    pub kind: Option<DataKind>,
    /// Only those of this namespace.
    pub namespace: Option<String>,
}

impl ListFilter {
    fn passes(&self, reference: &DataReference) -> bool {
        self.kind.is_none_or(|kind| kind == reference.kind)
            && self.namespace.as_ref().is_none_or(|namespace| *namespace == reference.namespace)
    }
}

/// Some references, in the order of their registration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReferencePage {
    /// The references.
    pub references: Vec<DataReference>,
    /// How many pass the filter, on this page and off it.
    pub total: usize,
    /// Gives the page that follows; `None` at the end.
    pub next_cursor: Option<String>,
}

/// References and bytes of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct KindStatistics {
    /// Live references.
    pub reference_count: u64,
    /// Bytes of their arenas; slices have none of their own.
    pub byte_count: u64,
}

/// How full the store is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Statistics {
    /// Live references, slices included.
    pub reference_count: u64,
    /// Registrations under way; each has its slot.
    pub registering_count: u64,
    /// Most of both together.
    pub reference_limit: u64,
    /// Bytes of live references.
    pub byte_count: u64,
    /// Bytes granted to registrations under way.
    pub loading_bytes: u64,
    /// Bytes of released and expired references that are still being looked at.
    pub pending_bytes: u64,
    /// Most of the three together.
    pub byte_limit: u64,
    /// How long a reference lives without being used, in seconds; 0 is for ever.
    pub time_to_live_seconds: u64,
    /// Live references by kind; kinds without any are left out.
    pub by_kind: BTreeMap<DataKind, KindStatistics>,
}

/// Most references on one page of a list.
pub const LARGEST_PAGE: usize = 1000;

impl SpectrumStore {
    /// Live references that pass `filter`, from `cursor` on (`None` for the first page), at most `limit` of them and
    /// never more than [`LARGEST_PAGE`]. Renews nothing.
    ///
    /// A reference that comes or goes between two pages shifts no other.
    ///
    /// # Errors
    ///
    /// [`StoreError::Cursor`] for a text that is not the `next_cursor` of a page.
    pub fn list(
        &self,
        filter: &ListFilter,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<ReferencePage, StoreError> {
        let first = cursor.map_or(Ok(0), read_cursor)?;
        let now = self.now();
        self.sweep(now);
        let mut facts: Vec<Arc<Facts>> = {
            let table = self.read();
            let live = table.rows().map(|row| &row.entry.facts).filter(|facts| !facts.is_due(now.elapsed()));
            live.filter(|facts| filter.passes(&facts.reference)).cloned().collect()
        };
        facts.sort_unstable_by_key(|facts| facts.sequence);
        let start = facts.partition_point(|facts| facts.sequence < first);
        let rest = facts.get(start..).unwrap_or_default();
        let limit = limit.clamp(1, LARGEST_PAGE);
        Ok(ReferencePage {
            references: rest.iter().take(limit).map(|facts| facts.shown()).collect(),
            total: facts.len(),
            next_cursor: rest.get(limit).map(|facts| write_cursor(facts.sequence)),
        })
    }

    /// How full the store is, after what has expired is gone.
    pub fn statistics(&self) -> Statistics {
        self.sweep(self.now());
        let mut by_kind = BTreeMap::<DataKind, KindStatistics>::new();
        let (mut reference_count, mut byte_count) = (0, 0);
        for row in self.read().rows() {
            let kind = by_kind.entry(row.entry.facts.reference.kind).or_default();
            let own_bytes = if row.entry.parent.is_none() { row.entry.facts.reference.byte_size } else { 0 };
            kind.reference_count += 1;
            kind.byte_count += own_bytes;
            reference_count += 1;
            byte_count += own_bytes;
        }
        let limits = self.inner.limits;
        let books = &self.inner.books;
        let (loading_bytes, pending_bytes) = (books.loading(), books.pending());
        Statistics {
            reference_count,
            // read after the rows: a registration may have ended in between
            registering_count: books.slots().saturating_sub(reference_count),
            reference_limit: limits.references,
            byte_count,
            loading_bytes,
            pending_bytes,
            byte_limit: limits.total_bytes,
            time_to_live_seconds: limits.time_to_live.map_or(0, |time| time.as_secs()),
            by_kind,
        }
    }
}

fn write_cursor(sequence: u64) -> String {
    format!("from-{sequence:x}")
}

fn read_cursor(text: &str) -> Result<u64, StoreError> {
    let sequence = text.strip_prefix("from-").and_then(|digits| u64::from_str_radix(digits, 16).ok());
    // one spelling only: the one that a page gave
    sequence
        .filter(|sequence| write_cursor(*sequence) == text)
        .ok_or_else(|| StoreError::Cursor { cursor: text.chars().take(96).collect() })
}
