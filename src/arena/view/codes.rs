//! Numbers that stand for words in an arena, and back.

use crate::spectrum::{ChromatogramKind, CollisionEnergyUnit, IonMobilityKind};

pub(in crate::arena) fn mobility_code(kind: IonMobilityKind) -> u32 {
    match kind {
        IonMobilityKind::InverseReduced => 1,
        IonMobilityKind::DriftTime => 2,
        IonMobilityKind::Reduced => 3,
        IonMobilityKind::Unspecified => 4,
    }
}

pub(super) fn mobility_kind(code: u32) -> Option<IonMobilityKind> {
    use IonMobilityKind::{DriftTime, InverseReduced, Reduced, Unspecified};
    [InverseReduced, DriftTime, Reduced, Unspecified].into_iter().find(|kind| mobility_code(*kind) == code)
}

pub(in crate::arena) fn energy_code(unit: CollisionEnergyUnit) -> u32 {
    match unit {
        CollisionEnergyUnit::Electronvolt => 1,
        CollisionEnergyUnit::Percent => 2,
        CollisionEnergyUnit::Unstated => 3,
    }
}

pub(super) fn energy_unit(code: u32) -> Option<CollisionEnergyUnit> {
    use CollisionEnergyUnit::{Electronvolt, Percent, Unstated};
    [Electronvolt, Percent, Unstated].into_iter().find(|unit| energy_code(*unit) == code)
}

pub(in crate::arena) fn chromatogram_code(kind: ChromatogramKind) -> u32 {
    match kind {
        ChromatogramKind::TotalIonCurrent => 1,
        ChromatogramKind::BasePeak => 2,
        ChromatogramKind::SelectedIonCurrent => 3,
        ChromatogramKind::SelectedIonMonitoring => 4,
        ChromatogramKind::SelectedReactionMonitoring => 5,
        ChromatogramKind::Other => 6,
    }
}

pub(super) fn chromatogram_kind(code: u32) -> Option<ChromatogramKind> {
    use ChromatogramKind::{
        BasePeak, Other, SelectedIonCurrent, SelectedIonMonitoring, SelectedReactionMonitoring,
        TotalIonCurrent,
    };
    [TotalIonCurrent, BasePeak, SelectedIonCurrent, SelectedIonMonitoring, SelectedReactionMonitoring, Other]
        .into_iter()
        .find(|kind| chromatogram_code(*kind) == code)
}
