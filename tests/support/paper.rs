//! Writes small mzML files word by word: what a test wants to be in them, and nothing else.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::fmt::Write as _;

/// One spectrum to write.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spectrum {
    pub(crate) native_id: String,
    pub(crate) ms_level: u8,
    /// Scan start time, in minutes.
    pub(crate) minutes: f64,
    pub(crate) mz: Vec<f64>,
    pub(crate) intensity: Vec<f64>,
    /// XML among the spectrum's own parameters.
    pub(crate) params: String,
    /// XML inside its scan.
    pub(crate) scan: String,
    /// XML of its precursor list.
    pub(crate) precursors: String,
}

/// A controlled parameter.
pub(crate) fn cv(accession: u32, name: &str, value: &str) -> String {
    let (name, value) = (escaped(name), escaped(value));
    format!(r#"<cvParam cvRef="MS" accession="MS:{accession}" name="{name}" value="{value}"/>"#)
}

/// A parameter of somebody's own.
pub(crate) fn user(name: &str, value: &str) -> String {
    format!(r#"<userParam name="{}" value="{}" type="xsd:string"/>"#, escaped(name), escaped(value))
}

/// A precursor with an isolation window and one selected ion.
pub(crate) fn precursor(target_mz: f64, more: &str) -> String {
    let (target, ion) = (target_mz.to_string(), cv(1_000_744, "selected ion m/z", &target_mz.to_string()));
    let window: String = [
        cv(1_000_827, "isolation window target m/z", &target),
        cv(1_000_828, "isolation window lower offset", "1.5"),
        cv(1_000_829, "isolation window upper offset", "1.5"),
    ]
    .concat();
    let charge = cv(1_000_041, "charge state", "2");
    let activation = cv(1_000_422, "beam-type collision-induced dissociation", "")
        + &cv(1_000_045, "collision energy", "27.5");
    format!(
        "<precursor><isolationWindow>{window}</isolationWindow><selectedIonList count=\"1\"><selectedIon>{ion}\
         {charge}{more}</selectedIon></selectedIonList><activation>{activation}{more}</activation></precursor>"
    )
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

/// Values as the text of a `<binary>`, 64 bits each, without compression.
pub(crate) fn base64(values: &[f64]) -> String {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    base64_simd::STANDARD.encode_to_string(bytes)
}

fn array(accession: u32, name: &str, values: &[f64]) -> String {
    let text = base64(values);
    format!(
        "<binaryDataArray encodedLength=\"{}\">{}{}{}<binary>{text}</binary></binaryDataArray>",
        text.len(),
        cv(1_000_523, "64-bit float", ""),
        cv(1_000_576, "no compression", ""),
        cv(accession, name, ""),
    )
}

/// The element of a spectrum.
pub(crate) fn element(index: usize, spectrum: &Spectrum) -> String {
    let native_id = escaped(&spectrum.native_id);
    let level = spectrum.ms_level.to_string();
    let precursors = match spectrum.precursors.as_str() {
        "" => String::new(),
        some => format!("<precursorList count=\"1\">{some}</precursorList>"),
    };
    let arrays = array(1_000_514, "m/z array", &spectrum.mz)
        + &array(1_000_515, "intensity array", &spectrum.intensity);
    format!(
        "<spectrum index=\"{index}\" id=\"{native_id}\" defaultArrayLength=\"{}\">{}{}{}{}<scanList \
         count=\"1\"><scan><cvParam cvRef=\"MS\" accession=\"MS:1000016\" name=\"scan start time\" value=\"{}\" \
         unitCvRef=\"UO\" unitAccession=\"UO:0000031\" unitName=\"minute\"/>{}</scan></scanList>{precursors}\
         <binaryDataArrayList count=\"2\">{arrays}</binaryDataArrayList></spectrum>\n",
        spectrum.mz.len(),
        cv(1_000_511, "ms level", &level),
        cv(1_000_127, "centroid spectrum", ""),
        cv(1_000_130, "positive scan", ""),
        spectrum.params,
        spectrum.minutes,
        spectrum.scan,
    )
}

/// The start of a file up to its first spectrum; `header` stands before the run, `params` in it.
pub(crate) fn head(header: &str, params: &str, count: usize) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<mzML xmlns=\"http://psi.hupo.org/ms/mzml\" version=\"1.1.0\">\n\
         {header}\n<run id=\"run\">{params}<spectrumList count=\"{count}\">\n"
    )
}

/// What follows the last spectrum.
pub(crate) const TAIL: &str = "</spectrumList></run></mzML>\n";

/// What follows the last spectrum where there is a total ion current chromatogram.
pub(crate) fn tail_with_trace(minutes: &[f64], intensity: &[f64]) -> String {
    let unit = r#" unitCvRef="UO" unitAccession="UO:0000031" unitName="minute"/><binary>"#;
    let time = array(1_000_595, "time array", minutes).replacen("/><binary>", unit, 1);
    format!(
        "</spectrumList><chromatogramList count=\"1\"><chromatogram index=\"0\" id=\"TIC\" \
         defaultArrayLength=\"{}\">{}<binaryDataArrayList count=\"2\">{time}{}</binaryDataArrayList>\
         </chromatogram></chromatogramList></run></mzML>\n",
        minutes.len(),
        cv(1_000_235, "total ion current chromatogram", ""),
        array(1_000_515, "intensity array", intensity),
    )
}

/// A whole file.
pub(crate) fn document(header: &str, params: &str, spectra: &[Spectrum]) -> String {
    let mut text = head(header, params, spectra.len());
    for (index, spectrum) in spectra.iter().enumerate() {
        text.push_str(&element(index, spectrum));
    }
    text + TAIL
}

/// An MGF block.
pub(crate) fn block(keys: &str, mz: &[f64], intensity: &[f64]) -> String {
    let mut text = format!("BEGIN IONS\n{keys}");
    for (mz, intensity) in mz.iter().zip(intensity) {
        writeln!(text, "{mz} {intensity}").unwrap();
    }
    text + "END IONS\n\n"
}
