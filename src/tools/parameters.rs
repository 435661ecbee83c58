//! Parameters: one table per tool gives the input schema, the checks and the messages.

use super::ToolError;
use crate::code::ErrorCode;
use serde_json::{Map, Value};

/// Where to look for what no tool answers.
pub(super) const COMMAND_LINE: &str =
    "No tool answers peaks or plots; to look at a file a person runs: mzarena inspect FILE.";

/// What a parameter takes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Takes {
    /// Text of at most this many bytes, not empty.
    Text(usize),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A whole number between two bounds, both included.
    Whole(u64, u64),
    /// A finite number between two bounds, both included.
    Number(f64, f64),
    /// True or false.
    Flag,
}

/// One parameter of a tool.
#[derive(Debug)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) takes: Takes,
    pub(super) is_required: bool,
    /// What it is, with unit and default.
    pub(super) description: &'static str,
}

impl Parameter {
    pub(super) const fn required(name: &'static str, takes: Takes, description: &'static str) -> Self {
        Self { name, takes, is_required: true, description }
    }

    pub(super) const fn optional(name: &'static str, takes: Takes, description: &'static str) -> Self {
        Self { name, takes, is_required: false, description }
    }
}

/// The parameter that every tool has.
pub(super) const RESPONSE_MODE: Parameter = Parameter::optional(
    "response_mode",
    Takes::Choice(&["compact", "full"]),
    "How much to answer. Default compact; full shows every fact there is.",
);

/// Arguments that have been checked against the parameters. `null` means absent.
#[derive(Debug, Default)]
pub(super) struct Arguments(Map<String, Value>);

impl Arguments {
    /// Checks names, types and bounds.
    ///
    /// # Errors
    ///
    /// `unknown_argument`, `missing_argument` or `invalid_argument`, blaming the argument.
    pub(super) fn check(
        given: Map<String, Value>,
        parameters: &'static [Parameter],
    ) -> Result<Self, ToolError> {
        let mut checked = Map::new();
        for (name, value) in given {
            let parameter =
                parameters.iter().chain([&RESPONSE_MODE]).find(|parameter| parameter.name == name);
            let Some(parameter) = parameter else { return Err(unknown(&name, parameters)) };
            if !value.is_null() {
                check_value(parameter, &value)?;
                checked.insert(name, value);
            }
        }
        match parameters
            .iter()
            .find(|parameter| parameter.is_required && !checked.contains_key(parameter.name))
        {
            Some(missing) => {
                let message = format!("the argument {} is missing", missing.name);
                let error = ToolError::new(ErrorCode::MissingArgument, message).blaming(missing.name);
                Err(error.hinting(format!("Add {}: {}", missing.name, missing.description)))
            }
            None => Ok(Self(checked)),
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// Text that the parameters require, so that it is there.
    pub(super) fn required(&self, name: &str) -> &str {
        self.text(name).unwrap_or_default()
    }

    pub(super) fn whole(&self, name: &str) -> Option<u64> {
        whole(self.0.get(name)?)
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.as_f64()
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Which of `names` are given.
    pub(super) fn given<'n>(&self, names: &[&'n str]) -> Vec<&'n str> {
        names.iter().filter(|name| self.0.contains_key(**name)).copied().collect()
    }
}

/// A whole number, also where a client writes it as 5.0.
fn whole(value: &Value) -> Option<u64> {
    let exact =
        |number: f64| (number.fract() == 0.0 && (0.0..=9e15).contains(&number)).then_some(number as u64);
    value.as_u64().or_else(|| value.as_f64().and_then(exact))
}

fn check_value(parameter: &Parameter, value: &Value) -> Result<(), ToolError> {
    let expected = match parameter.takes {
        Takes::Text(longest) => match value.as_str() {
            Some(text) if !text.is_empty() && text.len() <= longest => return Ok(()),
            _ => format!("a text of 1 to {longest} bytes"),
        },
        Takes::Choice(words) => match value.as_str() {
            Some(word) if words.contains(&word) => return Ok(()),
            _ => format!("one of {}", words.join(", ")),
        },
        Takes::Whole(lower, upper) => match whole(value) {
            Some(number) if lower <= number && number <= upper => return Ok(()),
            _ => format!("a whole number from {lower} to {upper}"),
        },
        Takes::Number(lower, upper) => match value.as_f64() {
            Some(number) if lower <= number && number <= upper => return Ok(()),
            _ => format!("a number from {lower} to {upper}"),
        },
        Takes::Flag => match value {
            Value::Bool(_) => return Ok(()),
            _ => "true or false".to_owned(),
        },
    };
    let found = value.to_string();
    let found = found.get(..found.floor_char_boundary(96)).unwrap_or_default();
    let message = format!("{} is {found}; it must be {expected}", parameter.name);
    let error = ToolError::new(ErrorCode::InvalidArgument, message).blaming(parameter.name);
    Err(error.hinting(format!("{} takes: {}", parameter.name, parameter.description)))
}

fn unknown(name: &str, parameters: &[Parameter]) -> ToolError {
    let name = name.get(..name.floor_char_boundary(96)).unwrap_or_default();
    let known: Vec<_> = parameters.iter().chain([&RESPONSE_MODE]).map(|parameter| parameter.name).collect();
    let message = format!("there is no argument {name}");
    let error = ToolError::new(ErrorCode::UnknownArgument, message).blaming(name);
    let known = known.join(", ");
    error.hinting(format!("Remove it; the arguments are: {known}. {COMMAND_LINE}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PARAMETERS: &[Parameter] = &[
        Parameter::required("source", Takes::Text(8), "A source."),
        Parameter::optional("count", Takes::Whole(1, 5), "A count."),
        Parameter::optional("time", Takes::Number(0.0, 1e6), "A time."),
        Parameter::optional("all", Takes::Flag, "All."),
    ];

    /// M7: every wrong argument has its code and is named; null is absent; whole floats are whole.
    #[test]
    fn m7_arguments_are_checked_by_name_type_and_bound() {
        let cases = [
            (json!({"source": "a"}), None),
            (json!({"source": "a", "count": 5.0, "time": 1, "all": null}), None),
            (json!({"source": "a", "response_mode": "full"}), None),
            (json!({}), Some((ErrorCode::MissingArgument, "source"))),
            (json!({"source": null}), Some((ErrorCode::MissingArgument, "source"))),
            (json!({"source": ""}), Some((ErrorCode::InvalidArgument, "source"))),
            (json!({"source": "123456789"}), Some((ErrorCode::InvalidArgument, "source"))),
            (json!({"source": 5}), Some((ErrorCode::InvalidArgument, "source"))),
            (json!({"source": "a", "count": 0}), Some((ErrorCode::InvalidArgument, "count"))),
            (json!({"source": "a", "count": 1.5}), Some((ErrorCode::InvalidArgument, "count"))),
            (json!({"source": "a", "count": -1}), Some((ErrorCode::InvalidArgument, "count"))),
            (json!({"source": "a", "time": "1"}), Some((ErrorCode::InvalidArgument, "time"))),
            (json!({"source": "a", "all": 1}), Some((ErrorCode::InvalidArgument, "all"))),
            (
                json!({"source": "a", "response_mode": "loud"}),
                Some((ErrorCode::InvalidArgument, "response_mode")),
            ),
            (json!({"source": "a", "sauce": 1}), Some((ErrorCode::UnknownArgument, "sauce"))),
        ];
        for (given, expected) in cases {
            let Value::Object(map) = given.clone() else { panic!("an object") };
            let found = Arguments::check(map, PARAMETERS).err();
            let found = found.map(|error| (error.code, error.help.argument.unwrap_or_default()));
            assert_eq!(found, expected.map(|(code, argument)| (code, argument.to_owned())), "{given}");
        }
    }
}
