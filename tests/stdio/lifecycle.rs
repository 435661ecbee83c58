//! How a session begins, in every version of the protocol.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::scripted::TOOLS;
use crate::stdio::{PATIENCE, Server, request};
use crate::{Test, product, scripted_server};

pub(crate) const TESTS: &[Test] = tests![lifecycle:
    a_request_before_initialize_is_refused_and_the_session_can_begin,
    a_request_before_initialize_and_the_end_is_a_clean_exit,
    a_notification_before_initialize_is_ignored,
    initialize_without_params_is_refused_and_can_be_repeated,
    every_version_with_a_handshake_is_agreed_to_and_others_are_answered,
    the_newest_version_needs_no_handshake,
    b80_an_idle_session_stays,
    m9_the_server_says_who_it_is_and_how_to_use_it,
    m11_b71_p06_stdout_holds_messages_only_at_the_most_talkative_level,
];

pub(crate) fn a_request_before_initialize_is_refused_and_the_session_can_begin() {
    let mut server = Server::start(&mut scripted_server());
    server.request(1, "tools/list", json!({}));
    let answer = server.answer(1);
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("initialize"), "{answer}");
    server.request(2, "ping", json!({}));
    assert!(server.answer(2).get("result").is_some(), "a ping may come first");
    server.initialize();
    server.request(1, "tools/list", json!({}));
    assert!(server.answer(1).get("result").is_some());
    server.finish(PATIENCE);
}

pub(crate) fn a_request_before_initialize_and_the_end_is_a_clean_exit() {
    let mut server = Server::start(&mut product());
    server.request(1, "tools/list", json!({}));
    server.close_stdin();
    assert_eq!(server.answer(1)["error"]["code"], -32600);
    server.finish(PATIENCE);
}

pub(crate) fn a_notification_before_initialize_is_ignored() {
    let mut server = Server::start(&mut scripted_server());
    server.notify("notifications/initialized", json!({}));
    server.notify("notifications/cancelled", json!({"requestId": 1}));
    server.send(&json!({"jsonrpc": "2.0", "id": 9, "result": {}}));
    server.initialize();
    server.result_of(1, "echo", json!({}));
    server.close_stdin();
    assert_eq!(server.rest(), Vec::<Value>::new());
    server.finish(PATIENCE);
}

pub(crate) fn initialize_without_params_is_refused_and_can_be_repeated() {
    let mut server = Server::start(&mut scripted_server());
    server.request(1, "initialize", json!({"protocolVersion": "2025-11-25"}));
    let answer = server.answer(1);
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("initialize"), "{answer}");
    server.initialize();
    server.finish(PATIENCE);
}

pub(crate) fn every_version_with_a_handshake_is_agreed_to_and_others_are_answered() {
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("", "2025-11-25"),
    ] {
        let mut server = Server::start(&mut scripted_server());
        assert_eq!(server.initialize_as(asked)["protocolVersion"], agreed, "{asked}");
        let result = server.result_of(1, "echo", json!({"a": 1}));
        assert_eq!(result["structuredContent"]["data"]["arguments"]["a"], 1);
        assert!(result.get("resultType").is_none(), "{asked}: {result}");
        server.finish(PATIENCE);
    }
}

pub(crate) fn the_newest_version_needs_no_handshake() {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
        "progressToken": "p",
    });
    let mut server = Server::start(&mut scripted_server());
    server.request(1, "server/discover", json!({"_meta": meta}));
    let answer = server.answer(1);
    let versions = answer["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{answer}");
    // A client may cancel what it has asked before any request has settled the lifecycle.
    server.notify("notifications/cancelled", json!({"requestId": 1}));
    server.request(2, "tools/list", json!({"_meta": meta}));
    assert_eq!(server.answer(2)["result"]["tools"].as_array().unwrap().len(), TOOLS.len());
    let call = json!({"name": "sleep", "arguments": {"milliseconds": 50}, "_meta": meta});
    server.request(3, "tools/call", call);
    let answer = server.answer(3);
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    assert_eq!(answer["result"]["structuredContent"]["data"]["slept"], true);
    let call = json!({"name": "echo", "arguments": [1], "_meta": meta});
    server.request(4, "tools/call", call);
    let answer = server.answer(4);
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    assert_eq!(answer["result"]["structuredContent"]["error"]["code"], "invalid_argument");
    server.request(5, "tools/list", json!({}));
    assert!(server.answer(5)["error"]["code"].is_i64(), "without what a session would have agreed on");
    server.finish(PATIENCE);
}

pub(crate) fn b80_an_idle_session_stays() {
    for command in [&mut scripted_server(), &mut product()] {
        let mut server = Server::start(command);
        server.initialize();
        thread::sleep(Duration::from_millis(1500));
        assert!(server.is_running());
        server.request(1, "tools/list", json!({}));
        assert!(server.answer(1).get("result").is_some());
        server.finish(PATIENCE);
    }
}

pub(crate) fn m9_the_server_says_who_it_is_and_how_to_use_it() {
    let mut server = Server::start(&mut product());
    let description = server.initialize();
    assert_eq!(description["serverInfo"]["name"], "mzarena");
    assert_eq!(description["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
    assert!(description["serverInfo"]["title"].is_string());
    assert!(description["capabilities"]["tools"].is_object());
    let instructions = description["instructions"].as_str().unwrap();
    assert!(instructions.chars().count() <= 1500);
    assert!(instructions.contains("load_run") && instructions.contains("release_reference"));
    server.finish(PATIENCE);
}

pub(crate) fn m11_b71_p06_stdout_holds_messages_only_at_the_most_talkative_level() {
    for command in [&mut scripted_server(), &mut product()] {
        let mut server = Server::start(command.env("MZARENA_LOG", "trace"));
        server.initialize();
        server.request(0, "tools/list", json!({}));
        let tools = server.answer(0)["result"]["tools"].as_array().unwrap().clone();
        for (place, tool) in tools.iter().enumerate() {
            server.result_of(place + 1, tool["name"].as_str().unwrap(), json!({}));
        }
        server.send(&request("x", "no/such", json!({})));
        server.answer("x");
        server.close_stdin();
        // The driver checks every line that it reads.
        server.rest();
        server.finish(PATIENCE);
        assert!(server.stderr().contains("rmcp"), "nothing was logged: {}", server.stderr());
    }
}
