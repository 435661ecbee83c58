//! What the store promises about references: contract section S, by number.

#[path = "support/stores.rs"]
mod stores;

use mzarena::arena::{
    Arena, ChromatogramView, ColumnsRef, EmbeddingView, IntensityRef, PrecursorView, RunView, SpectrumView,
};
use mzarena::code::ErrorCode;
use mzarena::provenance::{Provenance, SourceRef};
use mzarena::reference::{DataKind, DataReference, ReferenceId, Shape};
use mzarena::spectrum::{SignalAxis, SpectrumDescription};
use mzarena::store::{Lease, ListFilter, RunRegistration, SpectrumStore};
use mzarena::warning::{Warning, WarningCode};
use static_assertions::{assert_impl_all, assert_not_impl_any};
use std::collections::HashSet;
use std::time::Duration;
use stores::*;

// S5: what holds peaks cannot be serialised; what leaves can.
assert_not_impl_any!(Arena: serde::Serialize);
assert_not_impl_any!(RunView<'static>: serde::Serialize);
assert_not_impl_any!(SpectrumView<'static>: serde::Serialize);
assert_not_impl_any!(ChromatogramView<'static>: serde::Serialize);
assert_not_impl_any!(PrecursorView<'static>: serde::Serialize);
assert_not_impl_any!(EmbeddingView<'static>: serde::Serialize);
assert_not_impl_any!(ColumnsRef<'static>: serde::Serialize);
assert_not_impl_any!(IntensityRef<'static>: serde::Serialize);
assert_not_impl_any!(Lease: serde::Serialize);
assert_not_impl_any!(RunRegistration: serde::Serialize);
assert_not_impl_any!(SpectrumStore: serde::Serialize);
assert_impl_all!(DataReference: serde::Serialize);
// S12
assert_impl_all!(SpectrumStore: Send, Sync, Clone);
assert_impl_all!(Lease: Send, Sync);
assert_impl_all!(RunRegistration: Send);

fn is_inside(outer: std::ops::Range<*const f64>, inner: &[f64]) -> bool {
    let inner = inner.as_ptr_range();
    outer.start <= inner.start && inner.end <= outer.end
}

#[test]
fn s1_s3_values_are_copied_once_and_kept_bit_for_bit() {
    let (store, _) = store();
    let mut mz = vec![300.0, 100.0, 100.0, f64::from_bits(0x4059_0000_0000_0001)];
    let mut wide = vec![0.0, -0.0, 1e300, f64::MIN_POSITIVE];
    let columns = ColumnsRef::new(&mz, IntensityRef::F64(&wide));
    let reference = store.register_spectrum(&description("x"), columns, details("test")).unwrap();
    let (mz_bits, wide_bits): (Vec<_>, Vec<_>) =
        mz.iter().zip(&wide).map(|(mz, wide)| (mz.to_bits(), wide.to_bits())).unzip();
    // S1: the caller may do with its arrays what it likes
    mz.fill(7.0);
    wide.fill(7.0);
    let lease = store.resolve(reference.reference).unwrap();
    let view = lease.spectrum().unwrap();
    assert_eq!(view.mz().iter().map(|mz| mz.to_bits()).collect::<Vec<_>>(), mz_bits);
    let IntensityRef::F64(stored) = view.intensity() else { panic!("f64 must stay f64") };
    assert_eq!(stored.iter().map(|value| value.to_bits()).collect::<Vec<_>>(), wide_bits);
}

#[test]
fn s2_views_of_one_lease_show_the_same_memory() {
    let (store, _) = store();
    let run = register_run(&store, 3).unwrap();
    let slice = store.slice_spectrum(run.reference, 2, Provenance::of("load_spectrum")).unwrap();
    let (run, slice) = (store.resolve(run.reference).unwrap(), store.resolve(slice.reference).unwrap());
    let of_run = run.run().unwrap().spectrum(2).unwrap().mz();
    let of_slice = slice.spectrum().unwrap();
    assert_eq!(of_slice.mz().len(), 3);
    assert!(is_inside(of_run.as_ptr_range(), of_slice.mz()), "a slice is not a copy");
    assert!(
        is_inside(of_run.as_ptr_range(), slice.clone().spectrum().unwrap().mz()),
        "nor is a clone of a lease"
    );
}

#[test]
fn s3_invalid_payloads_are_refused_and_leave_nothing() {
    let (store, _) = store();
    let long = Provenance::of(&"x".repeat(65));
    let f32s = [1.0f32, 2.0];
    let spectrum = |mz: &[f64], intensity: &[f32]| {
        let columns = ColumnsRef::new(mz, IntensityRef::F32(intensity));
        code(store.register_spectrum(&description("x"), columns, details("test")))
    };
    let peaks = |mz: &[f64], intensity: &[f64]| {
        let columns = ColumnsRef::new(mz, IntensityRef::F64(intensity));
        code(store.register_peak_list(&description("x"), columns, details("test")))
    };
    let embedding = |rows, dimensions, values: &[f32]| {
        code(store.register_embedding(rows, dimensions, values, details("test")))
    };
    let invalid = Some(ErrorCode::InvalidPayload);
    for (what, found) in [
        ("lengths differ", spectrum(&[1.0], &f32s)),
        ("NaN m/z", spectrum(&[1.0, f64::NAN], &f32s)),
        ("infinite m/z", spectrum(&[f64::INFINITY, 1.0], &f32s)),
        ("lengths of peaks differ", peaks(&[1.0], &[1.0, 2.0])),
        ("peak at m/z 0", peaks(&[0.0, 1.0], &[1.0, 2.0])),
        ("peak at negative m/z", peaks(&[-1.0, 1.0], &[1.0, 2.0])),
        ("peak at NaN", peaks(&[f64::NAN, 1.0], &[1.0, 2.0])),
        ("negative peak", peaks(&[1.0, 2.0], &[1.0, -2.0])),
        ("NaN peak", peaks(&[1.0, 2.0], &[1.0, f64::NAN])),
        ("infinite peak", peaks(&[1.0, 2.0], &[1.0, f64::INFINITY])),
        ("no row", embedding(0, 4, &[])),
        ("no dimension", embedding(4, 0, &[])),
        ("too few values", embedding(2, 2, &[1.0; 3])),
        ("product overflows", embedding(usize::MAX, 2, &[1.0; 2])),
        ("NaN value", embedding(1, 2, &[1.0, f32::NAN])),
    ] {
        assert_eq!(found, invalid, "{what}");
    }
    let other_axis = SpectrumDescription { axis: SignalAxis::Other, ..description("x") };
    let columns = ColumnsRef::new(&[1.0, 2.0], IntensityRef::F32(&f32s));
    assert_eq!(code(store.register_spectrum(&other_axis, columns, details("test"))), invalid);
    let too_long = mzarena::store::Details::new(long);
    let refused = code(store.register_spectrum(&description("x"), columns, too_long));
    assert_eq!(refused, Some(ErrorCode::InvalidArgument));
    for namespace in ["", "a b", "a/b", "\u{e9}", &"n".repeat(65)] {
        let details = mzarena::store::Details { namespace: namespace.to_owned(), ..details("test") };
        let refused = code(store.register_spectrum(&description("x"), columns, details));
        assert_eq!(refused, Some(ErrorCode::InvalidArgument), "{namespace:?}");
    }
    let statistics = store.statistics();
    assert_eq!((statistics.reference_count, statistics.registering_count), (0, 0));
    assert_eq!((statistics.byte_count, statistics.loading_bytes, statistics.pending_bytes), (0, 0, 0));
}

#[test]
fn s3_what_is_odd_but_valid_is_kept() {
    let (store, _) = store();
    let odd = [f32::NAN, f32::INFINITY, -1.0];
    let columns = ColumnsRef::new(&[3.0, 2.0, 1.0], IntensityRef::F32(&odd));
    let reference = store.register_spectrum(&description("x"), columns, details("test")).unwrap();
    assert_eq!(reference.derived.values.get("is_sorted"), Some(&false.into()));
    assert_eq!(reference.derived.values.get("base_peak_intensity"), Some(&(-1.0).into()));
    for empty in [register_spectrum(&store, 0).unwrap(), register_peak_list(&store, 0).unwrap()] {
        assert_eq!(empty.derived.values.get("base_peak_mz"), Some(&serde_json::Value::Null), "{empty:?}");
        assert_eq!(store.resolve(empty.reference).unwrap().spectrum().unwrap().point_count(), 0);
    }
}

#[test]
fn s4_identifiers_are_opaque_distinct_and_never_used_again() {
    let (store, _) = store();
    let mut seen = HashSet::new();
    for _ in 0..200 {
        let id = register_spectrum(&store, 1).unwrap().reference;
        let text = id.to_string();
        let digits = text.strip_prefix("ptr:spectrum:").unwrap();
        assert!(
            digits.len() == 24 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')),
            "{text}"
        );
        assert!(seen.insert(text), "issued twice");
        assert!(store.release(id).unwrap().released);
        assert_eq!(code(store.resolve(id)), Some(ErrorCode::UnknownReference));
    }
}

#[test]
fn s5_a_reference_is_metadata_as_surface_draws_it() {
    let (store, clock) = store();
    clock.advance(Duration::from_secs(61));
    let run = register_run(&store, 2).unwrap();
    let json = serde_json::to_value(&run).unwrap();
    let names: Vec<_> = json.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = "reference kind shape byte_size namespace complete created_at expires_at provenance summary \
                    derived warnings";
    assert_eq!(names.join(" "), expected);
    assert_eq!(json["kind"], "run");
    let shape = serde_json::json!({ "spectrum_count": 2, "chromatogram_count": 0, "point_count": 3 });
    assert_eq!(json["shape"], shape);
    assert_eq!(json["created_at"], "2026-01-01T00:01:01Z");
    assert_eq!(json["expires_at"], "2026-01-01T00:02:41Z");
    assert_eq!(json["summary"]["ms_level_counts"], serde_json::json!({ "1": 2 }));
    assert_eq!(json["derived"]["data_class"], "derived_analysis");
    assert_eq!(json["derived"]["base_peak_mz"], 100.25);
    assert_eq!(json["complete"], true);
    assert_eq!(json["provenance"]["operation"], "load_run");

    let other = register_embedding(&store, 3).unwrap();
    assert_eq!(other.shape, Shape::Embedding { row_count: 3, dimension_count: 4 });
    assert_eq!(register_peak_list(&store, 5).unwrap().shape, Shape::PeakList { peak_count: 5 });
    assert_eq!(register_spectrum(&store, 5).unwrap().shape, Shape::Spectrum { point_count: 5 });
    let lease = store.resolve(other.reference).unwrap();
    assert_eq!(lease.embedding().unwrap().values(), &[0.5; 12]);
}

/// S5, M1: however large the payload and its texts, the metadata stays small, and says what was cut.
#[test]
fn s5_metadata_is_bounded_and_cuts_nothing_in_silence() {
    let (store, _) = store();
    let small = serde_json::to_string(&register_spectrum(&store, 10).unwrap()).unwrap();
    let large = serde_json::to_string(&register_spectrum(&store, 100_000).unwrap()).unwrap();
    assert!(large.len() < small.len() + 64 && large.len() < 1024, "{large}");

    let long = "\u{e9}".repeat(5000);
    let description = SpectrumDescription {
        native_id: long.clone(),
        title: Some(long.clone()),
        filter_string: Some(long.clone()),
        analyzer: Some(long.clone()),
        reported_total_ion_current: Some(f64::INFINITY),
        ..Default::default()
    };
    let columns = ColumnsRef::new(&[], IntensityRef::F32(&[]));
    let mut told = details("test");
    told.summary.texts("source_file_names", &vec![long; 50]);
    let reference = store.register_spectrum(&description, columns, told).unwrap();
    let json = serde_json::to_value(&reference).unwrap();
    assert!(json.to_string().len() < 4096, "{}", json.to_string().len());
    assert_eq!(json["summary"]["native_id_length"], 5000);
    assert_eq!(json["summary"]["native_id"].as_str().unwrap().chars().count(), 256);
    assert_eq!(json["summary"]["total_ion_current"], serde_json::Value::Null);
    assert_eq!(json["summary"]["non_finite"]["total_ion_current"], "Infinity");
    let omitted: Vec<_> =
        json["summary"]["omitted"].as_array().unwrap().iter().map(|name| name.as_str()).collect();
    assert!(omitted.contains(&Some("source_file_names")) || json["summary"]["source_file_names_count"] == 50);
    for name in ["title", "filter_string", "analyzer"] {
        let is_there = json["summary"][format!("{name}_length")] == 5000;
        assert!(
            is_there != omitted.contains(&Some(name)),
            "{name} is either cut with its length or named: {json}"
        );
    }
}

/// M6: converters write the path of the raw file, with the user's name, into titles.
#[test]
fn s5_titles_that_hold_paths_are_withheld() {
    let (store, _) = store();
    for (title, is_shown) in
        [("QC sample 3", true), ("File:\"C:\\Users\\ann\\a.raw\"", false), ("/home/ann/a", false)]
    {
        let description = SpectrumDescription { title: Some(title.to_owned()), ..description("x") };
        let columns = ColumnsRef::new(&[], IntensityRef::F32(&[]));
        let reference = store.register_spectrum(&description, columns, details("test")).unwrap();
        let json = serde_json::to_string(&reference).unwrap();
        assert_eq!(reference.summary.get("title").is_some(), is_shown, "{json}");
        assert_eq!(reference.summary.get("title_withheld").is_some(), !is_shown, "{json}");
        assert!(!json.contains("ann"), "{json}");
    }
}

#[test]
fn s5_incomplete_payloads_say_what_is_missing() {
    let (store, _) = store();
    let cut = Warning { code: WarningCode::Truncated, count: 1, first: "byte 77".to_owned() };
    let told = mzarena::store::Details { missing: vec![cut], ..details("load_run") };
    let columns = ColumnsRef::new(&[], IntensityRef::F32(&[]));
    let reference = store.register_spectrum(&description("x"), columns, told).unwrap();
    let json = serde_json::to_value(store.describe(reference.reference).unwrap()).unwrap();
    assert_eq!(json["complete"], false);
    assert_eq!(json["missing"], serde_json::json!([{ "code": "truncated", "count": 1, "first": "byte 77" }]));
}

#[test]
fn s7_references_expire_on_access_and_use_renews_them() {
    let (store, clock) = store();
    let ids: Vec<_> = (0..3).map(|_| register_spectrum(&store, 1).unwrap().reference).collect();
    clock.advance(TIME_TO_LIVE - Duration::from_nanos(1));
    store.resolve(ids[0]).unwrap();
    let described = store.describe(ids[1]).unwrap();
    assert_eq!(described.expires_at.unwrap().to_string(), "2026-01-01T00:03:19Z", "renewed at 00:01:39");
    assert_eq!(store.list(&ListFilter::default(), None, 10).unwrap().total, 3, "listing is no use");
    clock.advance(Duration::from_nanos(1));
    assert!(store.resolve(ids[0]).is_ok() && store.resolve(ids[1]).is_ok());
    assert_eq!(code(store.resolve(ids[2])), Some(ErrorCode::ExpiredReference));
    assert_eq!(code(store.describe(ids[2])), Some(ErrorCode::ExpiredReference));
    assert_eq!(store.statistics().reference_count, 2);
    clock.advance(TIME_TO_LIVE);
    let statistics = store.statistics();
    assert_eq!((statistics.reference_count, statistics.byte_count, statistics.pending_bytes), (0, 0, 0));
    assert_eq!(code(store.resolve(ids[0])), Some(ErrorCode::ExpiredReference));
    assert!(!store.release(ids[0]).unwrap().released, "what has expired is not there to release");
    assert_eq!(code(store.resolve(ids[0])), Some(ErrorCode::ExpiredReference), "nor does that forget it");
}

#[test]
fn s7_without_a_time_to_live_nothing_expires() {
    let (store, clock) = store_with(mzarena::store::Limits { time_to_live: None, ..wide_limits() });
    let reference = register_spectrum(&store, 1).unwrap();
    assert_eq!(serde_json::to_value(&reference).unwrap()["expires_at"], serde_json::Value::Null);
    clock.advance(Duration::from_secs(u64::MAX / 4));
    assert!(store.resolve(reference.reference).is_ok());
    assert_eq!(store.statistics().time_to_live_seconds, 0);
}

#[test]
fn s7_release_is_immediate_idempotent_and_counts_bytes_until_the_last_lease() {
    let (store, _) = store();
    let reference = register_spectrum(&store, 1000).unwrap();
    let lease = store.resolve(reference.reference).unwrap();
    let second = lease.clone();
    let released = store.release(reference.reference).unwrap();
    assert!(released.released);
    assert_eq!((released.bytes_returned, released.bytes_pending), (0, reference.byte_size));
    assert_eq!(code(store.resolve(reference.reference)), Some(ErrorCode::UnknownReference));
    assert_eq!(store.release(reference.reference).unwrap(), mzarena::store::Released::default());
    drop(lease);
    assert_eq!(second.spectrum().unwrap().mz().len(), 1000, "readable as long as it is held");
    assert_eq!(store.statistics().pending_bytes, reference.byte_size);
    drop(second);
    assert_eq!(store.statistics().pending_bytes, 0);

    let reference = register_spectrum(&store, 1000).unwrap();
    let released = store.release(&reference.reference.to_string()).unwrap();
    assert_eq!((released.bytes_returned, released.bytes_pending), (reference.byte_size, 0));
    for malformed in ["", "ptr:run:zz", "spectrum"] {
        assert_eq!(code(store.release(malformed)), Some(ErrorCode::UnknownReference), "{malformed}");
    }
    assert!(!store.release(ReferenceId::draw(DataKind::Run).unwrap()).unwrap().released, "never issued");
}

#[test]
fn s7_an_expired_reference_keeps_its_bytes_until_the_last_lease() {
    let (store, clock) = store();
    let reference = register_run(&store, 3).unwrap();
    let lease = store.resolve(reference.reference).unwrap();
    clock.advance(TIME_TO_LIVE);
    let statistics = store.statistics();
    assert_eq!((statistics.byte_count, statistics.pending_bytes), (0, reference.byte_size));
    assert_eq!(lease.run().unwrap().spectrum_count(), 3);
    drop(lease);
    assert_eq!(store.statistics().pending_bytes, 0);
}

#[test]
fn s8_slices_share_the_arena_and_end_with_their_run() {
    let (store, clock) = store();
    let run = register_run(&store, 3).unwrap();
    let slice = |index| store.slice_spectrum(run.reference, index, Provenance::of("load_spectrum"));
    let (first, second) = (slice(0).unwrap(), slice(1).unwrap());
    assert_eq!(second.kind, DataKind::Spectrum);
    assert_eq!(second.shape, Shape::Spectrum { point_count: 2 });
    assert_eq!(second.byte_size, 2 * (8 + 4));
    assert_eq!(second.provenance.parents, [run.reference.to_string()]);
    assert_eq!(second.summary.get("native_id"), Some(&"scan=2".into()));
    assert_eq!(slice(1).unwrap().reference, second.reference, "a live slice is answered again");
    let statistics = store.statistics();
    assert_eq!(
        (statistics.reference_count, statistics.byte_count),
        (3, run.byte_size),
        "no bytes of their own"
    );
    assert_eq!(code(slice(3)), Some(ErrorCode::SpectrumNotFound));

    // a slice alone can go; the run does not mind
    assert_eq!(store.release(first.reference).unwrap().bytes_returned, 0);
    assert_ne!(slice(0).unwrap().reference, first.reference);

    // use of a slice renews the run; use of the run does not renew a slice
    clock.advance(TIME_TO_LIVE / 2);
    store.resolve(second.reference).unwrap();
    clock.advance(TIME_TO_LIVE / 2);
    let again = slice(0).unwrap();
    assert_eq!(store.statistics().reference_count, 3, "run, slice 1 and a new slice 0");
    let lease = store.resolve(second.reference).unwrap();
    assert_eq!(lease.parent(), Some(run.reference));
    assert_eq!(lease.spectrum_index(), Some(1));

    let released = store.release(run.reference).unwrap();
    assert_eq!((released.bytes_returned, released.bytes_pending), (0, run.byte_size), "a slice is looked at");
    for id in [run.reference, second.reference, again.reference] {
        assert_eq!(code(store.resolve(id)), Some(ErrorCode::UnknownReference));
    }
    assert_eq!(lease.spectrum().unwrap().mz(), &[100.0, 100.25]);
    drop(lease);
    assert_eq!(store.statistics().pending_bytes, 0);
    assert_eq!(code(slice(0)), Some(ErrorCode::UnknownReference));
}

#[test]
fn s8_slices_expire_with_their_run() {
    let (store, clock) = store();
    let run = register_run(&store, 2).unwrap();
    let slice = store.slice_spectrum(run.reference, 0, Provenance::of("load_spectrum")).unwrap();
    clock.advance(TIME_TO_LIVE);
    assert_eq!(code(store.resolve(run.reference)), Some(ErrorCode::ExpiredReference));
    assert_eq!(code(store.resolve(slice.reference)), Some(ErrorCode::ExpiredReference));
    let statistics = store.statistics();
    assert_eq!((statistics.reference_count, statistics.byte_count, statistics.pending_bytes), (0, 0, 0));
}

#[test]
fn s8_derived_data_names_its_parent_and_survives_it() {
    let (store, _) = store();
    let run = register_run(&store, 2).unwrap();
    let mut told = details("register_embedding");
    told.provenance.parents.push(run.reference.to_string());
    let derived = store.register_embedding(1, 2, &[1.0, 2.0], told).unwrap();
    store.release(run.reference).unwrap();
    let described = store.describe(derived.reference).unwrap();
    assert_eq!(described.provenance.parents, [run.reference.to_string()]);
    assert!(store.resolve(derived.reference).is_ok());
}

#[test]
fn s9_provenance_is_kept_as_given() {
    let (store, _) = store();
    let mut provenance = Provenance::of("load_run");
    provenance.parameters.insert("tolerant".to_owned(), true.into());
    provenance.sources.push(SourceRef {
        source: "QC/a.mzML".to_owned(),
        format: "mzML".to_owned(),
        reader: "mzarena 0.1.0".to_owned(),
        byte_size: 12,
        digest: Some(format!("blake3:{}", "0".repeat(64))),
        digest_reason: None,
    });
    let registration = store.begin_run().unwrap();
    let writer = mzarena::arena::RunWriter::create(registration.folder(), registration.budget()).unwrap();
    let (arena, _) = writer.seal().unwrap();
    let reference = registration.finish(arena, mzarena::store::Details::new(provenance.clone())).unwrap();
    assert_eq!(store.describe(reference.reference).unwrap().provenance, provenance);
}

#[test]
fn s10_errors_are_distinct_and_say_what_to_do() {
    let (store, clock) = store();
    let spectrum = register_spectrum(&store, 1).unwrap().reference;
    let unknown = store.resolve(ReferenceId::draw(DataKind::Run).unwrap()).unwrap_err();
    let malformed = store.resolve("ptr:run:12").unwrap_err();
    let wrong = store.resolve_kind(spectrum, &[DataKind::Run, DataKind::Embedding]).unwrap_err();
    assert_eq!(unknown.code(), ErrorCode::UnknownReference);
    assert_eq!(malformed.code(), ErrorCode::UnknownReference);
    assert_eq!(wrong.code(), ErrorCode::WrongKind);
    assert_eq!(
        wrong.to_string(),
        format!("{spectrum} is a reference of kind spectrum, expected run or embedding")
    );
    let other_kind = spectrum.to_string().replace(":spectrum:", ":run:");
    assert_eq!(code(store.resolve(&other_kind)), Some(ErrorCode::UnknownReference), "never issued as a run");
    let lease = store.resolve_kind(spectrum, &[DataKind::Spectrum]).unwrap();
    assert_eq!(lease.spectrum().unwrap().mz().len(), 1);
    assert_eq!(code(lease.run()), Some(ErrorCode::WrongKind));
    assert_eq!(code(lease.embedding()), Some(ErrorCode::WrongKind));
    clock.advance(TIME_TO_LIVE);
    let expired = store.resolve_kind(spectrum, &[DataKind::Run]).unwrap_err();
    assert_eq!(expired.code(), ErrorCode::ExpiredReference);
    for error in [unknown, malformed, wrong, expired] {
        assert!(error.hint().ends_with('.') && !error.to_string().ends_with('.'), "{error}");
    }
}

#[test]
fn lists_are_paged_filtered_and_in_the_order_of_registration() {
    let (store, clock) = store();
    let mut ids: Vec<_> = (0..7).map(|_| register_spectrum(&store, 1).unwrap().reference).collect();
    let run = register_run(&store, 1).unwrap();
    let columns = ColumnsRef::new(&[], IntensityRef::F32(&[]));
    let told = mzarena::store::Details { namespace: "mine".to_owned(), ..details("test") };
    store.register_spectrum(&description("x"), columns, told).unwrap();

    let all = ListFilter { kind: Some(DataKind::Spectrum), namespace: Some("default".to_owned()) };
    let first = store.list(&all, None, 3).unwrap();
    assert_eq!((first.total, first.references.len()), (7, 3));
    let cursor = first.next_cursor.clone().unwrap();
    // what goes between two pages shifts no other
    store.release(ids.remove(1)).unwrap();
    let second = store.list(&all, Some(&cursor), 3).unwrap();
    let third = store.list(&all, second.next_cursor.as_deref(), 3).unwrap();
    let seen: Vec<_> =
        [&second, &third].iter().flat_map(|page| &page.references).map(|r| r.reference).collect();
    assert_eq!(seen, ids[2..]);
    assert_eq!((third.total, third.next_cursor), (6, None));

    let runs = ListFilter { kind: Some(DataKind::Run), namespace: None };
    assert_eq!(store.list(&runs, None, 0).unwrap().references[0].reference, run.reference);
    let mine = ListFilter { kind: None, namespace: Some("mine".to_owned()) };
    assert_eq!(store.list(&mine, None, usize::MAX).unwrap().total, 1);
    for cursor in ["", "3", "from-", "from-+3", "from-03", "from-FF", "from-zz", "from-11111111111111111"] {
        assert_eq!(code(store.list(&all, Some(cursor), 3)), Some(ErrorCode::InvalidArgument), "{cursor}");
    }
    let by_kind = store.statistics().by_kind;
    assert_eq!(by_kind[&DataKind::Run].byte_count, run.byte_size);
    assert_eq!(by_kind[&DataKind::Spectrum].reference_count, 7);
    clock.advance(TIME_TO_LIVE);
    assert_eq!(store.list(&all, None, 3).unwrap().total, 0);
}
