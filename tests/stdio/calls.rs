//! Tool calls: what they answer, what they report, how they are stopped.

use serde_json::{Value, json};

use crate::scripted::{PANIC_TEXT, TOOLS};
use crate::stdio::{PATIENCE, Server};
use crate::{Test, scripted_server};

pub(crate) const TESTS: &[Test] = tests![calls:
    m9_the_list_has_titles_annotations_and_both_schemas,
    an_answer_is_the_same_envelope_twice_and_says_how_long_it_took,
    m7_an_error_is_a_result_with_the_same_shape,
    m7_a_panic_is_answered_without_its_text_and_the_server_lives_on,
    m7_arguments_that_are_no_object_are_refused_as_a_result,
    absent_and_null_arguments_are_none,
    unknown_tools_and_methods_are_protocol_errors,
    m11_a_ping_is_answered_while_every_turn_is_taken,
    m11_progress_grows_and_ends_before_the_answer,
    m11_a_cancelled_call_stops_and_gets_no_answer,
    m11_a_call_that_waits_for_its_turn_can_be_cancelled,
];

fn started() -> Server {
    let mut server = Server::start(&mut scripted_server());
    server.initialize();
    server
}

pub(crate) fn m9_the_list_has_titles_annotations_and_both_schemas() {
    let mut server = started();
    server.request(1, "tools/list", json!({}));
    let answer = server.answer(1);
    let tools = answer["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, TOOLS);
    assert_eq!(
        tools[0],
        json!({
            "name": "echo", "title": "Scripted", "description": "Does what a test asks",
            "inputSchema": {"type": "object", "properties": {"milliseconds": {"type": "integer"}}},
            "outputSchema": {"type": "object", "required": ["schema_version"]},
            "annotations": {
                "title": "Scripted", "readOnlyHint": true, "destructiveHint": false,
                "idempotentHint": true, "openWorldHint": false,
            },
        })
    );
    let refuse = &tools.last().unwrap()["annotations"];
    assert_eq!((&refuse["readOnlyHint"], &refuse["destructiveHint"]), (&json!(false), &json!(true)));
    server.finish(PATIENCE);
}

pub(crate) fn an_answer_is_the_same_envelope_twice_and_says_how_long_it_took() {
    let mut server = started();
    let result = server.result_of(1, "sleep", json!({"milliseconds": 30}));
    assert_eq!(result["isError"], false);
    let blocks = result["content"].as_array().unwrap();
    assert_eq!((blocks.len(), &blocks[0]["type"]), (1, &json!("text")));
    let text = blocks[0]["text"].as_str().unwrap();
    assert_eq!(text, r#"{"schema_version":"1.0","data_class":"operational_metadata","data":{"slept":true}}"#);
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
    assert!(result["_meta"]["elapsed_ms"].as_f64().unwrap() >= 30.0, "{result}");
    server.finish(PATIENCE);
}

pub(crate) fn m7_an_error_is_a_result_with_the_same_shape() {
    let mut server = started();
    let result = server.result_of(1, "refuse", json!({}));
    assert_eq!(result["isError"], true);
    assert_eq!(result["structuredContent"]["error"]["code"], "store_limit");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
    server.finish(PATIENCE);
}

pub(crate) fn m7_a_panic_is_answered_without_its_text_and_the_server_lives_on() {
    let mut server = started();
    for id in 0..3 {
        let result = server.result_of(id, "panic", json!({}));
        assert_eq!(result["isError"], true);
        assert_eq!(result["structuredContent"]["schema_version"], "1.0");
        let error = &result["structuredContent"]["error"];
        assert_eq!(error["code"], "internal");
        assert!(error["message"].is_string() && error["hint"].is_string(), "{error}");
        assert!(!result.to_string().contains(PANIC_TEXT), "{result}");
    }
    server.result_of("after", "echo", json!({}));
    server.wait_for_stderr(PANIC_TEXT);
    server.finish(PATIENCE);
}

pub(crate) fn m7_arguments_that_are_no_object_are_refused_as_a_result() {
    let mut server = started();
    for (id, arguments) in [json!([]), json!("text"), json!(7), json!(true)].into_iter().enumerate() {
        let result = server.result_of(id, "echo", arguments);
        assert_eq!(result["isError"], true);
        let error = &result["structuredContent"]["error"];
        assert_eq!((&error["code"], &error["argument"]), (&json!("invalid_argument"), &json!("arguments")));
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
        assert!(result.get("resultType").is_none(), "{result}");
    }
    server.call("x", "no_such_tool", json!([]));
    assert_eq!(server.answer("x")["error"]["code"], -32602);
    server.finish(PATIENCE);
}

pub(crate) fn absent_and_null_arguments_are_none() {
    let mut server = started();
    for params in [json!({"name": "echo"}), json!({"name": "echo", "arguments": null})] {
        server.request(1, "tools/call", params);
        assert_eq!(server.answer(1)["result"]["structuredContent"]["data"]["arguments"], json!({}));
    }
    server.finish(PATIENCE);
}

pub(crate) fn unknown_tools_and_methods_are_protocol_errors() {
    let mut server = started();
    let long = "n".repeat(5000);
    for (method, params, code, named) in [
        ("tools/call", json!({"name": "no_such_tool", "arguments": {}}), -32602, "no_such_tool"),
        ("tools/call", json!({"name": long}), -32602, "nnn"),
        ("tools/call", json!({}), -32602, "tools/call"),
        ("tools/call", json!({"name": 7}), -32602, "tools/call"),
        ("no/such", json!({}), -32601, "no/such"),
        (&long, json!({}), -32601, "nnn"),
    ] {
        server.request(1, method, params);
        let answer = server.answer(1);
        assert_eq!(answer["error"]["code"], code, "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(named) && message.len() < 200, "{message}");
    }
    server.finish(PATIENCE);
}

pub(crate) fn m11_a_ping_is_answered_while_every_turn_is_taken() {
    let mut server = started();
    for id in 0..100 {
        server.call(id, "sleep", json!({"milliseconds": 1000}));
    }
    server.request("ping", "ping", json!({}));
    assert_eq!(server.next()["id"], "ping");
    for id in 0..100 {
        assert_eq!(server.answer(id)["result"]["isError"], false);
    }
    server.finish(PATIENCE);
}

pub(crate) fn m11_progress_grows_and_ends_before_the_answer() {
    let mut server = started();
    let call = |token: Option<Value>| {
        let meta = token.map_or(json!({}), |token| json!({"progressToken": token}));
        json!({"name": "sleep", "arguments": {"milliseconds": 500}, "_meta": meta})
    };
    for token in [json!("token"), json!(17)] {
        server.request(1, "tools/call", call(Some(token.clone())));
        let mut reported = Vec::new();
        loop {
            let message = server.next();
            if message.get("id").is_some() {
                assert_eq!(message["result"]["isError"], false);
                break;
            }
            assert_eq!(message["method"], "notifications/progress");
            assert_eq!(
                (&message["params"]["progressToken"], &message["params"]["total"]),
                (&token, &json!(500.0))
            );
            reported.push(message["params"]["progress"].as_f64().unwrap());
        }
        // At most one per 100 ms, the first at once and the last at the end.
        assert!((3..=7).contains(&reported.len()), "{reported:?}");
        assert!(reported.is_sorted_by(|one, next| one < next), "{reported:?}");
        assert_eq!(reported.last(), Some(&500.0));
    }
    server.request(2, "tools/call", call(None));
    assert_eq!(server.next()["id"], 2, "no token, no progress");
    server.finish(PATIENCE);
}

pub(crate) fn m11_a_cancelled_call_stops_and_gets_no_answer() {
    let mut server = started();
    let call = json!({"name": "sleep", "arguments": {"milliseconds": 60_000}, "_meta": {"progressToken": 1}});
    server.request(1, "tools/call", call);
    assert_eq!(server.next()["method"], "notifications/progress", "it runs");
    server.call(2, "sleep", json!({"milliseconds": 300}));
    server.notify("notifications/cancelled", json!({"requestId": 1, "reason": "no longer wanted"}));
    server.wait_for_stderr("sleep was cancelled");
    assert_eq!(server.answer(2)["result"]["isError"], false);
    // Nor can a late answer be taken for one to a new request.
    server.call(1, "echo", json!({}));
    let refusal = server.answer(Value::Null);
    assert_eq!(refusal["error"]["code"], -32600);
    // What is answered or was never asked can be cancelled without harm.
    server.notify("notifications/cancelled", json!({"requestId": 2}));
    server.notify("notifications/cancelled", json!({"requestId": "never"}));
    server.notify("notifications/cancelled", json!({}));
    server.result_of(2, "echo", json!({}));
    server.close_stdin();
    assert!(server.rest().iter().all(|message| message["method"] == "notifications/progress"));
    server.finish(PATIENCE);
}

pub(crate) fn m11_a_call_that_waits_for_its_turn_can_be_cancelled() {
    let mut server = started();
    for id in 0..60 {
        server.call(id, "sleep", json!({"milliseconds": 60_000}));
    }
    server.call("waiting", "stubborn", json!({"milliseconds": 60_000}));
    server.notify("notifications/cancelled", json!({"requestId": "waiting"}));
    for id in 0..60 {
        server.notify("notifications/cancelled", json!({"requestId": id}));
    }
    server.result_of("after", "echo", json!({}));
    server.finish(PATIENCE);
}
