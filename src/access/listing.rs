//! Which sources the roots hold, a page at a time.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::roots::{Root, irregular_kind};
use super::{AccessError, Roots};

/// Folders deeper than this below a root are not looked into.
const MOST_LEVELS: usize = 16;
/// A walk ends after this many entries of folders, whatever they are.
const MOST_ENTRIES: u64 = 100_000;
const LONGEST_PATTERN: usize = 256;
/// Longest name that is its own cursor, in bytes.
const LONGEST_CURSOR_NAME: usize = 512;

/// A file that looks like a source by its name. Whether it is one shows when it is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedSource {
    /// Name to open it by.
    pub source: String,
    /// Length in bytes, compressed if it is.
    pub byte_size: u64,
    /// Time of the last change of content, RFC 3339, UTC, to the second.
    pub modified: Option<String>,
    /// `mzML` or `MGF`, by the extension.
    pub format: &'static str,
    /// Whether the name ends in `.gz`.
    pub is_gzip: bool,
}

/// One page of a list of sources, and what is not in the list.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SourcePage {
    /// At most as many as asked for, in the order of their names' bytes.
    pub sources: Vec<ListedSource>,
    /// Sources of all pages; a lower bound where [`is_cut`](Self::is_cut).
    pub total: u64,
    /// Opaque; asks for the page after this one. `None` on the last.
    pub next_cursor: Option<String>,
    /// Whether the walk ended early: too many entries, or folders too deep.
    pub is_cut: bool,
    /// Sources whose names are not Unicode; they cannot be named, so they are left out.
    pub not_unicode_count: u64,
    /// Folders that could not be read.
    pub unreadable_folder_count: u64,
}

impl SourcePage {
    /// Usual number of sources on a page.
    pub const USUAL_LIMIT: usize = 20;
}

impl Roots {
    /// Lists files whose names look like sources: `.mzML` and `.mgf`, each also with `.gz`, in any case.
    ///
    /// A `pattern` with `*` (any characters, also `/`) or `?` (any one) must match the whole name, or the part after
    /// the last `/` or `:`; without them it may occur anywhere. Case does not matter. Names are as [`Roots::open`] takes them.
    /// Hidden entries (names that begin with a dot) are left out, and links to folders are not followed; links to files
    /// are listed as long as they stay inside their root. `limit` 0 counts as 1.
    ///
    /// # Errors
    ///
    /// [`AccessError::InvalidArgument`] for a pattern of more than 256 bytes.
    pub fn list(
        &self,
        pattern: Option<&str>,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<SourcePage, AccessError> {
        let pattern = pattern.map(Pattern::new).transpose()?;
        let mut walk = Walk::default();
        let mut found = Vec::new();
        for root in self.iter() {
            walk.gather(root, |relative| {
                let name = self.name(root, relative);
                if pattern.as_ref().is_none_or(|pattern| pattern.matches(&name)) {
                    found.push((name, root, relative.to_owned()));
                }
            });
        }
        found.sort_unstable_by(|(a, ..), (b, ..)| a.cmp(b));
        let mut page = SourcePage { total: found.len() as u64, ..walk.page };
        let after = cursor.map_or(0, |cursor| position_after(cursor, &found));
        let mut rest = found.iter().skip(after).peekable();
        for (name, root, relative) in rest.by_ref().take(limit.max(1)) {
            page.next_cursor = Some(cursor_of(name));
            // one that vanished since the walk is no longer there to be listed
            page.sources.extend(listed(name, root, relative));
        }
        if rest.peek().is_none() {
            page.next_cursor = None;
        }
        Ok(page)
    }
}

/// What asks for the page after `name`: the name itself, or the start of a long one and its digest, so that pages
/// stay small. No name begins with two slashes.
fn cursor_of(name: &str) -> String {
    if name.len() <= LONGEST_CURSOR_NAME {
        return name.to_owned();
    }
    let (start, _) = name.split_at(name.floor_char_boundary(LONGEST_CURSOR_NAME));
    format!("//{}/{start}", blake3::hash(name.as_bytes()).to_hex())
}

/// Where the page after `cursor` begins. Where the source that it names is gone, the next one by name begins it.
fn position_after<T, U>(cursor: &str, found: &[(String, T, U)]) -> usize {
    let Some((_, start)) = cursor.strip_prefix("//").and_then(|rest| rest.split_once('/')) else {
        return found.partition_point(|(name, ..)| name.as_str() <= cursor);
    };
    let first = found.partition_point(|(name, ..)| name.as_str() < start);
    let rest = found.get(first..).unwrap_or_default();
    let named = rest.iter().take_while(|(name, ..)| name.starts_with(start));
    let named = named.map(|(name, ..)| cursor_of(name)).position(|of_name| of_name == cursor);
    first + named.map_or(0, |place| place + 1)
}

fn listed(name: &str, root: &Root, relative: &Path) -> Option<ListedSource> {
    let (_, metadata) = root.look(relative).ok()?;
    let (format, is_gzip) = guess(name)?;
    let modified = metadata.modified().ok().and_then(|time| rfc3339(time.into_std()));
    Some(ListedSource { source: name.to_owned(), byte_size: metadata.len(), modified, format, is_gzip })
}

fn rfc3339(time: std::time::SystemTime) -> Option<String> {
    let time = jiff::Timestamp::try_from(time).ok()?;
    jiff::Timestamp::from_second(time.as_second()).ok().map(|time| time.to_string())
}

/// Format and gzip by the extension; `None` where it is not that of a source.
fn guess(name: &str) -> Option<(&'static str, bool)> {
    let (stem, last) = name.rsplit_once('.')?;
    let is_gzip = last.eq_ignore_ascii_case("gz");
    let extension = if is_gzip { stem.rsplit_once('.')?.1 } else { last };
    let formats = [("mzml", "mzML"), ("mgf", "MGF")];
    let (_, format) = formats.into_iter().find(|(known, _)| extension.eq_ignore_ascii_case(known))?;
    Some((format, is_gzip))
}

/// A bounded walk over several roots.
#[derive(Default)]
struct Walk {
    entry_count: u64,
    page: SourcePage,
}

impl Walk {
    /// Calls `found` with the relative path of every source below `root`, nearest levels first.
    fn gather(&mut self, root: &Root, mut found: impl FnMut(&Path)) {
        let mut waiting = VecDeque::from([(PathBuf::from("."), 0)]);
        while let Some((folder, level)) = waiting.pop_front() {
            // beneath the handle again, so a folder that became a link meanwhile leads nowhere else
            let Ok(entries) = root.dir.read_dir(&folder) else {
                self.page.unreadable_folder_count += 1;
                continue;
            };
            for entry in entries {
                if self.entry_count == MOST_ENTRIES {
                    self.page.is_cut = true;
                    return;
                }
                self.entry_count += 1;
                let (Ok(entry), parent) = (entry, folder.strip_prefix(".").unwrap_or(&folder)) else {
                    continue;
                };
                let file_name = entry.file_name();
                if file_name.as_encoded_bytes().starts_with(b".") {
                    continue;
                }
                let relative = parent.join(&file_name);
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && level == MOST_LEVELS => self.page.is_cut = true,
                    Ok(kind) if kind.is_dir() => waiting.push_back((relative, level + 1)),
                    Ok(kind) if kind.is_file() || kind.is_symlink() => {
                        self.consider(root, &relative, kind.is_symlink(), &mut found);
                    }
                    _ => {}
                }
            }
        }
    }

    fn consider(&mut self, root: &Root, relative: &Path, is_link: bool, found: &mut impl FnMut(&Path)) {
        if guess(&relative.to_string_lossy()).is_none() {
            return;
        }
        if is_link && !root.look(relative).is_ok_and(|(_, metadata)| irregular_kind(&metadata).is_none()) {
            return;
        }
        if relative.to_str().is_none() {
            self.page.not_unicode_count += 1;
            return;
        }
        found(relative);
    }
}

/// A pattern for names, in lower case.
struct Pattern {
    text: Vec<char>,
    is_glob: bool,
}

impl Pattern {
    fn new(text: &str) -> Result<Self, AccessError> {
        if text.len() > LONGEST_PATTERN {
            let what = format!("the pattern has {} bytes; at most {LONGEST_PATTERN} are allowed", text.len());
            return Err(AccessError::InvalidArgument { what });
        }
        Ok(Self { text: text.to_lowercase().chars().collect(), is_glob: text.contains(['*', '?']) })
    }

    fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.to_lowercase().chars().collect();
        if !self.is_glob {
            return self.text.is_empty() || name.windows(self.text.len()).any(|part| part == self.text);
        }
        let base = name.rsplit(|c| matches!(c, '/' | ':')).next().unwrap_or_default();
        glob(&self.text, &name) || glob(&self.text, base)
    }
}

/// Whether all of `name` matches. On a mismatch only the last `*` takes one character more, which is enough, and keeps
/// the time to the product of both lengths.
fn glob(pattern: &[char], name: &[char]) -> bool {
    let (mut pattern, mut name) = (pattern, name);
    let mut retry: Option<(&[char], &[char])> = None;
    loop {
        match (pattern, name) {
            ([], []) => return true,
            (['*', after @ ..], _) => {
                retry = Some((after, name));
                pattern = after;
                continue;
            }
            ([wanted, after @ ..], [found, rest @ ..]) if *wanted == '?' || wanted == found => {
                (pattern, name) = (after, rest);
                continue;
            }
            _ => {}
        }
        match retry {
            Some((after, [_, rest @ ..])) => {
                retry = Some((after, rest));
                (pattern, name) = (after, rest);
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names_or_base_names() {
        let name = "plasma/Pool_12/QC_03.mzML.gz";
        for (pattern, expected) in [
            ("", true),
            ("qc_03", true),
            ("POOL_12/qc", true),
            ("qc_04", false),
            ("*", true),
            ("qc_*", true),
            ("QC_??.mzml.gz", true),
            ("QC_?.mzml.gz", false),
            ("*.mzml", false),
            ("*.mzml*", true),
            ("plasma/*", true),
            ("plasma/*/qc*gz", true),
            ("pool*", false),
            ("*pool*qc*z", true),
            ("*a*a*a*a*a*a*a*b", false),
        ] {
            assert_eq!(Pattern::new(pattern).unwrap().matches(name), expected, "{pattern}");
        }
        assert!(Pattern::new("ÄRZTE*").unwrap().matches("ärzte.mgf"));
        assert!(Pattern::new(&"x".repeat(257)).is_err());
    }

    #[test]
    fn sources_are_known_by_extension_in_any_case() {
        for (name, expected) in [
            ("a.mzML", Some(("mzML", false))),
            ("a.MZML.GZ", Some(("mzML", true))),
            ("a.b.Mgf", Some(("MGF", false))),
            ("a.mgf.gz", Some(("MGF", true))),
            ("a.imzML", None),
            ("mzml", None),
            ("a.gz", None),
            ("a.mzML.bz2", None),
            ("a.txt", None),
        ] {
            assert_eq!(guess(name), expected, "{name}");
        }
    }
}
