//! `mzarena demo`: an agent's session against a real server process, with what it costs.

use std::ffi::OsString;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::arguments::DemoArguments;
use super::console::Console;
use super::failure::Failure;
use super::inspect::{hint, shown};
use super::pretty::{counted, grouped, json_lines, size};
use super::process_memory::ProcessMemory;
use super::session::{Exchange, Session};
use crate::access::open_path;
use crate::arena::ArenaFolder;
use crate::synthetic::SyntheticRun;

/// Most lines of an answer that are shown.
const SHOWN_LINES: usize = 24;

/// The tools that the session uses.
const TOOLS: [&str; 6] = [
    "list_sources",
    "load_run",
    "summarise_reference",
    "load_spectrum",
    "list_references",
    "release_reference",
];

/// Plays the session.
pub(super) fn run(arguments: &DemoArguments, console: &mut Console<'_>) -> Result<(), Failure> {
    let folder = ArenaFolder::from_environment().map_err(|error| Failure::failed(error.to_string()))?;
    match &arguments.file {
        Some(file) => play(file, &folder, console),
        None => {
            let made = MadeRun::write(&folder)?;
            let facts = counted(made.spectrum_count, "spectrum", "spectra");
            console.line(&format!("A run of {facts} was made for this demonstration."))?;
            play(&made.file, &folder, console)
        }
    }
}

/// A file made for the demonstration, in a private folder; both are removed when this is dropped.
struct MadeRun {
    folder: PathBuf,
    file: PathBuf,
    spectrum_count: u64,
}

impl MadeRun {
    fn write(folder: &ArenaFolder) -> Result<Self, Failure> {
        let cannot =
            |error| Failure::failed(format!("no run can be made in {}: {error}", folder.path().display()));
        let now = std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
        let path = folder.path().join(format!("mzarena-demo-{}-{now}", std::process::id()));
        // fails where the name is taken: nothing of anybody else's is used, or removed at the end
        make_private_folder(&path).map_err(cannot)?;
        let mut made = Self { file: path.join("demo.mzML"), folder: path, spectrum_count: 0 };
        let run =
            SyntheticRun { spectrum_count: 2000, mean_points_per_spectrum: 500, ..SyntheticRun::default() };
        let mut out = BufWriter::new(fs::File::create_new(&made.file).map_err(cannot)?);
        made.spectrum_count = run.write_mzml(&mut out).map_err(cannot)?.spectrum_count;
        out.flush().map_err(cannot)?;
        Ok(made)
    }
}

impl Drop for MadeRun {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
        let _ = fs::remove_dir(&self.folder);
    }
}

fn make_private_folder(path: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn play(file: &Path, folder: &ArenaFolder, console: &mut Console<'_>) -> Result<(), Failure> {
    let (root, source) = root_and_name(file)?;
    console
        .line("The server is a process of its own; what follows crosses its standard input and output.")?;
    let mut play = Play {
        session: Session::start([root])?,
        file: shown(file),
        folder,
        free_at_start: folder.free_bytes().ok(),
        console,
    };
    play.handshake()?;
    play.call("list_sources", &json!({}))?;
    play.measure("before the load")?;
    let run = play.load(&source)?;
    play.measure("after the load")?;
    play.call("summarise_reference", &json!({ "reference": run.reference }))?;
    if run.spectrum_count > 0 {
        play.call("load_spectrum", &json!({ "run": run.reference, "spectrum_index": 0 }))?;
    }
    play.call("list_references", &json!({}))?;
    let returned = play.release(&run.reference)?;
    play.measure("after the release")?;
    play.end(&run, returned)
}

/// The folder that is served, and the file's name below it.
fn root_and_name(file: &Path) -> Result<(OsString, String), Failure> {
    let failure = |code: crate::code::ErrorCode, message: &str| {
        Failure::source(code.as_str(), message, hint(code, true), &shown(file), false)
    };
    open_path(file).map_err(|error| failure(error.code(), &error.to_string()))?;
    // Links are followed here: the server would refuse one that leads out of its root.
    let path = file
        .canonicalize()
        .map_err(|error| Failure::failed(format!("{} cannot be found: {error}", shown(file))))?;
    match (path.parent(), path.file_name().and_then(|name| name.to_str())) {
        (Some(root), Some(name)) => Ok((root.as_os_str().to_owned(), name.to_owned())),
        _ => Err(Failure::failed(format!("{} has a name that JSON cannot hold; rename a copy", shown(file)))),
    }
}

/// A loaded run, as its reference says.
struct LoadedRun {
    reference: String,
    spectrum_count: u64,
    point_count: u64,
    byte_size: u64,
}

struct Play<'a, 'c> {
    session: Session,
    file: String,
    folder: &'a ArenaFolder,
    free_at_start: Option<u64>,
    console: &'a mut Console<'c>,
}

impl Play<'_, '_> {
    fn handshake(&mut self) -> Result<(), Failure> {
        self.say_request("initialize", "")?;
        let mut exchange = self.session.initialize()?;
        if let Some(Value::String(text)) = exchange.result.get_mut("instructions") {
            *text = format!(
                "… ({} not shown here)",
                counted(text.chars().count() as u64, "character", "characters")
            );
        }
        let answer = exchange.result.clone();
        self.say_answer(&exchange, &answer)?;
        self.say_request("tools/list", "")?;
        let exchange = self.session.request("tools/list", &json!({}))?;
        let tools = exchange.result.get("tools").and_then(Value::as_array);
        let names: Vec<&str> =
            tools.into_iter().flatten().filter_map(|tool| tool.get("name").and_then(Value::as_str)).collect();
        let missing: Vec<&str> = TOOLS.into_iter().filter(|tool| !names.contains(tool)).collect();
        let count = counted(names.len() as u64, "tool", "tools");
        self.console.line(&format!("<- ({})", self.cost(&exchange)))?;
        self.console.line(&format!("   {count}: {}", names.join(", ")))?;
        if !missing.is_empty() {
            let missing = missing.join(", ");
            return Err(Failure::failed(format!("the server lacks tools that the session needs: {missing}")));
        }
        Ok(())
    }

    /// Calls a tool, shows both directions, and gives its envelope.
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, Failure> {
        self.say_request(tool, &arguments.to_string())?;
        let exchange =
            self.session.request("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        let Some(envelope) = exchange.result.get("structuredContent").cloned() else {
            return Err(Failure::failed(format!("{tool} answered without an envelope: {}", exchange.result)));
        };
        self.say_answer(&exchange, &envelope)?;
        Ok(envelope)
    }

    /// Loads the run; a long load is asked for again until it is done.
    fn load(&mut self, source: &str) -> Result<LoadedRun, Failure> {
        loop {
            let envelope = self.call("load_run", &json!({ "source": source }))?;
            if let Some(error) = envelope.get("error") {
                let word = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
                return Err(Failure::source(word("code"), word("message"), word("hint"), &self.file, false));
            }
            let data = envelope.get("data").unwrap_or(&Value::Null);
            if data.get("status").and_then(Value::as_str) == Some("loading") {
                let seconds = data.get("retry_in_seconds").and_then(Value::as_f64).unwrap_or(1.0);
                std::thread::sleep(std::time::Duration::from_secs_f64(seconds.clamp(0.1, 10.0)));
                continue;
            }
            let Some(reference) = data.get("reference").and_then(Value::as_str) else {
                return Err(Failure::failed("load_run answered without a reference"));
            };
            let count = |pointer| data.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
            return Ok(LoadedRun {
                reference: reference.to_owned(),
                spectrum_count: count("/shape/spectrum_count"),
                point_count: count("/shape/point_count"),
                byte_size: count("/byte_size"),
            });
        }
    }

    /// Gives the run up; bytes given back.
    fn release(&mut self, reference: &str) -> Result<u64, Failure> {
        let envelope = self.call("release_reference", &json!({ "reference": reference }))?;
        match envelope.pointer("/data/released").and_then(Value::as_bool) {
            Some(true) => Ok(envelope.pointer("/data/bytes_returned").and_then(Value::as_u64).unwrap_or(0)),
            _ => Err(Failure::failed("release_reference did not release the run")),
        }
    }

    /// Shows what the server's process and the arena folder hold.
    fn measure(&mut self, when: &str) -> Result<(), Failure> {
        const UNTOLD: &str = "not told by this system";
        let memory = match ProcessMemory::of(self.session.process_id()) {
            Some(memory) => {
                format!("{} private and {} of mapped files", size(memory.anonymous), size(memory.file))
            }
            None => UNTOLD.to_owned(),
        };
        let disk = match (self.free_at_start, self.folder.free_bytes().ok()) {
            (Some(before), Some(now)) if now <= before => {
                format!("{} more than at the start", size(before - now))
            }
            (Some(before), Some(now)) => format!("{} less than at the start", size(now - before)),
            _ => UNTOLD.to_owned(),
        };
        self.console.heading(&format!("   {when}: server memory {memory}; disk in use {disk}"))?;
        Ok(())
    }

    fn end(self, run: &LoadedRun, returned: u64) -> Result<(), Failure> {
        let (sent, received) = self.session.bytes();
        self.session.finish()?;
        self.console.line("")?;
        self.console.heading(&format!(
            "{} ({} bytes) held in the arena, {} bytes crossed the protocol.",
            counted(run.point_count, "point", "points"),
            grouped(run.byte_size),
            grouped(sent + received),
        ))?;
        self.console.line(&format!(
            "{} bytes went to the server and {} came from it; a tool's answer comes twice, as text and as data.",
            grouped(sent),
            grouped(received),
        ))?;
        self.console
            .line(&format!("The release gave {} bytes back, and the server has ended.", grouped(returned)))?;
        Ok(())
    }

    fn say_request(&mut self, what: &str, arguments: &str) -> Result<(), Failure> {
        self.console.line("")?;
        self.console.heading(format!("-> {what} {arguments}").trim_end())?;
        Ok(self.console.flush()?)
    }

    fn say_answer(&mut self, exchange: &Exchange, answer: &Value) -> Result<(), Failure> {
        self.console.line(&format!("<- ({})", self.cost(exchange)))?;
        for line in json_lines(answer, SHOWN_LINES) {
            self.console.line(&format!("   {line}"))?;
        }
        Ok(())
    }

    fn cost(&self, exchange: &Exchange) -> String {
        let (sent, received) = self.session.bytes();
        let (asked, answered) = (grouped(exchange.sent), counted(exchange.received, "byte", "bytes"));
        format!("{asked} asked, {answered} answered; {} in all so far", grouped(sent + received))
    }
}
