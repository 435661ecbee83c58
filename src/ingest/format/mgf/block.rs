//! One block on its way to a spectrum, and the header's values that stand in for what it does not say.

use super::charge::Charges;
use super::number::{float, lower_end, small_integer, word};
use crate::ingest::{IncomingSpectrum, Values};
use crate::spectrum::{MsLevel, Polarity, Precursor, SelectedIon};
use crate::units::Minutes;
use crate::warning::{WarningCode, Warnings};

/// Most peaks of one block, so that a source without line breaks between blocks cannot fill the memory.
const MOST_PEAKS: usize = 1 << 26;
/// Peaks that the buffers may hold between two blocks.
const KEPT_PEAKS: usize = 1 << 21;
/// Longest part of a wrong value that an error repeats, characters.
const QUOTED: usize = 40;

/// What is wrong with a line.
#[derive(Debug)]
pub(super) enum Fault {
    /// It is neither a key nor a peak; says why.
    UnknownLine(&'static str),
    /// The number of this key cannot be read.
    Unreadable(&'static str),
    /// The text of this key is not UTF-8; the offending bytes were replaced.
    InvalidText(&'static str),
    /// The block cannot be read as what it says.
    Damaged { what: String, array: Option<&'static str> },
}

/// Keys that a header may state for all blocks after it.
#[derive(Debug, Default)]
pub(super) struct Defaults {
    charges: Option<Charges>,
    polarity: Option<Polarity>,
    ms_level: Option<Option<MsLevel>>,
}

impl Defaults {
    /// Takes a key outside all blocks; later ones replace earlier ones.
    pub(super) fn key(&mut self, key: &[u8], value: &[u8]) -> Result<(), Fault> {
        match Key::of(key) {
            Key::Charge => self.charges = charges(value)?,
            Key::IonMode => self.polarity = polarity(value),
            Key::MsLevel => self.ms_level = ms_level(value)?,
            Key::Title | Key::PepMass | Key::Time | Key::Scans => {
                return Err(Fault::UnknownLine("has a key of one spectrum outside all blocks"));
            }
            Key::Other => {}
        }
        Ok(())
    }
}

/// Keys with a meaning here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Title,
    PepMass,
    Charge,
    Time,
    Scans,
    IonMode,
    MsLevel,
    Other,
}

impl Key {
    fn of(key: &[u8]) -> Self {
        const KNOWN: [(&[u8], Key); 7] = [
            (b"TITLE", Key::Title),
            (b"PEPMASS", Key::PepMass),
            (b"CHARGE", Key::Charge),
            (b"RTINSECONDS", Key::Time),
            (b"SCANS", Key::Scans),
            (b"IONMODE", Key::IonMode),
            (b"MSLEVEL", Key::MsLevel),
        ];
        KNOWN.iter().find(|(name, _)| key.eq_ignore_ascii_case(name)).map_or(Self::Other, |(_, key)| *key)
    }
}

/// One block. The buffers are reused from block to block.
#[derive(Debug, Default)]
pub(super) struct Block {
    spectrum: IncomingSpectrum,
    /// Parallel to the spectrum's m/z values, until the block is finished.
    intensity: Vec<f64>,
    index: u64,
    first_line: u64,
    /// Keys seen, one bit each.
    seen: u8,
    precursor_mz: Option<f64>,
    precursor_intensity: Option<f64>,
    precursor_charges: Option<Charges>,
    charges: Option<Charges>,
    polarity: Option<Polarity>,
    ms_level: Option<Option<MsLevel>>,
    /// Peak lines with more than two columns, and the first of them.
    extra_columns: u64,
    first_extra_column: u64,
}

impl Block {
    /// Starts the block with this index, whose `BEGIN IONS` stands at this line.
    pub(super) fn begin(&mut self, index: u64, first_line: u64) {
        let mut spectrum = std::mem::take(&mut self.spectrum);
        let mut intensity = std::mem::take(spectrum.intensity.as_cleared_f64());
        if intensity.capacity() < self.intensity.capacity() {
            intensity = std::mem::take(&mut self.intensity);
            intensity.clear();
        }
        spectrum.clear();
        *self = Self { spectrum, intensity, index, first_line, ..Self::default() };
    }

    /// Line of `BEGIN IONS`.
    pub(super) fn first_line(&self) -> u64 {
        self.first_line
    }

    /// Takes a peak line: m/z, intensity, and columns that are counted and left out.
    pub(super) fn peak(&mut self, line: &[u8], line_number: u64) -> Result<(), Fault> {
        const NO_PEAK: Fault = Fault::UnknownLine("is neither a key nor a peak");
        let (mz, rest) = word(line).ok_or(NO_PEAK)?;
        let (intensity, rest) = word(rest).ok_or(NO_PEAK)?;
        let (Some(mz), Some(intensity)) = (float(mz), float(intensity)) else {
            return Err(overflow(&[mz, intensity]).unwrap_or(NO_PEAK));
        };
        if !mz.is_finite() {
            return Err(Fault::Damaged {
                what: format!("the m/z of a peak is {mz}"),
                array: Some("m/z array"),
            });
        }
        if self.spectrum.mz.len() >= MOST_PEAKS {
            return Err(Fault::Damaged {
                what: format!("the block has more than {MOST_PEAKS} peaks"),
                array: None,
            });
        }
        if !rest.trim_ascii_start().is_empty() {
            if self.extra_columns == 0 {
                self.first_extra_column = line_number;
            }
            self.extra_columns += 1;
        }
        self.spectrum.mz.push(mz);
        self.intensity.push(intensity);
        Ok(())
    }

    /// Takes a key. The first of several equal ones counts.
    pub(super) fn key(&mut self, name: &[u8], value: &[u8]) -> Result<(), Fault> {
        let key = Key::of(name);
        let bit = 1 << key as u8;
        if key != Key::Other && self.seen & bit != 0 {
            return Err(Fault::UnknownLine("repeats a key of its block"));
        }
        self.seen |= bit;
        match key {
            Key::Title => self.title(value)?,
            Key::PepMass => self.pepmass(value)?,
            Key::Charge => {
                // also where it cannot be read: the block says something, so the header does not speak for it
                self.charges = Some(Charges::default());
                self.charges = Some(charges(value)?.unwrap_or_default());
            }
            Key::Time => {
                self.spectrum.description.scan_start_time = time(value)?;
                let is_one_number = float(value).is_some() || value.is_empty();
                self.spectrum.description.retention_time_range = (!is_one_number).then(|| text(value));
            }
            Key::Scans if value != b"-1" && !value.is_empty() => {
                self.spectrum.description.scans = Some(text(value));
            }
            Key::IonMode => self.polarity = polarity(value),
            Key::MsLevel => {
                self.ms_level = Some(None);
                self.ms_level = ms_level(value)?;
            }
            Key::Scans | Key::Other => {}
        }
        Ok(())
    }

    fn title(&mut self, value: &[u8]) -> Result<(), Fault> {
        if value.is_empty() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(value);
        let is_sound = matches!(text, std::borrow::Cow::Borrowed(_));
        self.spectrum.description.title = Some(text.into_owned());
        if is_sound { Ok(()) } else { Err(Fault::InvalidText("TITLE")) }
    }

    /// `m/z [intensity [charge]]`.
    fn pepmass(&mut self, value: &[u8]) -> Result<(), Fault> {
        let Some((mz, rest)) = word(value) else {
            return Ok(());
        };
        let Some(mz) = float(mz).filter(|mz| mz.is_finite()) else {
            let what = format!("PEPMASS is {}, which is not a number", quoted(mz));
            return Err(Fault::Damaged { what, array: None });
        };
        if mz < 0.0 {
            return Err(Fault::Unreadable("PEPMASS"));
        }
        // 0 stands for a mass that is not known
        self.precursor_mz = (mz > 0.0).then_some(mz);
        let Some((intensity, rest)) = word(rest) else {
            return Ok(());
        };
        self.precursor_charges = Charges::parse(rest);
        self.precursor_intensity = float(intensity).filter(|intensity| intensity.is_finite());
        match (self.precursor_intensity, &self.precursor_charges) {
            (Some(_), Some(_)) => Ok(()),
            _ => Err(Fault::Unreadable("PEPMASS")),
        }
    }

    /// The spectrum of the block, complete.
    pub(super) fn finish(&mut self, defaults: &Defaults, warnings: &mut Warnings) -> &IncomingSpectrum {
        let index = self.index;
        let place = || format!("index={index}");
        warnings.add_many(WarningCode::ExtraColumns, self.extra_columns, || {
            format!("line {}", self.first_extra_column)
        });
        let ms_level = self.ms_level.or(defaults.ms_level).unwrap_or(MsLevel::new(2));
        let stated = self.stated_charges(warnings);
        // a header's charge belongs to precursors, and makes none
        let has_precursor =
            self.precursor_mz.is_some() || self.precursor_intensity.is_some() || stated.is_some();
        let charges = match (stated, &self.charges) {
            (Some(charges), _) => Some(charges),
            // the block says that its charge is not known
            (None, Some(_)) => None,
            (None, None) => defaults.charges.as_ref().filter(|charges| has_precursor && charges.is_known()),
        };
        let signs = charges.and_then(Charges::polarity);
        let polarity = self.polarity.or(defaults.polarity);
        if polarity.is_some() && signs.is_some() && polarity != signs {
            warnings.add(WarningCode::ChargePolarityConflict, place);
        }
        let precursor = has_precursor.then(|| Precursor {
            selected_ions: vec![SelectedIon {
                mz: self.precursor_mz,
                charge: charges.and_then(Charges::single),
                intensity: self.precursor_intensity,
                possible_charges: charges.map(Charges::candidates).unwrap_or_default(),
            }],
            ..Precursor::default()
        });
        self.spectrum.intensity = Values::F64(std::mem::take(&mut self.intensity));
        let description = &mut self.spectrum.description;
        description.native_id = place();
        description.ms_level = ms_level;
        // a plus is written out of habit, a minus never is
        description.polarity = polarity.or(signs.filter(|sign| *sign == Polarity::Negative));
        description.precursors = precursor.into_iter().collect();
        &self.spectrum
    }

    /// The charges that the block itself states: those of `CHARGE`, else those of `PEPMASS`.
    fn stated_charges(&self, warnings: &mut Warnings) -> Option<&Charges> {
        let known = |charges: &Option<Charges>| charges.as_ref().is_some_and(Charges::is_known);
        match (&self.charges, &self.precursor_charges) {
            (Some(charges), Some(other)) if known(&self.charges) && known(&self.precursor_charges) => {
                if !charges.agrees_with(other) {
                    warnings.add(WarningCode::ChargeConflict, || format!("index={}", self.index));
                }
                Some(charges)
            }
            (Some(charges), _) if charges.is_known() => Some(charges),
            (_, Some(other)) if other.is_known() => Some(other),
            _ => None,
        }
    }

    /// Gives the buffers of an extraordinary block back.
    pub(super) fn shrink(&mut self) {
        if self.spectrum.mz.capacity() > KEPT_PEAKS {
            self.spectrum = IncomingSpectrum::default();
        }
    }
}

/// Damage where a column is a number that 64 bits cannot hold: it is a peak, and must not pass for a word.
fn overflow(columns: &[&[u8]]) -> Option<Fault> {
    let is_number =
        |column: &&&[u8]| std::str::from_utf8(column).is_ok_and(|text| text.parse::<f64>().is_ok());
    if !columns.iter().all(|column| is_number(&column)) {
        return None;
    }
    let column = columns.iter().find(|column| float(column).is_none())?;
    Some(Fault::Damaged {
        what: format!("a peak has the number {}, beyond 64 bits", quoted(column)),
        array: None,
    })
}

/// Charges of a value; `None` where it is empty or 0.
fn charges(value: &[u8]) -> Result<Option<Charges>, Fault> {
    let charges = Charges::parse(value).ok_or(Fault::Unreadable("CHARGE"))?;
    Ok(charges.is_known().then_some(charges))
}

/// Time of a value in seconds; `None` where it is empty or -1.
fn time(value: &[u8]) -> Result<Option<Minutes>, Fault> {
    if value.is_empty() {
        return Ok(None);
    }
    let seconds = lower_end(value).ok_or(Fault::Unreadable("RTINSECONDS"))?;
    Ok((seconds != -1.0).then(|| Minutes::from_seconds(seconds)))
}

/// A value as text.
fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

/// Level of a value; the outer `None` where it is empty, the inner one where it is 0 and so not known.
fn ms_level(value: &[u8]) -> Result<Option<Option<MsLevel>>, Fault> {
    if value.is_empty() {
        return Ok(None);
    }
    small_integer(value).map(|level| Some(MsLevel::new(level))).ok_or(Fault::Unreadable("MSLEVEL"))
}

/// Polarity of `IONMODE`; words that are neither, such as `N/A`, state none.
fn polarity(value: &[u8]) -> Option<Polarity> {
    let is_one_of = |words: &[&str]| words.iter().any(|word| value.eq_ignore_ascii_case(word.as_bytes()));
    if is_one_of(&["positive", "pos", "p", "+"]) {
        Some(Polarity::Positive)
    } else if is_one_of(&["negative", "neg", "n", "-"]) {
        Some(Polarity::Negative)
    } else {
        None
    }
}

/// The start of a wrong value, in quotes and without control characters.
fn quoted(value: &[u8]) -> String {
    format!("{:?}", String::from_utf8_lossy(value).chars().take(QUOTED).collect::<String>())
}
