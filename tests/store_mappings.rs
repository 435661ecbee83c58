//! S1, S7: what is released is unmapped, when the last view is gone, and what is mapped cannot be written.
//!
//! Addresses and inodes are used again by the system, so these tests take turns and have a process of their own.
#![cfg(target_os = "linux")]

#[path = "support/stores.rs"]
mod stores;

use mzarena::provenance::Provenance;
use mzarena::store::Lease;
use std::sync::{Mutex, MutexGuard, PoisonError};
use stores::*;

static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lines of unnamed files among the mappings of this process.
fn arenas() -> Vec<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    // a build that replaces this program while it runs makes it a deleted file too
    let program = std::env::current_exe().unwrap().to_string_lossy().replace(" (deleted)", "");
    let unnamed = maps.lines().filter(|line| line.ends_with("(deleted)") && !line.contains(&program));
    unnamed.map(str::to_owned).collect()
}

/// The mapping in which an address lies.
fn mapping_of(address: *const f64) -> Option<String> {
    arenas().into_iter().find(|line| {
        let (range, _) = line.split_once(' ').unwrap();
        let (start, end) = range.split_once('-').unwrap();
        let number = |text| usize::from_str_radix(text, 16).unwrap();
        (number(start)..number(end)).contains(&(address as usize))
    })
}

fn address(lease: &Lease) -> *const f64 {
    lease.spectrum().unwrap().mz().as_ptr()
}

#[test]
fn s1_s2_views_lie_in_a_read_only_mapping_of_a_file_without_a_name() {
    let _turn = turn();
    let (store, _) = store();
    let id = register_spectrum(&store, 5000).unwrap().reference;
    let lease = store.resolve(id).unwrap();
    let line = mapping_of(address(&lease)).expect("the slice lies in the mapping");
    let permissions = line.split(' ').nth(1).unwrap();
    assert!(permissions.starts_with("r--"), "{line}");
    // `mw` would let the mapping be made writable later
    let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let block = smaps.split_once(line.split(' ').next().unwrap()).unwrap().1;
    let flags = block.lines().find(|line| line.starts_with("VmFlags:")).unwrap();
    assert!(!flags.split_whitespace().any(|flag| flag == "mw" || flag == "wr"), "{flags}");
    // no descriptor is left
    let links = std::fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|entry| entry.unwrap().path().read_link().ok());
    assert!(links.into_iter().all(|link| !link.to_string_lossy().ends_with("(deleted)")));
}

#[test]
fn s7_release_unmaps_at_once_when_nobody_looks() {
    let _turn = turn();
    let (store, clock) = store();
    assert_eq!(arenas().len(), 0);
    let ids = [
        register_spectrum(&store, 5000).unwrap(),
        register_run(&store, 3).unwrap(),
        register_embedding(&store, 100).unwrap(),
    ];
    store.slice_spectrum(ids[1].reference, 1, Provenance::of("load_spectrum")).unwrap();
    assert_eq!(arenas().len(), 3);
    for (left, reference) in [2, 1, 0].into_iter().zip(&ids) {
        store.release(reference.reference).unwrap();
        assert_eq!(arenas().len(), left);
    }
    // expiry too, on access
    let id = register_spectrum(&store, 5000).unwrap().reference;
    clock.advance(TIME_TO_LIVE);
    assert_eq!(arenas().len(), 1, "lazily");
    assert!(store.resolve(id).is_err());
    assert_eq!(arenas().len(), 0);
}

#[test]
fn s7_a_lease_keeps_the_arena_mapped_to_the_end() {
    let _turn = turn();
    let (store, _) = store();
    let run = register_run(&store, 3).unwrap().reference;
    let slice = store.slice_spectrum(run, 2, Provenance::of("load_spectrum")).unwrap().reference;
    let (of_run, of_slice) = (store.resolve(run).unwrap(), store.resolve(slice).unwrap());
    store.release(run).unwrap();
    drop(store);
    drop(of_run);
    assert!(mapping_of(address(&of_slice)).is_some());
    assert_eq!(of_slice.spectrum().unwrap().mz(), &[100.0, 100.25, 100.5]);
    drop(of_slice);
    assert_eq!(arenas().len(), 0);
}

#[test]
fn s6_a_registration_that_fails_or_is_dropped_leaves_no_mapping() {
    let _turn = turn();
    let (store, _) = store();
    let load = store.begin_run().unwrap();
    let writer = mzarena::arena::RunWriter::create(load.folder(), load.budget()).unwrap();
    let (arena, _) = writer.seal().unwrap();
    assert_eq!(arenas().len(), 1);
    let too_long = mzarena::store::Details::new(Provenance::of(&"x".repeat(65)));
    assert!(load.finish(arena, too_long).is_err());
    assert_eq!(arenas().len(), 0);
    let statistics = store.statistics();
    assert_eq!((statistics.registering_count, statistics.loading_bytes, statistics.byte_count), (0, 0, 0));
}
