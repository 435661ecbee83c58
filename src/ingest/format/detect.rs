//! Which format a text is, by its first bytes; and, where it is none, what it looks like.

use super::{FORMATS, Format, IngestError, Window};

/// Bytes that are looked at.
const LOOK_BYTES: usize = 64 * 1024;

/// Finds the format of the text in `window`, consuming nothing.
///
/// # Errors
///
/// [`IngestError::Unsupported`] says what the text looks like, and the way out; whatever ended reading, where that
/// came before any format could be seen.
pub(in crate::ingest) fn detect(window: &mut Window<'_>) -> Result<&'static Format, IngestError> {
    while window.available().len() < LOOK_BYTES && window.fill_unless_failing() {}
    let start = first_bytes(window);
    if let Some(format) = FORMATS.iter().find(|format| (format.recognises)(start)) {
        return Ok(format);
    }
    window.check_failure()?;
    Err(IngestError::unsupported(looks_like(first_bytes(window))))
}

fn first_bytes<'w>(window: &'w Window<'_>) -> &'w [u8] {
    let start = window.available();
    start.get(..LOOK_BYTES).unwrap_or(start)
}

/// Known content that is not read, each with the way out.
const OTHERS: &[(&[u8], &str)] = &[
    (b"BZh", "this is bzip2 data; unpack it first"),
    (b"PK\x03\x04", "this is a ZIP archive; unpack it first"),
    (b"\xfd7zXZ", "this is xz data; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "this is zstd data; unpack it first"),
    (b"\x89HDF\r\n\x1a\n", "this is HDF5 (mzMLb or similar), which is not read; convert it to mzML"),
    (
        b"SQLite format 3\0",
        "this is an SQLite database (Bruker TDF or similar), which is not read; convert it to mzML",
    ),
    (b"\x01\xa1F\0i\0n\0n\0i\0g\0a\0n", "this is a Thermo raw file, which is not read; convert it to mzML"),
    (
        b"version https://git-lfs",
        "this is a Git LFS pointer, not the file itself; fetch it with git lfs pull",
    ),
    (b"\xff\xfe", "this is UTF-16 text; convert it to UTF-8"),
    (b"\xfe\xff", "this is UTF-16 text; convert it to UTF-8"),
];

/// Words near the start of texts that are not read.
const WORDS: &[(&str, &str)] = &[
    ("<!doctype html", "this is an HTML page, perhaps a failed download; fetch the file again"),
    ("<html", "this is an HTML page, perhaps a failed download; fetch the file again"),
    ("<mzxml", "this is mzXML, which is not read; convert it to mzML, for example with msconvert"),
    ("<msrun", "this is mzXML, which is not read; convert it to mzML, for example with msconvert"),
    ("<mzdata", "this is mzData, which is not read; convert it to mzML, for example with msconvert"),
    ("<mzidentml", "this is mzIdentML, which holds identifications, not spectra; name the mzML file"),
    ("num peaks", "this is an MSP library, which is not read; convert it to MGF"),
    ("<?xml", "this is XML, but not mzML; name an mzML or MGF file"),
];

fn looks_like(start: &[u8]) -> String {
    if start.is_empty() {
        return "the file is empty; fetch it again".to_owned();
    }
    if let Some((_, what)) = OTHERS.iter().find(|(magic, _)| start.starts_with(magic)) {
        return (*what).to_owned();
    }
    let text = String::from_utf8_lossy(start).to_lowercase();
    if let Some((_, what)) = WORDS.iter().find(|(word, _)| text.contains(word)) {
        return (*what).to_owned();
    }
    if start.iter().all(|byte| *byte == 0) {
        return "the file starts with zeros only; fetch it again".to_owned();
    }
    let is_text = !start.contains(&0) && !text.contains('\u{fffd}');
    let kind =
        if is_text { "a text file, but neither mzML nor MGF" } else { "a binary file of an unknown format" };
    format!("this is {kind}; name an mzML or MGF file, or convert it, for example with msconvert")
}
