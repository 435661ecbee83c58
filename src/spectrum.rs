//! What is known about a spectrum or a chromatogram apart from its arrays, in the words of PSI-MS.
//!
//! Missing is `None`: no zero, empty text or sentinel in this module means "unknown".

use crate::units::{ClosedRange, Minutes};
use serde::Serialize;

/// MS level (MS:1000511): 1 for a survey spectrum, 2 and up for fragment spectra. Never 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct MsLevel(std::num::NonZeroU8);

impl MsLevel {
    /// A level of 1 to 255; 0 is "unknown" in many files and gives `None`.
    ///
    /// ```
    /// use mzarena::spectrum::MsLevel;
    /// assert_eq!(MsLevel::new(2).map(MsLevel::get), Some(2));
    /// assert_eq!(MsLevel::new(0), None);
    /// ```
    pub fn new(level: u8) -> Option<Self> {
        std::num::NonZeroU8::new(level).map(Self)
    }

    /// The level as a number.
    pub fn get(self) -> u8 {
        self.0.get()
    }
}

/// Scan polarity (MS:1000465).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Polarity {
    /// MS:1000130.
    Positive,
    /// MS:1000129.
    Negative,
}

/// Spectrum representation (MS:1000525).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Representation {
    /// Each point is a picked peak (MS:1000127).
    Centroid,
    /// Points sample a curve (MS:1000128).
    Profile,
}

/// Which axis the intensities of a spectrum stand over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SignalAxis {
    /// m/z: a mass spectrum.
    #[default]
    Mass,
    /// Something else, such as wavelength (MS:1000804 and children): counted, never served as m/z.
    Other,
}

/// The quantity of an ion mobility value. The three are not convertible into each other without calibration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IonMobilityKind {
    /// Inverse reduced ion mobility 1/K0, V·s/cm² (MS:1002815).
    InverseReduced,
    /// Drift time, milliseconds (MS:1002476).
    DriftTime,
    /// Reduced ion mobility K0, cm²/(V·s).
    Reduced,
    /// Named in the file without saying which quantity it is (MS:1002893, "Ion Mobility").
    Unspecified,
}

/// An ion mobility value of a whole scan.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct IonMobility {
    /// Which quantity `value` is.
    pub kind: IonMobilityKind,
    /// In the unit of `kind`.
    pub value: f64,
}

/// Isolation window, as bounds instead of the file's offsets (MS:1000827, MS:1000828, MS:1000829).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct IsolationWindow {
    /// Target m/z.
    pub target_mz: Option<f64>,
    /// Target minus lower offset; `None` where offsets are absent or zero.
    pub lower_mz: Option<f64>,
    /// Target plus upper offset; `None` where offsets are absent or zero.
    pub upper_mz: Option<f64>,
    /// Ion mobility limits of the window (diapasef), 1/K0.
    pub mobility: Option<ClosedRange>,
}

/// An ion that the instrument selected (MS:1000744).
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct SelectedIon {
    /// Selected ion m/z; 0 in a file means unknown and is `None` here.
    pub mz: Option<f64>,
    /// Charge state (MS:1000041), always positive; its sign is the spectrum's polarity.
    pub charge: Option<u8>,
    /// Peak intensity (MS:1000042), in the source's unit.
    pub intensity: Option<f64>,
    /// Candidate charges (MS:1000633, MGF lists).
    pub possible_charges: Vec<u8>,
}

/// Dissociation methods (MS:1000044) that may be combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DissociationMethods(pub u32);

/// Accession number, name and bit of each known dissociation method; the bit is the row.
pub const DISSOCIATION_METHODS: &[(u32, &str)] = &[
    (1_000_133, "collision-induced dissociation"),
    (1_000_422, "beam-type collision-induced dissociation"),
    (1_002_481, "higher energy beam-type collision-induced dissociation"),
    (1_002_472, "trap-type collision-induced dissociation"),
    (1_000_598, "electron transfer dissociation"),
    (1_000_250, "electron capture dissociation"),
    (1_003_247, "negative electron transfer dissociation"),
    (1_003_246, "ultraviolet photodissociation"),
    (1_000_435, "photodissociation"),
    (1_000_262, "infrared multiphoton dissociation"),
    (1_000_599, "pulsed q dissociation"),
    (1_000_433, "low-energy collision-induced dissociation"),
    (1_000_134, "plasma desorption"),
    (1_000_135, "post-source decay"),
    (1_000_136, "surface-induced dissociation"),
    (1_000_242, "blackbody infrared radiative dissociation"),
    (1_001_880, "in-source collision-induced dissociation"),
    (1_002_000, "LIFT"),
    (1_002_631, "Electron-Transfer/Higher-Energy Collision Dissociation (EThcD)"),
    (1_002_678, "supplemental beam-type collision-induced dissociation"),
    (1_002_679, "supplemental collision-induced dissociation"),
    (1_003_294, "electron activated dissociation"),
];

impl DissociationMethods {
    /// Adds the method of a PSI-MS accession number; whether it is a known method.
    pub fn insert(&mut self, accession: u32) -> bool {
        match DISSOCIATION_METHODS.iter().position(|(known, _)| *known == accession) {
            Some(bit) => {
                self.0 |= 1 << bit;
                true
            }
            None => false,
        }
    }

    /// Names of the methods, in the order of [`DISSOCIATION_METHODS`].
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        DISSOCIATION_METHODS
            .iter()
            .enumerate()
            .filter_map(move |(bit, (_, name))| (self.0 & (1 << bit) != 0).then_some(*name))
    }
}

/// Unit of a collision energy as the file declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CollisionEnergyUnit {
    /// UO:0000266.
    Electronvolt,
    /// MS:1000138, normalized collision energy.
    Percent,
    /// No unit, or one that is not known.
    Unstated,
}

/// Collision energy (MS:1000045) or normalized collision energy (MS:1000138).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CollisionEnergy {
    /// As declared.
    pub value: f64,
    /// As declared.
    pub unit: CollisionEnergyUnit,
    /// Thermo conversions label normalised energies as electronvolt; true where that may have happened.
    pub may_be_normalized: bool,
}

/// Origin of a fragment spectrum: window, selected ions, activation, and the spectrum it came from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Precursor {
    /// Native ID of the spectrum in which the ion was chosen, as the file states it.
    pub spectrum_ref: Option<String>,
    /// m/z interval passed on.
    pub isolation_window: IsolationWindow,
    /// Ions named by the instrument; several where they were isolated together.
    pub selected_ions: Vec<SelectedIon>,
    /// How fragments were made.
    pub dissociation_methods: DissociationMethods,
    /// How hard.
    pub collision_energy: Option<CollisionEnergy>,
}

/// All that is known about one spectrum apart from its arrays.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SpectrumDescription {
    /// Vendor identifier, verbatim (MS:1000767); unique in a sound run.
    pub native_id: String,
    /// Scan number, where the native ID format gives one unique number.
    pub scan_number: Option<u32>,
    /// Spectrum title (MS:1000796).
    pub title: Option<String>,
    /// Filter string (MS:1000512).
    pub filter_string: Option<String>,
    /// `SCANS` of an MGF block, verbatim: a number, a range or a list.
    pub scans: Option<String>,
    /// `RTINSECONDS` of an MGF block, verbatim, where it is more than one number; the lower end is the start time.
    pub retention_time_range: Option<String>,
    /// Which axis the intensities stand over.
    pub axis: SignalAxis,
    /// MS level; `None` where the file states none or 0.
    pub ms_level: Option<MsLevel>,
    /// Polarity.
    pub polarity: Option<Polarity>,
    /// Centroid or profile.
    pub representation: Option<Representation>,
    /// Scan start time of the first scan that has one.
    pub scan_start_time: Option<Minutes>,
    /// Number of scans that the spectrum joins.
    pub scan_count: u32,
    /// Scan window (MS:1000501, MS:1000500) of the first scan that has one, m/z.
    pub scan_window: Option<ClosedRange>,
    /// Ion injection time (MS:1000927), milliseconds.
    pub ion_injection_time_ms: Option<f64>,
    /// Ion mobility of the whole scan.
    pub ion_mobility: Option<IonMobility>,
    /// FAIMS compensation voltage (MS:1001581), volt.
    pub faims_compensation_voltage: Option<f64>,
    /// Total ion current as the file reports it (MS:1000285).
    pub reported_total_ion_current: Option<f64>,
    /// Base peak m/z as the file reports it (MS:1000504).
    pub reported_base_peak_mz: Option<f64>,
    /// Base peak intensity as the file reports it (MS:1000505).
    pub reported_base_peak_intensity: Option<f64>,
    /// Mass analyser (PSI-MS name), where the instrument configuration states one.
    pub analyzer: Option<String>,
    /// An array was stored by a lossy method (MS-Numpress).
    pub is_lossy: bool,
    /// Where it came from; several for SPS-MS3 and multiplexed spectra.
    pub precursors: Vec<Precursor>,
}

/// What a recorded chromatogram is (MS:1000626).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChromatogramKind {
    /// MS:1000235.
    TotalIonCurrent,
    /// MS:1000628.
    BasePeak,
    /// MS:1000627, recorded by the instrument.
    SelectedIonCurrent,
    /// MS:1001472.
    SelectedIonMonitoring,
    /// MS:1001473.
    SelectedReactionMonitoring,
    /// MS:1000811 and children: pressure, temperature, absorption and the like.
    Other,
}

/// All that is known about one recorded chromatogram apart from its arrays.
#[derive(Debug, Clone, PartialEq)]
pub struct ChromatogramDescription {
    /// Identifier, verbatim.
    pub native_id: String,
    /// What it is.
    pub kind: ChromatogramKind,
    /// Polarity.
    pub polarity: Option<Polarity>,
    /// Isolation target or selected ion of the precursor, m/z.
    pub precursor_mz: Option<f64>,
    /// Isolation target of the product, m/z.
    pub product_mz: Option<f64>,
}
