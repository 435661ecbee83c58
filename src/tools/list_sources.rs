//! `list_sources`: what there is to load.

use super::envelope::{Answer, Page};
use super::parameters::{Parameter, Takes};
use super::{Call, Tool, ToolError};
use crate::access::{ListedSource, SourcePage};
use crate::reference::DataClass;
use serde_json::{Value, json};

pub(super) struct ListSources;

const PARAMETERS: &[Parameter] = &[
    Parameter::optional(
        "pattern",
        Takes::Text(256),
        "Which names: * and ? match as in a shell, other text may occur anywhere; case does not matter. Default all.",
    ),
    Parameter::optional("cursor", Takes::Text(8192), "next_cursor of the page before."),
];

impl Tool for ListSources {
    fn name(&self) -> &'static str {
        "list_sources"
    }

    fn title(&self) -> &'static str {
        "List source files"
    }

    fn description(&self) -> &'static str {
        "Lists the mzML and MGF files that can be loaded, with size and time of last change. Names are what load_run \
         takes. Opens none of them."
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn data_class(&self) -> DataClass {
        DataClass::OperationalMetadata
    }

    fn run(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let (pattern, cursor) = (call.arguments.text("pattern"), call.arguments.text("cursor"));
        let roots = &call.context.roots;
        let mut limit = SourcePage::USUAL_LIMIT;
        loop {
            let page = roots.list(pattern, cursor, limit).map_err(|error| {
                let blamed = if pattern.is_some() { "pattern" } else { "cursor" };
                ToolError::from(error).blaming(blamed)
            })?;
            let rows: Vec<Value> = page.sources.iter().map(row).collect();
            // Names are needed whole: long ones leave room for fewer rows.
            let room = call.mode.largest_answer() - 1024;
            let size = json!([rows, page.next_cursor]).to_string().len();
            if size <= room {
                return Ok(answer(call, page, rows));
            }
            if limit == 1 {
                return Ok(without_name(call, page));
            }
            limit /= 2;
        }
    }
}

fn row(source: &ListedSource) -> Value {
    json!([source.source, source.byte_size, source.modified, source.format])
}

/// The only row of a page, whose name has no room: null rather than a part that opens nothing.
fn without_name(call: &Call<'_>, page: SourcePage) -> Answer {
    let row = |source: &ListedSource| json!([null, source.byte_size, source.modified, source.format]);
    let rows = page.sources.iter().map(row).collect();
    let length = page.sources.first().map_or(0, |source| source.source.len());
    let mut answer = answer(call, page, rows);
    answer.omitted.push(format!("a name of {length} bytes; response_mode full has more room"));
    answer
}

fn answer(call: &Call<'_>, page: SourcePage, rows: Vec<Value>) -> Answer {
    let mut answer = Answer::of(json!({
        "columns": ["source", "byte_size", "modified", "format"],
        "rows": rows,
    }));
    let labels: Vec<_> = call.context.roots.labels().collect();
    if labels.len() > 1 {
        answer.data.insert("roots".to_owned(), json!(labels));
    }
    if page.is_cut {
        answer.data.insert("is_cut".to_owned(), true.into());
        answer.omitted.push("files beyond the limit of the walk".to_owned());
    }
    for (name, count) in [
        ("not_unicode_count", page.not_unicode_count),
        ("unreadable_folder_count", page.unreadable_folder_count),
    ] {
        if count > 0 {
            answer.data.insert(name.to_owned(), count.into());
        }
    }
    let returned = page.sources.len() as u64;
    answer.page = Some(Page { total: page.total, returned, next_cursor: page.next_cursor });
    answer
}
