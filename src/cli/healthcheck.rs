//! `mzarena healthcheck`: a server starts, answers and ends.

use serde_json::Value;

use super::arguments::HealthcheckArguments;
use super::console::Console;
use super::failure::Failure;
use super::pretty::counted;
use super::session::Session;
use crate::arena::ArenaFolder;

/// Checks a server process with the roots given; without any, the arena folder, which no request here looks into.
pub(super) fn run(arguments: &HealthcheckArguments, console: &mut Console<'_>) -> Result<(), Failure> {
    let mut roots = arguments.root.clone();
    if roots.is_empty() {
        let folder = ArenaFolder::from_environment().map_err(|error| Failure::failed(error.to_string()))?;
        let path = std::path::absolute(folder.path()).map_err(|error| Failure::failed(error.to_string()))?;
        roots.push(path.into_os_string());
    }
    let mut session = Session::start(roots)?;
    let server = session.initialize()?.result;
    let tools = session.request("tools/list", &Value::Object(Default::default()))?.result;
    session.finish()?;
    console.line(&verdict(&server, &tools)?)?;
    Ok(())
}

fn verdict(server: &Value, tools: &Value) -> Result<String, Failure> {
    let text =
        |value: &Value, pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let (Some(name), Some(version)) = (text(server, "/serverInfo/name"), text(server, "/serverInfo/version"))
    else {
        return Err(Failure::failed("the server does not say who it is"));
    };
    let Some(protocol) = text(server, "/protocolVersion") else {
        return Err(Failure::failed("the server does not say which protocol it speaks"));
    };
    let listed = tools.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if listed.is_empty() {
        return Err(Failure::failed("the server lists no tools"));
    }
    for tool in listed {
        let is_sound = text(tool, "/name").is_some() && tool.get("inputSchema").is_some_and(Value::is_object);
        if !is_sound {
            return Err(Failure::failed(format!(
                "the server lists a tool without a name or a schema: {tool}"
            )));
        }
    }
    let count = counted(listed.len() as u64, "tool", "tools");
    Ok(format!("ok: {name} {version} speaks protocol {protocol} and lists {count}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn m12_what_is_not_healthy_is_said() {
        let server =
            json!({"serverInfo": {"name": "mzarena", "version": "9.8.7"}, "protocolVersion": "2025-11-25"});
        let tools = json!({"tools": [{"name": "load_run", "inputSchema": {}}]});
        let words = |result: Result<String, Failure>| match result {
            Ok(text) => text,
            Err(Failure::Failed(text)) => text,
            Err(other) => panic!("{other:?}"),
        };
        let cases = [
            (&server, &tools, "ok: mzarena 9.8.7 speaks protocol 2025-11-25 and lists 1 tool"),
            (&json!({}), &tools, "the server does not say who it is"),
            (&server, &json!({"tools": []}), "the server lists no tools"),
            (
                &server,
                &json!({"tools": [{"name": "load_run"}]}),
                "the server lists a tool without a name or a schema: {\"name\":\"load_run\"}",
            ),
        ];
        for (server, tools, expected) in cases {
            assert_eq!(words(verdict(server, tools)), expected);
        }
        let mut silent = server.clone();
        silent.as_object_mut().unwrap().remove("protocolVersion");
        assert_eq!(words(verdict(&silent, &tools)), "the server does not say which protocol it speaks");
    }
}
