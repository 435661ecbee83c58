//! How a reference is shown: whole, or with the facts that matter most.

use super::ResponseMode;
use super::envelope::Answer;
use crate::reference::{DataKind, DataReference};
use serde_json::{Map, Value, json};

/// Longest text in a compact answer, in characters.
const LONGEST_TEXT: usize = 96;

/// Names whose texts are needed whole: to call again with them.
const WHOLE: [&str; 4] = ["reference", "source", "digest", "parents"];

/// A reference as the data of an answer.
pub(super) fn reference(reference: &DataReference, mode: ResponseMode) -> Answer {
    let data = match serde_json::to_value(reference) {
        Ok(Value::Object(data)) => data,
        _ => Map::new(),
    };
    let is_run = reference.kind == DataKind::Run;
    let limit = if is_run { mode.largest_answer() } else { mode.largest_spectrum() };
    let data_class = Some(reference.kind.data_class());
    let mut answer = Answer { data, data_class, limit: Some(limit), ..Answer::default() };
    if let Some(index) = reference.provenance.parameters.get("spectrum_index") {
        answer.data.insert("spectrum_index".to_owned(), index.clone());
    }
    if mode == ResponseMode::Compact {
        compact(&mut answer.data);
    }
    answer
}

/// Leaves out what a compact answer can do without, and cuts long texts.
fn compact(data: &mut Map<String, Value>) {
    if let Some(Value::Object(provenance)) = data.get_mut("provenance") {
        provenance.shift_remove("parameters");
        provenance.shift_remove("software");
        provenance.retain(|_, value| value.as_array().is_none_or(|list| !list.is_empty()));
        if let Some(Value::Array(sources)) = provenance.get_mut("sources") {
            for source in sources.iter_mut().filter_map(Value::as_object_mut) {
                source.shift_remove("reader");
            }
        }
    }
    if let Some(Value::Array(precursors)) =
        data.get_mut("summary").and_then(|summary| summary.get_mut("precursors"))
    {
        precursors.iter_mut().filter_map(Value::as_object_mut).for_each(compact_precursor);
    }
    if data.get("warnings").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        data.shift_remove("warnings");
    }
    cut_texts(data);
}

/// Window and ions; how they were broken up is for the full answer.
fn compact_precursor(precursor: &mut Map<String, Value>) {
    precursor.retain(|name, _| name.starts_with("isolation_window") || name.starts_with("selected_ion"));
    if let Some(Value::Array(ions)) = precursor.get_mut("selected_ions") {
        for ion in ions.iter_mut().filter_map(Value::as_object_mut) {
            ion.shift_remove("intensity");
        }
    }
}

/// Cuts texts at [`LONGEST_TEXT`] characters and states their full length beside them.
fn cut_texts(object: &mut Map<String, Value>) {
    let mut lengths = Vec::new();
    for (name, value) in object.iter_mut() {
        match value {
            Value::String(text) if !WHOLE.contains(&name.as_str()) => {
                let length = text.chars().count();
                if length > LONGEST_TEXT {
                    *text = text.chars().take(LONGEST_TEXT).collect();
                    lengths.push((format!("{name}_length"), length));
                }
            }
            Value::Object(inner) => cut_texts(inner),
            Value::Array(items) if !WHOLE.contains(&name.as_str()) => {
                items.iter_mut().filter_map(Value::as_object_mut).for_each(cut_texts);
            }
            _ => {}
        }
    }
    for (name, length) in lengths {
        object.entry(name).or_insert_with(|| json!(length));
    }
}

/// Where facts may be left out, one after the other, and how many stay there at that turn. Facts stand in the order
/// of their importance, so the last go first. `derived` holds its class too.
const SHRINKABLE: [(&str, usize); 7] = [
    ("warnings", 1),
    ("missing", 1),
    ("summary", 8),
    ("derived", 4),
    ("summary", 4),
    ("provenance", 1),
    ("warnings", 0),
];

/// Leaves one fact out of `data`; the section it was in, or `None` where nothing more may go.
pub(super) fn shrink(data: &mut Map<String, Value>) -> Option<&'static str> {
    for (section, kept) in SHRINKABLE {
        match data.get_mut(section) {
            Some(Value::Object(facts)) if facts.len() > kept => {
                let last = facts.keys().next_back().cloned()?;
                facts.shift_remove(&last);
                return Some(section);
            }
            Some(Value::Array(items)) if items.len() > kept => {
                items.pop();
                return Some(section);
            }
            _ => {}
        }
    }
    None
}

/// A short text for a row of a list; a cut one ends in `…`.
pub(super) fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        None => text.to_owned(),
        Some(_) => text.chars().take(LONGEST_TEXT - 1).chain(['…']).collect(),
    }
}
