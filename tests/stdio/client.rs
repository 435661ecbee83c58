//! Clients that others wrote, and clients that read badly.

use std::process::Command;

use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};

use crate::scripted::TOOLS;
use crate::stdio::{PATIENCE, Server};
use crate::{Test, product, scripted_server};

pub(crate) const TESTS: &[Test] = tests![client:
    rmcps_own_client_lists_and_calls,
    rmcps_own_client_gets_on_with_the_product,
    b81_a_client_that_never_reads_stderr_gets_its_answers,
];

fn with_client<T>(command: Command, work: impl AsyncFnOnce(&rmcp::Peer<rmcp::RoleClient>) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let session = async {
            let transport = TokioChildProcess::new(tokio::process::Command::from(command)).unwrap();
            let client = ().serve(transport).await.unwrap();
            let result = work(client.peer()).await;
            client.cancel().await.unwrap();
            result
        };
        tokio::time::timeout(PATIENCE, session).await.expect("rmcp's client hangs")
    })
}

async fn call(client: &rmcp::Peer<rmcp::RoleClient>, tool: &'static str, arguments: Value) -> CallToolResult {
    let mut request = CallToolRequestParams::new(tool);
    request.arguments = arguments.as_object().cloned();
    client.call_tool(request).await.unwrap()
}

pub(crate) fn rmcps_own_client_lists_and_calls() {
    with_client(scripted_server(), async |client| {
        let tools = client.list_all_tools().await.unwrap();
        assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), TOOLS);
        let result = call(client, "echo", json!({"a": [1, 2]})).await;
        assert_eq!(result.is_error, Some(false));
        assert_eq!(result.structured_content.unwrap()["data"]["arguments"]["a"], json!([1, 2]));
        for (tool, code) in [("refuse", "store_limit"), ("panic", "internal")] {
            let result = call(client, tool, json!({})).await;
            assert_eq!(result.is_error, Some(true));
            assert_eq!(result.structured_content.unwrap()["error"]["code"], code);
        }
        assert!(client.call_tool(CallToolRequestParams::new("no_such_tool")).await.is_err());
    });
}

pub(crate) fn rmcps_own_client_gets_on_with_the_product() {
    with_client(product(), async |client| {
        client.list_all_tools().await.unwrap();
        assert_eq!(client.peer_info().unwrap().server_info.as_ref().unwrap().name, "mzarena");
    });
}

pub(crate) fn b81_a_client_that_never_reads_stderr_gets_its_answers() {
    let mut server = Server::start_unread(scripted_server().env("MZARENA_LOG", "trace"));
    server.read_stdout();
    server.initialize();
    for id in 0..300 {
        let tool = if id % 10 == 0 { "panic" } else { "echo" };
        server.result_of(id, tool, json!({"padding": "x".repeat(1000)}));
    }
    server.finish(PATIENCE);
}
