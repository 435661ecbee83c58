//! M7: wrong arguments come back as coded errors that name them; null is absent.

use crate::desk::{Desk, fixtures, text, with};
use mzarena::tools;
use serde_json::{Map, Value, json};

/// Arguments with which each tool works.
fn good(tool: &str, run: &str) -> Value {
    match tool {
        "load_run" => json!({"source": "dda.mzML"}),
        "load_spectrum" => json!({"run": run, "spectrum_index": 0}),
        "summarise_reference" | "release_reference" => json!({"reference": run}),
        _ => json!({}),
    }
}

/// Values that a parameter of this schema does not take.
fn wrong_values(schema: &Value) -> Vec<Value> {
    let mut wrong = vec![json!([]), json!({}), json!([1.5]), json!({"value": 1})];
    match schema["type"].as_str().unwrap() {
        "string" => {
            wrong.extend([json!(7), json!(true), json!(1.5), json!("")]);
            if let Some(longest) = schema["maxLength"].as_u64() {
                wrong.push(json!("x".repeat(longest as usize + 1)));
            }
            if let Some(words) = schema["enum"].as_array() {
                wrong.push(json!("no such word"));
                wrong.extend(words.iter().map(|word| json!(text(word).to_uppercase())));
                wrong.extend(words.iter().map(|word| json!(format!("{} ", text(word)))));
            }
        }
        kind @ ("integer" | "number") => {
            wrong.extend([json!("7"), json!(true), json!("")]);
            if kind == "integer" {
                wrong.extend([json!(1.5), json!(-1), json!(1e300), json!(u64::MAX)]);
            }
            for (bound, step) in [("minimum", -1.0), ("maximum", 1.0)] {
                wrong.extend(schema[bound].as_f64().map(|bound| json!(bound + step * bound.abs().max(1.0))));
            }
        }
        "boolean" => wrong.extend([json!(0), json!(1), json!("true"), json!("")]),
        other => panic!("a type that no test knows: {other}"),
    }
    wrong
}

/// Names that no tool takes: slips, wishes for peaks and plots, hostile texts.
fn unknown_names() -> Vec<String> {
    let mut names: Vec<String> = [
        "",
        " ",
        "Source",
        "sauce",
        "include_peaks",
        "peaks",
        "as_array",
        "output_path",
        "plot",
        "__proto__",
        "a\nb",
        "\u{0}",
        "\u{202e}gnp.elif",
        "schema_version",
        "_meta",
    ]
    .map(str::to_owned)
    .to_vec();
    names.extend(["n".repeat(5000), "\u{1}".repeat(5000), "漢".repeat(3000)]);
    names
}

#[test]
fn m7_every_wrong_argument_is_refused_by_its_name() {
    let desk = Desk::over(&fixtures());
    let run = desk.load("dda.mzML");
    let mut tried = 0;
    for tool in tools::descriptions() {
        let good = good(tool.name, &run);
        for (name, schema) in tool.input_schema["properties"].as_object().unwrap() {
            for wrong in wrong_values(schema) {
                let error = desk.error(tool.name, with(&good, name, wrong.clone()));
                assert_eq!(error["code"], "invalid_argument", "{}.{name} = {wrong}: {error}", tool.name);
                assert_eq!(error["argument"], *name, "{} = {wrong}", tool.name);
                assert!(error["message"].as_str().unwrap().contains(name.as_str()), "{error}");
                tried += 1;
            }
        }
        for name in unknown_names() {
            let error = desk.error(tool.name, with(&good, &name, 1));
            assert_eq!(error["code"], "unknown_argument", "{}: {name:.40}", tool.name);
            let blamed = error["argument"].as_str().map_or("", |blamed| blamed);
            assert!(name.starts_with(blamed) && blamed.is_empty() == name.is_empty(), "{error}");
            tried += 1;
        }
    }
    assert!(tried >= 200, "{tried}");
    assert_eq!(desk.live_count(), 1, "nothing was done");
}

#[test]
fn m7_what_is_missing_is_named() {
    let desk = Desk::over(&fixtures());
    for tool in tools::descriptions() {
        for name in tool.input_schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            for arguments in [json!({}), with(&json!({}), name.as_str().unwrap(), Value::Null)] {
                let error = desk.error(tool.name, arguments);
                assert_eq!((&error["code"], &error["argument"]), (&json!("missing_argument"), name));
            }
        }
    }
}

/// "Exactly one of" is checked in code.
#[test]
fn m7_alternatives_are_exclusive_and_one_is_needed() {
    let desk = Desk::over(&fixtures());
    let run = desk.load("dda.mzML");
    let selectors = [
        ("spectrum_index", json!(0)),
        ("native_id", json!("controllerType=0 controllerNumber=1 scan=1")),
        ("scan_number", json!(1)),
        ("scan_start_time_minutes", json!(0.0)),
    ];
    for (place, (first, value)) in selectors.iter().enumerate() {
        let one = with(&json!({"run": run}), first, value.clone());
        desk.answer("load_spectrum", one.clone());
        for (second, value) in &selectors[place + 1..] {
            let error = desk.error("load_spectrum", with(&one, second, value.clone()));
            assert_eq!(error["code"], "invalid_argument");
            assert!([*first, *second].contains(&error["argument"].as_str().unwrap()), "{error}");
        }
        let leveled = desk.call("load_spectrum", with(&one, "ms_level", 1));
        assert_eq!(leveled.1, *first != "scan_start_time_minutes", "{first}: {}", leveled.0);
    }
    for (arguments, code, argument) in [
        (json!({"run": run}), "missing_argument", "spectrum_index"),
        (json!({"spectrum_index": 0}), "missing_argument", "run"),
        (json!({"run": run, "source": "dda.mzML", "spectrum_index": 0}), "invalid_argument", "source"),
        (json!({"run": null, "source": null, "spectrum_index": 0}), "missing_argument", "run"),
    ] {
        let error = desk.error("load_spectrum", arguments);
        assert_eq!((&error["code"], &error["argument"]), (&json!(code), &json!(argument)), "{error}");
    }
}

/// An answer without what differs from call to call.
fn settled(mut envelope: Value) -> Value {
    for name in ["reference", "reused"] {
        envelope["data"].as_object_mut().unwrap().shift_remove(name);
    }
    envelope["budget"]["returned_chars"].take();
    envelope
}

#[test]
fn m7_null_is_absent() {
    let desk = Desk::over(&fixtures());
    let run = desk.load("dda.mzML");
    let tools = tools::descriptions();
    for tool in tools.iter().filter(|tool| tool.name != "release_reference") {
        let good = good(tool.name, &run);
        let mut all = good.as_object().unwrap().clone();
        for name in tool.input_schema["properties"].as_object().unwrap().keys() {
            all.entry(name.clone()).or_insert(Value::Null);
        }
        let plain = desk.answer(tool.name, good.clone());
        let nulls = desk.answer(tool.name, Value::Object(all));
        if tool.name != "list_references" {
            assert_eq!(settled(plain), settled(nulls), "{}", tool.name);
        }
    }
}

/// Whole numbers may be written as some clients write them.
#[test]
fn m7_five_point_zero_is_five() {
    let desk = Desk::over(&fixtures());
    let run = desk.load("dda.mzML");
    let found = |index: Value| {
        desk.data("load_spectrum", json!({"run": run, "spectrum_index": index}))["spectrum_index"].take()
    };
    assert_eq!(found(json!(5.0)), 5);
    assert_eq!(found(json!(5)), 5);
}

/// M2: who asks for peaks, plots or files is told what the command line does.
#[test]
fn m2_refusals_of_wishes_for_peaks_name_the_command() {
    let desk = Desk::over(&fixtures());
    let run = desk.load("dda.mzML");
    for wish in [
        "include_peaks",
        "peaks",
        "mz_array",
        "intensities",
        "as_array",
        "plot",
        "export",
        "output_path",
        "csv",
    ] {
        let error = desk.error("load_spectrum", json!({"run": run, "spectrum_index": 0, wish: true}));
        assert_eq!(error["code"], "unknown_argument");
        assert!(error["hint"].as_str().unwrap().contains("mzarena "), "{error}");
    }
}

#[test]
fn m7_no_such_tool_is_no_outcome() {
    let desk = Desk::over(&fixtures());
    for name in ["", "Load_run", "load_run ", "plot_spectrum", "tools/list"] {
        let outcome = tools::call(&desk.context, name, Map::new(), &mzarena::observe::Unobserved);
        assert!(outcome.is_none(), "{name}");
    }
}
