//! `summarise_reference`: what a reference stands for.

use super::envelope::Answer;
use super::parameters::{Parameter, Takes};
use super::{Call, Tool, ToolError, present};
use crate::reference::DataClass;

pub(super) struct SummariseReference;

const PARAMETERS: &[Parameter] =
    &[Parameter::required("reference", Takes::Text(128), "Reference to describe (ptr:<kind>:…).")];

impl Tool for SummariseReference {
    fn name(&self) -> &'static str {
        "summarise_reference"
    }

    fn title(&self) -> &'static str {
        "Summarise a reference"
    }

    fn description(&self) -> &'static str {
        "Describes a live reference: kind, shape, size, expiry, provenance, what the file says (summary), what was \
         computed (derived), warnings. Opens no file, and renews the reference."
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn data_class(&self) -> DataClass {
        DataClass::MeasuredData
    }

    fn run(&self, call: &Call<'_>) -> Result<Answer, ToolError> {
        let reference = call.context.describe(call.arguments.required("reference"), "reference")?;
        Ok(present::reference(&reference, call.mode))
    }
}
