//! Small stores on a clock that stands still, and payloads for them.

#![allow(dead_code, reason = "each test binary uses its own part")]

use mzarena::arena::{ArenaFolder, ColumnsRef, IntensityRef, RunWriter};
use mzarena::code::ErrorCode;
use mzarena::provenance::Provenance;
use mzarena::reference::DataReference;
use mzarena::spectrum::{MsLevel, SpectrumDescription};
use mzarena::store::{Details, Limits, ManualClock, SpectrumStore, StoreConfig, StoreError};
use std::sync::Arc;
use std::time::Duration;

/// How long references live in these stores.
pub(crate) const TIME_TO_LIVE: Duration = Duration::from_secs(100);

/// Limits that nothing reaches by chance.
pub(crate) fn wide_limits() -> Limits {
    Limits {
        references: 1000,
        total_bytes: 1 << 30,
        time_to_live: Some(TIME_TO_LIVE),
        mappings: None,
        descriptors: None,
    }
}

pub(crate) fn store_with(limits: Limits) -> (SpectrumStore, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::default());
    let folder = ArenaFolder::from_environment().unwrap();
    (SpectrumStore::new(StoreConfig { folder, limits, clock: clock.clone() }), clock)
}

pub(crate) fn store() -> (SpectrumStore, Arc<ManualClock>) {
    store_with(wide_limits())
}

pub(crate) fn details(operation: &str) -> Details {
    Details::new(Provenance::of(operation))
}

pub(crate) fn description(native_id: &str) -> SpectrumDescription {
    SpectrumDescription { native_id: native_id.to_owned(), ms_level: MsLevel::new(1), ..Default::default() }
}

/// `count` points; m/z ascends, intensity rises from 1.
pub(crate) fn points(count: usize) -> (Vec<f64>, Vec<f32>) {
    ((0..count).map(|at| 100.0 + at as f64 * 0.25).collect(), (0..count).map(|at| 1.0 + at as f32).collect())
}

pub(crate) fn register_spectrum(store: &SpectrumStore, count: usize) -> Result<DataReference, StoreError> {
    let (mz, intensity) = points(count);
    let columns = ColumnsRef::new(&mz, IntensityRef::F32(&intensity));
    store.register_spectrum(&description("scan=1"), columns, details("register_spectrum"))
}

pub(crate) fn register_peak_list(store: &SpectrumStore, count: usize) -> Result<DataReference, StoreError> {
    let (mz, intensity) = points(count);
    let columns = ColumnsRef::new(&mz, IntensityRef::F32(&intensity));
    store.register_peak_list(&description("scan=1"), columns, details("register_peak_list"))
}

pub(crate) fn register_embedding(store: &SpectrumStore, rows: usize) -> Result<DataReference, StoreError> {
    store.register_embedding(rows, 4, &vec![0.5; rows * 4], details("register_embedding"))
}

/// A run of `spectra` spectra with `at + 1` points each.
pub(crate) fn register_run(store: &SpectrumStore, spectra: usize) -> Result<DataReference, StoreError> {
    let registration = store.begin_run()?;
    let mut writer = RunWriter::create(registration.folder(), registration.budget())?;
    for at in 0..spectra {
        let (mz, intensity) = points(at + 1);
        let columns = ColumnsRef::new(&mz, IntensityRef::F32(&intensity));
        writer.push(&description(&format!("scan={}", at + 1)), columns)?;
    }
    let (arena, _) = writer.seal()?;
    registration.finish(arena, details("load_run"))
}

pub(crate) fn code<T>(result: Result<T, StoreError>) -> Option<ErrorCode> {
    result.err().map(|error| error.code())
}
