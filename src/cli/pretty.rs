//! Numbers and JSON for people.

use serde_json::Value;

/// Longest line of shown JSON, in characters, before an object is opened up.
const WIDTH: usize = 100;

/// A count with commas between thousands: `28,300,000`.
pub(super) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `count` and what is counted, in the right number: `1 tool`, `7 tools`.
pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

/// A size in binary units: `11.4 MiB`.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return counted(bytes, "byte", "bytes");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS.get(unit).copied().unwrap_or_default())
}

/// JSON as lines: what fits stays on one line, the rest is opened up. At most `most` lines; where there are more, the
/// last one says how many.
pub(super) fn json_lines(value: &Value, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    add_lines(value, "", "", 0, &mut lines);
    if lines.len() > most {
        let hidden = lines.len() + 1 - most;
        lines.truncate(most.saturating_sub(1));
        lines.push(format!("… {} not shown here", counted(hidden as u64, "line", "lines")));
    }
    lines
}

fn add_lines(value: &Value, before: &str, after: &str, depth: usize, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    let short = format!("{indent}{before}{value}{after}");
    let members: Vec<(String, &Value)> = match value {
        Value::Object(map) => {
            map.iter().map(|(name, member)| (format!("{}: ", Value::from(name.as_str())), member)).collect()
        }
        Value::Array(entries) => entries.iter().map(|entry| (String::new(), entry)).collect(),
        _ => Vec::new(),
    };
    if members.is_empty() || short.chars().count() <= WIDTH {
        lines.push(short);
        return;
    }
    let (open, close) = if value.is_object() { ('{', '}') } else { ('[', ']') };
    lines.push(format!("{indent}{before}{open}"));
    for (position, (name, member)) in members.iter().enumerate() {
        let comma = if position + 1 < members.len() { "," } else { "" };
        add_lines(member, name, comma, depth + 1, lines);
    }
    lines.push(format!("{indent}{close}{after}"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn thousands_are_separated() {
        for (count, expected) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (28_300_000, "28,300,000"), (123_456, "123,456")]
        {
            assert_eq!(grouped(count), expected);
        }
    }

    #[test]
    fn sizes_have_binary_units() {
        for (bytes, expected) in [
            (1, "1 byte"),
            (1023, "1,023 bytes"),
            (1024, "1.0 KiB"),
            (12_582_912, "12.0 MiB"),
            (u64::MAX, "16777216.0 TiB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }

    #[test]
    fn shown_json_is_the_same_json_and_what_is_hidden_is_counted() {
        let long = "x".repeat(80);
        let value = json!({"a": {"b": [1, 2]}, "long": long, "list": [{"c": long}, {"d": null}], "e": {}});
        let lines = json_lines(&value, 100);
        assert!(lines.len() > 5 && lines.iter().any(|line| line == "  \"a\": {\"b\":[1,2]},"), "{lines:?}");
        assert_eq!(serde_json::from_str::<Value>(&lines.join("\n")).unwrap(), value);
        let cut = json_lines(&value, 3);
        assert_eq!(cut.len(), 3);
        assert_eq!(cut[2], format!("… {} lines not shown here", lines.len() - 2));
    }
}
