//! Which files may be opened: the one door to a user's files.
//!
//! A server gets [`Roots`], whose folders are held open as handles. A name is looked up beneath a handle by the kernel
//! (or step by step where it cannot), so no `..`, no link and no swap in between leads outside. What lies outside is
//! refused with the code and the words of what does not exist, since even its existence is nobody's business.
//! Library users and the command line, who may read what they like, use [`open_path`].
//!
//! Both doors open for reading only, once, without ever waiting for the other end of a pipe, and let through nothing
//! but regular files of an admitted size. What is read afterwards is what was checked: the same descriptor.

mod listing;
mod roots;

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::time::SystemTime;

pub use listing::{ListedSource, SourcePage};
pub use roots::{RootSpec, Roots};

use crate::code::ErrorCode;

/// Limits that hold before a byte of a source is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessLimits {
    /// Largest file that is opened, in bytes, compressed if it is.
    pub max_source_bytes: u64,
}

impl Default for AccessLimits {
    /// 1 TiB: no run is that large, and no disk's worth of noise is read by mistake.
    fn default() -> Self {
        Self { max_source_bytes: 1 << 40 }
    }
}

impl AccessLimits {
    /// Name of the variable that sets [`max_source_bytes`](Self::max_source_bytes).
    pub const VARIABLE: &'static str = "MZARENA_MAX_SOURCE_BYTES";

    /// The defaults, changed by the variable that `lookup` finds; pass `|name| std::env::var_os(name)`.
    ///
    /// # Errors
    ///
    /// [`AccessError::Configuration`] where the value is not a number of bytes above 0.
    pub fn read(lookup: impl Fn(&str) -> Option<std::ffi::OsString>) -> Result<Self, AccessError> {
        let Some(text) = lookup(Self::VARIABLE) else { return Ok(Self::default()) };
        match text.to_str().and_then(|text| text.parse().ok()) {
            Some(max_source_bytes) if max_source_bytes > 0 => Ok(Self { max_source_bytes }),
            _ => Err(AccessError::Configuration {
                what: format!("{} is {text:?}; it must be a whole number of bytes above 0", Self::VARIABLE),
            }),
        }
    }
}

/// A source that may be read: opened once, regular, not too large.
#[derive(Debug)]
pub struct OpenedSource {
    /// Relative to the only root, or `label:relative` where there are several; by [`open_path`], the file's own name.
    pub name: String,
    /// The open file, at its start. On Unix it has `O_NONBLOCK` set, which regular files ignore.
    pub file: File,
    /// What it is, to see whether it changed.
    pub identity: SourceIdentity,
}

/// What tells one state of a file from another. Equal identities mean: unchanged, as far as the system can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SourceIdentity {
    /// Device that holds it, where the system has such numbers.
    pub device: Option<u64>,
    /// Number on the device, where the system has such numbers.
    pub inode: Option<u64>,
    /// Length in bytes.
    pub byte_size: u64,
    /// Time of the last change of content.
    pub modified: Option<SystemTime>,
    /// Time of the last change of content or attributes (`ctime`), as seconds and nanoseconds since 1970.
    pub changed: Option<(i64, i64)>,
}

impl SourceIdentity {
    /// The present identity of an open file.
    ///
    /// # Errors
    ///
    /// Those of the system call.
    pub fn of(file: &File) -> io::Result<Self> {
        file.metadata().map(|metadata| Self::from_metadata(&metadata))
    }

    fn from_metadata(metadata: &Metadata) -> Self {
        let mut identity = Self {
            device: None,
            inode: None,
            byte_size: metadata.len(),
            modified: metadata.modified().ok(),
            changed: None,
        };
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            identity.device = Some(metadata.dev());
            identity.inode = Some(metadata.ino());
            identity.changed = Some((metadata.ctime(), metadata.ctime_nsec()));
        }
        identity
    }
}

/// Why a source may not or cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccessError {
    /// A root or a limit is not usable.
    #[error("{what}")]
    Configuration {
        /// Which setting, and what is wrong with it.
        what: String,
    },
    /// An argument cannot be what it should be, whatever files there are.
    #[error("{what}")]
    InvalidArgument {
        /// Which argument, and what is wrong with it.
        what: String,
    },
    /// It does not exist, or it is not beneath a root: deliberately the same.
    #[error("there is no source {name} that may be read")]
    NotFound {
        /// As asked for, quoted; the file's own name where an absolute path was given.
        name: String,
    },
    /// Several roots have it.
    #[error("{name} is in {count} roots: {}", candidates.join(", "))]
    Ambiguous {
        /// As asked for, quoted.
        name: String,
        /// How many roots have it.
        count: usize,
        /// At most ten full names.
        candidates: Vec<String>,
    },
    /// It is something else.
    #[error("{name} is a {kind}, not a regular file")]
    NotARegularFile {
        /// As asked for, quoted.
        name: String,
        /// `folder`, `named pipe`, `socket`, `device`, `special file`.
        kind: &'static str,
    },
    /// It is larger than allowed.
    #[error("{name} has {byte_size} bytes; MZARENA_MAX_SOURCE_BYTES allows {limit}")]
    TooLarge {
        /// As asked for, quoted.
        name: String,
        /// Its size in bytes.
        byte_size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// It is there, and the system does not open it.
    #[error("{name} cannot be opened: {}", source.kind())]
    Failed {
        /// As asked for, quoted.
        name: String,
        /// What the system said.
        source: io::Error,
    },
}

impl AccessError {
    /// The stable code of this error.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Configuration { .. } => ErrorCode::InvalidConfiguration,
            Self::InvalidArgument { .. } => ErrorCode::InvalidArgument,
            Self::NotFound { .. } => ErrorCode::NotFound,
            Self::Ambiguous { .. } => ErrorCode::AmbiguousSource,
            Self::NotARegularFile { .. } => ErrorCode::NotARegularFile,
            Self::TooLarge { .. } => ErrorCode::SourceTooLarge,
            Self::Failed { .. } => ErrorCode::ReadFailed,
        }
    }

    /// Names to choose from, where there are several; at most ten.
    pub fn candidates(&self) -> &[String] {
        match self {
            Self::Ambiguous { candidates, .. } => candidates,
            _ => &[],
        }
    }
}

/// Opens any file that the process may read, by the same rules for what is a source: for library users and the command
/// line. The server opens by [`Roots`] instead.
///
/// ```
/// use mzarena::access::open_path;
/// let error = open_path("no/such/run.mzML".as_ref()).unwrap_err();
/// assert_eq!(error.code().as_str(), "not_found");
/// ```
///
/// # Errors
///
/// [`AccessError`], with the path as given in its text.
pub fn open_path(path: &Path) -> Result<OpenedSource, AccessError> {
    let shown = quoted(&path.to_string_lossy());
    let failed = |error| failure(&shown, error);
    // looked at first, since merely opening some devices has effects
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if let Some(kind) = irregular_kind(metadata.file_type()) {
        return Err(AccessError::NotARegularFile { name: shown, kind });
    }
    let mut options = std::fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, open_flags());
    let file = options.open(path).map_err(failed)?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    admit(file, name, &shown, AccessLimits::default())
}

/// Checks an open file, so that what was looked at before cannot have been something else.
fn admit(file: File, name: String, shown: &str, limits: AccessLimits) -> Result<OpenedSource, AccessError> {
    let metadata = file.metadata().map_err(|error| failure(shown, error))?;
    if let Some(kind) = irregular_kind(metadata.file_type()) {
        return Err(AccessError::NotARegularFile { name: shown.to_owned(), kind });
    }
    let identity = SourceIdentity::from_metadata(&metadata);
    if identity.byte_size > limits.max_source_bytes {
        let (byte_size, limit) = (identity.byte_size, limits.max_source_bytes);
        return Err(AccessError::TooLarge { name: shown.to_owned(), byte_size, limit });
    }
    Ok(OpenedSource { name, file, identity })
}

/// What a file is instead of a regular one; `None` for regular files.
fn irregular_kind(kind: std::fs::FileType) -> Option<&'static str> {
    if kind.is_file() {
        return None;
    }
    if kind.is_dir() {
        return Some("folder");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return Some("named pipe");
        }
        if kind.is_socket() {
            return Some("socket");
        }
        if kind.is_block_device() || kind.is_char_device() {
            return Some("device");
        }
    }
    Some("special file")
}

/// Never wait for a pipe's writer, never become a terminal's owner.
#[cfg(unix)]
fn open_flags() -> i32 {
    use rustix::fs::OFlags;
    (OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32
}

/// Whether an error says that nothing is there to be opened, beneath the folder that was looked in.
fn is_absence(error: &io::Error) -> bool {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename => true,
        // the refusal to leave a root is the crate's own error; a refusal by permissions is the system's
        io::ErrorKind::PermissionDenied => error.raw_os_error().is_none(),
        // a loop of links; the kind has no stable name
        _ => is_link_loop(error),
    }
}

#[cfg(unix)]
fn is_link_loop(error: &io::Error) -> bool {
    rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::LOOP)
}

#[cfg(not(unix))]
fn is_link_loop(_error: &io::Error) -> bool {
    false
}

fn failure(shown: &str, source: io::Error) -> AccessError {
    let name = shown.to_owned();
    if is_absence(&source) { AccessError::NotFound { name } } else { AccessError::Failed { name, source } }
}

/// A name as errors show it: quoted, control characters escaped, and a very long one cut, which is said.
fn quoted(name: &str) -> String {
    const LONGEST: usize = 300;
    if name.len() <= LONGEST {
        return format!("{name:?}");
    }
    let (start, _) = name.split_at(name.floor_char_boundary(LONGEST));
    format!("{start:?}… ({} bytes)", name.len())
}
