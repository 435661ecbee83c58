//! How the process ends: asked at the end of input, at once on a signal or when nobody reads the answers,
//! and by force when something hangs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::logging;

/// How long calls may go on answering after the end of input.
pub(super) const GRACE: Duration = Duration::from_secs(2);

/// How long cancelled calls may take to notice.
pub(super) const CANCELLED_GRACE: Duration = Duration::from_secs(1);

/// After this the process is ended, whatever still runs…
const TIME_LIMIT: Duration = Duration::from_secs(4);

/// …unless there are arenas to give back, which takes the system a while.
const TIME_LIMIT_PER_GIB: Duration = Duration::from_millis(500);

/// The one switch that every part of the server looks at.
pub(super) struct Stop {
    asked: CancellationToken,
    urgent: CancellationToken,
    armed: AtomicBool,
    failed: AtomicBool,
    arena_bytes: Box<dyn Fn() -> u64 + Send + Sync>,
}

impl Stop {
    /// Nothing asked yet; `arena_bytes` tells how much there is to give back.
    pub(super) fn new(arena_bytes: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self {
            asked: CancellationToken::new(),
            urgent: CancellationToken::new(),
            armed: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            arena_bytes: Box::new(arena_bytes),
        }
    }

    /// Asks for the end: calls in flight may still answer for [`GRACE`].
    pub(super) fn ask(&self) {
        self.arm_watchdog();
        self.asked.cancel();
    }

    /// Cancels every call: there is no time, or nobody to answer.
    pub(super) fn ask_at_once(&self) {
        self.ask();
        self.urgent.cancel();
    }

    /// Notes that the end is not a clean one.
    pub(super) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Whether the end is not a clean one.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Waits for [`Stop::ask`].
    pub(super) async fn asked(&self) {
        self.asked.cancelled().await;
    }

    /// Is cancelled by [`Stop::ask_at_once`]; the parent of every call's own token.
    pub(super) fn urgent(&self) -> &CancellationToken {
        &self.urgent
    }

    /// A plain thread, since what hangs may be the runtime itself, or a write that nobody reads.
    fn arm_watchdog(&self) {
        if self.armed.swap(true, Ordering::Relaxed) {
            return;
        }
        let limit = time_limit((self.arena_bytes)());
        let watchdog = thread::Builder::new().name("watchdog".to_owned()).spawn(move || {
            thread::sleep(limit);
            tracing::warn!("the server did not end within {} s; it is ended now", limit.as_secs_f32());
            logging::flush(Duration::from_millis(100));
            std::process::exit(0);
        });
        if let Err(error) = watchdog {
            tracing::warn!("no thread for the watchdog: {error}");
        }
    }
}

fn time_limit(arena_bytes: u64) -> Duration {
    let gib = arena_bytes as f64 / (1u64 << 30) as f64;
    TIME_LIMIT + TIME_LIMIT_PER_GIB.mul_f64(gib)
}

/// Ends the server on SIGTERM or on the interrupt from a terminal.
pub(super) async fn watch_signals(stop: Arc<Stop>) {
    if let Err(error) = signal().await {
        tracing::warn!("signals cannot be watched: {error}");
        return;
    }
    stop.ask_at_once();
}

#[cfg(unix)]
async fn signal() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

#[cfg(not(unix))]
async fn signal() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_limit_grows_with_what_there_is_to_give_back() {
        assert_eq!(time_limit(0), Duration::from_secs(4));
        assert_eq!(time_limit(6 << 30), Duration::from_secs(7));
    }
}
