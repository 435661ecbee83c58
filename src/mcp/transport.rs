//! The pipe to rmcp: one thread reads standard input, one writes standard output, bounded queues between.
//!
//! rmcp's own standard input cannot be stopped while a client neither reads nor writes. Here nothing that
//! may hang runs on the runtime, and a client that does not read is not read from either.

use std::collections::{HashSet, VecDeque};
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, GetMeta, JsonRpcMessage,
    JsonRpcRequest, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::sync::{mpsc, watch};

use super::frame::{self, Incoming, Line};
use super::stop::Stop;

/// Messages that are read ahead.
const WAITING_MESSAGES: usize = 64;

/// Answers that wait for the client to read.
const WAITING_ANSWERS: usize = 64;

/// Requests without an answer, after which no more are read.
const MOST_CALLS: usize = 256;

/// Identifiers of cancelled requests that are remembered; they must not be used again.
const REMEMBERED_CANCELLED: usize = 1024;

/// After this without any progress a closed input is believed although unread messages lie before its end.
const STALL: Duration = Duration::from_secs(2);

/// Where finished lines go; they are written in this order.
#[derive(Clone)]
pub(super) struct Outbox(mpsc::Sender<Vec<u8>>);

impl Outbox {
    /// A way in that does not keep the writer waiting for more.
    pub(super) fn side_door(&self) -> SideDoor {
        SideDoor(self.0.downgrade())
    }

    async fn send(&self, line: Vec<u8>) -> io::Result<()> {
        self.0.send(line).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

/// For what may be lost, such as progress. A call that never returns holds one, and must not hold up the end.
pub(super) struct SideDoor(mpsc::WeakSender<Vec<u8>>);

impl SideDoor {
    /// Queues a line if there is room.
    pub(super) fn offer(&self, line: Vec<u8>) {
        if let Some(sender) = self.0.upgrade() {
            let _ = sender.try_send(line);
        }
    }
}

/// Starts the thread that writes `output`; it ends when every [`Outbox`] is gone, or with the output.
///
/// # Errors
/// When the system gives no thread.
pub(super) fn start_writer(
    mut output: impl Write + Send + 'static,
    stop: Arc<Stop>,
    written: Arc<AtomicU64>,
) -> io::Result<(Outbox, JoinHandle<()>)> {
    let (sender, mut lines) = mpsc::channel::<Vec<u8>>(WAITING_ANSWERS);
    let writer = thread::Builder::new().name("writer".to_owned()).spawn(move || {
        while let Some(line) = lines.blocking_recv() {
            if let Err(error) = output.write_all(&line).and_then(|()| output.flush()) {
                tracing::warn!("standard output cannot be written, so the server ends: {error}");
                // A client that has gone is the usual end; a full disk behind the output is not.
                if error.kind() != io::ErrorKind::BrokenPipe {
                    stop.fail();
                }
                lines.close();
                stop.ask_at_once();
                return;
            }
            written.fetch_add(1, Ordering::Relaxed);
        }
    })?;
    Ok((Outbox(sender), writer))
}

/// Starts the thread that reads standard input to its end, and asks `stop` then.
///
/// # Errors
/// When the system gives no thread.
pub(super) fn start_reader(stop: Arc<Stop>, written: Arc<AtomicU64>) -> io::Result<mpsc::Receiver<Incoming>> {
    let (sender, messages) = mpsc::channel(WAITING_MESSAGES);
    thread::Builder::new().name("reader".to_owned()).spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            let incoming = match frame::read_line(&mut input, frame::LONGEST_LINE) {
                Ok(Line::Whole(line)) => frame::parse(&line),
                Ok(Line::TooLong) => Some(frame::too_long()),
                Ok(Line::End) => break,
                Err(error) => {
                    tracing::warn!("standard input cannot be read, so the server ends: {error}");
                    break;
                }
            };
            if let Some(incoming) = incoming
                && !deliver(&sender, incoming, &written)
            {
                break;
            }
        }
        stop.ask();
    })?;
    Ok(messages)
}

/// Hands a message on, waiting for room. Gives up when the server has ended, and when the client has closed
/// its end while nothing moves: a plain blocking send would never see that.
fn deliver(sender: &mpsc::Sender<Incoming>, mut incoming: Incoming, written: &AtomicU64) -> bool {
    let mut pause = Duration::from_millis(1);
    let (mut seen, mut since) = (written.load(Ordering::Relaxed), Instant::now());
    loop {
        match sender.try_send(incoming) {
            Ok(()) => return true,
            Err(mpsc::error::TrySendError::Closed(_)) => return false,
            Err(mpsc::error::TrySendError::Full(returned)) => incoming = returned,
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
        let now = written.load(Ordering::Relaxed);
        if now != seen {
            (seen, since) = (now, Instant::now());
        } else if since.elapsed() > STALL && is_input_closed() {
            return false;
        }
    }
}

/// Whether the other end of standard input is closed, whatever lies unread before that end.
#[cfg(unix)]
fn is_input_closed() -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    let input = io::stdin();
    #[cfg(target_os = "linux")]
    let closed = PollFlags::HUP | PollFlags::RDHUP;
    #[cfg(not(target_os = "linux"))]
    let closed = PollFlags::HUP;
    let mut polled = [PollFd::new(&input, closed)];
    let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&now)).is_ok() && polled.iter().any(|input| input.revents().intersects(closed))
}

/// There is no such question here: a client that neither reads nor goes away must be ended by its host.
#[cfg(not(unix))]
fn is_input_closed() -> bool {
    false
}

/// Requests that have been passed to rmcp and not been answered.
#[derive(Clone)]
struct Calls {
    state: Arc<Mutex<CallState>>,
    /// Requests whose answer is not in the outbox yet.
    unanswered: Arc<watch::Sender<usize>>,
}

#[derive(Default)]
struct CallState {
    in_flight: HashSet<RequestId>,
    cancelled: VecDeque<RequestId>,
}

impl Calls {
    fn new() -> Self {
        Self { state: Arc::default(), unanswered: Arc::new(watch::Sender::new(0)) }
    }

    fn lock(&self) -> MutexGuard<'_, CallState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a request; the reason where its identifier cannot be used.
    fn begin(&self, id: &RequestId) -> Result<(), &'static str> {
        let mut state = self.lock();
        if state.cancelled.contains(id) {
            return Err("belonged to a request that was cancelled");
        }
        if !state.in_flight.insert(id.clone()) {
            return Err("belongs to a request that is not answered yet");
        }
        self.unanswered.send_modify(|count| *count += 1);
        Ok(())
    }

    /// Frees an identifier before its answer is sent, since a client may use it again at once. Whether there
    /// was such a request; then [`Calls::answered`] must follow.
    fn free(&self, id: &RequestId) -> bool {
        self.lock().in_flight.remove(id)
    }

    /// Notes that an answer is in the outbox.
    fn answered(&self) {
        self.unanswered.send_modify(|count| *count = count.saturating_sub(1));
    }

    /// A cancelled request gets no answer. Its call may still run, and rmcp would give that call's late
    /// answer to a new request of the same identifier.
    fn cancel(&self, id: &RequestId) {
        let mut state = self.lock();
        if state.in_flight.remove(id) {
            state.cancelled.push_back(id.clone());
            if state.cancelled.len() > REMEMBERED_CANCELLED {
                state.cancelled.pop_front();
            }
            drop(state);
            self.answered();
        }
    }

    async fn wait_until_fewer_than(&self, limit: usize) {
        let _ = self.unanswered.subscribe().wait_for(|count| *count < limit).await;
    }
}

/// What is read; outlives a session that did not begin properly.
struct Inbox {
    messages: mpsc::Receiver<Incoming>,
    /// A refusal that waits for room in the outbox. Kept here because rmcp drops `receive` at any await.
    refusal: Option<Vec<u8>>,
    has_begun: bool,
}

/// rmcp's transport. Clones share everything.
#[derive(Clone)]
pub(super) struct Pipe {
    inbox: Arc<tokio::sync::Mutex<Inbox>>,
    outbox: Outbox,
    calls: Calls,
}

impl Pipe {
    /// Joins what the two threads give.
    pub(super) fn new(messages: mpsc::Receiver<Incoming>, outbox: Outbox) -> Self {
        let inbox = Inbox { messages, refusal: None, has_begun: false };
        Self { inbox: Arc::new(tokio::sync::Mutex::new(inbox)), outbox, calls: Calls::new() }
    }

    /// Lets a message through to rmcp, or gives the line that refuses it.
    fn admit(&self, message: &ClientJsonRpcMessage, has_begun: &mut bool) -> Result<(), Vec<u8>> {
        match message {
            JsonRpcMessage::Request(request) => {
                *has_begun |= matches!(request.request, ClientRequest::InitializeRequest(_));
                if !*has_begun && !stands_alone(request) {
                    let why = "the session has not begun: send initialize first";
                    let id = request.id.clone().into_json_value();
                    return Err(frame::error_line(ErrorCode::INVALID_REQUEST, why, Some(&id)));
                }
                // With a null id, so that the first request keeps the only answer with its own.
                self.calls.begin(&request.id).map_err(|why| {
                    let id = frame::excerpt(&request.id.to_string());
                    frame::error_line(ErrorCode::INVALID_REQUEST, &format!("the id {id} {why}"), None)
                })
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.calls.cancel(id);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Whether a request may come before `initialize`: those that the protocol allows, and those that carry what
/// a session would have agreed on.
fn stands_alone(request: &JsonRpcRequest<ClientRequest>) -> bool {
    matches!(request.request, ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_))
        || request.request.get_meta().protocol_version().is_some()
}

impl Transport<RoleServer> for Pipe {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let line = encode(&message);
        let id = match message {
            JsonRpcMessage::Response(response) => Some(response.id),
            JsonRpcMessage::Error(error) => error.id,
            _ => None,
        };
        let is_answer = id.is_some_and(|id| self.calls.free(&id));
        let (outbox, calls) = (self.outbox.clone(), self.calls.clone());
        async move {
            let sent = match line {
                Ok(line) => outbox.send(line).await,
                Err(error) => Err(error),
            };
            if is_answer {
                calls.answered();
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let mut inbox = self.inbox.lock().await;
        loop {
            if inbox.refusal.is_some() {
                let room = self.outbox.0.reserve().await.ok()?;
                if let Some(line) = inbox.refusal.take() {
                    room.send(line);
                }
            }
            self.calls.wait_until_fewer_than(MOST_CALLS).await;
            match inbox.messages.recv().await {
                Some(Incoming::Refused(line)) => inbox.refusal = Some(line),
                Some(Incoming::Message(message)) => match self.admit(&message, &mut inbox.has_begun) {
                    Ok(()) => return Some(*message),
                    Err(line) => inbox.refusal = Some(line),
                },
                None => return None,
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A message as one line.
pub(super) fn encode(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::{EmptyResult, ServerResult};

    #[test]
    fn an_identifier_serves_one_request_at_a_time_and_none_after_a_cancellation() {
        let calls = Calls::new();
        let (number, text) = (RequestId::Number(1), RequestId::String("1".into()));
        assert!(calls.begin(&number).is_ok());
        assert!(calls.begin(&text).is_ok());
        assert!(calls.begin(&number).unwrap_err().contains("not answered"));
        assert!(calls.free(&number));
        calls.answered();
        assert!(calls.begin(&number).is_ok());
        calls.cancel(&number);
        assert!(calls.begin(&number).unwrap_err().contains("cancelled"));
        // Cancelling what is not in flight reserves nothing.
        assert!(calls.free(&text));
        calls.answered();
        assert!(!calls.free(&text));
        calls.cancel(&text);
        assert!(calls.begin(&text).is_ok());
        assert_eq!(*calls.unanswered.borrow(), 1);
    }

    #[test]
    fn cancelled_identifiers_are_bounded() {
        let calls = Calls::new();
        for id in 0..REMEMBERED_CANCELLED as i64 + 5 {
            calls.begin(&RequestId::Number(id)).unwrap();
            calls.cancel(&RequestId::Number(id));
        }
        assert_eq!(calls.lock().cancelled.len(), REMEMBERED_CANCELLED);
        assert!(calls.begin(&RequestId::Number(0)).is_ok());
    }

    fn ping(id: i64) -> Incoming {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        frame::parse(line.as_bytes()).unwrap()
    }

    fn is_pending(future: impl Future) -> bool {
        let mut future = std::pin::pin!(future);
        future.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).is_pending()
    }

    #[tokio::test]
    async fn no_more_is_read_than_may_wait_for_answers() {
        let (sender, messages) = mpsc::channel(MOST_CALLS + 1);
        let (answers, mut lines) = mpsc::channel(1);
        let mut pipe = Pipe::new(messages, Outbox(answers));
        for id in 0..=MOST_CALLS as i64 {
            sender.try_send(ping(id)).unwrap();
        }
        for _ in 0..MOST_CALLS {
            pipe.receive().await.unwrap();
        }
        assert!(is_pending(pipe.receive()));
        let empty = || ServerResult::EmptyResult(EmptyResult {});
        pipe.send(ServerJsonRpcMessage::response(empty(), RequestId::Number(5))).await.unwrap();
        pipe.receive().await.unwrap();
        // An answer that finds no room in the outbox makes no room here.
        let waiting = pipe.send(ServerJsonRpcMessage::response(empty(), RequestId::Number(6)));
        assert!(is_pending(waiting));
        assert!(is_pending(pipe.receive()));
        assert!(lines.recv().await.unwrap().starts_with(br#"{"jsonrpc":"2.0","id":5,"#));
    }

    #[tokio::test]
    async fn a_refusal_survives_an_interrupted_receive() {
        let (sender, messages) = mpsc::channel(2);
        let (answers, mut lines) = mpsc::channel(1);
        answers.try_send(b"first".to_vec()).unwrap();
        let mut pipe = Pipe::new(messages, Outbox(answers));
        sender.try_send(frame::parse(b"{").unwrap()).unwrap();
        sender.try_send(ping(1)).unwrap();
        assert!(is_pending(pipe.receive()), "there is no room for the refusal");
        assert_eq!(lines.recv().await.unwrap(), b"first");
        assert!(pipe.receive().await.is_some());
        assert!(String::from_utf8(lines.recv().await.unwrap()).unwrap().contains("-32700"));
    }
}
