//! What a process holds in memory, as the system counts it.

/// Resident memory of a process, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProcessMemory {
    /// Its own, private to it.
    pub(super) anonymous: u64,
    /// Pages of mapped files, which the system can take back at any time.
    pub(super) file: u64,
}

impl ProcessMemory {
    /// Of the process `id`; `None` where the system does not tell.
    #[cfg(target_os = "linux")]
    pub(super) fn of(id: u32) -> Option<Self> {
        Self::read(&std::fs::read_to_string(format!("/proc/{id}/status")).ok()?)
    }

    /// Of the process `id`; `None` where the system does not tell.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn of(_id: u32) -> Option<Self> {
        None
    }

    #[cfg(any(target_os = "linux", test))]
    fn read(status: &str) -> Option<Self> {
        let bytes = |name: &str| {
            let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            value.trim().strip_suffix("kB")?.trim().parse().ok().map(|kibibytes: u64| kibibytes * 1024)
        };
        Some(Self { anonymous: bytes("RssAnon")?, file: bytes("RssFile")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_kinds_of_resident_memory_are_read() {
        let status = "VmRSS:\t   12 kB\nRssAnon:\t    3120 kB\nRssFile:\t    8 kB\nRssShmem:\t 0 kB\n";
        assert_eq!(ProcessMemory::read(status), Some(ProcessMemory { anonymous: 3_194_880, file: 8192 }));
        assert_eq!(ProcessMemory::read("VmRSS:\t 12 kB\n"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_has_memory() {
        assert!(ProcessMemory::of(std::process::id()).unwrap().anonymous > 100_000);
        assert_eq!(ProcessMemory::of(u32::MAX), None);
    }
}
