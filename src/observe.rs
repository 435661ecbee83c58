//! Progress and cancellation as a plain trait: long work neither knows nor cares who watches.

/// Watches long work and may stop it.
pub trait Observer: Sync {
    /// `done` of `total` bytes of the source have been read; `total` is absent where it is not known.
    fn progress(&self, done: u64, total: Option<u64>) {
        let _ = (done, total);
    }

    /// Whether the work should stop. Asked at least once per spectrum and once per read.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Watches nothing and never cancels.
///
/// ```
/// use mzarena::observe::{Observer, Unobserved};
/// assert!(!Unobserved.is_cancelled());
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}
