//! Sorting more pairs than memory should hold: sorted runs are put aside and merged.

use super::side::SideFile;
use crate::arena::ArenaError;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What is sorted: by the first number, then by the second.
pub(super) type Pair = [u64; 2];

/// Pairs in memory before they are put aside (1 MiB).
const RUN_PAIRS: usize = 65_536;

/// Pairs read back at once from each run (8 KiB).
const READ_PAIRS: usize = 512;

/// Gathers pairs and gives them back sorted.
#[derive(Default)]
pub(super) struct Sorter {
    pending: Vec<Pair>,
    /// Offset and number of pairs of each run in the side file.
    runs: Vec<(u64, usize)>,
    count: u64,
}

impl Sorter {
    /// Pairs so far.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn push(&mut self, pair: Pair, side: &mut SideFile) -> Result<(), ArenaError> {
        self.pending.push(pair);
        self.count += 1;
        if self.pending.len() == RUN_PAIRS {
            self.pending.sort_unstable();
            let offset = side.append(bytemuck::cast_slice(&self.pending))?;
            self.runs.push((offset, self.pending.len()));
            self.pending.clear();
        }
        Ok(())
    }

    /// All pairs, sorted.
    pub(super) fn finish(mut self, side: &mut SideFile) -> Result<Sorted, ArenaError> {
        self.pending.sort_unstable();
        let mut sources = vec![Source { pairs: self.pending, at: 0, offset: 0, left: 0 }];
        for (offset, left) in self.runs {
            sources.push(Source { pairs: Vec::new(), at: 0, offset, left });
        }
        let mut heap = BinaryHeap::with_capacity(sources.len());
        for (which, source) in sources.iter_mut().enumerate() {
            if let Some(pair) = source.next(side)? {
                heap.push(Reverse((pair, which)));
            }
        }
        Ok(Sorted { sources, heap })
    }
}

struct Source {
    pairs: Vec<Pair>,
    at: usize,
    /// Where the next pairs lie in the side file, and how many.
    offset: u64,
    left: usize,
}

impl Source {
    fn next(&mut self, side: &mut SideFile) -> Result<Option<Pair>, ArenaError> {
        if self.at == self.pairs.len() && self.left > 0 {
            let count = self.left.min(READ_PAIRS);
            self.pairs.resize(count, [0; 2]);
            side.read_exact_at(self.offset, bytemuck::cast_slice_mut(&mut self.pairs))?;
            self.offset += (count * size_of::<Pair>()) as u64;
            self.left -= count;
            self.at = 0;
        }
        let pair = self.pairs.get(self.at).copied();
        self.at += usize::from(pair.is_some());
        Ok(pair)
    }
}

/// Sorted pairs, one at a time.
pub(super) struct Sorted {
    sources: Vec<Source>,
    heap: BinaryHeap<Reverse<(Pair, usize)>>,
}

impl Sorted {
    pub(super) fn next(&mut self, side: &mut SideFile) -> Result<Option<Pair>, ArenaError> {
        let Some(Reverse((pair, which))) = self.heap.pop() else { return Ok(None) };
        if let Some(source) = self.sources.get_mut(which)
            && let Some(next) = source.next(side)?
        {
            self.heap.push(Reverse((next, which)));
        }
        Ok(Some(pair))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::ArenaFolder;

    #[test]
    fn more_pairs_than_memory_holds_come_back_sorted() {
        let folder = ArenaFolder::from_environment().unwrap();
        for count in [0, 1, 511, RUN_PAIRS - 1, RUN_PAIRS, 3 * RUN_PAIRS + 1025] {
            let mut side = SideFile::new(&folder);
            let mut sorter = Sorter::default();
            let mut state = 1_u64;
            let mut expected = Vec::new();
            for i in 0..count as u64 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                // Few distinct keys, so that the second number decides too.
                let pair = [state >> 54, count as u64 - i];
                expected.push(pair);
                sorter.push(pair, &mut side).unwrap();
            }
            expected.sort_unstable();
            let mut sorted = sorter.finish(&mut side).unwrap();
            let mut found = Vec::new();
            while let Some(pair) = sorted.next(&mut side).unwrap() {
                found.push(pair);
            }
            assert_eq!(found, expected, "{count} pairs");
        }
    }
}
