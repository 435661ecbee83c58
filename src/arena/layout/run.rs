//! Records of a run.
//!
//! ```text
//! hot record i ──block──▶ block record ──offsets──▶ m/z column, intensity column, [mobility], [order]
//!      │ start, count: the spectrum's slice of each column of its block
//! detail record i ──first, count──▶ precursor records ──first, count──▶ ion records
//!      └ offsets and lengths ──▶ text
//! native ID record: hash of a native ID and the spectrum it belongs to, sorted
//! ```
//!
//! A missing number is NaN, a missing text has the length [`NO_TEXT`], a missing index is [`NO_INDEX`].

use bytemuck::{Pod, Zeroable};

/// Bytes of a block's columns at which it is closed, unless one spectrum alone is larger.
pub(crate) const BLOCK_BYTES: usize = 192 * 1024;

/// Length that says there is no text.
pub(crate) const NO_TEXT: u32 = u32::MAX;

/// Index that says there is no such spectrum.
pub(crate) const NO_INDEX: u32 = u32::MAX;

/// Sections of a run's arena, in the order they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum RunSection {
    Blocks = 1,
    Hot = 2,
    Details = 3,
    Precursors = 4,
    PrecursorSpectra = 5,
    Ions = 6,
    NativeIds = 7,
    Chromatograms = 8,
    Metadata = 9,
    Text = 10,
}

/// Consecutive spectra with the same column types, stored column by column.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct BlockRecord {
    /// f64 values.
    pub(crate) mz_offset: u64,
    /// f32 or f64 values, see `intensity_width`.
    pub(crate) intensity_offset: u64,
    /// f64 values; 0 where the block has none.
    pub(crate) mobility_offset: u64,
    /// u32 values: for each spectrum, the positions of its points by ascending m/z; 0 where all are sorted.
    pub(crate) order_offset: u64,
    /// Length of each column, in values.
    pub(crate) point_count: u64,
    pub(crate) first_spectrum: u32,
    pub(crate) spectrum_count: u32,
    /// 4 or 8 bytes.
    pub(crate) intensity_width: u32,
    /// 0 none, else the code of the quantity.
    pub(crate) mobility_kind: u32,
    pub(crate) reserved: u64,
}

/// What queries over a whole run need of one spectrum.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct HotRecord {
    pub(crate) block: u32,
    /// First point, within the block's columns.
    pub(crate) start: u32,
    pub(crate) count: u32,
    /// See [`flag`].
    pub(crate) flags: u16,
    /// 0 means unknown.
    pub(crate) ms_level: u8,
    pub(crate) reserved: u8,
    /// Scan start time, minutes.
    pub(crate) time: f64,
    pub(crate) lowest_mz: f64,
    pub(crate) highest_mz: f64,
    /// Isolation window of the first precursor.
    pub(crate) target_mz: f64,
    pub(crate) isolation_lower_mz: f64,
    pub(crate) isolation_upper_mz: f64,
}

/// Bits of [`HotRecord::flags`].
pub(crate) mod flag {
    pub(crate) const POSITIVE: u16 = 1;
    pub(crate) const NEGATIVE: u16 = 1 << 1;
    pub(crate) const CENTROID: u16 = 1 << 2;
    pub(crate) const PROFILE: u16 = 1 << 3;
    /// The axis is not m/z.
    pub(crate) const OTHER_AXIS: u16 = 1 << 4;
    /// m/z values ascend (equal neighbours included).
    pub(crate) const SORTED: u16 = 1 << 5;
    /// Some intensity is NaN or infinite.
    pub(crate) const NON_FINITE: u16 = 1 << 6;
    /// There are several precursors; the hot record shows the first.
    pub(crate) const SEVERAL_PRECURSORS: u16 = 1 << 7;
    /// An array was stored by a lossy method.
    pub(crate) const LOSSY: u16 = 1 << 8;
}

/// The rest of what is known about one spectrum.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct DetailRecord {
    pub(crate) native_id: TextRef,
    pub(crate) title: TextRef,
    pub(crate) filter_string: TextRef,
    pub(crate) analyzer: TextRef,
    pub(crate) scans: TextRef,
    pub(crate) retention_time_range: TextRef,
    pub(crate) total_ion_current: f64,
    pub(crate) base_peak_mz: f64,
    pub(crate) base_peak_intensity: f64,
    pub(crate) reported_total_ion_current: f64,
    pub(crate) reported_base_peak_mz: f64,
    pub(crate) reported_base_peak_intensity: f64,
    pub(crate) ion_injection_time_ms: f64,
    pub(crate) ion_mobility: f64,
    pub(crate) faims_compensation_voltage: f64,
    pub(crate) scan_window_lower: f64,
    pub(crate) scan_window_upper: f64,
    pub(crate) first_precursor: u64,
    pub(crate) precursor_count: u32,
    pub(crate) scan_count: u32,
    /// [`NO_INDEX`] where there is none.
    pub(crate) scan_number: u32,
    /// 0 none, else the code of the quantity.
    pub(crate) ion_mobility_kind: u32,
}

/// A piece of the text section.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct TextRef {
    /// From the start of the text section.
    pub(crate) offset: u64,
    /// In bytes; [`NO_TEXT`] where there is none.
    pub(crate) length: u32,
    pub(crate) reserved: u32,
}

impl TextRef {
    pub(crate) const NONE: Self = Self { offset: 0, length: NO_TEXT, reserved: 0 };
}

/// One precursor of one spectrum.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct PrecursorRecord {
    /// Native ID of the spectrum it came from, as the file states it.
    pub(crate) spectrum_ref: TextRef,
    pub(crate) target_mz: f64,
    pub(crate) lower_mz: f64,
    pub(crate) upper_mz: f64,
    pub(crate) mobility_lower: f64,
    pub(crate) mobility_upper: f64,
    pub(crate) collision_energy: f64,
    pub(crate) first_ion: u64,
    pub(crate) ion_count: u32,
    /// Bits of [`crate::spectrum::DissociationMethods`].
    pub(crate) dissociation_methods: u32,
    /// 1 electronvolt, 2 percent, 3 unstated.
    pub(crate) collision_energy_unit: u32,
    /// 1: the energy may be a normalised one.
    pub(crate) collision_energy_flags: u32,
}

/// One selected ion of one precursor.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct IonRecord {
    /// Possible charges as decimal numbers with commas between.
    pub(crate) possible_charges: TextRef,
    pub(crate) mz: f64,
    pub(crate) intensity: f64,
    /// 0 means unknown.
    pub(crate) charge: u32,
    pub(crate) reserved: u32,
}

/// Look-up of a native ID; sorted by hash, then by spectrum.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct NativeIdRecord {
    pub(crate) hash: u64,
    pub(crate) spectrum: u64,
}

/// One recorded chromatogram.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct ChromatogramRecord {
    pub(crate) native_id: TextRef,
    /// f64 values, minutes.
    pub(crate) time_offset: u64,
    /// f32 or f64 values.
    pub(crate) intensity_offset: u64,
    /// u32 values; 0 where there are none.
    pub(crate) level_offset: u64,
    /// Length of each column, in values.
    pub(crate) point_count: u64,
    pub(crate) precursor_mz: f64,
    pub(crate) product_mz: f64,
    pub(crate) kind: u32,
    pub(crate) intensity_width: u32,
    /// Polarity bits of [`flag`].
    pub(crate) flags: u32,
    pub(crate) reserved: u32,
}

/// One fact about the run: key and value.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct MetadataRecord {
    pub(crate) key: TextRef,
    pub(crate) value: TextRef,
}

const _: () = assert!(size_of::<BlockRecord>() == 64);
const _: () = assert!(size_of::<HotRecord>() == 64);
const _: () = assert!(size_of::<DetailRecord>() == 208);
const _: () = assert!(size_of::<PrecursorRecord>() == 88);
const _: () = assert!(size_of::<IonRecord>() == 40);
const _: () = assert!(size_of::<NativeIdRecord>() == 16);
const _: () = assert!(size_of::<ChromatogramRecord>() == 80);
const _: () = assert!(size_of::<MetadataRecord>() == 32);

/// NaN stands for a missing number.
pub(crate) fn stored(value: Option<f64>) -> f64 {
    value.unwrap_or(f64::NAN)
}

/// The number, unless it is missing.
pub(crate) fn present(value: f64) -> Option<f64> {
    (!value.is_nan()).then_some(value)
}

/// Hash of a native ID: FNV-1a with a final mix. Equal hashes are settled by comparing the text.
pub(crate) fn native_id_hash(native_id: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in native_id.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}
