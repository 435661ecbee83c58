//! The folder in which arenas are made.

use super::ArenaError;
use std::io;
use std::path::{Path, PathBuf};

/// Environment variable that names the arena folder.
pub const ARENA_DIR_VARIABLE: &str = "MZARENA_ARENA_DIR";

/// A folder in which unnamed files can be made.
///
/// ```
/// let folder = mzarena::arena::ArenaFolder::from_environment().unwrap();
/// assert!(folder.free_bytes().unwrap() > 0);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArenaFolder {
    path: PathBuf,
}

impl ArenaFolder {
    /// The folder named by `MZARENA_ARENA_DIR`, else by `TMPDIR`, else `/var/tmp`.
    ///
    /// A file system in memory or on a network is used only where `MZARENA_ARENA_DIR` names it: the first would
    /// hold every peak in RAM, the second fails under a mapped page.
    ///
    /// # Errors
    ///
    /// [`ArenaError::Io`] with the folder, where no unnamed file can be made in it.
    pub fn from_environment() -> Result<Self, ArenaError> {
        if let Some(named) = std::env::var_os(ARENA_DIR_VARIABLE).filter(|value| !value.is_empty()) {
            return Self::at(named);
        }
        if let Some(temporary) = std::env::var_os("TMPDIR").filter(|value| !value.is_empty()) {
            let folder = Self::at(temporary)?;
            if !is_volatile_or_remote(&folder.path) {
                return Ok(folder);
            }
        }
        let folder = Self::at(default_folder())?;
        if is_volatile_or_remote(&folder.path) {
            return Err(ArenaError::Io {
                action: "create",
                folder: folder.path,
                source: io::Error::other(format!(
                    "it lies in memory or on a network; name a folder on a local disk in {ARENA_DIR_VARIABLE}"
                )),
            });
        }
        Ok(folder)
    }

    /// The folder at `path`, whatever its file system.
    ///
    /// # Errors
    ///
    /// [`ArenaError::Io`] with the folder, where no unnamed file can be made in it.
    pub fn at(path: impl Into<PathBuf>) -> Result<Self, ArenaError> {
        let folder = Self { path: path.into() };
        super::file::UnnamedFile::create(&folder)?;
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes that an ordinary user can still write there.
    ///
    /// # Errors
    ///
    /// [`ArenaError::Io`] where the system does not tell.
    pub fn free_bytes(&self) -> Result<u64, ArenaError> {
        free_bytes(&self.path).map_err(|source| ArenaError::Io {
            action: "measure the space for",
            folder: self.path.clone(),
            source,
        })
    }
}

#[cfg(unix)]
fn default_folder() -> PathBuf {
    PathBuf::from("/var/tmp")
}

#[cfg(not(unix))]
fn default_folder() -> PathBuf {
    std::env::temp_dir()
}

#[cfg(unix)]
fn free_bytes(path: &Path) -> io::Result<u64> {
    let facts = rustix::fs::statvfs(path)?;
    Ok(facts.f_bavail.saturating_mul(facts.f_frsize))
}

#[cfg(not(unix))]
fn free_bytes(_path: &Path) -> io::Result<u64> {
    Ok(u64::MAX)
}

/// Magic numbers of file systems in memory or on a network, from `linux/magic.h`.
#[cfg(target_os = "linux")]
const VOLATILE_OR_REMOTE: &[u64] = &[
    0x0102_1994, // tmpfs
    0x8584_58f6, // ramfs
    0x6969,      // nfs
    0x517b,      // smb
    0xff53_4d42, // cifs
    0xfe53_4d42, // smb2
    0x0102_1997, // 9p
    0x00c3_6400, // ceph
    0x5346_414f, // afs
    0x0bd0_0bd0, // lustre
];

#[cfg(target_os = "linux")]
fn is_volatile_or_remote(path: &Path) -> bool {
    // The type is a signed 32-bit number on some systems: compare the low half.
    rustix::fs::statfs(path).is_ok_and(|facts| {
        let kind = facts.f_type as u64 & 0xffff_ffff;
        VOLATILE_OR_REMOTE.contains(&kind)
    })
}

#[cfg(not(target_os = "linux"))]
fn is_volatile_or_remote(_path: &Path) -> bool {
    false
}
