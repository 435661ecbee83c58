//! Logs go to standard error and never hold an answer up: a reader that does not read loses lines.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

/// Names the filter, in the words of `tracing`: a level, or `target=level` pairs.
const FILTER_VARIABLE: &str = "MZARENA_LOG";

/// Lines that wait for a slow reader; later ones are lost.
const WAITING_LINES: usize = 256;

/// Longest line, in bytes: at the most talkative level whole messages are logged.
const LONGEST_LINE: usize = 4096;

static STDERR: OnceLock<LossyStderr> = OnceLock::new();

/// Starts logging once; later calls change nothing. Panics are logged too, since the default hook would block
/// on a standard error that nobody reads.
pub(super) fn start() {
    let Some(stderr) = LossyStderr::start() else { return };
    let wanted = std::env::var(FILTER_VARIABLE).unwrap_or_default();
    let filter = EnvFilter::try_new(if wanted.is_empty() { "warn" } else { &wanted });
    let refused = filter.as_ref().err().map(ToString::to_string);
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter.unwrap_or_else(|_| EnvFilter::new("warn")))
        .with_writer(stderr.clone())
        .with_ansi(false)
        .finish();
    if tracing::subscriber::set_global_default(subscriber).is_err() {
        return;
    }
    let _ = STDERR.set(stderr);
    if let Some(refused) = refused {
        tracing::warn!("{FILTER_VARIABLE} is not a filter, so `warn` is used: {refused}");
    }
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.payload_as_str().unwrap_or("no text");
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!("panic at {place}: {text}");
    }));
}

/// Waits until what was logged is written, or until `limit` has passed.
pub(super) fn flush(limit: Duration) {
    let Some(stderr) = STDERR.get() else { return };
    let (done, written) = sync_channel(1);
    if stderr.notes.try_send(Note::Flush(done)).is_ok() {
        let _ = written.recv_timeout(limit);
    }
}

enum Note {
    Line(Vec<u8>),
    Flush(SyncSender<()>),
}

/// Hands lines to a thread of its own and drops them when that thread is behind.
#[derive(Clone)]
struct LossyStderr {
    notes: SyncSender<Note>,
    lost: Arc<AtomicU64>,
}

impl LossyStderr {
    fn start() -> Option<Self> {
        let (notes, waiting) = sync_channel(WAITING_LINES);
        let lost = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&lost);
        thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || write_notes(&waiting, &counter, &mut io::stderr()))
            .ok()?;
        Some(Self { notes, lost })
    }
}

impl Write for LossyStderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut kept = line.get(..LONGEST_LINE).unwrap_or(line).to_vec();
        if kept.len() < line.len() {
            kept.extend_from_slice(format!("… ({} bytes)\n", line.len()).as_bytes());
        }
        if self.notes.try_send(Note::Line(kept)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LossyStderr {
    type Writer = LossyStderr;

    fn make_writer(&'a self) -> Self::Writer {
        self.clone()
    }
}

fn write_notes(waiting: &Receiver<Note>, lost: &AtomicU64, output: &mut impl Write) {
    while let Ok(note) = waiting.recv() {
        match note {
            Note::Line(line) => {
                let _ = output.write_all(&line);
                let lost = lost.swap(0, Ordering::Relaxed);
                if lost > 0 {
                    let _ = writeln!(output, "{lost} log lines were lost: standard error was not read");
                }
            }
            Note::Flush(done) => {
                let _ = done.send(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_find_no_room_are_counted_and_the_loss_is_said() {
        let (notes, waiting) = sync_channel(2);
        let lost = Arc::new(AtomicU64::new(0));
        let mut stderr = LossyStderr { notes, lost: Arc::clone(&lost) };
        for line in ["one\n", "two\n", "three\n", "four\n"] {
            stderr.write_all(line.as_bytes()).unwrap();
        }
        drop(stderr);
        let mut output = Vec::new();
        write_notes(&waiting, &lost, &mut output);
        let output = String::from_utf8(output).unwrap();
        assert!(output.starts_with("one\n2 log lines were lost"), "{output}");
        assert!(output.ends_with("two\n"), "{output}");
    }

    #[test]
    fn a_long_line_is_cut_and_says_how_long_it_was() {
        let (notes, waiting) = sync_channel(1);
        let mut stderr = LossyStderr { notes, lost: Arc::default() };
        stderr.write_all(&[b'x'; 10_000]).unwrap();
        drop(stderr);
        let mut output = Vec::new();
        write_notes(&waiting, &AtomicU64::new(0), &mut output);
        assert!(output.len() < LONGEST_LINE + 50 && output.ends_with("… (10000 bytes)\n".as_bytes()));
    }
}
