//! What the system says about a sealed arena. Alone in its process, so that every unnamed file is ours.
#![cfg(target_os = "linux")]

use mzarena::arena::{Arena, ArenaFolder, ColumnsRef, IntensityRef, RunWriter, Unlimited};
use mzarena::spectrum::SpectrumDescription;
use std::fs;

fn arena(point_count: usize) -> Arena {
    let mut writer = RunWriter::create(&ArenaFolder::from_environment().unwrap(), Unlimited).unwrap();
    let mz: Vec<f64> = (0..point_count).map(|at| at as f64).collect();
    let intensity = vec![1.0_f32; point_count];
    let columns = ColumnsRef::new(&mz, IntensityRef::F32(&intensity));
    writer.push(&SpectrumDescription::default(), columns).unwrap();
    writer.seal().unwrap().0
}

/// Address range and flags of each mapping of a file without a name.
fn unnamed_mappings() -> Vec<(usize, usize, String)> {
    let mut found = Vec::new();
    let mut current = None;
    for line in fs::read_to_string("/proc/self/smaps").unwrap().lines() {
        let first = line.split_whitespace().next().unwrap_or_default();
        if let Some((start, end)) = first.split_once('-')
            && let (Ok(start), Ok(end)) = (usize::from_str_radix(start, 16), usize::from_str_radix(end, 16))
        {
            current = line.contains("(deleted)").then_some((start, end));
        } else if let (Some((start, end)), Some(flags)) = (current, line.strip_prefix("VmFlags:")) {
            found.push((start, end, flags.to_owned()));
        }
    }
    found
}

fn descriptors_of_unnamed_files() -> Vec<String> {
    let entries = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let targets = entries.filter_map(|entry| fs::read_link(entry.path()).ok());
    targets
        .map(|target| target.to_string_lossy().into_owned())
        .filter(|name| name.contains("(deleted)"))
        .collect()
}

/// S1, S2, S11: the arena's file has no name and no descriptor, its mapping can never be made writable, a view's
/// slices lie inside it, and it is gone with the arena.
#[test]
fn a_sealed_arena_is_unnamed_read_only_and_gone_with_its_last_holder() {
    assert_eq!(unnamed_mappings(), []);
    let arena = arena(100_000);
    let mappings = unnamed_mappings();
    let [(start, end, flags)] = mappings.as_slice() else { panic!("one mapping, not {mappings:?}") };
    let flags: Vec<&str> = flags.split_whitespace().collect();
    assert!(flags.contains(&"rd"), "{flags:?}");
    assert!(!flags.contains(&"wr") && !flags.contains(&"mw") && !flags.contains(&"ex"), "{flags:?}");
    assert_eq!(descriptors_of_unnamed_files(), Vec::<String>::new());

    let view = arena.run().unwrap().spectrum(0).unwrap();
    let address = view.mz().as_ptr() as usize;
    assert!(*start <= address && address + 800_000 <= *end, "the slice lies inside the mapping");
    assert_eq!((address - start) % 64, 0, "columns start at multiples of 64");
    let IntensityRef::F32(intensity) = view.intensity() else { panic!("f32 stays f32") };
    assert_eq!((intensity.as_ptr() as usize - start) % 64, 0);

    drop(arena);
    assert_eq!(unnamed_mappings(), []);
}
