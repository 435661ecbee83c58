//! Precursors: isolation window, selected ions, activation.

use super::param::{Accession, Param};
use crate::spectrum::{CollisionEnergy, CollisionEnergyUnit, IsolationWindow, Precursor, SelectedIon};
use crate::units::ClosedRange;

/// Electronvolt.
const ELECTRONVOLT: Accession = Accession::Unit(266);

/// One precursor while it is read.
#[derive(Debug, Default)]
pub(super) struct PrecursorBuilder {
    pub(super) precursor: Precursor,
    target: Option<f64>,
    lower_offset: Option<f64>,
    upper_offset: Option<f64>,
    lower_limit: Option<f64>,
    upper_limit: Option<f64>,
    mobility_lower: Option<f64>,
    mobility_upper: Option<f64>,
    ion: SelectedIon,
    normalized_energy: Option<f64>,
}

/// What the rest of the record needs to know of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noted {
    /// Nothing.
    Nothing,
    /// Its number cannot be read.
    Unreadable,
    /// A charge with a minus.
    NegativeCharge,
}

/// A number above zero: 0 means unknown.
fn positive(param: &Param<'_>, into: &mut Option<f64>) -> Noted {
    match param.number() {
        Some(number) => {
            *into = (number > 0.0).then_some(number);
            Noted::Nothing
        }
        None => Noted::Unreadable,
    }
}

fn number(param: &Param<'_>, into: &mut Option<f64>) -> Noted {
    *into = param.number();
    if into.is_some() { Noted::Nothing } else { Noted::Unreadable }
}

impl PrecursorBuilder {
    pub(super) fn window_param(&mut self, param: &Param<'_>) -> Noted {
        match param.accession {
            Accession::Ms(1_000_827) => positive(param, &mut self.target),
            Accession::Ms(1_000_828) => number(param, &mut self.lower_offset),
            Accession::Ms(1_000_829) => number(param, &mut self.upper_offset),
            // The older terms state limits, not offsets.
            Accession::Ms(1_000_794) => positive(param, &mut self.lower_limit),
            Accession::Ms(1_000_793) => positive(param, &mut self.upper_limit),
            _ => self.mobility_param(param),
        }
    }

    /// Mobility limits of diapasef windows come as user parameters.
    pub(super) fn mobility_param(&mut self, param: &Param<'_>) -> Noted {
        match (param.accession, param.name.as_ref()) {
            (Accession::Other, "ion mobility lower limit") => number(param, &mut self.mobility_lower),
            (Accession::Other, "ion mobility upper limit") => number(param, &mut self.mobility_upper),
            _ => Noted::Nothing,
        }
    }

    pub(super) fn ion_param(&mut self, param: &Param<'_>) -> Noted {
        match param.accession {
            Accession::Ms(1_000_744) => positive(param, &mut self.ion.mz),
            // m/z, as mzML 1.0 has it; the newer term wins.
            Accession::Ms(1_000_040) if self.ion.mz.is_none() => positive(param, &mut self.ion.mz),
            Accession::Ms(1_000_042) => number(param, &mut self.ion.intensity),
            Accession::Ms(1_000_041) => {
                let (charge, noted) = read_charge(param);
                self.ion.charge = charge;
                noted
            }
            Accession::Ms(1_000_633) => {
                let (charge, noted) = read_charge(param);
                self.ion.possible_charges.extend(charge);
                noted
            }
            _ => Noted::Nothing,
        }
    }

    pub(super) fn activation_param(&mut self, param: &Param<'_>, is_thermo: bool) -> Noted {
        match param.accession {
            Accession::Ms(1_000_045) => match param.number() {
                Some(value) => {
                    let unit = if param.unit == ELECTRONVOLT {
                        CollisionEnergyUnit::Electronvolt
                    } else {
                        CollisionEnergyUnit::Unstated
                    };
                    let may_be_normalized = is_thermo;
                    self.precursor.collision_energy =
                        Some(CollisionEnergy { value, unit, may_be_normalized });
                    Noted::Nothing
                }
                None => Noted::Unreadable,
            },
            Accession::Ms(1_000_138) => number(param, &mut self.normalized_energy),
            Accession::Ms(accession) => {
                self.precursor.dissociation_methods.insert(accession);
                Noted::Nothing
            }
            _ => Noted::Nothing,
        }
    }

    pub(super) fn end_ion(&mut self) {
        let ion = std::mem::take(&mut self.ion);
        self.precursor.selected_ions.push(ion);
    }

    pub(super) fn finish(self) -> Precursor {
        let mut precursor = self.precursor;
        // Both offsets, and a width: anything else says nothing about the bounds.
        let offsets = match (self.target, self.lower_offset, self.upper_offset) {
            (Some(target), Some(lower), Some(upper))
                if lower >= 0.0 && upper >= 0.0 && lower + upper > 0.0 =>
            {
                Some((target - lower, target + upper))
            }
            _ => None,
        };
        let limits = self.lower_limit.zip(self.upper_limit).filter(|(lower, upper)| lower < upper);
        let bounds = offsets.or(limits);
        let mobility = self.mobility_lower.zip(self.mobility_upper);
        precursor.isolation_window = IsolationWindow {
            target_mz: self.target,
            lower_mz: bounds.map(|(lower, _)| lower),
            upper_mz: bounds.map(|(_, upper)| upper),
            mobility: mobility.map(|(lower, upper)| ClosedRange { lower, upper }),
        };
        if precursor.collision_energy.is_none() {
            precursor.collision_energy = self.normalized_energy.map(|value| CollisionEnergy {
                value,
                unit: CollisionEnergyUnit::Percent,
                may_be_normalized: true,
            });
        }
        precursor
    }

    /// m/z of a chromatogram's precursor or product: the isolation target, else the selected ion.
    pub(super) fn mz(&self) -> Option<f64> {
        self.target.or_else(|| self.precursor.selected_ions.iter().find_map(|ion| ion.mz))
    }
}

fn read_charge(param: &Param<'_>) -> (Option<u8>, Noted) {
    let text = param.value.trim();
    match text.trim_start_matches('+').parse::<f64>() {
        Ok(value) if value.fract() == 0.0 && value.abs() <= f64::from(u8::MAX) => {
            let noted = if value < 0.0 { Noted::NegativeCharge } else { Noted::Nothing };
            // 0 means unknown.
            ((value != 0.0).then_some(value.abs() as u8), noted)
        }
        _ => (None, Noted::Unreadable),
    }
}
