//! The same run in many spellings of XML.

use crate::loading::{STRICT, load_bytes, load_text, warning_codes};
use crate::mzml::{
    F64, INTENSITY, PLAIN_INTENSITY, PLAIN_MZ, Spectrum, UNCOMPRESSED, cv, document, document_with,
};
use mzarena::arena::IntensityRef;
use mzarena::ingest::Ingested;
use mzarena::warning::WarningCode;

/// Two plain spectra.
fn plain() -> String {
    document(&(Spectrum::plain("scan=1").text() + &Spectrum::plain("scan=2").text()))
}

/// The run holds exactly what [`plain`] says, without a warning.
fn assert_plain(name: &str, loaded: &Ingested) {
    assert!(loaded.is_complete(), "{name}");
    assert_eq!(warning_codes(loaded), [], "{name}: {:?}", loaded.warnings);
    let run = loaded.arena.run().unwrap();
    assert_eq!(run.spectrum_count(), 2, "{name}");
    for spectrum in run.spectra() {
        assert_eq!(spectrum.mz(), PLAIN_MZ, "{name}");
        assert_eq!(spectrum.intensity(), IntensityRef::F32(&PLAIN_INTENSITY), "{name}");
        assert_eq!(spectrum.native_id(), format!("scan={}", spectrum.index() + 1), "{name}");
        assert_eq!(spectrum.ms_level().unwrap().get(), 1, "{name}");
        assert_eq!(spectrum.scan_start_time().unwrap().0, 1.5, "{name}");
    }
}

/// Element names with a prefix, as a writer with its own namespace has them.
fn prefixed(text: &str) -> String {
    let text = text.replace("</", "\u{1}").replace("<?", "\u{2}").replace('<', "<ms:");
    text.replace('\u{1}', "</ms:").replace('\u{2}', "<?").replace("xmlns=", "xmlns:ms=")
}

/// Attributes of each tag in the opposite order.
fn reversed(text: &str) -> String {
    let tag = |tag: &str| {
        let (name, attributes) = tag.split_once(' ').unwrap();
        let (attributes, end) = match attributes.strip_suffix('/') {
            Some(attributes) => (attributes, "/"),
            None => (attributes, ""),
        };
        // values of these documents have blanks nowhere but in the native ID format, so quotes delimit them
        let mut parts: Vec<_> = attributes
            .split("\" ")
            .map(|part| part.strip_suffix('"').unwrap_or(part).to_owned() + "\"")
            .collect();
        parts.reverse();
        format!("{name} {}{end}", parts.join(" "))
    };
    let parts = text.split('<').map(|part| match part.split_once('>') {
        Some((inside, after)) if inside.contains("=\"") && !inside.starts_with('?') => {
            tag(inside) + ">" + after
        }
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("<")
}

#[test]
fn xml_may_be_spelled_in_many_ways() {
    let text = plain();
    let binary_of = |text: &str| {
        let (_, rest) = text.split_once("<binary>").unwrap();
        rest.split_once("</binary>").unwrap().0.to_owned()
    };
    let first = binary_of(&text);
    let (head, tail) = first.split_at(7);
    let in_binary = |inner: String| text.replace(&first, &inner);
    let in_spectrum = |inner: &str| text.replace("<scanList", &format!("{inner}<scanList"));
    let indexed = |tail: &str| {
        let body = text.replace("<mzML", "<indexedmzML xmlns=\"x\">\n<mzML");
        format!("{body}{tail}</indexedmzML>")
    };
    let cases = [
        ("plain", text.clone()),
        ("the other root", indexed("<indexList count=\"0\"/><indexListOffset>0</indexListOffset>")),
        (
            "a wrong index",
            indexed("<indexListOffset>18446744073709551616</indexListOffset><fileChecksum>x</fileChecksum>"),
        ),
        (
            "an index of another run",
            indexed(
                "<indexList><index name=\"spectrum\"><offset idRef=\"no\">7</offset></index></indexList>",
            ),
        ),
        ("no declaration", text.split_once('\n').unwrap().1.to_owned()),
        ("a byte order mark", format!("\u{feff}{text}")),
        ("line breaks of Windows", text.replace('\n', "\r\n")),
        ("white space around", format!("{text}\n\n \t\n")),
        ("single quotes", text.replace('"', "'")),
        ("a namespace prefix", prefixed(&text)),
        ("attributes in another order", reversed(&text)),
        ("tags on several lines", text.replace("<cvParam ", "<cvParam\n\t ").replace("/>", "\n/>")),
        (
            "blanks in end tags",
            text.replace("</spectrum>", "</spectrum  >").replace("</binary>", "</binary\n>"),
        ),
        (
            "pairs of tags for empty elements",
            text.replace("\"/>", "\"></cvParam>")
                .replace("<cvList count=\"0\"></cvParam>", "<cvList></cvList>")
                .replace("id=\"IC\"></cvParam>", "id=\"IC\"/>"),
        ),
        (
            "an attribute with the signs of markup",
            in_spectrum("<userParam name=\"a > b\" value='</spectrum><spectrum id=\"x\">'/>")
                .replace("<spectrum id", "&lt;spectrum id"),
        ),
        ("a comment with the signs of markup", in_spectrum("<!-- </spectrum> <spectrum> \" ' -->")),
        ("a processing instruction", in_spectrum("<?x </spectrum> ?>")),
        (
            "comments between elements",
            text.replace("</spectrum>", "</spectrum><!-- <spectrum> -->").replace("<run", "<!-- < -->\n<run"),
        ),
        (
            "unknown elements",
            in_spectrum("<new a=\"1\"><newer><newest>text</newest></newer></new>")
                .replace("<spectrumList", "<new><spectrum/></new><spectrumList"),
        ),
        ("parameters of users", in_spectrum("<userParam name=\"ms level\" value=\"7\" type=\"xsd:int\"/>")),
        ("text in an unknown element", text.replace("<run", "<note>a &amp; b</note><run")),
        ("blanks in base64", in_binary(format!(" {head}\n\t {tail}\r\n "))),
        ("a comment in base64", in_binary(format!("{head}<!-- no base64: *** -->{tail}"))),
        ("base64 in CDATA", in_binary(format!("<![CDATA[{first}]]>"))),
        ("base64 partly in CDATA", in_binary(format!("{head}<![CDATA[{tail}]]>"))),
        ("line breaks as references", in_binary(format!("{head}&#13;&#xA;{tail}"))),
        ("letters as references", in_binary(format!("&#{};{}", first.as_bytes()[0], &first[1..]))),
    ];
    for (name, text) in cases {
        let loaded = load_bytes(text.as_bytes(), &STRICT);
        let loaded = loaded.unwrap_or_else(|failure| panic!("{name}: {}\n{text}", failure.text));
        assert_plain(name, &loaded);
    }
}

/// Native IDs are verbatim: what the XML stands for, in the encoding that it declares.
#[test]
fn text_is_what_the_xml_stands_for() {
    let with_id = |id: &str| document(&Spectrum::plain(id).text());
    let first_id = |bytes: &[u8]| {
        let loaded = load_bytes(bytes, &STRICT).unwrap();
        let id = loaded.arena.run().unwrap().spectrum(0).unwrap().native_id().to_owned();
        (id, warning_codes(&loaded))
    };
    assert_eq!(first_id(with_id("a&amp;b&lt;c&quot;d&#233;&#xE9;").as_bytes()).0, "a&b<c\"d\u{e9}\u{e9}");
    assert_eq!(first_id(with_id("Müller\u{1f9ea}").as_bytes()).0, "Müller\u{1f9ea}");

    // one byte for each character below 256
    let latin = |label: &str, id: &str| {
        let text = with_id(id).replace("utf-8", label);
        text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(
        first_id(&latin("ISO-8859-1", "M\u{fc}ller \u{b5}L")),
        ("M\u{fc}ller \u{b5}L".to_owned(), vec![])
    );
    assert_eq!(
        first_id(&latin("windows-1252", "M\u{fc}ller \u{b5}L")),
        ("M\u{fc}ller \u{b5}L".to_owned(), vec![])
    );
    // declared as UTF-8, and it is not: replaced and said, never zero spectra
    let (id, warnings) = first_id(&latin("utf-8", "\u{b5}L"));
    assert_eq!((id.as_str(), warnings.as_slice()), ("\u{fffd}L", [WarningCode::InvalidText].as_slice()));
}

/// A name in the header that is not in the declared encoding costs no spectrum either.
#[test]
fn bad_text_in_the_header_is_replaced_and_said() {
    let text = document_with(
        "<softwareList><software id=\"s\" version=\"@\"/></softwareList>",
        &Spectrum::plain("scan=1").text(),
        "",
    );
    let bytes: Vec<u8> = text.bytes().map(|byte| if byte == b'@' { 0xb5 } else { byte }).collect();
    let loaded = load_bytes(&bytes, &STRICT).unwrap();
    assert_eq!(loaded.arena.totals().point_count, 3);
    assert_eq!(warning_codes(&loaded), [WarningCode::InvalidText]);
}

/// What is not well-formed is damage that names the place, never a guess.
#[test]
fn xml_that_is_not_well_formed_is_refused() {
    let text = plain();
    let cases = [
        ("two attributes of one name", text.replace("id=\"scan=2\"", "id=\"scan=2\" id=\"scan=3\"")),
        ("an end tag of another element", text.replacen("</scan>", "</scam>", 1)),
        ("an end tag of another list", text.replacen("</spectrumList>", "</chromatogramList>", 1)),
        ("a start tag of another list", text.replacen("<spectrumList", "<spectrumLisp", 1)),
        ("a start tag of another spectrum", text.replacen("<spectrum ", "<spectral ", 1)),
        ("an unquoted attribute", text.replacen("id=\"scan=2\"", "id=scan2", 1)),
        ("an unknown entity in an id", text.replacen("scan=2", "&unknown;", 1)),
        ("text between spectra", text.replacen("</spectrum>", "</spectrum>text", 1)),
        ("a document type", text.replacen("<mzML", "<!DOCTYPE mzML>\n<mzML", 1)),
        ("a document type in a spectrum", text.replacen("<scanList", "<!DOCTYPE x><scanList", 1)),
        ("nesting without end", text.replacen("<scanList", &("<a>".repeat(100) + "<scanList"), 1)),
    ];
    for (name, text) in cases {
        let Err(failure) = load_bytes(text.as_bytes(), &STRICT) else { panic!("{name} was read") };
        assert_eq!(failure.code.as_str(), "damaged_source", "{name}: {}", failure.text);
        assert!(failure.text.contains("byte "), "{name} has no place: {}", failure.text);
    }
}

#[test]
fn only_mzml_of_version_1_is_read() {
    let at = |version: &str| plain().replace("version=\"1.1.0\"", version);
    for version in ["version=\"1.1.0\"", "version=\"1.0.0\"", "version=\"1.1.1\"", ""] {
        assert_plain(version, &load_text(&at(version)));
    }
    for version in ["version=\"0.99.1\"", "version=\"2.0.0\""] {
        let failure = load_bytes(at(version).as_bytes(), &STRICT).unwrap_err();
        assert_eq!(failure.code.as_str(), "unsupported_format", "{version}");
    }
}

/// reading.md: refused by name, each with the way out.
#[test]
fn other_formats_are_refused_by_name() {
    let imaging = format!(
        "<fileDescription><fileContent>{}</fileContent></fileDescription>",
        cv("1000579", "")
            + "<cvParam cvRef=\"IMS\" accession=\"IMS:1000030\" name=\"continuous\" value=\"\"/>"
    );
    let imzml = document_with(&imaging, &Spectrum::plain("scan=1").text(), "");
    let cases: &[(&[u8], &str)] = &[
        (imzml.as_bytes(), "imzML"),
        (b"<?xml version=\"1.0\"?><mzXML><msRun/></mzXML>", "mzXML"),
        (b"<?xml version=\"1.0\"?><mzData/>", "mzData"),
        (b"<?xml version=\"1.0\"?><MzIdentML/>", "mzIdentML"),
        (b"<?xml version=\"1.0\"?><other/>", "not mzML"),
        (b"<!DOCTYPE html><html></html>", "HTML"),
        (b"\x89HDF\r\n\x1a\n and more", "HDF5"),
        (b"BZh91AY&SY", "bzip2"),
        (b"PK\x03\x04 and more", "ZIP"),
        (b"\xfd7zXZ\0", "xz"),
        (b"\x28\xb5\x2f\xfd\0", "zstd"),
        (b"SQLite format 3\0", "SQLite"),
        (b"version https://git-lfs.github.com/spec/v1", "LFS"),
        (b"\xff\xfe<\0m\0z\0", "UTF-16"),
        (b"NAME: x\nNum Peaks: 1\n1 1\n", "MSP"),
        (b"H\tCreationDate\nS\t1\t1\t500.25\n", "neither mzML nor MGF"),
        (b"\0\0\0\0", "zeros"),
        (b"", "empty"),
    ];
    for (bytes, word) in cases {
        let failure = load_bytes(bytes, &STRICT).unwrap_err();
        assert_eq!(failure.code.as_str(), "unsupported_format", "{word}: {}", failure.text);
        assert!(failure.text.contains(word), "{word} is not in {}", failure.text);
    }
}

/// A run without spectra is a run; a list that promises some and has none is not.
#[test]
fn no_spectra_are_read_as_none_unless_some_are_declared() {
    let none = document("");
    for text in [
        none.clone(),
        none.replace("<spectrumList count=\"0\">\n</spectrumList>\n", ""),
        none.replace(" count=\"0\"", ""),
    ] {
        let loaded = load_text(&text);
        assert!(loaded.is_complete());
        assert_eq!((loaded.arena.totals().spectrum_count, warning_codes(&loaded)), (0, vec![]));
    }
    let failure = load_bytes(
        none.replace("<spectrumList count=\"0\"", "<spectrumList count=\"7\"").as_bytes(),
        &STRICT,
    );
    assert_eq!(failure.unwrap_err().code.as_str(), "damaged_source");
    let miscounted = plain().replace("<spectrumList count=\"2\"", "<spectrumList count=\"9\"");
    let loaded = load_text(&miscounted);
    assert_eq!(warning_codes(&loaded), [WarningCode::SpectrumCountMismatch]);
    assert_eq!((loaded.arena.totals().spectrum_count, loaded.run.declared_spectrum_count), (2, Some(9)));
}

/// The terms of an array may come from a group, and the array may have no text at all.
#[test]
fn arrays_may_be_written_in_parts() {
    let terms = cv(F64, "") + &cv(UNCOMPRESSED, "") + &cv(INTENSITY, "");
    let group = format!(
        "<referenceableParamGroupList count=\"1\"><referenceableParamGroup id=\"g\">{terms}</referenceableParamGroup>\
         </referenceableParamGroupList>"
    );
    let mut spectrum = Spectrum::plain("scan=1");
    let with_group = "<binaryDataArray><referenceableParamGroupRef ref=\"g\"/><binary>AAAAAAAAJEAAAAAAAABJQAAAAAAAADRA</binary></binaryDataArray>";
    spectrum.arrays = crate::mzml::mz_array(&PLAIN_MZ) + with_group;
    let loaded = load_text(&document_with(&group, &spectrum.text(), ""));
    assert_eq!(
        loaded.arena.run().unwrap().spectrum(0).unwrap().intensity(),
        IntensityRef::F64(&[10.0, 50.0, 20.0])
    );

    let failure = load_bytes(document(&spectrum.text()).as_bytes(), &STRICT).unwrap_err();
    assert_eq!(failure.code.as_str(), "damaged_source");
    assert!(failure.text.contains("referenceableParamGroup g"), "{}", failure.text);
}
