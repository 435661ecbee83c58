//! S6, S7, S8: the store against a plain model of it that has neither arenas, threads nor atomics.

#[path = "support/stores.rs"]
mod stores;

use mzarena::code::ErrorCode;
use mzarena::provenance::Provenance;
use mzarena::reference::ReferenceId;
use mzarena::store::{Lease, Limits, ManualClock, RunRegistration, SpectrumStore};
use proptest::prelude::*;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use stores::*;

const MOST_REFERENCES: u64 = 6;
const RUN_SPECTRA: u32 = 3;

/// Payloads, and how many bytes each takes, found out in a store without limits.
static SIZES: LazyLock<Vec<u64>> =
    LazyLock::new(|| (0..4).map(|payload| register(&store().0, payload).unwrap().byte_size).collect());

fn register(
    store: &SpectrumStore,
    payload: usize,
) -> Result<mzarena::reference::DataReference, mzarena::store::StoreError> {
    match payload {
        0 => register_spectrum(store, 40),
        1 => register_peak_list(store, 3),
        2 => register_embedding(store, 70),
        _ => register_run(store, RUN_SPECTRA as usize),
    }
}

#[derive(Debug, Clone)]
enum Step {
    Register(usize),
    Slice(usize, u32),
    Resolve(usize),
    Describe(usize),
    Hold(usize),
    LetGo(usize),
    Release(usize),
    Advance(u64),
    Begin,
    GiveUp,
}

fn step() -> impl Strategy<Value = Step> {
    let which = 0usize..16;
    prop_oneof![
        4 => (0usize..4).prop_map(Step::Register),
        3 => (which.clone(), 0..RUN_SPECTRA + 1).prop_map(|(run, index)| Step::Slice(run, index)),
        2 => which.clone().prop_map(Step::Resolve),
        1 => which.clone().prop_map(Step::Describe),
        2 => which.clone().prop_map(Step::Hold),
        2 => which.clone().prop_map(Step::LetGo),
        2 => which.prop_map(Step::Release),
        2 => prop_oneof![Just(1u64), Just(49), Just(50), Just(51), Just(100)].prop_map(Step::Advance),
        1 => Just(Step::Begin),
        1 => Just(Step::GiveUp),
    ]
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    Live,
    Released,
    Expired,
}

#[derive(Debug)]
struct Item {
    id: ReferenceId,
    payload: usize,
    /// The run and the position of a slice.
    parent: Option<(usize, u32)>,
    deadline: u64,
    fate: Fate,
}

#[derive(Debug, Default)]
struct Model {
    items: Vec<Item>,
    now: u64,
    total_bytes: u64,
    begun: u64,
    /// What is held, by item.
    held: Vec<usize>,
}

impl Model {
    fn root(&self, item: usize) -> usize {
        self.items[item].parent.map_or(item, |(run, _)| run)
    }

    fn is_held(&self, root: usize) -> bool {
        self.held.iter().any(|item| self.root(*item) == root)
    }

    /// Bytes of arenas that live, and of those that are gone but held.
    fn bytes(&self) -> (u64, u64) {
        let (mut live, mut pending) = (0, 0);
        for (at, item) in self.items.iter().enumerate().filter(|(_, item)| item.parent.is_none()) {
            match item.fate {
                Fate::Live => live += SIZES[item.payload],
                _ if self.is_held(at) => pending += SIZES[item.payload],
                _ => {}
            }
        }
        (live, pending)
    }

    fn live(&self) -> u64 {
        self.items.iter().filter(|item| item.fate == Fate::Live).count() as u64
    }

    fn expire(&mut self) {
        for item in &mut self.items {
            if item.fate == Fate::Live && item.deadline <= self.now {
                item.fate = Fate::Expired;
            }
        }
    }

    fn use_of(&mut self, item: usize) -> Option<ErrorCode> {
        match self.items[item].fate {
            Fate::Released => Some(ErrorCode::UnknownReference),
            Fate::Expired => Some(ErrorCode::ExpiredReference),
            Fate::Live => {
                let root = self.root(item);
                self.items[root].deadline = self.now + 100;
                self.items[item].deadline = self.now + 100;
                None
            }
        }
    }

    fn has_slot(&self) -> bool {
        self.live() + self.begun < MOST_REFERENCES
    }

    fn fits(&self, payload: usize) -> bool {
        let (live, pending) = self.bytes();
        live + pending + SIZES[payload] <= self.total_bytes
    }

    fn add(&mut self, id: ReferenceId, payload: usize, parent: Option<(usize, u32)>) {
        assert!(self.items.iter().all(|item| item.id != id), "S4: never issued twice");
        self.items.push(Item { id, payload, parent, deadline: self.now + 100, fate: Fate::Live });
    }

    fn release(&mut self, item: usize) -> (bool, u64, u64) {
        if self.items[item].fate != Fate::Live {
            return (false, 0, 0);
        }
        self.items[item].fate = Fate::Released;
        if self.items[item].parent.is_some() {
            return (true, 0, 0);
        }
        for at in 0..self.items.len() {
            if self.root(at) == item && self.items[at].fate == Fate::Live {
                self.items[at].fate = Fate::Released;
            }
        }
        let size = SIZES[self.items[item].payload];
        if self.is_held(item) { (true, 0, size) } else { (true, size, 0) }
    }
}

struct Both {
    store: SpectrumStore,
    clock: Arc<ManualClock>,
    model: Model,
    leases: Vec<Lease>,
    begun: Vec<RunRegistration>,
}

impl Both {
    fn new(total_bytes: u64) -> Self {
        let (store, clock) = store_with(Limits { references: MOST_REFERENCES, total_bytes, ..wide_limits() });
        Self { store, clock, model: Model { total_bytes, ..Model::default() }, leases: vec![], begun: vec![] }
    }

    fn pick(&self, which: usize) -> Option<usize> {
        (!self.model.items.is_empty()).then(|| which % self.model.items.len())
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Register(payload) => {
                let fits = self.model.has_slot() && self.model.fits(payload);
                let result = register(&self.store, payload);
                if let Ok(reference) = &result {
                    self.model.add(reference.reference, payload, None);
                }
                assert_eq!(code(result), (!fits).then_some(ErrorCode::StoreLimit));
            }
            Step::Begin => match self.store.begin_run() {
                Ok(begun) => {
                    assert!(self.model.has_slot());
                    self.model.begun += 1;
                    self.begun.push(begun);
                }
                Err(error) => assert!(!self.model.has_slot() && error.code() == ErrorCode::StoreLimit),
            },
            Step::GiveUp => {
                self.model.begun -= u64::from(self.begun.pop().is_some());
            }
            Step::LetGo(which) => {
                if !self.leases.is_empty() {
                    let at = which % self.leases.len();
                    drop(self.leases.remove(at));
                    self.model.held.remove(at);
                }
            }
            Step::Advance(seconds) => {
                self.clock.advance(Duration::from_secs(seconds));
                self.model.now += seconds;
            }
            Step::Slice(which, index) => self.slice(which, index),
            Step::Resolve(which) | Step::Describe(which) | Step::Hold(which) | Step::Release(which) => {
                if let Some(item) = self.pick(which) {
                    self.on_item(step, item);
                }
            }
        }
    }

    fn on_item(&mut self, step: &Step, item: usize) {
        let id = self.model.items[item].id;
        match step {
            Step::Release(_) => {
                let released = self.store.release(id).unwrap();
                let found = (released.released, released.bytes_returned, released.bytes_pending);
                assert_eq!(found, self.model.release(item));
            }
            Step::Describe(_) => {
                assert_eq!(code(self.store.describe(id)), self.model.use_of(item));
            }
            _ => {
                let result = self.store.resolve(id);
                let expected = self.model.use_of(item);
                if let (Step::Hold(_), Ok(lease)) = (step, &result) {
                    self.leases.push(lease.clone());
                    self.model.held.push(item);
                }
                assert_eq!(code(result), expected);
            }
        }
    }

    fn slice(&mut self, which: usize, index: u32) {
        let Some(run) = self.pick(which) else { return };
        let result =
            self.store.slice_spectrum(self.model.items[run].id, index, Provenance::of("load_spectrum"));
        let expected = match self.model.use_of(run) {
            Some(error) => Some(error),
            None if self.model.items[run].payload != 3 || self.model.items[run].parent.is_some() => {
                Some(ErrorCode::WrongKind)
            }
            None => {
                let live = |item: &Item| item.fate == Fate::Live && item.parent == Some((run, index));
                match self.model.items.iter().position(live) {
                    Some(slice) => {
                        let answered = result.as_ref().map(|reference| reference.reference).ok();
                        assert_eq!(answered, Some(self.model.items[slice].id));
                        self.model.use_of(slice)
                    }
                    None if index >= RUN_SPECTRA => Some(ErrorCode::SpectrumNotFound),
                    None if !self.model.has_slot() => Some(ErrorCode::StoreLimit),
                    None => {
                        self.model.add(result.as_ref().unwrap().reference, 3, Some((run, index)));
                        None
                    }
                }
            }
        };
        assert_eq!(code(result), expected);
    }

    fn check(&self) {
        let statistics = self.store.statistics();
        let (live, pending) = self.model.bytes();
        assert_eq!(statistics.reference_count, self.model.live());
        assert_eq!(statistics.registering_count, self.model.begun);
        assert_eq!((statistics.byte_count, statistics.pending_bytes), (live, pending));
        assert_eq!(statistics.loading_bytes, 0);
        for (lease, item) in self.leases.iter().zip(&self.model.held) {
            assert_eq!(lease.id(), self.model.items[*item].id);
            // what is held can be read, whatever became of the reference
            match lease.kind() {
                mzarena::reference::DataKind::Embedding => {
                    assert_eq!(lease.embedding().unwrap().values()[0], 0.5)
                }
                mzarena::reference::DataKind::Run => {
                    assert_eq!(lease.run().unwrap().spectrum_count(), RUN_SPECTRA)
                }
                _ => assert_eq!(lease.spectrum().unwrap().mz()[0], 100.0),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_store_does_what_its_model_does(
        steps in prop::collection::vec(step(), 1..60),
        arenas in 1u64..8,
    ) {
        let mut both = Both::new(arenas * SIZES[0] + SIZES[2] / 2);
        for step in &steps {
            both.model.expire();
            both.step(step);
            both.model.expire();
            both.check();
        }
    }
}
