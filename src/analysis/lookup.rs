//! Finding one spectrum of a run.

use crate::arena::RunView;
use crate::spectrum::{MsLevel, SignalAxis};
use crate::units::Minutes;

/// A spectrum near a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearestInTime {
    /// Its position in the run.
    pub spectrum_index: u32,
    /// Its scan start time minus the time that was asked for, minutes.
    pub difference: Minutes,
}

/// The mass spectrum whose scan start time is nearest to `time`, of one MS level where `ms_level` is given. Of equally
/// near ones it is the one with the lowest index; spectra without a time are never found. `None` where no spectrum
/// qualifies.
pub fn nearest_in_time(run: RunView<'_>, time: Minutes, ms_level: Option<MsLevel>) -> Option<NearestInTime> {
    let mut nearest: Option<NearestInTime> = None;
    for spectrum in run.spectra() {
        let fits =
            spectrum.axis() == SignalAxis::Mass && (ms_level.is_none() || spectrum.ms_level() == ms_level);
        let Some(start) = spectrum.scan_start_time().filter(|_| fits) else { continue };
        let difference = Minutes(start.0 - time.0);
        if nearest.is_none_or(|nearest| difference.0.abs() < nearest.difference.0.abs()) {
            nearest = Some(NearestInTime { spectrum_index: spectrum.index(), difference });
        }
    }
    nearest
}

/// Positions of the spectra with this scan number, ascending. It is unique in a sound run of one instrument.
pub fn find_scan_number(run: RunView<'_>, scan_number: u32) -> impl Iterator<Item = u32> {
    run.spectra()
        .filter(move |spectrum| spectrum.scan_number() == Some(scan_number))
        .map(|spectrum| spectrum.index())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::{ArenaFolder, ColumnsRef, IntensityRef, RunWriter, Unlimited};
    use crate::spectrum::SpectrumDescription;

    /// The lower index wins a tie, a level restricts, spectra without a time and other axes are passed over.
    #[test]
    fn the_nearest_time_is_found_wherever_it_stands() {
        let mut writer = RunWriter::create(&ArenaFolder::from_environment().unwrap(), Unlimited).unwrap();
        let spectra = [
            (Some(5.0), 1, SignalAxis::Mass),
            (None, 1, SignalAxis::Mass),
            (Some(3.0), 2, SignalAxis::Mass),
            (Some(7.0), 1, SignalAxis::Mass),
            (Some(6.0), 1, SignalAxis::Other),
            (Some(5.0), 2, SignalAxis::Mass),
        ];
        for (number, (time, level, axis)) in (1..).zip(spectra) {
            let description = SpectrumDescription {
                native_id: format!("scan={number}"),
                scan_number: Some(number),
                scan_start_time: time.map(Minutes),
                ms_level: MsLevel::new(level),
                axis,
                ..Default::default()
            };
            writer.push(&description, ColumnsRef::new(&[], IntensityRef::F32(&[]))).unwrap();
        }
        let (arena, _) = writer.seal().unwrap();
        let run = arena.run().unwrap();
        let cases = [
            (5.1, None, Some((0, 5.0))),
            (6.0, None, Some((0, 5.0))),
            (4.0, None, Some((0, 5.0))),
            (4.0, MsLevel::new(2), Some((2, 3.0))),
            (100.0, None, Some((3, 7.0))),
            (-100.0, None, Some((2, 3.0))),
            (5.0, MsLevel::new(3), None),
        ];
        for (time, level, expected) in cases {
            let found = nearest_in_time(run, Minutes(time), level);
            let found = found.map(|found| (found.spectrum_index, found.difference.0 + time));
            assert_eq!(found, expected, "{time} {level:?}");
        }
        assert_eq!(find_scan_number(run, 3).collect::<Vec<_>>(), [2]);
        assert_eq!(find_scan_number(run, 9).count(), 0);
    }
}
