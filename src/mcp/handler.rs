//! Requests to tool calls: bounded in number, each on a blocking thread, watched and stoppable.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
    ErrorCode as RpcCode, ErrorData, ListToolsResult, PaginatedRequestParams, ProgressToken, ProtocolVersion,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::transport::{Outbox, SideDoor};
use super::{ToolHost, frame, wire};
use crate::code::ErrorCode;
use crate::observe::Observer;
use crate::tools::Outcome;

/// Calls that run at the same time; others wait for their turn. Loads wait inside a call, so this is well
/// above the number of processors.
const RUNNING_CALLS: usize = 48;

/// Shortest time between two progress notifications of a call.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// How long a cancelled call may take to notice; less than the server waits for its end.
const HEEDING_TIME: Duration = Duration::from_millis(500);

/// Serves a host's tools. Clones share everything.
pub(super) struct Handler<H> {
    host: Arc<H>,
    outbox: Outbox,
    turns: Arc<Semaphore>,
    tools: Arc<OnceLock<Vec<Tool>>>,
}

impl<H> Clone for Handler<H> {
    fn clone(&self) -> Self {
        Self {
            host: Arc::clone(&self.host),
            outbox: self.outbox.clone(),
            turns: Arc::clone(&self.turns),
            tools: Arc::clone(&self.tools),
        }
    }
}

impl<H: ToolHost> Handler<H> {
    /// Serves `host`; progress goes to `outbox`.
    pub(super) fn new(host: Arc<H>, outbox: Outbox) -> Self {
        Self { host, outbox, turns: Arc::new(Semaphore::new(RUNNING_CALLS)), tools: Arc::default() }
    }

    fn tools(&self) -> &[Tool] {
        self.tools.get_or_init(|| self.host.descriptions().into_iter().map(wire::tool).collect())
    }

    fn has_tool(&self, name: &str) -> bool {
        self.tools().iter().any(|tool| tool.name == name)
    }

    /// Runs a tool; `None` where the host has none of that name.
    async fn run(
        &self,
        name: String,
        arguments: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Option<Outcome> {
        let cancelled = || Some(wire::error(ErrorCode::Cancelled, "the call was cancelled", None));
        let turn = tokio::select! {
            biased;
            () = context.ct.cancelled() => return cancelled(),
            turn = Arc::clone(&self.turns).acquire_owned() => turn,
        };
        let watch =
            CallWatch::new(context.ct.clone(), context.meta.get_progress_token(), self.outbox.side_door());
        let host = Arc::clone(&self.host);
        let internal = wire::error(ErrorCode::Internal, &format!("{name} failed unexpectedly"), None);
        let call = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            host.call(&name, arguments, &watch)
        });
        tokio::select! {
            // A panic has been logged by its hook; its text is nothing for the client.
            outcome = call => outcome.unwrap_or(Some(internal)),
            // The thread of a call that does not heed goes on, and keeps its turn; the session need not wait.
            () = heeding_time_over(&context.ct) => cancelled(),
        }
    }
}

impl<H: ToolHost> ServerHandler for Handler<H> {
    fn get_info(&self) -> ServerConfig {
        wire::server_config()
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools().to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let began = Instant::now();
        let name = request.name.into_owned();
        let unknown = ErrorData::invalid_params(wire::unknown_tool(&name), None);
        if !self.has_tool(&name) {
            return Err(unknown);
        }
        let outcome = self.run(name, request.arguments.unwrap_or_default(), &context).await.ok_or(unknown)?;
        Ok(wire::result(outcome, began.elapsed()).into())
    }

    /// What rmcp cannot read as a request that it knows.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let Some(name) = frame::unfit_call(request.params.as_ref(), &request.method) else {
            let message = format!("unknown method {}", frame::excerpt(&request.method));
            return Err(ErrorData::new(RpcCode::METHOD_NOT_FOUND, message, None));
        };
        if !self.has_tool(name) {
            return Err(ErrorData::invalid_params(wire::unknown_tool(name), None));
        }
        let outcome =
            wire::error(ErrorCode::InvalidArgument, "`arguments` must be an object", Some("arguments"));
        let mut result: CallToolResult = wire::result(outcome, Duration::ZERO);
        // rmcp does this for results whose type it knows.
        if context.protocol_version().is_none_or(|version| version < ProtocolVersion::V_2026_07_28) {
            result.result_type = None;
        }
        serde_json::to_value(result)
            .map(CustomResult)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}

/// Ends [`HEEDING_TIME`] after a cancellation.
async fn heeding_time_over(cancelled: &CancellationToken) {
    cancelled.cancelled().await;
    tokio::time::sleep(HEEDING_TIME).await;
}

/// Watches one call: progress goes straight to the outbox, so that none can follow the call's answer.
struct CallWatch {
    cancelled: CancellationToken,
    token: Option<ProgressToken>,
    outbox: SideDoor,
    last: Mutex<Option<(Instant, u64)>>,
}

impl CallWatch {
    fn new(cancelled: CancellationToken, token: Option<ProgressToken>, outbox: SideDoor) -> Self {
        Self { cancelled, token, outbox, last: Mutex::new(None) }
    }
}

/// Whether progress is worth a notification: more than the last, and not too soon after it unless it is all.
fn is_due(last: Option<(Instant, u64)>, now: Instant, done: u64, total: Option<u64>) -> bool {
    let Some((at, before)) = last else { return true };
    done > before && (now.duration_since(at) >= PROGRESS_INTERVAL || total == Some(done))
}

impl Observer for CallWatch {
    fn progress(&self, done: u64, total: Option<u64>) {
        let Some(token) = &self.token else { return };
        // Several threads may report; whoever finds another at it has nothing to add.
        let Ok(mut last) = self.last.try_lock() else { return };
        let now = Instant::now();
        if !is_due(*last, now, done, total) || self.cancelled.is_cancelled() {
            return;
        }
        *last = Some((now, done));
        if let Some(line) = wire::progress(token.clone(), done, total) {
            self.outbox.offer(line);
        }
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.is_cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m11_progress_grows_and_is_not_reported_too_often() {
        let start = Instant::now();
        let later = start + PROGRESS_INTERVAL;
        let last = Some((start, 10));
        assert!(is_due(None, start, 0, None));
        assert!(is_due(last, later, 11, Some(20)));
        assert!(!is_due(last, later, 10, Some(20)), "no step forward");
        assert!(!is_due(last, later, 5, None), "a step back");
        assert!(!is_due(last, start, 11, Some(20)), "too soon");
        assert!(is_due(last, start, 20, Some(20)), "the end is always worth it");
    }
}
