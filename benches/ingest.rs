//! Loading a run: from a file on disk to a sealed arena, digest and checks included, against mzdata's decoding alone,
//! which hashes and keeps nothing. `MZARENA_BENCH_SPECTRA` sets the size of the run (2,000 by default, 63 MB).

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use mzarena::access::open_path;
use mzarena::arena::{ArenaFolder, Unlimited};
use mzarena::ingest::{IngestOptions, Source, ingest};
use mzarena::observe::Unobserved;
use mzarena::synthetic::{Compression, SyntheticRun};
use std::fs::File;
use std::hint::black_box;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;
use std::time::Duration;

fn load(path: &Path, folder: &ArenaFolder) -> u64 {
    let source = Source::from_opened(open_path(path).unwrap()).unwrap();
    let loaded = ingest(source, folder, Unlimited, &IngestOptions::default(), &Unobserved).unwrap();
    loaded.arena.totals().point_count
}

fn decode_with_mzdata(path: &Path) -> u64 {
    let reader = mzdata::MzMLReader::new(BufReader::with_capacity(256 * 1024, File::open(path).unwrap()));
    let mut count = 0;
    for spectrum in reader {
        let arrays = spectrum.arrays.as_ref().unwrap();
        let (mz, intensity) = (arrays.mzs().unwrap(), arrays.intensities().unwrap());
        assert_eq!(mz.len(), intensity.len());
        count += black_box(mz).len() as u64;
    }
    count
}

fn benches(criterion: &mut Criterion) {
    let spectra =
        std::env::var("MZARENA_BENCH_SPECTRA").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000);
    let folder = ArenaFolder::from_environment().unwrap();
    let scratch = tempfile::tempdir_in(folder.path()).unwrap();
    for (name, compression) in [("zlib", Compression::Zlib), ("uncompressed", Compression::None)] {
        let run = SyntheticRun {
            spectrum_count: spectra,
            mean_points_per_spectrum: 2_000,
            compression,
            ..SyntheticRun::default()
        };
        let path = scratch.path().join(format!("{name}.mzML"));
        let mut file = BufWriter::new(File::create(&path).unwrap());
        let facts = run.write_mzml(&mut file).unwrap();
        file.flush().unwrap();
        let bytes = path.metadata().unwrap().len();
        let mut group = criterion.benchmark_group(format!("ingest/{name}"));
        group.sampling_mode(SamplingMode::Flat).sample_size(10).measurement_time(Duration::from_secs(5));
        group.throughput(Throughput::Bytes(bytes));
        group.bench_function("mzarena", |bencher| {
            bencher.iter(|| assert_eq!(load(&path, &folder), facts.point_count));
        });
        group.bench_function("mzdata", |bencher| {
            bencher.iter(|| assert_eq!(decode_with_mzdata(&path), facts.point_count));
        });
        group.finish();
    }
}

criterion_group!(all, benches);
criterion_main!(all);
