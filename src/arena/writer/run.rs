//! Writing a run: spectra and chromatograms in file order, records put aside until the end.

use super::block::{BlockStage, Place};
use super::index::{write_links, write_native_ids};
use super::output::Output;
use super::side::{SideFile, Stream};
use super::sorter::Sorter;
use super::text::TextHeap;
use super::{ArenaError, Budget};
use crate::arena::layout::run::{
    ChromatogramRecord, DetailRecord, HotRecord, IonRecord, MetadataRecord, NO_INDEX, NativeIdRecord,
    PrecursorRecord, RunSection, TextRef, flag, native_id_hash, stored,
};
use crate::arena::layout::{ArenaKind, HEADER_LENGTH, Header, SectionEntry, aligned};
use crate::arena::view::{chromatogram_code, energy_code, mobility_code};
use crate::arena::{Arena, ArenaFolder, ColumnsRef, IntensityRef, PointFacts, RunTotals};
use crate::spectrum::{
    ChromatogramDescription, Polarity, Precursor, Representation, SelectedIon, SignalAxis,
    SpectrumDescription,
};
use bytemuck::{NoUninit, bytes_of};

/// The columns of one recorded chromatogram, all of the same length but for an absent `ms_level`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChromatogramColumns<'a> {
    /// Minutes.
    pub time: &'a [f64],
    /// Parallel to `time`.
    pub intensity: IntensityRef<'a>,
    /// MS level of each point, parallel to `time`, or empty.
    pub ms_level: &'a [u32],
}

/// What only the whole run tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SealReport {
    /// Spectra whose native ID another one has too.
    pub duplicate_native_id_count: u64,
    /// Index of the first such spectrum.
    pub first_duplicate_native_id: Option<u32>,
    /// Precursors whose spectrum reference names no spectrum of the run, or an ambiguous one.
    pub unresolved_precursor_count: u64,
    /// The first such precursor, counted over the whole run.
    pub first_unresolved_precursor: Option<u64>,
}

/// Fills the arena of a run, in one pass. Memory stays flat: about one block and 64 KiB for each kind of record.
pub struct RunWriter<B: Budget> {
    output: Output<B>,
    side: SideFile,
    stage: BlockStage,
    streams: Streams,
    text: TextHeap,
    native_ids: Sorter,
    precursor_refs: Sorter,
    counts: Counts,
    totals: RunTotals,
    /// Bytes of records that the budget has not been asked for yet.
    ungranted: u64,
}

#[derive(Default)]
struct Streams {
    blocks: Stream,
    hot: Stream,
    details: Stream,
    precursors: Stream,
    ions: Stream,
    chromatograms: Stream,
    metadata: Stream,
}

#[derive(Default)]
struct Counts {
    blocks: u32,
    spectra: u32,
    precursors: u64,
    ions: u64,
}

impl<B: Budget> std::fmt::Debug for RunWriter<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunWriter").field("spectrum_count", &self.counts.spectra).finish_non_exhaustive()
    }
}

impl<B: Budget> RunWriter<B> {
    /// Begins an arena in `folder`.
    ///
    /// # Errors
    ///
    /// [`ArenaError::Io`] where no file can be made; what `budget` refuses.
    pub fn create(folder: &ArenaFolder, budget: B) -> Result<Self, ArenaError> {
        let mut output = Output::create(folder, budget)?;
        output.grant(HEADER_LENGTH)?;
        output.append(&[0; HEADER_LENGTH as usize])?;
        Ok(Self {
            output,
            side: SideFile::new(folder),
            stage: BlockStage::default(),
            streams: Streams::default(),
            text: TextHeap::default(),
            native_ids: Sorter::default(),
            precursor_refs: Sorter::default(),
            counts: Counts::default(),
            totals: RunTotals::default(),
            ungranted: 0,
        })
    }

    /// Counts and extremes so far.
    pub fn totals(&self) -> &RunTotals {
        &self.totals
    }

    /// Bytes that the arena would take if it were sealed now, to within the padding.
    pub fn byte_size(&self) -> u64 {
        self.output.granted() + self.ungranted
    }

    /// Appends a spectrum: its columns are copied, in their order. Answers what was found in them.
    ///
    /// # Errors
    ///
    /// [`ArenaError::InvalidPayload`] for columns of different length, an m/z that is NaN or infinite, or points
    /// without an m/z axis; what the budget or the disk refuses. After any other error than
    /// an invalid payload the writer can only be dropped.
    pub fn push(
        &mut self,
        description: &SpectrumDescription,
        columns: ColumnsRef<'_>,
    ) -> Result<PointFacts, ArenaError> {
        let facts = check(description, &columns)?;
        let index = self.counts.spectra;
        if index == NO_INDEX {
            return Err(ArenaError::invalid("more than 2^32 - 1 spectra"));
        }
        if self.stage.must_close_before(&columns, &facts) {
            self.close_block()?;
        }
        let place = self.stage.push(index, &columns, &facts)?;
        self.push_records(description, &columns, &facts, place)?;
        self.native_ids.push([native_id_hash(&description.native_id), u64::from(index)], &mut self.side)?;
        self.ungranted += size_of::<NativeIdRecord>() as u64;
        self.totals.add(description, &columns, &facts);
        self.counts.spectra += 1;
        if self.ungranted > 256 * 1024 {
            self.ask()?;
        }
        Ok(facts)
    }

    /// Appends a recorded chromatogram.
    ///
    /// # Errors
    ///
    /// [`ArenaError::InvalidPayload`] for columns of different length; what the budget or the disk refuses.
    pub fn push_chromatogram(
        &mut self,
        description: &ChromatogramDescription,
        columns: ChromatogramColumns<'_>,
    ) -> Result<(), ArenaError> {
        let count = columns.time.len();
        let levels_fit = columns.ms_level.is_empty() || columns.ms_level.len() == count;
        if columns.intensity.len() != count || !levels_fit {
            return Err(ArenaError::invalid(format!(
                "chromatogram {}: {count} times, {} intensities, {} MS levels",
                description.native_id,
                columns.intensity.len(),
                columns.ms_level.len()
            )));
        }
        let intensity: &[u8] = match columns.intensity {
            IntensityRef::F32(values) => bytemuck::cast_slice(values),
            IntensityRef::F64(values) => bytemuck::cast_slice(values),
        };
        let parts = [bytemuck::cast_slice(columns.time), intensity, bytemuck::cast_slice(columns.ms_level)];
        self.output.grant(parts.iter().map(|part| aligned(part.len() as u64)).sum())?;
        let [time_offset, intensity_offset, level_offset] = self.output.append_columns(parts)?;
        let record = ChromatogramRecord {
            native_id: self.add_text(&description.native_id)?,
            time_offset,
            intensity_offset,
            level_offset: if columns.ms_level.is_empty() { 0 } else { level_offset },
            point_count: count as u64,
            precursor_mz: stored(description.precursor_mz),
            product_mz: stored(description.product_mz),
            kind: chromatogram_code(description.kind),
            intensity_width: columns.intensity.width() as u32,
            flags: u32::from(polarity_flag(description.polarity)),
            reserved: 0,
        };
        self.ungranted += put(&mut self.streams.chromatograms, &record, &mut self.side)?;
        self.totals.chromatogram_count += 1;
        Ok(())
    }

    /// Appends a fact about the run, such as `instrument`. Keys may repeat; order is kept.
    ///
    /// # Errors
    ///
    /// What the budget or the disk refuses.
    pub fn push_metadata(&mut self, key: &str, value: &str) -> Result<(), ArenaError> {
        let record = MetadataRecord { key: self.add_text(key)?, value: self.add_text(value)? };
        self.ungranted += put(&mut self.streams.metadata, &record, &mut self.side)?;
        Ok(())
    }

    fn push_records(
        &mut self,
        description: &SpectrumDescription,
        columns: &ColumnsRef<'_>,
        facts: &PointFacts,
        place: Place,
    ) -> Result<(), ArenaError> {
        let first_precursor = self.counts.precursors;
        for precursor in &description.precursors {
            self.push_precursor(precursor)?;
        }
        let text_before = self.text.length();
        let detail = self.detail_record(description, columns, facts, first_precursor)?;
        self.ungranted += self.text.length() - text_before;
        let hot = hot_record(description, facts, place, self.counts.blocks);
        self.ungranted += put(&mut self.streams.details, &detail, &mut self.side)?;
        self.ungranted += put(&mut self.streams.hot, &hot, &mut self.side)?;
        Ok(())
    }

    fn detail_record(
        &mut self,
        description: &SpectrumDescription,
        columns: &ColumnsRef<'_>,
        facts: &PointFacts,
        first_precursor: u64,
    ) -> Result<DetailRecord, ArenaError> {
        let (text, side) = (&mut self.text, &mut self.side);
        let base_peak =
            facts.base_peak.and_then(|at| Some((*columns.mz.get(at)?, columns.intensity.get(at)?)));
        Ok(DetailRecord {
            native_id: text.add(&description.native_id, side)?,
            title: text.add_optional(description.title.as_deref(), side)?,
            filter_string: text.add_repeated(description.filter_string.as_deref(), side)?,
            analyzer: text.add_repeated(description.analyzer.as_deref(), side)?,
            scans: text.add_optional(description.scans.as_deref(), side)?,
            retention_time_range: text.add_optional(description.retention_time_range.as_deref(), side)?,
            total_ion_current: facts.total_ion_current,
            base_peak_mz: stored(base_peak.map(|(mz, _)| mz)),
            base_peak_intensity: stored(base_peak.map(|(_, intensity)| intensity)),
            reported_total_ion_current: stored(description.reported_total_ion_current),
            reported_base_peak_mz: stored(description.reported_base_peak_mz),
            reported_base_peak_intensity: stored(description.reported_base_peak_intensity),
            ion_injection_time_ms: stored(description.ion_injection_time_ms),
            ion_mobility: stored(description.ion_mobility.map(|mobility| mobility.value)),
            faims_compensation_voltage: stored(description.faims_compensation_voltage),
            scan_window_lower: stored(description.scan_window.map(|window| window.lower)),
            scan_window_upper: stored(description.scan_window.map(|window| window.upper)),
            first_precursor,
            precursor_count: u32::try_from(description.precursors.len())
                .map_err(|_| ArenaError::invalid("a spectrum of 2^32 precursors or more"))?,
            scan_count: description.scan_count,
            scan_number: description.scan_number.unwrap_or(NO_INDEX),
            ion_mobility_kind: description.ion_mobility.map_or(0, |mobility| mobility_code(mobility.kind)),
        })
    }

    fn push_precursor(&mut self, precursor: &Precursor) -> Result<(), ArenaError> {
        let first_ion = self.counts.ions;
        for ion in &precursor.selected_ions {
            self.push_ion(ion)?;
        }
        let spectrum_ref = match &precursor.spectrum_ref {
            Some(native_id) => {
                let pair = [native_id_hash(native_id), self.counts.precursors];
                self.precursor_refs.push(pair, &mut self.side)?;
                self.add_text(native_id)?
            }
            None => TextRef::NONE,
        };
        let window = precursor.isolation_window;
        let energy = precursor.collision_energy;
        let record = PrecursorRecord {
            spectrum_ref,
            target_mz: stored(window.target_mz),
            lower_mz: stored(window.lower_mz),
            upper_mz: stored(window.upper_mz),
            mobility_lower: stored(window.mobility.map(|range| range.lower)),
            mobility_upper: stored(window.mobility.map(|range| range.upper)),
            collision_energy: stored(energy.map(|energy| energy.value)),
            first_ion,
            ion_count: u32::try_from(precursor.selected_ions.len())
                .map_err(|_| ArenaError::invalid("a precursor of 2^32 selected ions or more"))?,
            dissociation_methods: precursor.dissociation_methods.0,
            collision_energy_unit: energy.map_or(0, |energy| energy_code(energy.unit)),
            collision_energy_flags: energy.map_or(0, |energy| u32::from(energy.may_be_normalized)),
        };
        self.counts.precursors += 1;
        self.ungranted += put(&mut self.streams.precursors, &record, &mut self.side)?;
        self.ungranted += size_of::<u32>() as u64;
        Ok(())
    }

    fn push_ion(&mut self, ion: &SelectedIon) -> Result<(), ArenaError> {
        let possible_charges = if ion.possible_charges.is_empty() {
            TextRef::NONE
        } else {
            let charges: Vec<String> = ion.possible_charges.iter().map(u8::to_string).collect();
            self.add_text(&charges.join(","))?
        };
        let record = IonRecord {
            possible_charges,
            mz: stored(ion.mz),
            intensity: stored(ion.intensity),
            charge: u32::from(ion.charge.unwrap_or(0)),
            reserved: 0,
        };
        self.counts.ions += 1;
        self.ungranted += put(&mut self.streams.ions, &record, &mut self.side)?;
        Ok(())
    }

    fn add_text(&mut self, text: &str) -> Result<TextRef, ArenaError> {
        self.ungranted += text.len() as u64;
        self.text.add(text, &mut self.side)
    }

    fn close_block(&mut self) -> Result<(), ArenaError> {
        self.ask()?;
        let record = self.stage.close(&mut self.output)?;
        self.counts.blocks += 1;
        self.ungranted += put(&mut self.streams.blocks, &record, &mut self.side)?;
        Ok(())
    }

    fn ask(&mut self) -> Result<(), ArenaError> {
        self.output.grant(std::mem::take(&mut self.ungranted))
    }

    /// Ends the run: records follow the columns, the file is sealed, mapped and proved.
    ///
    /// # Errors
    ///
    /// What the budget or the disk refuses.
    pub fn seal(mut self) -> Result<(Arena, SealReport), ArenaError> {
        if !self.stage.is_empty() {
            self.close_block()?;
        }
        self.ask()?;
        let mut header = Header::new(ArenaKind::Run, 0);
        let length = self.place_sections(&mut header);
        header.length = length;
        // Records and text are granted; what is left is the padding between them.
        self.output.grant(length - self.output.granted())?;
        let report = self.write_sections()?;
        let sealed = self.output.seal(bytes_of(&header))?;
        Ok((Arena::open(sealed, self.totals)?, report))
    }

    /// Fills the section table; answers the length of the whole arena.
    fn place_sections(&self, header: &mut Header) -> u64 {
        let streams = &self.streams;
        let sections = [
            (RunSection::Blocks, 64, streams.blocks.length()),
            (RunSection::Hot, size_of::<HotRecord>(), streams.hot.length()),
            (RunSection::Details, size_of::<DetailRecord>(), streams.details.length()),
            (RunSection::Precursors, size_of::<PrecursorRecord>(), streams.precursors.length()),
            (RunSection::Ions, size_of::<IonRecord>(), streams.ions.length()),
            (RunSection::Chromatograms, size_of::<ChromatogramRecord>(), streams.chromatograms.length()),
            (RunSection::Metadata, size_of::<MetadataRecord>(), streams.metadata.length()),
            (RunSection::Text, 1, self.text.length()),
            (RunSection::NativeIds, size_of::<NativeIdRecord>(), self.native_ids.count() * 16),
            (RunSection::PrecursorSpectra, size_of::<u32>(), self.counts.precursors * 4),
        ];
        let mut offset = aligned(self.output.length());
        for (entry, (id, record_length, length)) in header.sections.iter_mut().zip(sections) {
            *entry = SectionEntry { id: id as u32, record_length: record_length as u32, offset, length };
            offset = aligned(offset + length);
        }
        offset
    }

    /// Writes the sections in the order in which [`Self::place_sections`] placed them.
    fn write_sections(&mut self) -> Result<SealReport, ArenaError> {
        let (side, output) = (&mut self.side, &mut self.output);
        let streams = std::mem::take(&mut self.streams);
        let text = std::mem::take(&mut self.text).into_stream();
        let in_order = [
            streams.blocks,
            streams.hot,
            streams.details,
            streams.precursors,
            streams.ions,
            streams.chromatograms,
            streams.metadata,
            text,
        ];
        for stream in in_order {
            output.align()?;
            stream.copy_to(side, output)?;
        }
        output.align()?;
        let ids = std::mem::take(&mut self.native_ids).finish(side)?;
        let refs = std::mem::take(&mut self.precursor_refs).finish(side)?;
        let (report, links) = write_native_ids(ids, refs, side, output)?;
        output.align()?;
        write_links(links.finish(side)?, self.counts.precursors, side, output)?;
        output.align()?;
        Ok(report)
    }
}

/// What makes a spectrum valid, whoever registers it.
fn check(description: &SpectrumDescription, columns: &ColumnsRef<'_>) -> Result<PointFacts, ArenaError> {
    let count = columns.mz.len();
    if columns.intensity.len() != count {
        let found = columns.intensity.len();
        return Err(ArenaError::invalid(format!("{count} m/z values and {found} intensities")));
    }
    if let Some((_, mobility)) = columns.mobility
        && mobility.len() != count
    {
        let found = mobility.len();
        return Err(ArenaError::invalid(format!("{count} m/z values and {found} ion mobilities")));
    }
    if description.axis == SignalAxis::Other && count > 0 {
        return Err(ArenaError::invalid("points of a spectrum whose axis is not m/z"));
    }
    let facts = PointFacts::of(columns);
    match facts.first_non_finite_mz {
        Some(at) => {
            let value = columns.mz.get(at).copied().unwrap_or(f64::NAN);
            Err(ArenaError::invalid(format!("m/z value {at} is {value}")))
        }
        None => Ok(facts),
    }
}

fn hot_record(description: &SpectrumDescription, facts: &PointFacts, place: Place, block: u32) -> HotRecord {
    let mut flags = polarity_flag(description.polarity);
    let mut set = |bit: u16, on: bool| flags |= if on { bit } else { 0 };
    set(flag::CENTROID, description.representation == Some(Representation::Centroid));
    set(flag::PROFILE, description.representation == Some(Representation::Profile));
    set(flag::OTHER_AXIS, description.axis == SignalAxis::Other);
    set(flag::SORTED, facts.is_sorted);
    set(flag::NON_FINITE, facts.non_finite_intensity_count > 0);
    set(flag::SEVERAL_PRECURSORS, description.precursors.len() > 1);
    set(flag::LOSSY, description.is_lossy);
    let window =
        description.precursors.first().map(|precursor| precursor.isolation_window).unwrap_or_default();
    HotRecord {
        block,
        start: place.start,
        count: place.count,
        flags,
        ms_level: description.ms_level.map_or(0, |level| level.get()),
        reserved: 0,
        time: stored(description.scan_start_time.map(|time| time.0)),
        lowest_mz: stored(facts.mz_range.map(|range| range.lower)),
        highest_mz: stored(facts.mz_range.map(|range| range.upper)),
        target_mz: stored(window.target_mz),
        isolation_lower_mz: stored(window.lower_mz),
        isolation_upper_mz: stored(window.upper_mz),
    }
}

fn polarity_flag(polarity: Option<Polarity>) -> u16 {
    match polarity {
        Some(Polarity::Positive) => flag::POSITIVE,
        Some(Polarity::Negative) => flag::NEGATIVE,
        None => 0,
    }
}

/// Appends `record`; answers its size.
fn put<T: NoUninit>(stream: &mut Stream, record: &T, side: &mut SideFile) -> Result<u64, ArenaError> {
    stream.push(bytes_of(record), side)?;
    Ok(size_of::<T>() as u64)
}
