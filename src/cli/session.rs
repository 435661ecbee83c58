//! A client of our own server: starts it as a process, speaks JSON-RPC lines over its pipes, counts their bytes.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::failure::Failure;

/// The revision of the protocol that is asked for.
const PROTOCOL_VERSION: &str = "2025-11-25";

/// Longest wait for an answer: a load waits 40 s by itself.
const ANSWER_WAIT: Duration = Duration::from_secs(120);

/// Longest wait for the end after standard input is closed; large arenas take their time.
const END_WAIT: Duration = Duration::from_secs(60);

/// Longest wait for what an ended server wrote last.
const LAST_WORDS_WAIT: Duration = Duration::from_secs(5);

/// Time between two looks at the server's process.
const POLL: Duration = Duration::from_millis(5);

/// Most of the server's standard error that is kept, in bytes; the last ones tell why it ended.
const KEPT_STDERR: usize = 4096;

/// A request, its answer, and their sizes on the wire.
#[derive(Debug)]
pub(super) struct Exchange {
    /// The `result` of the answer.
    pub(super) result: Value,
    /// Bytes of the request, with the end of its line.
    pub(super) sent: u64,
    /// Bytes of the answer, with the end of its line and with notifications that came before it.
    pub(super) received: u64,
}

/// A server process; killed when dropped.
pub(super) struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Arc<Mutex<Vec<u8>>>,
    stderr_reader: Option<thread::JoinHandle<()>>,
    last_id: u64,
    sent: u64,
    received: u64,
}

impl Session {
    /// Starts this program as `serve` with `roots`, each as `--root` takes it.
    pub(super) fn start(roots: impl IntoIterator<Item = OsString>) -> Result<Self, Failure> {
        let cannot = |error| Failure::failed(format!("the server cannot be started: {error}"));
        let mut command = Command::new(std::env::current_exe().map_err(cannot)?);
        command.arg("serve");
        for root in roots {
            // one word, so that a folder may begin with a dash
            let mut option = OsString::from("--root=");
            option.push(root);
            command.arg(option);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(cannot)?;
        let stdin = child.stdin.take();
        let (sender, lines) = channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                let mut lines = BufReader::new(stdout).lines();
                while let Some(Ok(line)) = lines.next() {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        let stderr = Arc::default();
        let stderr_reader = child.stderr.take().map(|source| {
            let kept = Arc::clone(&stderr);
            thread::spawn(move || keep_last(source, &kept))
        });
        Ok(Self { child, stdin, lines, stderr, stderr_reader, last_id: 0, sent: 0, received: 0 })
    }

    /// The server's process id.
    pub(super) fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Bytes that crossed the protocol so far: to the server, and from it.
    pub(super) fn bytes(&self) -> (u64, u64) {
        (self.sent, self.received)
    }

    /// The handshake.
    pub(super) fn initialize(&mut self) -> Result<Exchange, Failure> {
        let client = json!({ "name": "mzarena", "version": env!("CARGO_PKG_VERSION") });
        let params = json!({ "protocolVersion": PROTOCOL_VERSION, "capabilities": {}, "clientInfo": client });
        let exchange = self.request("initialize", &params)?;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(exchange)
    }

    /// Sends a request and waits for its answer.
    pub(super) fn request(&mut self, method: &str, params: &Value) -> Result<Exchange, Failure> {
        let (sent_before, received_before) = self.bytes();
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        let sent = self.sent - sent_before;
        let deadline = Instant::now() + ANSWER_WAIT;
        loop {
            let answer = self.receive(method, deadline)?;
            if answer.get("id").and_then(Value::as_u64) != Some(id) {
                continue;
            }
            let received = self.received - received_before;
            if let Some(result) = answer.get("result") {
                return Ok(Exchange { result: result.clone(), sent, received });
            }
            let message = answer.pointer("/error/message").and_then(Value::as_str).unwrap_or("no message");
            return Err(Failure::failed(format!("the server refused {method}: {message}")));
        }
    }

    /// Closes the server's input and waits until it has ended, which must be without a failure.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        drop(self.stdin.take());
        match self.wait_for_end(END_WAIT) {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(self.ended(status)),
            None => Err(Failure::failed(format!(
                "the server did not end within {} s after its input was closed",
                END_WAIT.as_secs()
            ))),
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), Failure> {
        let line = format!("{message}\n");
        let written = match self.stdin.as_mut() {
            Some(stdin) => stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush()),
            None => Ok(()),
        };
        match written {
            Ok(()) => {
                self.sent += line.len() as u64;
                Ok(())
            }
            Err(error) => Err(self.gone(&error.to_string())),
        }
    }

    fn receive(&mut self, method: &str, deadline: Instant) -> Result<Value, Failure> {
        match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                self.received += line.len() as u64 + 1;
                serde_json::from_str(&line).map_err(|error| {
                    Failure::failed(format!("the server wrote a line that is not JSON ({error}): {line}"))
                })
            }
            Err(RecvTimeoutError::Timeout) => Err(Failure::failed(format!(
                "the server did not answer {method} within {} s",
                ANSWER_WAIT.as_secs()
            ))),
            Err(RecvTimeoutError::Disconnected) => Err(self.gone("its output has ended")),
        }
    }

    /// The server cannot be spoken to any more: says why, as far as it can be found out.
    fn gone(&mut self, symptom: &str) -> Failure {
        match self.wait_for_end(Duration::from_secs(5)) {
            Some(status) => self.ended(status),
            None => Failure::failed(format!("the server cannot be spoken to: {symptom}")),
        }
    }

    fn ended(&self, status: ExitStatus) -> Failure {
        // Its last words may still be in the pipe.
        let deadline = Instant::now() + LAST_WORDS_WAIT;
        while self.stderr_reader.as_ref().is_some_and(|reader| !reader.is_finished())
            && Instant::now() < deadline
        {
            thread::sleep(POLL);
        }
        let stderr = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let said = String::from_utf8_lossy(&stderr);
        let said = if said.trim().is_empty() { "nothing" } else { said.trim() };
        Failure::failed(format!("the server ended ({status}); it said: {said}"))
    }

    fn wait_for_end(&mut self, limit: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + limit;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < deadline => thread::sleep(POLL),
                _ => return None,
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads to the end, so that the server is never held up, and keeps the last bytes.
fn keep_last(mut source: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = source.read(&mut buffer) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(buffer.get(..count).unwrap_or_default());
        let excess = kept.len().saturating_sub(KEPT_STDERR);
        kept.drain(..excess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_standard_error_the_end_is_kept() {
        let kept = Mutex::new(Vec::new());
        let text = (0..5000).map(|line| format!("{line}\n")).collect::<String>();
        keep_last(text.as_bytes(), &kept);
        let kept = kept.into_inner().unwrap();
        assert_eq!(kept.len(), KEPT_STDERR);
        assert!(kept.ends_with(b"4998\n4999\n"));
    }
}
