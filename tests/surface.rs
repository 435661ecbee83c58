//! M9, M10: what clients rely on. Names, schemas, codes and classes are held by snapshots: a change here needs a new
//! schema version and a look at every client. The rules for schemas are those that no host breaks on.

#[path = "support/desk.rs"]
mod desk;
#[allow(dead_code, reason = "words are enough here")]
#[path = "support/rust_source.rs"]
mod rust_source;
#[path = "support/stdio.rs"]
mod stdio;

use desk::{Desk, each, fixtures, leaves, text};
use mzarena::code::ErrorCode;
use mzarena::reference::{DataClass, DataKind};
use mzarena::tools::{self, SCHEMA_VERSION, ToolDescription};
use mzarena::warning::WarningCode;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::process::Command;
use stdio::{PATIENCE, Server};

fn described(tool: &ToolDescription) -> Value {
    json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "annotations": {
            "read_only": tool.read_only, "destructive": tool.destructive, "idempotent": tool.idempotent,
        },
        "input_schema": tool.input_schema,
    })
}

/// M10: the whole surface; the output schema is the same for every tool and stands once.
#[test]
fn m10_the_surface_changes_only_knowingly() {
    let tools = tools::descriptions();
    let output = &tools[0].output_schema;
    assert!(tools.iter().all(|tool| tool.output_schema == *output));
    insta::assert_json_snapshot!(
        "surface",
        json!({
            "schema_version": SCHEMA_VERSION,
            "tools": tools.iter().map(described).collect::<Vec<_>>(),
            "output_schema": output,
            "error_codes": ErrorCode::ALL.iter().map(|code| [code.as_str(), code.hint()]).collect::<Vec<_>>(),
            "warning_codes": WarningCode::ALL.iter().map(|code| code.as_str()).collect::<Vec<_>>(),
            "data_classes": DataClass::ALL.iter().map(|class| class.as_str()).collect::<Vec<_>>(),
            "kinds": DataKind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>(),
        })
    );
}

/// Every call that the fixtures allow, in full.
fn answers() -> Vec<(&'static str, Value)> {
    let desk = Desk::over(&fixtures());
    let mut found = Vec::new();
    let mut call = |tool: &'static str, arguments: Value| {
        let answer = desk.call(tool, desk::with(&arguments, "response_mode", "full")).0;
        found.push((tool, answer.clone()));
        answer
    };
    call("list_sources", json!({}));
    call("load_run", json!({"source": "dda.mzML", "wait_seconds": 50}));
    for source in ["dda.mgf", "dia_profile_negative.mzML", "dda_zlib.mzML"] {
        let run = text(&call("load_run", json!({"source": source}))["data"]["reference"]);
        for index in [0, 1] {
            call("load_spectrum", json!({"run": run, "spectrum_index": index}));
            call("load_spectrum", json!({"source": source, "spectrum_index": index}));
        }
        call("load_spectrum", json!({"run": run, "scan_start_time_minutes": 0.1}));
        call("load_spectrum", json!({"run": run, "scan_number": 999_999}));
        call("summarise_reference", json!({"reference": run}));
        call("list_references", json!({}));
        call("release_reference", json!({"reference": run}));
    }
    for topic in ["overview", "tools", "limits", "errors", "warnings", "units", "workflow"] {
        call("get_capabilities", json!({"topic": topic}));
    }
    call("load_run", json!({"source": "no.mzML"}));
    found
}

/// M10: the names of all fields in answers. A name that vanishes breaks clients; a new one bumps the version.
#[test]
fn m10_fields_of_answers_change_only_knowingly() {
    let mut names = BTreeSet::new();
    for (tool, answer) in answers() {
        leaves(&answer, "", &mut |path, _| {
            names.insert(format!("{tool}{path}"));
        });
    }
    insta::assert_json_snapshot!("fields", names);
}

/// D2: whatever is a time, an m/z or a share of something says so, and in which unit.
#[test]
fn d2_names_of_numbers_tell_their_unit() {
    let (mut times, mut mzs) = (0, 0);
    for (_, answer) in answers() {
        each(&answer, &mut |name, value| {
            if !value.is_number() {
                return;
            }
            for short in ["rt", "_min", "_max", "_sec", "_s"] {
                assert!(!name.ends_with(short) || name.ends_with("_ms"), "{name}: spell the unit out");
            }
            if name.contains("time") {
                let is_named = ["_minutes", "_ms", "_seconds"].iter().any(|unit| name.ends_with(unit));
                assert!(is_named || name.ends_with("_count"), "{name} has no unit");
                times += 1;
            }
            if name.split('_').any(|word| word == "mz") {
                assert!(name == "mz" || name.ends_with("_mz"), "{name} is no m/z by its name");
                mzs += 1;
            }
        });
    }
    assert!(times > 20 && mzs > 20, "{times} times, {mzs} m/z values");
}

/// No root combinators, no `$ref`, no lists of types, no boolean subschemas, no `format`: each loses a whole tool list
/// in some host.
#[test]
fn m9_schemas_are_objects_of_described_properties() {
    for tool in tools::descriptions() {
        for schema in [&tool.input_schema, &tool.output_schema] {
            assert_eq!(schema["type"], "object", "{}", tool.name);
            check_schema(&Value::Object(schema.clone()), tool.name);
            for (name, property) in schema["properties"].as_object().unwrap() {
                let described = property["description"].as_str().unwrap_or_default();
                assert!(described.len() > 10, "{}.{name} is not described", tool.name);
            }
            let required = schema.get("required").and_then(Value::as_array);
            for name in required.into_iter().flatten() {
                assert!(schema["properties"].get(name.as_str().unwrap()).is_some(), "{}.{name}", tool.name);
            }
        }
        assert_eq!(tool.output_schema["required"], json!(["schema_version"]));
        let parts: Vec<_> = tool.output_schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(parts, ["schema_version", "data_class", "data", "page", "budget", "error"]);
        let mode = &tool.input_schema["properties"]["response_mode"];
        assert_eq!(mode["enum"], json!(["compact", "full"]), "{}", tool.name);
    }
}

fn check_schema(schema: &Value, place: &str) {
    let known = ["type", "properties", "required", "description", "enum", "minimum", "maximum", "maxLength"];
    let more = ["items", "minItems", "maxItems", "minLength", "default"];
    for (word, value) in schema.as_object().unwrap_or_else(|| panic!("{place}: {schema}")) {
        assert!(known.contains(&word.as_str()) || more.contains(&word.as_str()), "{place}: {word}");
        match word.as_str() {
            "type" => assert!(value.is_string(), "{place}: {value}"),
            "properties" => {
                value.as_object().unwrap().iter().for_each(|(name, inner)| {
                    check_schema(inner, &format!("{place}.{name}"));
                });
            }
            "items" => check_schema(value, place),
            _ => {}
        }
    }
}

fn product() -> Server {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mzarena"));
    let mut server =
        Server::start(command.arg("serve").arg("--root").arg(fixtures()).env_remove("MZARENA_LOG"));
    server.initialize();
    server
}

/// M9: the list on the wire says what the library says, within the sizes that hosts bear.
#[test]
fn m9_the_list_on_the_wire_is_complete_and_small() {
    let mut server = product();
    server.request(1, "tools/list", json!({}));
    let answer = server.answer(1);
    let listed = answer["result"]["tools"].as_array().unwrap();
    let tools = tools::descriptions();
    assert_eq!(listed.len(), tools.len());
    let (mut for_models, mut parameters) = (0, 0);
    for (listed, tool) in listed.iter().zip(&tools) {
        let annotations = json!({
            "title": tool.title, "readOnlyHint": tool.read_only, "destructiveHint": tool.destructive,
            "idempotentHint": tool.idempotent, "openWorldHint": false,
        });
        let expected = json!({
            "name": tool.name, "title": tool.title, "description": tool.description,
            "inputSchema": tool.input_schema, "outputSchema": tool.output_schema, "annotations": annotations,
        });
        assert_eq!(listed, &expected);
        for_models += tool.name.len() + tool.description.len() + listed["inputSchema"].to_string().len();
        parameters += tool.input_schema["properties"].as_object().unwrap().len();
        let is_release = tool.name == "release_reference";
        assert_eq!((tool.read_only, tool.destructive, tool.idempotent), (!is_release, is_release, true));
    }
    let in_all = answer["result"]["tools"].to_string().len();
    assert!(for_models <= 16_000 && in_all <= 24_000, "{for_models} and {in_all} bytes");
    assert!(parameters <= 60, "{parameters} parameters");
    assert!(mzarena::mcp::INSTRUCTIONS.chars().count() <= 1500);
    server.finish(PATIENCE);
}

fn rows(answer: &Value) -> Vec<Vec<Value>> {
    answer["rows"].as_array().unwrap().iter().map(|row| row.as_array().unwrap().clone()).collect()
}

/// M2: a command line that is named, in a description, a hint or the instructions, is one that the program has.
#[test]
fn m2_commands_that_are_named_exist() {
    let help = Command::new(env!("CARGO_BIN_EXE_mzarena")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let mut said: Vec<String> =
        tools::descriptions().iter().map(|tool| tool.description.to_owned()).collect();
    said.extend(ErrorCode::ALL.iter().map(|code| code.hint().to_owned()));
    said.extend(answers().iter().map(|(_, answer)| answer.to_string()));
    said.push(mzarena::mcp::INSTRUCTIONS.to_owned());
    let desk = Desk::over(&fixtures());
    said.push(desk.error("load_run", json!({"source": "dda.mzML", "peaks": true})).to_string());
    let mut named = BTreeSet::new();
    for text in &said {
        for (at, _) in text.match_indices("runs: mzarena ") {
            named.insert(text[at + 14..].split(|c: char| !c.is_alphanumeric()).next().unwrap().to_owned());
        }
    }
    assert!(!named.is_empty());
    for command in named {
        assert!(help.contains(&format!("\n  {command} ")), "there is no command {command}");
    }
}

/// M9: capabilities are the code's own tables.
#[test]
fn m9_capabilities_say_what_the_list_and_the_code_say() {
    let desk = Desk::over(&fixtures());
    let topic = |topic: &str| desk.data("get_capabilities", json!({"topic": topic}));
    let overview = topic("overview");
    assert_eq!(desk.data("get_capabilities", json!({})), overview);
    let tools = tools::descriptions();
    assert_eq!(overview["tools"], json!(tools.iter().map(|tool| tool.name).collect::<Vec<_>>()));
    assert_eq!(overview["error_codes"], json!(ErrorCode::ALL));
    assert_eq!(overview["data_classes"], json!(DataClass::ALL));
    assert_eq!(overview["kinds"], json!(DataKind::ALL));
    for (row, tool) in rows(&topic("tools")).iter().zip(&tools) {
        assert_eq!((&row[0], &row[1]), (&json!(tool.name), &json!(tool.title)));
        let takes: Vec<_> = tool.input_schema["properties"].as_object().unwrap().keys().collect();
        let said: Vec<_> = row[3].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert!(
            takes.iter().all(|name| said.contains(&name.as_str()) || *name == "response_mode"),
            "{row:?}"
        );
        assert!(said.iter().all(|name| takes.iter().any(|known| known == name)), "{row:?}");
    }
    let codes =
        |rows: Vec<Vec<Value>>| -> Vec<Value> { rows.into_iter().map(|row| row[0].clone()).collect() };
    assert_eq!(json!(codes(rows(&topic("errors")))), json!(ErrorCode::ALL));
    assert_eq!(json!(codes(rows(&topic("warnings")))), json!(WarningCode::ALL));
    let bytes = &topic("limits")["bytes"];
    let expected = json!({
        "compact": {"answer": 8192, "spectrum": 1024}, "full": {"answer": 32768, "spectrum": 4096}, "error": 2048,
    });
    assert_eq!(bytes, &expected);
    let store = &topic("limits")["store"];
    assert_eq!(store["time_to_live_seconds"], desk::TIME_TO_LIVE.as_secs());
    assert_eq!((&store["references"], &store["total_bytes"]), (&json!(1000), &json!(4_294_967_296_u64)));
}

/// The sources of the library, but for what is compiled for tests alone: path and words.
fn sources() -> Vec<(String, Vec<rust_source::Token>)> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut folders, mut found) = (vec![root.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                let name = entry.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
                let words = rust_source::tokens(&std::fs::read_to_string(entry).unwrap());
                found.push((name, rust_source::without_tests(words).0));
            }
        }
    }
    found
}

/// M2: nothing that a tool reaches can write a file by name, remove one, call a network or run a program. What is
/// written is written by `arena/`, to files without a name.
#[test]
fn m2_no_code_behind_a_tool_writes_runs_or_calls() {
    const REACHED: [&str; 10] = [
        "tools/",
        "mcp/",
        "ingest/",
        "access/",
        "store/",
        "arena/",
        "reference/",
        "analysis/",
        "provenance",
        "spectrum",
    ];
    const FORBIDDEN: [&str; 17] = [
        "TcpStream",
        "TcpListener",
        "UdpSocket",
        "UnixStream",
        "UnixListener",
        "Command",
        "create_dir",
        "create_dir_all",
        "remove_file",
        "remove_dir",
        "remove_dir_all",
        "rename",
        "hard_link",
        "set_permissions",
        "create_new",
        "set_len",
        "symlink",
    ];
    let mut looked_at = 0;
    for (name, words) in sources() {
        if name.contains("tests") || !REACHED.iter().any(|part| name.starts_with(part)) {
            continue;
        }
        looked_at += words.len();
        for (at, word) in words.iter().enumerate() {
            let is_called = words.get(at + 1).is_some_and(|next| next.text == "(" || next.text == ":");
            let is_forbidden = FORBIDDEN.contains(&word.text.as_str());
            assert!(!(is_forbidden && is_called), "{name}, line {}: {}", word.line, word.text);
            let pair = [word.text.as_str(), words.get(at + 3).map_or("", |word| word.text.as_str())];
            let writes = [["fs", "write"], ["File", "create"], ["OpenOptions", "write"]].contains(&pair);
            assert!(!writes, "{name}, line {}: {pair:?}", word.line);
        }
    }
    assert!(looked_at > 30_000, "{looked_at} words: the sources are elsewhere");
}

/// M9: prompts are off unless the environment turns them on: neither announced nor listed.
#[test]
fn m9_prompts_are_off() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mzarena"));
    command.arg("serve").arg("--root").arg(fixtures()).env_remove("MZARENA_ENABLE_PROMPTS");
    let mut server = Server::start(&mut command);
    let offered = server.initialize()["capabilities"].take();
    assert!(offered.get("tools").is_some() && offered.get("prompts").is_none(), "{offered}");
    server.request("prompts", "prompts/list", json!({}));
    let answer = server.answer("prompts");
    let listed = answer["result"].get("prompts").and_then(Value::as_array).map_or(0, Vec::len);
    assert_eq!(listed, 0, "{answer}");
    server.finish(PATIENCE);
}

/// M6: the labels are the ones of the list, and a tool's own label is what it answers.
#[test]
fn m6_every_answer_has_the_class_of_its_tool() {
    let desk = Desk::over(&fixtures());
    let stated: Map<String, Value> = rows(&desk.data("get_capabilities", json!({"topic": "tools"})))
        .into_iter()
        .map(|row| (text(&row[0]), row[2].clone()))
        .collect();
    for (tool, answer) in answers() {
        if answer.get("error").is_none() {
            assert_eq!(answer["data_class"], stated[tool], "{tool}");
        }
        let is_computed = |value: &Value| value.get("base_peak_mz").is_some();
        if is_computed(&answer["data"]["derived"]) {
            assert_eq!(answer["data"]["derived"]["data_class"], "derived_analysis");
        }
    }
}
