//! S6, S12: limits hold, also when many threads run for the last slot and the last byte.

#[path = "support/stores.rs"]
mod stores;

use mzarena::arena::{ArenaError, Budget, ColumnsRef, IntensityRef, RunWriter, Unlimited};
use mzarena::code::ErrorCode;
use mzarena::provenance::Provenance;
use mzarena::store::{Limits, SpectrumStore, StoreError};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use stores::*;

fn taken_bytes(store: &SpectrumStore) -> u64 {
    let statistics = store.statistics();
    statistics.byte_count + statistics.loading_bytes + statistics.pending_bytes
}

fn size_of_spectrum(points: usize) -> u64 {
    register_spectrum(&store().0, points).unwrap().byte_size
}

#[test]
fn s6_a_full_store_refuses_and_never_evicts() {
    let (store, _) = store_with(Limits { references: 3, ..wide_limits() });
    let run = register_run(&store, 2).unwrap();
    let live = [register_spectrum(&store, 1).unwrap(), register_embedding(&store, 1).unwrap()];
    let before = store.statistics();
    let refusals = [
        code(register_spectrum(&store, 1)),
        code(register_peak_list(&store, 1)),
        code(register_embedding(&store, 1)),
        code(store.begin_run()),
        code(store.slice_spectrum(run.reference, 0, Provenance::of("load_spectrum"))),
    ];
    assert_eq!(refusals, [Some(ErrorCode::StoreLimit); 5]);
    assert_eq!(store.statistics(), before, "what failed leaves nothing");
    assert!(live.iter().chain([&run]).all(|reference| store.resolve(reference.reference).is_ok()));
    let error = register_spectrum(&store, 1).unwrap_err().to_string();
    assert!(
        error.contains("limit of 3 live references") && error.contains("MZARENA_MAX_REFERENCES"),
        "{error}"
    );
    store.release(live[0].reference).unwrap();
    store.slice_spectrum(run.reference, 0, Provenance::of("load_spectrum")).unwrap();
}

#[test]
fn s6_bytes_fit_to_the_last_one_and_not_beyond() {
    let size = size_of_spectrum(100);
    let (exact, _) = store_with(Limits { total_bytes: 2 * size, ..wide_limits() });
    register_spectrum(&exact, 100).unwrap();
    let second = register_spectrum(&exact, 100).unwrap();
    assert_eq!(taken_bytes(&exact), 2 * size);
    let error = register_spectrum(&exact, 0).unwrap_err();
    assert_eq!(error.code(), ErrorCode::StoreLimit);
    assert!(error.to_string().contains("MZARENA_MAX_TOTAL_BYTES"), "{error}");
    assert_eq!(taken_bytes(&exact), 2 * size, "what failed leaves nothing");
    // S7: bytes of a released reference count until the last lease is dropped
    let lease = exact.resolve(second.reference).unwrap();
    exact.release(second.reference).unwrap();
    assert_eq!(code(register_spectrum(&exact, 100)), Some(ErrorCode::StoreLimit));
    drop(lease);
    register_spectrum(&exact, 100).unwrap();

    let (short, _) = store_with(Limits { total_bytes: 2 * size - 1, ..wide_limits() });
    register_spectrum(&short, 100).unwrap();
    assert_eq!(code(register_spectrum(&short, 100)), Some(ErrorCode::StoreLimit));
    assert_eq!(taken_bytes(&short), size);
}

#[test]
fn s7_what_has_expired_is_swept_before_anything_is_refused() {
    let size = size_of_spectrum(100);
    let (store, clock) = store_with(Limits { references: 1, total_bytes: size, ..wide_limits() });
    for _ in 0..3 {
        register_spectrum(&store, 100).unwrap();
        assert_eq!(code(register_spectrum(&store, 100)), Some(ErrorCode::StoreLimit));
        clock.advance(TIME_TO_LIVE);
    }
    // also by a load that began before, when it asks for more
    let (store, clock) = store_with(Limits { references: 2, total_bytes: size, ..wide_limits() });
    register_spectrum(&store, 100).unwrap();
    let load = store.begin_run().unwrap();
    let mut grants = load.budget();
    assert!(matches!(grants.grant(size), Err(ArenaError::Limit { .. })));
    clock.advance(TIME_TO_LIVE);
    grants.grant(size).unwrap();
    assert_eq!(store.statistics().loading_bytes, size);
}

#[test]
fn s6_a_load_takes_its_slot_at_the_start_and_gives_all_back_when_it_fails() {
    let (store, _) = store_with(Limits { references: 1, total_bytes: 1 << 20, ..wide_limits() });
    let load = store.begin_run().unwrap();
    assert_eq!(code(register_spectrum(&store, 1)), Some(ErrorCode::StoreLimit));
    assert_eq!(store.statistics().registering_count, 1);
    let mut writer = RunWriter::create(load.folder(), load.budget()).unwrap();
    let (mz, intensity) = points(10_000);
    let columns = ColumnsRef::new(&mz, IntensityRef::F32(&intensity));
    let refused = loop {
        if let Err(error) = writer.push(&description("scan=1"), columns) {
            break error;
        }
    };
    assert!(matches!(refused, ArenaError::Limit { .. }), "{refused}");
    assert_eq!(StoreError::from(refused).code(), ErrorCode::StoreLimit);
    let loading = store.statistics().loading_bytes;
    assert!(0 < loading && loading <= 1 << 20, "{loading}");
    drop(writer);
    let mut late = load.budget();
    drop(load);
    let statistics = store.statistics();
    assert_eq!((statistics.registering_count, statistics.loading_bytes), (0, 0));
    assert!(late.grant(1).is_err(), "a budget grants nothing after its registration");
    assert_eq!(taken_bytes(&store), 0);
    register_spectrum(&store, 1).unwrap();
}

/// An arena that was written under another budget is charged when it is named.
#[test]
fn s6_bytes_that_were_not_granted_are_asked_for_at_the_end() {
    let size = register_run(&store().0, 10).unwrap().byte_size;
    for (total_bytes, fits) in [(size, true), (size - 1, false)] {
        let (store, _) = store_with(Limits { total_bytes, ..wide_limits() });
        let load = store.begin_run().unwrap();
        let mut writer = RunWriter::create(load.folder(), Unlimited).unwrap();
        for at in 0..10 {
            let (mz, intensity) = points(at + 1);
            let columns = ColumnsRef::new(&mz, IntensityRef::F32(&intensity));
            writer.push(&description(&format!("scan={}", at + 1)), columns).unwrap();
        }
        let finished = load.finish(writer.seal().unwrap().0, details("load_run"));
        assert_eq!(code(finished), (!fits).then_some(ErrorCode::StoreLimit));
        assert_eq!(taken_bytes(&store), if fits { size } else { 0 });
    }
}

/// S6: eight threads register and release for a while; at no moment more is taken than the limits allow, at the end
/// the books agree with what is there.
#[test]
fn s6_racing_registrations_never_overshoot_and_the_books_agree_at_the_end() {
    let size = size_of_spectrum(50);
    let limits = Limits { references: 5, total_bytes: 4 * size + size / 2, ..wide_limits() };
    let (store, clock) = store_with(limits);
    let (refused, registered, done) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                let statistics = store.statistics();
                assert!(statistics.reference_count <= 5, "{statistics:?}");
                assert!(statistics.byte_count <= 4 * size, "{statistics:?}");
                clock.advance(Duration::from_millis(10));
                std::thread::yield_now();
            }
        });
        let workers: Vec<_> = (0..8)
            .map(|worker| {
                let (store, refused, registered) = (&store, &refused, &registered);
                scope.spawn(move || {
                    for round in 0..150 {
                        match register_spectrum(store, 50) {
                            Ok(reference) => {
                                registered.fetch_add(1, Ordering::Relaxed);
                                let lease = store.resolve(reference.reference).ok();
                                if (worker + round) % 2 == 0 {
                                    drop(lease);
                                    store.release(reference.reference).unwrap();
                                } else {
                                    store.release(reference.reference).unwrap();
                                    let peaks =
                                        lease.as_ref().map(|lease| lease.spectrum().unwrap().mz().len());
                                    assert!(peaks.is_none_or(|count| count == 50));
                                }
                            }
                            Err(error) => {
                                assert_eq!(error.code(), ErrorCode::StoreLimit, "{error}");
                                refused.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                    }
                })
            })
            .collect();
        let results: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
        done.store(true, Ordering::Release);
        watcher.join().unwrap();
        assert!(results.into_iter().all(|result| result.is_ok()));
    });
    assert!(registered.into_inner() > 0);
    assert_eq!(taken_bytes(&store), 0);
    let statistics = store.statistics();
    assert_eq!((statistics.reference_count, statistics.registering_count), (0, 0));
    // every slot and every byte is there again
    for _ in 0..4 {
        register_spectrum(&store, 50).unwrap();
    }
    assert_eq!(code(register_spectrum(&store, 50)), Some(ErrorCode::StoreLimit));
}

/// S6: all begin together and none gives up: exactly as many get in as fit.
#[test]
fn s6_of_many_that_register_at_once_exactly_as_many_get_in_as_fit() {
    let size = size_of_spectrum(50);
    for (limits, fitting) in [
        (Limits { references: 7, ..wide_limits() }, 7),
        (Limits { total_bytes: 0, ..wide_limits() }, 0),
        (Limits { references: 32, total_bytes: 32 * size, ..wide_limits() }, 32),
    ] {
        let (store, _) = store_with(limits);
        let barrier = std::sync::Barrier::new(16);
        let registered: usize = std::thread::scope(|scope| {
            let register = || {
                barrier.wait();
                (0..2).filter(|_| register_spectrum(&store, 50).is_ok()).count()
            };
            let threads: Vec<_> = (0..16).map(|_| scope.spawn(register)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(registered, fitting);
        assert_eq!(store.statistics().reference_count, fitting as u64);
        assert_eq!(taken_bytes(&store), fitting as u64 * size);
    }
}

/// S12, S8: threads that ask for one spectrum of a run get one reference. Many rounds, since few are close enough.
#[test]
fn s12_threads_that_slice_the_same_spectrum_share_one_reference() {
    const ROUNDS: usize = 300;
    let (store, _) = store();
    let run = register_run(&store, 4).unwrap().reference;
    let barrier = std::sync::Barrier::new(4);
    let slice = || {
        let round = |_| {
            barrier.wait();
            let slice = store.slice_spectrum(run, 3, Provenance::of("load_spectrum")).unwrap().reference;
            if barrier.wait().is_leader() {
                assert!(store.release(slice).unwrap().released);
            }
            slice
        };
        (0..ROUNDS).map(round).collect::<Vec<_>>()
    };
    let answers: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(slice)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(answers.iter().all(|answer| *answer == answers[0]), "one reference for all in every round");
    assert_eq!(store.statistics().reference_count, 1, "none was left beside the one that is answered");
    store.release(run).unwrap();
    assert_eq!(taken_bytes(&store), 0);
    assert_eq!(store.statistics().reference_count, 0);
}

/// S12: a thread that holds a lease, or reads under one, keeps nobody from looking up.
#[test]
fn s12_lookups_go_on_while_leases_are_held_and_loads_are_under_way() {
    let (store, _) = store();
    let id = register_spectrum(&store, 10).unwrap().reference;
    let held = store.resolve(id).unwrap();
    let view = held.spectrum().unwrap();
    let load = store.begin_run().unwrap();
    let writer = RunWriter::create(load.folder(), load.budget()).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let other = store.clone();
    std::thread::spawn(move || sender.send(other.resolve(id).unwrap().spectrum().unwrap().mz().len()));
    assert_eq!(receiver.recv_timeout(Duration::from_secs(60)), Ok(10));
    assert_eq!(view.mz().len(), 10);
    drop(writer);
}

#[cfg(target_os = "linux")]
#[test]
fn s6_coming_near_the_systems_limits_is_a_store_limit() {
    for (limits, name) in [
        (Limits { mappings: Some(20), ..wide_limits() }, "vm.max_map_count"),
        (Limits { descriptors: Some(3), ..wide_limits() }, "RLIMIT_NOFILE"),
    ] {
        let (store, _) = store_with(limits);
        let error = register_spectrum(&store, 1).unwrap_err();
        assert_eq!(error.code(), ErrorCode::StoreLimit);
        assert!(error.to_string().contains(name), "{error}");
        assert_eq!(store.statistics().registering_count, 0);
    }
}

/// S6: descriptors that vanish after the store has counted are refused by the system, and that is a limit too.
/// The limit is the process's, so that this runs in a process of its own.
#[cfg(target_os = "linux")]
#[test]
fn s6_running_out_of_descriptors_is_a_store_limit() {
    const CHILD: &str = "MZARENA_TEST_WITHOUT_DESCRIPTORS";
    if std::env::var_os(CHILD).is_none() {
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "s6_running_out_of_descriptors_is_a_store_limit", "--nocapture"])
            .env(CHILD, "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&child.stdout) + String::from_utf8_lossy(&child.stderr);
        assert!(child.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let (store, _) = store();
    let kept = register_spectrum(&store, 10).unwrap();
    let limit = rustix::process::Rlimit { current: Some(64), maximum: Some(64) };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, limit).unwrap();
    let mut files: Vec<_> = std::iter::from_fn(|| std::fs::File::open("/dev/null").ok()).collect();
    for spare in 0..3 {
        let result = register_spectrum(&store, 10);
        match result {
            Err(error) => assert_eq!(error.code(), ErrorCode::StoreLimit, "with {spare} to spare: {error}"),
            Ok(_) => assert!(spare >= 1, "nothing can be made without a descriptor"),
        }
        files.pop();
    }
    drop(files);
    register_spectrum(&store, 10).unwrap();
    assert!(store.resolve(kept.reference).is_ok());
}
