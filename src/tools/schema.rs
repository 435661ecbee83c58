//! JSON schemas in the plainest subset: objects with described properties. Hosts lose a whole tool list over root
//! combinators, references, lists of types, boolean subschemas or formats, so none of these occurs.

use super::parameters::{Parameter, RESPONSE_MODE, Takes};
use serde_json::{Map, Value, json};

/// Schema of a tool's arguments.
pub(super) fn input(parameters: &[Parameter]) -> Map<String, Value> {
    let mut properties = Map::new();
    for parameter in parameters.iter().chain([&RESPONSE_MODE]) {
        properties.insert(parameter.name.to_owned(), property(parameter));
    }
    let required = parameters.iter().filter(|parameter| parameter.is_required);
    let required: Vec<_> = required.map(|parameter| parameter.name).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema
}

fn property(parameter: &Parameter) -> Value {
    let description = parameter.description;
    match parameter.takes {
        Takes::Text(longest) => json!({"type": "string", "maxLength": longest, "description": description}),
        Takes::Choice(words) => json!({"type": "string", "enum": words, "description": description}),
        Takes::Whole(lower, upper) => {
            json!({"type": "integer", "minimum": lower, "maximum": upper, "description": description})
        }
        Takes::Number(lower, upper) => {
            json!({"type": "number", "minimum": lower, "maximum": upper, "description": description})
        }
        Takes::Flag => json!({"type": "boolean", "description": description}),
    }
}

/// Schema of every answer: success and error alike, so that strict clients accept both.
pub(super) fn output() -> Map<String, Value> {
    let object = |description: &str| json!({"type": "object", "description": description});
    let schema = json!({
        "type": "object",
        "properties": {
            "schema_version": {"type": "string", "description": "Version of these shapes."},
            "data_class": {"type": "string", "description": "What kind of data this is."},
            "data": object("The answer."),
            "page": object("total, returned and next_cursor of a list."),
            "budget": object("limit_chars, returned_chars and what was omitted."),
            "error": object("code, message, argument, hint, retry_with, candidates.")
        },
        "required": ["schema_version"]
    });
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}
