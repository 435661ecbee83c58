//! The live references and the recently expired ones. Plain bookkeeping: nothing in here drops an arena.

use super::StoreError;
use super::entry::{Entry, NEVER, Now, Part, Row};
use crate::reference::ReferenceId;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// Expired identifiers that are remembered; those before them become unknown.
pub(super) const REMEMBERED_EXPIRED: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct Table {
    rows: HashMap<ReferenceId, Row>,
    expired: Expired,
}

impl Table {
    pub(super) fn row(&self, id: ReferenceId) -> Result<&Row, StoreError> {
        self.rows.get(&id).ok_or_else(|| self.absence(id))
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.values()
    }

    /// Whether an identifier is, or was lately, in use.
    pub(super) fn knows(&self, id: ReferenceId) -> bool {
        self.rows.contains_key(&id) || self.expired.has(id)
    }

    /// The live slice of `run` at `index`, if there is one.
    pub(super) fn slice(&self, run: ReferenceId, index: u32) -> Option<&Arc<Entry>> {
        let id = self.rows.get(&run)?.slices.get(&index)?;
        self.rows.get(id).map(|row| &row.entry)
    }

    /// Adds a row; a slice is also noted with its run, which must be there.
    pub(super) fn insert(&mut self, row: Row) -> Result<(), (StoreError, Box<Row>)> {
        let id = row.entry.id();
        if let (Some(parent), Part::Spectrum(index)) = (&row.entry.parent, row.entry.part) {
            let parent = parent.reference.reference;
            match self.rows.get_mut(&parent) {
                Some(parent) => parent.slices.insert(index, id),
                None => return Err((self.absence(parent), Box::new(row))),
            };
        }
        self.rows.insert(id, row);
        Ok(())
    }

    /// Takes out `id` and its slices, the slices first.
    pub(super) fn remove(&mut self, id: ReferenceId) -> Vec<Row> {
        let Some(row) = self.rows.remove(&id) else { return Vec::new() };
        if let (Some(parent), Part::Spectrum(index)) = (&row.entry.parent, row.entry.part)
            && let Some(parent) = self.rows.get_mut(&parent.reference.reference)
        {
            parent.slices.remove(&index);
        }
        let mut removed: Vec<Row> = row.slices.values().filter_map(|slice| self.rows.remove(slice)).collect();
        removed.push(row);
        removed
    }

    /// Identifiers that are due, and when the next of the others will be.
    pub(super) fn due(&self, now: Now) -> (Vec<ReferenceId>, u64) {
        let mut next = NEVER;
        let mut due = Vec::new();
        for row in self.rows.values() {
            if row.entry.facts.is_due(now.elapsed()) {
                due.push(row.entry.id());
            } else {
                next = next.min(row.entry.facts.deadline.at());
            }
        }
        (due, next)
    }

    /// Takes out those of `ids` that are still due, and remembers them as expired.
    pub(super) fn expire(&mut self, ids: &[ReferenceId], now: Now) -> Vec<Row> {
        let mut removed = Vec::new();
        for id in ids {
            if self.rows.get(id).is_some_and(|row| row.entry.facts.is_due(now.elapsed())) {
                removed.append(&mut self.remove(*id));
            }
        }
        removed.iter().for_each(|row| self.expired.remember(row.entry.id()));
        removed
    }

    fn absence(&self, id: ReferenceId) -> StoreError {
        if self.expired.has(id) { StoreError::Expired { id } } else { StoreError::Unknown { id } }
    }
}

/// The last identifiers that expired.
#[derive(Debug, Default)]
struct Expired {
    order: VecDeque<ReferenceId>,
    set: HashSet<ReferenceId>,
}

impl Expired {
    fn has(&self, id: ReferenceId) -> bool {
        self.set.contains(&id)
    }

    fn remember(&mut self, id: ReferenceId) {
        if self.order.len() >= REMEMBERED_EXPIRED
            && let Some(oldest) = self.order.pop_front()
        {
            self.set.remove(&oldest);
        }
        if self.set.insert(id) {
            self.order.push_back(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::DataKind;

    /// S7: the list of expired identifiers is bounded, and forgets the oldest first.
    #[test]
    fn s7_the_list_of_expired_identifiers_is_bounded() {
        let ids: Vec<_> =
            (0..REMEMBERED_EXPIRED + 5).map(|_| ReferenceId::draw(DataKind::Run).unwrap()).collect();
        let mut expired = Expired::default();
        ids.iter().for_each(|id| expired.remember(*id));
        assert_eq!((expired.order.len(), expired.set.len()), (REMEMBERED_EXPIRED, REMEMBERED_EXPIRED));
        assert!(ids.iter().take(5).all(|id| !expired.has(*id)));
        assert!(ids.iter().skip(5).all(|id| expired.has(*id)));
    }
}
