//! Limits that the system sets to the process: mappings and descriptors.
//!
//! Each arena takes one mapping for its life, and while it is written a descriptor or two. Counting what the process
//! has costs time in proportion, so it is counted anew only after a share of that number has been registered, or
//! when the estimate comes near the limit. What slips through is refused by the system and reported the same way.

use super::{Limits, StoreError};
use std::sync::atomic::{AtomicU64, Ordering};

/// A count of the process, and the registrations since.
#[derive(Debug, Default)]
struct Estimate {
    counted: AtomicU64,
    since: AtomicU64,
}

impl Estimate {
    /// Whether one more would come into the last sixteenth below `limit`; then, and now and then, counts exactly.
    fn is_near(&self, limit: Option<u64>, count: impl FnOnce() -> Option<u64>) -> Option<u64> {
        let limit = limit?;
        let allowed = limit - limit / 16;
        let counted = self.counted.load(Ordering::Relaxed);
        let since = self.since.fetch_add(1, Ordering::Relaxed) + 1;
        if since.saturating_mul(16) < counted && counted.saturating_add(since) < allowed {
            return None;
        }
        let counted = count()?;
        self.counted.store(counted, Ordering::Relaxed);
        self.since.store(0, Ordering::Relaxed);
        (counted >= allowed).then_some(counted)
    }
}

/// Watches how near the process is to its limits.
#[derive(Debug, Default)]
pub(super) struct SystemWatch {
    mappings: Estimate,
    descriptors: Estimate,
}

impl SystemWatch {
    /// Refuses where one more arena would come near a limit of the system.
    pub(super) fn check(&self, limits: &Limits) -> Result<(), StoreError> {
        if let Some(count) = self.mappings.is_near(limits.mappings, mapping_count) {
            let limit = limits.mappings.unwrap_or_default();
            return Err(StoreError::Limit {
                what: format!(
                    "the process has {count} memory mappings, near its limit of {limit} (vm.max_map_count)"
                ),
            });
        }
        if let Some(count) = self.descriptors.is_near(limits.descriptors, descriptor_count) {
            let limit = limits.descriptors.unwrap_or_default();
            return Err(StoreError::Limit {
                what: format!(
                    "the process has {count} open descriptors, near its limit of {limit} (RLIMIT_NOFILE)"
                ),
            });
        }
        Ok(())
    }
}

/// Most mappings that the system allows the process.
#[cfg(target_os = "linux")]
pub(super) fn mapping_limit() -> Option<u64> {
    std::fs::read_to_string("/proc/sys/vm/max_map_count").ok()?.trim().parse().ok()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn mapping_limit() -> Option<u64> {
    None
}

/// Most descriptors that the system allows the process, as it stands now.
#[cfg(target_os = "linux")]
pub(super) fn descriptor_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

#[cfg(not(target_os = "linux"))]
pub(super) fn descriptor_limit() -> Option<u64> {
    None
}

#[cfg(target_os = "linux")]
fn mapping_count() -> Option<u64> {
    use std::io::Read;
    let mut file = std::fs::File::open("/proc/self/maps").ok()?;
    let (mut lines, mut part) = (0, [0; 16 * 1024]);
    loop {
        let read = file.read(&mut part).ok()?;
        if read == 0 {
            return Some(lines);
        }
        lines += part.iter().take(read).filter(|byte| **byte == b'\n').count() as u64;
    }
}

#[cfg(not(target_os = "linux"))]
fn mapping_count() -> Option<u64> {
    None
}

#[cfg(target_os = "linux")]
fn descriptor_count() -> Option<u64> {
    Some(std::fs::read_dir("/proc/self/fd").ok()?.count() as u64)
}

#[cfg(not(target_os = "linux"))]
fn descriptor_count() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s6_an_estimate_is_made_exact_near_the_limit_and_now_and_then() {
        let (estimate, calls) = (Estimate::default(), std::cell::Cell::new(0));
        let ask = |count: u64| {
            estimate.is_near(Some(1600), || {
                calls.set(calls.get() + 1);
                Some(count)
            })
        };
        assert_eq!(ask(320), None, "counted at first");
        for _ in 0..19 {
            assert_eq!(ask(u64::MAX), None, "a sixteenth of 320 may be registered before the next count");
        }
        assert_eq!(calls.get(), 1);
        assert_eq!(ask(1499), None);
        assert_eq!(calls.get(), 2);
        assert_eq!(ask(1500), Some(1500), "1,500 is the border of the last sixteenth");
        assert_eq!(ask(10), None, "back below");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_process_has_mappings_descriptors_and_limits() {
        assert!(mapping_count().is_some_and(|count| count > 10));
        assert!(descriptor_count().is_some_and(|count| count > 3));
        assert!(mapping_limit().is_some_and(|limit| limit > 1000));
    }
}
