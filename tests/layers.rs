//! The lint for the layers: which module may import which, and where a thing may be used at all.
//!
//! Reads the sources under `src/` word by word, without comments, texts and what is compiled for tests only. It knows
//! the paths that are written down (`crate::…`, `super::…`, groups in braces), which is all that review needs: a
//! renamed import would hide a path from it, and from a reader too.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "support/rust_source.rs"]
mod rust_source;

use rust_source::{Token, WrittenPath, paths, tokens, without_tests};

/// The modules, lowest line first. A module imports only from lines above its own in this list.
const LAYERS: &[&[&str]] = &[
    &["units", "code", "warning", "observe"],
    &["spectrum", "provenance"],
    &["arena"],
    &["reference"],
    &["store", "access", "analysis"],
    &["ingest", "synthetic", "cache"],
    &["tools"],
    &["mcp", "cli"],
    // the umbrella over every module's errors: imported by none of them
    &["error"],
    &["main"],
];

/// Modules that see less than what lies below them: the last line they may import from is that of the second module.
const NARROWER: &[(&str, &str)] = &[("analysis", "arena")];

/// What a rule looks for.
enum Thing {
    /// A word that is not part of a path.
    Word(&'static [&'static str]),
    /// A macro by its name.
    Macro(&'static [&'static str]),
    /// A crate: the first part of a path.
    Crate(&'static [&'static str]),
    /// The last two parts of a path.
    Ends(&'static [[&'static str; 2]]),
}

/// Files and folders below `src/`; a module's name stands for its file or folder.
enum Place {
    Only(&'static [&'static str]),
    AnywhereBut(&'static [&'static str]),
}

struct Rule {
    thing: Thing,
    place: Place,
    reason: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        thing: Thing::Word(&["unsafe"]),
        place: Place::Only(&["arena/bytes"]),
        reason: "one page to review",
    },
    Rule {
        thing: Thing::Crate(&["memmap2"]),
        place: Place::Only(&["arena/bytes"]),
        reason: "one page to review",
    },
    Rule {
        thing: Thing::Crate(&["bytemuck"]),
        place: Place::Only(&["arena"]),
        reason: "above it there are ids and views",
    },
    Rule {
        thing: Thing::Crate(&["tempfile"]),
        place: Place::Only(&["arena/writer", "arena/file", "cache"]),
        reason: "where our own files are made",
    },
    Rule {
        thing: Thing::Crate(&["rand"]),
        place: Place::Only(&["reference/id", "synthetic"]),
        reason: "identifiers and seeded data",
    },
    Rule {
        thing: Thing::Crate(&["cap_std"]),
        place: Place::Only(&["access"]),
        reason: "one door to a user's files",
    },
    Rule {
        thing: Thing::Ends(&[
            ["File", "open"],
            ["File", "options"],
            ["OpenOptions", "new"],
            ["fs", "read"],
            ["fs", "read_to_string"],
            ["fs", "read_dir"],
        ]),
        // an arena reopens its own unnamed file, the cache its own folder, and the system's facts stand in /proc
        place: Place::Only(&["access", "arena/file", "cache", "store/system", "cli/process_memory"]),
        reason: "one door to a user's files",
    },
    Rule {
        thing: Thing::Crate(&["quick_xml", "flate2", "encoding_rs", "ruzstd"]),
        place: Place::Only(&["ingest"]),
        reason: "what files look like is known to their readers",
    },
    Rule {
        thing: Thing::Crate(&["base64_simd", "libdeflater"]),
        // the generator writes what the readers decode, at a speed that makes large runs feasible
        place: Place::Only(&["ingest", "synthetic"]),
        reason: "what files look like is known to their readers and to the generator",
    },
    Rule {
        thing: Thing::Crate(&["sha1"]),
        place: Place::Only(&["synthetic"]),
        reason: "only for the checksum that indexed mzML prescribes",
    },
    Rule {
        thing: Thing::Crate(&["mzdata"]),
        place: Place::Only(&[]),
        reason: "the oracle belongs to tests and benches",
    },
    Rule {
        thing: Thing::Crate(&["rmcp"]),
        place: Place::Only(&["mcp"]),
        reason: "its names move between releases",
    },
    Rule {
        thing: Thing::Crate(&["tokio", "tokio_util"]),
        place: Place::Only(&["mcp", "main"]),
        reason: "the core is synchronous",
    },
    Rule {
        thing: Thing::Word(&["async", "await"]),
        place: Place::Only(&["mcp", "main"]),
        reason: "the core is synchronous",
    },
    Rule {
        thing: Thing::Crate(&["serde"]),
        place: Place::AnywhereBut(&["arena"]),
        reason: "payloads do not serialise",
    },
    Rule {
        thing: Thing::Crate(&["schemars", "serde_json"]),
        place: Place::Only(&["units", "spectrum", "provenance", "reference", "tools", "mcp", "cli"]),
        reason: "text forms are made where they leave",
    },
    Rule {
        thing: Thing::Crate(&["clap", "indicatif"]),
        place: Place::Only(&["cli"]),
        reason: "arguments belong to the command line",
    },
    Rule {
        thing: Thing::Macro(&["print", "println", "eprint", "eprintln", "dbg"]),
        place: Place::Only(&["main"]),
        reason: "standard output is the protocol; the command line writes to a given writer",
    },
    Rule {
        thing: Thing::Ends(&[["io", "stdout"], ["io", "stderr"], ["io", "stdin"]]),
        place: Place::Only(&["main", "cli", "mcp"]),
        reason: "standard output is the protocol",
    },
];

#[test]
fn sources_keep_to_the_layers() {
    let sources = sources();
    assert!(sources.len() >= 8, "only {} files found", sources.len());
    let test_only: BTreeSet<PathBuf> =
        sources.iter().flat_map(|(file, text)| Source::read(file, text).test_files).collect();
    let mut violations = Vec::new();
    let mut import_count = 0;
    for (file, text) in &sources {
        if test_only.contains(file)
            || test_only.iter().any(|module| file.starts_with(module.with_extension("")))
        {
            continue;
        }
        let source = Source::read(file, text);
        import_count += source.imports().count();
        violations.extend(source.violations());
    }
    assert!(import_count > 10, "only {import_count} imports found: the lint does not see the sources");
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut waiting, mut found) = (vec![root.clone()], Vec::new());
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(&root).unwrap().to_owned(), text));
            }
        }
    }
    found.sort();
    found
}

struct Source {
    file: String,
    module: String,
    tokens: Vec<Token>,
    paths: Vec<WrittenPath>,
    test_files: Vec<PathBuf>,
}

impl Source {
    fn read(file: &Path, text: &str) -> Self {
        let mut module_path: Vec<String> =
            file.with_extension("").iter().map(|part| part.to_str().unwrap().to_owned()).collect();
        if module_path.last().is_some_and(|last| last == "mod") {
            module_path.pop();
        }
        let module = module_path[0].clone();
        if ["lib", "main"].contains(&module.as_str()) {
            module_path.clear();
        }
        let (tokens, test_modules) = without_tests(tokens(text));
        let folder: PathBuf = module_path.iter().collect();
        let test_files = test_modules
            .iter()
            .flat_map(|name| [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")])
            .collect();
        let paths = paths(&tokens, &module_path);
        Self { file: file.to_str().unwrap().replace('\\', "/"), module, tokens, paths, test_files }
    }

    /// Names of our own modules that paths lead to, with their lines.
    fn imports(&self) -> impl Iterator<Item = (&str, usize)> {
        self.paths
            .iter()
            .filter(|path| path.is_ours)
            .filter_map(|path| path.parts.first().map(|first| (first.as_str(), path.line)))
            .filter(|(first, _)| *first != self.module)
    }

    fn violations(&self) -> Vec<String> {
        let mut violations = self.layer_violations();
        for rule in RULES {
            if rule.place.allows(&self.file) {
                continue;
            }
            for (what, line) in self.uses(&rule.thing) {
                violations
                    .push(format!("src/{}:{line}: `{what}` has no place here: {}", self.file, rule.reason));
            }
        }
        violations
    }

    fn layer_violations(&self) -> Vec<String> {
        let line_of = |module: &str| LAYERS.iter().position(|line| line.contains(&module));
        if self.module == "lib" {
            return Vec::new();
        }
        let Some(own) = line_of(&self.module) else {
            return vec![format!("src/{}: module `{}` has no line in LAYERS", self.file, self.module)];
        };
        let narrower = NARROWER.iter().find(|(module, _)| *module == self.module);
        let end = narrower.map_or(own, |(_, last)| line_of(last).unwrap() + 1);
        self.imports()
            .filter(|(module, _)| line_of(module).is_none_or(|line| line >= end))
            .map(|(module, line)| {
                format!("src/{}:{line}: `{}` must not import `{module}`", self.file, self.module)
            })
            .collect()
    }

    fn uses(&self, thing: &Thing) -> Vec<(String, usize)> {
        let words = |names: &[&str], is_macro: bool| {
            self.tokens
                .iter()
                .enumerate()
                .filter(|(_, token)| names.contains(&token.text.as_str()))
                .filter(|(index, _)| {
                    !is_macro || self.tokens.get(index + 1).is_some_and(|next| next.text == "!")
                })
                .map(|(_, token)| (token.text.clone(), token.line))
                .collect()
        };
        let paths = |is_it: &dyn Fn(&WrittenPath) -> bool| {
            self.paths
                .iter()
                .filter(|path| is_it(path))
                .map(|path| (path.parts.join("::"), path.line))
                .collect()
        };
        match thing {
            Thing::Word(names) => words(names, false),
            Thing::Macro(names) => words(names, true),
            Thing::Crate(names) => paths(&|path| !path.is_ours && names.contains(&path.parts[0].as_str())),
            Thing::Ends(ends) => {
                paths(&|path| ends.iter().any(|end| path.parts.windows(2).any(|pair| pair == end.as_slice())))
            }
        }
    }
}

impl Place {
    fn allows(&self, file: &str) -> bool {
        let lies_in = |places: &[&str]| {
            places.iter().any(|place| file == format!("{place}.rs") || file.starts_with(&format!("{place}/")))
        };
        match self {
            Place::Only(places) => lies_in(places),
            Place::AnywhereBut(places) => !lies_in(places),
        }
    }
}

/// The lint itself must be able to fail, and to keep quiet.
#[test]
fn the_lint_sees_what_it_forbids() {
    for (file, text, expected) in [
        // layers
        (
            "arena/view.rs",
            "use crate::store::Lease;",
            Some("arena/view.rs:1: `arena` must not import `store`"),
        ),
        ("arena/mod.rs", "use crate::{units::Mz, tools::{self, Tool}};", Some("import `tools`")),
        ("arena/layout/run.rs", "use super::super::super::reference::Id;", Some("import `reference`")),
        ("arena/mod.rs", "use super::reference;", Some("import `reference`")),
        ("arena/mod.rs", "mod inner { use super::super::reference::Id; }", Some("import `reference`")),
        ("arena/mod.rs", "mod inner { use super::reference::Id; }", None),
        ("arena/mod.rs", "fn f(x: crate::cache::Cache) {}", Some("import `cache`")),
        ("arena/mod.rs", "fn f() { let x = crate::cache::make(); }", Some("import `cache`")),
        ("store/mod.rs", "use crate::access::Roots;", Some("import `access`")),
        ("store/mod.rs", "use crate::reference::ReferenceId;", None),
        ("analysis/xic.rs", "use crate::reference::DataKind;", Some("import `reference`")),
        ("analysis/xic.rs", "use crate::arena::RunView;", None),
        ("cli/mod.rs", "use crate::mcp::serve;", Some("import `mcp`")),
        ("tools/mod.rs", "use crate::error::Error;", Some("import `error`")),
        ("units.rs", "\n\nuse crate::code::ErrorCode;", Some("units.rs:3: `units` must not import `code`")),
        ("arena/mod.rs", "use crate::Shortcut;", Some("import `Shortcut`")),
        ("extra.rs", "", Some("no line in LAYERS")),
        ("main.rs", "use mzarena::{cli, mcp::serve};", None),
        ("lib.rs", "pub use crate::store::SpectrumStore;", None),
        ("tools/mod.rs", "use mzarena::mcp;", Some("import `mcp`")),
        // things
        ("store/mod.rs", "fn f() { unsafe { g() } }", Some("`unsafe` has no place")),
        ("arena/bytes.rs", "fn f() { unsafe { memmap2::Mmap::map(&file) } }", None),
        ("arena/view.rs", "use memmap2::Mmap;", Some("`memmap2::Mmap`")),
        ("arena/view.rs", "use bytemuck::{Pod, Zeroable};", None),
        ("store/mod.rs", "let x = bytemuck::cast_slice(y);", Some("`bytemuck::cast_slice`")),
        ("ingest/source.rs", "let file = std::fs::File::open(path)?;", Some("`std::fs::File::open`")),
        ("ingest/source.rs", "use std::fs::File;\nlet file = File::open(path)?;", Some("rs:2: `File::open`")),
        ("cli/mod.rs", "let text = fs::read_to_string(path)?;", Some("`fs::read_to_string`")),
        ("arena/view.rs", "let file = File::open(path)?;", Some("one door")),
        ("store/mod.rs", "let folder = std::fs::read_dir(path)?;", Some("one door")),
        ("store/system.rs", "let folder = std::fs::read_dir(path)?;", None),
        ("tools/mod.rs", "use std::fs::{self, read};", Some("`std::fs::read`")),
        ("access/mod.rs", "OpenOptions::new().read(true)", None),
        ("access/roots.rs", "use cap_std::fs::Dir;", None),
        ("ingest/mod.rs", "use cap_std::fs::Dir;", Some("`cap_std::fs::Dir`")),
        ("arena/mod.rs", "#[derive(serde::Serialize)] struct S;", Some("payloads do not serialise")),
        ("store/mod.rs", "use serde::Serialize;", None),
        ("store/mod.rs", "use serde_json::Value;", Some("text forms")),
        ("tools/mod.rs", "use rmcp;", Some("`rmcp`")),
        ("tools/mod.rs", "async fn f() {}", Some("`async`")),
        ("store/mod.rs", "let id = rand::random();", Some("`rand::random`")),
        ("synthetic/mod.rs", "use rand::Rng; use base64_simd::STANDARD; use libdeflater as l;", None),
        ("synthetic/mod.rs", "use flate2::Compression;", Some("`flate2::Compression`")),
        ("ingest/mod.rs", "use mzdata::io::MzMLReader;", Some("the oracle")),
        ("store/mod.rs", "use tempfile::NamedTempFile;", Some("`tempfile::NamedTempFile`")),
        ("tools/mod.rs", "println!(\"{x}\");", Some("`println` has no place")),
        ("cli/mod.rs", "eprintln!();", Some("`eprintln` has no place")),
        ("main.rs", "fn main() { println!(); }", None),
        ("store/mod.rs", "let mut out = io::stdout();", Some("`io::stdout`")),
        // neither comments, texts, lifetimes nor tests count
        ("arena/mod.rs", "// use crate::store;\n/* unsafe /* nested */ println!() */", None),
        ("arena/mod.rs", "/// [`crate::store::Lease`]\nfn f() {}", None),
        (
            "arena/mod.rs",
            r##"let x = ("unsafe \" unsafe", r#"unsafe " unsafe"#, b"unsafe", 'u', b'\'', '"');"##,
            None,
        ),
        ("arena/mod.rs", r#"let x = '"'; unsafe {} let y = '"';"#, Some("`unsafe`")),
        ("arena/mod.rs", "fn f<'unsafe_>(x: &'static str) {} unsafe {}", Some("`unsafe`")),
        ("arena/mod.rs", "#[cfg(test)]\nmod tests { use crate::synthetic::SyntheticRun; }", None),
        (
            "arena/mod.rs",
            "#[cfg(test)] mod tests { fn f() {} } use crate::synthetic::X;",
            Some("`synthetic`"),
        ),
        ("arena/mod.rs", "#[cfg(test)] mod naive; use crate::store::X;", Some("`store`")),
        ("arena/mod.rs", "#[cfg(test)] #[expect(dead_code)] fn f(x: [u8; 3]) { crate::store::x() }", None),
        ("arena/mod.rs", "#[cfg(not(test))] fn f() { crate::store::x() }", Some("`store`")),
        ("arena/mod.rs", "#[cfg(unix)] fn f() { crate::store::x() }", Some("`store`")),
        ("arena/mod.rs", "let unsafe_code = not_unsafe; let store = crate::arena::store;", None),
    ] {
        let violations = Source::read(Path::new(file), text).violations();
        match expected {
            None => assert!(violations.is_empty(), "{file}: {text}\n{violations:?}"),
            Some(words) => {
                assert!(violations.iter().any(|line| line.contains(words)), "{file}: {text}\n{violations:?}");
            }
        }
    }
}

#[test]
fn files_that_hold_only_tests_are_known() {
    let text = "#[cfg(test)]\nmod naive;\n#[cfg(test)] mod tests { mod deeper; }\nmod real;";
    let files = Source::read(Path::new("arena/mod.rs"), text).test_files;
    assert_eq!(files, [PathBuf::from("arena/naive.rs"), PathBuf::from("arena/naive/mod.rs")]);
}

/// The table cannot name a place that the tree does not know.
#[test]
fn the_table_speaks_of_modules_that_have_a_line() {
    for rule in RULES {
        let (Place::Only(places) | Place::AnywhereBut(places)) = &rule.place;
        for place in *places {
            let module = place.split('/').next().unwrap();
            assert!(LAYERS.iter().any(|line| line.contains(&module)), "{place}");
        }
    }
    let all: Vec<&str> = LAYERS.iter().flat_map(|line| line.iter().copied()).collect();
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
}
