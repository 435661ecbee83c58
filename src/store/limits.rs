//! How much the store may hold, and the books that keep it within: atomic, so that registrations which race for the
//! last slot or the last byte cannot overshoot together (S6).

use super::StoreError;
use crate::arena::{ArenaError, Budget};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// What the store may hold, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most live references, loads under way included.
    pub references: u64,
    /// Most bytes of all arenas: live, being written, and released but still looked at.
    pub total_bytes: u64,
    /// How long a reference lives without being used; `None` is for ever.
    pub time_to_live: Option<Duration>,
    /// Most memory mappings of the process that a registration may bring about; `None` where the system has no limit.
    pub mappings: Option<u64>,
    /// Most descriptors of the process that a registration may bring about; `None` where the system has no limit.
    pub descriptors: Option<u64>,
}

/// Sums of what is taken.
#[derive(Debug)]
pub(super) struct Books {
    references: u64,
    total_bytes: u64,
    slots: AtomicU64,
    /// Every granted byte, whatever its state.
    bytes: AtomicU64,
    /// Part of `bytes` that belongs to loads under way.
    loading: AtomicU64,
    /// Part of `bytes` that is released or expired, and waits for its last lease.
    pending: AtomicU64,
}

impl Books {
    pub(super) fn new(limits: &Limits) -> Arc<Self> {
        let zero = || AtomicU64::new(0);
        Arc::new(Self {
            references: limits.references,
            total_bytes: limits.total_bytes,
            slots: zero(),
            bytes: zero(),
            loading: zero(),
            pending: zero(),
        })
    }

    /// Takes a slot, or says why not.
    pub(super) fn take_slot(self: &Arc<Self>) -> Result<Slot, StoreError> {
        match take(&self.slots, 1, self.references) {
            Ok(()) => Ok(Slot(Arc::clone(self))),
            Err(taken) => Err(StoreError::Limit {
                what: format!(
                    "the limit of {} live references is reached ({taken} are taken); it is set by {}",
                    self.references,
                    super::config::MAX_REFERENCES_VARIABLE,
                ),
            }),
        }
    }

    fn take_bytes(&self, count: u64) -> Result<(), String> {
        take(&self.bytes, count, self.total_bytes).map_err(|taken| {
            format!(
                "the limit of {} bytes in all arenas would be passed: {taken} are taken, {count} more are needed; \
                 it is set by {}",
                self.total_bytes,
                super::config::MAX_TOTAL_BYTES_VARIABLE,
            )
        })
    }

    pub(super) fn slots(&self) -> u64 {
        self.slots.load(Ordering::Acquire)
    }

    /// Bytes of loads under way.
    pub(super) fn loading(&self) -> u64 {
        self.loading.load(Ordering::Acquire)
    }

    /// Bytes that wait for their last lease.
    pub(super) fn pending(&self) -> u64 {
        self.pending.load(Ordering::Acquire)
    }
}

/// Adds `count` unless the sum would pass `limit`; then says what is taken.
fn take(sum: &AtomicU64, count: u64, limit: u64) -> Result<(), u64> {
    let added = |taken: u64| taken.checked_add(count).filter(|sum| *sum <= limit);
    sum.fetch_update(Ordering::AcqRel, Ordering::Acquire, added).map(|_| ())
}

/// The right to one live reference; given back when dropped.
#[derive(Debug)]
pub(super) struct Slot(Arc<Books>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.slots.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Where the bytes of an arena stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Loading,
    Live,
    Pending,
}

/// The bytes of one arena in the books; given back when dropped, which must be after the arena is.
#[derive(Debug)]
pub(super) struct Charge {
    books: Arc<Books>,
    /// One lock for both, so that a grant that comes late cannot slip past the end of the loading.
    account: Mutex<(State, u64)>,
}

impl Charge {
    pub(super) fn new(books: &Arc<Books>) -> Arc<Self> {
        Arc::new(Self { books: Arc::clone(books), account: Mutex::new((State::Loading, 0)) })
    }

    fn account(&self) -> MutexGuard<'_, (State, u64)> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.account().1
    }

    fn grow(&self, count: u64) -> Result<(), String> {
        let mut account = self.account();
        if account.0 != State::Loading {
            return Err(ENDED.to_owned());
        }
        self.books.take_bytes(count)?;
        self.books.loading.fetch_add(count, Ordering::AcqRel);
        account.1 += count;
        Ok(())
    }

    /// Ends the loading with what the arena takes in the end: asks for what is missing, gives back what is over.
    pub(super) fn settle(&self, byte_size: u64) -> Result<(), String> {
        let missing = byte_size.saturating_sub(self.bytes());
        self.grow(missing)?;
        let mut account = self.account();
        let granted = std::mem::replace(&mut *account, (State::Live, byte_size)).1;
        self.books.loading.fetch_sub(granted, Ordering::AcqRel);
        self.books.bytes.fetch_sub(granted.saturating_sub(byte_size), Ordering::AcqRel);
        Ok(())
    }

    /// The store has let go: until the last lease drops, the bytes count as pending.
    pub(super) fn set_pending(&self) {
        let mut account = self.account();
        if account.0 == State::Live {
            account.0 = State::Pending;
            self.books.pending.fetch_add(account.1, Ordering::AcqRel);
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let (state, bytes) = *self.account.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.books.bytes.fetch_sub(bytes, Ordering::AcqRel);
        match state {
            State::Loading => self.books.loading.fetch_sub(bytes, Ordering::AcqRel),
            State::Pending => self.books.pending.fetch_sub(bytes, Ordering::AcqRel),
            State::Live => 0,
        };
    }
}

const ENDED: &str = "the registration has ended; nothing more is granted";

/// Grants of one load: an arena asks before each write, and the store answers within its limit of bytes.
///
/// Outlives its registration safely: it then grants nothing.
pub struct Grants {
    charge: Weak<Charge>,
    make_room: Box<dyn Fn() + Send>,
}

impl Grants {
    pub(super) fn new(charge: &Arc<Charge>, make_room: impl Fn() + Send + 'static) -> Self {
        Self { charge: Arc::downgrade(charge), make_room: Box::new(make_room) }
    }
}

impl Budget for Grants {
    fn grant(&mut self, bytes: u64) -> Result<(), ArenaError> {
        let ended = || ArenaError::Limit { what: ENDED.to_owned() };
        let charge = self.charge.upgrade().ok_or_else(ended)?;
        let granted = charge.grow(bytes).or_else(|_| {
            (self.make_room)();
            charge.grow(bytes)
        });
        granted.map_err(|what| ArenaError::Limit { what })
    }
}

impl std::fmt::Debug for Grants {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Grants").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(references: u64, total_bytes: u64) -> Limits {
        Limits { references, total_bytes, time_to_live: None, mappings: None, descriptors: None }
    }

    #[test]
    fn s6_a_sum_stops_at_its_limit_and_does_not_wrap() {
        let sum = AtomicU64::new(0);
        assert_eq!(take(&sum, 10, 10), Ok(()));
        assert_eq!(take(&sum, 1, 10), Err(10));
        assert_eq!(take(&sum, u64::MAX, u64::MAX), Err(10), "an overflowing sum is refused");
        assert_eq!(sum.into_inner(), 10);
    }

    #[test]
    fn s6_bytes_move_from_loading_to_live_to_pending_to_nothing() {
        let books = Books::new(&limits(1, 100));
        let charge = Charge::new(&books);
        let mut grants = Grants::new(&charge, || ());
        grants.grant(60).unwrap();
        let sums = || (books.bytes.load(Ordering::Acquire), books.loading(), books.pending());
        assert_eq!(sums(), (60, 60, 0));
        assert!(matches!(grants.grant(41), Err(ArenaError::Limit { .. })));
        charge.settle(50).unwrap();
        assert_eq!(sums(), (50, 0, 0));
        assert!(grants.grant(1).is_err(), "nothing grows after the end");
        charge.set_pending();
        charge.set_pending();
        assert_eq!(sums(), (50, 0, 50));
        drop(charge);
        assert_eq!(sums(), (0, 0, 0));
        assert!(grants.grant(1).is_err(), "nothing grows after the arena is gone");
    }
}
