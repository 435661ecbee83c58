//! The arena: registering in bulk against memcpy, a small registration with its release against a clone on the heap,
//! and reading through views against the same code on vectors.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use mzarena::arena::{Arena, ArenaFolder, ColumnsRef, IntensityRef, RunWriter, Unlimited};
use mzarena::spectrum::SpectrumDescription;
use std::hint::black_box;

const POINTS: usize = 2_000;
const SPECTRA: usize = 2_796; // 64 MiB of columns

fn columns() -> (Vec<f64>, Vec<f32>) {
    let mz = (0..POINTS).map(|at| 100.0 + at as f64 * 0.7).collect();
    let intensity = (0..POINTS).map(|at| ((at * 7_919) % 10_007) as f32).collect();
    (mz, intensity)
}

fn write(folder: &ArenaFolder, count: usize, mz: &[f64], intensity: &[f32]) -> Arena {
    let mut writer = RunWriter::create(folder, Unlimited).unwrap();
    let mut description = SpectrumDescription::default();
    for number in 0..count {
        description.native_id.clear();
        description.native_id.push_str("scan=");
        description.native_id.push_str(&number.to_string());
        writer.push(&description, ColumnsRef::new(mz, IntensityRef::F32(intensity))).unwrap();
    }
    writer.seal().unwrap().0
}

fn register(criterion: &mut Criterion) {
    let folder = ArenaFolder::from_environment().unwrap();
    let (mz, intensity) = columns();
    let bytes = SPECTRA * POINTS * 12;
    let mut group = criterion.benchmark_group("arena/register_64_mib");
    group.sample_size(10).throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("arena", |bencher| {
        bencher.iter_batched(|| (), |()| write(&folder, SPECTRA, &mz, &intensity), BatchSize::PerIteration);
    });
    let from = vec![1_u8; bytes];
    let mut to = vec![2_u8; bytes];
    group.bench_function("memcpy", |bencher| {
        bencher.iter(|| {
            to.copy_from_slice(black_box(&from));
            black_box(to.last().copied())
        });
    });
    group.finish();

    let mut group = criterion.benchmark_group("arena/register_and_release_24_kb");
    group.bench_function("arena", |bencher| bencher.iter(|| drop(write(&folder, 1, &mz, &intensity))));
    group.bench_function("heap_clone", |bencher| bencher.iter(|| black_box((mz.clone(), intensity.clone()))));
    group.finish();
}

fn sum(mz: &[f64], intensity: &[f32]) -> f64 {
    mz.iter().zip(intensity).filter(|(mz, _)| **mz >= 500.0).map(|(_, intensity)| f64::from(*intensity)).sum()
}

fn scan(criterion: &mut Criterion) {
    let folder = ArenaFolder::from_environment().unwrap();
    let (mz, intensity) = columns();
    let arena = write(&folder, SPECTRA, &mz, &intensity);
    let heap: Vec<_> = (0..SPECTRA).map(|_| (mz.clone(), intensity.clone())).collect();
    let expected: f64 = SPECTRA as f64 * sum(&mz, &intensity);
    let mut group = criterion.benchmark_group("arena/scan_64_mib");
    group.sample_size(20).throughput(Throughput::Elements((SPECTRA * POINTS) as u64));
    group.bench_function("views", |bencher| {
        bencher.iter(|| {
            let total: f64 = arena
                .run()
                .unwrap()
                .spectra()
                .map(|spectrum| match spectrum.intensity() {
                    IntensityRef::F32(intensity) => sum(spectrum.mz(), intensity),
                    IntensityRef::F64(_) => panic!("f32 stays f32"),
                })
                .sum();
            assert_eq!(total, expected);
        });
    });
    group.bench_function("heap_vectors", |bencher| {
        bencher.iter(|| {
            let total: f64 = heap.iter().map(|(mz, intensity)| sum(mz, intensity)).sum();
            assert_eq!(total, expected);
        });
    });
    group.finish();
}

criterion_group!(all, register, scan);
criterion_main!(all);
