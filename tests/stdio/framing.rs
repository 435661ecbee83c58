//! What comes in is a line of JSON, or is refused without ending the session.

use serde_json::{Value, json};

use crate::stdio::{PATIENCE, Server, request};
use crate::{Test, product, scripted_server};

pub(crate) const TESTS: &[Test] = tests![framing:
    b72_p07_a_malformed_line_is_answered_and_the_session_goes_on,
    b72_a_byte_order_mark_and_blank_lines_do_no_harm,
    b72_before_initialize_too,
    a_line_of_100_mb_is_refused_without_being_kept,
    a_line_just_below_the_limit_is_served,
    a_second_request_of_the_same_id_is_refused_and_the_first_answered,
    the_last_line_needs_no_end,
    every_kind_of_bad_line_in_one_go,
];

/// Lines that are no message, and the code that answers each.
fn bad_lines() -> Vec<(Vec<u8>, i64)> {
    let deep = |depth| [vec![b'['; depth], vec![b']'; depth]].concat();
    let nested = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{}1{}}}}}"#,
        "[".repeat(500),
        "]".repeat(500)
    );
    vec![
        (b"{not json".to_vec(), -32700),
        (br#"{"jsonrpc":"2.0","id":1,"method":"ping""#.to_vec(), -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc3\x28\"}".to_vec(), -32700),
        (b"\xff\xfe\x00".to_vec(), -32700),
        (b"\x00".to_vec(), -32700),
        (deep(200), -32700),
        (deep(100_000), -32700),
        (nested.into_bytes(), -32700),
        (b"Content-Length: 52".to_vec(), -32700),
        (b"null".to_vec(), -32600),
        (b"\"text\"".to_vec(), -32600),
        (b"[]".to_vec(), -32600),
        (b"{}".to_vec(), -32600),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#.to_vec(), -32600),
        (br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#.to_vec(), -32600),
        (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#.to_vec(), -32600),
    ]
}

fn is_alive(server: &mut Server, id: &str) {
    server.request(id, "ping", json!({}));
    assert!(server.answer(id).get("result").is_some());
}

pub(crate) fn b72_p07_a_malformed_line_is_answered_and_the_session_goes_on() {
    for command in [&mut scripted_server(), &mut product()] {
        let mut server = Server::start(command);
        server.initialize();
        for (line, code) in bad_lines() {
            server.write_line(&line);
            let answer = server.next();
            let start = String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned();
            assert_eq!(answer["error"]["code"], code, "{start}: {answer}");
            assert_eq!(answer["id"], Value::Null, "{start}: {answer}");
            assert!(answer["error"]["message"].as_str().unwrap().len() > 10, "{answer}");
            is_alive(&mut server, "alive");
        }
        server.finish(PATIENCE);
    }
}

pub(crate) fn every_kind_of_bad_line_in_one_go() {
    let mut server = Server::start(&mut scripted_server());
    server.initialize();
    let lines: Vec<u8> = bad_lines().into_iter().flat_map(|(line, _)| [line, vec![b'\n']].concat()).collect();
    server.write(&lines);
    server.close_stdin();
    let codes: Vec<_> =
        server.rest().iter().map(|answer| answer["error"]["code"].as_i64().unwrap()).collect();
    assert_eq!(codes, bad_lines().iter().map(|(_, code)| *code).collect::<Vec<_>>());
    server.finish(PATIENCE);
}

pub(crate) fn b72_a_byte_order_mark_and_blank_lines_do_no_harm() {
    let mut server = Server::start(&mut scripted_server());
    server.write(b"\xEF\xBB\xBF");
    server.initialize();
    server.write(b"\n\r\n  \n\xEF\xBB\xBF\n");
    server.write(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n");
    assert_eq!(server.next()["id"], 1);
    server.finish(PATIENCE);
}

pub(crate) fn b72_before_initialize_too() {
    let mut server = Server::start(&mut scripted_server());
    server.write_line("{");
    assert_eq!(server.next()["error"]["code"], -32700);
    server.initialize();
    server.finish(PATIENCE);
}

pub(crate) fn a_line_of_100_mb_is_refused_without_being_kept() {
    let mut server = Server::start(&mut scripted_server());
    server.initialize();
    let before = server.peak_resident_bytes();
    server.write(br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":""#);
    let block = vec![b'x'; 1_000_000];
    for _ in 0..100 {
        server.write(&block);
    }
    server.write_line(br#""}}"#);
    let answer = server.next();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32600)), "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("16777216 bytes"), "{answer}");
    is_alive(&mut server, "alive");
    match (before, server.peak_resident_bytes()) {
        // One line at the limit, and what a growing buffer leaves behind.
        (Some(before), Some(after)) => assert!(after - before < 40_000_000, "{before} -> {after}"),
        _ => eprintln!("memory is not checked: this system does not say how much is resident"),
    }
    server.finish(PATIENCE);
}

pub(crate) fn a_line_just_below_the_limit_is_served() {
    let mut server = Server::start(&mut scripted_server());
    server.initialize();
    server.request(1, "ping", json!({"a": "x".repeat(16_000_000)}));
    assert!(server.answer(1).get("result").is_some());
    server.finish(PATIENCE);
}

pub(crate) fn a_second_request_of_the_same_id_is_refused_and_the_first_answered() {
    let mut server = Server::start(&mut scripted_server());
    server.initialize();
    server.call(7, "sleep", json!({"milliseconds": 500}));
    server.call(7, "echo", json!({}));
    let refusal = server.next();
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&Value::Null, &json!(-32600)), "{refusal}");
    assert!(refusal["error"]["message"].as_str().unwrap().contains("the id 7"), "{refusal}");
    assert_eq!(server.answer(7)["result"]["structuredContent"]["data"]["slept"], true);
    // Answered, it is free again, and text is another id than the number.
    server.result_of(7, "echo", json!({}));
    server.call(8, "sleep", json!({"milliseconds": 100}));
    server.result_of("8", "echo", json!({}));
    server.answer(8);
    server.close_stdin();
    assert_eq!(server.rest(), Vec::<Value>::new());
    server.finish(PATIENCE);
}

pub(crate) fn the_last_line_needs_no_end() {
    let mut server = Server::start(&mut scripted_server());
    server.initialize();
    server.write(request(1, "ping", json!({})).to_string().as_bytes());
    server.close_stdin();
    assert_eq!(server.answer(1)["result"], json!({}));
    server.finish(PATIENCE);
}
