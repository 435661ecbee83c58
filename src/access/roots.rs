//! Folders below which files may be opened, held open as handles.

use std::io;
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};

use super::{AccessError, AccessLimits, OpenedSource, admit, failure, is_absence, quoted};

/// A folder to be made a root, and how names say that they mean it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootSpec {
    /// Label before the colon in `label:path`; by default the folder's name, where there are several roots.
    pub label: Option<String>,
    /// The folder.
    pub folder: PathBuf,
}

impl RootSpec {
    /// Reads `[LABEL=]DIR`. A label has letters, digits, `_`, `-` and `.`; a folder whose name looks like one is
    /// written with a path before it, as in `./a=b`.
    ///
    /// ```
    /// use mzarena::access::RootSpec;
    /// let root = RootSpec::parse("qc=/data/QC")?;
    /// assert_eq!(root.label.as_deref(), Some("qc"));
    /// assert_eq!(RootSpec::parse("./a=b")?.label, None);
    /// # Ok::<(), mzarena::access::AccessError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`AccessError::Configuration`] where the folder is missing.
    pub fn parse(text: &str) -> Result<Self, AccessError> {
        let (label, folder) = match text.split_once('=') {
            Some((label, folder)) if is_label(label) => (Some(label.to_owned()), folder),
            _ => (None, text),
        };
        if folder.is_empty() {
            return Err(configuration(format!("the root {text:?} names no folder; write LABEL=DIR or DIR")));
        }
        Ok(Self { label, folder: PathBuf::from(folder) })
    }
}

/// The folders below which sources are named, listed and opened.
///
/// ```
/// use mzarena::access::{RootSpec, Roots};
/// let roots = Roots::new([RootSpec::parse("src")?])?;
/// assert_eq!(roots.open("lib.rs")?.name, "lib.rs");
/// assert_eq!(roots.open("../Cargo.toml").unwrap_err().code().as_str(), "not_found");
/// # Ok::<(), mzarena::access::AccessError>(())
/// ```
#[derive(Debug)]
pub struct Roots {
    roots: Vec<Root>,
    limits: AccessLimits,
}

#[derive(Debug)]
pub(super) struct Root {
    label: Option<String>,
    pub(super) dir: Dir,
    /// The folder as configured, made absolute, and after links: the prefixes of absolute names that are accepted.
    given: PathBuf,
    canonical: PathBuf,
}

impl Roots {
    /// Opens the folders. None given means the current folder, unless that is the root of the file system.
    ///
    /// # Errors
    ///
    /// [`AccessError::Configuration`]: a folder cannot be opened, or two have one label.
    pub fn new(specs: impl IntoIterator<Item = RootSpec>) -> Result<Self, AccessError> {
        let mut specs: Vec<RootSpec> = specs.into_iter().collect();
        if specs.is_empty() {
            specs.push(current_folder()?);
        }
        let mut roots = specs.into_iter().map(Root::open).collect::<Result<Vec<_>, _>>()?;
        if roots.len() > 1 {
            roots.iter_mut().try_for_each(Root::find_label)?;
        }
        let mut labels: Vec<&str> = roots.iter().filter_map(|root| root.label.as_deref()).collect();
        labels.sort_unstable();
        if let Some(label) = labels.windows(2).find_map(|pair| match pair {
            [a, b] if a == b => Some(a),
            _ => None,
        }) {
            return Err(configuration(format!(
                "two roots have the label {label:?}; give them labels: LABEL=DIR"
            )));
        }
        Ok(Self { roots, limits: AccessLimits::default() })
    }

    /// Sets the limits.
    pub fn with_limits(mut self, limits: AccessLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The limits that hold.
    pub fn limits(&self) -> AccessLimits {
        self.limits
    }

    /// Labels of the roots, in the order given; only a sole root may be without one.
    pub fn labels(&self) -> impl Iterator<Item = Option<&str>> {
        self.roots.iter().map(|root| root.label.as_deref())
    }

    /// Opens the source `name`: relative to a root, `label:relative`, or an absolute path inside a root.
    ///
    /// A label wins over a file whose name begins like one. Names with `..` are not looked up at all.
    ///
    /// # Errors
    ///
    /// [`AccessError`]; its text never has a machine's path in it.
    pub fn open(&self, name: &str) -> Result<OpenedSource, AccessError> {
        if name.is_empty() {
            return Err(AccessError::InvalidArgument { what: "the source name is empty".to_owned() });
        }
        if name.contains('\0') {
            return Err(AccessError::InvalidArgument {
                what: "the source name has a NUL character".to_owned(),
            });
        }
        if Path::new(name).is_absolute() {
            return self.open_absolute(name);
        }
        let shown = quoted(name);
        if let Some((label, rest)) = name.split_once(':')
            && let Some(root) = self.roots.iter().find(|root| root.label.as_deref() == Some(label))
            && let Some(relative) = plain_relative(Path::new(rest))
        {
            match self.open_one_of(&[(root, relative)], &shown) {
                Err(AccessError::NotFound { .. }) => {}
                other => return other,
            }
        }
        let Some(relative) = plain_relative(Path::new(name)) else {
            return Err(AccessError::NotFound { name: shown });
        };
        let places: Vec<_> = self.roots.iter().map(|root| (root, relative.clone())).collect();
        self.open_one_of(&places, &shown)
    }

    fn open_absolute(&self, name: &str) -> Result<OpenedSource, AccessError> {
        let path = Path::new(name);
        // the caller's own words, and yet no machine path in an answer
        let shown = quoted(&path.file_name().unwrap_or_default().to_string_lossy());
        let inside = self
            .roots
            .iter()
            .flat_map(|root| [(root, &root.given), (root, &root.canonical)])
            .filter_map(|(root, prefix)| Some((root, plain_relative(path.strip_prefix(prefix).ok()?)?)))
            // of nested roots the innermost, whose names are the shortest
            .min_by_key(|(_, relative)| relative.components().count());
        match inside {
            Some((root, relative)) => {
                // a slash at the end asks for a folder, and stripping a prefix lost it
                let relative =
                    if name.ends_with(std::path::is_separator) { relative.join("") } else { relative };
                self.open_one_of(&[(root, relative)], &shown)
            }
            None => Err(AccessError::NotFound { name: shown }),
        }
    }

    /// Opens the one place that has a regular file.
    fn open_one_of(&self, places: &[(&Root, PathBuf)], shown: &str) -> Result<OpenedSource, AccessError> {
        const MOST_CANDIDATES: usize = 10;
        let mut found = Vec::new();
        let mut refusal = None;
        for (root, relative) in places {
            match root.look(relative) {
                Ok((resolved, metadata)) => match irregular_kind(&metadata) {
                    None => found.push((*root, self.name(root, relative), resolved)),
                    Some(kind) => {
                        let name = shown.to_owned();
                        refusal.get_or_insert(AccessError::NotARegularFile { name, kind });
                    }
                },
                Err(error) if is_absence(&error) => {}
                Err(error) => {
                    refusal.get_or_insert(failure(shown, error));
                }
            }
        }
        if found.len() > 1 {
            let count = found.len();
            let candidates = found.into_iter().take(MOST_CANDIDATES).map(|(_, name, _)| name).collect();
            return Err(AccessError::Ambiguous { name: shown.to_owned(), count, candidates });
        }
        match found.pop() {
            None => Err(refusal.unwrap_or_else(|| AccessError::NotFound { name: shown.to_owned() })),
            Some((root, name, resolved)) => {
                let file = root.open_file(&resolved).map_err(|error| failure(shown, error))?;
                admit(file, name, shown, self.limits)
            }
        }
    }

    /// A source's name in answers.
    pub(super) fn name(&self, root: &Root, relative: &Path) -> String {
        // both parts are Unicode: names come from text, and listings leave others out
        let relative = relative.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
        match &root.label {
            Some(label) if self.roots.len() > 1 => format!("{label}:{relative}"),
            _ => relative,
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Root> {
        self.roots.iter()
    }
}

impl Root {
    fn open(spec: RootSpec) -> Result<Self, AccessError> {
        let failed = |error: io::Error| {
            configuration(format!("the root {} cannot be opened: {}", spec.folder.display(), error.kind()))
        };
        if let Some(label) = spec.label.as_deref().filter(|label| !is_label(label)) {
            return Err(configuration(format!(
                "the root label {label:?} must be made of letters, digits, `_`, `-` and `.`"
            )));
        }
        let dir = Dir::open_ambient_dir(&spec.folder, ambient_authority()).map_err(failed)?;
        let given = std::path::absolute(&spec.folder).map_err(failed)?;
        let canonical = spec.folder.canonicalize().map_err(failed)?;
        Ok(Self { label: spec.label, dir, given, canonical })
    }

    /// Takes the folder's name as label, where none was given.
    fn find_label(&mut self) -> Result<(), AccessError> {
        if self.label.is_none() {
            let name = self.canonical.file_name().and_then(|name| name.to_str());
            let label = name.filter(|name| !name.contains(':')).ok_or_else(|| {
                let folder = self.given.display();
                configuration(format!("the name of the root {folder} cannot be a label; give one: LABEL=DIR"))
            })?;
            self.label = Some(label.to_owned());
        }
        Ok(())
    }

    /// What lies at `relative`, and the path without links to other absolute paths by which to open it.
    pub(super) fn look(&self, relative: &Path) -> io::Result<(PathBuf, Metadata)> {
        let beneath = match self.dir.metadata(relative) {
            Ok(metadata) => return Ok((relative.to_owned(), metadata)),
            Err(error) => error,
        };
        // An absolute link is refused even where it leads back into the root. Its target is then looked up by its own
        // relative path, again beneath the handle, so nothing is gained by changing the link meanwhile.
        let outside = beneath.kind() == io::ErrorKind::PermissionDenied && beneath.raw_os_error().is_none();
        let resolved = outside.then(|| self.canonical.join(relative).canonicalize().ok()).flatten();
        let Some(inside) = resolved.as_deref().and_then(|path| path.strip_prefix(&self.canonical).ok())
        else {
            return Err(beneath);
        };
        let metadata = self.dir.metadata(inside)?;
        Ok((inside.to_owned(), metadata))
    }

    fn open_file(&self, relative: &Path) -> io::Result<std::fs::File> {
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::custom_flags(&mut options, super::open_flags());
        self.dir.open_with(relative, &options).map(cap_std::fs::File::into_std)
    }
}

fn current_folder() -> Result<RootSpec, AccessError> {
    let folder = std::env::current_dir()
        .map_err(|error| configuration(format!("the current folder cannot be a root: {}", error.kind())))?;
    if folder.parent().is_none() {
        let what =
            "no root is given and the current folder is the root of the file system; name a folder of data";
        return Err(configuration(what.to_owned()));
    }
    Ok(RootSpec { label: None, folder })
}

/// The path without `.` and doubled separators; `None` where it climbs with `..` or does not start at a root.
fn plain_relative(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => plain.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    if plain.as_os_str().is_empty() {
        // the root itself, which is a folder
        return Some(PathBuf::from("."));
    }
    // a slash at the end asks for a folder; components do not show it
    let asks_for_folder = path.as_os_str().as_encoded_bytes().last().is_some_and(|last| *last == b'/');
    Some(if asks_for_folder { plain.join("") } else { plain })
}

fn is_label(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

fn configuration(what: String) -> AccessError {
    AccessError::Configuration { what }
}

/// What a file is instead of a regular one; the handles have a file type of their own.
pub(super) fn irregular_kind(metadata: &Metadata) -> Option<&'static str> {
    let kind = metadata.file_type();
    if kind.is_file() {
        return None;
    }
    if kind.is_dir() {
        return Some("folder");
    }
    #[cfg(unix)]
    {
        use cap_std::fs::FileTypeExt;
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
