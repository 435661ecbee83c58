//! One `<spectrum>` or `<chromatogram>`: its parameters, gathered element by element.

use super::arrays::{ArrayInfo, Role};
use super::context::RunContext;
use super::param::{Accession, Param, to_minutes};
use super::precursor::{Noted, PrecursorBuilder};
use super::xml::{Attributes, Visitor};
use crate::spectrum::{
    ChromatogramKind, IonMobility, IonMobilityKind, MsLevel, Polarity, Representation, SignalAxis,
    SpectrumDescription,
};
use crate::units::{ClosedRange, Minutes};
use crate::warning::WarningCode;
use std::ops::Range;

/// Elements whose parameters mean something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Record,
    Scan,
    ScanWindow,
    Precursor,
    Product,
    IsolationWindow,
    SelectedIon,
    Activation,
    Array,
    Binary,
    Other,
}

/// What was read of one record, apart from its arrays' values.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) description: SpectrumDescription,
    pub(super) default_array_length: u64,
    pub(super) arrays: Vec<ArrayInfo>,
    pub(super) chromatogram_kind: Option<ChromatogramKind>,
    pub(super) precursor_mz: Option<f64>,
    pub(super) product_mz: Option<f64>,
    /// Warnings, each as often as it occurred.
    pub(super) warnings: Vec<WarningCode>,
    has_mass_type: bool,
    has_other_type: bool,
}

impl Record {
    /// Which axis the intensities stand over. A spectrum type or a wavelength array decides, even beside an m/z term.
    pub(super) fn axis(&self) -> SignalAxis {
        let has = |role: Role| self.arrays.iter().any(|array| array.role == role);
        let is_mass = self.has_mass_type || self.description.ms_level.is_some() || has(Role::Mz);
        if self.has_other_type || has(Role::Wavelength) || !is_mass && !self.arrays.is_empty() {
            SignalAxis::Other
        } else {
            SignalAxis::Mass
        }
    }
}

/// Reads one record.
pub(super) struct RecordVisitor<'c> {
    context: &'c RunContext,
    pub(super) record: Record,
    path: Vec<Element>,
    precursor: PrecursorBuilder,
    array: ArrayInfo,
    has_time: bool,
    has_negative_charge: bool,
    window_lower: Option<f64>,
    window_upper: Option<f64>,
    instrument: Option<String>,
}

impl<'c> RecordVisitor<'c> {
    pub(super) fn new(context: &'c RunContext) -> Self {
        Self {
            context,
            record: Record::default(),
            path: Vec::with_capacity(16),
            precursor: PrecursorBuilder::default(),
            array: ArrayInfo::default(),
            has_time: false,
            has_negative_charge: false,
            window_lower: None,
            window_upper: None,
            instrument: None,
        }
    }

    /// What was read, once the element has ended.
    pub(super) fn finish(mut self) -> Record {
        self.record.description.scan_number = scan_number(&self.record.description.native_id);
        self.resolve_analyzer();
        let polarity = &mut self.record.description.polarity;
        match polarity {
            _ if !self.has_negative_charge => {}
            None => *polarity = Some(Polarity::Negative),
            Some(Polarity::Negative) => {}
            Some(Polarity::Positive) => self.record.warnings.push(WarningCode::ChargePolarityConflict),
        }
        self.record
    }

    fn resolve_analyzer(&mut self) {
        let Some(instrument) = self.instrument.as_ref().or(self.context.default_instrument.as_ref()) else {
            return;
        };
        match self.context.analyzers.get(instrument) {
            Some(analyzer) => self.record.description.analyzer.clone_from(analyzer),
            None => self.record.warnings.push(WarningCode::UnresolvedReference),
        }
    }

    fn inside(&self) -> Element {
        self.path.last().copied().unwrap_or(Element::Other)
    }

    fn note(&mut self, noted: Noted) {
        match noted {
            Noted::Nothing => {}
            Noted::Unreadable => self.record.warnings.push(WarningCode::UnreadableNumber),
            Noted::NegativeCharge => self.has_negative_charge = true,
        }
    }

    fn param(&mut self, param: &Param<'_>) {
        match self.inside() {
            Element::Record => self.record_param(param),
            Element::Scan => self.scan_param(param),
            Element::ScanWindow => self.scan_window_param(param),
            Element::IsolationWindow => {
                let noted = self.precursor.window_param(param);
                self.note(noted);
            }
            Element::Precursor | Element::Product => {
                let noted = self.precursor.mobility_param(param);
                self.note(noted);
            }
            Element::SelectedIon => {
                let noted = self.precursor.ion_param(param);
                self.note(noted);
            }
            Element::Activation => {
                let noted = self.precursor.activation_param(param, self.context.is_thermo);
                self.note(noted);
            }
            Element::Array => self.array.param(param),
            Element::Binary | Element::Other => {}
        }
    }

    fn read_number(&mut self, param: &Param<'_>) -> Option<f64> {
        let number = param.number();
        if number.is_none() {
            self.record.warnings.push(WarningCode::UnreadableNumber);
        }
        number
    }

    fn record_param(&mut self, param: &Param<'_>) {
        let Accession::Ms(accession) = param.accession else { return };
        match accession {
            1_000_511 => match param.value.trim().parse::<u8>() {
                Ok(level) => self.record.description.ms_level = MsLevel::new(level),
                Err(_) => self.record.warnings.push(WarningCode::UnreadableNumber),
            },
            1_000_130 => self.record.description.polarity = Some(Polarity::Positive),
            1_000_129 => self.record.description.polarity = Some(Polarity::Negative),
            1_000_127 => self.record.description.representation = Some(Representation::Centroid),
            1_000_128 => self.record.description.representation = Some(Representation::Profile),
            1_000_285 => self.record.description.reported_total_ion_current = self.read_number(param),
            1_000_504 => self.record.description.reported_base_peak_mz = self.read_number(param),
            1_000_505 => self.record.description.reported_base_peak_intensity = self.read_number(param),
            1_000_796 => self.record.description.title = some_text(param),
            // electromagnetic radiation, emission and absorption spectrum
            1_000_804..=1_000_806 => self.record.has_other_type = true,
            // mass spectrum and its children
            1_000_294
            | 1_000_579..=1_000_583
            | 1_000_322
            | 1_000_325
            | 1_000_326
            | 1_000_328
            | 1_000_341
            | 1_000_789
            | 1_000_790 => self.record.has_mass_type = true,
            1_000_235 => self.record.chromatogram_kind = Some(ChromatogramKind::TotalIonCurrent),
            1_000_628 => self.record.chromatogram_kind = Some(ChromatogramKind::BasePeak),
            1_000_627 => self.record.chromatogram_kind = Some(ChromatogramKind::SelectedIonCurrent),
            1_001_472 => self.record.chromatogram_kind = Some(ChromatogramKind::SelectedIonMonitoring),
            1_001_473 => self.record.chromatogram_kind = Some(ChromatogramKind::SelectedReactionMonitoring),
            _ => self.scan_or_record_param(accession, param),
        }
    }

    fn scan_param(&mut self, param: &Param<'_>) {
        let Accession::Ms(accession) = param.accession else { return };
        match accession {
            1_000_016 if !self.has_time => self.scan_start_time(param),
            1_000_512 => self.record.description.filter_string = some_text(param),
            1_000_927 if self.record.description.ion_injection_time_ms.is_none() => {
                let to_ms = if param.unit == Accession::Unit(10) { 1000.0 } else { 1.0 };
                self.record.description.ion_injection_time_ms =
                    self.read_number(param).map(|time| time * to_ms);
            }
            _ => self.scan_or_record_param(accession, param),
        }
    }

    /// Ion mobility and FAIMS voltage may sit on the spectrum or on the scan.
    fn scan_or_record_param(&mut self, accession: u32, param: &Param<'_>) {
        match accession {
            1_001_581 if self.record.description.faims_compensation_voltage.is_none() => {
                self.record.description.faims_compensation_voltage = self.read_number(param);
            }
            1_002_815 | 1_002_476 if self.record.description.ion_mobility.is_none() => {
                let kind = if accession == 1_002_815 {
                    IonMobilityKind::InverseReduced
                } else {
                    IonMobilityKind::DriftTime
                };
                let to_ms = match (kind, param.unit) {
                    (IonMobilityKind::DriftTime, Accession::Unit(10)) => 1000.0,
                    _ => 1.0,
                };
                let value = self.read_number(param).map(|value| value * to_ms);
                self.record.description.ion_mobility = value.map(|value| IonMobility { kind, value });
            }
            _ => {}
        }
    }

    fn scan_start_time(&mut self, param: &Param<'_>) {
        let Some(value) = self.read_number(param) else { return };
        match to_minutes(value, param.unit) {
            Some(minutes) => {
                self.record.description.scan_start_time = Some(Minutes(minutes));
                self.has_time = true;
            }
            None => self.record.warnings.push(WarningCode::MissingTimeUnit),
        }
    }

    fn scan_window_param(&mut self, param: &Param<'_>) {
        match param.accession {
            Accession::Ms(1_000_501) => self.window_lower = self.read_number(param),
            Accession::Ms(1_000_500) => self.window_upper = self.read_number(param),
            _ => {}
        }
    }

    fn apply_group(&mut self, id: &str) -> Result<(), String> {
        let context = self.context;
        let params = context.groups.get(id);
        let params = params.ok_or_else(|| format!("the referenceableParamGroup {id} is missing"))?;
        params.iter().for_each(|param| self.param(param));
        Ok(())
    }

    fn start_record(&mut self, attributes: &Attributes<'_>) -> Result<(), String> {
        self.record.description.native_id = attributes.get("id").unwrap_or_default().to_owned();
        let length = attributes.get("defaultArrayLength").unwrap_or("0").trim();
        self.record.default_array_length =
            length.parse().map_err(|_| format!("defaultArrayLength {length} is not a number"))?;
        Ok(())
    }

    fn start_array(&mut self, attributes: &Attributes<'_>) -> Result<(), String> {
        self.array = ArrayInfo::default();
        if let Some(length) = attributes.get("arrayLength") {
            let parsed =
                length.trim().parse().map_err(|_| format!("arrayLength {length} is not a number"))?;
            self.array.length = Some(parsed);
        }
        Ok(())
    }

    fn end_scan_window(&mut self) {
        let bounds = self.window_lower.take().zip(self.window_upper.take());
        let description = &mut self.record.description;
        if description.scan_window.is_none() {
            description.scan_window = bounds.map(|(lower, upper)| ClosedRange { lower, upper });
        }
    }
}

fn some_text(param: &Param<'_>) -> Option<String> {
    (!param.value.is_empty()).then(|| param.value.to_string())
}

impl Visitor for RecordVisitor<'_> {
    fn start(&mut self, name: &str, attributes: &Attributes<'_>) -> Result<(), String> {
        let mut element = Element::Other;
        match name {
            "cvParam" | "userParam" => self.param(&Param::from(attributes)),
            "referenceableParamGroupRef" => self.apply_group(attributes.get("ref").unwrap_or_default())?,
            "spectrum" | "chromatogram" if self.path.is_empty() => {
                self.start_record(attributes)?;
                element = Element::Record;
            }
            "scan" => {
                self.record.description.scan_count += 1;
                let instrument = attributes.get("instrumentConfigurationRef");
                if self.instrument.is_none() {
                    self.instrument = instrument.map(str::to_owned);
                }
                element = Element::Scan;
            }
            "scanWindow" => element = Element::ScanWindow,
            "precursor" => {
                self.precursor = PrecursorBuilder::default();
                let from = attributes.get("spectrumRef").filter(|from| !from.is_empty());
                self.precursor.precursor.spectrum_ref = from.map(str::to_owned);
                element = Element::Precursor;
            }
            "product" => {
                self.precursor = PrecursorBuilder::default();
                element = Element::Product;
            }
            "isolationWindow" => element = Element::IsolationWindow,
            "selectedIon" => element = Element::SelectedIon,
            "activation" => element = Element::Activation,
            "binaryDataArray" => {
                self.start_array(attributes)?;
                element = Element::Array;
            }
            "binary" if self.inside() == Element::Array => element = Element::Binary,
            _ => {}
        }
        self.path.push(element);
        Ok(())
    }

    fn end(&mut self, _name: &str) -> Result<(), String> {
        match self.path.pop() {
            Some(Element::ScanWindow) => self.end_scan_window(),
            Some(Element::SelectedIon) => self.precursor.end_ion(),
            Some(Element::Precursor) => {
                let builder = std::mem::take(&mut self.precursor);
                self.record.precursor_mz = self.record.precursor_mz.or(builder.mz());
                self.record.description.precursors.push(builder.finish());
            }
            Some(Element::Product) => {
                let builder = std::mem::take(&mut self.precursor);
                self.record.product_mz = self.record.product_mz.or(builder.mz());
            }
            Some(Element::Array) => self.record.arrays.push(std::mem::take(&mut self.array)),
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, place: Range<usize>) -> Result<(), String> {
        if self.inside() == Element::Binary && !place.is_empty() {
            self.array.text.push(place);
        }
        Ok(())
    }
}

/// The scan number, where the native ID's form gives one unique number: Thermo's mass spectrometer, scan alone, Agilent.
fn scan_number(native_id: &str) -> Option<u32> {
    let digits = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().ok()).flatten()
    };
    if let Some(number) = native_id.strip_prefix("scan=").or_else(|| native_id.strip_prefix("scanId=")) {
        return digits(number);
    }
    let rest = native_id.strip_prefix("controllerType=0 controllerNumber=")?;
    let (controller, number) = rest.split_once(" scan=")?;
    digits(controller).and_then(|_: u32| digits(number))
}

#[cfg(test)]
mod tests {
    use super::scan_number;

    /// The forms that give one unique number, and the ones that do not.
    #[test]
    fn scan_numbers_exist_only_where_the_native_id_gives_one() {
        let cases = [
            ("controllerType=0 controllerNumber=1 scan=19", Some(19)),
            ("controllerType=4 controllerNumber=1 scan=19", None),
            ("scan=7", Some(7)),
            ("scanId=1739784", Some(1_739_784)),
            ("scan=7 frame=2", None),
            ("function=1 process=0 scan=3", None),
            ("sample=1 period=1 cycle=8 experiment=1", None),
            ("index=3", None),
            ("spectrum=3", None),
            ("frame=1 scan=2", None),
            ("merged=3 frame=1 scanStart=2 scanEnd=3", None),
            ("scan=99999999999", None),
            ("scan=", None),
            ("scan=-1", None),
        ];
        for (native_id, expected) in cases {
            assert_eq!(scan_number(native_id), expected, "{native_id}");
        }
    }
}
