//! Loads under way: each on a thread of its own, shared by all who ask for the same source, reused afterwards.

use super::ToolError;
use crate::access::{OpenedSource, SourceIdentity};
use crate::code::ErrorCode;
use crate::ingest::{IngestOptions, Ingested, Source, ingest};
use crate::observe::Observer;
use crate::provenance::Provenance;
use crate::reference::{ReferenceId, Summary};
use crate::store::{Details, SpectrumStore};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Loads at the same time; each reads one source.
const MOST_LOADS: usize = 4;

/// Most finished loads that are remembered for reuse.
const MOST_REMEMBERED: usize = 10_000;

/// How often a waiting call looks whether its client still waits.
const LOOK: Duration = Duration::from_millis(20);

/// What makes two loads the same: an unchanged file, under one name, read in one way.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct LoadKey {
    pub(super) name: String,
    pub(super) identity: SourceIdentity,
    pub(super) tolerant: bool,
}

/// What a call that waits for a load gets.
#[derive(Debug)]
pub(super) enum Progress {
    /// The run's reference, and whether it was there before.
    Loaded { reference: ReferenceId, reused: bool },
    /// Not done within the time; the load goes on.
    Loading { fraction: Option<f64>, retry_in_seconds: u64 },
}

/// Every load under way and every finished one that may be reused.
#[derive(Debug, Default)]
pub(super) struct Loads {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    running: HashMap<LoadKey, Arc<Load>>,
    finished: HashMap<LoadKey, ReferenceId>,
}

#[derive(Debug)]
struct Load {
    state: Mutex<State>,
    changed: Condvar,
    done: AtomicU64,
    total: u64,
    began: Instant,
    /// Asked for although the file was loaded already.
    is_reload: bool,
    is_cancelled: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    outcome: Option<Result<ReferenceId, ToolError>>,
    waiting: usize,
    /// Somebody was told that it goes on, so it does, whoever leaves.
    is_promised: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Observer for Load {
    fn progress(&self, done: u64, _total: Option<u64>) {
        self.done.store(done, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

impl Loads {
    /// Waits up to `wait` for the load of `opened`, which is begun, joined or found done.
    ///
    /// # Errors
    ///
    /// The load's own error; `busy` where too many loads run; `cancelled` where `observer` no longer waits.
    pub(super) fn load(
        &self,
        store: &SpectrumStore,
        opened: OpenedSource,
        options: IngestOptions,
        reload: bool,
        wait: Duration,
        observer: &dyn Observer,
    ) -> Result<Progress, ToolError> {
        let key =
            LoadKey { name: opened.name.clone(), identity: opened.identity, tolerant: options.tolerant };
        let joined = lock(&self.table).join(&key, reload);
        if let Some(load) = joined {
            let was_over = lock(&load.state).outcome.is_some();
            let progress = self.wait_for(&load, &key, store, wait, observer);
            match progress {
                // It ended while nobody waited, and its reference has been released or has expired since.
                Ok(Progress::Loaded { reference, .. }) if was_over && store.describe(reference).is_err() => {}
                progress => return progress,
            }
        }
        if !reload {
            let finished = lock(&self.table).finished.get(&key).copied();
            // Asking renews it; an arena that has expired is dropped outside of the lock.
            if let Some(reference) = finished.filter(|reference| store.describe(*reference).is_ok()) {
                return Ok(Progress::Loaded { reference, reused: true });
            }
        }
        let load = {
            let mut table = lock(&self.table);
            // Somebody else may have begun it meanwhile.
            match table.join(&key, false) {
                Some(load) => load,
                None => table.begin(&key, store, opened, options, reload)?,
            }
        };
        self.wait_for(&load, &key, store, wait, observer)
    }

    fn wait_for(
        &self,
        load: &Arc<Load>,
        key: &LoadKey,
        store: &SpectrumStore,
        wait: Duration,
        observer: &dyn Observer,
    ) -> Result<Progress, ToolError> {
        let progress = load.wait(wait, observer);
        if lock(&load.state).outcome.is_some() {
            self.forget(key, load, store);
        }
        progress
    }

    /// Stops every load.
    pub(super) fn cancel_all(&self) {
        for load in lock(&self.table).running.values() {
            load.is_cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// Takes a load that has ended from the running ones, to the finished ones where it went well.
    fn forget(&self, key: &LoadKey, load: &Arc<Load>, store: &SpectrumStore) {
        let outcome = lock(&load.state).outcome.clone();
        let mut table = lock(&self.table);
        if !table.running.get(key).is_some_and(|running| Arc::ptr_eq(running, load)) {
            return;
        }
        table.running.remove(key);
        let Some(Ok(reference)) = outcome else { return };
        table.finished.insert(key.clone(), reference);
        if table.finished.len() > MOST_REMEMBERED {
            let known: Vec<_> =
                table.finished.iter().map(|(key, reference)| (key.clone(), *reference)).collect();
            drop(table);
            let dead = known.into_iter().filter(|(_, reference)| store.describe(*reference).is_err());
            let dead: std::collections::HashSet<_> = dead.map(|(key, _)| key).collect();
            let mut table = lock(&self.table);
            table.finished.retain(|key, _| !dead.contains(key));
        }
    }
}

impl Table {
    /// The load of `key` to wait for: one under way, or one that ended while nobody waited, whose outcome nobody has
    /// had. A forced load is not answered with the outcome of one that was not.
    fn join(&mut self, key: &LoadKey, reload: bool) -> Option<Arc<Load>> {
        let running = Arc::clone(self.running.get(key)?);
        let mut state = lock(&running.state);
        let is_stale = reload && !running.is_reload && matches!(state.outcome, Some(Ok(_)));
        if is_stale || running.is_cancelled() {
            self.running.remove(key);
            return None;
        }
        state.waiting += 1;
        drop(state);
        Some(running)
    }

    /// Starts a thread that loads `opened`. A load that ended while nobody waited stays here, so that the next call
    /// gets its outcome.
    fn begin(
        &mut self,
        key: &LoadKey,
        store: &SpectrumStore,
        opened: OpenedSource,
        options: IngestOptions,
        is_reload: bool,
    ) -> Result<Arc<Load>, ToolError> {
        // Nobody waits for the outcome of a cancelled load.
        self.running.retain(|_, load| !load.is_cancelled() || lock(&load.state).outcome.is_none());
        let is_under_way = |load: &&Arc<Load>| lock(&load.state).outcome.is_none();
        if self.running.values().filter(is_under_way).count() >= MOST_LOADS {
            let message = format!("{MOST_LOADS} loads are under way, and that is the limit");
            return Err(ToolError::new(ErrorCode::Busy, message));
        }
        let load = Arc::new(Load {
            state: Mutex::new(State { waiting: 1, ..State::default() }),
            changed: Condvar::new(),
            done: AtomicU64::new(0),
            total: opened.identity.byte_size,
            began: Instant::now(),
            is_reload,
            is_cancelled: AtomicBool::new(false),
        });
        let (watched, store) = (Arc::clone(&load), store.clone());
        let run = move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| register(&store, opened, options, &*watched)));
            let outcome = outcome.unwrap_or_else(|_| Err(ToolError::internal("load_run")));
            lock(&watched.state).outcome = Some(outcome);
            watched.changed.notify_all();
        };
        match thread::Builder::new().name("load".to_owned()).spawn(run) {
            Ok(_) => {
                self.running.insert(key.clone(), Arc::clone(&load));
                Ok(load)
            }
            Err(error) => {
                let message = format!("the system gives no thread for the load: {error}");
                Err(ToolError::new(ErrorCode::Busy, message))
            }
        }
    }
}

impl Load {
    fn wait(&self, wait: Duration, observer: &dyn Observer) -> Result<Progress, ToolError> {
        let deadline = Instant::now() + wait;
        let mut state = lock(&self.state);
        let outcome = loop {
            if let Some(outcome) = &state.outcome {
                break outcome.clone();
            }
            observer.progress(self.done.load(Ordering::Relaxed), Some(self.total));
            if observer.is_cancelled() {
                state.waiting -= 1;
                if state.waiting == 0 && !state.is_promised {
                    self.is_cancelled.store(true, Ordering::Relaxed);
                }
                return Err(ToolError::new(ErrorCode::Cancelled, "the call was cancelled"));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                state.waiting -= 1;
                state.is_promised = true;
                return Ok(self.loading());
            }
            let waited = self.changed.wait_timeout(state, left.min(LOOK));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        };
        state.waiting -= 1;
        observer.progress(self.total, Some(self.total));
        outcome.map(|reference| Progress::Loaded { reference, reused: false })
    }

    fn loading(&self) -> Progress {
        let done = self.done.load(Ordering::Relaxed) as f64;
        let fraction = (self.total > 0).then(|| (done / self.total as f64).min(1.0));
        let elapsed = self.began.elapsed().as_secs_f64();
        let left =
            fraction.filter(|fraction| *fraction > 0.0).map(|fraction| elapsed * (1.0 - fraction) / fraction);
        let retry_in_seconds = left.map_or(2, |seconds| seconds.ceil() as u64).clamp(1, 30);
        Progress::Loading { fraction, retry_in_seconds }
    }
}

/// Reads the source and registers the run.
fn register(
    store: &SpectrumStore,
    opened: OpenedSource,
    options: IngestOptions,
    observer: &dyn Observer,
) -> Result<ReferenceId, ToolError> {
    let registration = store.begin_run()?;
    let source = Source::from_opened(opened)?;
    let loaded = ingest(source, registration.folder(), registration.budget(), &options, observer)?;
    let (arena, details) = describe(loaded, options);
    Ok(registration.finish(arena, details)?.reference)
}

fn describe(loaded: Ingested, options: IngestOptions) -> (crate::arena::Arena, Details) {
    let mut provenance = Provenance::of("load_run");
    if options.tolerant {
        provenance.parameters.insert("tolerant".to_owned(), true.into());
    }
    provenance.sources.push(loaded.source);
    let mut summary = Summary::default();
    let run = loaded.run;
    summary.text("instrument", run.instrument.as_deref());
    summary.text("start_time_stamp", run.start_time_stamp.as_deref());
    summary.text("native_id_format", run.native_id_format.as_deref());
    for (name, texts) in [
        ("source_file_names", &run.source_file_names),
        ("software", &run.software),
        ("arrays_not_kept", &run.arrays_not_kept),
    ] {
        if !texts.is_empty() {
            summary.texts(name, texts);
        }
    }
    let mut details = Details::new(provenance);
    details.summary = summary;
    details.missing = loaded.missing;
    details.warnings = loaded.warnings;
    (loaded.arena, details)
}
