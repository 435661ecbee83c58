//! `list_references`: what is held, and how much room is left.

use super::envelope::{Answer, Page};
use super::parameters::{Parameter, Takes};
use super::{Call, Tool, ToolError, present};
use crate::reference::{DataClass, DataKind, DataReference};
use crate::store::ListFilter;
use serde_json::{Value, json};

pub(super) struct ListReferences;

/// Rows of a page.
const PAGE_ROWS: usize = 20;

const PARAMETERS: &[Parameter] = &[
    Parameter::optional(
        "kind",
        Takes::Choice(&["run", "spectrum", "peak-list", "embedding"]),
        "Only references of this kind. Default all.",
    ),
    Parameter::optional("cursor", Takes::Text(64), "next_cursor of the page before."),
];

impl Tool for ListReferences {
    fn name(&self) -> &'static str {
        "list_references"
    }

    fn title(&self) -> &'static str {
        "List references"
    }

    fn description(&self) -> &'static str {
        "Lists the live references, oldest first, and states how many references and bytes the store holds and may \
         hold. Renews none."
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn data_class(&self) -> DataClass {
        DataClass::OperationalMetadata
    }

    fn run(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let store = &call.context.store;
        let filter = ListFilter {
            kind: call.arguments.text("kind").and_then(DataKind::from_text),
            ..ListFilter::default()
        };
        let mut limit = PAGE_ROWS;
        let (page, rows) = loop {
            let page = store.list(&filter, call.arguments.text("cursor"), limit);
            let page = page.map_err(|error| call.context.about(error, "cursor"))?;
            let rows: Vec<Value> = page.references.iter().map(row).collect();
            // Names that take many bytes leave room for fewer rows.
            if limit == 1 || json!(rows).to_string().len() <= call.mode.largest_answer() - 2048 {
                break (page, rows);
            }
            limit /= 2;
        };
        let mut answer = Answer::of(json!({
            "columns": ["reference", "kind", "byte_size", "complete", "expires_at", "source_or_parent"],
            "rows": rows,
            "store": store.statistics(),
        }));
        let returned = page.references.len() as u64;
        answer.page = Some(Page { total: page.total as u64, returned, next_cursor: page.next_cursor });
        Ok(answer)
    }
}

fn row(reference: &DataReference) -> Value {
    let source = reference.provenance.sources.first().map(|source| present::short(&source.source));
    let origin = source.or_else(|| reference.provenance.parents.first().cloned());
    json!([
        reference.reference,
        reference.kind,
        reference.byte_size,
        reference.complete,
        reference.expires_at,
        origin
    ])
}
