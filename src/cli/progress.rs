//! How far a file has been read, as a bar on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::observe::Observer;

/// A bar on standard error; gone when it is dropped.
pub(super) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar, or nothing at all where nobody would see one.
    pub(super) fn new(is_seen: bool) -> Self {
        if !is_seen {
            return Self { bar: ProgressBar::hidden() };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        Self { bar: bar.with_style(ProgressStyle::default_spinner()).with_message("reading") }
    }
}

impl Observer for Progress {
    fn progress(&self, done: u64, total: Option<u64>) {
        if let Some(total) = total
            && self.bar.length() != Some(total)
        {
            let style = ProgressStyle::with_template("{wide_bar} {bytes} of {total_bytes}, {eta} left");
            self.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            self.bar.set_length(total);
        }
        self.bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
