//! `release_reference`: giving data up.

use super::envelope::Answer;
use super::parameters::{Parameter, Takes};
use super::{Call, Tool, ToolError};
use crate::reference::DataClass;
use serde_json::json;

pub(super) struct ReleaseReference;

const PARAMETERS: &[Parameter] = &[Parameter::required(
    "reference",
    Takes::Text(128),
    "Reference to give up. Spectra of a released run are given up with it.",
)];

impl Tool for ReleaseReference {
    fn name(&self) -> &'static str {
        "release_reference"
    }

    fn title(&self) -> &'static str {
        "Release a reference"
    }

    fn description(&self) -> &'static str {
        "Gives a reference up and its memory and disk space back. Touches no source file. Doing it twice is no error: \
         released is false then. bytes_pending are held by calls under way and follow when these end."
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn data_class(&self) -> DataClass {
        DataClass::OperationalMetadata
    }

    fn gives_up(&self) -> bool {
        true
    }

    fn run(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let reference = call.arguments.required("reference");
        let released = call.context.store.release(reference);
        let released = released.map_err(|error| call.context.about(error, "reference"))?;
        Ok(Answer::of(json!({
            "reference": reference,
            "released": released.released,
            "bytes_returned": released.bytes_returned,
            "bytes_pending": released.bytes_pending,
        })))
    }
}
