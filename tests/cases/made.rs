//! The inputs that no repository can hold.

use crate::mzml::{Spectrum, document};
use crate::shared::skip;
use std::fs::{File, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Makes the input `name` in `place`; `None`, said loudly, where this machine cannot have it.
pub(crate) fn make(place: &Path, name: &str) -> Option<PathBuf> {
    let path = place.join(name);
    match name {
        "fifo.mzML" => {
            let kind = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, &path, kind, 0o600.into(), 0).unwrap();
        }
        "loop_a.mzML" => {
            symlink("loop_b.mzML", &path).unwrap();
            symlink("loop_a.mzML", place.join("loop_b.mzML")).unwrap();
        }
        "dangling.mzML" => symlink("nothing.mzML", &path).unwrap(),
        "unreadable.mzML" => {
            std::fs::write(&path, sound()).unwrap();
            std::fs::set_permissions(&path, Permissions::from_mode(0o000)).unwrap();
            if File::open(&path).is_ok() {
                skip("a file without read permission: this user may read everything");
                return None;
            }
        }
        "sparse_5GB.mzML" => File::create(&path).unwrap().set_len(5 << 30).unwrap(),
        "nonutf8_\\xff\\xfe.mzML" => {
            let path = place.join(std::ffi::OsStr::from_bytes(b"nonutf8_\xff\xfe.mzML"));
            if std::fs::write(&path, sound()).is_err() {
                skip("a name that is not UTF-8: this file system has none");
                return None;
            }
            return Some(path);
        }
        "many_spectra.mzML" => {
            let spectrum = |at: u32| {
                let mz = 100.0 + f64::from(at) / 1024.0;
                Spectrum::new(
                    &format!("scan={}", at + 1),
                    f64::from(at) / 64.0,
                    &[mz, mz + 50.0],
                    &[1.0, at as f32],
                )
            };
            std::fs::write(&path, document(&(0..20_000).map(|at| spectrum(at).text()).collect::<String>()))
                .unwrap();
        }
        other => panic!("nothing makes {other}"),
    }
    Some(path)
}

fn sound() -> String {
    document(&Spectrum::plain("scan=1").text())
}
