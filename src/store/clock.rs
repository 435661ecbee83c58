//! What time it is: the system's, or a test's.

use crate::reference::UtcTime;
use std::fmt;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, SystemTime};

/// Tells the store how time passes.
///
/// Expiry is measured by [`Clock::elapsed`] alone; [`Clock::wall`] is only shown, since it can be set back and forth.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Time since some fixed moment. Never goes back.
    fn elapsed(&self) -> Duration;

    /// The time of day, as answers show it.
    fn wall(&self) -> UtcTime;
}

/// The system's clock. On Linux time goes on while the machine sleeps, so that an hour is an hour.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    #[cfg(not(target_os = "linux"))]
    start: std::time::Instant,
}

impl SystemClock {
    /// A clock that counts from now on, or from when the machine was started.
    pub fn new() -> Self {
        Self {
            #[cfg(not(target_os = "linux"))]
            start: std::time::Instant::now(),
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    #[cfg(target_os = "linux")]
    fn elapsed(&self) -> Duration {
        let since_boot = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let seconds = u64::try_from(since_boot.tv_sec).unwrap_or(0);
        Duration::new(seconds, u32::try_from(since_boot.tv_nsec).unwrap_or(0))
    }

    #[cfg(not(target_os = "linux"))]
    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    fn wall(&self) -> UtcTime {
        let seconds = match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_secs()).map_or(i64::MIN, |seconds| -seconds),
        };
        UtcTime::from_unix_seconds(seconds)
    }
}

/// A clock that stands still until a test moves it.
///
/// ```
/// use mzarena::store::{Clock, ManualClock};
/// use std::time::Duration;
/// let clock = ManualClock::default();
/// assert_eq!(clock.wall().to_string(), "2026-01-01T00:00:00Z");
/// clock.advance(Duration::from_secs(90));
/// assert_eq!(clock.elapsed(), Duration::from_secs(90));
/// assert_eq!(clock.wall().to_string(), "2026-01-01T00:01:30Z");
/// ```
#[derive(Debug, Default)]
pub struct ManualClock {
    elapsed: Mutex<Duration>,
}

impl ManualClock {
    /// 2026-01-01T00:00:00Z.
    const START: i64 = 1_767_225_600;

    /// Lets `by` pass.
    pub fn advance(&self, by: Duration) {
        let mut elapsed = self.elapsed.lock().unwrap_or_else(PoisonError::into_inner);
        *elapsed = elapsed.saturating_add(by);
    }
}

impl Clock for ManualClock {
    fn elapsed(&self) -> Duration {
        *self.elapsed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wall(&self) -> UtcTime {
        let passed = i64::try_from(self.elapsed().as_secs()).unwrap_or(i64::MAX);
        UtcTime::from_unix_seconds(Self::START.saturating_add(passed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_clock_goes_forward_and_knows_the_year() {
        let clock = SystemClock::new();
        let before = clock.elapsed();
        std::thread::sleep(Duration::from_millis(2));
        assert!(clock.elapsed() >= before + Duration::from_millis(2));
        assert!(clock.wall() > UtcTime::from_unix_seconds(1_750_000_000));
    }
}
