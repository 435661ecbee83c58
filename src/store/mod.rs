//! Who holds what, and for how long: references to arenas, within limits, until they are released or expire.
//!
//! - **Limits** refuse the new and never evict the old. A registration takes its slot when it begins and its bytes
//!   as it grows, from sums that several threads cannot overshoot together. What fails leaves nothing.
//! - **Expiry** happens on access. Resolving and describing a reference by name is a use and renews it, with the run
//!   that it is a slice of; listing is not. The last 10,000 expired identifiers answer
//!   [`StoreError::Expired`], those before them [`StoreError::Unknown`].
//! - **Release** takes a reference away at once. Its arena is unmapped when nobody looks at it: now, or when the last
//!   [`Lease`] is dropped, on the thread that drops it (0.07–0.5 s per GiB). Until then its bytes count as pending.
//! - **Slices** of a run share its arena, and expire and are released with it. Data *derived* from a reference has an
//!   arena of its own: it names its parents in its provenance and survives them.
//! - **Sharing**: lookups take a read lock for a look into a hash table. Nothing is unmapped and no clock is asked
//!   under a lock.
//!
//! ```
//! use mzarena::arena::{ColumnsRef, IntensityRef};
//! use mzarena::provenance::Provenance;
//! use mzarena::spectrum::SpectrumDescription;
//! use mzarena::store::{Details, SpectrumStore};
//!
//! # fn main() -> Result<(), mzarena::store::StoreError> {
//! let store = SpectrumStore::from_environment()?;
//! let description = SpectrumDescription { native_id: "scan=1".into(), ..Default::default() };
//! let columns = ColumnsRef::new(&[100.0, 200.5], IntensityRef::F32(&[10.0, 30.0]));
//! let details = Details::new(Provenance::of("register_spectrum"));
//! let reference = store.register_spectrum(&description, columns, details)?;
//!
//! // the text is all that a client needs to keep
//! let name = reference.reference.to_string();
//! let lease = store.resolve(&name)?;
//! assert_eq!(lease.spectrum()?.mz(), &[100.0, 200.5]);
//!
//! // released, the reference is gone at once; the peaks stay as long as they are looked at
//! let released = store.release(&name)?;
//! assert!(released.released && released.bytes_pending == reference.byte_size);
//! assert!(store.resolve(&name).is_err());
//! assert_eq!(lease.spectrum()?.mz(), &[100.0, 200.5]);
//! drop(lease);
//! assert_eq!(store.statistics().pending_bytes, 0);
//! # Ok(())
//! # }
//! ```

mod clock;
mod config;
mod entry;
mod error;
mod lease;
mod limits;
mod listing;
mod registration;
mod slice;
mod system;
mod table;

pub use clock::{Clock, ManualClock, SystemClock};
pub use config::{MAX_REFERENCES_VARIABLE, MAX_TOTAL_BYTES_VARIABLE, StoreConfig, TIME_TO_LIVE_VARIABLE};
pub use error::StoreError;
pub use lease::Lease;
pub use limits::{Grants, Limits};
pub use listing::{KindStatistics, LARGEST_PAGE, ListFilter, ReferencePage, Statistics};
pub use registration::{DEFAULT_NAMESPACE, Details, RunRegistration};

use crate::arena::ArenaFolder;
use crate::reference::{DataKind, DataReference, IntoReferenceId, ReferenceId};
use entry::{Entry, NEVER, Now, Part, Row, let_go};
use limits::{Books, Slot};
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use system::SystemWatch;
use table::Table;

/// The registry of live references. A clone is another handle on the same store.
#[derive(Debug, Clone)]
pub struct SpectrumStore {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    table: RwLock<Table>,
    books: Arc<Books>,
    limits: Limits,
    folder: ArenaFolder,
    clock: Arc<dyn Clock>,
    watch: SystemWatch,
    /// A time before which nothing expires; renewals may have moved the true one further.
    next_due: AtomicU64,
    sequence: AtomicU64,
}

/// What a release did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Released {
    /// Whether there was something to release; `false` the second time.
    pub released: bool,
    /// Bytes that were given back at once.
    pub bytes_returned: u64,
    /// Bytes that are given back when the last lease on them is dropped.
    pub bytes_pending: u64,
}

impl SpectrumStore {
    /// An empty store.
    pub fn new(config: StoreConfig) -> Self {
        Self {
            inner: Arc::new(Inner {
                table: RwLock::default(),
                books: Books::new(&config.limits),
                limits: config.limits,
                folder: config.folder,
                clock: config.clock,
                watch: SystemWatch::default(),
                next_due: AtomicU64::new(NEVER),
                sequence: AtomicU64::new(0),
            }),
        }
    }

    /// An empty store as the environment wants it.
    ///
    /// # Errors
    ///
    /// Those of [`StoreConfig::from_environment`].
    pub fn from_environment() -> Result<Self, StoreError> {
        StoreConfig::from_environment().map(Self::new)
    }

    /// Its limits.
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// Where its arenas are made.
    pub fn folder(&self) -> &ArenaFolder {
        &self.inner.folder
    }

    /// A hold on what `id` names, which is renewed, and its run with it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Reference`] for a text that is no identifier, [`StoreError::Unknown`], [`StoreError::Expired`].
    pub fn resolve(&self, id: impl IntoReferenceId) -> Result<Lease, StoreError> {
        self.look_up(id.into_reference_id()?, Arc::clone).map(Lease::new)
    }

    /// As [`SpectrumStore::resolve`], for data of one of `kinds` only.
    ///
    /// # Errors
    ///
    /// Also [`StoreError::WrongKind`], which names the kinds on both sides.
    pub fn resolve_kind(&self, id: impl IntoReferenceId, kinds: &[DataKind]) -> Result<Lease, StoreError> {
        let lease = self.resolve(id)?;
        lease::expect_kind(lease.id(), kinds)?;
        Ok(lease)
    }

    /// The metadata of what `id` names. A use: renews it. Opens no file, and holds nothing mapped.
    ///
    /// # Errors
    ///
    /// Those of [`SpectrumStore::resolve`].
    pub fn describe(&self, id: impl IntoReferenceId) -> Result<DataReference, StoreError> {
        let facts = self.look_up(id.into_reference_id()?, |entry| Arc::clone(&entry.facts))?;
        Ok(facts.shown())
    }

    /// Takes `id` and its slices from the store. What is unknown or has expired is `released: false`, not an error.
    ///
    /// Unmaps the arena before it returns where nobody looks at it, which takes up to half a second for each GiB.
    ///
    /// # Errors
    ///
    /// [`StoreError::Reference`] for a text that is no identifier.
    pub fn release(&self, id: impl IntoReferenceId) -> Result<Released, StoreError> {
        let id = id.into_reference_id()?;
        self.sweep(self.now());
        let rows = self.write().remove(id);
        let released = !rows.is_empty();
        let given_back = let_go(rows);
        Ok(Released { released, bytes_returned: given_back.returned, bytes_pending: given_back.pending })
    }

    /// What `take` wants of a live entry, which is renewed. `take` runs under a lock: it clones an `Arc`, no more.
    fn look_up<T>(&self, id: ReferenceId, take: impl Fn(&Arc<Entry>) -> T) -> Result<T, StoreError> {
        let now = self.now();
        loop {
            {
                let table = self.read();
                let entry = &table.row(id)?.entry;
                if !entry.facts.is_due(now.elapsed()) {
                    entry.renew(now, self.inner.limits.time_to_live);
                    return Ok(take(entry));
                }
            }
            // once more: in between it has been expired, or somebody else has just used it
            self.expire(&[id], now);
        }
    }

    /// Adds a row unless its run is gone; where its slice is there already, that one is answered.
    fn insert(&self, row: Row, now: Now) -> Result<DataReference, StoreError> {
        let time_to_live = self.inner.limits.time_to_live;
        // whatever leaves the table or does not enter it is dropped after the lock
        let mut stale = Vec::new();
        let mut refused = None;
        let answer = {
            let mut table = self.write();
            let twin = match (&row.entry.parent, row.entry.part) {
                (Some(parent), Part::Spectrum(index)) => {
                    table.slice(parent.reference.reference, index).cloned()
                }
                _ => None,
            };
            if let Some(twin) = &twin {
                stale = table.expire(&[twin.id()], now);
            }
            match twin.filter(|_| stale.is_empty()) {
                Some(twin) => {
                    twin.renew(now, time_to_live);
                    refused = Some(Box::new(row));
                    Ok(Arc::clone(&twin.facts))
                }
                None => {
                    let facts = Arc::clone(&row.entry.facts);
                    row.entry.renew(now, time_to_live);
                    let inserted = table.insert(row);
                    self.inner.next_due.fetch_min(facts.deadline.at(), Ordering::AcqRel);
                    inserted.map(|()| facts).map_err(|(error, row)| {
                        refused = Some(row);
                        error
                    })
                }
            }
        };
        drop(refused);
        let_go(stale);
        answer.map(|facts| facts.shown())
    }

    /// A slot for one more reference, after what has expired is gone.
    fn take_slot(&self) -> Result<Slot, StoreError> {
        self.sweep(self.now());
        self.inner.watch.check(&self.inner.limits)?;
        self.inner.books.take_slot().or_else(|_| {
            self.sweep_now();
            self.inner.books.take_slot()
        })
    }

    /// Lets go of what is due, if anything can be.
    fn sweep(&self, now: Now) {
        if self.inner.next_due.load(Ordering::Acquire) <= now.elapsed() {
            self.sweep_all(now);
        }
    }

    /// Lets go of what is due, looking at every reference: before something is refused.
    fn sweep_now(&self) {
        self.sweep_all(self.now());
    }

    fn sweep_all(&self, now: Now) {
        // reset before looking: what is inserted meanwhile lowers it by itself
        self.inner.next_due.store(NEVER, Ordering::Release);
        let (due, next) = self.read().due(now);
        self.inner.next_due.fetch_min(next, Ordering::AcqRel);
        if !due.is_empty() {
            self.expire(&due, now);
        }
    }

    fn expire(&self, ids: &[ReferenceId], now: Now) {
        let rows = self.write().expire(ids, now);
        let_go(rows);
    }

    fn now(&self) -> Now {
        Now::of(&*self.inner.clock)
    }

    fn next_sequence(&self) -> u64 {
        self.inner.sequence.fetch_add(1, Ordering::Relaxed)
    }

    // A panic under the lock is a fault elsewhere; the table is whole between any two statements that change it.
    fn read(&self) -> RwLockReadGuard<'_, Table> {
        self.inner.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Table> {
        self.inner.table.write().unwrap_or_else(PoisonError::into_inner)
    }
}
