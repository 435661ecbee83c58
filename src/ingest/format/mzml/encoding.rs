//! Bytes as text, in the encoding that the document declares.

use std::borrow::Cow;

/// `bytes` as text, and whether some of them had to be replaced.
pub(super) fn decode<'b>(bytes: &'b [u8], encoding: &'static encoding_rs::Encoding) -> (Cow<'b, str>, bool) {
    match std::str::from_utf8(bytes) {
        // Text without a byte above 127 is the same in every encoding that is read.
        Ok(text) if encoding == encoding_rs::UTF_8 || text.is_ascii() => (Cow::Borrowed(text), false),
        _ => encoding.decode_without_bom_handling(bytes),
    }
}

/// The encoding that an XML declaration states.
pub(super) fn declared_encoding(declaration: &[u8]) -> Option<&[u8]> {
    let at = memchr::memmem::find(declaration, b"encoding")?;
    let rest = declaration.get(at + 8..)?.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let quote = *rest.first()?;
    let rest = rest.get(1..)?;
    rest.get(..memchr::memchr(quote, rest)?)
}
