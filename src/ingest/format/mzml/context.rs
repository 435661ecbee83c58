//! What the header says and spectra rely on.

use super::param::Param;
use crate::ingest::RunDescription;
use std::collections::{BTreeSet, HashMap};

/// Most names of arrays that are remembered as not kept.
const ARRAY_NAMES: usize = 32;

/// Facts of the header that outlive it.
#[derive(Debug, Default)]
pub(super) struct RunContext {
    /// Parameters of each referenceableParamGroup.
    pub(super) groups: HashMap<String, Vec<Param<'static>>>,
    /// Mass analysers of each instrument configuration.
    pub(super) analyzers: HashMap<String, Option<String>>,
    pub(super) default_instrument: Option<String>,
    /// Thermo conversions label normalised collision energies as electronvolt.
    pub(super) is_thermo: bool,
    /// Imaging terms: imzML shares mzML's root element.
    pub(super) is_imaging: bool,
    pub(super) description: RunDescription,
    arrays_not_kept: BTreeSet<String>,
}

impl RunContext {
    pub(super) fn note_array_not_kept(&mut self, name: &str) {
        if self.arrays_not_kept.len() < ARRAY_NAMES && !self.arrays_not_kept.contains(name) {
            self.arrays_not_kept.insert(crate::ingest::error::shortened(name).to_owned());
        }
    }

    /// The run's description, with what the spectra added to it.
    pub(super) fn describe(&self) -> RunDescription {
        let mut description = self.description.clone();
        description.arrays_not_kept = self.arrays_not_kept.iter().cloned().collect();
        description
    }
}
