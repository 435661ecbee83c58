//! A small mzML writer that shares no code with the reader: text by `format!`, base64 by hand.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::fmt::Write;

/// `bytes` in base64 (RFC 4648, section 4).
pub(crate) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits =
            group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let digit = ALPHABET[(bits >> (18 - 6 * place)) as usize & 63];
            text.push(if place <= group.len() { digit.into() } else { '=' });
        }
    }
    text
}

pub(crate) fn f64_bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

pub(crate) fn f32_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A cvParam of PSI-MS: `"1000511"`, `"2"`. Names are never looked at, so all are the same.
pub(crate) fn cv(accession: &str, value: &str) -> String {
    format!(r#"<cvParam cvRef="MS" accession="MS:{accession}" name="n" value="{value}"/>"#)
}

/// As [`cv`], with a unit: `"UO:0000031"` is a minute.
pub(crate) fn cv_unit(accession: &str, value: &str, unit: &str) -> String {
    format!(
        r#"<cvParam cvRef="MS" accession="MS:{accession}" name="n" value="{value}" unitAccession="{unit}"/>"#
    )
}

pub(crate) const MINUTE: &str = "UO:0000031";
pub(crate) const SECOND: &str = "UO:0000010";
pub(crate) const MZ: &str = "1000514";
pub(crate) const INTENSITY: &str = "1000515";
pub(crate) const F64: &str = "1000523";
pub(crate) const F32: &str = "1000521";
pub(crate) const UNCOMPRESSED: &str = "1000576";
pub(crate) const ZLIB: &str = "1000574";

/// A `<binaryDataArray>` with these terms and this text between the tags of `<binary>`.
pub(crate) fn array(terms: &[&str], text: &str) -> String {
    let terms: String = terms.iter().map(|term| cv(term, "")).collect();
    format!(
        "<binaryDataArray encodedLength=\"{}\">{terms}<binary>{text}</binary></binaryDataArray>",
        text.len()
    )
}

pub(crate) fn mz_array(values: &[f64]) -> String {
    array(&[F64, UNCOMPRESSED, MZ], &base64(&f64_bytes(values)))
}

pub(crate) fn intensity_array(values: &[f32]) -> String {
    array(&[F32, UNCOMPRESSED, INTENSITY], &base64(&f32_bytes(values)))
}

/// A `<spectrum>` in parts, each of them text that a test may replace.
#[derive(Debug, Clone)]
pub(crate) struct Spectrum {
    pub(crate) id: String,
    pub(crate) length: usize,
    /// Parameters of the spectrum itself.
    pub(crate) params: String,
    /// What stands in the scan list.
    pub(crate) scans: String,
    pub(crate) precursors: String,
    pub(crate) arrays: String,
}

impl Spectrum {
    /// A centroid MS1 spectrum at `minutes`.
    pub(crate) fn new(id: &str, minutes: f64, mz: &[f64], intensity: &[f32]) -> Self {
        Self {
            id: id.to_owned(),
            length: mz.len(),
            params: cv("1000511", "1") + &cv("1000127", ""),
            scans: scan(&cv_unit("1000016", &minutes.to_string(), MINUTE)),
            precursors: String::new(),
            arrays: mz_array(mz) + &intensity_array(intensity),
        }
    }

    /// Three points, the same for all tests that look at something else.
    pub(crate) fn plain(id: &str) -> Self {
        Self::new(id, 1.5, &PLAIN_MZ, &PLAIN_INTENSITY)
    }

    pub(crate) fn text(&self) -> String {
        let Self { id, length, params, scans, precursors, arrays } = self;
        format!(
            "<spectrum index=\"0\" id=\"{id}\" defaultArrayLength=\"{length}\">{params}<scanList count=\"1\">{scans}\
             </scanList>{precursors}<binaryDataArrayList count=\"2\">{arrays}</binaryDataArrayList></spectrum>\n"
        )
    }
}

pub(crate) const PLAIN_MZ: [f64; 3] = [100.25, 200.5, 300.75];
pub(crate) const PLAIN_INTENSITY: [f32; 3] = [10.0, 50.0, 20.0];

pub(crate) fn scan(params: &str) -> String {
    format!("<scan>{params}</scan>")
}

/// A precursor list with one precursor of these parameters.
pub(crate) fn precursor(window: &str, ion: &str, activation: &str) -> String {
    format!(
        "<precursorList count=\"1\"><precursor><isolationWindow>{window}</isolationWindow><selectedIonList count=\"1\">\
         <selectedIon>{ion}</selectedIon></selectedIonList><activation>{activation}</activation></precursor></precursorList>"
    )
}

/// A whole document around the text of spectra.
pub(crate) fn document(spectra: &str) -> String {
    document_with("", spectra, "")
}

/// A whole document: more header elements, the spectra, and what follows the spectrum list inside the run.
pub(crate) fn document_with(header: &str, spectra: &str, after: &str) -> String {
    let count = spectra.matches("<spectrum ").count();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
    let _ = write!(
        text,
        "<mzML xmlns=\"http://psi.hupo.org/ms/mzml\" version=\"1.1.0\">\n<cvList count=\"0\"/>\n{header}\
         <instrumentConfigurationList count=\"1\"><instrumentConfiguration id=\"IC\"/></instrumentConfigurationList>\n\
         <run id=\"run\" defaultInstrumentConfigurationRef=\"IC\">\n<spectrumList count=\"{count}\">\n{spectra}\
         </spectrumList>\n{after}</run>\n</mzML>\n"
    );
    text
}
