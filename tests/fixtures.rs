//! The files in `fixtures/` are what the generator makes, so that their truth is known to every test.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::{Compression as Level, read::GzDecoder, write::GzEncoder};
use mzarena::spectrum::{Polarity, Representation};
use mzarena::synthetic::{Acquisition, Compression, FloatWidth, SyntheticRun};

fn dda() -> SyntheticRun {
    SyntheticRun { spectrum_count: 20, mean_points_per_spectrum: 40, ..SyntheticRun::default() }
}

/// Every file with its bytes, before gzip where the name ends in `.gz`.
fn fixtures() -> Vec<(&'static str, Vec<u8>)> {
    let mzml = |run: &SyntheticRun| {
        let mut file = Vec::new();
        run.write_mzml(&mut file).unwrap();
        file
    };
    let mut mgf = Vec::new();
    dda().write_mgf(&mut mgf).unwrap();
    let dia = SyntheticRun {
        spectrum_count: 10,
        mean_points_per_spectrum: 250,
        acquisition: Acquisition::DataIndependent,
        representation: Representation::Profile,
        polarity: Polarity::Negative,
        mz_width: FloatWidth::Bits32,
        intensity_width: FloatWidth::Bits64,
        indexed: false,
        ..SyntheticRun::default()
    };
    vec![
        ("dda.mzML", mzml(&dda())),
        ("dda_zlib.mzML", mzml(&SyntheticRun { compression: Compression::Zlib, ..dda() })),
        ("dda.mzML.gz", mzml(&dda())),
        ("dda.mgf", mgf),
        ("dia_profile_negative.mzML", mzml(&dia)),
    ]
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

#[test]
fn fixtures_are_what_the_generator_makes() {
    let is_update = std::env::var_os("MZARENA_UPDATE_FIXTURES").is_some();
    for (name, expected) in fixtures() {
        let path = folder().join(name);
        let is_gzip = name.ends_with(".gz");
        if is_update && is_gzip {
            let mut encoder = GzEncoder::new(fs::File::create(&path).unwrap(), Level::best());
            encoder.write_all(&expected).unwrap();
            encoder.finish().unwrap();
        } else if is_update {
            fs::write(&path, &expected).unwrap();
        }
        let mut found = fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        if is_gzip {
            // compressors may change their output; what comes out again may not
            let packed = std::mem::take(&mut found);
            GzDecoder::new(packed.as_slice()).read_to_end(&mut found).unwrap();
        }
        assert!(found == expected, "{name} is not what the generator makes; see fixtures/README.md");
    }
}

#[test]
fn every_file_is_described() {
    let readme = fs::read_to_string(folder().join("README.md")).unwrap();
    let known: Vec<&str> = fixtures().iter().map(|(name, _)| *name).collect();
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "README.md" || known.contains(&name.as_str()), "nobody makes {name}");
        assert!(name == "README.md" || readme.contains(&format!("| `{name}` |")), "{name} is not described");
    }
}
