//! M11 and the surface's "long loads", on a real server: a load may outlast a call; whoever asks for the same source
//! shares it; it can be watched, cancelled and left behind.
#![cfg(target_os = "linux")]

#[path = "support/desk.rs"]
mod desk;
#[path = "support/paper.rs"]
mod paper;
#[path = "support/slow.rs"]
mod slow;
#[path = "support/stdio.rs"]
mod stdio;

use desk::{Desk, text};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};
use stdio::{PATIENCE, Server};
use tempfile::TempDir;

/// Longer than any test here may take.
const FOR_EVER: f64 = 60.0;

/// A root with one slow source, and a server over it.
struct Room {
    home: TempDir,
    server: Server,
}

impl Room {
    fn with(seconds: f64) -> Self {
        let home = TempDir::new().unwrap();
        slow::write(&home.path().join("slow.mzML.gz"), seconds);
        let server = server(home.path());
        Self { home, server }
    }

    fn load(&mut self, id: impl Into<Value>, wait_seconds: u64) -> Value {
        self.ask(id, json!({"source": "slow.mzML.gz", "wait_seconds": wait_seconds}))
    }

    fn ask(&mut self, id: impl Into<Value>, arguments: Value) -> Value {
        let result = self.server.result_of(id, "load_run", arguments.clone());
        let is_error = result["isError"] == true;
        desk::check_envelope(&text(&result["content"][0]["text"]), is_error, desk::mode(&arguments));
        result["structuredContent"].clone()
    }

    /// Sends a call that waits, without waiting for it.
    fn begin(&mut self, id: &str, token: Option<&str>) {
        let meta = token.map_or(json!({}), |token| json!({"progressToken": token}));
        let arguments = json!({"source": "slow.mzML.gz", "wait_seconds": 50});
        self.server.request(
            id,
            "tools/call",
            json!({"name": "load_run", "arguments": arguments, "_meta": meta}),
        );
    }

    fn cancel(&mut self, id: &str) {
        self.server.notify("notifications/cancelled", json!({"requestId": id, "reason": "no longer wanted"}));
    }

    /// How many loads the store knows, and how many runs.
    fn counts(&mut self, id: &str) -> (u64, u64) {
        let result = self.server.result_of(id, "list_references", json!({"kind": "run"}));
        let answer = &result["structuredContent"];
        let loading = answer["data"]["store"]["registering_count"].as_u64().unwrap();
        (loading, answer["page"]["total"].as_u64().unwrap())
    }

    fn wait_until(&self, what: &str, limit: Duration, is_so: impl Fn(&Server) -> bool) {
        let began = Instant::now();
        while !is_so(&self.server) {
            assert!(began.elapsed() < limit, "not within {limit:?}: {what}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn wait_for_load(&self) {
        self.wait_until("the load begins", PATIENCE, |server| server.has_thread("load"));
    }

    fn wait_for_end_of_load(&self) {
        self.wait_until("the load ends", Duration::from_secs(60), |server| !server.has_thread("load"));
    }
}

fn server(root: &Path) -> Server {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mzarena"));
    let mut server = Server::start(command.arg("serve").arg("--root").arg(root).env_remove("MZARENA_LOG"));
    server.initialize();
    server
}

fn is_loading(answer: &Value) -> bool {
    answer["data"]["status"] == "loading"
}

/// A call that does not wait is told how far the load is; the same call attaches to it, and the next finds it done.
#[test]
fn a_long_load_answers_loading_and_the_same_call_attaches() {
    let mut room = Room::with(3.0);
    let mut fractions = Vec::new();
    for id in 0..3 {
        let answer = room.load(id, u64::from(id > 0));
        assert!(is_loading(&answer), "{answer}");
        assert_eq!(answer["data_class"], "operational_metadata");
        assert_eq!(answer["data"]["source"], "slow.mzML.gz");
        assert!((1..=30).contains(&answer["data"]["retry_in_seconds"].as_u64().unwrap()), "{answer}");
        fractions.push(answer["data"]["fraction"].as_f64().unwrap());
    }
    assert!(fractions.is_sorted() && fractions[0] < fractions[2] && fractions[2] < 1.0, "{fractions:?}");
    assert_eq!(room.counts("during"), (1, 0), "one load, and no run yet");
    let done = room.load("done", 50);
    assert_eq!((&done["data"]["kind"], &done["data"]["reused"]), (&json!("run"), &json!(false)), "{done}");
    assert_eq!(done["data"]["shape"]["spectrum_count"], 2);
    let again = room.load("again", 0);
    assert_eq!(
        (&again["data"]["reference"], &again["data"]["reused"]),
        (&done["data"]["reference"], &json!(true))
    );
    assert_eq!(room.counts("after"), (0, 1));
    room.server.finish(PATIENCE);
}

/// Two calls for one source share one load and get one reference; each that gave a token sees its own progress, which
/// grows, ends at the size of the file and comes before the answer. A ping is answered meanwhile.
#[test]
fn m11_calls_share_a_load_and_each_watches_its_own_progress() {
    let mut room = Room::with(2.0);
    room.begin("one", Some("first"));
    room.begin("two", Some("second"));
    room.begin("three", None);
    room.wait_for_load();
    room.server.request("ping", "ping", json!({}));
    let size = fs::metadata(room.home.path().join("slow.mzML.gz")).unwrap().len() as f64;
    let (mut steps, mut answers) = ([Vec::new(), Vec::new()], Vec::new());
    while answers.len() < 4 {
        let message = room.server.next();
        if message["method"] == "notifications/progress" {
            let token = text(&message["params"]["progressToken"]);
            let place =
                ["first", "second"].iter().position(|known| *known == token).expect("a token that was given");
            let is_over = answers.iter().any(|(id, _)| id == ["one", "two"][place]);
            assert!(!is_over, "progress after the answer: {message}");
            assert_eq!(message["params"]["total"], size);
            steps[place].push(message["params"]["progress"].as_f64().unwrap());
        } else {
            answers.push((
                text(&message["id"]),
                message["result"]["structuredContent"]["data"]["reference"].clone(),
            ));
        }
    }
    assert_eq!(answers[0].0, "ping");
    assert!(
        answers[1].1.is_string() && answers[1..].iter().all(|(_, run)| *run == answers[1].1),
        "{answers:?}"
    );
    for steps in &steps {
        assert!(steps.len() >= 4 && steps.is_sorted_by(|one, next| one < next), "{steps:?}");
        assert_eq!(steps.last(), Some(&size));
    }
    assert_eq!(room.counts("after"), (0, 1));
    room.server.finish(PATIENCE);
}

/// A cancelled load for which nobody waits stops reading at once and leaves nothing; the next call begins anew.
#[test]
fn m11_cancelling_stops_the_load() {
    let mut room = Room::with(FOR_EVER);
    room.begin("call", None);
    room.wait_for_load();
    let before = room.server.read_bytes();
    room.wait_until("it reads", PATIENCE, |server| server.read_bytes() > before + 100_000);
    room.cancel("call");
    room.wait_until("it stops", Duration::from_secs(1), |server| !server.has_thread("load"));
    let (read, size) =
        (room.server.read_bytes(), fs::metadata(room.home.path().join("slow.mzML.gz")).unwrap().len());
    thread::sleep(Duration::from_millis(300));
    assert!(room.server.read_bytes() < read + 10_000, "it reads on");
    assert!(read < size, "{read} of {size} bytes: there was nothing to stop");
    assert_eq!(room.counts("after"), (0, 0), "nothing is left");

    slow::write(&room.home.path().join("slow.mzML.gz"), 0.5);
    room.begin("short", None);
    room.cancel("short");
    let answer = room.load("anew", 50);
    assert_eq!(answer["data"]["shape"]["spectrum_count"], 2, "the cancellation of another call: {answer}");
    room.server.finish(PATIENCE);
    let answered = room.server.transcript();
    assert!(!answered.contains(r#""id":"call""#), "a cancelled call gets no answer");
}

/// The same source again, right after its load was cancelled: the call begins its own, and is not told of the other's
/// cancellation.
#[test]
fn m11_a_call_after_a_cancelled_one_is_not_cancelled() {
    let mut room = Room::with(1.0);
    room.begin("call", None);
    room.wait_for_load();
    room.cancel("call");
    let at_once = room.load("at once", 50);
    assert_eq!(at_once["data"]["reused"], false, "{at_once}");
    let mut room = Room::with(1.0);
    room.begin("call", None);
    room.wait_for_load();
    room.cancel("call");
    room.wait_for_end_of_load();
    let later = room.load("later", 50);
    assert_eq!(later["data"]["reused"], false, "{later}");
    room.server.finish(PATIENCE);
}

/// A load that somebody was told of goes on, whoever leaves; so does one for which another call waits.
#[test]
fn m11_a_promised_or_shared_load_is_not_stopped() {
    let mut room = Room::with(2.5);
    assert!(is_loading(&room.load("promise", 0)));
    room.begin("waiting", None);
    room.cancel("waiting");
    thread::sleep(Duration::from_millis(500));
    assert!(room.server.has_thread("load"), "the load was promised");
    assert_eq!(room.load("after", 50)["data"]["reused"], false);

    let mut room = Room::with(2.5);
    room.begin("one", None);
    room.begin("two", None);
    room.wait_for_load();
    room.cancel("one");
    assert_eq!(room.server.answer("two")["result"]["structuredContent"]["data"]["reused"], false);
    room.server.finish(PATIENCE);
}

/// A load that ends while nobody waits keeps its outcome for the next call, forced ones too: else a client that polls
/// would start it over and over.
#[test]
fn what_ended_unattended_is_answered_to_the_next_call() {
    let mut room = Room::with(0.5);
    for (id, reload) in [("plain", false), ("forced", true)] {
        let arguments = json!({"source": "slow.mzML.gz", "wait_seconds": 0, "reload": reload});
        assert!(is_loading(&room.ask(id, arguments.clone())));
        room.wait_for_load();
        room.wait_for_end_of_load();
        let answer = room.ask(format!("{id} again"), arguments);
        assert_eq!(answer["data"]["kind"], "run", "{id}: {answer}");
        assert!(!room.server.has_thread("load"), "{id}: it was begun anew");
    }
    assert_eq!(room.counts("after"), (0, 2));
    room.server.finish(PATIENCE);
}

/// So does an error, once: the call after that tries again.
#[test]
fn an_error_while_nobody_waits_is_answered_to_the_next_call() {
    let mut room = Room::with(0.1);
    slow::write_ending(&room.home.path().join("slow.mzML.gz"), 0.5, "<spectrum");
    assert!(is_loading(&room.load("begin", 0)));
    room.wait_for_load();
    room.wait_for_end_of_load();
    let answer = room.load("error", 0);
    let error = &answer["error"];
    assert_eq!(error["code"], "truncated_source", "{answer}");
    assert!(text(&error["message"]).contains("slow.mzML.gz"), "{error}");
    assert!(is_loading(&room.load("again", 0)), "it is tried again");
    room.wait_for_load();
    room.wait_for_end_of_load();
    let retry = error["retry_with"]["arguments"].clone();
    assert_eq!(room.ask("tolerant", retry)["data"]["complete"], false);
    room.server.finish(PATIENCE);
}

/// A changed file is another one; `reload` makes another reference of the same one. What was loaded before lives on.
#[test]
fn changed_files_and_forced_loads_get_references_of_their_own() {
    let mut room = Room::with(0.1);
    let path = room.home.path().join("small.mgf");
    fs::copy(desk::fixtures().join("dda.mgf"), &path).unwrap();
    let ask = json!({"source": "small.mgf"});
    let mut runs = vec![room.ask(0, ask.clone())["data"].take()];
    let forced = json!({"source": "small.mgf", "reload": true});
    runs.push(room.ask(1, forced)["data"].take());
    let text_of_run = fs::read_to_string(&path).unwrap();
    fs::write(&path, text_of_run + "\n").unwrap();
    runs.push(room.ask(2, ask.clone())["data"].take());
    assert!(runs.iter().all(|run| run["reused"] == false), "{runs:?}");
    assert_eq!(room.ask(3, ask)["data"]["reference"], runs[2]["reference"]);
    let digest = |run: &Value| run["provenance"]["sources"][0]["digest"].clone();
    assert!(digest(&runs[0]) == digest(&runs[1]) && digest(&runs[1]) != digest(&runs[2]));
    assert_eq!(room.counts("all"), (0, 3));
    room.server.finish(PATIENCE);
}

/// The fifth load is refused as busy, and a load under way can still be asked for. The end of input ends them all, in
/// time and in order, with a call in flight as well as without.
#[test]
fn m11_too_many_loads_are_busy_and_the_end_of_input_ends_them() {
    for has_call_in_flight in [false, true] {
        let mut room = Room::with(FOR_EVER);
        let names: Vec<_> = (0..5).map(|at| format!("copy_{at}.mzML.gz")).collect();
        for name in &names {
            // all before the first load, since another link is a change of the file
            fs::hard_link(room.home.path().join("slow.mzML.gz"), room.home.path().join(name)).unwrap();
        }
        for (at, name) in names.iter().enumerate() {
            let answer = room.ask(at, json!({"source": name, "wait_seconds": 0}));
            match at {
                4 => assert_eq!(answer["error"]["code"], "busy", "{answer}"),
                _ => assert!(is_loading(&answer), "{answer}"),
            }
        }
        assert!(is_loading(&room.ask("again", json!({"source": "copy_0.mzML.gz", "wait_seconds": 0}))));
        if has_call_in_flight {
            let arguments = json!({"source": "copy_1.mzML.gz", "wait_seconds": 50});
            room.server.call("in flight", "load_run", arguments);
            room.server.request("ping", "ping", json!({}));
            room.server.answer("ping");
        }
        let took = room.server.finish(PATIENCE);
        assert!(took < Duration::from_secs(5), "{took:?}: 4 s and what a busy machine adds");
        assert!(!room.server.stderr().contains("ended now"), "by force: {}", room.server.stderr());
    }
}

/// SIGTERM ends a server at once, also in the middle of a load.
#[test]
fn m11_sigterm_ends_a_load() {
    let mut room = Room::with(FOR_EVER);
    room.begin("call", None);
    room.wait_for_load();
    room.server.terminate();
    let (status, took) = room.server.wait(PATIENCE);
    assert_eq!(status.code(), Some(0), "{}", room.server.stderr());
    assert!(took < Duration::from_secs(4), "{took:?}");
}

/// S7: a run that was loaded while nobody waited expires like any other, and its error tells how to load it again.
#[test]
fn s7_a_run_loaded_unattended_can_be_loaded_again_after_it_expired() {
    let home = TempDir::new().unwrap();
    slow::write(&home.path().join("slow.mzML.gz"), 0.3);
    let desk = Desk::over(home.path());
    let ask = json!({"source": "slow.mzML.gz", "wait_seconds": 0});
    let unattended = || {
        assert!(is_loading(&desk.answer("load_run", ask.clone())));
        let began = Instant::now();
        while desk.live_count() == 0 {
            assert!(began.elapsed() < PATIENCE);
            thread::sleep(Duration::from_millis(5));
        }
    };
    unattended();
    let run = desk.data("load_run", json!({"source": "slow.mzML.gz"}));
    desk.clock.advance(desk::TIME_TO_LIVE + Duration::from_secs(1));
    let error = desk.error("summarise_reference", json!({"reference": run["reference"]}));
    assert_eq!(error["retry_with"]["arguments"]["source"], "slow.mzML.gz", "{error}");
    // one that expired before anybody asked for it is loaded again, not answered
    unattended();
    desk.clock.advance(desk::TIME_TO_LIVE + Duration::from_secs(1));
    let again = desk.data("load_run", json!({"source": "slow.mzML.gz"}));
    desk.answer("summarise_reference", json!({"reference": again["reference"]}));
}
