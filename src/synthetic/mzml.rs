//! Writes a run as mzML 1.1, as a stream.

use std::io::{self, Write};

use libdeflater::{CompressionLvl, Compressor};
use sha1::{Digest, Sha1};

use super::chemistry::Scratch;
use super::{Compression, FloatWidth, SyntheticFacts, SyntheticPrecursor, SyntheticRun};
use super::{SyntheticSpectrum, native_id};
use crate::spectrum::{Polarity, Representation};

pub(super) fn write(run: &SyntheticRun, out: &mut impl Write) -> io::Result<SyntheticFacts> {
    let mut file = File { out, position: 0, checksum: run.indexed.then(Sha1::new) };
    let mut writer = SpectrumWriter::new(run);
    let mut facts = SyntheticFacts::default();
    let mut offsets = Vec::new();
    let mut trace = Trace::default();

    file.put(header(run)?.as_slice())?;
    let mut scratch = Scratch::default();
    let mut spectrum = SyntheticSpectrum::empty();
    for index in 0..run.spectrum_count {
        run.fill(index, &mut spectrum, &mut scratch);
        facts.add(&spectrum);
        trace.minutes.push(spectrum.scan_start_time.0);
        trace.intensity.push(spectrum.total_ion_current());
        offsets.push(file.position);
        file.put(writer.spectrum(&spectrum)?)?;
    }
    file.put(b"</spectrumList>\n<chromatogramList count=\"1\" defaultDataProcessingRef=\"DP1\">\n")?;
    let chromatogram_offset = file.position;
    file.put(writer.chromatogram(&trace)?)?;
    file.put(b"</chromatogramList>\n</run>\n</mzML>\n")?;
    if run.indexed {
        index(&mut file, &offsets, chromatogram_offset)?;
    }
    facts.byte_count = file.position;
    Ok(facts)
}

/// The output, with its position and, for an indexed file, its checksum so far.
struct File<'a, W> {
    out: &'a mut W,
    position: u64,
    checksum: Option<Sha1>,
}

impl<W: Write> File<'_, W> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(checksum) = &mut self.checksum {
            checksum.update(bytes);
        }
        self.position += bytes.len() as u64;
        self.out.write_all(bytes)
    }
}

/// The total ion current chromatogram: one point for each spectrum.
#[derive(Default)]
struct Trace {
    minutes: Vec<f64>,
    intensity: Vec<f64>,
}

const RUN_OPENING: &str = r#"<cvList count="2">
<cv id="MS" fullName="Proteomics Standards Initiative Mass Spectrometry Ontology" version="4.1.257" URI="https://raw.githubusercontent.com/HUPO-PSI/psi-ms-CV/master/psi-ms.obo"/>
<cv id="UO" fullName="Unit Ontology" version="09:04:2014" URI="https://raw.githubusercontent.com/bio-ontology-research-group/unit-ontology/master/unit.obo"/>
</cvList>
<fileDescription>
<fileContent>
<cvParam cvRef="MS" accession="MS:1000579" name="MS1 spectrum" value=""/>
<cvParam cvRef="MS" accession="MS:1000580" name="MSn spectrum" value=""/>
</fileContent>
<sourceFileList count="1">
<sourceFile id="SF1" name="synthetic" location="file:///">
<cvParam cvRef="MS" accession="MS:1000768" name="Thermo nativeID format" value=""/>
<cvParam cvRef="MS" accession="MS:1000584" name="mzML format" value=""/>
</sourceFile>
</sourceFileList>
</fileDescription>
<softwareList count="1">
<software id="mzarena" version="0">
<cvParam cvRef="MS" accession="MS:1000799" name="custom unreleased software tool" value="mzarena synthetic run"/>
</software>
</softwareList>
<instrumentConfigurationList count="1">
<instrumentConfiguration id="IC1">
<cvParam cvRef="MS" accession="MS:1000031" name="instrument model" value=""/>
<componentList count="3">
<source order="1"><cvParam cvRef="MS" accession="MS:1000073" name="electrospray ionization" value=""/></source>
<analyzer order="2"><cvParam cvRef="MS" accession="MS:1000484" name="orbitrap" value=""/></analyzer>
<detector order="3"><cvParam cvRef="MS" accession="MS:1000624" name="inductive detector" value=""/></detector>
</componentList>
</instrumentConfiguration>
</instrumentConfigurationList>
<dataProcessingList count="1">
<dataProcessing id="DP1">
<processingMethod order="0" softwareRef="mzarena"><cvParam cvRef="MS" accession="MS:1000544" name="Conversion to mzML" value=""/></processingMethod>
</dataProcessing>
</dataProcessingList>
"#;

fn header(run: &SyntheticRun) -> io::Result<Vec<u8>> {
    let mut text = b"<?xml version=\"1.0\" encoding=\"utf-8\"?>\n".to_vec();
    if run.indexed {
        writeln!(text, r#"<indexedmzML xmlns="http://psi.hupo.org/ms/mzml">"#)?;
    }
    let id = format!("synthetic_seed_{}", run.seed);
    writeln!(text, r#"<mzML xmlns="http://psi.hupo.org/ms/mzml" id="{id}" version="1.1.0">"#)?;
    text.extend_from_slice(RUN_OPENING.as_bytes());
    writeln!(text, r#"<run id="{id}" defaultInstrumentConfigurationRef="IC1" defaultSourceFileRef="SF1">"#)?;
    writeln!(text, r#"<spectrumList count="{}" defaultDataProcessingRef="DP1">"#, run.spectrum_count)?;
    Ok(text)
}

fn index<W: Write>(file: &mut File<'_, W>, offsets: &[u64], chromatogram: u64) -> io::Result<()> {
    let start = file.position;
    file.put(b"<indexList count=\"2\">\n<index name=\"spectrum\">\n")?;
    let mut line = Vec::new();
    for (index, offset) in (0..).zip(offsets) {
        line.clear();
        writeln!(line, r#"<offset idRef="{}">{offset}</offset>"#, native_id(index))?;
        file.put(&line)?;
    }
    line.clear();
    writeln!(line, "</index>\n<index name=\"chromatogram\">")?;
    writeln!(line, r#"<offset idRef="TIC">{chromatogram}</offset>"#)?;
    writeln!(line, "</index>\n</indexList>\n<indexListOffset>{start}</indexListOffset>")?;
    // the checksum covers everything up to and including its own start tag
    write!(line, "<fileChecksum>")?;
    file.put(&line)?;
    line.clear();
    for byte in file.checksum.take().map(Sha1::finalize).unwrap_or_default() {
        write!(line, "{byte:02x}")?;
    }
    writeln!(line, "</fileChecksum>\n</indexedmzML>")?;
    file.put(&line)
}

/// A PSI-MS term, its value, and its unit.
struct Term<'a> {
    accession: &'a str,
    name: &'a str,
    value: &'a dyn std::fmt::Display,
    unit: Option<(&'a str, &'a str)>,
}

const MZ_UNIT: (&str, &str) = ("MS:1000040", "m/z");
const COUNTS: (&str, &str) = ("MS:1000131", "number of detector counts");
const MINUTE: (&str, &str) = ("UO:0000031", "minute");
const MILLISECOND: (&str, &str) = ("UO:0000028", "millisecond");
const ELECTRONVOLT: (&str, &str) = ("UO:0000266", "electronvolt");

/// Makes elements in a buffer that is reused.
struct SpectrumWriter {
    run: SyntheticRun,
    text: Vec<u8>,
    bytes: Vec<u8>,
    compressed: Vec<u8>,
    compressor: Compressor,
}

impl SpectrumWriter {
    fn new(run: &SyntheticRun) -> Self {
        Self {
            run: run.clone(),
            text: Vec::new(),
            bytes: Vec::new(),
            compressed: Vec::new(),
            // level 1, since "fastest" stores without compressing
            compressor: Compressor::new(CompressionLvl::new(1).unwrap_or_default()),
        }
    }

    fn spectrum(&mut self, spectrum: &SyntheticSpectrum) -> io::Result<&[u8]> {
        self.text.clear();
        writeln!(
            self.text,
            r#"<spectrum index="{}" id="{}" defaultArrayLength="{}">"#,
            spectrum.index,
            spectrum.native_id,
            spectrum.mz.len()
        )?;
        self.description(spectrum)?;
        self.scan(spectrum)?;
        if let Some(precursor) = &spectrum.precursor {
            self.precursor(precursor)?;
        }
        writeln!(self.text, r#"<binaryDataArrayList count="2">"#)?;
        self.array(self.run.mz_width, &spectrum.mz, ("MS:1000514", "m/z array"), MZ_UNIT)?;
        self.array(self.run.intensity_width, &spectrum.intensity, ("MS:1000515", "intensity array"), COUNTS)?;
        writeln!(self.text, "</binaryDataArrayList>\n</spectrum>")?;
        Ok(&self.text)
    }

    fn description(&mut self, spectrum: &SyntheticSpectrum) -> io::Result<()> {
        let level = spectrum.ms_level.get();
        self.value("MS:1000511", "ms level", &level, None)?;
        match level {
            1 => self.flag("MS:1000579", "MS1 spectrum")?,
            _ => self.flag("MS:1000580", "MSn spectrum")?,
        }
        match self.run.polarity {
            Polarity::Positive => self.flag("MS:1000130", "positive scan")?,
            Polarity::Negative => self.flag("MS:1000129", "negative scan")?,
        }
        match self.run.representation {
            Representation::Centroid => self.flag("MS:1000127", "centroid spectrum")?,
            Representation::Profile => self.flag("MS:1000128", "profile spectrum")?,
        }
        if let Some((mz, intensity)) = spectrum.base_peak() {
            self.value("MS:1000504", "base peak m/z", &mz, Some(MZ_UNIT))?;
            self.value("MS:1000505", "base peak intensity", &intensity, Some(COUNTS))?;
        }
        self.value("MS:1000285", "total ion current", &spectrum.total_ion_current(), Some(COUNTS))?;
        if let (Some(lowest), Some(highest)) = (spectrum.mz.first(), spectrum.mz.last()) {
            self.value("MS:1000528", "lowest observed m/z", lowest, Some(MZ_UNIT))?;
            self.value("MS:1000527", "highest observed m/z", highest, Some(MZ_UNIT))?;
        }
        Ok(())
    }

    fn scan(&mut self, spectrum: &SyntheticSpectrum) -> io::Result<()> {
        writeln!(self.text, r#"<scanList count="1">"#)?;
        self.flag("MS:1000795", "no combination")?;
        writeln!(self.text, r#"<scan instrumentConfigurationRef="IC1">"#)?;
        self.value("MS:1000016", "scan start time", &spectrum.scan_start_time.0, Some(MINUTE))?;
        let injection_ms = if spectrum.precursor.is_none() { 5 } else { 22 };
        self.value("MS:1000927", "ion injection time", &injection_ms, Some(MILLISECOND))?;
        let window = SyntheticRun::scan_window(spectrum.ms_level.get());
        writeln!(self.text, "<scanWindowList count=\"1\">\n<scanWindow>")?;
        self.value("MS:1000501", "scan window lower limit", &window.lower, Some(MZ_UNIT))?;
        self.value("MS:1000500", "scan window upper limit", &window.upper, Some(MZ_UNIT))?;
        writeln!(self.text, "</scanWindow>\n</scanWindowList>\n</scan>\n</scanList>")
    }

    fn precursor(&mut self, precursor: &SyntheticPrecursor) -> io::Result<()> {
        let origin = native_id(precursor.spectrum_index);
        writeln!(
            self.text,
            "<precursorList count=\"1\">\n<precursor spectrumRef=\"{origin}\">\n<isolationWindow>"
        )?;
        self.value("MS:1000827", "isolation window target m/z", &precursor.target_mz, Some(MZ_UNIT))?;
        self.value("MS:1000828", "isolation window lower offset", &precursor.lower_offset, Some(MZ_UNIT))?;
        self.value("MS:1000829", "isolation window upper offset", &precursor.upper_offset, Some(MZ_UNIT))?;
        writeln!(self.text, "</isolationWindow>\n<selectedIonList count=\"1\">\n<selectedIon>")?;
        self.value("MS:1000744", "selected ion m/z", &precursor.target_mz, Some(MZ_UNIT))?;
        if let Some(charge) = precursor.charge {
            self.value("MS:1000041", "charge state", &charge, None)?;
        }
        if let Some(intensity) = precursor.intensity {
            self.value("MS:1000042", "peak intensity", &intensity, Some(COUNTS))?;
        }
        writeln!(self.text, "</selectedIon>\n</selectedIonList>\n<activation>")?;
        self.flag("MS:1000422", "beam-type collision-induced dissociation")?;
        self.value("MS:1000045", "collision energy", &precursor.collision_energy_ev, Some(ELECTRONVOLT))?;
        writeln!(self.text, "</activation>\n</precursor>\n</precursorList>")
    }

    fn chromatogram(&mut self, trace: &Trace) -> io::Result<&[u8]> {
        self.text.clear();
        let length = trace.minutes.len();
        writeln!(self.text, r#"<chromatogram index="0" id="TIC" defaultArrayLength="{length}">"#)?;
        self.flag("MS:1000235", "total ion current chromatogram")?;
        writeln!(self.text, r#"<binaryDataArrayList count="2">"#)?;
        self.array(FloatWidth::Bits64, &trace.minutes, ("MS:1000595", "time array"), MINUTE)?;
        self.array(FloatWidth::Bits64, &trace.intensity, ("MS:1000515", "intensity array"), COUNTS)?;
        writeln!(self.text, "</binaryDataArrayList>\n</chromatogram>")?;
        Ok(&self.text)
    }

    fn array<T: Float>(
        &mut self,
        width: FloatWidth,
        values: &[T],
        (accession, name): (&str, &str),
        unit: (&str, &str),
    ) -> io::Result<()> {
        self.bytes.clear();
        match width {
            FloatWidth::Bits32 => {
                values.iter().for_each(|value| self.bytes.extend_from_slice(&value.narrow().to_le_bytes()));
            }
            FloatWidth::Bits64 => {
                values.iter().for_each(|value| self.bytes.extend_from_slice(&value.widen().to_le_bytes()));
            }
        }
        let data = match self.run.compression {
            Compression::None => self.bytes.as_slice(),
            Compression::Zlib => zlib(&mut self.compressor, &self.bytes, &mut self.compressed)?,
        };
        let length = data.len().div_ceil(3) * 4;
        writeln!(self.text, r#"<binaryDataArray encodedLength="{length}">"#)?;
        let width = match width {
            FloatWidth::Bits32 => ("MS:1000521", "32-bit float"),
            FloatWidth::Bits64 => ("MS:1000523", "64-bit float"),
        };
        let compression = match self.run.compression {
            Compression::None => ("MS:1000576", "no compression"),
            Compression::Zlib => ("MS:1000574", "zlib compression"),
        };
        for (accession, name) in [width, compression] {
            put(&mut self.text, &Term { accession, name, value: &"", unit: None })?;
        }
        put(&mut self.text, &Term { accession, name, value: &"", unit: Some(unit) })?;
        write!(self.text, "<binary>")?;
        base64_simd::STANDARD.encode_append(data, &mut self.text);
        writeln!(self.text, "</binary>\n</binaryDataArray>")
    }

    fn flag(&mut self, accession: &str, name: &str) -> io::Result<()> {
        put(&mut self.text, &Term { accession, name, value: &"", unit: None })
    }

    fn value(
        &mut self,
        accession: &str,
        name: &str,
        value: &dyn std::fmt::Display,
        unit: Option<(&str, &str)>,
    ) -> io::Result<()> {
        put(&mut self.text, &Term { accession, name, value, unit })
    }
}

fn put(text: &mut Vec<u8>, term: &Term<'_>) -> io::Result<()> {
    let Term { accession, name, value, unit } = term;
    write!(text, r#"<cvParam cvRef="MS" accession="{accession}" name="{name}" value="{value}""#)?;
    if let Some((accession, name)) = unit {
        let vocabulary = accession.split(':').next().unwrap_or_default();
        write!(text, r#" unitCvRef="{vocabulary}" unitAccession="{accession}" unitName="{name}""#)?;
    }
    writeln!(text, "/>")
}

fn zlib<'a>(compressor: &mut Compressor, bytes: &[u8], buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
    buffer.resize(compressor.zlib_compress_bound(bytes.len()), 0);
    let length = compressor.zlib_compress(bytes, buffer).map_err(io::Error::other)?;
    buffer.truncate(length);
    Ok(buffer)
}

/// A number that an array may hold in either width.
trait Float: Copy {
    fn narrow(self) -> f32;
    fn widen(self) -> f64;
}

impl Float for f32 {
    fn narrow(self) -> f32 {
        self
    }

    fn widen(self) -> f64 {
        f64::from(self)
    }
}

impl Float for f64 {
    fn narrow(self) -> f32 {
        self as f32
    }

    fn widen(self) -> f64 {
        self
    }
}
