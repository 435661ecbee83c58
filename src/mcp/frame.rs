//! Bytes to messages: one line at a time, bounded before it is kept and checked before rmcp sees it.
//!
//! What is no message is refused with an answer that says why; the session goes on. rmcp itself ignores
//! such lines or ends the session, which leaves a client waiting.

use std::io::{self, BufRead};

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, JsonRpcMessage};
use serde_json::{Value, json};

/// Longest line that is kept, in bytes; longer ones are skipped while they are read.
pub(super) const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// Lines longer than this many bytes are weighed before they are parsed.
const WEIGHED_LINE: usize = 256 * 1024;

/// Most commas in a weighed line: each value of a parsed line takes many times its text in memory.
const MOST_COMMAS: usize = 200_000;

/// Longest text of a client that is repeated in an answer, in characters.
const LONGEST_EXCERPT: usize = 64;

/// What one read gave.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line, without its end; the last one may lack one.
    Whole(Vec<u8>),
    /// A line over [`LONGEST_LINE`]; it was skipped.
    TooLong,
    /// The input has ended.
    End,
}

/// What one line holds.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A request or notification for rmcp.
    Message(Box<ClientJsonRpcMessage>),
    /// Nothing that can be served; the finished line that says why.
    Refused(Vec<u8>),
}

/// Reads one line. Memory stays under the limit however long the line is.
///
/// # Errors
/// What the input gives, interruptions apart.
pub(super) fn read_line(input: &mut impl BufRead, limit: usize) -> io::Result<Line> {
    let mut line = Vec::new();
    let mut too_long = false;
    loop {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            return Ok(match (too_long, line.is_empty()) {
                (true, _) => Line::TooLong,
                (false, true) => Line::End,
                (false, false) => Line::Whole(line),
            });
        }
        let end = memchr::memchr(b'\n', available);
        let (text, taken) = match end {
            Some(end) => (available.get(..end).unwrap_or_default(), end + 1),
            None => (available, available.len()),
        };
        if !too_long && line.len() + text.len() > limit {
            too_long = true;
            line = Vec::new();
        }
        if !too_long {
            line.extend_from_slice(text);
        }
        input.consume(taken);
        if end.is_some() {
            return Ok(if too_long { Line::TooLong } else { Line::Whole(line) });
        }
    }
}

/// Makes a message of a line; `None` for a blank one and for what needs no answer.
pub(super) fn parse(line: &[u8]) -> Option<Incoming> {
    // Some hosts start their output with a byte order mark; RFC 8259 lets a parser ignore it.
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return None;
    }
    if line.len() > WEIGHED_LINE && memchr::memchr_iter(b',', line).count() > MOST_COMMAS {
        let why = format!("the message holds more than {MOST_COMMAS} commas; it was not parsed");
        return Some(refuse(ErrorCode::INVALID_REQUEST, &why, None));
    }
    match serde_json::from_slice::<Value>(line) {
        Ok(value) => classify(value),
        Err(error) => {
            let why = format!("the line is not JSON that can be read: {error}");
            Some(refuse(ErrorCode::PARSE_ERROR, &why, None))
        }
    }
}

/// The answer to a line that was too long.
pub(super) fn too_long() -> Incoming {
    let why = format!("the line is longer than {LONGEST_LINE} bytes; it was skipped");
    refuse(ErrorCode::INVALID_REQUEST, &why, None)
}

/// A finished line that refuses a request; `id` is null where it cannot be told.
pub(super) fn error_line(code: ErrorCode, message: &str, id: Option<&Value>) -> Vec<u8> {
    let error = json!({"code": code.0, "message": message});
    let mut line = json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string().into_bytes();
    line.push(b'\n');
    line
}

/// The start of a client's text, short enough to be repeated.
pub(super) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(LONGEST_EXCERPT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn refuse(code: ErrorCode, message: &str, id: Option<&Value>) -> Incoming {
    Incoming::Refused(error_line(code, message, id))
}

fn classify(value: Value) -> Option<Incoming> {
    let invalid = |why: &str, id: Option<&Value>| Some(refuse(ErrorCode::INVALID_REQUEST, why, id));
    let Value::Object(mut message) = value else {
        return match value {
            Value::Array(_) => invalid("batches are not served; send one message per line", None),
            _ => invalid("a message is a JSON object", None),
        };
    };
    let id = message.get("id").cloned();
    let known_id = id.as_ref().filter(|id| is_id(id));
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid("`jsonrpc` must be \"2.0\"", known_id);
    }
    let answers = message.contains_key("result") || message.contains_key("error");
    let method = match message.get("method") {
        // This server asks its clients nothing, so an answer belongs to no question.
        None if answers => return None,
        Some(Value::String(method)) if !answers => method.clone(),
        _ => return invalid("a message needs a `method`, as a string, and no `result` or `error`", known_id),
    };
    if id.is_some() && known_id.is_none() {
        return invalid("`id` must be a string or an integer", None);
    }
    // Null stands for absent, as everywhere in this surface.
    if message.get("params").is_some_and(Value::is_null) {
        message.remove("params");
    }
    if message.get("params").is_some_and(|params| !params.is_object()) {
        return id.map(|id| refuse(ErrorCode::INVALID_PARAMS, "`params` must be an object", Some(&id)));
    }
    let unfit = format!("the params of {} are missing or of the wrong type", excerpt(&method));
    match serde_json::from_value::<ClientJsonRpcMessage>(Value::Object(message)) {
        Ok(message) if is_unfit(&message) => {
            id.map(|id| refuse(ErrorCode::INVALID_PARAMS, &unfit, Some(&id)))
        }
        Ok(message) => Some(Incoming::Message(Box::new(message))),
        Err(_) => id.map(|id| refuse(ErrorCode::INVALID_PARAMS, &unfit, Some(&id))),
    }
}

/// Strings and integers, also those that are written as `1.0`.
fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64() || id.as_f64().is_some_and(|id| id.fract() == 0.0 && id.abs() < 9e15)
}

/// Whether rmcp knows the method and could not read its params: it then hands the request on as one of an
/// unknown method. A call whose `arguments` are no object passes, since a tool result can answer it.
fn is_unfit(message: &ClientJsonRpcMessage) -> bool {
    const KNOWN: &[&str] = &[
        "initialize",
        "server/discover",
        "ping",
        "tools/list",
        "tools/call",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
        "completion/complete",
    ];
    let JsonRpcMessage::Request(request) = message else { return false };
    let ClientRequest::CustomRequest(custom) = &request.request else { return false };
    KNOWN.contains(&custom.method.as_str()) && unfit_call(custom.params.as_ref(), &custom.method).is_none()
}

/// The tool's name, where a request of an unknown shape is a call whose `arguments` are no object.
pub(super) fn unfit_call<'a>(params: Option<&'a Value>, method: &str) -> Option<&'a str> {
    let params = params.filter(|_| method == "tools/call")?;
    let arguments = params.get("arguments")?;
    if arguments.is_object() || arguments.is_null() {
        return None;
    }
    params.get("name")?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(line: &[u8]) -> (i64, Value) {
        match parse(line) {
            Some(Incoming::Refused(answer)) => {
                let answer: Value = serde_json::from_slice(&answer).unwrap();
                (answer["error"]["code"].as_i64().unwrap(), answer["id"].clone())
            }
            other => panic!("{}: {other:?}", String::from_utf8_lossy(line)),
        }
    }

    #[test]
    fn b72_what_is_no_message_is_refused_with_the_id_where_it_can_be_read() {
        let deep = [vec![b'['; 200], vec![b']'; 200]].concat();
        let cases: &[(&[u8], i64, Value)] = &[
            (b"{", -32700, Value::Null),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", -32700, Value::Null),
            (&deep, -32700, Value::Null),
            (b"{}{}", -32700, Value::Null),
            (b"[]", -32600, Value::Null),
            (b"7", -32600, Value::Null),
            (b"{}", -32600, Value::Null),
            (br#"{"id":4,"method":"ping"}"#, -32600, json!(4)),
            (br#"{"jsonrpc":"2.0","id":"a"}"#, -32600, json!("a")),
            (br#"{"jsonrpc":"2.0","id":5,"method":7}"#, -32600, json!(5)),
            (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, Value::Null),
            (br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, Value::Null),
            (br#"{"jsonrpc":"2.0","id":6,"method":"ping","result":{}}"#, -32600, json!(6)),
            (br#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[1]}"#, -32602, json!(7)),
            (br#"{"jsonrpc":"2.0","id":8,"method":"initialize","params":{}}"#, -32602, json!(8)),
            (br#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":3}}"#, -32602, json!(9)),
        ];
        for (line, code, id) in cases {
            assert_eq!(refusal(line), (*code, id.clone()), "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn blank_lines_answers_and_notifications_need_no_answer() {
        for line in [
            &b""[..],
            b" \r",
            b"\xEF\xBB\xBF",
            br#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            br#"{"jsonrpc":"2.0","method":"notifications/x","params":[]}"#,
        ] {
            assert!(parse(line).is_none(), "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn good_messages_pass_with_or_without_a_byte_order_mark() {
        for line in [
            &br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#[..],
            b"\xEF\xBB\xBF{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r",
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":[]}}"#,
            br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        ] {
            assert!(matches!(parse(line), Some(Incoming::Message(_))), "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn a_message_of_very_many_values_is_refused_before_it_is_parsed() {
        let line = format!("[{}1]", "1,".repeat(MOST_COMMAS + 1));
        assert_eq!(refusal(line.as_bytes()), (-32600, Value::Null));
    }

    #[test]
    fn a_line_over_the_limit_is_skipped_and_the_next_one_is_read() {
        let mut input = io::BufReader::with_capacity(3, &b"abcd\nabcde\n\nlast"[..]);
        let mut lines = Vec::new();
        loop {
            match read_line(&mut input, 4).unwrap() {
                Line::End => break,
                line => lines.push(line),
            }
        }
        assert_eq!(
            lines,
            [
                Line::Whole(b"abcd".to_vec()),
                Line::TooLong,
                Line::Whole(Vec::new()),
                Line::Whole(b"last".to_vec())
            ]
        );
    }

    #[test]
    fn an_excerpt_is_short_and_ends_at_a_character() {
        assert_eq!(excerpt("short"), "short");
        assert_eq!(excerpt(&"é".repeat(100)).chars().count(), LONGEST_EXCERPT + 1);
    }
}
