//! The process ends: cleanly where it can, and in any case.

use std::time::Duration;

use serde_json::{Value, json};

use crate::stdio::{PATIENCE, Server, initialize_request, request};
use crate::{Test, product, scripted_server};

pub(crate) const TESTS: &[Test] = tests![stopping:
    b70_p05_the_end_of_input_ends_an_idle_server,
    the_end_of_input_before_anything_is_a_clean_end,
    b73_p08_what_was_asked_is_answered_before_the_end,
    many_requests_and_the_end_are_all_answered,
    a_call_of_a_second_is_answered_after_the_end_of_input,
    a_longer_call_is_cancelled_after_the_end_of_input,
    a_call_that_heeds_nothing_is_abandoned,
    a_cancelled_call_that_heeds_nothing_is_not_waited_for,
    #[cfg(unix)] sigterm_ends_an_idle_server,
    #[cfg(unix)] sigterm_cancels_calls,
    #[cfg(unix)] sigterm_ends_calls_that_heed_nothing,
    #[cfg(unix)] sigterm_ends_a_server_before_its_session,
    a_client_that_does_not_read_cannot_hold_the_end_up,
    #[cfg(unix)] a_client_that_does_not_read_cannot_hold_sigterm_up,
    #[cfg(unix)] a_client_that_asks_much_reads_nothing_and_leaves_is_noticed,
    #[cfg(unix)] a_closed_stdout_ends_the_server,
];

/// The watchdog's 4 s and room for a busy machine, yet far below what the calls here would take.
const BY_FORCE: Duration = Duration::from_secs(15);

/// Longer than any test may take.
const FOR_EVER: u64 = 120_000;

fn started() -> Server {
    let mut server = Server::start(&mut scripted_server());
    server.initialize();
    server
}

pub(crate) fn b70_p05_the_end_of_input_ends_an_idle_server() {
    for command in [&mut scripted_server(), &mut product()] {
        let mut server = Server::start(command);
        server.initialize();
        let took = server.finish(PATIENCE);
        assert!(took < Duration::from_secs(2), "{took:?}");
    }
    let mut server = started();
    server.finish(PATIENCE);
    is_orderly(&server);
}

pub(crate) fn the_end_of_input_before_anything_is_a_clean_end() {
    for command in [&mut scripted_server(), &mut product()] {
        let mut server = Server::start(command);
        let took = server.finish(PATIENCE);
        assert!(took < Duration::from_secs(2), "{took:?}");
        assert_eq!(server.rest(), Vec::<Value>::new());
    }
}

pub(crate) fn b73_p08_what_was_asked_is_answered_before_the_end() {
    let mut server = Server::start(&mut scripted_server());
    let messages = [
        initialize_request(0, "2025-06-18"),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        request(1, "tools/call", json!({"name": "large", "arguments": {"bytes": 3_000_000}})),
        request(2, "tools/call", json!({"name": "sleep", "arguments": {"milliseconds": 200}})),
    ];
    let lines: String = messages.iter().map(|message| format!("{message}\n")).collect();
    server.write(lines.as_bytes());
    server.close_stdin();
    assert!(server.answer(0).get("result").is_some());
    assert_eq!(
        server.answer(1)["result"]["structuredContent"]["data"]["text"].as_str().unwrap().len(),
        3_000_000
    );
    assert_eq!(server.answer(2)["result"]["isError"], false);
    server.finish(PATIENCE);
}

pub(crate) fn many_requests_and_the_end_are_all_answered() {
    let mut server = started();
    const COUNT: usize = 5000;
    for id in 0..COUNT {
        server.call(id, "echo", json!({"id": id}));
    }
    server.close_stdin();
    let mut ids: Vec<_> = server.rest().iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..COUNT as u64).collect::<Vec<_>>());
    server.finish(PATIENCE);
}

pub(crate) fn a_call_of_a_second_is_answered_after_the_end_of_input() {
    let mut server = started();
    server.call(1, "sleep", json!({"milliseconds": 1000}));
    server.close_stdin();
    assert_eq!(server.answer(1)["result"]["structuredContent"]["data"]["slept"], true);
    server.finish(PATIENCE);
}

pub(crate) fn a_longer_call_is_cancelled_after_the_end_of_input() {
    let mut server = started();
    server.call(1, "sleep", json!({"milliseconds": FOR_EVER}));
    let took = server.finish(BY_FORCE);
    assert!(server.stderr().contains("sleep was cancelled"));
    is_orderly(&server);
    assert!(took > Duration::from_millis(1500), "it has 2 s to answer, and had {took:?}");
    assert_eq!(server.answer(1)["result"]["structuredContent"]["error"]["code"], "cancelled");
}

pub(crate) fn a_call_that_heeds_nothing_is_abandoned() {
    let mut server = started();
    server.call(1, "stubborn", json!({"milliseconds": FOR_EVER}));
    server.finish(BY_FORCE);
    assert_eq!(server.answer(1)["result"]["structuredContent"]["error"]["code"], "cancelled");
    assert_eq!(server.rest(), Vec::<Value>::new());
    is_orderly(&server);
}

pub(crate) fn a_cancelled_call_that_heeds_nothing_is_not_waited_for() {
    let mut server = started();
    server.call(1, "stubborn", json!({"milliseconds": FOR_EVER}));
    server.notify("notifications/cancelled", json!({"requestId": 1}));
    server.result_of(2, "echo", json!({}));
    server.finish(BY_FORCE);
    assert_eq!(server.rest(), Vec::<Value>::new());
    is_orderly(&server);
}

/// The server went through its own end; the watchdog does not.
fn is_orderly(server: &Server) {
    assert!(server.stderr().contains("released all"), "{}", server.stderr());
}

#[cfg(unix)]
fn ends_on_sigterm(server: &mut Server, limit: Duration) {
    server.terminate();
    let (status, _) = server.wait(limit);
    assert_eq!(status.code(), Some(0), "{status}; stderr: {}", server.stderr());
}

#[cfg(unix)]
pub(crate) fn sigterm_ends_an_idle_server() {
    for command in [&mut scripted_server(), &mut product()] {
        let mut server = Server::start(command);
        server.initialize();
        ends_on_sigterm(&mut server, PATIENCE);
    }
}

#[cfg(unix)]
pub(crate) fn sigterm_cancels_calls() {
    let mut server = started();
    server.call(1, "sleep", json!({"milliseconds": FOR_EVER}));
    server.result_of(2, "echo", json!({}));
    ends_on_sigterm(&mut server, BY_FORCE);
    assert!(server.stderr().contains("sleep was cancelled"));
    is_orderly(&server);
}

#[cfg(unix)]
pub(crate) fn sigterm_ends_calls_that_heed_nothing() {
    let mut server = started();
    server.call(1, "stubborn", json!({"milliseconds": FOR_EVER}));
    server.result_of(2, "echo", json!({}));
    ends_on_sigterm(&mut server, BY_FORCE);
    is_orderly(&server);
}

#[cfg(unix)]
pub(crate) fn sigterm_ends_a_server_before_its_session() {
    let mut server = Server::start(&mut product());
    server.request(1, "ping", json!({}));
    server.answer(1);
    ends_on_sigterm(&mut server, BY_FORCE);
}

/// A server whose answers fill every buffer up to the client.
fn unread() -> Server {
    let mut server = Server::start_unread(&mut scripted_server());
    server.read_stderr();
    server.send(&initialize_request(0, "2025-11-25"));
    for id in 1..20 {
        server.call(id, "large", json!({"bytes": 1_000_000}));
    }
    server
}

pub(crate) fn a_client_that_does_not_read_cannot_hold_the_end_up() {
    let mut server = unread();
    server.finish(BY_FORCE);
}

#[cfg(unix)]
pub(crate) fn a_client_that_does_not_read_cannot_hold_sigterm_up() {
    let mut server = unread();
    server.call("last", "sleep", json!({"milliseconds": FOR_EVER}));
    std::thread::sleep(Duration::from_millis(300));
    ends_on_sigterm(&mut server, BY_FORCE);
}

#[cfg(unix)]
pub(crate) fn a_client_that_asks_much_reads_nothing_and_leaves_is_noticed() {
    let mut server = Server::start_unread(&mut scripted_server());
    server.read_stderr();
    server.send(&initialize_request(0, "2025-11-25"));
    // More than the server takes without answering, and no more than the pipe holds beside that.
    for id in 0..800 {
        server.call(id, "large", json!({"bytes": 2000}));
    }
    std::thread::sleep(Duration::from_millis(500));
    if let Some(resident) = server.resident_bytes() {
        assert!(resident < 100_000_000, "{resident} bytes for answers that nobody reads");
    }
    server.finish(BY_FORCE);
}

#[cfg(unix)]
pub(crate) fn a_closed_stdout_ends_the_server() {
    for command in [&mut scripted_server(), &mut product()] {
        let mut server = Server::start_unread(command);
        server.read_stderr();
        server.close_stdout();
        server.send(&initialize_request(0, "2025-11-25"));
        let (status, _) = server.wait(BY_FORCE);
        assert_eq!(status.code(), Some(0), "{status}; stderr: {}", server.stderr());
    }
}
