//! M6: user names, machine paths, contacts, serial numbers and free text of a file's header never leave, through no
//! tool, in no mode and in no error. Files full of a mark go through all of them, whole and damaged; the mark must not
//! come back.

#[path = "support/desk.rs"]
mod desk;
#[path = "support/paper.rs"]
mod paper;
#[path = "support/shared.rs"]
mod shared;

use desk::Desk;
use paper::{Spectrum, cv, precursor, user};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Stands in every place that is nobody's business. It occurs in no word of ours.
const MARK: &str = "zqxmark";

/// What may leave, in the same header: so that the search is known to look at what the header became.
const MODEL: &str = "Q Exactive HF";
const BASE_NAME: &str = "sample_07.raw";

/// A text with the mark, told from other ones.
fn mark(what: &str) -> String {
    format!("{MARK} {what}")
}

/// Contacts, paths, samples, serial numbers, operators and free text in every element that takes parameters.
fn header() -> String {
    let free = user(&mark("key"), &mark("value"));
    let contact: String = [
        (1_000_586, "contact name"),
        (1_000_587, "contact address"),
        (1_000_588, "contact URL"),
        (1_000_589, "contact email"),
        (1_000_590, "contact affiliation"),
    ]
    .map(|(accession, name)| cv(accession, name, &mark(name)))
    .concat();
    let model = cv(1_002_523, MODEL, "") + &cv(1_000_529, "instrument serial number", &mark("serial"));
    let customization = cv(1_000_032, "customization", &mark("customization"));
    format!(
        r#"<!-- {MARK} comment -->
<cvList count="1"><cv id="MS" fullName="MS" URI="file:///C:/{MARK}/psi-ms.obo"/></cvList>
<fileDescription>
 <fileContent>{content}{free}</fileContent>
 <sourceFileList count="3">
  <sourceFile id="s1" name="C:\Users\{MARK}\data\{BASE_NAME}" location="file:///C:/Users/{MARK}/data">{thermo}{free}</sourceFile>
  <sourceFile id="s2" name="/home/{MARK}/data/{BASE_NAME}" location="file://{MARK}-pc/share">{free}</sourceFile>
  <sourceFile id="s3" name="\\{MARK}-pc\share\{BASE_NAME}" location="smb://{MARK}">{checksum}</sourceFile>
 </sourceFileList>
 <contact>{contact}{free}</contact>
</fileDescription>
<referenceableParamGroupList count="1"><referenceableParamGroup id="common">{model}{free}</referenceableParamGroup></referenceableParamGroupList>
<sampleList count="1"><sample id="sample" name="{sample}">{sample_name}{free}</sample></sampleList>
<softwareList count="1"><software id="xcalibur" version="4.1">{xcalibur}{free}</software></softwareList>
<scanSettingsList count="1"><scanSettings id="settings">{free}<sourceFileRefList count="1"><sourceFileRef ref="s1"/></sourceFileRefList><targetList count="1"><target>{free}</target></targetList></scanSettings></scanSettingsList>
<instrumentConfigurationList count="1"><instrumentConfiguration id="IC1"><referenceableParamGroupRef ref="common"/>{customization}{free}<componentList count="3"><source order="1">{free}</source><analyzer order="2">{orbitrap}{free}</analyzer><detector order="3">{free}</detector></componentList></instrumentConfiguration></instrumentConfigurationList>
<dataProcessingList count="1"><dataProcessing id="dp"><processingMethod order="0" softwareRef="xcalibur">{free}</processingMethod></dataProcessing></dataProcessingList>"#,
        content = cv(1_000_579, "MS1 spectrum", ""),
        thermo = cv(1_000_768, "Thermo nativeID format", ""),
        checksum = cv(1_000_569, "SHA-1", &mark("checksum")),
        sample = mark("sample"),
        sample_name = cv(1_000_002, "sample name", &mark("sample name")),
        xcalibur = cv(1_000_532, "Xcalibur", ""),
        orbitrap = cv(1_000_484, "orbitrap", ""),
    )
}

/// Spectra with free parameters at every level, and titles that are paths.
fn spectra() -> Vec<Spectrum> {
    let free = user(&mark("key"), &mark("value"));
    let titles = [
        format!("C:\\Users\\{MARK}\\run.raw"),
        format!("/home/{MARK}/run.raw scan 2"),
        format!("run.1.1.2 File:\"C:\\{MARK}\\run.raw\", NativeID:\"scan=3\""),
    ];
    let spectrum = |(at, title): (usize, &String)| Spectrum {
        native_id: format!("controllerType=0 controllerNumber=1 scan={}", at + 1),
        ms_level: if at == 0 { 1 } else { 2 },
        minutes: at as f64,
        mz: vec![100.5, 200.5, 300.5],
        intensity: vec![1.0, 5.0, 2.0],
        params: cv(1_000_796, "spectrum title", title) + &free,
        scan: free.clone()
            + "<scanWindowList count=\"1\"><scanWindow>"
            + &cv(1_000_501, "scan window lower limit", "100")
            + &cv(1_000_500, "scan window upper limit", "1000")
            + &free
            + "</scanWindow></scanWindowList>",
        precursors: if at == 0 { String::new() } else { precursor(500.0, &free) },
    };
    titles.iter().enumerate().map(spectrum).collect()
}

fn mzml() -> String {
    let free = user(&mark("key"), &mark("value"));
    let text = paper::document(&header(), &free, &spectra());
    let arrays = text.replace("<binary>", &format!("{free}<binary>"));
    arrays.replace(
        "<run id=\"run\">",
        &format!("<run id=\"{MARK}\" sampleRef=\"sample\" defaultInstrumentConfigurationRef=\"IC1\">"),
    )
}

fn mgf() -> String {
    let header = format!(
        "COM={MARK}\nUSERNAME={MARK}\nUSEREMAIL=a@{MARK}.org\nUSER00={MARK}\n# {MARK}\nTAXONOMY={MARK}\n"
    );
    let keys = |at: usize| {
        format!(
            "TITLE=C:\\{MARK}\\run.raw {at}\nPEPMASS=500.5\nUSER01={MARK}\nCOMMENT={MARK}\nETAGS={MARK}\nSEQ={MARK}\n\
             INSTRUMENT={MARK}\n{MARK} on a line of its own\n"
        )
    };
    header + &(0..3).map(|at| paper::block(&keys(at), &[100.5, 200.5], &[1.0, 2.0])).collect::<String>()
}

/// Fails where an answer holds the mark, however it is written.
fn search(said: &Value, what: &str) {
    let text = said.to_string().to_lowercase();
    assert!(!text.contains(MARK), "{what}: {said}");
}

/// Every tool in every mode on one source; gives all that was said.
fn drive(desk: &Desk, source: &str) -> Vec<Value> {
    let mut said = Vec::new();
    for mode in ["compact", "full"] {
        for tolerant in [false, true] {
            let asked =
                json!({"source": source, "tolerant": tolerant, "reload": true, "response_mode": mode});
            let (run, is_error) = desk.call("load_run", asked);
            said.push(run.clone());
            for index in 0..4 {
                let asked = json!({"source": source, "spectrum_index": index, "response_mode": mode});
                said.push(desk.call("load_spectrum", asked).0);
                if !is_error {
                    let of_run = json!({"run": run["data"]["reference"], "spectrum_index": index, "response_mode": mode});
                    said.push(desk.call("load_spectrum", of_run).0);
                }
            }
            if !is_error {
                let reference = json!({"reference": run["data"]["reference"], "response_mode": mode});
                said.push(desk.answer("summarise_reference", reference.clone()));
                said.push(desk.answer("list_references", json!({"response_mode": mode})));
                said.push(desk.answer("release_reference", reference));
            }
        }
    }
    said
}

fn put(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    fs::write(folder.join(name), bytes).unwrap();
}

/// M6, on sound files: the header is read, and nothing private comes out of it.
#[test]
fn m6_nothing_private_leaves_a_sound_file() {
    let home = TempDir::new().unwrap();
    put(home.path(), "a.mzML", mzml());
    put(home.path(), "a.mgf", mgf());
    let desk = Desk::over(home.path());
    for source in ["a.mzML", "a.mgf"] {
        let said = drive(&desk, source);
        said.iter().for_each(|answer| search(answer, source));
        assert!(said.iter().filter(|answer| answer["data"]["kind"] == "spectrum").count() >= 12, "{source}");
    }
    // the search would find it: what stands beside the private things and may leave is there
    let full = desk.data("load_run", json!({"source": "a.mzML", "response_mode": "full"}));
    assert_eq!(full["summary"]["instrument"], MODEL);
    assert_eq!(full["summary"]["source_file_names"][0], BASE_NAME);
    assert_eq!(full["summary"]["software"][0], "Xcalibur 4.1");
    let spectrum = json!({"run": full["reference"], "spectrum_index": 0, "response_mode": "full"});
    let spectrum = desk.data("load_spectrum", spectrum);
    assert_eq!(spectrum["summary"]["title_withheld"], true, "{spectrum}");
    assert_eq!(spectrum["summary"]["analyzer"], "orbitrap");
}

/// M6, on files cut at many places: errors and what a tolerant load keeps.
#[test]
fn m6_nothing_private_leaves_a_cut_file() {
    for (name, text) in [("a.mzML", mzml()), ("a.mgf", mgf())] {
        let home = TempDir::new().unwrap();
        let desk = Desk::over(home.path());
        let mut errors = 0;
        for step in 1..60 {
            let mut end = text.len() * step / 60;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            put(home.path(), name, &text[..end]);
            for answer in drive(&desk, name) {
                search(&answer, &format!("{name} cut at byte {end}"));
                errors += usize::from(answer.get("error").is_some());
            }
        }
        assert!(errors > 200, "{errors} errors");
    }
}

/// M6, with damage at each place of the mark: errors must not quote what stands there.
#[test]
fn m6_nothing_private_leaves_a_damaged_file() {
    let text = mzml();
    let places: Vec<usize> = text.match_indices(MARK).map(|(at, _)| at).collect();
    assert!(places.len() > 80, "{} marks", places.len());
    let home = TempDir::new().unwrap();
    let desk = Desk::over(home.path());
    let mut errors = 0;
    for at in places.iter().step_by(3) {
        let end = at + MARK.len();
        let damages: [(&str, Vec<u8>); 5] = [
            ("a quote is missing", [&text[..end], &text[end..].replacen('"', "", 1)].concat().into()),
            ("a tag begins", [&text[..end], "<", &text[end..]].concat().into()),
            ("an unknown entity", [&text[..end], &format!("&{MARK};"), &text[end..]].concat().into()),
            (
                "a second attribute",
                [&text[..end], &format!("\" value=\"{MARK}\" value=\"{MARK}"), &text[end..]].concat().into(),
            ),
            ("invalid text", [&text.as_bytes()[..end], b"\xff\xfe", &text.as_bytes()[end..]].concat()),
        ];
        for (what, bytes) in damages {
            put(home.path(), "a.mzML", bytes);
            for tolerant in [false, true] {
                let asked = json!({"source": "a.mzML", "tolerant": tolerant, "response_mode": "full"});
                let (answer, is_error) = desk.call("load_run", asked);
                search(&answer, &format!("{what} at {at}"));
                errors += usize::from(is_error);
            }
            let spectrum = json!({"source": "a.mzML", "spectrum_index": 2, "response_mode": "full"});
            search(&desk.call("load_spectrum", spectrum).0, &format!("{what} at {at}"));
        }
    }
    assert!(errors > 60, "{errors} errors");
}

/// M6: MGF damage does not quote lines.
#[test]
fn m6_nothing_private_leaves_a_damaged_mgf() {
    let home = TempDir::new().unwrap();
    let desk = Desk::over(home.path());
    let text = mgf();
    for (what, from, to) in [
        ("a block inside a block", "PEPMASS", "BEGIN IONS\nPEPMASS"),
        ("a time that is none", "USER01", "RTINSECONDS=noon\nUSER01"),
        ("a charge that is none", "USER01", "CHARGE=two\nUSER01"),
        ("scans that are none", "USER01", "SCANS=all\nUSER01"),
        ("a word among peaks", "100.5 1", "100.5 one"),
        ("an endless m/z", "100.5 1", "1e999 1"),
        ("no end", "END IONS", ""),
    ] {
        put(home.path(), "a.mgf", text.replace(from, to));
        drive(&desk, "a.mgf").iter().for_each(|answer| search(answer, what));
    }
}

/// M6: the folders of this machine do not leave, by no name that reaches a file and by none that does not.
#[test]
fn m6_machine_paths_do_not_leave() {
    let home = TempDir::new().unwrap();
    let root = home.path().join(MARK).join("root");
    fs::create_dir_all(root.join("QC")).unwrap();
    put(&root, "QC/a.mzML", mzml());
    put(&root, "bad.mzML", "<mzML><run>");
    fs::create_dir(root.join("folder.mzML")).unwrap();
    let desk = Desk::over(&root);
    let absolute = |name: &str| root.join(name).to_string_lossy().into_owned();
    for name in ["QC/a.mzML", "bad.mzML", "folder.mzML", "no.mzML", "../outside.mzML"] {
        for source in [name.to_owned(), absolute(name)] {
            drive(&desk, &source).iter().for_each(|answer| search(answer, &source));
        }
    }
    for (tool, arguments) in [
        ("list_sources", json!({"response_mode": "full"})),
        ("list_references", json!({"response_mode": "full"})),
        ("get_capabilities", json!({"topic": "overview", "response_mode": "full"})),
        ("get_capabilities", json!({"topic": "limits", "response_mode": "full"})),
    ] {
        search(&desk.answer(tool, arguments), tool);
    }
}

/// M6, on the shared files: nothing that looks like a path or a folder of somebody.
#[test]
fn m6_answers_about_real_files_hold_no_paths() {
    let Some(data) = shared::shared("data") else { return };
    let desk = Desk::over(&data);
    let mut names: Vec<_> = fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    for name in names.iter().filter_map(|name| name.to_str()) {
        let (run, is_error) = desk.call("load_run", json!({"source": name, "response_mode": "full"}));
        let mut said = run.to_string();
        if !is_error {
            for index in [0, 1, 2] {
                let of_run = json!({"run": run["data"]["reference"], "spectrum_index": index, "response_mode": "full"});
                said += &desk.call("load_spectrum", of_run).0.to_string();
            }
        }
        for sign in ["file:", "\\\\", "/home/", "/Users/", "serial"] {
            assert!(!said.contains(sign), "{name}: {sign} in {said}");
        }
    }
}
