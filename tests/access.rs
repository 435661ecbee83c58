//! Contract M3: files are opened only below the roots, race-free and after links; what lies outside is refused the
//! same way whether or not it exists; nothing but a regular file of an admitted size gets through.
#![cfg(unix)]

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use mzarena::access::{
    AccessError, AccessLimits, OpenedSource, RootSpec, Roots, SourceIdentity, SourcePage, open_path,
};
use mzarena::code::ErrorCode;
use tempfile::TempDir;

/// `secret/` beside `data/`, the root.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: TempDir::new().unwrap() };
        place.write("data/run.mzML", "inside");
        place.write("data/sub/deep.mzML", "deep");
        place.write("secret/secret.mzML", "outside");
        place
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn link(&self, name: &str, target: impl AsRef<Path>) {
        symlink(target, self.path(name)).unwrap();
    }

    fn roots(&self) -> Roots {
        roots(&[self.path("data").to_str().unwrap()]).unwrap()
    }
}

fn roots(specs: &[&str]) -> Result<Roots, AccessError> {
    Roots::new(specs.iter().map(|spec| RootSpec::parse(spec).unwrap()))
}

fn text(mut source: OpenedSource) -> String {
    let mut text = String::new();
    source.file.read_to_string(&mut text).unwrap();
    text
}

/// Fails instead of hanging where opening waits for somebody.
fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(Duration::from_secs(3)).expect("opening must not wait")
}

fn is_superuser() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn m3_names_inside_a_root_are_opened() {
    let place = Place::new();
    place.link("data/link.mzML", "sub/deep.mzML");
    place.link("data/sub/up.mzML", "../run.mzML");
    place.link("data/absolute.mzML", place.path("data/run.mzML"));
    place.link("data/folder", "sub");
    let inside = place.path("data/sub/deep.mzML");
    for (name, shown, content) in [
        ("run.mzML", "run.mzML", "inside"),
        ("./run.mzML", "run.mzML", "inside"),
        ("sub//deep.mzML", "sub/deep.mzML", "deep"),
        ("link.mzML", "link.mzML", "deep"),
        ("sub/up.mzML", "sub/up.mzML", "inside"),
        ("absolute.mzML", "absolute.mzML", "inside"),
        ("folder/deep.mzML", "folder/deep.mzML", "deep"),
        (inside.to_str().unwrap(), "sub/deep.mzML", "deep"),
    ] {
        let source = place.roots().open(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(source.name, shown);
        assert_eq!(source.identity.byte_size, content.len() as u64);
        assert_eq!(text(source), content, "{name}");
    }
}

/// A root configured by a link takes absolute names by the link and by its target.
#[test]
fn m3_absolute_names_follow_the_root_as_given_and_as_resolved() {
    let place = Place::new();
    place.link("alias", "data");
    let roots = roots(&[place.path("alias").to_str().unwrap()]).unwrap();
    for name in ["alias/run.mzML", "data/run.mzML"] {
        assert_eq!(roots.open(place.path(name).to_str().unwrap()).unwrap().name, "run.mzML");
    }
}

#[test]
fn m3_outside_and_missing_are_refused_in_the_same_words() {
    let place = Place::new();
    place.link("data/out.mzML", "../secret/secret.mzML");
    place.link("data/out_absolute.mzML", place.path("secret/secret.mzML"));
    place.link("data/out_folder", "../secret");
    place.link("data/out_missing.mzML", "../secret/none.mzML");
    place.link("data/dangling.mzML", "none.mzML");
    place.link("data/loop.mzML", "loop.mzML");
    place.link("data/loop_a", "loop_b");
    place.link("data/loop_b", "loop_a");
    place.link("data/proc.mzML", "/proc/self/exe");
    let roots = place.roots();
    let long = "x".repeat(5_000);
    let outside = place.path("secret/secret.mzML");
    let outside_missing = place.path("secret/none.mzML");
    let beside = place.path("data/../secret/secret.mzML");
    let prefix = place.path("database/secret.mzML");
    let inside_missing = place.path("data/none.mzML");
    place.write("database/secret.mzML", "outside");
    for name in [
        "none.mzML",
        "out.mzML",
        "out_absolute.mzML",
        "out_folder/secret.mzML",
        "out_folder/none.mzML",
        "out_missing.mzML",
        "dangling.mzML",
        "loop.mzML",
        "loop_a/run.mzML",
        "proc.mzML",
        "../secret/secret.mzML",
        "../secret/none.mzML",
        "sub/../run.mzML",
        "..",
        "run.mzML/",
        "run.mzML/x",
        "data:run.mzML",
        " ",
        "/etc/passwd",
        "/etc/passwd/",
        outside.to_str().unwrap(),
        outside_missing.to_str().unwrap(),
        beside.to_str().unwrap(),
        prefix.to_str().unwrap(),
        inside_missing.to_str().unwrap(),
        long.as_str(),
    ] {
        let error = roots.open(name).expect_err(name);
        assert_eq!(error.code(), ErrorCode::NotFound, "{name}: {error}");
        let said = error.to_string();
        let echoed = if name.starts_with('/') {
            Path::new(name).file_name().unwrap().to_str().unwrap().to_owned()
        } else {
            name.to_owned()
        };
        if name.len() < 300 {
            assert_eq!(said, format!("there is no source {echoed:?} that may be read"), "{name}");
        }
        assert!(said.len() < 1_000, "{said}");
        assert!(!said.contains(place.folder.path().to_str().unwrap()), "a machine path in: {said}");
        assert!(!said.contains("/etc"), "a machine path in: {said}");
    }
}

#[test]
fn m3_impossible_names_are_refused_as_arguments() {
    for name in ["", "run\0.mzML", "\0"] {
        let error = Place::new().roots().open(name).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidArgument, "{error}");
    }
}

#[test]
fn m3_only_regular_files_get_through_and_nothing_waits() {
    let place = Place::new();
    let pipe = place.path("data/pipe.mzML");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.path("data/socket.mzML")).unwrap();
    place.link("data/to_pipe.mzML", "pipe.mzML");
    let data = place.path("data");
    for (root, name, kind) in [
        (data.as_path(), "pipe.mzML", "named pipe"),
        (data.as_path(), "to_pipe.mzML", "named pipe"),
        (data.as_path(), "socket.mzML", "socket"),
        (data.as_path(), "sub", "folder"),
        (data.as_path(), "sub/", "folder"),
        (data.as_path(), ".", "folder"),
        (Path::new("/dev"), "zero", "device"),
        (Path::new("/dev"), "tty", "device"),
    ] {
        let (below, path) = (roots(&[root.to_str().unwrap()]).unwrap(), root.join(name));
        let (by_root, by_path) =
            in_time(move || (below.open(name).unwrap_err(), open_path(&path).unwrap_err()));
        for error in [by_root, by_path] {
            assert_eq!(error.code(), ErrorCode::NotARegularFile, "{name}: {error}");
            assert!(error.to_string().contains(kind), "{error}");
        }
    }
}

#[test]
fn m3_size_limits_hold_before_a_byte_is_read() {
    let place = Place::new();
    let limit = |max_source_bytes| place.roots().with_limits(AccessLimits { max_source_bytes });
    assert!(limit(6).open("run.mzML").is_ok());
    let error = limit(5).open("run.mzML").unwrap_err();
    assert_eq!(error.code(), ErrorCode::SourceTooLarge);
    assert!(error.to_string().contains("6 bytes") && error.to_string().contains("MZARENA_MAX_SOURCE_BYTES"));
    // a sparse file of 2 TiB costs nothing to make, and the default refuses it
    let huge = fs::File::create(place.path("data/huge.mzML")).unwrap();
    if huge.set_len(1 << 41).is_err() {
        eprintln!("SKIPPED: this file system makes no sparse file of 2 TiB");
        return;
    }
    assert_eq!(place.roots().open("huge.mzML").unwrap_err().code(), ErrorCode::SourceTooLarge);
    assert_eq!(open_path(&place.path("data/huge.mzML")).unwrap_err().code(), ErrorCode::SourceTooLarge);
}

#[test]
fn limits_are_read_by_name() {
    let read = |text: Option<&str>| {
        AccessLimits::read(|name| {
            assert_eq!(name, "MZARENA_MAX_SOURCE_BYTES");
            text.map(Into::into)
        })
    };
    assert_eq!(read(None).unwrap(), AccessLimits::default());
    assert_eq!(read(Some("123")).unwrap().max_source_bytes, 123);
    for wrong in ["", "0", "-1", "1e9", "12 GB", "99999999999999999999"] {
        let error = read(Some(wrong)).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidConfiguration);
        assert!(error.to_string().contains("MZARENA_MAX_SOURCE_BYTES"), "{error}");
    }
}

#[test]
fn m3_what_permissions_forbid_is_said_without_a_machine_path() {
    if is_superuser() {
        eprintln!("SKIPPED: the superuser may read everything, so no permission can be refused");
        return;
    }
    let place = Place::new();
    fs::set_permissions(place.path("data/run.mzML"), fs::Permissions::from_mode(0o0)).unwrap();
    fs::set_permissions(place.path("data/sub"), fs::Permissions::from_mode(0o0)).unwrap();
    place.link("data/out.mzML", "../secret/secret.mzML");
    fs::set_permissions(place.path("secret"), fs::Permissions::from_mode(0o0)).unwrap();
    let roots = place.roots();
    let outcomes: Vec<_> =
        ["run.mzML", "sub/deep.mzML", "out.mzML"].map(|name| roots.open(name).unwrap_err()).into();
    let unreadable = roots.list(None, None, 9).unwrap().unreadable_folder_count;
    for folder in ["data/sub", "secret"] {
        fs::set_permissions(place.path(folder), fs::Permissions::from_mode(0o700)).unwrap();
    }
    let codes: Vec<_> = outcomes.iter().map(AccessError::code).collect();
    assert_eq!(codes, [ErrorCode::ReadFailed, ErrorCode::ReadFailed, ErrorCode::NotFound]);
    assert_eq!(outcomes[0].to_string(), "\"run.mzML\" cannot be opened: permission denied");
    assert_eq!(unreadable, 1);
}

/// Whoever swaps a file for a link while it is opened gains nothing.
#[test]
fn m3_a_race_with_a_link_never_leads_outside() {
    let place = Place::new();
    let roots = place.roots();
    let stop = AtomicBool::new(false);
    let (mut opened, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (name, spare) = (place.path("data/race"), place.path("data/spare"));
            while !stop.load(Ordering::Relaxed) {
                for target in ["sub", "../secret"] {
                    symlink(target, &spare).unwrap();
                    fs::rename(&spare, &name).unwrap();
                }
            }
        });
        place.write("data/sub/secret.mzML", "deep");
        for _ in 0..20_000 {
            match roots.open("race/secret.mzML") {
                Ok(source) => {
                    opened += 1;
                    assert_eq!(source.identity.byte_size, 4);
                    assert_eq!(text(source), "deep");
                }
                Err(error) => {
                    refused += 1;
                    assert_eq!(error.code(), ErrorCode::NotFound, "{error}");
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(
        opened > 0 && refused > 0,
        "the race must have gone both ways: {opened} opened, {refused} refused"
    );
}

#[test]
fn m3_an_opened_source_stays_what_it_was_and_changes_show() {
    let place = Place::new();
    let roots = place.roots();
    let first = roots.open("run.mzML").unwrap();
    assert_eq!(roots.open("run.mzML").unwrap().identity, first.identity);
    assert_eq!(open_path(&place.path("data/run.mzML")).unwrap().identity, first.identity);

    // replaced by another file of the same length: the open one is still the old one
    place.write("data/new", "INSIDE");
    fs::rename(place.path("data/new"), place.path("data/run.mzML")).unwrap();
    let second = roots.open("run.mzML").unwrap();
    assert_ne!(second.identity.inode, first.identity.inode);
    assert_eq!(text(first), "inside");

    // written to in place
    let before = second.identity;
    fs::OpenOptions::new().append(true).open(place.path("data/run.mzML")).unwrap().set_len(3).unwrap();
    let after = SourceIdentity::of(&second.file).unwrap();
    assert_eq!((after.inode, after.byte_size), (before.inode, 3));
    assert_ne!(after, before);
}

#[test]
fn two_roots_are_told_apart_by_label() {
    let place = Place::new();
    place.write("more/run.mzML", "more");
    place.write("more/only.mzML", "only");
    place.write("more/data:run.mzML", "odd");
    let [data, more] = ["data", "more"].map(|name| place.path(name).to_str().unwrap().to_owned());
    let both = roots(&[&data, &more]).unwrap();
    assert_eq!(both.labels().collect::<Vec<_>>(), [Some("data"), Some("more")]);
    for (name, shown, content) in [
        ("data:run.mzML", "data:run.mzML", "inside"),
        ("more:run.mzML", "more:run.mzML", "more"),
        ("only.mzML", "more:only.mzML", "only"),
        ("sub/deep.mzML", "data:sub/deep.mzML", "deep"),
        ("more:data:run.mzML", "more:data:run.mzML", "odd"),
        (&format!("{more}/run.mzML"), "more:run.mzML", "more"),
    ] {
        let source = both.open(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((source.name.clone(), text(source)), (shown.to_owned(), content.to_owned()), "{name}");
    }
    let error = both.open("run.mzML").unwrap_err();
    assert_eq!(error.code(), ErrorCode::AmbiguousSource);
    assert_eq!(error.candidates(), ["data:run.mzML", "more:run.mzML"]);
    for name in ["data:only.mzML", "other:run.mzML", "data:../more/run.mzML", "data:", "data:/run.mzML"] {
        let code = both.open(name).unwrap_err().code();
        let expected = if name == "data:" { ErrorCode::NotARegularFile } else { ErrorCode::NotFound };
        assert_eq!(code, expected, "{name}");
    }
}

#[test]
fn many_roots_give_at_most_ten_candidates() {
    let place = Place::new();
    let specs: Vec<String> = (0..12)
        .map(|number| {
            place.write(&format!("r{number}/same.mzML"), "same");
            place.path(&format!("r{number}")).to_str().unwrap().to_owned()
        })
        .collect();
    let error =
        roots(&specs.iter().map(String::as_str).collect::<Vec<_>>()).unwrap().open("same.mzML").unwrap_err();
    assert_eq!(error.candidates().len(), 10);
    assert!(error.to_string().contains("12 roots"), "{error}");
}

#[test]
fn nested_roots_take_absolute_names_by_the_inner_one() {
    let place = Place::new();
    let [outer, inner] = ["data", "data/sub"].map(|name| place.path(name).to_str().unwrap().to_owned());
    for order in [[&outer, &inner], [&inner, &outer]] {
        let both = roots(&[order[0], order[1]]).unwrap();
        assert_eq!(both.open(&format!("{inner}/deep.mzML")).unwrap().name, "sub:deep.mzML");
    }
}

#[test]
fn unusable_roots_are_refused_by_name() {
    let place = Place::new();
    place.write("other/data/run.mzML", "x");
    let path = |name: &str| place.path(name).to_str().unwrap().to_owned();
    for (specs, words) in [
        (vec![path("data"), path("other/data")], "\"data\""),
        (vec![format!("a={}", path("data")), format!("a={}", path("other"))], "\"a\""),
        (vec![path("none")], "none"),
        (vec![path("data/run.mzML")], "run.mzML"),
        (vec![path("data"), "/".to_owned()], "LABEL=DIR"),
    ] {
        let error = roots(&specs.iter().map(String::as_str).collect::<Vec<_>>()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidConfiguration, "{specs:?}");
        assert!(error.to_string().contains(words), "{error}");
    }
    for text in ["", "a="] {
        assert_eq!(RootSpec::parse(text).unwrap_err().code(), ErrorCode::InvalidConfiguration);
    }
    let spec = RootSpec { label: Some("a:b".to_owned()), folder: place.path("data") };
    assert_eq!(Roots::new([spec]).unwrap_err().code(), ErrorCode::InvalidConfiguration);
    assert!(roots(&[&format!("a={}", path("data")), &path("other/data")]).is_ok());
}

/// Tests run in the package's folder, which is not the root of the file system.
#[test]
fn no_root_means_the_current_folder() {
    let roots = Roots::new([]).unwrap();
    assert_eq!(roots.open("Cargo.toml").unwrap().name, "Cargo.toml");
    assert_eq!(roots.labels().collect::<Vec<_>>(), [None]);
}

#[test]
fn paths_of_library_users_are_opened_anywhere_and_named_in_errors() {
    let place = Place::new();
    place.link("data/out.mzML", "../secret/secret.mzML");
    let source = open_path(&place.path("data/out.mzML")).unwrap();
    assert_eq!((source.name.as_str(), source.identity.byte_size), ("out.mzML", 7));
    let missing = place.path("data/none.mzML");
    let error = open_path(&missing).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotFound);
    assert!(error.to_string().contains(missing.to_str().unwrap()), "{error}");
}

fn names(page: &SourcePage) -> Vec<&str> {
    page.sources.iter().map(|source| source.source.as_str()).collect()
}

#[test]
fn sources_are_listed_by_name_in_pages() {
    let place = Place::new();
    for name in
        ["B.MGF", "a.mzml.gz", "notes.txt", ".hidden.mzML", ".git/x.mgf", "sub/z.mgf", "é.mgf", "x.imzML"]
    {
        place.write(&format!("data/{name}"), "12345");
    }
    place.link("data/in.mzML", "sub/deep.mzML");
    place.link("data/out.mzML", "../secret/secret.mzML");
    place.link("data/gone.mzML", "none.mzML");
    place.link("data/again", "sub");
    place.link("data/sub/circle", "..");
    fs::create_dir(place.path("data/folder.mzML")).unwrap();
    fs::write(place.path("data").join(OsStr::from_bytes(b"bad\xff.mzML")), "x").unwrap();
    let roots = place.roots();
    let all = roots.list(None, None, 100).unwrap();
    let expected = ["B.MGF", "a.mzml.gz", "in.mzML", "run.mzML", "sub/deep.mzML", "sub/z.mgf", "é.mgf"];
    assert_eq!(names(&all), expected);
    assert_eq!(
        (all.total, all.not_unicode_count, all.is_cut, all.next_cursor.as_deref()),
        (7, 1, false, None)
    );
    let first = &all.sources[0];
    assert_eq!((first.byte_size, first.format, first.is_gzip), (5, "MGF", false));
    assert_eq!((all.sources[1].format, all.sources[1].is_gzip), ("mzML", true));
    let modified = first.modified.as_deref().unwrap();
    let parsed: std::time::SystemTime = modified.parse::<jiff::Timestamp>().unwrap().into();
    assert!(modified.ends_with('Z') && parsed.elapsed().unwrap() < Duration::from_secs(600), "{modified}");
    for source in &all.sources {
        assert_eq!(roots.open(&source.source).unwrap().name, source.source);
    }

    let mut seen = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = roots.list(None, cursor.as_deref(), 3).unwrap();
        assert_eq!(page.total, 7);
        seen.extend(page.sources.iter().map(|source| source.source.clone()));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, expected);

    assert_eq!(names(&roots.list(Some("SUB/"), None, 9).unwrap()), ["sub/deep.mzML", "sub/z.mgf"]);
    assert_eq!(names(&roots.list(Some("*.mgf"), None, 9).unwrap()), ["B.MGF", "sub/z.mgf", "é.mgf"]);
    assert_eq!(roots.list(Some("nothing"), None, 9).unwrap().total, 0);
    assert_eq!(roots.list(Some(&"*".repeat(300)), None, 9).unwrap_err().code(), ErrorCode::InvalidArgument);
}

#[test]
fn lists_of_several_roots_carry_labels() {
    let place = Place::new();
    place.write("more/run.mzML", "more");
    let [data, more] = ["data", "more"].map(|name| place.path(name).to_str().unwrap().to_owned());
    let page = roots(&[&more, &data]).unwrap().list(Some("*run*"), None, 9).unwrap();
    assert_eq!(names(&page), ["data:run.mzML", "more:run.mzML"]);
}

#[test]
fn a_list_says_when_the_walk_was_cut() {
    let place = Place::new();
    let deep = "d/".repeat(20);
    place.write(&format!("data/{deep}far.mzML"), "x");
    place.write(&format!("data/{}near.mzML", "d/".repeat(16)), "x");
    let page = place.roots().list(Some("*ar.mzML"), None, 9).unwrap();
    assert_eq!((page.total, page.is_cut), (1, true));
    assert!(page.sources[0].source.ends_with("/near.mzML"));
}
