//! The tools as a server over standard input and output, in the Model Context Protocol.
//!
//! ```text
//! stdin -> reader thread: frame -> Pipe (rmcp's transport) -> Handler -> a blocking thread per call -> ToolHost
//! stdout <- writer thread <----------------- answers and progress <------+
//! ```
//!
//! This module alone knows rmcp, and with `main` alone knows tokio. What reads, writes or calls a tool runs
//! on plain or blocking threads, so the runtime always has a free worker for pings, cancellations and the
//! end; a watchdog outside the runtime ends the process when all else hangs.

mod frame;
mod handler;
mod logging;
mod stop;
mod transport;
mod wire;

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::{QuitReason, ServerInitializeError};
use serde_json::{Map, Value};

use crate::observe::Observer;
use crate::tools::{self, Outcome, ToolDescription};
use handler::Handler;
use stop::Stop;
use transport::Pipe;

pub use wire::INSTRUCTIONS;

/// Threads that may block at the same time; above the number of calls that run.
const BLOCKING_THREADS: usize = 64;

/// What a server serves: the tools and the state behind them.
pub trait ToolHost: Send + Sync + 'static {
    /// Every tool, in the order of the list. Asked once.
    fn descriptions(&self) -> Vec<ToolDescription>;

    /// Calls a tool; `None` where there is none of that name. May block, and is expected to look at
    /// `observer` while it does. A panic is answered as an internal error.
    fn call(&self, name: &str, arguments: Map<String, Value>, observer: &dyn Observer) -> Option<Outcome>;

    /// Bytes in arenas, which lengthen the time that the end may take.
    fn arena_bytes(&self) -> u64;

    /// Gives every arena back; called once, at the end.
    fn release_all(&self);
}

impl ToolHost for tools::Context {
    fn descriptions(&self) -> Vec<ToolDescription> {
        tools::descriptions()
    }

    fn call(&self, name: &str, arguments: Map<String, Value>, observer: &dyn Observer) -> Option<Outcome> {
        tools::call(self, name, arguments, observer)
    }

    fn arena_bytes(&self) -> u64 {
        tools::Context::arena_bytes(self)
    }

    fn release_all(&self) {
        tools::Context::release_all(self);
    }
}

/// Serves `host` on standard input and output until the input ends, a signal asks for the end, or nobody
/// reads the answers. Starts logging to standard error, filtered by `MZARENA_LOG` (`warn` unless set), and
/// routes panics there.
///
/// At the end of input, calls in flight may answer for 2 s and are then cancelled; a signal cancels them at
/// once. The process ends after 4 s, and half a second more per GiB of arenas, whatever still runs: then this
/// function does not return.
///
/// The exit code is a failure only when the server could not start, could not write for another reason than
/// a client that has gone, or broke down.
pub fn serve_stdio(host: impl ToolHost) -> ExitCode {
    logging::start();
    let host = Arc::new(host);
    let counted = Arc::clone(&host);
    let stop = Arc::new(Stop::new(move || counted.arena_bytes()));
    if let Err(error) = serve(&host, &stop) {
        tracing::error!("the server cannot start: {error}");
        stop.fail();
    }
    host.release_all();
    logging::flush(Duration::from_millis(100));
    match stop.has_failed() {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

fn serve<H: ToolHost>(host: &Arc<H>, stop: &Arc<Stop>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(BLOCKING_THREADS)
        .thread_name("mcp")
        .enable_all()
        .build()?;
    let written = Arc::new(AtomicU64::new(0));
    let (outbox, writer) = transport::start_writer(io::stdout(), Arc::clone(stop), Arc::clone(&written))?;
    let messages = transport::start_reader(Arc::clone(stop), written)?;
    let handler = Handler::new(Arc::clone(host), outbox.clone());
    let pipe = Pipe::new(messages, outbox);
    runtime.block_on(run(handler, pipe, stop));
    stop.ask_at_once();
    // Ends the tasks, and with them the last outboxes, without waiting for calls that do not heed.
    runtime.shutdown_background();
    let _ = writer.join();
    Ok(())
}

/// Runs the session until it ends, or until its time after the end of input is over.
async fn run<H: ToolHost>(handler: Handler<H>, pipe: Pipe, stop: &Arc<Stop>) {
    tokio::spawn(stop::watch_signals(Arc::clone(stop)));
    let mut session = std::pin::pin!(session(handler, pipe, stop));
    tokio::select! {
        () = &mut session => return,
        () = stop.asked() => {}
    }
    tokio::select! {
        () = &mut session => return,
        () = stop.urgent().cancelled() => {}
        () = tokio::time::sleep(stop::GRACE) => stop.ask_at_once(),
    }
    if tokio::time::timeout(stop::CANCELLED_GRACE, session).await.is_err() {
        tracing::warn!("calls did not heed their cancellation and are abandoned");
    }
}

/// Hands the pipe to rmcp. It gives a session up when the first message is none that may begin one; the next
/// message gets another try.
async fn session<H: ToolHost>(handler: Handler<H>, pipe: Pipe, stop: &Stop) {
    loop {
        let urgent = stop.urgent().clone();
        match handler.clone().serve_with_ct(pipe.clone(), urgent).await {
            Ok(running) => {
                if let Ok(QuitReason::JoinError(error)) | Err(error) = running.waiting().await {
                    tracing::error!("the session broke down: {error}");
                    stop.fail();
                }
                return;
            }
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return,
            Err(ServerInitializeError::TransportError { error, .. }) => {
                tracing::warn!("the session ended: {error}");
                return;
            }
            Err(error) => tracing::debug!("no session yet: {error}"),
        }
    }
}
