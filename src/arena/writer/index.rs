//! The index by native ID, and the links from precursors to the spectra they came from: two sorted streams, merged.

use super::output::Output;
use super::run::SealReport;
use super::side::SideFile;
use super::sorter::{Sorted, Sorter};
use super::{ArenaError, Budget};
use crate::arena::layout::run::{NO_INDEX, NativeIdRecord};
use bytemuck::bytes_of;

/// Writes the sorted native IDs and finds, on the way, which spectrum each precursor refers to.
pub(super) fn write_native_ids<B: Budget>(
    mut ids: Sorted,
    mut refs: Sorted,
    side: &mut SideFile,
    output: &mut Output<B>,
) -> Result<(SealReport, Sorter), ArenaError> {
    let mut report = SealReport::default();
    let mut links = Sorter::default();
    let mut waiting = refs.next(side)?;
    let mut id = ids.next(side)?;
    while let Some([hash, first]) = id {
        let mut count = 0_u64;
        while let Some([same, spectrum]) = id.filter(|[next, _]| *next == hash) {
            output.append(bytes_of(&NativeIdRecord { hash: same, spectrum }))?;
            count += 1;
            id = ids.next(side)?;
        }
        if count > 1 {
            report.duplicate_native_id_count += count;
            let earliest =
                report.first_duplicate_native_id.map_or(first, |known| first.min(u64::from(known)));
            report.first_duplicate_native_id = u32::try_from(earliest).ok();
        }
        while let Some([wanted, precursor]) = waiting.filter(|[wanted, _]| *wanted <= hash) {
            if wanted == hash && count == 1 {
                links.push([precursor, first], side)?;
            } else {
                unresolved(&mut report, precursor);
            }
            waiting = refs.next(side)?;
        }
    }
    while let Some([_, precursor]) = waiting {
        unresolved(&mut report, precursor);
        waiting = refs.next(side)?;
    }
    Ok((report, links))
}

fn unresolved(report: &mut SealReport, precursor: u64) {
    report.unresolved_precursor_count += 1;
    let earliest = report.first_unresolved_precursor.map_or(precursor, |known| known.min(precursor));
    report.first_unresolved_precursor = Some(earliest);
}

/// Writes, for each precursor, the index of the spectrum it came from.
pub(super) fn write_links<B: Budget>(
    mut links: Sorted,
    precursor_count: u64,
    side: &mut SideFile,
    output: &mut Output<B>,
) -> Result<(), ArenaError> {
    let mut link = links.next(side)?;
    for precursor in 0..precursor_count {
        let index = match link {
            Some([from, to]) if from == precursor => {
                link = links.next(side)?;
                u32::try_from(to).unwrap_or(NO_INDEX)
            }
            _ => NO_INDEX,
        };
        output.append(&index.to_le_bytes())?;
    }
    Ok(())
}
