//! Settings of a store: from the environment, or given by a program.

use super::{Clock, Limits, StoreError, SystemClock, system};
use crate::arena::ArenaFolder;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

/// Environment variable for [`Limits::references`].
pub const MAX_REFERENCES_VARIABLE: &str = "MZARENA_MAX_REFERENCES";
/// Environment variable for [`Limits::total_bytes`].
pub const MAX_TOTAL_BYTES_VARIABLE: &str = "MZARENA_MAX_TOTAL_BYTES";
/// Environment variable for [`Limits::time_to_live`], in seconds; 0 is for ever.
pub const TIME_TO_LIVE_VARIABLE: &str = "MZARENA_REFERENCE_TTL_SECONDS";

const DEFAULT_REFERENCES: u64 = 10_000;
const DEFAULT_TOTAL_BYTES: u64 = 64 << 30;
const DEFAULT_TIME_TO_LIVE: Duration = Duration::from_secs(3600);
/// A hundred years: what is meant to be longer is 0.
const LONGEST_TIME_TO_LIVE: u64 = 100 * 366 * 24 * 3600;

/// All that a store needs to know.
#[derive(Debug, Clone)]
pub struct StoreConfig {
    /// Where arenas are made.
    pub folder: ArenaFolder,
    /// How much, and for how long.
    pub limits: Limits,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
}

impl StoreConfig {
    /// Default limits for arenas in `folder`: 10,000 references, the smaller of 64 GiB and 80 % of its free space,
    /// and one hour.
    ///
    /// # Errors
    ///
    /// [`StoreError::Arena`] where the system does not tell the free space.
    ///
    /// ```
    /// use mzarena::arena::ArenaFolder;
    /// use mzarena::store::{SpectrumStore, StoreConfig};
    /// let mut config = StoreConfig::in_folder(ArenaFolder::from_environment()?)?;
    /// config.limits.total_bytes = 1 << 30;
    /// let store = SpectrumStore::new(config);
    /// assert_eq!(store.limits().references, 10_000);
    /// # Ok::<(), mzarena::store::StoreError>(())
    /// ```
    pub fn in_folder(folder: ArenaFolder) -> Result<Self, StoreError> {
        let spare = folder.free_bytes()? / 5 * 4;
        let limits = Limits {
            references: DEFAULT_REFERENCES,
            total_bytes: spare.min(DEFAULT_TOTAL_BYTES),
            time_to_live: Some(DEFAULT_TIME_TO_LIVE),
            mappings: system::mapping_limit(),
            descriptors: system::descriptor_limit(),
        };
        Ok(Self { folder, limits, clock: Arc::new(SystemClock::new()) })
    }

    /// Settings from `MZARENA_MAX_REFERENCES`, `MZARENA_MAX_TOTAL_BYTES`, `MZARENA_REFERENCE_TTL_SECONDS` and
    /// `MZARENA_ARENA_DIR`; what is not set has its default.
    ///
    /// # Errors
    ///
    /// [`StoreError::Configuration`] with the name of a setting that cannot be used; [`StoreError::Arena`] where no
    /// arena can be made in the folder.
    pub fn from_environment() -> Result<Self, StoreError> {
        let set = Settings::read(std::env::var_os)?;
        let mut config = Self::in_folder(ArenaFolder::from_environment()?)?;
        set.apply(&mut config.limits);
        Ok(config)
    }
}

/// What the environment sets.
#[derive(Debug, PartialEq, Eq)]
struct Settings {
    references: Option<u64>,
    total_bytes: Option<u64>,
    seconds: Option<u64>,
}

impl Settings {
    fn read(variable: impl Fn(&'static str) -> Option<OsString>) -> Result<Self, StoreError> {
        let number = |name, smallest, largest, expected| match variable(name) {
            None => Ok(None),
            Some(text) => match whole_number(&text).filter(|number| (smallest..=largest).contains(number)) {
                Some(number) => Ok(Some(number)),
                None => Err(StoreError::Configuration { name, value: shown(&text), expected }),
            },
        };
        const POSITIVE: &str = "a whole number of 1 or more";
        Ok(Self {
            references: number(MAX_REFERENCES_VARIABLE, 1, u64::MAX, POSITIVE)?,
            total_bytes: number(MAX_TOTAL_BYTES_VARIABLE, 1, u64::MAX, POSITIVE)?,
            seconds: number(
                TIME_TO_LIVE_VARIABLE,
                0,
                LONGEST_TIME_TO_LIVE,
                "a whole number of seconds, at most a hundred years, or 0 for never",
            )?,
        })
    }

    fn apply(&self, limits: &mut Limits) {
        limits.references = self.references.unwrap_or(limits.references);
        limits.total_bytes = self.total_bytes.unwrap_or(limits.total_bytes);
        if let Some(seconds) = self.seconds {
            limits.time_to_live = (seconds > 0).then(|| Duration::from_secs(seconds));
        }
    }
}

/// Digits alone: signs, spaces and units are more likely a slip than meant.
fn whole_number(text: &std::ffi::OsStr) -> Option<u64> {
    let text = text.to_str()?;
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn shown(text: &std::ffi::OsStr) -> String {
    text.to_string_lossy().chars().take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::ErrorCode;

    fn read(name: &'static str, value: &'static str) -> Result<Settings, StoreError> {
        Settings::read(|asked| (asked == name).then(|| value.into()))
    }

    #[test]
    fn wrong_values_are_refused_by_name() {
        let names = [MAX_REFERENCES_VARIABLE, MAX_TOTAL_BYTES_VARIABLE, TIME_TO_LIVE_VARIABLE];
        for name in names {
            for value in
                ["", " ", "-1", "+1", "1.5", "1e3", "10 ", "ten", "0x10", "1_000", "99999999999999999999"]
            {
                let error = read(name, value).unwrap_err();
                assert_eq!(error.code(), ErrorCode::InvalidConfiguration, "{name}={value}");
                assert!(
                    error.to_string().contains(name) && error.to_string().contains(&format!("{value:?}"))
                );
            }
        }
        for name in [MAX_REFERENCES_VARIABLE, MAX_TOTAL_BYTES_VARIABLE] {
            assert!(read(name, "0").is_err(), "{name}: a store of size 0 refuses everything");
        }
        assert!(read(TIME_TO_LIVE_VARIABLE, "3162240001").is_err(), "over a hundred years");
    }

    #[test]
    fn right_values_are_used_and_the_others_keep_their_default() {
        let default = Limits {
            references: 10_000,
            total_bytes: 5,
            time_to_live: Some(Duration::from_secs(3600)),
            mappings: None,
            descriptors: None,
        };
        let with = |name, value| {
            let mut limits = default;
            read(name, value).unwrap().apply(&mut limits);
            limits
        };
        assert_eq!(with("MZARENA_OTHER", "x"), default);
        assert_eq!(with("MZARENA_MAX_REFERENCES", "7"), Limits { references: 7, ..default });
        assert_eq!(with("MZARENA_MAX_TOTAL_BYTES", "4096"), Limits { total_bytes: 4096, ..default });
        assert_eq!(with("MZARENA_REFERENCE_TTL_SECONDS", "0"), Limits { time_to_live: None, ..default });
        let minute = Some(Duration::from_secs(60));
        assert_eq!(with("MZARENA_REFERENCE_TTL_SECONDS", "60"), Limits { time_to_live: minute, ..default });
    }

    #[test]
    fn defaults_are_those_of_the_contract() {
        let config = StoreConfig::in_folder(ArenaFolder::from_environment().unwrap()).unwrap();
        assert_eq!(config.limits.references, 10_000);
        assert_eq!(config.limits.time_to_live, Some(Duration::from_secs(3600)));
        let free = config.folder.free_bytes().unwrap();
        assert!(config.limits.total_bytes <= 64 << 30 && config.limits.total_bytes <= free / 10 * 9);
        assert!(config.limits.total_bytes >= (64 << 30).min(free / 10 * 7));
    }
}
