//! One stored payload: what is told about it, what holds it, and until when.

use super::limits::{Charge, Slot};
use crate::arena::Arena;
use crate::reference::{DataReference, ReferenceId, UtcTime};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// A moment of both clocks, read together and before any lock: a clock is somebody else's code.
#[derive(Debug, Clone, Copy)]
pub(super) struct Now {
    /// Nanoseconds by [`super::Clock::elapsed`].
    elapsed: u64,
    /// Seconds by [`super::Clock::wall`].
    wall: i64,
}

impl Now {
    pub(super) fn of(clock: &dyn super::Clock) -> Self {
        Self { elapsed: nanoseconds(clock.elapsed()), wall: clock.wall().unix_seconds() }
    }

    pub(super) fn elapsed(self) -> u64 {
        self.elapsed
    }

    pub(super) fn wall(self) -> UtcTime {
        UtcTime::from_unix_seconds(self.wall)
    }
}

/// 584 years of nanoseconds fit.
fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The deadline of what does not expire.
pub(super) const NEVER: u64 = u64::MAX;

/// When something expires; only ever moved forward.
#[derive(Debug)]
pub(super) struct Deadline {
    /// By the measuring clock, nanoseconds, or [`NEVER`].
    at: AtomicU64,
    /// By the wall clock as it was when `at` was set: two answers about an unused reference agree.
    shown: AtomicI64,
}

impl Deadline {
    pub(super) fn new(now: Now, time_to_live: Option<Duration>) -> Self {
        let never = Self { at: AtomicU64::new(NEVER), shown: AtomicI64::new(i64::MAX) };
        if time_to_live.is_none() {
            return never;
        }
        let deadline = Self { at: AtomicU64::new(0), shown: AtomicI64::new(0) };
        deadline.renew(now, time_to_live);
        deadline
    }

    pub(super) fn renew(&self, now: Now, time_to_live: Option<Duration>) {
        let Some(time) = time_to_live else { return };
        let at = now.elapsed.saturating_add(nanoseconds(time));
        if self.at.fetch_max(at, Ordering::AcqRel) < at {
            let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
            self.shown.store(now.wall.saturating_add(seconds), Ordering::Release);
        }
    }

    pub(super) fn at(&self) -> u64 {
        self.at.load(Ordering::Acquire)
    }

    fn shown(&self) -> Option<UtcTime> {
        (self.at() != NEVER).then(|| UtcTime::from_unix_seconds(self.shown.load(Ordering::Acquire)))
    }
}

/// What is told about a payload. Holds no payload, so that whoever describes one never keeps it mapped.
#[derive(Debug)]
pub(super) struct Facts {
    /// As registered; the expiry is filled in when it is shown.
    pub(super) reference: DataReference,
    /// Order of registration, for pages of a list.
    pub(super) sequence: u64,
    pub(super) deadline: Deadline,
}

impl Facts {
    pub(super) fn is_due(&self, now: u64) -> bool {
        let at = self.deadline.at();
        at <= now && at != NEVER
    }

    pub(super) fn shown(&self) -> DataReference {
        DataReference { expires_at: self.deadline.shown(), ..self.reference.clone() }
    }
}

/// An arena and its bytes in the books. The fields drop in this order: bytes are given back after the arena is gone.
#[derive(Debug)]
pub(super) struct Hold {
    pub(super) arena: Arena,
    pub(super) charge: Arc<Charge>,
}

/// Which part of the arena a reference names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it.
    Whole,
    /// One spectrum, by its position.
    Spectrum(u32),
}

/// What a lease holds on to.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) facts: Arc<Facts>,
    pub(super) hold: Arc<Hold>,
    pub(super) part: Part,
    /// The run of a slice: used with it, expired and released with it.
    pub(super) parent: Option<Arc<Facts>>,
}

impl Entry {
    pub(super) fn id(&self) -> ReferenceId {
        self.facts.reference.reference
    }

    /// The parent first: a slice never outlives it.
    pub(super) fn renew(&self, now: Now, time_to_live: Option<Duration>) {
        if let Some(parent) = &self.parent {
            parent.deadline.renew(now, time_to_live);
        }
        self.facts.deadline.renew(now, time_to_live);
    }
}

/// What the store itself holds of an entry; gone as soon as it is released or has expired.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) entry: Arc<Entry>,
    pub(super) slot: Slot,
    /// Live slices by the position of their spectrum.
    pub(super) slices: HashMap<u32, ReferenceId>,
}

/// What letting go of an arena gave back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct GivenBack {
    pub(super) returned: u64,
    pub(super) pending: u64,
}

/// Gives up the store's hold on `rows`, slices before their run. Never under a lock: unmapping takes time.
pub(super) fn let_go(rows: Vec<Row>) -> GivenBack {
    let mut sum = GivenBack::default();
    for Row { entry, slot, slices: _ } in rows {
        drop(slot);
        let own_charge = entry.parent.is_none().then(|| Arc::clone(&entry.hold.charge));
        if let Some(charge) = &own_charge {
            charge.set_pending();
        }
        // into_inner: of several that let go at the same time exactly one gets the arena, and says that it did
        let last = Arc::into_inner(entry).and_then(|entry| Arc::into_inner(entry.hold));
        let bytes = own_charge.map_or(0, |charge| charge.bytes());
        match last {
            Some(hold) => {
                drop(hold);
                sum.returned += bytes;
            }
            None => sum.pending += bytes,
        }
    }
    sum
}
