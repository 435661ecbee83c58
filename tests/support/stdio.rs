//! Drives a real server process over pipes, byte by byte. Nothing here waits for ever: what does not come in
//! time fails the test, and a dropped server is killed.
//!
//! Every line of standard output is checked to be one JSON-RPC message (M11).
#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Far more than anything here should take, so that a slow machine fails nothing.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A running server.
pub(crate) struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    unread_stdout: Option<ChildStdout>,
    lines: Option<Receiver<String>>,
    seen: VecDeque<Value>,
    transcript: Arc<Mutex<String>>,
    stderr: Arc<Mutex<String>>,
    stderr_reader: Option<thread::JoinHandle<()>>,
}

impl Server {
    /// Starts a command that serves; its outputs are read as they come.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut server = Self::start_unread(command);
        server.read_stdout();
        server.read_stderr();
        server
    }

    /// Starts a command whose outputs are not read, as a hanging client would.
    pub(crate) fn start_unread(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Self {
            stdin: child.stdin.take(),
            unread_stdout: child.stdout.take(),
            lines: None,
            seen: VecDeque::new(),
            transcript: Arc::default(),
            stderr: Arc::default(),
            stderr_reader: None,
            child,
        }
    }

    /// Starts to read standard output.
    pub(crate) fn read_stdout(&mut self) {
        let stdout = BufReader::new(self.unread_stdout.take().unwrap());
        let (sender, lines) = channel();
        let transcript = Arc::clone(&self.transcript);
        thread::spawn(move || {
            for line in stdout.lines() {
                let Ok(line) = line else { return };
                transcript.lock().unwrap().extend([line.as_str(), "\n"]);
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        self.lines = Some(lines);
    }

    /// Starts to read standard error.
    pub(crate) fn read_stderr(&mut self) {
        let mut stderr = self.child.stderr.take().unwrap();
        let text = Arc::clone(&self.stderr);
        self.stderr_reader = Some(thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = stderr.read(&mut buffer) {
                text.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..read]));
            }
        }));
    }

    /// Closes the reading end of standard output.
    pub(crate) fn close_stdout(&mut self) {
        drop(self.unread_stdout.take().unwrap());
    }

    /// Writes bytes as they are.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    /// Writes bytes and the end of the line.
    pub(crate) fn write_line(&mut self, line: impl AsRef<[u8]>) {
        self.write(&[line.as_ref(), b"\n"].concat());
    }

    /// Sends a message.
    pub(crate) fn send(&mut self, message: &Value) {
        self.write_line(message.to_string());
    }

    /// Sends a request.
    pub(crate) fn request(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        self.send(&request(id, method, params));
    }

    /// Sends a notification.
    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a tool call.
    pub(crate) fn call(&mut self, id: impl Into<Value>, tool: &str, arguments: Value) {
        self.request(id, "tools/call", json!({"name": tool, "arguments": arguments}));
    }

    /// Calls a tool and gives the result, which must be one.
    pub(crate) fn result_of(&mut self, id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
        let id = id.into();
        self.call(id.clone(), tool, arguments);
        let answer = self.answer(id);
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].clone()
    }

    /// Begins a session and gives the server's own description.
    pub(crate) fn initialize(&mut self) -> Value {
        self.initialize_as("2025-11-25")
    }

    /// Begins a session with a protocol version.
    pub(crate) fn initialize_as(&mut self, version: &str) -> Value {
        self.send(&initialize_request("initialize", version));
        let answer = self.answer("initialize");
        self.notify("notifications/initialized", json!({}));
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].clone()
    }

    /// The next message, whatever it is.
    pub(crate) fn next(&mut self) -> Value {
        self.seen.pop_front().unwrap_or_else(|| self.read_message().expect("stdout ended early"))
    }

    /// The answer to a request; other messages are kept for [`Server::next`].
    pub(crate) fn answer(&mut self, id: impl Into<Value>) -> Value {
        let id = id.into();
        if let Some(place) = self.seen.iter().position(|message| is_answer_to(message, &id)) {
            return self.seen.remove(place).unwrap();
        }
        loop {
            let message =
                self.read_message().unwrap_or_else(|| panic!("stdout ended before an answer to {id}"));
            if is_answer_to(&message, &id) {
                return message;
            }
            self.seen.push_back(message);
        }
    }

    /// Every message that is still to come, up to the end of standard output.
    pub(crate) fn rest(&mut self) -> Vec<Value> {
        let mut rest: Vec<_> = std::mem::take(&mut self.seen).into();
        while let Some(message) = self.read_message() {
            rest.push(message);
        }
        rest
    }

    fn read_message(&mut self) -> Option<Value> {
        match self.lines.as_ref().expect("stdout is not read").recv_timeout(PATIENCE) {
            Ok(line) => Some(message(&line)),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no message in {PATIENCE:?}; stderr: {}", self.stderr()),
        }
    }

    /// Closes standard input.
    pub(crate) fn close_stdin(&mut self) {
        drop(self.stdin.take());
    }

    /// Waits for the end of the process; gives how long that took.
    pub(crate) fn wait(&mut self, limit: Duration) -> (ExitStatus, Duration) {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                let took = began.elapsed();
                if let Some(reader) = self.stderr_reader.take() {
                    reader.join().unwrap();
                }
                return (status, took);
            }
            assert!(began.elapsed() < limit, "still running after {limit:?}; stderr: {}", self.stderr());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Closes standard input and expects exit code 0 within `limit`.
    pub(crate) fn finish(&mut self, limit: Duration) -> Duration {
        self.close_stdin();
        let (status, took) = self.wait(limit);
        assert_eq!(status.code(), Some(0), "stderr: {}", self.stderr());
        took
    }

    /// Whether the process still runs.
    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Sends SIGTERM.
    #[cfg(unix)]
    pub(crate) fn terminate(&self) {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    }

    /// Every byte of standard output so far.
    pub(crate) fn transcript(&self) -> String {
        self.transcript.lock().unwrap().clone()
    }

    /// Whether a thread of this name lives in the process.
    pub(crate) fn has_thread(&self, name: &str) -> bool {
        let Ok(threads) = std::fs::read_dir(format!("/proc/{}/task", self.id())) else { return false };
        let names = threads.flatten().map(|thread| std::fs::read_to_string(thread.path().join("comm")));
        names.into_iter().flatten().any(|found| found.trim() == name)
    }

    /// Bytes that the process has read so far, from whatever it reads.
    pub(crate) fn read_bytes(&self) -> u64 {
        let io = std::fs::read_to_string(format!("/proc/{}/io", self.id())).unwrap();
        io.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().trim().parse().unwrap()
    }

    /// Descriptors and mappings of files without a name in `folder`.
    pub(crate) fn unnamed_files(&self, folder: &std::path::Path) -> (usize, usize) {
        let process = std::path::PathBuf::from(format!("/proc/{}", self.id()));
        let folder =
            folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).to_string_lossy().into_owned();
        let is_one = |text: &str| text.contains(&folder) && text.ends_with("(deleted)");
        let links = std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        let links = links.filter_map(|entry| entry.path().read_link().ok());
        let maps = std::fs::read_to_string(process.join("maps")).unwrap_or_default();
        let descriptors = links.filter(|link| is_one(&link.to_string_lossy())).count();
        (descriptors, maps.lines().filter(|line| is_one(line)).count())
    }

    /// Kills the process, as nothing can be caught.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// What standard error held so far.
    pub(crate) fn stderr(&self) -> String {
        self.stderr.lock().unwrap().clone()
    }

    /// Waits until standard error holds a text.
    pub(crate) fn wait_for_stderr(&self, text: &str) {
        let began = Instant::now();
        while !self.stderr().contains(text) {
            assert!(began.elapsed() < PATIENCE, "no {text:?} in stderr: {}", self.stderr());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Most memory that was resident at any time, in bytes; `None` where the system does not say.
    pub(crate) fn peak_resident_bytes(&self) -> Option<u64> {
        self.status_bytes("VmHWM:")
    }

    /// Memory that is resident now, in bytes; `None` where the system does not say.
    pub(crate) fn resident_bytes(&self) -> Option<u64> {
        self.status_bytes("VmRSS:")
    }

    /// Memory that is neither a file's nor shared, in bytes; `None` where the system does not say.
    pub(crate) fn anonymous_bytes(&self) -> Option<u64> {
        self.status_bytes("RssAnon:")
    }

    fn status_bytes(&self, name: &str) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
    }

    /// Process identifier.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request as a message.
pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

/// The request that begins a session.
pub(crate) fn initialize_request(id: impl Into<Value>, version: &str) -> Value {
    let client = json!({"name": "test", "version": "0"});
    request(id, "initialize", json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client}))
}

/// Checks that a line is one JSON-RPC message of a server, and parses it.
fn message(line: &str) -> Value {
    let message: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line:?}"));
    assert_eq!(message["jsonrpc"], "2.0", "{line}");
    let has = |name| message.get(name).is_some();
    let is_answer = has("id") && (has("result") != has("error")) && !has("method");
    let is_notification = has("method") && !has("id") && !has("result") && !has("error");
    assert!(is_answer || is_notification, "{line}");
    message
}

fn is_answer_to(message: &Value, id: &Value) -> bool {
    message.get("method").is_none() && message.get("id") == Some(id)
}
